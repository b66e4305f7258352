//! The decisions file: one line for each message of the log, in its order, with every field that others rely on.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::program::Folder;
use super::talk::{START, outcomes, reason, said, shown, with};

/// Two rooms, a thread and a direct chat, not in the order of time, with everything that can go wrong on the way.
fn a_bad_day() -> String {
    let b = |more: Value| {
        let mut fields = json!({"channel": "b"});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fields
    };
    [
        said(100.0, "m1", "ann", "hello"),
        with(b(json!({})), 0.0, "x1", "bob", "hi?"),
        with(json!({"type": "edited"}), 101.0, "m1", "ann", "hello there"),
        said(60.0, "m2", "cat", "aizuchi, this was stuck on the way"),
        with(json!({"thread": "t"}), 110.0, "m3", "ann", "aizuchi, are you here?"),
        with(json!({"type": "reacted"}), 111.0, "m1", "bob", "👍"),
        said(100.0, "m1", "ann", "hello"),
        with(b(json!({"bot": true})), 5.0, "x2", "helper", "beep"),
        said(120.0, "m4", "ann", " \n"),
        said(121.0, "m5", "@me", "good evening"),
        with(b(json!({"type": "deleted"})), 6.0, "x1", "bob", ""),
        with(b(json!({"mentions": ["@me"]})), 10.0, "x3", "bob", "and now"),
        with(json!({"channel": "d", "room": "direct"}), 0.0, "d1", "ann", "aizuchi, psst"),
        with(b(json!({})), -20.0, "x0", "cat", "half a minute is not late"),
        said(130.0, "m6", "bob", "good night"),
    ]
    .concat()
}

#[test]
fn one_line_for_each_message_in_the_order_of_the_file() {
    let decisions = Folder::with("talk.jsonl", a_bad_day()).decide("--preset sphene");
    let told: Vec<String> =
        decisions.iter().map(|one| shown(one, &["channel", "thread", "id", "author", "outcome", "stage"])).collect();
    assert_eq!(
        told,
        [
            "c - m1 ann silent score",
            "b - x1 bob silent score",
            "c - m2 cat ignored filter",
            "c t m3 ann replies post",
            "c - m1 ann ignored filter",
            "b - x2 helper ignored filter",
            "c - m4 ann ignored filter",
            "c - m5 @me ignored filter",
            "b - x3 bob replies post",
            "d - d1 ann ignored filter",
            "b - x0 cat silent score",
            "c - m6 bob silent score",
        ]
    );
    let why = [
        "too little",
        "too little",
        "it arrived 41 s late",
        "called its name",
        "heard before",
        "another bot",
        "the message is empty",
        "own message",
        "mentioned it",
        "direct messages",
        "too little",
        "too little",
    ];
    for (decision, words) in decisions.iter().zip(why) {
        assert!(reason(decision).contains(words), "{words:?} is not in {decision}");
    }
    let times: Vec<f64> = decisions.iter().map(|one| one["at"].as_f64().unwrap() - START).collect();
    assert_eq!(times, [100.0, 0.0, 60.0, 110.0, 100.0, 5.0, 120.0, 121.0, 10.0, 0.0, -20.0, 130.0]);
}

#[test]
fn what_a_line_leaves_out_has_its_default() {
    let log = "\n{\"ts\": \"2023-11-15T07:13:20.25+09:00\", \"channel\": \"雑談\", \"author\": \"花子\", \"text\": \"x\", \"new\": {}}\n\
               \n{\"ts\": 1700000000.5, \"channel\": 7, \"author\": \"bob\", \"author_id\": 9, \"text\": \"y\", \"thread\": null}\n";
    let decisions = Folder::with("talk.jsonl", log).decide("--preset sphene");
    let told: Vec<String> =
        decisions.iter().map(|one| shown(one, &["id", "at", "channel", "thread", "author"])).collect();
    assert_eq!(told, ["2 1700000000.25 雑談 - 花子", "4 1700000000.5 7 - bob"]);
}

type Fits = fn(&Value) -> bool;

/// What others rely on, field by field.
const FIELDS: [(&str, Fits); 15] = [
    ("id", Value::is_string),
    ("at", Value::is_number),
    ("channel", Value::is_string),
    ("thread", |value| value.is_null() || value.is_string()),
    ("author", Value::is_string),
    ("score", |value| value.is_null() || value.as_u64().is_some_and(|score| score <= 100)),
    ("points", |value| value.as_object().is_some_and(|points| points.values().all(Value::is_i64))),
    ("p_join", |value| value.is_null() || value.as_f64().is_some_and(|p| (0.0..=1.0).contains(&p))),
    ("reply_to_guess", |value| value.is_null() || value.is_string()),
    ("outcome", |value| one_of(value, &["ignored", "silent", "reacts", "acknowledges", "replies"])),
    ("stage", |value| one_of(value, &["filter", "address", "score", "gate", "judge", "hold", "post"])),
    ("gate", |value| value.is_null() || value.is_string()),
    ("asked", |value| value.as_array().is_some_and(|all| all.iter().all(is_question))),
    ("acted_at", |value| value.is_null() || value.is_number()),
    ("reason", |value| value.as_str().is_some_and(|reason| !reason.is_empty())),
];

