//! `aizuchi export`: the recorded talk, written so that a replay of it decides the same.

use serde_json::{Value, json};

use super::program::Folder;
use super::store::{live, meddle};
use super::talk::{START, said, with};

const EN: (&str, &str) = (include_str!("../../../samples/en.jsonl"), include_str!("../../../samples/en.judge.jsonl"));
const JA: (&str, &str) = (include_str!("../../../samples/ja.jsonl"), include_str!("../../../samples/ja.judge.jsonl"));

/// Everything a transcript can hold.
fn a_full_day() -> String {
    [
        said(0.0, "m1", "ann", "does anyone know a good book?"),
        with(json!({"heard": START + 3.25}), 2.0, "m2", "bob", "hm"),
        with(json!({"type": "edited"}), 5.0, "m1", "ann", "does anyone know a good, short book?"),
        with(json!({"thread": "t", "author_id": "u3", "mentions": ["@me", "u1"]}), 6.0, "m3", "cat", "and you?"),
        with(json!({"reply_to": "m1", "reply_to_author": "ann", "bot": true}), 7.5, "m4", "helper", "beep"),
        with(json!({"type": "deleted"}), 60.0, "m2", "bob", ""),
        with(json!({"channel": "d", "room": "direct"}), 61.0, "d1", "ann", "aizuchi, psst"),
        with(json!({"type": "told"}), 70.0, "", "ann", "mute 90s"),
        said(80.0, "m5", "bob", "aizuchi, are you here?"),
        said(170.0, "m6", "bob", "aizuchi, and now?"),
        with(
            json!({"backfilled": true, "heard": START + 171.0}),
            100.0,
            "m7",
            "bob",
            "aizuchi, this was stuck on the way",
        ),
        with(json!({"heard": START + 400.0}), 300.0, "m8", "bob", "aizuchi, so was this"),
        with(json!({"reply_to": "m6"}), 420.0, "m9", "cat", "what does it say?"),
        said(430.0, "m10", "@me", "I say hello"),
    ]
    .concat()
}

fn without_names(decisions: &[Value]) -> Vec<Value> {
    let nameless = |decision: &Value| {
        let mut decision = decision.clone();
        decision["author"] = Value::Null;
        decision
    };
    decisions.iter().map(nameless).collect()
}

#[test]
fn a_replay_of_what_it_writes_decides_as_it_did() {
    for (talk, script) in [EN, JA, (&a_full_day(), "")] {
        let folder = Folder::with("script", script);
        live(talk, script).keep_in(&folder);
        folder.run("export -o talk.jsonl").succeeded();
        let of_export = folder.decide("--judge script:script --strict --own recorded");
        folder.run("replay --journal --decisions journal.jsonl").succeeded();
        assert_eq!(without_names(&of_export), without_names(&folder.decisions("journal.jsonl")));
        folder.write("talk.jsonl", talk);
        let of_talk = folder.decide("--judge script:script --strict --own recorded");
        assert_eq!(without_names(&of_export), without_names(&of_talk));
    }
}

#[test]
fn lines_are_those_of_a_transcript() {
    let folder = Folder::new();
    live(&a_full_day(), "").keep_in(&folder);
    let out = folder.run("export").succeeded().out;
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 14);
    let first = json!({"ts": START, "channel": "c", "type": "said", "id": "m1", "author": "ann", "author_id": "ann",
        "text": "does anyone know a good book?"});
    assert_eq!(lines[0], first);
    let find = |id: &str| lines.iter().find(|line| line["id"] == id).expect("it is there");
    assert_eq!((&find("m2")["ts"], &find("m2")["heard"]), (&json!(START + 2.0), &json!(START + 3.25)));
    assert_eq!((&find("m3")["thread"], &find("m3")["mentions"]), (&json!("t"), &json!(["@me", "u1"])));
    assert_eq!((&find("m10")["author"], &find("d1")["room"]), (&json!("@me"), &json!("direct")));
    let told = lines.iter().find(|line| line["type"] == "told").expect("it is there");
    assert_eq!(told["text"], "mute 90000ms");
}

#[test]
fn rooms_and_times_can_be_chosen() {
    let room = |name: &str, after: f64, id: &str| with(json!({"channel": name}), after, id, "ann", "hello");
    let day = 86_400.0;
    let talk = [room("web:lobby", 0.0, "m1"), room("web:attic", 10.0, "m2"), room("web:lobby", day, "m3")].concat();
    let folder = Folder::new();
    live(&talk, "").keep_in(&folder);
    let ids = |options: &str| -> String {
        let out = folder.run_in(&[("TZ", "UTC0")], &format!("export {options}")).succeeded().out;
        let id = |line: &str| serde_json::from_str::<Value>(line).expect("JSON")["id"].as_str().map(str::to_owned);
        out.lines().filter_map(id).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(ids(""), "m1 m2 m3");
    assert_eq!(ids("--room lobby"), "m1 m3");
    assert_eq!(ids("--room web:attic --room lobby"), "m1 m2 m3");
    assert_eq!(ids("--since 2023-11-15"), "m3");
    assert_eq!(ids("--until 2023-11-14T22:13:30"), "m1");
    assert_eq!(ids("--since 2023-11-14T22:13:30Z --until 2023-11-15"), "m2");
    assert_eq!(ids("--since 1h --format jsonl"), "");
    folder.run("export --room cellar").refused(1, &["no records of a room cellar", "web:attic, web:lobby"]);
    folder.run("export --since soon").refused(2, &["soon", "2026-04-07"]);
    folder.run("export --format xml").refused(2, &["[possible values: jsonl]"]);
}

#[test]
fn it_writes_over_nothing_it_reads_and_tells_of_damage() {
    let folder = Folder::new();
    Folder::new().run("export").refused(1, &["there is no store in aizuchi-data"]);
    live(EN.0, EN.1).keep_in(&folder);
    folder.run("export -o aizuchi-data/aizuchi.db").refused(1, &["would overwrite its input"]);
    meddle(&folder, "UPDATE journal SET sum = sum + 1 WHERE seq = 1");
    let run = folder.run("export");
    assert_eq!((run.code, run.out.lines().count()), (Some(0), 12), "{run:?}");
    assert!(run.err.contains("record 1 of the journal is damaged"), "{run:?}");
}

#[test]
fn what_a_terminal_would_obey_is_escaped_and_reads_back_the_same() {
    let (name, words) = ("ann\u{202e}nna", "\u{9b}31mred\u{9b}2J \u{202e}drow\u{2066} \u{200f}end");
    let folder = Folder::new();
    live(&said(0.0, "m1", name, words), "").keep_in(&folder);
    let out = folder.run("export").succeeded().out;
    let odd = |c: char| (c.is_control() && c != '\n') || ('\u{200e}'..='\u{2069}').contains(&c);
    assert_eq!(out.chars().find(|c| odd(*c)), None, "{out:?}");
    let line: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&line["author"], &line["text"]), (&json!(name), &json!(words)));
}
