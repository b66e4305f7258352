//! The models that are compiled in, on Japanese talk in which hardly anybody is called by name.

use std::path::Path;

use aizuchi_learn::models::Models;
use aizuchi_learn::rows::collect;
use aizuchi_measure::logs::read;
use aizuchi_measure::metrics::auc;

#[test]
fn japanese_talk_is_not_strange_to_it() {
    let channels = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("talk/ja.jsonl")).expect("the talk can be read");
    let models = Models::built_in();
    let rows = collect(&channels, |_| &models);
    let before = channels.iter().flat_map(|channel| {
        let answers = channel.said.iter().enumerate().skip(1);
        answers.map(|(index, said)| said.gold.as_ref().is_some_and(|gold| gold.contains(&(index - 1))))
    });
    let before = before.filter(|right| *right).count();
    assert!(rows.score.right > before + before / 4, "{} right, {before} by taking the one before", rows.score.right);
    let joined: Vec<(f32, bool)> = rows.guesses.iter().copied().zip(rows.joined.iter().copied()).collect();
    assert!(auc(&joined) > 0.69, "{}", auc(&joined));
}