fn one_of(value: &Value, allowed: &[&str]) -> bool {
    value.as_str().is_some_and(|word| allowed.contains(&word))
}

fn is_question(asked: &Value) -> bool {
    one_of(&asked["question"], &["state", "same", "changed", "judge", "join"])
        && asked["at"].is_number()
        && asked["prompt_chars"].is_u64()
        && asked["answer"].is_string()
        && asked["cached"].is_boolean()
}

#[test]
fn every_field_is_there_with_its_type() {
    let mut seen = BTreeSet::new();
    let folder = Folder::with("talk.jsonl", a_bad_day());
    for preset in ["aizuchi", "kotonoha", "sphene", "myao2"] {
        for judge in ["no", "yes"] {
            for decision in folder.decide(&format!("--preset {preset} --judge {judge} --set score.low=0")) {
                for (field, fits) in FIELDS {
                    assert!(decision.get(field).is_some_and(fits), "{preset}: {field} in {decision}");
                }
                let acted = one_of(&decision["outcome"], &["reacts", "acknowledges", "replies"]);
                assert_eq!(acted, decision["acted_at"].is_number(), "{decision}");
                seen.extend(FIELDS.iter().filter(|(field, _)| !decision[*field].is_null()).map(|(field, _)| *field));
            }
        }
    }
    for field in ["thread", "score", "gate", "acted_at"] {
        assert!(seen.contains(field), "{field} was null all the time");
    }
}

#[test]
fn the_score_is_the_sum_of_its_points() {
    let log = [said(0.0, "m1", "ann", "Rust?"), said(60.0, "m2", "bob", "はい")].concat();
    let decisions = Folder::with("talk.jsonl", log).decide("--preset sphene --set JUDGE_KEYWORDS=Rust");
    assert_eq!(decisions[0]["points"], json!({"question": 20, "keyword": 15, "not_mentioned": -10, "its_topic": 15}));
    assert_eq!(decisions[0]["score"], 40);
    assert_eq!(decisions[1]["points"], json!({"two_people": -20, "not_mentioned": -10, "its_topic": 15}));
    assert_eq!(decisions[1]["score"], 0);
}

#[test]
fn a_closed_gate_is_named() {
    let decisions = Folder::with("talk.jsonl", said(0.0, "m1", "ann", "hi")).decide("--preset kotonoha");
    assert_eq!(shown(&decisions[0], &["outcome", "stage", "gate", "score"]), "silent gate messages_min -");
}

#[test]
fn every_question_is_told_with_its_answer_and_its_price() {
    let log: String = (0..4_u8).map(|nth| said(f64::from(nth) * 10.0, &format!("m{nth}"), "ann", "草")).collect();
    let folder = Folder::with("talk.jsonl", log);
    let decisions = folder.decide("--preset kotonoha --set listen.buffer_messages=3");
    let fields = ["question", "at", "prompt_chars", "answer", "cached"];
    let asked = |nth: usize| -> Vec<String> {
        decisions[nth]["asked"].as_array().unwrap().iter().map(|one| shown(one, &fields)).collect()
    };
    assert_eq!(asked(1), [""; 0]);
    // "ann: 草" three times, and what is known of the state after a blank line.
    assert_eq!(asked(2), ["state 1700000020.0 20 ACTIVE false", "judge 1700000020.0 28 NO false"]);
    assert_eq!(asked(3), ["state 1700000030.0 0 ACTIVE true", "judge 1700000030.0 28 NO false"]);
}

#[test]
fn time_runs_on_after_the_last_message() {
    let log = [said(0.0, "m1", "ann", "nobody here?"), with(json!({"channel": "d"}), 30.0, "m2", "bob", "hm")].concat();
    let folder = Folder::with("talk.jsonl", log);
    let decisions = folder.decide("--preset myao2 --judge yes --set response.jitter_ratio=0");
    assert_eq!(outcomes(&decisions), ["m1 replies post", "m2 replies post"]);
    assert_eq!(decisions[0]["asked"][0]["at"], START + 300.0);
    assert_eq!((&decisions[0]["acted_at"], &decisions[1]["acted_at"]), (&json!(START + 300.0), &json!(START + 330.0)));
}

