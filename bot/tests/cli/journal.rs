//! `aizuchi replay --journal`: recorded days, lived again as they were or under other settings.

use aizuchi::journal::{Journal, JournalEntry, Records, ShardState};
use aizuchi::ports::Stores;
use aizuchi::stores::Database;
use aizuchi_core::input::Command;
use aizuchi_core::types::{Change, RoomId, Span};
use aizuchi_core::{Engine, Input, Message, Policies, Time};
use serde_json::{Value, json};

use super::program::Folder;
use super::store::{Lived, live, live_unheard, live_with, meddle};
use super::talk::{outcomes, said, with};

const EN: (&str, &str) = (include_str!("../../../samples/en.jsonl"), include_str!("../../../samples/en.judge.jsonl"));
const JA: (&str, &str) = (include_str!("../../../samples/ja.jsonl"), include_str!("../../../samples/ja.judge.jsonl"));

fn kept(lived: Lived) -> Folder {
    let folder = Folder::new();
    lived.keep_in(&folder);
    folder
}

fn sample() -> Folder {
    kept(live(EN.0, EN.1))
}

#[test]
fn unchanged_it_decides_as_it_did() {
    let english =
        ["13 decisions compared with the stored ones: all the same", "Answered: the judge said yes, and to wait 10 s"];
    let japanese = ["13件の判断を記録と比べました：すべて同じです", "答えた：判定役は「はい、10秒待って」と言いま"];
    for ((talk, script), expected) in [(EN, english), (JA, japanese)] {
        let folder = kept(live(talk, script));
        let run = folder.run("replay --journal").succeeded();
        assert!(expected.iter().all(|part| run.out.contains(part)), "{}", run.out);
        let line = folder.run("replay --journal --json").succeeded().last_line();
        assert_eq!(line["check"], json!({"same": 13, "missing": 0, "different": []}));
        assert_eq!(line["pending"], 0);
    }
}

#[test]
fn the_decisions_file_and_the_report_are_those_of_the_same_talk_in_a_log() {
    let folder = kept(live_unheard(EN.0, EN.1));
    folder.write("aizuchi.toml", "[effect]\nfeedback = false\n");
    folder.write("talk.jsonl", EN.0);
    folder.write("script", EN.1);
    let of_log = folder.decide("--judge script:script");
    folder.run("replay --journal --decisions journal.jsonl --report out.html").succeeded();
    assert_eq!(folder.decisions("journal.jsonl"), of_log);
    assert!(folder.read("out.html").contains("how cold tomatoes"));
}

#[test]
fn a_difference_is_told() {
    let folder = sample();
    meddle(&folder, "UPDATE trace SET body = replace(body, '\"replies\"', '\"reacts\"') WHERE message = '6'");
    meddle(&folder, "UPDATE trace SET body = 'torn' WHERE message = '2'");
    meddle(&folder, "DELETE FROM trace WHERE message = '1'");
    let run = folder.run("replay --journal").succeeded();
    assert!(run.out.contains("11 decisions compared with the stored ones: 1 differ"), "{}", run.out);
    assert!(run.out.contains("2 decisions are not stored"), "{}", run.out);
    assert!(run.out.contains("    6 in garden: Reacted: the judge said yes"), "{}", run.out);
}

/// What was deleted and what was edited leave the journal; the rest is lived again, and it is said what is missing.
#[test]
fn records_without_their_words_are_counted() {
    let folder = sample();
    let told = |line: &Value| (line["emptied"].clone(), line["reworded"].clone());
    assert_eq!(told(&folder.run("replay --journal --json").succeeded().last_line()), (json!(0), json!(0)));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = Database::open(&folder.path("aizuchi-data/aizuchi.db")).unwrap();
        let (stores, policies) = (Stores::from(store), Policies::preset("aizuchi").unwrap());
        let journal = Journal::new(stores.clone());
        let said = Records::all(&*stores.journal).await.unwrap().whole().await.unwrap();
        let last = said.last().unwrap().at;
        let change = |id: &str, text: Option<&str>| {
            let message = said.iter().find_map(|record| match &record.input {
                Input::Said(message) if message.id.as_str() == id => Some(message),
                _ => None,
            });
            let Message { place, id, .. } = message.unwrap().clone();
            JournalEntry::Input(last, Input::Changed(Change { place, id, at: last, text: text.map(Into::into) }))
        };
        journal.append(0, &[change("1", None), change("6", Some("never mind"))]).await.unwrap();
        let engine = Engine::new(policies.clone());
        journal.take_snapshot(ShardState::of(0, last, &engine)).await.unwrap();
        assert_eq!(journal.drop_deleted(Time(last.0 + 1), &policies).await.unwrap(), 5, "and what the judge said");
        assert_eq!(journal.drop_deleted(Time(last.0 + 1), &policies).await.unwrap(), 0, "once is enough");
    });
    let run = folder.run("replay --journal").succeeded();
    assert!(run.out.contains("4 records are empty"), "{}", run.out);
    assert!(run.out.contains("1 decisions about edited messages were not compared"), "{}", run.out);
    let line = folder.run("replay --journal --json").succeeded().last_line();
    assert_eq!(told(&line), (json!(4), json!(1)));
    let changed = folder.run("replay --journal --set gates.unasked=false").succeeded();
    assert!(changed.out.contains("4 records are empty"), "{}", changed.out);
}

