//! One talk as four programs record it, plain and packed, and what is decided about it.

use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};
use zip::write::{SimpleFileOptions, ZipWriter};

use super::program::Folder;
use super::talk::{START, outcomes, reason, said, shown};

/// Seconds after the start, who, what.
const TALK: [(u32, &str, &str); 5] = [
    (0, "ann", "the tomatoes look sad"),
    (20, "bob", "mine too"),
    (40, "ann", "aizuchi, how cold can they get?"),
    (100, "花子", "覆いをかけた？"),
    (160, "bob", "no"),
];

const OPTIONS: &str = "--preset sphene --json --decisions out.jsonl";

fn transcript() -> String {
    let line = |(nth, (after, author, text)): (usize, &(u32, &str, &str))| {
        said(f64::from(*after), &format!("m{nth}"), author, text)
    };
    TALK.iter().enumerate().map(line).collect()
}

/// What can be compared whatever recorded the talk.
fn told(decisions: &[Value]) -> Vec<String> {
    decisions.iter().map(|one| shown(one, &["at", "author", "score", "points", "outcome", "reason"])).collect()
}

fn expected() -> Vec<String> {
    let folder = Folder::with("talk.jsonl", transcript());
    let decisions = folder.decide("--preset sphene");
    let expected = ["m0 silent score", "m1 silent score", "m2 replies post", "m3 silent score", "m4 silent score"];
    assert_eq!(outcomes(&decisions), expected);
    told(&decisions)
}

#[track_caller]
fn check(folder: &Folder, log: &str) -> Vec<Value> {
    folder.run(&format!("replay {log} {OPTIONS}")).succeeded();
    let decisions = folder.decisions("out.jsonl");
    assert_eq!(told(&decisions), expected(), "{log}");
    decisions
}

fn places(decisions: &[Value]) -> Vec<String> {
    decisions.iter().map(|one| shown(one, &["channel", "thread", "id"])).collect()
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

#[test]
fn a_transcript_packed_with_gzip_whatever_its_name() {
    for name in ["talk.jsonl.gz", "talk"] {
        check(&Folder::with(name, gzipped(transcript().as_bytes())), name);
    }
}

#[test]
fn standard_input_plain_and_packed() {
    let folder = Folder::new();
    for input in [transcript().into_bytes(), gzipped(transcript().as_bytes())] {
        folder.run_reading(&input, &format!("replay - {OPTIONS}")).succeeded();
        assert_eq!(told(&folder.decisions("out.jsonl")), expected());
    }
    let empty = folder.run("replay - --json").succeeded();
    assert_eq!(empty.last_line()["messages"], 0);
}

#[test]
fn a_file_cut_off_in_the_middle_gives_what_it_has() {
    let log = transcript();
    let folder = Folder::with("cut.jsonl", &log[..log.len() - 10]);
    let run = folder.run(&format!("replay cut.jsonl {OPTIONS}"));
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.err.contains("cut.jsonl:5: "), "{}", run.err);
    assert_eq!(told(&folder.decisions("out.jsonl")), expected()[..4]);
}

fn discord() -> Value {
    let post = |(nth, (after, author, text)): (usize, &(u32, &str, &str))| {
        json!({
            "id": format!("10{nth}"), "type": "Default", "timestamp": format!("2023-11-14T22:{:02}:{:02}+00:00", 13 + (20 + after) / 60, (20 + after) % 60),
            "timestampEdited": null, "callEndedTimestamp": null, "isPinned": false, "content": text,
            "author": {"id": format!("u-{author}"), "name": author, "discriminator": "0000", "nickname": author, "color": null, "isBot": false, "roles": []},
            "attachments": [], "embeds": [], "stickers": [], "reactions": [], "mentions": [], "inlineEmojis": [],
        })
    };
    json!({
        "guild": {"id": "1", "name": "garden", "iconUrl": "https://cdn.example/icon.png"},
        "channel": {"id": "20", "type": "GuildTextChat", "categoryId": "10", "category": "Text", "name": "tomatoes", "topic": null},
        "dateRange": {"after": null, "before": null}, "exportedAt": "2024-01-01T00:00:00+00:00",
        "messages": TALK.iter().enumerate().map(post).collect::<Vec<_>>(), "messageCount": TALK.len(),
    })
}

#[test]
fn an_export_of_discord_chat_exporter() {
    let pretty = serde_json::to_string_pretty(&discord()).unwrap();
    for text in [pretty, discord().to_string()] {
        let decisions = check(&Folder::with("general.json", text), "general.json");
        assert_eq!(places(&decisions), ["20 - 100", "20 - 101", "20 - 102", "20 - 103", "20 - 104"]);
    }
}

