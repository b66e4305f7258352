//! Forgets a person: deletes what they said, and what it led to.

use super::turn::Turn;
use super::{Engine, alarm, answer, change, end, outbox};
use crate::effect::{Effect, Lines, Post};
use crate::memory::{ForgetRequest, Recognizer};
use crate::reminders::{Reminder, ReminderAsker, ReminderContent};
use crate::room::{BotState, Exchange, HeardMessage, Pending, PendingDelivery, Phase, Room, Speakers};
use crate::trace::{RestStopped, Trace};
use crate::types::{RoomId, Time, Voice, stable_hash};

impl Engine {
    /// Removes the person from what the engine knows and from what it requests from now on. What was in progress for them
    /// is called off silently; what was in progress for others is requested again from the remaining talk.
    pub fn forget(&mut self, now: Time, theirs: &Recognizer<'_>, out: &mut Vec<Effect>) {
        for room_index in 0..self.rooms.len() {
            let known = &self.rooms[room_index];
            if theirs.request.rooms.contains(&known.id) || tells_of_them(known, theirs) {
                self.forget_in(room_index, now, theirs, out);
            }
        }
    }

    fn forget_in(&mut self, room_index: usize, now: Time, theirs: &Recognizer<'_>, out: &mut Vec<Effect>) {
        let threads = self.rooms[room_index].thread_ids();
        for thread in &threads {
            forget_talk(&mut self.turn_at(room_index, thread.clone(), now, out), theirs);
        }
        let known = &mut self.rooms[room_index];
        let room = known.id.clone();
        let keys: Vec<u64> = keys(theirs.request).collect();
        known.speakers.tighten();
        known.answered.retain(|answered| !keys.contains(&answered.person));
        if let Some(reminders) = &mut known.reminders {
            reminders.list.retain(|reminder| !reminds_of_them(&room, reminder, theirs));
        }
        let left = threads.iter().filter_map(|thread| known.place(thread.as_ref())).map(|place| place.buffer.len());
        let left = left.sum::<usize>() as u32;
        if let Some(digest) = &mut known.digest {
            digest.summarize_again(left, now);
        }
        // Only now: what is read again must not contain the person any more in any place of the room.
        for thread in threads {
            read_again(&mut self.turn_at(room_index, thread, now, out), theirs.request);
        }
    }
}

/// The keys of a person in rooms.
fn keys(request: &ForgetRequest) -> impl Iterator<Item = u64> + '_ {
    request.ids.iter().map(|id| stable_hash(0, id.as_str()))
}

/// Whether the bot mentioned the person here, though they never spoke here.
fn tells_of_them(room: &Room, theirs: &Recognizer<'_>) -> bool {
    let tells = |heard: HeardMessage<'_>| {
        heard.voice() == Voice::Me && theirs.takes_own_post(&room.id, &heard.id(), heard.text())
    };
    let mut places = room.threads().filter_map(|thread| room.place(thread));
    let mut reminders = room.reminders.iter().flat_map(|reminders| &reminders.list);
    reminders.any(|reminder| reminds_of_them(&room.id, reminder, theirs))
        || places.any(|place| {
            let sends = |bot: &BotState| bot.on_its_way().any(|sent| sends_of_them(&room.id, sent, theirs));
            let answers =
                |bot: &BotState| bot.exchanges.iter().any(|exchange| answers_of_them(&room.id, exchange, theirs));
            let decides = |pending: &Pending| {
                pending.tools.as_ref().is_some_and(|tools| tools.is_decided_by(|person| theirs.request.is_of(person)))
            };
            place.buffer.iter().any(tells)
                || place.slots().any(decides)
                || place.bot.as_deref().is_some_and(answers)
                || place.bot.as_deref().is_some_and(sends)
        })
}

/// A schedule belongs to the operator, whatever it says.
fn reminds_of_them(room: &RoomId, reminder: &Reminder, theirs: &Recognizer<'_>) -> bool {
    let of = |asked: &ReminderAsker| theirs.request.is_of(&asked.person);
    let ReminderContent::Text(text) = &reminder.set.content else { return false };
    reminder.asked.as_ref().is_some_and(|asked| of(asked) || theirs.speaks_of_them(room, text))
}

/// Whether an answer of the bot has to be deleted because of them.
fn answers_of_them(room: &RoomId, exchange: &Exchange, theirs: &Recognizer<'_>) -> bool {
    exchange.answer.as_ref().is_some_and(|answer| theirs.takes_own_post(room, answer.id.as_str(), &answer.text))
}

fn sends_of_them(room: &RoomId, sent: &PendingDelivery, theirs: &Recognizer<'_>) -> bool {
    sent.words().any(|text| theirs.speaks_of_them(room, text))
}

