//! What reaches a terminal and a browser: plain text, whatever people wrote.

use serde_json::json;

use super::program::Folder;
use super::store::live;
use super::talk::{said, with};

/// Where colours and bars are expected, so that their absence means something.
const TERMINAL: [(&str, &str); 4] =
    [("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("COLUMNS", "80"), ("LANG", "en_US.UTF-8")];

#[track_caller]
fn assert_plain(text: &str) {
    let code = text.chars().find(|c| c.is_control() && *c != '\n');
    assert_eq!(code, None, "a control code in {text:?}");
}

#[test]
fn no_colours_and_no_bar_where_nobody_looks() {
    let log: String = (0..20_000_u32).map(|nth| said(f64::from(nth), &nth.to_string(), "ann", "aizuchi?")).collect();
    let folder = Folder::with("talk.jsonl", log);
    for line in [
        "demo",
        "settings",
        "--help",
        "replay --help",
        "replay talk.jsonl",
        "replay talk.jsonl --json",
        "replay none.jsonl",
        "replay talk.jsonl --set x=1",
        "replay talk.jsonl --presett x",
        "replay talk.jsonl --judge maybe",
    ] {
        let run = folder.run_in(&TERMINAL, line);
        assert_plain(&run.out);
        assert_plain(&run.err);
        assert_eq!(run.code == Some(0), run.err.is_empty(), "only mistakes are written to standard error: {run:?}");
    }
}

/// Red, a cleared screen, a new title, a line over the one before, and the same in one-byte codes.
const CODES: &str = "\u{1b}[31mred \u{1b}[2J\u{1b}]0;title\u{7}\rover\u{8}\u{9b}31m\u{9d}0;t\u{9c}\u{7f}\0end";
const MARKUP: &str = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>{{ 7 * 7 }}</style>&lt;";

fn hostile_talk(words: &str) -> String {
    let place = json!({"channel": format!("c{words}"), "thread": words, "mentions": ["@me"]});
    let broken = json!({"ts": words, "channel": words, "author": words, "text": words});
    [
        with(place, 0.0, words, &format!("ann{words}"), words),
        with(json!({"mentions": ["@me"]}), 1.0, "m2", words, "hi"),
        said(2.0, "m3", "ann", &format!("well, {words}?")),
        with(json!({"type": words}), 3.0, "m4", "ann", "x"),
        with(json!({"room": words}), 3.0, "m4", "ann", "x"),
        format!("{broken}\n"),
        format!("{}\n", words.replace(['\r', '\0'], "")),
    ]
    .concat()
}

fn script(words: &str) -> String {
    let yes = json!({"respond": true, "kind": "full", "reason": words});
    format!("{}\n{}\n", json!({"question": "join", "answer": yes}), json!({"question": "write", "answer": words}))
}

#[test]
fn codes_in_a_log_reach_no_terminal() {
    let folder = Folder::with("talk.jsonl", hostile_talk(CODES));
    folder.write("script", script(CODES));
    for line in ["replay talk.jsonl --all", "replay talk.jsonl --all --judge script:script --set score.low=0"] {
        let run = folder.run_in(&TERMINAL, line);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert_plain(&run.out);
        assert_plain(&run.err);
        assert!(run.out.contains("31mred"), "the rest is shown: {}", run.out);
        assert!(run.err.contains("talk.jsonl:4: "), "the broken lines are named: {}", run.err);
    }
    let strict = folder.run("replay talk.jsonl --strict");
    assert_plain(&strict.err);
    let irc = format!("22:13:20 <ann> aizuchi, {}\nwhat {} is\n", CODES.replace('\r', ""), CODES.replace('\r', ""));
    let run = Folder::with("irc.log", irc).run_in(&TERMINAL, "replay irc.log --all");
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_plain(&run.out);
    assert_plain(&run.err);
    let run = Folder::with("prose.txt", format!("Dear {CODES}\n")).run("replay prose.txt");
    assert_plain(&run.err);
}

#[test]
fn markup_and_codes_in_a_log_are_words_in_the_report() {
    let words = format!("{MARKUP}{CODES}\u{202e}drow");
    let folder = Folder::with("talk.jsonl", hostile_talk(&words));
    folder.write("script", script(&words));
    let run = folder.run("replay talk.jsonl --report out.html --judge script:script --set score.low=0");
    assert_eq!(run.code, Some(0), "{run:?}");
    let page = folder.read("out.html");
    assert_eq!(page.matches("<script").count(), 1, "its own script, and no other");
    assert_eq!(page.matches("</style>").count(), 1);
    assert!(!page.contains("<img") && !page.contains('\u{202e}'));
    let code = page.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
    assert_eq!(code, None, "a control code in the report");
    assert!(page.contains("{{ 7 * 7 }}") && page.contains("alert(2)&gt;"), "the words are shown");
}

#[test]
fn codes_in_a_decision_are_escaped() {
    let folder = Folder::with("talk.jsonl", said(0.0, "m\u{1b}[31m\n1", "ann\u{1b}[2J\u{0}", "aizuchi?"));
    let decisions = folder.decide("");
    assert_eq!(folder.read("decisions.jsonl").lines().count(), 1);
    assert!(!folder.read("decisions.jsonl").contains(['\u{1b}', '\0']));
    assert_eq!((&decisions[0]["id"], &decisions[0]["author"]), (&json!("m\u{1b}[31m\n1"), &json!("ann\u{1b}[2J\u{0}")));
}

#[test]
fn codes_in_the_journal_reach_no_terminal() {
    let folder = Folder::new();
    let hostile = format!("aizuchi, {CODES}\u{202e}?");
    live(&said(0.0, "m1", &format!("ann{CODES}"), &hostile), &script(CODES)).keep_in(&folder);
    for line in ["replay --journal --all", "replay --journal --all --set bot.name=other", "export"] {
        let run = folder.run_in(&TERMINAL, line);
        assert_plain(&run.out);
        assert_plain(&run.err);
    }
    assert!(folder.run("replay --journal --all").out.contains("31mred"), "the rest is shown");
}
