//! `aizuchi doctor`: every part, what is wrong with it, and how it is mended.

use std::net::TcpListener;

use aizuchi::stores::Folder as DataFolder;
use serde_json::Value;

use super::program::{Folder, Run};
use super::store::{live, meddle};

const TALK: &str = include_str!("../../../samples/en.jsonl");

/// A port that nobody else of these tests uses.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").expect("there is a port").local_addr().expect("it has an address").port()
}

fn doctor(folder: &Folder, options: &str) -> Run {
    folder.run(&format!("doctor --offline --set web.address=127.0.0.1:{} {options}", free_port()))
}

#[track_caller]
fn tells(run: &Run, code: i32, lines: &[&str]) {
    assert_eq!(run.code, Some(code), "{run:?}");
    for line in lines {
        assert!(run.out.lines().any(|told| told.starts_with(line)), "{line:?} is not told: {}", run.out);
    }
}

#[test]
fn on_a_fresh_machine_nothing_fails() {
    let folder = Folder::new();
    let run = doctor(&folder, "");
    let lines = [
        "ok   settings  no file, all defaults (aizuchi init writes one); preset aizuchi, called aizuchi",
        "ok   folder    aizuchi-data will be made at the first start",
        "warn model     there is no key for google/gemini-2.5-flash",
        "warn model     there is no key for anthropic/claude-haiku-4-5",
        "ok   web       127.0.0.1:",
        "ok   prompts   the built-in ones",
        "ok   clock     20",
    ];
    tells(&run, 0, &lines);
    assert!(run.out.contains("put a key into ANTHROPIC_API_KEY") && run.err.is_empty(), "{run:?}");
    assert!(!folder.has("aizuchi-data"), "it looks and does not touch");
}

#[test]
fn what_init_writes_is_well() {
    let folder = Folder::new();
    folder.run("init --yes").succeeded();
    tells(&doctor(&folder, ""), 0, &["ok   settings  aizuchi.toml; preset aizuchi"]);
}

#[test]
fn every_mistake_in_the_settings_is_told_with_its_place() {
    let folder = Folder::with("aizuchi.toml", "[score]\nlow = 300\nhihg = 4\n");
    let run = doctor(&folder, "--set x=1");
    let lines = [
        "fail settings  aizuchi.toml:2: `score.low` is 300; allowed is 0 to 100",
        "fail settings  aizuchi.toml:3: there is no setting `score.hihg`",
        "fail settings  --set x=1: there is no setting `x`",
        "warn rest      not looked at",
    ];
    tells(&run, 1, &lines);
    assert!(run.err.contains("3 checks failed"), "{run:?}");
    tells(&doctor(&Folder::new(), "--config none.toml"), 1, &["fail settings  can not read the settings in none.toml"]);
    tells(&doctor(&Folder::new(), "--set log.level=loud"), 1, &["fail settings  `log.level` is \"loud\""]);
}

#[test]
fn the_store_is_looked_through() {
    let folder = Folder::new();
    live(TALK, "").keep_in(&folder);
    let run = doctor(&folder, "");
    tells(&run, 0, &["ok   folder    aizuchi-data can be written", "ok   store     "]);
    assert!(run.out.contains("and all tables are whole"), "{}", run.out);
    meddle(&folder, "UPDATE journal SET sum = sum + 1 WHERE seq = (SELECT max(seq) FROM journal)");
    tells(&doctor(&folder, ""), 0, &["warn store     the last record of the journal, "]);
    meddle(&folder, "UPDATE journal SET sum = sum + 1 WHERE seq = 2");
    tells(&doctor(&folder, ""), 1, &["fail store     record 2 of the journal is damaged"]);
    meddle(&folder, "PRAGMA user_version = 99");
    tells(&doctor(&folder, ""), 1, &["fail store     the store is of version 99"]);
    let junk = Folder::with("aizuchi-data/aizuchi.db", "no database at all, whatever its name may say".repeat(100));
    tells(&doctor(&junk, ""), 1, &["fail store     aizuchi-data/aizuchi.db: "]);
    tells(&doctor(&Folder::with("aizuchi-data", ""), ""), 1, &["fail folder    aizuchi-data is a file"]);
}

