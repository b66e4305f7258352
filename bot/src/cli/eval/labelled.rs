//! Labelled logs, lived through: what was decided beside what people really did.

use std::collections::HashMap;
use std::path::Path;

use aizuchi_core::Policies;
use aizuchi_formats::Event;
use aizuchi_measure::logs::{self, Channel};
use anyhow::bail;

use super::LogArguments;
use crate::cli::outputs;
use crate::replay::{Decided, Judge, OwnPosts, run};

/// A log and what was decided there, in its order.
pub struct ReplayedLogs {
    pub channels: Vec<Channel>,
    pub decided: Vec<Decided>,
}

impl ReplayedLogs {
    /// The decision about each message, by channel and id.
    pub fn by_message(&self) -> HashMap<(&str, &str), &Decided> {
        let keyed = |decided| {
            let Decided { trace, .. }: &Decided = decided;
            ((trace.place.room.as_str(), trace.message.as_str()), decided)
        };
        self.decided.iter().map(keyed).collect()
    }
}

/// Every log with a judge that says no: nothing that it says itself changes the talk.
pub fn live_all(arguments: &LogArguments) -> anyhow::Result<Vec<ReplayedLogs>> {
    let inputs: Vec<&str> = arguments.logs.iter().map(String::as_str).collect();
    let report: Vec<_> = arguments.report.iter().map(|path| ("--report", path.as_str())).collect();
    outputs::check(&inputs, &report)?;
    let (policies, _) = arguments.settings.policies_for_replay()?;
    if !policies.general().settings.score.learned {
        bail!("nothing to measure: score.learned is false in these settings");
    }
    let mut all = Vec::new();
    for path in &arguments.logs {
        let channels = logs::read(Path::new(path))?;
        all.push(ReplayedLogs { channels, decided: decide(&policies, &Judge::No, events(path)?)? });
    }
    if all.iter().flat_map(|log| &log.channels).flat_map(|channel| &channel.said).all(|said| said.gold.is_none()) {
        bail!("no message has labels (gold_reply_to)");
    }
    Ok(all)
}

pub fn events(path: &str) -> anyhow::Result<Vec<Event>> {
    Ok(aizuchi_formats::read(path, &aizuchi_formats::Options::default(), &mut |_| ())?.events)
}

pub fn decide(policies: &Policies, judge: &Judge, events: Vec<Event>) -> anyhow::Result<Vec<Decided>> {
    let oracle = judge.oracle(policies, || bail!("the evaluation asks no model"))?;
    Ok(run(policies.clone(), oracle, events, OwnPosts::Ignored, &mut |_| ()))
}