pub(super) fn forget_talk(turn: &mut Turn<'_>, theirs: &Recognizer<'_>) {
    let keys: Vec<u64> = keys(theirs.request).collect();
    let room = turn.room.id.clone();
    let (place, speakers) = turn.room.split(turn.thread.as_ref());
    let goes = |heard: &HeardMessage<'_>, speakers: &Speakers| {
        keys.contains(&speakers.key_at(heard.speaker))
            || (heard.voice() == Voice::Me && theirs.takes_own_post(&room, &heard.id(), heard.text()))
    };
    for index in (0..place.buffer.len()).rev() {
        if place.buffer.iter().nth(index).is_some_and(|heard| goes(&heard, speakers)) {
            speakers.release(place.buffer.remove(index));
        }
    }
    place.buffer.tighten();
    if let Some(conversations) = &mut place.conversations {
        keys.iter().for_each(|key| conversations.forget(*key));
    }
    let Some(BotState { interventions, cache, delivering, tracked, exchanges, .. }) = place.bot.as_deref_mut() else {
        return;
    };
    exchanges.retain(|exchange| !keys.contains(&exchange.person) && !answers_of_them(&room, exchange, theirs));
    let others = |trace: &Trace| !theirs.request.is_of(&trace.author_id);
    tracked.retain(|tracked| others(&tracked.trace));
    tracked.iter_mut().for_each(|tracked| tracked.trace.forget_words());
    interventions.iter_mut().for_each(|intervention| intervention.lines = Lines::default());
    *cache = Default::default();
    let is_of_them = |sent: &PendingDelivery| sends_of_them(&room, sent, theirs) || !sent.traces.iter().all(others);
    for sent in delivering.iter_mut() {
        let sends_of_them = sends_of_them(&room, sent, theirs);
        if is_of_them(sent) {
            sent.stop(&RestStopped::Forgotten);
            sent.chunk.iter_mut().for_each(|chunk| chunk.said = "".into());
        }
        sent.traces.retain(others);
        sent.traces.iter_mut().for_each(Trace::forget_words);
        if sends_of_them {
            // It is sent as it is; after a restart nothing more of it is sent.
            (sent.text, sent.delivery.post) = (None, Post::Text(Vec::new()));
        }
    }
    // Nobody else waits for these.
    delivering.retain(|sent| !sent.traces.is_empty());
    outbox::forget(turn, is_of_them, others);
}

pub(super) fn read_again(turn: &mut Turn<'_>, request: &ForgetRequest) {
    for pending in turn.place_mut().take_slots() {
        read_pending_again(turn, pending, request);
    }
    outbox::release(turn);
    answer::write_next(turn);
    alarm::set_alarm(turn);
}

