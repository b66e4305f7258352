//! Feeds a log to the engine and collects the decisions.

use std::collections::HashMap;

use aizuchi_core::effect::{Ask, Brief, Delivery, Failure, Recall, Remember, Usage};
use aizuchi_core::input::Answer;
use aizuchi_core::memory::FactId;
use aizuchi_core::siblings::Siblings;
use aizuchi_core::sim::{Oracle, Sim};
use aizuchi_core::types::{MessageId, RoomId, Span, Time, Voice};
use aizuchi_core::{Engine, Input, Policies, Trace};
use aizuchi_formats::Event;

use super::memory::MemoryCounts;
use super::pairing::Pairing;
use crate::language::Language;

/// A message and the decision about it.
#[derive(Clone, Debug)]
pub struct Decided {
    pub trace: Trace,
    pub text: Box<str>,
}

/// The result of a replay, with its input.
#[derive(Clone, Debug)]
pub struct Replay {
    pub log: String,
    pub preset: String,
    /// Settings changed on the command line, as given.
    pub changes: Vec<String>,
    pub judge: String,
    /// How many lines could not be read.
    pub bad_lines: u64,
    /// In the order of the log.
    pub decided: Vec<Decided>,
    pub low: u32,
    pub high: u32,
    /// The calls of long-term memory, if they were to be counted.
    pub remembered: Option<MemoryCounts>,
    /// The language of the report.
    pub language: Language,
}

/// How the bot's own posts in a log are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnPosts {
    /// Skipped: its own posts are those of the replay.
    Ignored,
    /// Treated as its own.
    Recorded,
    /// The same for a person who stands in for the bot (`--me`): what the bot would say itself is decided, but nobody sees
    /// it.
    StandIn,
}

/// Runs the events in virtual time. Rooms keep the order of the log; events of different rooms are ordered by time.
/// `progress` gets the number of events done, after each one.
pub fn run(
    policies: Policies,
    oracle: impl Oracle,
    events: Vec<Event>,
    own: OwnPosts,
    progress: &mut dyn FnMut(u64),
) -> Vec<Decided> {
    let policies = if own == OwnPosts::Ignored { policies.unheard() } else { policies };
    let oracle = Posting { oracle, is_seen: own != OwnPosts::StandIn };
    let mut decisions = Pairing::default();
    let mut sim = Sim::new(Engine::new(policies), oracle);
    // A journal contains what its rooms learned about siblings; a log does not.
    let recorded = events.iter().any(|event| matches!(event.input, Input::Siblings(..)));
    sim.siblings = (!recorded).then(Siblings::default);
    let mut said = vec![None; events.len()];
    for (index, event) in events.iter().enumerate() {
        if matches!(event.input, Input::Said(_)) {
            said[index] = Some(decisions.expect_one());
        }
    }
    let mut events: Vec<Option<Event>> = events.into_iter().map(Some).collect();
    for (done, (arrives, index)) in in_order_of_arrival(&events).into_iter().enumerate() {
        let mut event = events[index].take().expect("each event is fed once");
        if let (Input::Said(message), Some(line)) = (&mut event.input, said[index]) {
            // If the time of arrival is not recorded, the order of the log determines it.
            message.heard.get_or_insert(arrives);
            if own == OwnPosts::Ignored && message.author.voice == Voice::Me {
                decisions.pass_over(line, message);
                continue;
            }
            decisions.open(line, message);
        }
        sim.feed(arrives, event.input);
        sim.traces.drain(..).for_each(|trace| decisions.take(trace));
        progress(done as u64);
    }
    sim.finish();
    sim.traces.drain(..).for_each(|trace| decisions.take(trace));
    decisions.finish()
}

/// Whether people see what the bot posts.
struct Posting<O> {
    oracle: O,
    is_seen: bool,
}

impl<O: Oracle> Oracle for Posting<O> {
    fn judge(&mut self, ask: &Ask) -> (Span, Result<Answer, Failure>) {
        self.oracle.judge(ask)
    }

    fn judge_about(&mut self, ask: &Ask, message: &MessageId) -> (Span, Result<Answer, Failure>) {
        self.oracle.judge_about(ask, message)
    }

    fn write(&mut self, brief: &Brief) -> (Span, Result<Answer, Failure>) {
        self.oracle.write(brief)
    }

    fn deliver(&mut self, delivery: &Delivery) -> (Span, Result<Vec<MessageId>, Failure>) {
        let (after, posted) = self.oracle.deliver(delivery);
        (after, posted.map(|ids| if self.is_seen { ids } else { Vec::new() }))
    }

