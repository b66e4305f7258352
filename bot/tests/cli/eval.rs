//! The figures about itself: what `eval` says is what anybody else counts from the decisions file.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::program::Folder;

/// Some hours of made-up talk with labels: questions that a third person takes up, and pairs that keep to themselves.
fn talk() -> String {
    let mut lines = Vec::new();
    let mut say = |author: String, text: &str, answers: Option<usize>| {
        let id = lines.len();
        let gold = format!("m{}", answers.unwrap_or(id));
        let line = json!({
            "ts": 1_700_000_000.0 + 20.0 * id as f64, "channel": "c", "id": format!("m{id}"), "author": author,
            "text": text, "gold_reply_to": [gold],
        });
        lines.push(line.to_string());
        id
    };
    for round in 0..60 {
        let (asks, helps, other) = (format!("ann{round}"), format!("bob{}", round % 5), format!("cat{}", round % 3));
        let question = say(asks.clone(), "hi, does anybody know how to mount a disk?", None);
        let chat = say(other.clone(), "dan: lunch was good", None);
        let answer = say(helps.clone(), &format!("{asks}: what does the log say?"), Some(question));
        say(other, "dan: and cheap as well", Some(chat));
        say(asks, &format!("{helps}: it says no such device"), Some(answer));
    }
    lines.join("\n") + "\n"
}

/// The same with people who go on talking to each other, and a third who takes the turn of one of them now and then.
fn exchanges() -> String {
    let mut lines = Vec::new();
    for round in 0..60 {
        let asks = format!("ann{}", round % 4);
        let third = if round % 2 == 0 { "bob" } else { "cat" };
        for (nth, author) in [&asks, "bob", &asks, third, &asks, "bob"].into_iter().enumerate() {
            let id = lines.len();
            let line = json!({
                "ts": 1_700_000_000.0 + 20.0 * id as f64, "channel": "c", "id": format!("m{id}"), "author": author,
                "text": format!("the disk {nth} of round {round}"), "gold_reply_to": [format!("m{}", id - nth.min(1))],
            });
            lines.push(line.to_string());
        }
    }
    lines.join("\n") + "\n"
}

fn labelled() -> Vec<Value> {
    talk().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// By id, from the decisions file.
fn decisions(folder: &Folder) -> BTreeMap<String, Value> {
    folder.run("replay talk.jsonl --preset aizuchi --decisions decisions.jsonl --json").succeeded();
    let text = folder.read("decisions.jsonl");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|line| (line["id"].as_str().unwrap().to_owned(), line)).collect()
}

/// At which messages somebody from outside answers, counted the long way round: the labels are walked for every message anew.
fn joined(said: &[Value]) -> Vec<bool> {
    let text = |line: &Value| line.as_str().unwrap().to_owned();
    let ids: Vec<String> = said.iter().map(|line| text(&line["id"])).collect();
    let authors: Vec<String> = said.iter().map(|line| text(&line["author"])).collect();
    let gold = said.iter().map(|line| ids.iter().position(|id| *id == text(&line["gold_reply_to"][0])).unwrap());
    let parents: Vec<usize> = gold.collect();
    let root = |mut index: usize| {
        while parents[index] != index {
            index = parents[index];
        }
        index
    };
    let is_joined = |index: usize| {
        let inside: BTreeSet<&String> =
            (0..=index).filter(|other| root(*other) == root(index)).map(|other| &authors[other]).collect();
        (index + 1..said.len()).any(|later| parents[later] == index && !inside.contains(&authors[later]))
    };
    (0..said.len()).map(is_joined).collect()
}

#[test]
fn anybody_counts_the_same_from_the_decisions_file() {
    let folder = Folder::with("talk.jsonl", talk());
    let decided = decisions(&folder);
    let said = labelled();
    let counted = 0..said.len() - 30;
    let joined = joined(&said);
    let likely = |index: usize| decided[said[index]["id"].as_str().unwrap()]["p_join"].as_f64().unwrap();
    let (mut wins, mut pairs) = (0.0, 0.0);
    for yes in counted.clone().filter(|index| joined[*index]) {
        for no in counted.clone().filter(|index| !joined[*index]) {
            pairs += 1.0;
            let (yes, no) = (likely(yes), likely(no));
            wins += if yes > no {
                1.0
            } else if yes == no {
                0.5
            } else {
                0.0
            };
        }
    }
    let entry = folder.run("eval entry talk.jsonl --json").succeeded().last_line();
    assert_eq!(entry["messages"], said.len() - 30);
    assert_eq!(entry["joined"], counted.clone().filter(|index| joined[*index]).count());
    let auc = entry["auc"].as_f64().unwrap();
    assert!((auc - wins / pairs).abs() < 1e-9, "{auc} {}", wins / pairs);
    assert!(auc > 0.8, "{auc}");
    let brier = counted.clone().map(|index| (likely(index) - f64::from(u8::from(joined[index]))).powi(2)).sum::<f64>();
    assert!((entry["brier"].as_f64().unwrap() - brier / counted.len() as f64).abs() < 1e-6, "{entry}");

    let right =
        said.iter().filter(|line| decided[line["id"].as_str().unwrap()]["reply_to_guess"] == line["gold_reply_to"][0]);
    let right = right.count() as f64;
    let link = folder.run("eval link talk.jsonl --json").succeeded().last_line();
    assert_eq!(link["right"], right as u64, "{link}");
    assert!((link["f1"].as_f64().unwrap() - right / said.len() as f64).abs() < 1e-9, "{link}");
    assert!(right / said.len() as f64 > 0.8, "{link}");
}

