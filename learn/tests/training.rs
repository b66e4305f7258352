//! Training on a small made-up log: the same bytes every time, and better than nothing.

use aizuchi_learn::boost::Growth;
use aizuchi_learn::rooms::Kind;
use aizuchi_learn::train::{Plan, TrainingResult, train, write};
use aizuchi_measure::logs::{Channel, parse};
use aizuchi_measure::metrics::auc;

/// In each channel two people ask in turn, and the other answers by name.
fn log() -> Vec<Channel> {
    let mut lines = String::new();
    for channel in 0..8 {
        for turn in 0..60 {
            let (author, text, gold) = match turn % 3 {
                0 => ("ann", format!("does anyone know about thing{turn}?"), turn),
                1 => ("ben", "ann: look at the manual".to_owned(), turn - 1),
                _ => ("ann", "ben: thanks".to_owned(), turn - 1),
            };
            let ts = turn * 20;
            lines += &format!(
                r#"{{"ts": {ts}, "channel": "c{channel}", "id": "{turn}", "author": "{author}", "text": "{text}", "gold_reply_to": ["{gold}"]}}"#
            );
            lines.push('\n');
        }
    }
    parse(&lines).expect("it parses")
}

/// In each channel ten topics after each other, in which two people speak in turn until a third joins; only the topic is
/// labelled.
fn topics() -> Vec<Channel> {
    let mut lines = String::new();
    for channel in 0..8 {
        for turn in 0..60 {
            let (topic, author) = (turn / 6, ["cleo", "dan", "cleo", "dan", "eve", "dan"][turn as usize % 6]);
            let text =
                if turn % 6 == 0 { format!("new subject {topic}, what about it?") } else { "and so on".to_owned() };
            let ts = turn * 60 + topic * 20_000;
            lines += &format!(
                r#"{{"ts": {ts}, "channel": "t{channel}", "id": "{turn}", "author": "{author}", "text": "{text}", "gold_conversation": "{topic}"}}"#
            );
            lines.push('\n');
        }
    }
    parse(&lines).expect("it parses")
}

fn learn() -> TrainingResult {
    let growth = Growth { trees: 5, depth: 3, rate: 0.5, ridge: 1.0, rows: 0.8, columns: 0.8, seed: 1 };
    let plan = Plan { folds: 2, first: growth, links: growth, join: growth, turn: growth, ..Plan::default() };
    let kinds =
        [Kind { name: "made up".to_owned(), channels: log() }, Kind { name: "topics".to_owned(), channels: topics() }];
    train(&kinds, &plan, &|_| {})
}

#[test]
fn the_same_log_gives_the_same_bytes() {
    let written = |learnt: &TrainingResult| {
        let models = write(&learnt.models).map(|(_, text)| text);
        models.into_iter().chain([learnt.words.clone()]).collect::<Vec<String>>()
    };
    let (one, two) = (learn(), learn());
    assert_eq!(written(&one), written(&two));
    let [made_up, topics] = &one.held_out[..] else { panic!("two kinds") };
    assert!(made_up.links.f1() > 0.95, "{}", made_up.links.f1());
    assert!(topics.placements.share() > 0.9, "{:?}", topics.placements);
    assert!(auc(&topics.turn) > 0.7, "{}", auc(&topics.turn));
}
