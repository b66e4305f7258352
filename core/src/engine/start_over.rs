//! A room that cannot go on as it is begins anew. Nothing that it remembers is looked at: any of it may be the reason.

use super::Engine;
use crate::types::{RoomId, Time};

impl Engine {
    /// Drops what was said and is pending in a room, and what is due there.
    pub(super) fn start_over(&mut self, now: Time, room: &RoomId) {
        let Some(index) = self.index.get(room) else { return };
        let room = &mut self.rooms[*index as usize];
        room.start_over(now);
        room.look_for_reminders(now);
        self.arm_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::Effect;
    use crate::input::{Command, Input};
    use crate::reminders::{NewReminder, ReminderContent};
    use crate::settings::Layers;
    use crate::types::{Author, Message, MessageId, PersonId, Place, Span, Visibility, Voice};

    const START: Time = Time(1_775_563_200_000);

    fn engine() -> Engine {
        let mut layers = Layers::default();
        layers.suggest_for_replay();
        Engine::new(layers.resolve(&|_| None).expect("the defaults are right"))
    }

    fn says(id: u64, text: &str) -> Input {
        Input::Said(Message {
            id: MessageId::new(format!("m{id}")),
            place: Place::room("room"),
            at: START + Span::seconds(id),
            author: Author { id: PersonId::new("mia"), name: "mia".into(), voice: Voice::Person },
            text: text.into(),
            reply: None,
            mentions: Vec::new(),
            mentions_me: true,
            visibility: Visibility::Public,
            backfilled: false,
            heard: None,
        })
    }

    fn reminder(due: Time, text: &str) -> Input {
        let content = ReminderContent::Text(text.into());
        let set = NewReminder { due, by_clock: true, content, schedule: None };
        Input::Scheduled(Place::room("room"), Box::new(set))
    }

    /// The number of the call in which an answer is written.
    fn call_of(effects: &[Effect]) -> u64 {
        let call = effects.iter().find_map(|effect| match effect {
            Effect::Write(brief) => Some(brief.call.serial),
            _ => None,
        });
        call.expect("somebody is answered")
    }

    #[test]
    fn what_was_said_and_is_due_goes_and_what_was_set_stays() {
        let (mut engine, room) = (engine(), RoomId::new("room"));
        let mut out = Vec::new();
        let tomorrow = START + Span::minutes(24 * 60);
        engine.handle(START, reminder(START + Span::seconds(60), "the tea"), &mut out);
        engine.handle(START, reminder(tomorrow, "the bread"), &mut out);
        engine.handle(START, Input::Told(room.clone(), Command::Talk(None)), &mut out);
        engine.handle(START + Span::seconds(1), says(1, "aizuchi, is the quokka asleep?"), &mut out);
        let before = call_of(&out);
        let now = START + Span::seconds(90);
        // What is due is not done first.
        let mut dropped = Vec::new();
        engine.handle(now, Input::StartedOver(room.clone()), &mut dropped);
        assert!(dropped.is_empty(), "{dropped:?}");
        let left = serde_json::to_string(&engine.snapshot()).expect("it can be written");
        assert!(!left.contains("quokka") && !left.contains("the tea") && left.contains("the bread"), "{left}");
        assert_eq!(engine.next_deadline(), Some(tomorrow));
        // A call never has a number of before: its result would be taken for the one of that.
        let mut after = Vec::new();
        engine.handle(now, says(90, "aizuchi, and now?"), &mut after);
        assert!(call_of(&after) > before);
        // What it heard is heard once.
        let mut again = Vec::new();
        engine.handle(now, says(90, "aizuchi, and now?"), &mut again);
        assert!(again.iter().all(|effect| !matches!(effect, Effect::Write(_))), "{again:?}");
    }

    #[test]
    fn a_room_that_nobody_knows_stays_unknown() {
        let mut engine = engine();
        engine.handle(START, Input::StartedOver(RoomId::new("elsewhere")), &mut Vec::new());
        assert_eq!(engine.room_count(), 0);
    }
}
