//! What decided: rules, gates, and how far messages got.

use std::collections::BTreeMap;

use aizuchi_core::effect::{Outcome, Stage};
use aizuchi_core::gates::GATES;
use aizuchi_core::listen::Addressed;
use aizuchi_core::points::{RULES, Rule};
use serde::Serialize;

use super::chart::short;
use super::scores::score_of;
use super::tally::{Tally, acted};
use super::words;
use crate::language::{Language, LocalizedMessage, message, say};
use crate::replay::Decided;

#[derive(Serialize)]
pub struct Causes {
    pub rules: Vec<RuleRow>,
    pub rules_unused: Vec<String>,
    pub learnt: Vec<RuleRow>,
    pub gates: Vec<GateRow>,
    pub gates_unused: Vec<String>,
    pub stages: Vec<StageRow>,
    /// How the bot was addressed: "12 by mention".
    pub addressed: Vec<String>,
}

#[derive(Serialize)]
pub struct RuleRow {
    pub name: String,
    pub doc: String,
    pub given: String,
    pub share: String,
    pub average: String,
    pub is_for: bool,
    /// The average as a bar from the middle, in percent of the whole width.
    pub width: String,
    pub acted: String,
}

#[derive(Serialize)]
pub struct GateRow {
    pub name: String,
    pub doc: String,
    pub closed: String,
    pub share: String,
    pub width: String,
}

#[derive(Serialize)]
pub struct StageRow {
    pub name: String,
    pub doc: String,
    pub ended: String,
    pub share: String,
    pub acted: String,
    pub parts: Vec<OutcomeWidth>,
}

#[derive(Serialize)]
pub struct OutcomeWidth {
    pub outcome: Outcome,
    pub width: String,
}

#[derive(Clone, Copy, Default)]
struct RuleTally {
    times: u64,
    points: i64,
    acted: u64,
}

pub fn causes(decided: &[Decided], language: Language) -> Causes {
    let (rules, rules_unused) = rules(decided, language);
    let (gates, gates_unused) = gates(decided, language);
    let learnt = learnt(decided, language);
    Causes {
        rules,
        rules_unused,
        learnt,
        gates,
        gates_unused,
        stages: stages(decided, language),
        addressed: addressed(decided, language),
    }
}

fn rules(decided: &[Decided], language: Language) -> (Vec<RuleRow>, Vec<String>) {
    let mut given = [RuleTally::default(); RULES.len()];
    let mut scored = 0;
    for one in decided {
        scored += u64::from(score_of(one).is_some());
        for (sum, points) in given.iter_mut().zip(one.trace.points.by_rule()).filter(|(_, points)| **points != 0) {
            sum.times += 1;
            sum.points += i64::from(*points);
            sum.acted += u64::from(acted(one.trace.outcome));
        }
    }
    if scored == 0 {
        return (Vec::new(), Vec::new());
    }
    let average = |given: &RuleTally| given.points as f64 / given.times.max(1) as f64;
    let strongest = given.iter().map(|given| average(given).abs()).fold(1.0, f64::max);
    let (used, unused): (Vec<_>, Vec<_>) = RULES.iter().zip(given).partition(|(_, given)| given.times > 0);
    let row = |(rule, given): (&Rule, RuleTally)| RuleRow {
        name: spaced(rule.id),
        doc: language.text(&format!("rule-{}.doc", rule.id)),
        given: words::count(given.times),
        share: words::percent(given.times, scored, language),
        average: format!("{:+.1}", average(&given)).replace('-', "−"),
        is_for: given.points > 0,
        width: short(average(&given).abs() * 50.0 / strongest),
        acted: words::count(given.acted),
    };
    (used.into_iter().map(row).collect(), unused.into_iter().map(|(rule, _)| spaced(rule.id)).collect())
}

/// The features of the likelihood: how often each counted, and by how much on average.
fn learnt(decided: &[Decided], language: Language) -> Vec<RuleRow> {
    /// A smaller contribution, in log-odds, does not count.
    const LEAST: f32 = 0.03;
    #[derive(Default)]
    struct Sum {
        times: u64,
        log_odds: f32,
        weight: f32,
        acted: u64,
    }
    let mut sums = BTreeMap::<&str, Sum>::new();
    let mut likely = 0;
    for one in decided {
        let parts = one.trace.contributions();
        likely += u64::from(!parts.is_empty());
        for part in parts.iter().filter(|part| part.log_odds.abs() >= LEAST) {
            let sum = sums.entry(part.feature.id).or_default();
            sum.times += 1;
            sum.log_odds += part.log_odds;
            sum.weight += part.log_odds.abs();
            sum.acted += u64::from(acted(one.trace.outcome));
        }
    }
    let mut rows: Vec<_> = sums.into_iter().collect();
    rows.sort_by(|(_, one), (_, two)| two.weight.total_cmp(&one.weight));
    let average = |sum: &Sum| sum.weight / sum.times as f32;
    let strongest = rows.iter().map(|(_, sum)| average(sum)).fold(0.1, f32::max);
    let row = |(id, sum): (&str, Sum)| RuleRow {
        name: spaced(id),
        doc: language.text(&format!("feature-{id}")),
        given: words::count(sum.times),
        share: words::percent(sum.times, likely, language),
        average: format!("×{:.2}", average(&sum).exp()),
        is_for: sum.log_odds > 0.0,
        width: short(f64::from(average(&sum) / strongest) * 50.0),
        acted: words::count(sum.acted),
    };
    rows.into_iter().map(row).collect()
}

