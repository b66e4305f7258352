//! A queue of requests in order of arrival, except that people who address the bot go first, together with everything
//! queued earlier in the same room.

use std::collections::{HashMap, VecDeque};

use aizuchi_core::types::{RoomId, Visibility};
use aizuchi_core::{Input, Policies};

/// How many others are taken along with those that go first: nobody waits forever, and nobody who goes first waits for
/// many.
const OTHERS_MAX: usize = 32;

#[derive(Debug)]
pub struct PriorityQueue<T> {
    waiting: VecDeque<QueuedItem<T>>,
    /// How many requests in the queue go first.
    addressed: usize,
}

#[derive(Debug)]
struct QueuedItem<T> {
    /// `None` if it concerns all rooms: nothing overtakes such a request.
    room: Option<RoomId>,
    addressed: bool,
    what: T,
}

impl<T> Default for PriorityQueue<T> {
    fn default() -> PriorityQueue<T> {
        PriorityQueue { waiting: VecDeque::new(), addressed: 0 }
    }
}

impl<T> PriorityQueue<T> {
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether a request that goes first is waiting.
    pub fn is_urgent(&self) -> bool {
        self.addressed > 0
    }

    pub fn push(&mut self, room: Option<RoomId>, addressed: bool, what: T) {
        self.addressed += usize::from(addressed);
        self.waiting.push_back(QueuedItem { room, addressed, what });
    }

    /// Takes the next requests, at most `count_max`. The order within a room is kept.
    pub fn take(&mut self, count_max: usize) -> Vec<T> {
        if !self.is_urgent() {
            let count = count_max.min(self.waiting.len());
            return self.waiting.drain(..count).map(|queued| queued.what).collect();
        }
        // A quarter is reserved for the others, however many go first.
        let first_max = count_max - count_max / 4;
        let last_of = self.rooms_first();
        let (mut taken, mut rest) = (Vec::new(), VecDeque::with_capacity(self.waiting.len()));
        for (index, queued) in self.waiting.drain(..).enumerate() {
            let goes_first = queued.room.as_ref().and_then(|room| last_of.get(room)).is_some_and(|last| index <= *last);
            if goes_first && taken.len() < first_max {
                taken.push(queued);
            } else {
                rest.push_back(queued);
            }
        }
        let others = OTHERS_MAX.min(count_max - taken.len()).min(rest.len());
        taken.extend(rest.drain(..others));
        self.waiting = rest;
        self.addressed -= taken.iter().filter(|queued| queued.addressed).count();
        taken.into_iter().map(|queued| queued.what).collect()
    }

    /// The rooms that have a request that goes first, and the index of the last one in each.
    fn rooms_first(&self) -> HashMap<RoomId, usize> {
        let before_all = self.waiting.iter().enumerate().take_while(|(_, queued)| queued.room.is_some());
        let addressed = before_all.filter(|(_, queued)| queued.addressed);
        addressed.filter_map(|(index, queued)| Some((queued.room.clone()?, index))).collect()
    }
}

/// Whether somebody addresses the bot, as far as the input alone can tell: a mention, a reply, its name, a command.
pub fn is_addressed(input: &Input, policies: &Policies) -> bool {
    match input {
        Input::Said(message) => {
            let policy = policies.for_room(message.place.room.as_str());
            message.mentions_me
                || message.visibility == Visibility::Direct
                || message.reply.as_ref().is_some_and(|reply| reply.to_me)
                || policy.is_called_in(&message.text)
        }
        Input::Told(..) => true,
        Input::Changed(_)
        | Input::Reacted(_)
        | Input::PolicyChanged(_)
        | Input::Tick
        | Input::Resumed
        | Input::Judged(..)
        | Input::Written(..)
        | Input::ToolCalls(..)
        | Input::ToolResult(..)
        | Input::Delivered(..)
        | Input::Recalled(..)
        | Input::Remembered(..)
        | Input::Refused(..)
        | Input::Scheduled(..)
        | Input::Billed(..)
        | Input::Siblings(..)
        | Input::StartedOver(_)
        | Input::LetGo(..)
        | Input::ClockSet(_)
        | Input::Forgotten => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `room number`, with a `!` where somebody turns to the bot; `all number` concerns all rooms.
    fn queue(entries: &[&'static str]) -> PriorityQueue<&'static str> {
        let mut lanes = PriorityQueue::default();
        for entry in entries {
            let (room, _) = entry.split_once(' ').unwrap();
            lanes.push((room != "all").then(|| RoomId::new(room)), entry.ends_with('!'), *entry);
        }
        lanes
    }

    #[test]
    fn who_addresses_it_overtakes_other_rooms_and_nobody_of_their_own() {
        let mut lanes = queue(&["a 1", "b 1", "a 2", "b 2!", "b 3", "c 1!"]);
        assert_eq!(lanes.take(4), ["b 1", "b 2!", "c 1!", "a 1"]);
        assert_eq!(lanes.take(4), ["a 2", "b 3"]);
        assert!(lanes.is_empty() && !lanes.is_urgent());
    }

    #[test]
    fn a_long_queue_is_overtaken_and_only_a_few_go_along() {
        let mut lanes = PriorityQueue::default();
        for number in 0..1_000 {
            lanes.push(Some(RoomId::new(format!("room{}", number % 50))), false, number);
        }
        lanes.push(Some(RoomId::new("elsewhere")), true, 1_000);
        let taken = lanes.take(256);
        assert_eq!((taken[0], &taken[1..]), (1_000, &(0..OTHERS_MAX).collect::<Vec<_>>()[..]));
        assert_eq!(lanes.take(256).len(), 256, "without anybody in a hurry many go together");
    }

    #[test]
    fn nobody_waits_for_ever() {
        let mut lanes = queue(&["quiet 1"]);
        let mut rounds = 0;
        loop {
            rounds += 1;
            (0..300).for_each(|_| lanes.push(Some(RoomId::new("loud")), true, "loud 1!"));
            if lanes.take(256).contains(&"quiet 1") {
                break;
            }
        }
        assert_eq!(rounds, 1);
    }

    #[test]
    fn nothing_overtakes_what_concerns_all_rooms() {
        let mut lanes = queue(&["a 1", "all 1", "b 1!", "c 1!"]);
        assert_eq!(lanes.take(2), ["a 1", "all 1"]);
        assert_eq!(lanes.take(2), ["b 1!", "c 1!"]);
        let mut lanes = queue(&["a 1", "b 1!", "all 1", "b 2!"]);
        assert_eq!(lanes.take(4), ["b 1!", "a 1", "all 1", "b 2!"]);
    }
}