#[test]
fn other_settings_show_what_would_have_changed() {
    let folder = sample();
    let run = folder.run("replay --journal --set gates.unasked=false").succeeded();
    assert!(run.out.contains("1 of 13 outcomes differ: replies → silent 1"), "{}", run.out);
    for told in ["mia", "how cold", "before", "after"] {
        assert!(run.out.contains(told), "{told:?} is missing: {}", run.out);
    }
    let line = folder.run("replay --journal --set gates.unasked=false --json").succeeded().last_line();
    let changed = line["changed"].as_array().expect("a list");
    assert_eq!((changed.len(), &line["compared"]), (1, &json!(13)));
    assert_eq!((&changed[0]["id"], &changed[0]["channel"]), (&json!("6"), &json!("garden")));
    assert_eq!(
        (&changed[0]["before"]["outcome"], &changed[0]["after"]["outcome"]),
        (&json!("replies"), &json!("silent"))
    );
    assert!(
        changed[0]["after"]["reason"]
            .as_str()
            .is_some_and(|reason| reason.contains("unasked") || reason.contains("addressed"))
    );
}

#[test]
fn the_recorded_judge_answers_what_it_was_asked_then_and_else_no() {
    let folder = sample();
    for unchanging in ["--judge recorded", "--set gates.interval_seconds=299", "--set bot.persona=calm"] {
        let run = folder.run(&format!("replay --journal {unchanging}")).succeeded();
        assert!(run.out.contains("0 of 13 outcomes differ\n"), "{unchanging}: {}", run.out);
    }
}

/// Makes a greeting its business.
const OTHERWISE: &str = "--set talk= --set score.low=60 --set score.keywords=evening --set score.keyword_odds=1000";

#[test]
fn what_it_was_never_asked_the_recorded_judge_declines() {
    let talk = [
        said(0.0, "m1", "ann", "does anyone know a good book?"),
        said(300.0, "m2", "bob", "well"),
        said(1500.0, "m3", "cat", "good evening to you all"),
    ]
    .concat();
    let yes = r#"{"question": "join", "answer": {"respond": true, "kind": "full"}, "latency_ms": 1234}"#;
    let folder = kept(live(&talk, yes));
    let decide = |options: &str| -> Vec<Value> {
        folder.run(&format!("replay --journal --decisions out.jsonl {options}")).succeeded();
        folder.decisions("out.jsonl")
    };
    let as_it_was = decide("");
    assert_eq!(outcomes(&as_it_was), ["m1 replies post", "m2 silent score", "m3 silent score"]);
    let otherwise = decide(OTHERWISE);
    assert_eq!(outcomes(&otherwise), ["m1 replies post", "m2 silent score", "m3 silent judge"]);
    for told in ["asked", "acted_at"] {
        assert_eq!(otherwise[0][told], as_it_was[0][told], "in the same words, and it takes as long");
    }
    let agreeing = decide(&format!("{OTHERWISE} --judge yes"));
    assert_eq!(outcomes(&agreeing)[2], "m3 replies post");
}

#[test]
fn a_preset_can_be_tried_on_recorded_days() {
    let run = sample().run("replay --journal --preset sphene").succeeded();
    assert!(run.out.contains("preset sphene, judge recorded"), "{}", run.out);
    assert!(run.out.contains("replies → silent"), "{}", run.out);
}

#[test]
fn orders_edits_and_changed_settings_are_lived_through_too() {
    let talk = [
        said(0.0, "m1", "ann", "does anyone know a good book?"),
        with(json!({"type": "edited"}), 1.0, "m1", "ann", "does anyone know a good, short book?"),
        with(json!({"type": "told"}), 30.0, "", "ann", "mute 1m"),
        said(60.0, "m2", "bob", "aizuchi, a word?"),
        said(200.0, "m3", "bob", "aizuchi, and now?"),
    ]
    .concat();
    let folder = kept(live(&talk, ""));
    let line = folder.run("replay --journal --json").succeeded().last_line();
    assert_eq!(line["check"], json!({"same": 3, "missing": 0, "different": []}));

    let mut lived = live_with(Policies::preset("sphene").unwrap(), &talk, "");
    let stated = Box::new(Policies::preset("sphene").unwrap().stated());
    lived.records.insert(0, (lived.records[0].0, 0, Input::PolicyChanged(stated)));
    let line = kept(lived).run("replay --journal --json").succeeded().last_line();
    assert_eq!(line["check"], json!({"same": 3, "missing": 0, "different": []}), "the settings of then, not of now");
}

#[test]
fn a_journal_without_its_beginning_says_so() {
    let folder = sample();
    meddle(&folder, "DELETE FROM journal WHERE seq <= 3");
    let run = folder.run("replay --journal").succeeded();
    assert!(run.out.contains("the journal begins with record 4"), "{}", run.out);
    meddle(&folder, "DELETE FROM journal WHERE body NOT LIKE '{\"Said\"%'");
    let run =
        folder.run("replay --journal --judge recorded --set score.turn_low=101 --set score.turn_high=101").succeeded();
    assert!(run.out.contains("0 of 12 outcomes differ"), "the stored decision knows the answer: {}", run.out);
}