/// The files of an export, with a notice of Slack itself among the talk.
fn slack() -> Vec<(&'static str, String)> {
    let post = |(after, author, text): &(u32, &str, &str)| {
        let user = ["ann", "bob", "花子"].iter().position(|name| name == author).unwrap() + 1;
        let ts = format!("{}.{after:06}", START as u64 + u64::from(*after));
        json!({"type": "message", "user": format!("U{user}"), "text": text, "ts": ts, "team": "T1", "blocks": []})
    };
    let joined = json!({"type": "message", "subtype": "channel_join", "user": "U1", "text": "<@U1> has joined", "ts": "1699999999.000000"});
    let mut first = vec![joined];
    first.extend(TALK[..3].iter().map(post));
    let second: Vec<Value> = TALK[3..].iter().map(post).collect();
    let users = json!([
        {"id": "U1", "name": "a", "profile": {"display_name": "ann"}}, {"id": "U2", "name": "bob"},
        {"id": "U3", "name": "h", "real_name": "花子", "profile": {"display_name": ""}},
    ]);
    vec![
        ("channels.json", json!([{"id": "C1", "name": "garden"}]).to_string()),
        ("users.json", users.to_string()),
        ("garden/2023-11-14.json", Value::from(first).to_string()),
        ("garden/2023-11-15.json", Value::from(second).to_string()),
    ]
}

const SLACK_PLACES: [&str; 5] = [
    "C1 - 1700000000.000000",
    "C1 - 1700000020.000020",
    "C1 - 1700000040.000040",
    "C1 - 1700000100.000100",
    "C1 - 1700000160.000160",
];

#[test]
fn a_slack_export_as_a_folder() {
    let folder = Folder::new();
    for (name, text) in slack() {
        folder.write(&format!("export/{name}"), text);
    }
    assert_eq!(places(&check(&folder, "export")), SLACK_PLACES);
}

#[test]
fn a_slack_export_as_a_zip() {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in slack() {
        zip.start_file(format!("Garden Slack export/{name}"), SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    let bytes = zip.finish().unwrap().into_inner();
    assert_eq!(places(&check(&Folder::with("export.zip", &bytes), "export.zip")), SLACK_PLACES);
    let folder = Folder::new();
    folder.run_reading(&bytes, &format!("replay - {OPTIONS}")).succeeded();
    assert_eq!(places(&folder.decisions("out.jsonl")), SLACK_PLACES);
}

#[test]
fn an_irc_log_by_the_name_of_its_file() {
    let mut log = "--- Log opened Tue Nov 14 22:13:00 2023\n22:13:10 -!- ann [~a@host] has joined #garden\n".to_owned();
    for (after, author, text) in TALK {
        let second = 20 + after;
        log += &format!("22:{:02}:{:02} <{author}> {text}\n", 13 + second / 60, second % 60);
    }
    let decisions = check(&Folder::with("#garden.log", &log), "#garden.log");
    assert_eq!(places(&decisions), ["#garden - 3", "#garden - 4", "#garden - 5", "#garden - 6", "#garden - 7"]);
}

#[test]
fn who_is_the_bot_in_an_export_is_told_with_me() {
    let mut export = discord();
    export["messages"][1]["mentions"] = json!([{"id": "9", "name": "helper", "nickname": "Helper"}]);
    export["messages"][4]["author"] = json!({"id": "9", "name": "helper", "nickname": "Helper", "isBot": true});
    let folder = Folder::with("general.json", export.to_string());
    let told = |options: &str| {
        let run = folder.run(&format!("replay general.json {OPTIONS} {options}"));
        assert_eq!(run.code, Some(0), "{run:?}");
        let decisions = folder.decisions("out.jsonl");
        let [mentioned, posted] = [1, 4].map(|nth: usize| reason(&decisions[nth]).to_owned());
        [mentioned, posted, run.err]
    };
    let [mentioned, posted, _] = told("");
    assert!(!mentioned.contains("mentioned it") && posted.contains("another bot"), "{mentioned} {posted}");
    for me in ["9", "helper", "Helper"] {
        let [mentioned, posted, err] = told(&format!("--me nobody --me {me}"));
        assert!(mentioned.contains("bob mentioned it") && posted.contains("own message"), "{mentioned} {posted}");
        assert!(err.starts_with("aizuchi: --me nobody") && err.lines().count() == 1, "{err}");
        let [.., err] = told(&format!("--me {me}"));
        assert_eq!(err, "", "{me}");
    }
}

#[test]
fn a_thread_of_an_export_is_a_place_in_its_channel() {
    let folder = Folder::new();
    for (name, text) in slack() {
        let threaded = text.replace(
            "\"ts\":\"1700000160.000160\"",
            "\"ts\":\"1700000160.000160\",\"thread_ts\":\"1700000000.000000\"",
        );
        folder.write(&format!("export/{name}"), threaded);
    }
    folder.run(&format!("replay export {OPTIONS}")).succeeded();
    let placed = places(&folder.decisions("out.jsonl"));
    assert_eq!(placed[3..], ["C1 - 1700000100.000100", "C1 1700000000.000000 1700000160.000160"]);
    let mut export = discord();
    export["channel"]["type"] = json!("GuildPublicThread");
    folder.write("thread.json", export.to_string());
    folder.run(&format!("replay thread.json {OPTIONS}")).succeeded();
    assert_eq!(places(&folder.decisions("out.jsonl"))[0], "10 20 100");
}
