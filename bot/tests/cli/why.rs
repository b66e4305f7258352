//! `aizuchi why`: every decision can be explained, as long as it is kept.

use serde_json::json;

use super::program::Folder;
use super::store::{live, meddle};
use super::talk::{said, with};

const TALK: &str = include_str!("../../../samples/en.jsonl");
const SCRIPT: &str = include_str!("../../../samples/en.judge.jsonl");

fn sample() -> Folder {
    let folder = Folder::new();
    live(TALK, SCRIPT).keep_in(&folder);
    folder
}

#[test]
fn a_decision_is_told_with_points_questions_times_and_cost() {
    let told = sample().run_in(&[("TZ", "JST-9")], "why 6").succeeded().out;
    for part in [
        "garden · 2026-04-07 21:02:30 JST · mia · 6",
        "  does anyone know how cold tomatoes can get before they are lost?",
        "Answered: the judge said yes, and to wait 10 s: A question to everybody",
        "chance that someone new would join here ",
        "it calls on everybody",
        "asked  join at 21:03:19, ",
        "\"delay_seconds\":10",
        "acted  2026-04-07 21:03:31 JST, after 1 min 1 s",
        "cost   0.000",
    ] {
        assert!(told.contains(part), "{part:?} is missing: {told}");
    }
}

/// `…` stands for lines that are left out there.
#[test]
fn the_sample_in_the_manual_is_what_it_prints() {
    let manual = include_str!("../../../docs/commands.md");
    let (_, sample_block) = manual.split_once("$ aizuchi why 6\n").expect("the manual shows a decision");
    let (shown, _) = sample_block.split_once("```").expect("the block ends");
    let printed = sample().run_in(&[("TZ", "UTC")], "why 6").succeeded().out;
    for line in shown.lines().filter(|line| line.trim() != "…") {
        assert!(printed.lines().any(|own| own == line), "docs/commands.md shows {line:?}, it prints:\n{printed}");
    }
}

/// Without what is in brackets: the reasons.
fn without_brackets(told: &str, [opening, closing]: [&str; 2]) -> String {
    let mut rest = told.to_owned();
    while let Some(from) = rest.find(opening) {
        let to = from + rest[from..].find(closing).expect("a bracket is closed");
        rest.replace_range(from..to + closing.len(), "");
    }
    rest
}

/// The path of one message is that of the sample: its figures and its times are those of the program.
#[test]
fn the_path_of_a_message_in_the_readme_is_what_it_prints() {
    let english = include_str!("../../../README.md");
    let japanese = include_str!("../../../README.ja.md");
    for (page, label, sample, arguments, zone, brackets) in [
        (english, "  3  likely? ", sample(), "why 6 --lang en", "UTC", [" (", ")"]),
        (japanese, "  3  見込み ", japanese_sample(), "why 6 --lang ja", "JST-9", ["（", "）"]),
    ] {
        let told = sample.run_in(&[("TZ", zone)], arguments).succeeded().out;
        let line = page.lines().find_map(|line| line.strip_prefix(label)).expect("it shows how likely somebody joins");
        assert!(
            without_brackets(&told, brackets).contains(line.trim()),
            "the README shows {line:?}, it prints:\n{told}"
        );
        for (step, time) in [("  6  ", "12:03:19"), ("  9  ", "12:03:31")] {
            let line = page.lines().find(|line| line.starts_with(step)).expect("it shows each step");
            assert!(line.contains(time) && told.contains(time), "the README shows {line:?}, it prints:\n{told}");
        }
    }
}

#[test]
fn what_each_feature_did_is_told_and_speaks_for_what_is_likely() {
    let told = sample().run("why 6").succeeded().out;
    let parts = told.lines().skip_while(|line| !line.starts_with("likely "));
    let factors: Vec<f64> = parts
        .skip(1)
        .map_while(|line| line.trim().strip_prefix('×'))
        .map(|line| line.split_whitespace().next().unwrap().parse().unwrap())
        .collect();
    assert!(
        factors.len() > 3 && told.contains("call ") && told.contains("asks for help or calls on everybody"),
        "{told}"
    );
    let together: f64 = factors.iter().product();
    assert!(together > 1.5, "what is more likely than usual has more that speaks for it: {together} {told}");
}

#[test]
fn silence_is_told_with_its_gate() {
    let told = sample().run("why --last --room garden").succeeded().out;
    assert!(told.contains("Stayed silent: it is muted here.") && told.contains("gate   mute: it was told"), "{told}");
    let by_name = sample().run("why 11").succeeded().out;
    assert!(by_name.contains("somebody called its name"), "{by_name}");
}

#[test]
fn machines_read_the_line_of_the_decisions_file() {
    let folder = sample();
    let line = folder.run("why 6 --json").succeeded().last_line();
    assert_eq!((&line["id"], &line["outcome"]), (&json!("6"), &json!("replies")));
    let percent = (100.0 * line["p_join"].as_f64().unwrap()).round();
    assert_eq!(line["score"].as_f64(), Some(percent), "{line}");
    assert!(line["dollars"].as_f64() > Some(0.0), "{line}");
}

