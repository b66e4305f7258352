//! A room's own history: what an export tells is learnt from and measured on, and the models made of it decide.

use std::sync::Arc;

use aizuchi_core::learnt::{LearntModels, OwnModels, write};
use aizuchi_core::likelihood::JoinModel;
use aizuchi_core::settings::Layers;
use aizuchi_core::trees::Trees;
use aizuchi_core::types::stable_hash;
use aizuchi_core::{Input, Policies};
use serde_json::{Value, json};

use super::program::Folder;
use super::store::{Lived, live_with};

/// The same number below `below` for the same index.
fn chance(seed: u64, index: usize, below: u64) -> usize {
    (stable_hash(seed, &index.to_string()) % below) as usize
}

/// A Slack channel in which two threads always take turns, line by line: words and pauses tell nothing.
fn two_at_a_time(seed: u64, messages: usize) -> String {
    const LINES: usize = 12;
    let ts = |index: usize| format!("{}.000100", 1_700_000_000 + 60 * index);
    let post = |index: usize| {
        let first = index / (2 * LINES) * (2 * LINES) + index % 2;
        let text = format!("it is {} and {}", chance(seed, index, 900), chance(seed + 1, index, 900));
        let user = format!("U{}", chance(seed + 2, index, 6));
        json!({"type": "message", "user": user, "text": text, "ts": ts(index), "thread_ts": ts(first)})
    };
    Value::Array((0..messages).map(post).collect()).to_string()
}

/// Who answers whom is left to chance, and everybody says one thing only.
fn noise(messages: usize) -> String {
    let (mut alive, mut lines) = ([0, 1], Vec::new());
    for index in 0..messages {
        let which = chance(5, index, 2);
        if chance(6, index, 3) == 0 {
            alive[which] = index + 2;
        }
        let line = json!({
            "ts": 1_700_000_000 + 60 * index, "channel": "c", "id": format!("m{index}"), "author": format!("p{index}"),
            "text": format!("it is {}", chance(7, index, 900)), "gold_conversation": format!("k{}", alive[which]),
        });
        lines.push(line.to_string() + "\n");
    }
    lines.concat()
}

/// The models of a room in which somebody always joins.
fn eager(more: i32) -> String {
    let built_in: &Trees = &JoinModel::built_in().trees;
    let join = Trees { bias: built_in.bias + more, ..built_in.clone() };
    write(&OwnModels { date: "2024-05-06", source: "a test", join: Some(&join), ..OwnModels::default() })
}

const TALK: &str = include_str!("../../../samples/en.jsonl");

fn figure(line: &Value, path: &str) -> f64 {
    line.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {path}: {line}"))
}

#[test]
fn a_room_with_its_own_habits_is_learnt_and_helps_where_it_was_not_looked_at() {
    let folder = Folder::with("room/general/2023-11-14.json", two_at_a_time(1, 720));
    folder.write("later/general/2023-12-14.json", two_at_a_time(9, 480));
    let learnt = folder.run("learn room --out room.txt --json").succeeded().last_line();
    assert_eq!((&learnt["messages"], &learnt["labelled"]), (&json!(720), &json!(720)));
    let (before, after) = (figure(&learnt, "/models/0/before/share"), figure(&learnt, "/models/0/after/share"));
    assert!(learnt["models"][0]["better"] == true && after > before + 0.1, "{learnt}");
    let measure = |options: &str| {
        let line = folder.run(&format!("eval link later --json {options}")).succeeded().last_line();
        figure(&line, "/in_conversation")
    };
    let (built_in, own) = (measure(""), measure("--set score.model_file=room.txt"));
    assert!(own > built_in + 0.1, "{built_in} {own}");
    let run = folder.run("learn room --out again.txt").succeeded();
    assert!(run.out.contains("links  share         720  "), "{}", run.out);
    assert!(run.out.contains("use it with score.model_file = \"again.txt\""), "{}", run.out);
    assert_eq!(folder.read("again.txt"), folder.read("room.txt"), "the same log gives the same models");
}

