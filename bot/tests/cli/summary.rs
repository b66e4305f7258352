//! The figures: one line of JSON for programs, some lines of text for people.

use serde_json::{Value, json};

use super::program::Folder;
use super::talk::{said, with};

/// In kotonoha: two below its minimum, two judged, one addressed, three passed over.
fn talk() -> String {
    [
        said(0.0, "m1", "ann", "one"),
        said(10.0, "m2", "bob", "two"),
        said(20.0, "m3", "ann", "three"),
        with(json!({"type": "reacted"}), 25.0, "m3", "bob", "👍"),
        with(json!({"mentions": ["@me"]}), 30.0, "m4", "bob", "and you"),
        said(35.0, "m5", "@me", "I see"),
        said(40.0, "m6", "ann", "five"),
        said(41.0, "m7", "ann", ""),
        with(json!({"channel": "d", "room": "direct"}), 50.0, "d1", "ann", "psst"),
    ]
    .concat()
}

/// What a judge reads of it, character by character: the talk, and for the judge the state after a blank line.
const PROMPTS: [&str; 4] = [
    "ann: one\nbob: two\nann: three",
    "ann: one\nbob: two\nann: three\n\nACTIVE",
    "ann: one\nbob: two\nann: three\nann: five",
    "ann: one\nbob: two\nann: three\nann: five\n\nACTIVE",
];

#[test]
fn the_last_line_is_the_summary() {
    let run = Folder::with("talk.jsonl", talk()).run("replay talk.jsonl --preset kotonoha --json").succeeded();
    let summary = run.last_line();
    let chars: usize = PROMPTS.iter().map(|prompt| prompt.chars().count()).sum();
    assert_eq!(summary["messages"], 8);
    let rate = |key: &str| summary[key].as_f64().unwrap_or_else(|| panic!("{key} in {summary}"));
    assert_eq!(rate("judge_calls_per_1000"), 4.0 * 125.0);
    assert_eq!(rate("judge_prompt_chars_per_1000"), chars as f64 * 125.0);
    assert_eq!(rate("replies_per_1000"), 125.0);
    assert_eq!(rate("reactions_per_1000"), 0.0);
    assert!(rate("messages_per_s") > 0.0);
    if cfg!(target_os = "linux") {
        assert!((1e6..1e9).contains(&rate("rss_bytes")), "{summary}");
    }
    assert_eq!(run.out.lines().count(), 1, "{}", run.out);
}

#[test]
fn reactions_and_answers_are_told_apart() {
    // Engaged without points: each question scores 10, which is over the threshold and far from a word.
    let log: String = (0..8_u32).map(|nth| said(f64::from(nth) * 400.0, &nth.to_string(), "ann", "hm?")).collect();
    let folder = Folder::with("talk.jsonl", log);
    let options = "--preset sphene --set score.low=0 --set score.threshold=10 --set kinds.varied=true";
    let run = folder.run(&format!("replay talk.jsonl --json {options}")).succeeded();
    let summary = run.last_line();
    assert_eq!((&summary["reactions_per_1000"], &summary["replies_per_1000"]), (&json!(1000.0), &json!(0.0)));
    let run = folder.run(&format!("replay talk.jsonl --json {options} --set kinds.varied=false")).succeeded();
    let summary = run.last_line();
    assert_eq!((&summary["reactions_per_1000"], &summary["replies_per_1000"]), (&json!(0.0), &json!(1000.0)));
}

#[test]
fn a_remembered_answer_costs_nothing() {
    let log: String = (0..4_u32).map(|nth| said(f64::from(nth), &nth.to_string(), "ann", "草")).collect();
    let folder = Folder::with("talk.jsonl", log);
    let run = folder.run("replay talk.jsonl --preset kotonoha --json --set listen.buffer_messages=3").succeeded();
    assert_eq!(run.last_line()["judge_calls_per_1000"], 750.0);
    assert_eq!(run.last_line()["judge_prompt_chars_per_1000"], f64::from(20 + 28 + 28) * 250.0);
}

#[test]
fn an_empty_log_has_figures_too() {
    let folder = Folder::with("talk.jsonl", "");
    let run = folder.run("replay talk.jsonl --json --decisions out.jsonl --report out.html").succeeded();
    let Value::Object(mut summary) = run.last_line() else { panic!("{}", run.out) };
    summary.remove("rss_bytes");
    assert!(summary.values().all(|figure| figure.as_f64() == Some(0.0)), "{summary:?}");
    assert_eq!(folder.read("out.jsonl"), "");
    assert!(folder.read("out.html").contains("no messages"));
}

#[test]
fn people_get_a_table_and_the_same_figures() {
    let folder = Folder::with("talk.jsonl", talk());
    let run = folder.run("replay talk.jsonl --preset kotonoha").succeeded();
    for told in [
        "and you",
        "bob mentioned it",
        "8 messages",
        "kotonoha",
        "answers 1 (125.0 in 1000)",
        "ignored 3",
        "asked 4 times",
    ] {
        assert!(run.out.contains(told), "{told:?} is missing: {}", run.out);
    }
    assert!(!run.out.contains("three"), "silence is not shown unless asked for: {}", run.out);
    let all = folder.run("replay talk.jsonl --preset kotonoha --all").succeeded();
    assert!(all.out.contains("three") && all.out.contains("the judge said no"), "{}", all.out);
}