    fn recall(&mut self, recall: &Recall) -> (Span, Option<FactId>) {
        self.oracle.recall(recall)
    }

    fn remember(&mut self, remember: &Remember) -> (Span, Result<Usage, Failure>) {
        self.oracle.remember(remember)
    }
}

/// A message arrives when its room reaches its time: one dated earlier than its predecessor arrives late, together with it.
/// One dated far later than most that follow arrives before them, so that a wrong date delays nobody else.
fn in_order_of_arrival(events: &[Option<Event>]) -> Vec<(Time, usize)> {
    let mut rooms: HashMap<&RoomId, Vec<(Time, usize)>> = HashMap::new();
    for (index, event) in events.iter().flatten().enumerate() {
        let room = event.input.room().expect("a log holds what people did");
        rooms.entry(room).or_default().push((event.at, index));
    }
    let mut order = Vec::with_capacity(events.len());
    for said in rooms.into_values() {
        let mut clock = Time(0);
        for (position, &(at, index)) in said.iter().enumerate() {
            let next = &said[position + 1..said.len().min(position + 1 + FOLLOWING)];
            let earlier = next.iter().filter(|(next, _)| at.since(*next) > DATED_AHEAD).count();
            let arrives = match next.iter().map(|(next, _)| *next).min() {
                Some(first) if 2 * earlier > next.len() => first,
                Some(_) | None => at,
            };
            clock = clock.max(arrives);
            order.push((clock, index));
        }
    }
    order.sort();
    order
}

/// How many of the following messages show whether a date is wrong, and by how much it has to differ from most of them.
const FOLLOWING: usize = 5;
const DATED_AHEAD: Span = Span::minutes(24 * 60);

#[cfg(test)]
mod tests {
    use aizuchi_core::settings::Layers;
    use aizuchi_core::types::CallId;
    use aizuchi_formats::{Options, read_text};

    use super::*;
    use crate::replay::Judge;

    /// How welcome it is when somebody speaks at last, after its posts were given this.
    fn welcome_after(emoji: &str) -> f32 {
        let line = |at: u64, more: &str| format!(r#"{{"ts": {at}, "channel": "garden", {more}}}"#);
        let mut lines = vec![line(1_700_000_000, r#""author": "mia", "text": "does anybody know a quiet keyboard?""#)];
        for serial in 0..8 {
            let post = format!("@me {}", CallId { room: RoomId::new("garden"), serial });
            let more = format!(r#""author": "jonas", "type": "reacted", "id": "{post}", "text": "{emoji}""#);
            lines.push(line(1_700_000_060 + serial, &more));
        }
        lines.push(line(1_700_000_090, r#""author": "jonas", "text": "the sun is out""#));
        let log = read_text("log", lines.join("\n").as_bytes(), &Options::default(), &mut |_| ()).unwrap();
        let mut layers = Layers::default();
        layers.suggest_for_replay();
        let always = ["talk=50%", "score.keywords=?", "score.keyword_odds=1000", "response.min_wait_seconds=5"];
        always.into_iter().for_each(|setting| layers.add_assignment(setting));
        let policies = layers.resolve(&|_| None).unwrap();
        let oracle = Judge::Yes.oracle(&policies, || unreachable!("no model is asked")).unwrap();
        let decided = run(policies, oracle, log.events, OwnPosts::Recorded, &mut |_| ());
        decided.last().and_then(|decided| decided.trace.bar).expect("it is weighed").welcome
    }

    #[test]
    fn a_date_years_ahead_makes_nobody_late() {
        let said = |at: u64| format!(r#"{{"ts": {at}, "channel": "garden", "author": "mia", "text": "hello"}}"#);
        let dates = [100, 160, 2_000_000_100, 220, 280, 90, 340, 400, 460];
        let lines: Vec<String> = dates.iter().map(|at| said(1_700_000_000 + at)).collect();
        let log = read_text("log", lines.join("\n").as_bytes(), &Options::default(), &mut |_| ()).unwrap();
        let events: Vec<Option<Event>> = log.events.into_iter().map(Some).collect();
        let arrive: Vec<u64> =
            in_order_of_arrival(&events).into_iter().map(|(at, _)| at.0 / 1000 - 1_700_000_000).collect();
        // The third arrives with the one before it, the sixth is late.
        assert_eq!(arrive, [100, 160, 160, 220, 280, 280, 340, 400, 460]);
    }

    #[test]
    fn an_emoji_in_a_log_changes_how_welcome_it_is() {
        let (liked, disliked) = (welcome_after("👍"), welcome_after("👎"));
        assert!(liked > 1.0 && disliked < 1.0, "liked {liked}, disliked {disliked}");
    }
}
