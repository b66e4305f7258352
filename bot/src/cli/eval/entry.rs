//! `aizuchi eval entry`: where somebody joined, compared with the predicted probability.

use std::fmt::Write as _;

use aizuchi_measure::conversations::groups;
use aizuchi_measure::labels::{entries, entries_by_next};
use aizuchi_measure::metrics::{Outcomes, auc, average_precision, brier, reliability};
use aizuchi_measure::silences::{BySilence, happened};
use serde_json::{Value, json};

use super::LogArguments;
use super::figures::{by_silence, figure, percent, silence_table};
use super::labelled::{ReplayedLogs, live_all};
use super::page::{Curve, EvalPage};
use super::rating::Rating;

/// The predicted probabilities that somebody joins, and whether somebody did.
#[derive(Default)]
struct Entries {
    answered: BySilence,
    /// By the second definition.
    by_next: Vec<(f32, bool)>,
    /// How many messages were left out because nothing was decided about them.
    undecided: usize,
}

pub fn run(arguments: &LogArguments) -> anyhow::Result<()> {
    let (rating, logs) = live_all(arguments, |_| Ok(()))?;
    let mut all = Entries::default();
    logs.iter().for_each(|log| all.add(log, rating));
    let outcomes = all.answered.all();
    let joined = happened(outcomes);
    if joined == 0 || joined == outcomes.len() {
        anyhow::bail!(
            "of {} labelled messages somebody joined at {joined}: both kinds are needed to measure",
            outcomes.len()
        );
    }
    let table = reliability(outcomes);
    if let Some(path) = &arguments.report {
        page(outcomes, &table, auc(outcomes), average_precision(outcomes)).write(path)?;
    }
    let text = if arguments.json { format!("{}\n", json_line(&all, rating)) } else { text(&all, rating) };
    crate::cli::print(&text)
}

fn json_line(all: &Entries, rating: Rating) -> Value {
    let (outcomes, by_next) = (all.answered.all(), &all.by_next);
    let table: Vec<_> =
        reliability(outcomes).into_iter().map(|(count, guess, share)| json!([count, guess, share])).collect();
    json!({
        "rating": rating.id(), "messages": outcomes.len(), "without_p_join": all.undecided, "joined": happened(outcomes),
        "auc": auc(outcomes), "average_precision": average_precision(outcomes), "brier": brier(outcomes),
        "by_next": {
            "joined": happened(by_next), "auc": auc(by_next), "average_precision": average_precision(by_next),
            "brier": brier(by_next),
        },
        "by_silence": by_silence(&all.answered), "reliability": table,
    })
}

fn text(all: &Entries, rating: Rating) -> String {
    let definitions = [all.answered.all(), &all.by_next];
    let mut text = format!("{} messages", all.by_next.len());
    if all.undecided > 0 {
        let _ = write!(text, "; {} more about which nothing was decided", all.undecided);
    }
    let _ = write!(text, "\n\n{}somebody new      answers it  speaks next there\n", rating.note());
    let mut row = |name: &str, cell: &dyn Fn(&Outcomes) -> String| {
        let [answers, next] = definitions.map(cell);
        let _ = writeln!(text, "{name:<17} {answers:>10}  {next:>17}");
    };
    row("joined", &|outcomes| happened(outcomes).to_string());
    row("share", &|outcomes| percent(happened(outcomes), outcomes.len()));
    row("AUC", &|outcomes| figure(auc(outcomes)));
    row("average precision", &|outcomes| figure(average_precision(outcomes)));
    if rating == Rating::Likelihood {
        row("Brier", &|outcomes| format!("{:.4}", brier(outcomes)));
    }
    text.push_str("\nmessages  held likely  happened\n");
    for (count, guess, share) in reliability(all.answered.all()) {
        let _ = writeln!(text, "{count:>8}  {:>9.1} %  {:>6.1} %", 100.0 * guess, 100.0 * share);
    }
    text + "\n" + &silence_table(&all.answered, "joined")
}

impl Entries {
    /// Adds each message of a log that counts.
    fn add(&mut self, log: &ReplayedLogs, rating: Rating) {
        let decided = log.by_message();
        for channel in &log.channels {
            let labels = entries(channel).into_iter().zip(entries_by_next(channel)).zip(groups(channel));
            for (said, ((answered, by_next), silence)) in channel.said.iter().zip(labels) {
                let Some((answered, by_next)) = answered.zip(by_next) else { continue };
                let trace = decided.get(&(channel.name.as_str(), said.id.as_str())).map(|it| &it.trace);
                let Some(guess) = trace.and_then(|trace| rating.join(trace)) else {
                    self.undecided += 1;
                    continue;
                };
                // What replies to nothing, in a log of replies alone, begins something.
                self.answered.push(silence.unwrap_or_default(), guess, answered);
                self.by_next.push((guess, by_next));
            }
        }
    }
}

fn page(outcomes: &[(f32, bool)], table: &[(usize, f64, f64)], auc: f64, precision: f64) -> EvalPage {
    let mut sorted = outcomes.to_vec();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    let all = sorted.iter().filter(|(_, joined)| *joined).count() as f64;
    let others = sorted.len() as f64 - all;
    let (mut right, mut wrong) = (0.0, 0.0);
    let (mut roc, mut recall) = (vec![(0.0, 0.0)], Vec::new());
    for (_, joined) in &sorted {
        if *joined {
            right += 1.0
        } else {
            wrong += 1.0
        }
        roc.push((wrong / others, right / all));
        recall.push((right / all, right / (right + wrong)));
    }
    let honest = table.iter().map(|(_, guess, share)| (*guess, *share)).collect();
    EvalPage {
        title: "Where somebody joins",
        figures: vec![
            ("Messages".into(), outcomes.len().to_string()),
            ("AUC".into(), format!("{auc:.3}")),
            ("Average precision".into(), format!("{precision:.3}")),
        ],
        curves: vec![
            Curve { title: "Found against false alarms", x: "false alarms", y: "found", points: roc, diagonal: true },
            Curve {
                title: "Precision against recall",
                x: "found",
                y: "of these right",
                points: recall,
                diagonal: false,
            },
            Curve {
                title: "Held likely against happened",
                x: "held likely",
                y: "happened",
                points: honest,
                diagonal: true,
            },
        ],
        table: None,
    }
}