#[test]
fn a_log_that_is_named_twice_and_a_file_that_cannot_be_written_are_refused_before_the_work() {
    let folder = Folder::with("noise.jsonl", noise(500));
    folder.write("copy.jsonl", noise(600));
    for logs in ["noise.jsonl noise.jsonl", "noise.jsonl copy.jsonl"] {
        let run = folder.run(&format!("learn {logs} --out room.txt"));
        assert_eq!(run.code, Some(1), "{run:?}");
        let told = format!("of {} are in noise.jsonl too: name each log once", logs.split(' ').next_back().unwrap());
        assert!(run.err.contains(&told) && run.out.is_empty(), "{run:?}");
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("copy.jsonl", folder.path("link.txt")).expect("a link");
    for out in [
        "missing/room.txt",
        ".",
        #[cfg(unix)]
        "link.txt",
        #[cfg(unix)]
        "/dev/null",
    ] {
        let run = folder.run(&format!("learn noise.jsonl --out {out}"));
        assert!(run.code == Some(1) && run.err.contains("cannot write") && run.out.is_empty(), "{run:?}");
    }
}

#[test]
fn a_stand_in_whom_nobody_knows_and_labels_that_lead_nowhere_are_told() {
    let folder = Folder::with("noise.jsonl", noise(30));
    let run = folder.run("eval turn noise.jsonl --me nobody");
    assert!(run.err.contains("--me nobody: nobody of that name speaks in these logs; p"), "{run:?}");
    let astray =
        r#"{"ts": 1700000000, "channel": "c", "id": "m1", "author": "a", "text": "hi", "gold_reply_to": ["m9"]}"#;
    folder.write("astray.jsonl", astray);
    for command in ["eval link astray.jsonl", "learn astray.jsonl --out room.txt"] {
        let run = folder.run(command);
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.err.contains("none of the 1 labels leads to a message of the log"), "{run:?}");
    }
}

#[test]
fn what_is_not_better_is_refused_with_the_figures() {
    let folder = Folder::with("noise.jsonl", noise(500));
    let run = folder.run("learn noise.jsonl --out room.txt");
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.err.contains("nothing is better than the built-in models; room.txt was not written"), "{run:?}");
    assert_eq!(run.out.matches("not better: as built in").count(), 3, "{}", run.out);
    assert!(!folder.has("room.txt") && !folder.has("room.txt.new"));
    let few = folder.run("learn noise.jsonl noise.jsonl --out noise.jsonl");
    few.refused(1, &["--out noise.jsonl would overwrite its input"]);
    folder.write("few.jsonl", noise(200));
    let told = "200 of 200 messages have labels (replies, threads, gold_reply_to or gold_conversation); at least 300";
    folder.run("learn few.jsonl --out room.txt").refused(1, &[told]);
}

#[test]
fn threads_of_an_export_are_the_truth_and_not_shown_while_guessing() {
    let folder = Folder::with("room/general/2023-11-14.json", two_at_a_time(1, 480));
    let link = folder.run("eval link room --json").succeeded().last_line();
    assert_eq!(link["by_silence"][0][2], 40, "two threads for each 24 messages: {link}");
    assert!(figure(&link, "/in_conversation") < 0.9, "with the threads it would always be right: {link}");
    let turn = folder.run("eval turn room --json").succeeded().last_line();
    assert_eq!(turn["me"].as_array().expect("a list").len(), 5);
    let entry = folder.run("eval entry room --json").succeeded().last_line();
    assert_eq!(entry["messages"], 450);
}

#[test]
fn the_file_of_the_settings_decides_alike_every_time_and_explains_itself() {
    let folder = Folder::with("talk.jsonl", TALK);
    folder.write("eager.txt", eager(2000));
    let built_in = folder.decide("");
    let own = folder.decide("--set score.model_file=eager.txt");
    let again = folder.decide("--set score.model_file=eager.txt");
    let likely = |decisions: &[Value]| decisions.iter().filter_map(|one| one["p_join"].as_f64()).sum::<f64>();
    assert!(likely(&own) > 2.0 * likely(&built_in), "{} {}", likely(&own), likely(&built_in));
    assert_eq!(own, again);
    let built_in_trees: &Trees = &JoinModel::built_in().trees;
    let (factor, term) = built_in_trees.calibration;
    let join = Trees { calibration: (-factor, -term), ..built_in_trees.clone() };
    folder.write("contrary.txt", write(&OwnModels { join: Some(&join), ..OwnModels::default() }));
    let contrary = folder.decide("--set score.model_file=contrary.txt");
    let because = |decisions: &[Value]| {
        let reason = decisions[0]["reason"].as_str().expect("a sentence");
        reason.split_once("would join here (").map(|(_, because)| because.to_owned())
    };
    assert!(because(&built_in).is_some(), "{}", built_in[0]);
    assert_ne!(because(&contrary), because(&built_in), "what speaks for joining speaks against it");
}

