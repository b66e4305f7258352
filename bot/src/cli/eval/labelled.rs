//! Replays labelled logs and puts each decision next to what people really did.

use std::collections::HashMap;

use aizuchi_core::Policies;
use aizuchi_formats::Event;
use aizuchi_measure::logs::{self, Channel};
use anyhow::bail;

use super::LogArguments;
use super::rating::Rating;
use crate::cli::outputs;
use crate::replay::{Decided, Judge, OwnPosts, run};

/// A log and its decisions, in the order of the log.
pub struct ReplayedLogs {
    pub channels: Vec<Channel>,
    pub decided: Vec<Decided>,
}

impl ReplayedLogs {
    /// The decision about each message, by channel and id.
    pub fn by_message(&self) -> HashMap<(&str, &str), &Decided> {
        by_message(&self.decided)
    }
}

pub fn by_message(decided: &[Decided]) -> HashMap<(&str, &str), &Decided> {
    let keyed = |decided| {
        let Decided { trace, .. }: &Decided = decided;
        ((trace.place.room.as_str(), trace.message.as_str()), decided)
    };
    decided.iter().map(keyed).collect()
}

/// Replays every log with a judge that always declines, so that no post of the bot changes the talk. `needs` refuses settings whose
/// decisions cannot be measured.
pub fn live_all(
    arguments: &LogArguments,
    needs: impl Fn(Rating) -> anyhow::Result<()>,
) -> anyhow::Result<(Rating, Vec<ReplayedLogs>)> {
    let inputs: Vec<&str> = arguments.logs.iter().map(String::as_str).collect();
    let report: Vec<_> = arguments.report.iter().map(|path| ("--report", path.as_str())).collect();
    outputs::check(&inputs, &report)?;
    let (policies, _) = arguments.settings.policies_for_replay()?;
    let rating = Rating::of(&policies);
    needs(rating)?;
    let mut all = Vec::new();
    for path in outputs::distinct(&arguments.logs) {
        let (channels, events) = logs::read_with_events(path, &aizuchi_formats::Options::default())?;
        all.push(ReplayedLogs { channels, decided: decide(&policies, &Judge::No, events)? });
    }
    check_labels(all.iter().flat_map(|log| &log.channels))?;
    Ok((rating, all))
}

/// Nothing can be measured without labels, or with labels that refer to nothing.
pub fn check_labels<'a>(channels: impl Iterator<Item = &'a Channel> + Clone) -> anyhow::Result<()> {
    let said = || channels.clone().flat_map(|channel| &channel.said);
    let (lost, found): (usize, usize) = said().fold((0, 0), |(lost, found), said| {
        let known = said.gold.as_ref().map_or(0, Vec::len) + usize::from(said.conversation.is_some());
        (lost + said.lost, found + known)
    });
    if lost > 0 && found == 0 {
        bail!(
            "none of the {lost} labels leads to a message of the log: gold_reply_to has the ids of messages of the same channel"
        );
    }
    if lost > found {
        tracing::warn!(lost, found, "most labels lead to no message of the log; they are counted as not found");
    }
    if !channels.clone().any(|channel| channel.answers().iter().any(Option::is_some)) {
        bail!(
            "no message has labels: a transcript has them as gold_reply_to or gold_conversation, and any log as replies and threads"
        );
    }
    Ok(())
}

pub fn events(path: &str) -> anyhow::Result<Vec<Event>> {
    Ok(aizuchi_formats::read(path, &aizuchi_formats::Options::default(), &mut |_| ())?.events)
}

pub fn decide(policies: &Policies, judge: &Judge, events: Vec<Event>) -> anyhow::Result<Vec<Decided>> {
    let oracle = judge.oracle(policies, || bail!("the evaluation asks no model"))?;
    Ok(run(policies.clone(), oracle, events, OwnPosts::Ignored, &mut |_| ()))
}

/// The same for a log in which a person stands in for the bot.
pub fn decide_as(policies: &Policies, path: &str, person: &str) -> anyhow::Result<Vec<Decided>> {
    let options = aizuchi_formats::Options { me: vec![person.to_owned()], ..aizuchi_formats::Options::default() };
    let (_, events) = logs::read_with_events(path, &options)?;
    let oracle = Judge::No.oracle(policies, || bail!("the evaluation asks no model"))?;
    Ok(run(policies.clone(), oracle, events, OwnPosts::StandIn, &mut |_| ()))
}
