//! Splits a long answer into parts that a platform accepts: at paragraphs, lines, sentences, words, in this order; a code
//! block that must be split is closed and reopened. Everything added counts within the limit.

const FENCE: &str = "```";
/// A closing fence on a line of its own.
const CLOSING: &str = "\n```";

/// Parts of at most `chars_max` characters each. With `numbered`, each part of a split answer begins with "(1/3)".
pub fn split(text: &str, chars_max: usize, numbered: bool) -> Vec<Box<str>> {
    let text = text.trim();
    if text.chars().count() <= chars_max {
        return if text.is_empty() { Vec::new() } else { vec![text.into()] };
    }
    split_each(&[text], chars_max, numbered).pop().unwrap_or_default()
}

/// The same for an answer in several posts: the parts of each, numbered consecutively if there are several.
pub fn split_each(posts: &[&str], chars_max: usize, numbered: bool) -> Vec<Vec<Box<str>>> {
    if let [text] = posts
        && text.chars().count() <= chars_max
    {
        return if text.is_empty() { Vec::new() } else { vec![vec![(*text).into()]] };
    }
    let mut digits = 1;
    loop {
        let added = if numbered { "(/)\n".len() + 2 * digits } else { 0 };
        let chars_max = chars_max.saturating_sub(added).max(PART_CHARS_MIN);
        let fitting = |text: &&str| match text.chars().count() <= chars_max {
            true => vec![(*text).to_owned()],
            false => parts(text, chars_max),
        };
        let posts: Vec<Vec<String>> = posts.iter().map(fitting).collect();
        let count: usize = posts.iter().map(Vec::len).sum();
        if !numbered || count.to_string().len() <= digits {
            let mut number = 0;
            let mut finish = |part: String| {
                number += 1;
                if numbered { format!("({number}/{count})\n{part}").into() } else { part.into() }
            };
            return posts.into_iter().map(|parts| parts.into_iter().map(&mut finish).collect()).collect();
        }
        digits += 1;
    }
}

/// Shorter parts would make no sense; the settings stay well above it.
const PART_CHARS_MIN: usize = 24;

fn parts(text: &str, chars_max: usize) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = text;
    // How the code block that the previous part had to split is reopened.
    let mut reopen: Option<String> = None;
    while !rest.is_empty() {
        let opening = reopen.as_ref().map_or(0, |opener| opener.chars().count() + 1);
        let room = chars_max.saturating_sub(opening).max(1);
        let inside = reopen.is_some();
        let closing = if fenced_at(rest, rest.len(), inside) { CLOSING.len() } else { 0 };
        let whole = rest.chars().count() + closing <= room;
        let cut = if whole { rest.len() } else { cut_point(rest, room.saturating_sub(CLOSING.len()).max(1), inside) };
        let (head, tail) = rest.split_at(cut);
        let open_after = fenced_at(rest, cut, inside);
        let mut part = reopen.take().map_or_else(String::new, |opener| opener + "\n");
        part.push_str(if open_after { head.strip_suffix('\n').unwrap_or(head) } else { head.trim_end() });
        if open_after {
            reopen = Some(opener(head, chars_max / 4).unwrap_or_else(|| first_line(&part)));
            part.push_str(CLOSING);
        }
        rest = if open_after { tail.strip_prefix('\n').unwrap_or(tail) } else { tail.trim_start() };
        if rest.is_empty() {
            reopen = None;
        }
        if !part.trim().is_empty() {
            parts.push(part);
        }
    }
    parts
}

/// Whether the text at this point is inside a code block.
fn fenced_at(text: &str, at: usize, inside: bool) -> bool {
    (text[..at].matches(FENCE).count() % 2 == 1) != inside
}

/// The last fence that opens a block in this text, with its language.
fn opener(text: &str, chars_max: usize) -> Option<String> {
    let start = text.rfind(FENCE)?;
    let language = text[start + FENCE.len()..].split('\n').next().unwrap_or_default();
    let fits =
        language.chars().count() <= chars_max && language.chars().all(|c| c.is_alphanumeric() || "+-#_.".contains(c));
    Some(format!("{FENCE}{}", if fits { language } else { "" }))
}

fn first_line(part: &str) -> String {
    part.split('\n').next().unwrap_or(FENCE).to_owned()
}

/// Where to end a part that may contain `chars_max` characters of this text.
fn cut_point(text: &str, chars_max: usize, inside: bool) -> usize {
    let end = text.char_indices().nth(chars_max).map_or(text.len(), |(at, _)| before_ticks(text, at));
    let head = &text[..end];
    let enough = end / 3;
    if fenced_at(text, end, inside) {
        // Before the block rather than inside it, and inside it only between lines.
        let opener = head.match_indices(FENCE).last().map(|(at, _)| at).filter(|at| !fenced_at(text, *at, inside));
        let holds_code = |at: &usize| opener.is_none_or(|opener| text[opener..*at].matches('\n').count() > 1);
        let between_lines = || {
            let at = head.rfind('\n').map(|at| at + 1);
            at.filter(|at| *at >= enough && fenced_at(text, *at, inside) && holds_code(at))
        };
        let before_block = opener.filter(|at| *at >= enough).or_else(between_lines);
        if let Some(at) = before_block.or_else(|| opener.filter(|at| *at > 0)) {
            return at;
        }
    }
    let outside = |at: &usize| *at >= enough && *at > 0 && !fenced_at(text, *at, inside);
    let paragraph = || head.rmatch_indices("\n\n").map(|(at, _)| at + 2).find(outside);
    let line = || head.rmatch_indices('\n').map(|(at, _)| at + 1).find(outside);
    let sentence = || sentence_ends(head).filter(outside).last();
    let word = || head.rmatch_indices(char::is_whitespace).map(|(at, space)| at + space.len()).find(outside);
    paragraph().or_else(line).or_else(sentence).or_else(word).unwrap_or_else(|| between_characters(text, end))
}