fn read_pending_again(turn: &mut Turn<'_>, mut pending: Box<Pending>, request: &ForgetRequest) {
    pending.together.retain(|trace| !request.is_of(&trace.author_id));
    if request.is_of(&pending.trace.author_id) {
        let Some(other) = pending.together.pop() else { return end::abandon(turn, &mut pending) };
        *pending.trace = other;
    }
    pending.trace.forget_words();
    if let Some(tools) = &mut pending.tools {
        tools.forget_words();
    }
    pending.together.iter_mut().for_each(Trace::forget_words);
    match pending.phase {
        Phase::Judging { .. } | Phase::Writing { .. } => change::start_over(turn, pending),
        Phase::Waiting { .. } | Phase::Holding { .. } => turn.place_mut().put_back(pending),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::{Failure, Usage};
    use crate::input::{Answer, Input};
    use crate::memory::words::Phrases;
    use crate::types::{Author, Message, MessageId, PersonId, Place, Visibility};
    use crate::{Policies, settings::Layers};

    fn engine(preset: &str) -> Engine {
        let mut layers = Layers::default();
        layers.add_assignment(&format!("preset={preset}"));
        layers.suggest_for_replay();
        let policies: Policies = layers.resolve(&|_| None).unwrap();
        Engine::new(policies)
    }

    fn said(id: u64, person: &str, text: &str, mentions_me: bool) -> Input {
        Input::Said(Message {
            id: MessageId::new(format!("m{id}")),
            place: Place::room("room"),
            at: Time(id * 1000),
            author: Author { id: PersonId::new(format!("id-{person}")), name: person.into(), voice: Voice::Person },
            text: text.into(),
            reply: None,
            mentions: Vec::new(),
            mentions_me,
            visibility: Visibility::Public,
            backfilled: false,
            heard: None,
        })
    }

    fn written_down(engine: &Engine) -> String {
        serde_json::to_string(&engine.snapshot()).unwrap()
    }

    fn forget(engine: &mut Engine, now: u64) -> Vec<Effect> {
        let mut phrases = Phrases::default();
        phrases.add("quokka");
        let request = ForgetRequest {
            ids: vec![PersonId::new("id-mallory")],
            names: vec!["mallory".into()],
            rooms: vec![RoomId::new("room")],
            answers: vec![(RoomId::new("room"), MessageId::new("post"))],
            phrases,
            ..ForgetRequest::default()
        };
        let mut out = Vec::new();
        engine.forget(Time(now * 1000), &request.recognizer(), &mut out);
        out
    }

    #[test]
    fn nothing_of_them_is_left_at_any_moment() {
        for preset in ["aizuchi", "sphene", "kotonoha", "myao2"] {
            let talk = [
                ("alice", "shall we deploy today?", false),
                ("mallory", "my passphrase is quokka, anyone?", false),
                ("bob", "no idea", false),
                ("mallory", "@aizuchi is quokka a good passphrase?", true),
                ("alice", "@aizuchi and is it safe?", true),
                ("mallory", "quokka quokka?", false),
            ];
            for stop in 1..=talk.len() {
                let mut engine = engine(preset);
                let mut out = Vec::new();
                for (id, (who, text, mention)) in (1..).zip(&talk[..stop]) {
                    engine.handle(Time(id * 1000), said(id, who, text, *mention), &mut out);
                }
                let answers: Vec<Input> = out
                    .drain(..)
                    .filter_map(|effect| match effect {
                        Effect::Ask(ask) => {
                            let answer = Answer { text: "YES, mallory said quokka".into(), usage: Usage::default() };
                            Some(Input::Judged(ask.call, Ok(answer)))
                        }
                        Effect::Write(brief) => {
                            let answer = Answer { text: "mallory, quokka is fine".into(), usage: Usage::default() };
                            Some(Input::Written(brief.call, Ok(answer)))
                        }
                        _ => None,
                    })
                    .collect();
                for answer in answers {
                    engine.handle(Time(10_000), answer, &mut out);
                }
                let late: Vec<Effect> = std::mem::take(&mut out);
                let again = forget(&mut engine, 11);
                let left = written_down(&engine);
                assert!(!left.contains("id-mallory"), "{preset} after {stop}: {left}");
                assert!(!left.contains("quokka"), "{preset} after {stop}: {left}");
                let told = serde_json::to_string(&again).unwrap();
                assert!(!told.contains("quokka") && !told.contains("mallory"), "{preset} after {stop}: {told}");
                // What comes back late is for nobody.
                for effect in late {
                    if let Effect::Deliver(delivery) = effect {
                        let lost = Err(Failure::new("lost"));
                        engine.handle(Time(12_000), Input::Delivered(delivery.call, lost), &mut out);
                    }
                }
                let told = serde_json::to_string(&out).unwrap();
                assert!(!told.contains("mallory"), "{preset} after {stop}: {told}");
            }
        }
    }

    /// What it answered goes, though it names nobody and repeats nothing; what it answered to others stays.
    #[test]
    fn its_answers_to_them_go_by_the_id_of_the_post() {
        let mut engine = engine("aizuchi");
        for (id, who, post) in [(1, "mallory", "post"), (2, "alice", "other post")] {
            let mut out = Vec::new();
            engine.handle(Time(id * 10_000), said(id * 10, who, "@aizuchi is that so?", true), &mut out);
            let Some(Effect::Write(brief)) = out.pop() else { panic!("{out:?}") };
            let answer = Answer { text: format!("Yes, that is so for {post}.").into(), usage: Usage::default() };
            engine.handle(Time(id * 10_000 + 1), Input::Written(brief.call, Ok(answer)), &mut out);
            let Some(Effect::Deliver(delivery)) = out.pop() else { panic!("{out:?}") };
            let ids = Ok(vec![MessageId::new(post)]);
            engine.handle(Time(id * 10_000 + 2), Input::Delivered(delivery.call, ids), &mut out);
        }
        assert!(written_down(&engine).contains("so for post."));
        forget(&mut engine, 30);
        let left = written_down(&engine);
        assert!(!left.contains("so for post.") && left.contains("so for other post."), "{left}");
    }

    #[test]
    fn others_get_their_answer_from_the_talk_that_is_left() {
        let mut engine = engine("aizuchi");
        let mut out = Vec::new();
        engine.handle(Time(1000), said(1, "mallory", "quokka", false), &mut out);
        engine.handle(Time(2000), said(2, "alice", "@aizuchi what do you think?", true), &mut out);
        let again = forget(&mut engine, 3);
        let [Effect::Abort(_), Effect::Write(brief)] = &again[..] else { panic!("{again:?}") };
        assert_eq!(brief.transcript.lines.plain(), "alice: @aizuchi what do you think?");
    }
}