#[test]
fn every_message_of_a_person_has_its_likelihood_and_its_guess() {
    let folder = Folder::with("talk.jsonl", talk());
    for (id, line) in decisions(&folder) {
        assert!((0.0..=1.0).contains(&line["p_join"].as_f64().unwrap()), "{line}");
        assert!(line["reply_to_guess"].is_string(), "{id}: {line}");
        assert!(line["reason"].as_str().unwrap().contains("chance that someone new would join here"), "{line}");
    }
}

#[test]
fn presets_stand_side_by_side_and_the_curves_on_a_page() {
    let folder = Folder::with("talk.jsonl", talk());
    let figures =
        folder.run("eval talk talk.jsonl --shares 3%,10% --skip 50 --json --report page.html").succeeded().last_line();
    assert_eq!(figures["talk"].as_array().unwrap().len(), 2);
    assert_eq!(figures["presets"].as_array().unwrap().len(), 8);
    let achieved = figures["talk"][1]["achieved"].as_f64().unwrap();
    assert!((0.08..=0.12).contains(&achieved), "{figures}");
    let page = folder.read("page.html");
    assert!(page.contains("<svg") && page.contains("kotonoha") && !page.contains("http"), "{page}");
}

#[test]
fn without_labels_or_what_was_learnt_there_is_nothing_to_measure() {
    let folder = Folder::with("talk.jsonl", talk().replace("gold_reply_to", "other"));
    folder.run("eval link talk.jsonl").refused(1, &["no message has labels"]);
    let folder = Folder::with("talk.jsonl", talk());
    folder.run("eval entry talk.jsonl --preset sphene").refused(1, &["score.learned is false"]);
}

#[test]
fn tune_tells_what_it_would_have_said_and_the_settings() {
    let folder = Folder::with("talk.jsonl", talk());
    let run = folder.run("tune talk.jsonl --talk 10%").succeeded();
    assert!(run.out.contains("does anybody know how to mount a disk?"), "{}", run.out);
    assert!(
        run.out.contains("chance that someone new would join here") && run.out.contains("talk = \"10%\""),
        "{}",
        run.out
    );
    assert!(run.out.contains("10 % was requested"), "{}", run.out);
}

#[test]
fn a_labelled_log_may_come_from_standard_input() {
    let folder = Folder::with("talk.jsonl", exchanges());
    for command in ["eval link", "eval entry", "eval turn --me bob", "eval turn"] {
        let of_file = folder.run(&format!("{command} talk.jsonl --json")).succeeded().out;
        let read = folder.run_reading(exchanges().as_bytes(), &format!("{command} - --json")).succeeded().out;
        assert_eq!(read, of_file, "{command}");
    }
    // Too few to learn from, and all of them were read.
    let few: String = exchanges().lines().take(60).map(|line| format!("{line}\n")).collect();
    let run = folder.run_reading(few.as_bytes(), "learn - --out room.txt");
    run.refused(1, &["60 of 60 messages have labels", "at least"]);
    folder.run_reading(b"nonsense\n", "eval link -").refused(1, &["stdin"]);
}

#[test]
fn a_log_that_is_named_twice_is_counted_once() {
    let folder = Folder::with("talk.jsonl", exchanges());
    std::fs::hard_link(folder.path("talk.jsonl"), folder.path("same.jsonl")).unwrap();
    for command in ["eval link", "eval entry", "eval turn", "eval talk --shares 3% --skip 50"] {
        let once = folder.run(&format!("{command} talk.jsonl --json")).succeeded().out;
        for other in ["talk.jsonl", "./talk.jsonl", "same.jsonl"] {
            let twice = folder.run(&format!("{command} talk.jsonl {other} --json"));
            assert_eq!((twice.code, &twice.out), (Some(0), &once), "{command} {other}");
            let told = format!("aizuchi: {other} is the same log as talk.jsonl and is counted once\n");
            assert_eq!(twice.err, told, "{command}");
        }
    }
}