#[test]
fn what_is_not_there_is_told_with_what_is() {
    Folder::new().run("why m1").refused(1, &["there is no store in aizuchi-data", "store.folder"]);
    let folder = sample();
    folder.run("why 99").refused(1, &["nothing is known about a message 99", "the latest are 13, 12, 11"]);
    folder.run("why 6 --room attic").refused(1, &["no decisions in a room attic; there are garden"]);
    folder.run("why").refused(2, &["MESSAGE-ID"]);
    folder.run("why 6 --folder elsewhere").refused(1, &["there is no store in elsewhere"]);
    Folder::with("aizuchi-data/aizuchi.db", "no database at all")
        .run("why 6")
        .refused(1, &["aizuchi.db", "not a database"]);
    Folder::with("aizuchi-data/aizuchi.db", "").run("why 6").refused(1, &["is not an aizuchi store"]);
    meddle(&folder, "PRAGMA user_version = 99");
    folder.run("why 6").refused(1, &["the store has version 99", "use the newer aizuchi"]);
}

#[test]
fn what_still_waits_is_not_unknown() {
    let folder = Folder::new();
    let mut lived = live(&said(0.0, "m1", "ann", "does anyone know a good book?"), "");
    lived.traces.clear();
    lived.keep_in(&folder);
    folder.run("why m1").refused(1, &["m1 was received at 2023-11-14 22:13:20", "no decision yet"]);
}

#[test]
fn the_store_may_be_elsewhere_and_a_room_has_a_short_name() {
    let folder = Folder::new();
    let room = |name: &str, id: &str| with(json!({"channel": name}), 0.0, id, "ann", "hello");
    let lived = live(&[room("web:lobby", "m1"), room("web:attic", "m1"), room("irc:attic", "m2")].concat(), "");
    lived.keep_at(&folder.path("there"));
    let told = folder.run("why m1 --room lobby --set store.folder=there").succeeded().out;
    assert!(told.starts_with("web:lobby · "), "{told}");
    assert_eq!(folder.run("why m1 --room web:lobby --folder there").succeeded().out, told);
    folder.run("why m1 --room attic --folder there").refused(1, &["attic is ambiguous: irc:attic, web:attic"]);
}

#[test]
fn it_looks_on_while_the_program_writes() {
    let folder = sample();
    let database = folder.path("aizuchi-data/aizuchi.db");
    let writer = rusqlite::Connection::open(&database).expect("the store is there");
    writer.execute_batch("BEGIN IMMEDIATE; DELETE FROM trace").expect("it can be written");
    folder.run("why 6").succeeded();
}

#[test]
fn codes_in_a_decision_reach_no_terminal() {
    let folder = Folder::new();
    let hostile = said(0.0, "m1", "an\u{1b}[2Jn", "aizuchi, \u{9b}31m\u{202e}red?");
    live(&hostile, "").keep_in(&folder);
    let odd = |text: &str| text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}');
    for line in ["why m1", "why m1 --json"] {
        let told = folder.run(line).succeeded().out;
        assert!(!odd(&told), "{told:?}");
    }
    assert_eq!(folder.run("why m1 --json").last_line()["author"], json!("an\u{1b}[2Jn"));
}

#[test]
fn who_was_answered_together_with_others_is_told_with_which_message() {
    let folder = Folder::new();
    let called = |nth: u8| said(0.0, &format!("m{nth}"), &format!("p{nth}"), "aizuchi, are you there?");
    live(&[called(1), called(2), called(3)].concat(), "").keep_in(&folder);
    let told = folder.run("why m2").succeeded().out;
    assert!(told.contains("The post that answers m3 also answers this."), "{told}");
    assert_eq!(folder.run("why m2 --json").last_line()["answered_with"], json!("m3"));
    assert!(!folder.run("why m3").succeeded().out.contains("also answers this"));
}

fn japanese_sample() -> Folder {
    let folder = Folder::new();
    let (talk, script) = (include_str!("../../../samples/ja.jsonl"), include_str!("../../../samples/ja.judge.jsonl"));
    live(talk, script).keep_in(&folder);
    folder
}

#[test]
fn a_room_is_told_of_in_its_own_language_unless_the_reader_has_another() {
    let folder = japanese_sample();
    let told = |environment: &[(&str, &str)], options: &str| {
        let out = folder.run_in(environment, &format!("why --last {options}")).succeeded().out;
        let (japanese, english) = (out.contains("黙っていた："), out.contains("Stayed silent:"));
        assert!(japanese != english, "{out}");
        if japanese { "ja" } else { "en" }
    };
    assert_eq!(told(&[], ""), "ja", "as people talk there");
    assert_eq!(told(&[("LANG", "C.UTF-8")], ""), "ja", "C is no language");
    assert_eq!(told(&[("LANG", "en_US.UTF-8")], ""), "en", "the reader's");
    assert_eq!(told(&[("LANG", "en_US.UTF-8")], "--language ja"), "ja", "what is asked for");
    assert_eq!(told(&[], "--lang en"), "en");
    assert_eq!(told(&[], "--set bot.language=en"), "en", "as it is set");
    let english = sample();
    assert!(english.run("why --last --room garden").succeeded().out.contains("Stayed silent:"));
    let told = english.run_in(&[("LANG", "ja_JP.UTF-8")], "why 6").succeeded().out;
    for part in [
        "答えた：判定役は「はい、10秒待って」と言いました：",
        "新しい人がここで加わる見込みは",
        "質問   join（",
        "行動   ",
        "費用   0.000",
    ] {
        assert!(told.contains(part), "{part:?} is missing: {told}");
    }
    assert!(told.contains("助けを求めるか、みんなに呼びかけている"), "{told}");
}

#[test]
fn machines_read_english_whatever_the_language_of_the_room() {
    let line = japanese_sample().run_in(&[("LANG", "ja_JP.UTF-8")], "why --last --json").succeeded().last_line();
    assert!(line["reason"].as_str().unwrap().starts_with("Stayed silent: "), "{line}");
}