#[test]
fn a_running_program_is_fine() {
    let folder = Folder::new();
    live(TALK, "").keep_in(&folder);
    let held = DataFolder::take(&folder.path("aizuchi-data")).expect("nobody else has it");
    let room = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let address = room.local_addr().expect("it has an address");
    let line = format!("doctor --offline --set web.address={address}");
    let lines = [
        "ok   folder    aizuchi-data, held by a running aizuchi".to_owned(),
        format!("ok   web       {address} is in use by the running aizuchi"),
    ];
    tells(&folder.run(&line), 0, &[&lines[0], &lines[1]]);
    drop(held);
    drop(room);
    tells(&folder.run(&line), 0, &["ok   folder    aizuchi-data can be written"]);
}

#[test]
fn the_web_room_needs_an_address_and_a_token() {
    let folder = Folder::new();
    let with = |options: &str| folder.run(&format!("doctor --offline {options}"));
    tells(&with("--set web.address=nowhere"), 1, &["fail web       `web.address` is \"nowhere\""]);
    tells(&with("--set web.enabled=false"), 0, &["ok   web       switched off"]);
    let open = format!("--set web.address=0.0.0.0:{}", free_port());
    tells(&with(&open), 1, &["fail web       0.0.0.0:"]);
    let guarded = folder.run_in(&[("AIZUCHI__WEB__TOKEN", "0123456789abcdef")], &format!("doctor --offline {open}"));
    tells(&guarded, 0, &["ok   web       guarded by a token"]);
    assert!(!guarded.out.contains("0123456789abcdef"));
}

#[test]
fn prompts_of_your_own_are_read() {
    let folder = Folder::with("aizuchi-prompts/ja/judge.md", "{{ persona }}さん");
    folder.write("aizuchi-prompts/en/judge.md", "You are {{ persona }}.");
    tells(&doctor(&folder, ""), 0, &["ok   prompts   2 of your own in prompts"]);
    folder.write("aizuchi-prompts/en/reply.md", "{% if %}");
    tells(&doctor(&folder, ""), 1, &["fail prompts   prompts/en/reply.md: "]);
}

#[test]
fn keys_are_found_and_never_shown() {
    let keys = [("ANTHROPIC_API_KEY", "sk-hush"), ("GEMINI_API_KEY", "hush-hush")];
    let run = Folder::new().run_in(&keys, "doctor --offline --set web.enabled=false");
    tells(&run, 0, &["ok   model     google/gemini-2.5-flash writes: key in GEMINI_API_KEY, not called"]);
    assert!(!run.out.contains("hush"), "{}", run.out);
    let chosen = doctor(&Folder::new(), "--set models.main=openai/gpt-5-mini --set models.judge=offline");
    tells(
        &chosen,
        1,
        &["fail model     there is no key for openai/gpt-5-mini", "ok   model     offline judges: built in"],
    );
}

#[test]
fn machines_read_json() {
    let line = doctor(&Folder::new(), "--json").last_line();
    assert_eq!(line["ok"], true);
    let checks = line["checks"].as_array().expect("a list");
    let of = |part: &str| checks.iter().filter(|check| check["part"] == part).count();
    for part in ["settings", "folder", "model", "web", "prompts", "clock"] {
        assert!(of(part) > 0, "{part} is missing: {line}");
    }
    let warned = checks.iter().find(|check| check["level"] == "warn").expect("there is no key");
    assert!(warned["told"].is_string() && warned["mend"].is_string());
    let bad = doctor(&Folder::new(), "--json --set x=1");
    assert_eq!((bad.code, bad.last_line()["ok"] == Value::Bool(false)), (Some(1), true));
}
