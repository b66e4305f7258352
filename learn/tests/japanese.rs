//! The models that are compiled in, on Japanese talk in which hardly anybody is called by name.

use std::path::Path;

use aizuchi_learn::models::Models;
use aizuchi_learn::rooms::{Kind, as_it_is};
use aizuchi_learn::rows::collect;
use aizuchi_measure::logs::read;
use aizuchi_measure::metrics::auc;

#[test]
fn japanese_talk_is_not_strange_to_it() {
    let channels = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("talk/ja.jsonl")).expect("the talk can be read");
    let models = Models::built_in();
    let kind = Kind { name: "ja".to_owned(), channels: channels.clone() };
    let rows = collect(&as_it_is(&[kind], 1), |_| &models);
    let before = channels.iter().flat_map(|channel| {
        let answers = channel.said.iter().enumerate().skip(1);
        answers.map(|(index, said)| said.gold.as_ref().is_some_and(|gold| gold.contains(&(index - 1))))
    });
    let before = before.filter(|right| *right).count();
    let right = rows.scores[0].links.right;
    assert!(right > before + before / 4, "{right} right, {before} by taking the one before");
    let joined: Vec<(f32, bool)> = rows.join.iter().map(|example| (example.guess, example.happened)).collect();
    assert!(auc(&joined) > 0.69, "{}", auc(&joined));
}