#[test]
fn a_damaged_file_is_told_with_its_line_and_doctor_says_which_model_is_in_use() {
    let doctor = "doctor --offline --set web.address=127.0.0.1:1";
    let folder = Folder::with("eager.txt", eager(2000));
    let hash = LearntModels::parse(&eager(2000)).expect("it is right").hash().expect("it has one").to_owned();
    let run = folder.run(doctor);
    assert!(run.out.contains("ok   learnt    the built-in model\n"), "{run:?}");
    folder.write("aizuchi.toml", "[score]\nmodel_file = \"eager.txt\"\n");
    let run = folder.run(doctor);
    assert!(run.out.contains(&format!("ok   learnt    eager.txt of 2024-05-06, hash {hash}\n")), "{run:?}");
    let lines = eager(2000).lines().count();
    folder.write("eager.txt", eager(2000).replacen("calibration", "calibrations", 1));
    let told = format!(
        "aizuchi.toml:2: `score.model_file` must be a file that `aizuchi learn` wrote: eager.txt:{lines}: the file was \
         changed or is damaged: its hash is "
    );
    folder.write("talk.jsonl", TALK);
    folder.run("replay talk.jsonl").refused(2, &[&told]);
    let run = folder.run(doctor);
    assert!(run.code == Some(1) && run.out.contains(&format!("fail settings  {told}")), "{run:?}");
    let told = "cannot read none.txt: No such file";
    folder.run("replay talk.jsonl --set score.model_file=none.txt").refused(2, &[told]);
}

fn policies(file: &str, text: &str) -> Policies {
    let mut layers = Layers::default();
    layers.add_assignment(&format!("score.model_file={file}"));
    let policies: Policies = layers.resolve(&|_| None).expect("the settings are right");
    let models = Arc::new(LearntModels::parse(text).expect("the model is right"));
    policies.with_models([(file.to_owned(), models)])
}

/// A journal of a room that was decided by this model.
fn recorded(text: &str) -> Lived {
    let policies = policies("eager.txt", text);
    let stated = Box::new(policies.stated());
    let mut lived = live_with(policies, TALK, "");
    lived.records.insert(0, (lived.records[0].0, 0, Input::PolicyChanged(stated)));
    lived
}

#[test]
fn a_journal_is_lived_again_by_the_model_of_then_or_not_at_all() {
    let same = json!({"same": 13, "missing": 0, "different": []});
    let folder = Folder::with("eager.txt", eager(2000));
    folder.write("aizuchi.toml", "[score]\nmodel_file = \"eager.txt\"\n");
    recorded(&eager(2000)).keep_in(&folder);
    let line = folder.run("replay --journal --json").succeeded().last_line();
    assert_eq!(line["check"], same);

    folder.write("eager.txt", eager(500));
    let (then, now) = (eager(2000), eager(500));
    let hash = |text: &str| LearntModels::parse(text).expect("it is right").hash().expect("it has one").to_owned();
    let told = format!(
        "the journal was decided by a model that is missing: eager.txt with the hash {} (it has the hash {} now)",
        hash(&then),
        hash(&now)
    );
    folder.run("replay --journal").refused(1, &[&told, "Put a copy into aizuchi-data/models"]);
    folder.write("aizuchi-data/models/then.txt", eager(2000));
    let line = folder.run("replay --journal --json").succeeded().last_line();
    assert_eq!(line["check"], same, "a copy in the data folder will do");
    folder.write("aizuchi.toml", "");
    let line = folder.run("replay --journal --json").succeeded().last_line();
    assert_eq!(line["check"], same, "whatever the settings are now");
}
