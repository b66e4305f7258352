//! Somebody wants to be forgotten: what they said goes, and what was made of it.

use crate::effect::{Effect, Lines};
use crate::engine::Engine;
use crate::engine::turn::Turn;
use crate::room::{Heard, Past, Pending, Phase, Speakers};
use crate::trace::Trace;
use crate::types::{PersonId, RoomId, Time, Voice};

/// Who is to be forgotten.
#[derive(Clone, Copy, Debug)]
pub struct Nobody<'a> {
    pub person: &'a PersonId,
    /// What they went by: its own words that hold one of these go too.
    pub names: &'a [Box<str>],
    /// Where they ever spoke.
    pub rooms: &'a [RoomId],
}

impl Engine {
    /// Nothing of them is left in what the engine knows, nor in what it asks for from now on. What was under way for them is
    /// called off without a word; what was under way for others is asked for again from the talk as it is now.
    pub fn forget(&mut self, now: Time, nobody: Nobody<'_>, out: &mut Vec<Effect>) {
        for id in nobody.rooms {
            let Some(room) = self.index.get(id).map(|room| *room as usize) else { continue };
            let threads = self.rooms[room].thread_ids();
            for thread in &threads {
                self.turn_at(room, thread.clone(), now, out).forget_talk(nobody);
            }
            let known = &mut self.rooms[room];
            let key = known.speakers.key(nobody.person);
            known.speakers.tighten();
            known.answered.retain(|answered| answered.person != key);
            let left = threads.iter().filter_map(|thread| known.floor(thread.as_ref())).map(|floor| floor.buffer.len());
            let left = left.sum::<usize>() as u32;
            if let Some(digest) = &mut known.digest {
                digest.summarize_again(left, now);
            }
            // Only now: what is read again must not hold them any more in any place of the room.
            for thread in threads {
                self.turn_at(room, thread, now, out).read_again(nobody.person);
            }
        }
    }
}

impl Turn<'_> {
    fn forget_talk(&mut self, nobody: Nobody<'_>) {
        let (floor, speakers) = self.room.split(self.thread.as_ref());
        let key = speakers.key(nobody.person);
        let names_them = |text: &str| nobody.names.iter().any(|name| !name.is_empty() && text.contains(&**name));
        let goes = |heard: &Heard<'_>, speakers: &Speakers| {
            speakers.key_at(heard.speaker) == key || (heard.voice() == Voice::Me && names_them(heard.text()))
        };
        for place in (0..floor.buffer.len()).rev() {
            if floor.buffer.iter().nth(place).is_some_and(|heard| goes(&heard, speakers)) {
                speakers.release(floor.buffer.remove(place));
            }
        }
        floor.buffer.tighten();
        if let Some(strands) = &mut floor.strands {
            strands.forget(key);
        }
        let Some(Past { interventions, cache, delivering, followed, .. }) = floor.past.as_deref_mut() else { return };
        followed.retain(|followed| followed.trace.author_id != *nobody.person);
        followed.iter_mut().for_each(|followed| followed.trace.forget_words());
        interventions.iter_mut().for_each(|intervention| intervention.lines = Lines::default());
        *cache = Default::default();
        for sent in delivering {
            sent.traces.retain(|trace| trace.author_id != *nobody.person);
            sent.traces.iter_mut().for_each(Trace::forget_words);
        }
    }

    fn read_again(&mut self, person: &PersonId) {
        for pending in self.floor_mut().take_slots() {
            self.read_pending_again(pending, person);
        }
        self.write_next();
        self.set_alarm();
    }

    fn read_pending_again(&mut self, mut pending: Box<Pending>, person: &PersonId) {
        pending.together.retain(|trace| trace.author_id != *person);
        if pending.trace.author_id == *person {
            let Some(other) = pending.together.pop() else { return self.abandon(&mut pending) };
            *pending.trace = other;
        }
        pending.trace.forget_words();
        pending.together.iter_mut().for_each(Trace::forget_words);
        match pending.phase {
            Phase::Judging { .. } | Phase::Writing { .. } => self.start_over(pending),
            Phase::Waiting { .. } | Phase::Holding { .. } => self.put_back(pending),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::{Failure, Usage};
    use crate::input::{Answer, Input};
    use crate::types::{Author, Message, MessageId, Place, Visibility};
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
        let (person, rooms) = (PersonId::new("id-mallory"), [RoomId::new("room")]);
        let mut out = Vec::new();
        let names = ["mallory".into()];
        engine.forget(Time(now * 1000), Nobody { person: &person, names: &names, rooms: &rooms }, &mut out);
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
                let on_its_way = late.iter().any(|effect| matches!(effect, Effect::Deliver(_)));
                assert!(!left.contains("id-mallory"), "{preset} after {stop}: {left}");
                assert!(on_its_way || !left.contains("quokka"), "{preset} after {stop}: {left}");
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
