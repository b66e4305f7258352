//! However long an answer is, its parts are short enough, balanced, and together what was to be said.
//!
//! The first byte of an input chooses the limit, the second whether parts are numbered.
#![no_main]

use std::collections::BTreeSet;

use aizuchi_core::reply::split;
use libfuzzer_sys::fuzz_target;

const FENCE: &str = "```";

fuzz_target!(|bytes: &[u8]| {
    let [limit, numbered, text @ ..] = bytes else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    // Small limits more often than large ones: they show more with less text.
    let limit = (40 + usize::from(*limit).pow(2) / 16).min(4000);
    check(text, limit, numbered % 2 == 1);
});

fn check(text: &str, limit: usize, numbered: bool) {
    let parts = split(text, limit, numbered);
    for part in &parts {
        assert!(part.chars().count() <= limit, "{} characters of {limit}: {part:?}", part.chars().count());
    }
    let text = text.trim();
    if text.chars().count() <= limit {
        let whole: Vec<Box<str>> = if text.is_empty() { Vec::new() } else { vec![text.into()] };
        return assert_eq!(parts, whole);
    }
    assert!(parts.len() > 1, "a text over the limit is one part");
    let bodies: Vec<&str> = parts.iter().enumerate().map(|(at, part)| body(part, at, parts.len(), numbered)).collect();
    for body in &bodies {
        assert!(!body.trim().is_empty(), "an empty part");
        assert_eq!(body.matches(FENCE).count() % 2, 0, "a code block is left open: {body:?}");
    }
    assert_all_there(text, &bodies);
    let ticks = |text: &str| text.matches('`').count();
    let added = bodies.iter().map(|body| ticks(body)).sum::<usize>().checked_sub(ticks(text));
    assert!(added.is_some_and(|added| added % FENCE.len() == 0), "backticks other than fences came or went: {added:?}");
    let outside: String = bodies.iter().map(|body| outside_fences(body)).collect();
    assert_eq!(outside, outside_fences(text), "what is code and what is not: {bodies:?}");
}

/// The part without its number.
fn body(part: &str, at: usize, count: usize, numbered: bool) -> &str {
    if !numbered {
        return part;
    }
    part.strip_prefix(&format!("({}/{count})\n", at + 1)).expect("a numbered part begins with its number")
}

/// Nothing lost, nothing made up, in order: a part may only begin with an opening fence and a language more than the
/// text has.
fn assert_all_there(text: &str, bodies: &[&str]) {
    let text = visible(text);
    let mut reached = BTreeSet::from([0]);
    for body in bodies {
        let code = body.strip_prefix(FENCE).and_then(|opened| opened.split_once('\n'));
        let readings = [Some(*body), code.map(|(_language, code)| code)];
        let readings: Vec<String> = readings.into_iter().flatten().map(visible).collect();
        let ends = |at: &usize| {
            let at = *at;
            let fits = |words: &&String| text[at..].starts_with(words.as_str());
            readings.iter().filter(fits).map(|words| at + words.len()).collect::<Vec<_>>()
        };
        let next: BTreeSet<usize> = reached.iter().flat_map(ends).collect();
        assert!(!next.is_empty(), "{body:?} does not follow in the text");
        reached = next;
    }
    assert!(reached.contains(&text.len()), "the end of the text is missing");
}

fn visible(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != '`').collect()
}

/// What is said outside code blocks, without spaces.
fn outside_fences(text: &str) -> String {
    text.split(FENCE).step_by(2).map(visible).collect()
}