/// What is removed leaves behind how things stood, wherever the cut is: in the middle of a wait, a question or a post.
#[test]
fn a_journal_whose_beginning_was_let_go_of_is_lived_as_it_was() {
    let (times, mut lost) = (live(EN.0, EN.1).records, 0);
    for cut in (3..times.len()).step_by(3) {
        let (folder, before) = (sample(), times[cut].0);
        meddle(
            &folder,
            "INSERT INTO snapshot (shard, seq, at, policies, body) SELECT 0, max(seq), 0, '', '' FROM journal",
        );
        let gone = let_go(&folder, before);
        assert_eq!(gone, times.iter().filter(|(at, ..)| *at < before).count() as u64);
        let again = |folder: &Folder| folder.run("replay --journal --json").succeeded().last_line()["check"].clone();
        let check = again(&folder);
        assert_eq!(check["different"], json!([]), "cut before record {}", cut + 1);
        assert_eq!(let_go(&folder, before), 0, "the same again changes nothing");
        assert_eq!(again(&folder), check);
        let run = folder.run("replay --journal").succeeded();
        assert!(!run.out.contains("the journal begins"), "{}", run.out);
        meddle(&folder, "DELETE FROM base");
        lost += again(&folder)["different"].as_array().expect("a list").len();
    }
    assert!(lost > 0, "without it some decisions cannot be made again");
}

/// In two steps, as days pass.
fn let_go(folder: &Folder, before: Time) -> u64 {
    let work = async {
        let database = Database::open(&folder.path("aizuchi-data/aizuchi.db")).expect("the store is there");
        let (journal, policies) = (Journal::new(database), Policies::preset("aizuchi").expect("the preset is there"));
        let some = journal.prune(before - Span::seconds(40), &policies).await.expect("it can be swept");
        some + journal.prune(before, &policies).await.expect("it can be swept")
    };
    tokio::runtime::Builder::new_multi_thread().build().expect("tasks can be run").block_on(work)
}

#[test]
fn every_engine_lives_its_own_records() {
    let room = |name: &str, after: f64, id: &str| with(json!({"channel": name}), after, id, "ann", "aizuchi, hello?");
    let one = live(&[room("a", 0.0, "m1"), room("a", 50.0, "m2")].concat(), "");
    let other = live(&[room("b", 1.0, "m1"), room("b", 49.0, "m2")].concat(), "");
    let shard = |number: u32, lived: &Lived| -> Vec<_> {
        lived.records.iter().map(|(at, _, input)| (*at, number, input.clone())).collect()
    };
    let mut records = [shard(0, &one), shard(1, &other)].concat();
    records.sort_by_key(|(at, ..)| *at);
    let both = Lived { records, traces: [one.traces, other.traces].concat() };
    let line = kept(both).run("replay --journal --json").succeeded().last_line();
    assert_eq!(line["check"], json!({"same": 4, "missing": 0, "different": []}));
}

#[test]
fn damage_is_told_and_skipped_and_stops_a_strict_run() {
    let mut lived = live(EN.0, EN.1);
    let end = lived.records.last().expect("it lived").0;
    lived.records.push((end, 0, Input::Told(RoomId::new("garden"), Command::Reset)));
    let folder = kept(lived);
    meddle(&folder, "UPDATE journal SET body = substr(body, 1, 5) WHERE seq = (SELECT max(seq) FROM journal)");
    meddle(&folder, "UPDATE journal SET sum = sum + 1 WHERE seq = 1");
    let run = folder.run("replay --journal");
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.err.contains("record 1 of the journal is damaged (wrong checksum); skipped"), "{run:?}");
    assert!(run.err.contains("is torn (wrong checksum); dropped"), "{run:?}");
    assert!(run.out.contains("12 messages, preset aizuchi, judge as recorded"), "{run:?}");
    folder.run("replay --journal --strict").refused(1, &["record 1 of the journal is damaged"]);
}

#[test]
fn what_cannot_be_is_refused() {
    let folder = sample();
    folder.write("talk.jsonl", EN.0);
    Folder::new().run("replay --journal").refused(1, &["there is no store in aizuchi-data"]);
    folder.run("replay").refused(2, &["LOG"]);
    folder.run("replay talk.jsonl --journal").refused(2, &["cannot be used with"]);
    folder.run("replay --journal --me ann").refused(2, &["cannot be used with"]);
    folder.run("replay talk.jsonl --judge recorded").refused(2, &["needs --journal"]);
    folder.run("replay --journal --report aizuchi-data/report.html").refused(1, &["would overwrite its input"]);
    kept(Lived::default()).run("replay --journal").refused(1, &["no records in aizuchi-data"]);
    folder.run("replay --journal elsewhere").refused(1, &["there is no store in elsewhere"]);
    let there = folder.run("replay --journal aizuchi-data --json").succeeded();
    assert_eq!(there.last_line()["check"]["same"], 13);
}
