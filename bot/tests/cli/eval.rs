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

/// Talk of three, 25 times: Ben and Cat answer Ann, one after the other and Cat after twenty minutes, then Ann answers Cat. The labels
/// are whom they answer, or only which conversation they are in.
fn threes(label: fn(round: usize, answers: usize) -> (&'static str, Value)) -> String {
    let mut lines = Vec::new();
    for round in 0..25 {
        let said =
            [("ann", 0, 0, "does it rain?"), ("ben", 30, 0, "no"), ("cat", 1230, 0, "a bit"), ("ann", 1260, 2, "ah")];
        for (nth, (author, after, answers, text)) in said.into_iter().enumerate() {
            let (field, value) = label(round, 4 * round + answers);
            let line = json!({
                "ts": 1_700_000_000 + 3000 * round + after, "channel": "c", "id": format!("m{}", 4 * round + nth),
                "author": author, "text": text, field: value,
            });
            lines.push(line.to_string());
        }
    }
    lines.join("\n") + "\n"
}

fn answers(_: usize, answers: usize) -> (&'static str, Value) {
    ("gold_reply_to", json!([format!("m{answers}")]))
}

fn conversations(round: usize, _: usize) -> (&'static str, Value) {
    ("gold_conversation", json!(format!("talk {round}")))
}

/// By id, from the decisions file.
fn decisions(folder: &Folder) -> BTreeMap<String, Value> {
    decisions_of(folder, "aizuchi")
}

fn decisions_of(folder: &Folder, preset: &str) -> BTreeMap<String, Value> {
    folder.run(&format!("replay talk.jsonl --preset {preset} --decisions decisions.jsonl --json")).succeeded();
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

/// How often what happened has the higher guess, each pair counted.
fn order(guesses: impl Iterator<Item = (f64, bool)>) -> f64 {
    let guesses: Vec<(f64, bool)> = guesses.collect();
    let of = |wanted: bool| guesses.iter().filter(move |(_, happened)| *happened == wanted).map(|(guess, _)| *guess);
    let wins = of(true)
        .flat_map(|yes| of(false).map(move |no| f64::from(u8::from(yes > no)) + f64::from(u8::from(yes == no)) / 2.0));
    let (wins, pairs) = wins.fold((0.0, 0.0), |(wins, pairs), win| (wins + win, pairs + 1.0));
    wins / pairs
}

#[test]
fn anybody_counts_the_same_from_the_decisions_file() {
    let folder = Folder::with("talk.jsonl", talk());
    let decided = decisions(&folder);
    let said = labelled();
    let counted = 0..said.len() - 30;
    let joined = joined(&said);
    let likely = |index: usize| decided[said[index]["id"].as_str().unwrap()]["p_join"].as_f64().unwrap();
    let order = order(counted.clone().map(|index| (likely(index), joined[index])));
    let entry = folder.run("eval entry talk.jsonl --json").succeeded().last_line();
    assert_eq!(entry["messages"], said.len() - 30);
    assert_eq!(entry["joined"], counted.clone().filter(|index| joined[*index]).count());
    let auc = entry["auc"].as_f64().unwrap();
    assert!((auc - order).abs() < 1e-9, "{auc} {order}");
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
    folder.run("eval link talk.jsonl --preset sphene").refused(1, &["score.learned is false"]);
}

#[test]
fn joining_is_counted_by_both_definitions_from_both_kinds_of_labels() {
    // Of a hundred messages seventy count: seventeen rounds, and Ann and Ben of the next one.
    let entry = |labels| {
        let folder = Folder::with("talk.jsonl", threes(labels));
        folder.run("eval entry talk.jsonl --json").succeeded().last_line()
    };
    // Cat answers Ann, so nobody joins at what Ben said; but she is the next to speak after him.
    let by_answers = entry(answers);
    assert_eq!((&by_answers["joined"], &by_answers["by_next"]["joined"]), (&18.into(), &36.into()), "{by_answers}");
    let by_conversations = entry(conversations);
    assert_eq!(by_conversations["joined"], 36, "{by_conversations}");
    for figure in ["joined", "auc", "average_precision", "brier"] {
        assert_eq!(by_conversations[figure], by_conversations["by_next"][figure], "{figure}");
    }
    // Ann begins, Cat comes after twenty minutes, the others go on.
    let groups = |line: &Value, column: usize| -> Vec<u64> {
        line["by_silence"].as_array().unwrap().iter().map(|row| row[column].as_u64().unwrap()).collect()
    };
    assert_eq!(groups(&by_answers, 1), [18, 35, 17, 0, 0]);
    assert_eq!(groups(&by_answers, 2), [18, 0, 0, 0, 0]);
    assert_eq!(groups(&by_conversations, 2), [18, 18, 0, 0, 0]);
}

#[test]
fn simple_guesses_are_measured_beside_it() {
    let folder = Folder::with("talk.jsonl", threes(answers));
    let link = folder.run("eval link talk.jsonl --json").succeeded().last_line();
    // Right for Ben and for Ann's answer; in the right conversation for Cat too, and the first message has none before it.
    assert_eq!((&link["previous"]["f1"], &link["previous"]["in_conversation"]), (&0.51.into(), &0.76.into()), "{link}");
    assert_eq!(link["by_silence"][2], json!(["10-60 min", link["by_silence"][2][1], 25, 25]));
    // Cat speaks to Ann right after Ben, Ann to Cat right after Cat.
    assert_eq!((&link["addressees"]["lines"], &link["addressees"]["last_other"]), (&50.into(), &0.5.into()), "{link}");
    assert_eq!((&link["answers"]["lines"], &link["answers"]["previous"]), (&75.into(), &(2.0 / 3.0).into()), "{link}");
    // Ann is next after Cat, who speaks after Ben, and not after Ben, who speaks after her.
    let turn = folder.run("eval turn talk.jsonl --me ann --json").succeeded().last_line();
    assert_eq!((&turn["messages"], &turn["just_before"]["auc"]), (&50.into(), &0.0.into()), "{turn}");
    assert_eq!(turn["by_silence"][1], json!(["under 10 min", 25, 0, null, turn["by_silence"][1][4]]), "{turn}");
    let told = folder.run("eval link talk.jsonl").succeeded().out;
    assert!(
        told.contains("50 lines of three people that name nobody") && told.contains("last other speaker  0.500"),
        "{told}"
    );
}

#[test]
fn presets_without_estimates_are_measured_by_their_own_rules() {
    let folder = Folder::with("talk.jsonl", threes(answers));
    let guess = |preset: &str, line: &Value| match preset {
        "sphene" => line["score"].as_f64().unwrap() / 100.0,
        _ => f64::from(u8::from(!line["asked"].as_array().unwrap().is_empty())),
    };
    for (preset, rating) in [("sphene", "points"), ("myao2", "asked")] {
        let decided = decisions_of(&folder, preset);
        // Ann's questions of the seventy messages that count.
        let guesses = (0..70).map(|index| (guess(preset, &decided[&format!("m{index}")]), index % 4 == 0));
        let entry = folder.run(&format!("eval entry talk.jsonl --preset {preset} --json")).succeeded().last_line();
        let auc = entry["auc"].as_f64().unwrap();
        assert!((auc - order(guesses)).abs() < 1e-9 && auc != 0.5, "{preset}: {entry}");
        assert_eq!(entry["rating"], rating);
        let turn = folder.run(&format!("eval turn talk.jsonl --me ann --preset {preset} --json")).succeeded();
        assert_eq!(turn.last_line()["rating"], rating);
    }
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
