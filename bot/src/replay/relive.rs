//! Replays recorded days exactly as they were: every record at its time, by the engine that handled it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aizuchi_core::effect::DecisionReport;
use aizuchi_core::types::{CallId, Change, MessageId, RoomId, Time};
use aizuchi_core::{Effect, Engine, Input, Trace};

use super::Decided;
use super::differences::{StoredTraces, without_repeats};
use super::missing_calls::CallPairing;
use super::pairing::Pairing;
use super::recorded::{CallKind, RecordedAnswers};
use crate::journal::{Engines, Record};

/// The result of a replay of records.
pub struct ReliveResult {
    pub decided: Vec<Decided>,
    /// How many messages of each room had no decision yet when the records end.
    pub pending: BTreeMap<RoomId, u64>,
    /// The recorded answers, for a replay with different settings.
    pub answers: RecordedAnswers,
    /// Rooms of which messages or answers of models are missing.
    pub incomplete: BTreeSet<RoomId>,
}

/// Replays the records, starting with the engines at the first of them. Where records are missing, `stored` says which message
/// an answer is about. `progress` gets the number done.
pub fn relive(
    mut engines: Engines,
    records: &[Record],
    stored: Option<&StoredTraces>,
    progress: &mut dyn FnMut(u64),
) -> ReliveResult {
    let mut decisions = Pairing::default();
    let mut listener = AnswerRecorder::default();
    let mut calls = stored.map(CallPairing::new);
    let mut effects = Vec::new();
    for (done, record) in records.iter().enumerate() {
        if engines.has_handled(record) {
            continue;
        }
        let engine = engines.engine_for(record);
        if let Input::Said(message) = &record.input {
            let line = decisions.expect_one();
            decisions.open(line, message);
        }
        let input = match &mut calls {
            Some(calls) => calls.pair(record.at, record.input.clone()),
            None => Some(record.input.clone()),
        };
        let Some(input) = input else { continue };
        listener.record(record.at, &input);
        engine.handle(record.at, input, &mut effects);
        for effect in effects.drain(..) {
            match effect.into_report() {
                Ok(DecisionReport::Final(trace)) if decisions.awaits(&trace) => decisions.take(*trace),
                // About a message from before the records.
                Ok(_) => (),
                Err(wanted) => {
                    listener.expect(engine, &wanted);
                    if let Some(calls) = &mut calls {
                        calls.note(engine, &wanted);
                    }
                }
            }
        }
        if done % 1024 == 0 {
            progress(done as u64);
        }
    }
    let incomplete = calls.map(CallPairing::into_incomplete).unwrap_or_default();
    let (decided, pending) = decisions.finish_early();
    ReliveResult { decided, pending, answers: listener.answers, incomplete }
}

/// What the records no longer contain, because it was deleted, edited or forgotten.
#[derive(Debug, Default)]
pub struct EmptiedRecords {
    pub count: u64,
    /// Messages that have the text of an edit from the beginning.
    reworded: BTreeSet<(RoomId, MessageId)>,
}

impl EmptiedRecords {
    pub fn of(records: &[Record]) -> EmptiedRecords {
        let mut emptied = EmptiedRecords::default();
        let mut said = HashMap::new();
        for record in records {
            emptied.count += u64::from(matches!(record.input, Input::Forgotten));
            if let Input::Said(message) = &record.input {
                said.insert((&message.place.room, &message.id), &message.text);
            }
            let Input::Changed(Change { place, id, text: Some(text), .. }) = &record.input else { continue };
            if said.get(&(&place.room, id)).is_some_and(|said| *said == text) {
                emptied.reworded.insert((place.room.clone(), id.clone()));
            }
        }
        emptied
    }

    fn has_reworded(&self, trace: &Trace) -> bool {
        self.reworded.contains(&(trace.place.room.clone(), trace.message.clone()))
    }
}

/// Records which answer belongs to which question.
#[derive(Default)]
struct AnswerRecorder {
    open: HashMap<CallId, (Time, MessageId, CallKind)>,
    answers: RecordedAnswers,
}

impl AnswerRecorder {
    fn expect(&mut self, engine: &Engine, effect: &Effect) {
        let (call, open) = match effect {
            Effect::Ask(ask) => {
                let Some(message) = engine.asked_about(&ask.call) else { return };
                (&ask.call, (ask.at, message.clone(), CallKind::Question(ask.question)))
            }
            Effect::Write(brief) => {
                let Some(message) = brief.answering.last() else { return };
                (&brief.call, (brief.at, message.clone(), CallKind::Words))
            }
            // The later posts of an answer follow under any settings that split it in the same way.
            Effect::Deliver(delivery) if delivery.continues => return,
            Effect::Deliver(delivery) => (&delivery.call, (delivery.at, delivery.answering.clone(), CallKind::Post)),
            Effect::Type(_)
            | Effect::Withdraw(_)
            | Effect::Recall(_)
            | Effect::Remember(_)
            | Effect::RunTool(_)
            | Effect::Abort(_)
            | Effect::Trace(_)
            | Effect::Received(_)
            | Effect::Updated(_) => return,
        };
        self.open.insert(call.clone(), open);
    }

    fn record(&mut self, at: Time, input: &Input) {
        let Some(call) = input.call() else { return };
        let Some((asked_at, message, asked)) = self.open.remove(call) else { return };
        self.answers.learn(&call.room, &message, asked, at.since(asked_at), input);
    }
}

/// Compares the decisions of the replay with the stored ones.
#[derive(Debug, Default)]
pub struct DecisionComparison<'a> {
    pub same: u64,
    /// How many decisions are not stored: the store has deleted them, or never wrote them.
    pub missing: u64,
    /// How many decisions are about messages whose first text is gone, because they were edited: they cannot be compared
    /// with the stored ones.
    pub reworded: u64,
    /// How many decisions are different, or were not made again, in rooms of which messages or answers of models are missing.
    pub incomplete: u64,
    /// The stored decision, and that of the replay.
    pub different: Vec<(&'a Trace, &'a Decided)>,
}

/// Ignores the progress of the answer and people's response, which came later, and what earlier versions did not store:
/// with what it was answered, and how the bot's name was used.
fn is_same(then: &Trace, now: &Trace) -> bool {
    let answered_with = then.answered_with.as_ref().and(now.answered_with.clone());
    let heard_as = then.heard_as.and(now.heard_as);
    let chunks = then.chunks.clone();
    *then == Trace { received: then.received, chunks, answered_with, heard_as, ..now.clone() }
}

impl<'a> DecisionComparison<'a> {
    pub fn of(
        decided: &'a [Decided],
        stored: &'a StoredTraces,
        emptied: &EmptiedRecords,
        incomplete: &BTreeSet<RoomId>,
    ) -> DecisionComparison<'a> {
        let mut check = DecisionComparison::default();
        for now in without_repeats(decided) {
            match stored.find(&now.trace) {
                None => check.missing += 1,
                Some(then) if is_same(then, &now.trace) => check.same += 1,
                Some(then) if emptied.has_reworded(then) => check.reworded += 1,
                Some(then) if incomplete.contains(&then.place.room) => check.incomplete += 1,
                Some(then) => check.different.push((then, now)),
            }
        }
        check
    }
}
