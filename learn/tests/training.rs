//! Training on a small made-up log: the same bytes every time, and better than nothing.

use aizuchi_learn::boost::Growth;
use aizuchi_learn::card::{self, Measurements, Sheet};
use aizuchi_learn::models::Models;
use aizuchi_learn::rooms::{Kind, as_it_is};
use aizuchi_learn::rows::collect;
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
fn the_card_has_simple_guesses_beside_each_log() {
    let models = Models::built_in();
    let kinds = [log(), topics()].map(|channels| Kind { name: "made up".to_owned(), channels });
    let rows = collect(&as_it_is(&kinds, 1), |_| &models);
    let held_out = [0, 1].map(|kind| Measurements::of_itself(&rows, kind));
    let card = card::write(&Sheet { kinds: &kinds, models: &models, held_out: &held_out, checks: &[] });
    let (_, figures) = card.split_once("## Figures").expect("there are figures");
    let (figures, _) = figures.split_once("How honest").expect("and more after them");
    let has =
        |row: &str| assert!(figures.contains(&format!("\n| `made up`, held out | {row} |\n")), "{row}: {figures}");
    // Two of three messages answer the one before them, and the first of a channel has none before it; of two people it is
    // always the other's turn.
    has("0.683 | 0.683 | – | 1.000");
    has("320 | 1.000 | 1.000 | 0 | – | –");
    // Of six messages five go on. Before Eve joins it is the turn of who spoke before, then Dan's and not Cleo's.
    has("– | 0.850 | 0.750 | 0.750");
    has("0 | – | – | 0 | – | –");
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
    assert!(made_up.score.links.f1() > 0.95, "{}", made_up.score.links.f1());
    assert!(topics.score.placements.share() > 0.9, "{:?}", topics.score.placements);
    assert!(auc(topics.turn.all()) > 0.7, "{}", auc(topics.turn.all()));
}
