//! Figures as text and as JSON, as several measures print them.

use std::fmt::Write as _;

use aizuchi_measure::conversations::GROUPS;
use aizuchi_measure::metrics::{auc, average_precision};
use aizuchi_measure::silences::{BySilence, happened};
use serde_json::{Value, json};

/// Three places; a dash where there is nothing to count.
pub fn figure(number: f64) -> String {
    if number.is_nan() { "–".to_owned() } else { format!("{number:.3}") }
}

pub fn percent(part: usize, all: usize) -> String {
    format!("{:.1} %", 100.0 * part as f64 / all.max(1) as f64)
}

/// By how long the conversation had been silent before a message: how many, how many of them happened, and the order.
pub fn silence_table(outcomes: &BySilence, happens: &str) -> String {
    let mut text = format!("messages  {happens:>6}    AUC  precision  silent before\n");
    for (group, outcomes) in GROUPS.iter().zip(outcomes.groups()) {
        let (yes, order) = (happened(&outcomes), figure(auc(&outcomes)));
        let precision = if yes == 0 { "–".to_owned() } else { figure(average_precision(&outcomes)) };
        let _ = writeln!(text, "{:>8}  {yes:>6}  {order:>5}  {precision:>9}  {group}", outcomes.len());
    }
    text
}

/// The same rows as JSON; null where there is nothing to count.
pub fn by_silence(outcomes: &BySilence) -> Vec<Value> {
    let row = |(group, outcomes): (&&str, Vec<(f32, bool)>)| {
        json!([group, outcomes.len(), happened(&outcomes), auc(&outcomes), average_precision(&outcomes)])
    };
    GROUPS.iter().zip(outcomes.groups()).map(row).collect()
}