/// In the order in which they are checked; gates that this version does not know come last.
fn gates(decided: &[Decided], language: Language) -> (Vec<GateRow>, Vec<String>) {
    let mut closed = BTreeMap::<(usize, &str), u64>::new();
    for gate in decided.iter().filter_map(|one| one.trace.gate.as_deref()) {
        let index = GATES.iter().position(|known| known.id == gate).unwrap_or(GATES.len());
        *closed.entry((index, gate)).or_default() += 1;
    }
    let most = closed.values().copied().max().unwrap_or(1);
    let row = |(&(index, id), &times): (&(usize, &str), &u64)| GateRow {
        name: words::harmless_line(&spaced(id), 60),
        doc: GATES.get(index).map_or_else(String::new, |gate| language.text(&format!("gate-{}.doc", gate.id))),
        closed: words::count(times),
        share: words::percent(times, decided.len() as u64, language),
        width: short(times as f64 * 100.0 / most as f64),
    };
    let unused = GATES.iter().enumerate().filter(|(index, gate)| !closed.contains_key(&(*index, gate.id)));
    (closed.iter().map(row).collect(), unused.map(|(_, gate)| spaced(gate.id)).collect())
}

const STAGES: [Stage; 7] =
    [Stage::Filter, Stage::Address, Stage::Score, Stage::Gate, Stage::Judge, Stage::Hold, Stage::Post];

/// The name of a stage, and what ends there.
fn stage_words(stage: Stage) -> [LocalizedMessage; 2] {
    match stage {
        Stage::Filter => [message!("report-stage-filter"), message!("report-stage-filter-doc")],
        Stage::Address => [message!("report-stage-address"), message!("report-stage-address-doc")],
        Stage::Score => [message!("report-stage-score"), message!("report-stage-score-doc")],
        Stage::Gate => [message!("report-stage-gate"), message!("report-stage-gate-doc")],
        Stage::Judge => [message!("report-stage-judge"), message!("report-stage-judge-doc")],
        Stage::Hold => [message!("report-stage-hold"), message!("report-stage-hold-doc")],
        Stage::Post => [message!("report-stage-post"), message!("report-stage-post-doc")],
    }
}

fn stages(decided: &[Decided], language: Language) -> Vec<StageRow> {
    let mut tallies = [Tally::default(); STAGES.len()];
    for one in decided {
        let index = STAGES.iter().position(|stage| *stage == one.trace.stage).expect("every stage is listed");
        tallies[index].add(one.trace.outcome);
    }
    let all = decided.len() as u64;
    let most = tallies.iter().map(Tally::all).max().unwrap_or(0).max(1) as f64;
    let parts = |tally: &Tally| {
        let outcomes = Tally::ALL.into_iter().filter(|outcome| tally.of(*outcome) > 0);
        outcomes
            .map(|outcome| OutcomeWidth { outcome, width: short(tally.of(outcome) as f64 * 100.0 / most) })
            .collect()
    };
    let row = |(stage, tally): (&Stage, &Tally)| {
        let [name, doc] = stage_words(*stage).map(|words| words.say(language));
        StageRow {
            name,
            doc,
            ended: words::count(tally.all()),
            share: words::percent(tally.all(), all, language),
            acted: words::count(tally.acted()),
            parts: parts(tally),
        }
    };
    STAGES.iter().zip(&tallies).map(row).collect()
}

fn addressed(decided: &[Decided], language: Language) -> Vec<String> {
    let times = |by| decided.iter().filter(|one| one.trace.addressed == Some(by)).count() as u64;
    [Addressed::Mention, Addressed::Name, Addressed::Reply, Addressed::Turn]
        .into_iter()
        .map(|by| (by, times(by)))
        .filter(|(_, times)| *times > 0)
        .map(|(by, times)| say!(language, "report-addressed-by", n = words::count(times), how = by.id()))
        .collect()
}

fn spaced(id: &str) -> String {
    id.replace('_', " ")
}
