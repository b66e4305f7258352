//! Training on a small made-up log: the same bytes every time, and better than nothing.

use aizuchi_core::conversations::pairs;
use aizuchi_core::likelihood;
use aizuchi_learn::boost::Growth;
use aizuchi_learn::lives::Shares;
use aizuchi_learn::train::{Plan, TrainingResult, train};
use aizuchi_measure::logs::{Channel, parse};

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

fn learn() -> TrainingResult {
    let growth = Growth { trees: 5, depth: 3, rate: 0.5, ridge: 1.0, rows: 0.8, columns: 0.8, seed: 1 };
    let shares = Shares { wordless: 0.3, nameless: 0.2, paused: 0.2 };
    let plan = Plan { folds: 2, looks: 2, first: growth, links: growth, join: growth, shares, guessed: 0.5 };
    train(&log(), &plan, &|_| {})
}

#[test]
fn the_same_log_gives_the_same_bytes() {
    let written = |learnt: &TrainingResult| {
        let models = &learnt.models;
        [
            learnt.words.clone(),
            models.link.trees.write(&pairs::FEATURES),
            models.join.trees.write(&likelihood::FEATURES),
        ]
    };
    let (one, two) = (learn(), learn());
    assert_eq!(written(&one), written(&two));
    assert!(one.held_out.known.links.f1() > 0.95, "{}", one.held_out.known.links.f1());
}