#[test]
fn a_cancelled_judgement_names_the_message_that_cancelled_it() {
    let folder = Folder::new();
    folder.write("slow", "{\"question\": \"judge\", \"answer\": {\"should_respond\": true}, \"latency_ms\": 60000}");
    folder.write("held", "{\"question\": \"judge\", \"answer\": {\"should_respond\": true, \"delay_seconds\": 120}}");
    let cases = [(299.0, "slow", "judge", 0), (330.0, "slow", "judge", 1), (419.0, "held", "hold", 1)];
    for (after, script, stage, asked) in cases {
        let log = [said(0.0, "m1", "ann", "where do we stay"), said(after, "later-1", "bob", "at my place")];
        folder.write("talk.jsonl", log.concat());
        let options = format!("--preset myao2 --set response.jitter_ratio=0 --judge script:{script}");
        let decisions = folder.decide(&options);
        assert_eq!(outcomes(&decisions), [format!("m1 silent {stage}"), "later-1 replies post".into()]);
        assert!(reason(&decisions[0]).contains("cancelled by later-1"), "{}", decisions[0]);
        assert_eq!(decisions[0]["asked"].as_array().unwrap().len(), asked, "{}", decisions[0]);
        assert_eq!(decisions[0]["acted_at"], Value::Null);
    }
}

#[test]
fn among_rooms_time_decides_and_not_the_order_of_the_file() {
    let log = [
        said(0.0, "m1", "ann", "where do we stay"),
        with(json!({"channel": "d"}), 1000.0, "d1", "cat", "good evening"),
        said(10.0, "m2", "bob", "at my place"),
    ];
    let folder = Folder::with("talk.jsonl", log.concat());
    let decisions = folder.decide("--preset myao2 --judge yes --set response.jitter_ratio=0");
    assert_eq!(outcomes(&decisions), ["m1 silent judge", "d1 replies post", "m2 replies post"]);
    let acted: Vec<&Value> = decisions.iter().map(|one| &one["acted_at"]).collect();
    assert_eq!(acted, [&Value::Null, &json!(START + 1300.0), &json!(START + 310.0)]);
}

#[test]
fn lateness_is_judged_within_a_room() {
    let log = [
        with(json!({"channel": "tomorrow"}), 86_400.0, "t1", "bob", "aizuchi?"),
        with(json!({"channel": "today"}), 31.0, "m1", "ann", "aizuchi?"),
        with(json!({"channel": "today"}), 0.0, "m2", "ann", "aizuchi?"),
        with(json!({"channel": "today"}), 1.0, "m3", "ann", "aizuchi?"),
    ];
    let decisions = Folder::with("talk.jsonl", log.concat()).decide("--preset sphene");
    let expected = ["t1 replies post", "m1 replies post", "m2 ignored filter", "m3 replies post"];
    assert_eq!(outcomes(&decisions), expected);
}

#[test]
fn a_repetition_does_not_take_the_decision_of_what_still_waits() {
    let log = [said(0.0, "m1", "ann", "nobody?"), said(0.0, "m1", "ann", "nobody?"), said(0.0, "m1", "ann", "nobody?")];
    let decisions = Folder::with("talk.jsonl", log.concat()).decide("--preset myao2 --judge yes");
    assert_eq!(outcomes(&decisions), ["m1 replies post", "m1 ignored filter", "m1 ignored filter"]);
}

#[test]
fn edits_and_deletions_reach_what_waits() {
    let change = |kind: &str, text: &str| with(json!({"type": kind}), 10.0, "m1", "ann", text);
    let folder = Folder::new();
    folder.write("script", "{\"question\": \"judge\", \"match\": \"blue\", \"answer\": {\"should_respond\": true}}");
    for (changed, outcome) in [
        (String::new(), "m1 silent judge"),
        (change("edited", "the blue one"), "m1 replies post"),
        (change("deleted", ""), "m1 silent judge"),
    ] {
        folder.write("talk.jsonl", [said(0.0, "m1", "ann", "the red one"), changed.clone()].concat());
        let decisions = folder.decide("--preset myao2 --judge script:script");
        assert_eq!(outcomes(&decisions), [outcome]);
        assert_eq!(reason(&decisions[0]).contains("was deleted"), changed.contains("deleted"));
    }
}

#[test]
fn its_own_posts_in_the_log_count_only_where_they_are_asked_for() {
    let log = [said(0.0, "m1", "@me", "good morning"), said(200.0, "m2", "ann", "is it?")].concat();
    let folder = Folder::with("talk.jsonl", log);
    let points = |options: &str| folder.decide(options)[1]["points"].clone();
    assert_eq!(points("--preset sphene"), json!({"question": 20, "not_mentioned": -10}));
    assert_eq!(points("--preset sphene --own ignored"), json!({"question": 20, "not_mentioned": -10}));
    let recorded = json!({"engaged": 40, "question": 20, "not_mentioned": -10});
    assert_eq!(points("--preset sphene --own recorded"), recorded);
}