/// The nearest point at or before `end` that splits no run of backticks, or no fence in a very long run: code must stay
/// code.
fn before_ticks(text: &str, end: usize) -> usize {
    if !text[end..].starts_with('`') {
        return end;
    }
    let run = end - text[..end].trim_end_matches('`').len();
    if end - run >= end / 3 { end - run } else { end - run % FENCE.len() }
}

/// Directly after 。！？, and after . ! ? if a space follows.
pub(super) fn sentence_ends(text: &str) -> impl Iterator<Item = usize> {
    text.char_indices().filter_map(|(at, c)| {
        let after = at + c.len_utf8();
        let spaced = || text[after..].starts_with(char::is_whitespace);
        matches!(c, '。' | '！' | '？')
            .then_some(after)
            .or_else(|| (matches!(c, '.' | '!' | '?') && spaced()).then_some(after))
    })
}

/// The nearest point at or before `end` that splits no fence and no joined character.
fn between_characters(text: &str, end: usize) -> usize {
    let joins = |c: char| matches!(c, '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{300}'..='\u{36f}' | '\u{1f3fb}'..='\u{1f3ff}' | '`');
    let torn = |at: usize| text[at..].chars().next().is_some_and(joins) || text[..at].ends_with('\u{200d}');
    let before = text[..end].char_indices().rev().map(|(at, _)| at).take(32);
    std::iter::once(end).chain(before).find(|at| *at > 0 && !torn(*at)).unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split_plain(text: &str, chars_max: usize) -> Vec<String> {
        split(text, chars_max, false).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn short_answers_stay_whole_and_empty_ones_vanish() {
        assert_eq!(split_plain(" hello ", 40), ["hello"]);
        assert!(split_plain(" \n ", 40).is_empty());
    }

    #[test]
    fn paragraphs_before_lines_before_sentences_before_words() {
        let text = format!("{}\n\n{}\nlast line", "a".repeat(20), "b".repeat(20));
        assert_eq!(split_plain(&text, 40)[0], "a".repeat(20));
        assert_eq!(split_plain("一つ目の文です。二つ目の文はもう少し長いです。三つ目。", 24)[0], "一つ目の文です。");
        assert_eq!(split_plain("first sentence. second one here is longer", 24)[0], "first sentence.");
        assert_eq!(split_plain("word after word after word after word", 24)[0], "word after word");
    }

    #[test]
    fn a_code_block_is_closed_and_opened_again() {
        let code: String = (0..30).map(|line| format!("let x{line} = {line};\n")).collect();
        let parts = split_plain(&format!("Look:\n```rust\n{code}```\nDone."), 120);
        assert!(parts.len() > 3);
        for part in &parts {
            assert!(part.chars().count() <= 120, "{part}");
            assert_eq!(part.matches("```").count() % 2, 0, "{part}");
        }
        assert!(parts[1].starts_with("```rust\n") && parts[1].ends_with("\n```"), "{}", parts[1]);
    }

    #[test]
    fn what_is_code_stays_code_and_no_block_is_empty() {
        let ticks = split_plain("Wrap it like this, it is easy: ````\ncode\n````", 40);
        assert_eq!(ticks, ["Wrap it like this, it is easy:", "````\ncode\n````"]);
        let long = split_plain(&format!("Look here:\n```rust\n{}\n```", "x".repeat(60)), 40);
        assert_eq!(long[0], "Look here:");
        assert!(long.iter().all(|part| part.chars().count() <= 40), "{long:?}");
    }

    #[test]
    fn numbers_count_within_the_limit() {
        let parts = split(&"word ".repeat(1000), 60, true);
        assert!(parts.len() > 99 && parts[0].starts_with("(1/"));
        assert!(parts.iter().all(|part| part.chars().count() <= 60));
    }

    #[test]
    fn several_posts_are_numbered_through() {
        let posts = split_each(&["first", &"word ".repeat(10)], 40, true);
        let starts: Vec<Vec<&str>> = posts.iter().map(|parts| parts.iter().map(|part| &part[..5]).collect()).collect();
        assert_eq!(starts, [vec!["(1/3)"], vec!["(2/3)", "(3/3)"]]);
        assert_eq!(split_each(&["first", "second"], 40, false), [vec!["first".into()], vec![Box::from("second")]]);
        assert_eq!(split_each(&["first"], 40, true), [vec![Box::from("first")]]);
        assert!(split_each(&[""], 40, true).is_empty());
    }

    #[test]
    fn joined_characters_are_not_torn() {
        let family = "👨‍👩‍👧".repeat(40);
        for part in split_plain(&family, 43) {
            assert!(!part.starts_with('\u{200d}') && !part.ends_with('\u{200d}'), "{part}");
        }
    }
}
