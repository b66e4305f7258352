//! All control flow. One input at a time, one place at a time, nothing awaited.
//!
//! What happens is the beginning of a flow that is read from top to bottom: somebody spoke (`message`), time has passed
//! (`tick`), a result came back (`ask`, `results`, `deliver`), something was changed (`change`), an order was given
//! (`commands`), the program starts again (`resume`). A flow goes through stages, each a file of functions: receive, link,
//! remember, decide, interrupt, wait, ask, write, deliver. None of them goes back to an earlier one.

mod alarm;
mod answer;
mod ask;
mod change;
mod commands;
mod decide;
mod deliver;
mod digest;
mod end;
mod exchange;
mod forget;
mod gate;
mod initiative;
mod interrupt;
mod lines;
mod link;
mod message;
mod outbox;
mod own_posts;
mod own_turn;
mod pack;
mod pay;
mod receive;
mod reception;
mod remember;
mod remind;
mod results;
mod resume;
mod snapshot;
mod spoken_order;
mod start_over;
mod tick;
mod timers;
mod tool_offer;
mod tools;
mod turn;
mod wait;
mod withdraw;
mod write;

use crate::effect::Effect;
use crate::input::{Command, Input};
use crate::likelihood::SiblingTalk;
use crate::likelihood::steps::STEPS;
use crate::policy::Policies;
use crate::room::{Cost, MessageSummary, Room, Spent};
use crate::types::{CallId, ClockShift, MessageId, NameMap, Place, RoomId, Share, ThreadId, Time};
use crate::view::RoomView;
pub use snapshot::Snapshot;
use timers::{Key, Timers};
use turn::Turn;

pub struct Engine {
    policies: Policies,
    /// In the order in which they were first heard.
    rooms: Vec<Room>,
    index: NameMap<RoomId, u32>,
    timers: Timers,
    summaries: Vec<MessageSummary>,
}

impl Engine {
    pub fn new(policies: Policies) -> Engine {
        Engine {
            policies,
            rooms: Vec::new(),
            index: NameMap::default(),
            timers: Timers::default(),
            summaries: Vec::new(),
        }
    }

    /// Handles one thing that happened, appending to `out` what is to be done about it.
    pub fn handle(&mut self, now: Time, input: Input, out: &mut Vec<Effect>) {
        if let Input::ClockSet(by) = input {
            self.set_clock(now, by);
        }
        if matches!(input, Input::Resumed) {
            self.resume(now, out);
        }
        if let Input::StartedOver(room) = &input {
            self.start_over(now, room);
        }
        self.fire_timers(now, out);
        match input {
            Input::Said(message) => self.handle_message(now, message, out),
            Input::Changed(change) => {
                let place = change.place.clone();
                self.in_place(now, place, out, |turn| change::change(turn, &change));
            }
            Input::LetGo(place, id) => self.in_place(now, place, out, |turn| change::let_go(turn, &id)),
            Input::Told(room, command) => self.handle_command(now, &room, command, out),
            Input::PolicyChanged(stated) => self.change_policies(stated.known_to(&self.policies)),
            Input::Reacted(reaction) => {
                let place = reaction.place.clone();
                self.in_place(now, place, out, |turn| {
                    reception::note_reaction(turn, &reaction);
                    results::handle_reaction(turn, &reaction);
                });
            }
            Input::Tick | Input::Resumed | Input::Forgotten | Input::ClockSet(_) | Input::StartedOver(_) => (),
            Input::Judged(call, answer) => {
                self.in_call(now, &call, out, |turn| ask::handle_judged(turn, &call, answer))
            }
            Input::Written(call, answer) => {
                self.in_call(now, &call, out, |turn| results::handle_written(turn, &call, answer))
            }
            Input::ToolCalls(call, calls, usage) => {
                self.in_call(now, &call, out, |turn| results::handle_tool_calls(turn, &call, calls, &usage))
            }
            Input::ToolResult(call, result) => {
                self.in_call(now, &call, out, |turn| results::handle_tool_result(turn, &call, result))
            }
            Input::Delivered(call, ids) => {
                self.in_call(now, &call, out, |turn| results::handle_delivered(turn, &call, ids))
            }
            Input::Recalled(call, found, usage) => self.in_call(now, &call, out, |turn| {
                pay::settle(turn, &call, Some((&usage).into()));
                initiative::handle_recalled(turn, &call, found);
            }),
            Input::Refused(call, why) => {
                self.in_call(now, &call, out, |turn| results::handle_refused(turn, &call, why))
            }
            Input::Scheduled(place, reminder) => {
                let room_index = self.room_index_or_new(&place.room);
                remind::handle_scheduled(&mut self.turn_at(room_index, None, now, out), &place, *reminder);
            }
            Input::Billed(room, usage) => {
                let room_index = self.room_index_or_new(&room);
                pay::handle_billed(&mut self.turn_at(room_index, None, now, out), &usage);
            }
            Input::Siblings(room, siblings) => self.tell_of_siblings(&room, *siblings),
            Input::Remembered(call, done) => {
                self.in_call(now, &call, out, |turn| digest::handle_remembered(turn, &call, done))
            }
        }
    }

    /// When it wants the next `Tick`; may be early, never late.
    pub fn next_deadline(&self) -> Option<Time> {
        self.timers.next()
    }

    /// A look at a room from outside; `None` if nothing was ever heard there.
    pub fn view(&self, room: &RoomId, now: Time) -> Option<RoomView> {
        let room = &self.rooms[*self.index.get(room)? as usize];
        Some(RoomView::of(room, self.policies.for_room(room.id.as_str()), now))
    }

    /// The message a question that is not answered yet is about.
    pub fn asked_about(&self, call: &CallId) -> Option<&MessageId> {
        let room = &self.rooms[*self.index.get(&call.room)? as usize];
        let mut places = room.threads().filter_map(|thread| room.place(thread));
        places.find_map(|place| place.slots().find(|pending| pending.call() == Some(call))).map(|it| &it.trace.message)
    }

    pub fn knows(&self, room: &RoomId) -> bool {
        self.index.contains_key(room)
    }

    /// What each room spent; those that never did are left out.
    pub fn spent_by_room(&self) -> impl Iterator<Item = (&RoomId, &Spent)> {
        self.rooms.iter().filter_map(|room| Some((&room.id, room.spent.as_deref()?)))
    }

    pub fn spent(&self, room: &RoomId) -> Option<&Spent> {
        self.rooms[*self.index.get(room)? as usize].spent.as_deref()
    }

    /// What is set aside for a call that is not over; none where it costs nothing.
    pub fn reserved(&self, call: &CallId) -> Option<Cost> {
        self.spent(&call.room)?.reserved().find(|(serial, _)| *serial == call.serial).map(|(_, cost)| cost)
    }

    /// How much it is to say in a room, where that is a share of the talk.
    pub fn talk_share(&self, room: &RoomId) -> Option<Share> {
        let room = &self.rooms[*self.index.get(room)? as usize];
        room.talk_of(self.policies.for_room(room.id.as_str())).map(|(_, share)| share)
    }

    /// How likely the messages of each room were, where it says a share of the talk.
    pub fn talk_by_room(&self) -> impl Iterator<Item = (&RoomId, &[f32; STEPS])> {
        self.rooms.iter().filter_map(|room| Some((&room.id, room.talk.as_deref()?.seen())))
    }

    /// Whether a room has few messages of its own and would like to hear how other rooms of its kind are.
    pub fn wants_siblings(&self, room: &RoomId) -> bool {
        let room = self.index.get(room).map(|room| &self.rooms[*room as usize]);
        room.and_then(|room| room.talk.as_deref()).is_some_and(|talk| talk.wants_siblings())
    }

    fn tell_of_siblings(&mut self, room: &RoomId, siblings: SiblingTalk) {
        let Some(room) = self.index.get(room).map(|room| &mut self.rooms[*room as usize]) else { return };
        if let Some(talk) = &mut room.talk {
            talk.start_from(siblings);
        }
    }

    /// The rooms it knows.
    pub fn room_ids(&self) -> impl Iterator<Item = &RoomId> {
        self.rooms.iter().map(|room| &room.id)
    }

    /// How many rooms it knows.
    pub fn room_count(&self) -> usize {
        self.rooms.len()
    }

    pub fn policies(&self) -> &Policies {
        &self.policies
    }

    /// The timers as the places know them.
    fn arm_all(&mut self) {
        self.timers = Timers::default();
        for (room_index, room) in (0..).zip(&self.rooms) {
            for thread in room.thread_ids() {
                let place = room.place(thread.as_ref()).expect("the room listed this thread");
                if let Some(alarm) = place.alarm {
                    self.timers.put(alarm, Key { room_index, thread });
                }
            }
        }
    }

    fn set_clock(&mut self, now: Time, by: ClockShift) {
        for room in &mut self.rooms {
            let zone = &self.policies.for_room(room.id.as_str()).zone;
            room.set_clock(by, now, zone);
            room.look_for_reminders(now);
        }
        self.arm_all();
    }

    fn room_index_or_new(&mut self, id: &RoomId) -> usize {
        self.index.get(id).map(|index| *index as usize).unwrap_or_else(|| self.new_room(id))
    }

    fn new_room(&mut self, id: &RoomId) -> usize {
        let index = self.rooms.len();
        self.rooms.push(Room::new(id.clone()));
        self.index.insert(id.clone(), u32::try_from(index).expect("fewer than four billion rooms"));
        index
    }

    fn turn_at<'a>(
        &'a mut self,
        room_index: usize,
        thread: Option<ThreadId>,
        now: Time,
        out: &'a mut Vec<Effect>,
    ) -> Turn<'a> {
        let policy = self.policies.for_room(self.rooms[room_index].id.as_str());
        Turn {
            now,
            policy,
            room: &mut self.rooms[room_index],
            room_index: room_index as u32,
            thread,
            conversation: None,
            timers: &mut self.timers,
            summaries: &mut self.summaries,
            out,
        }
    }

    /// Runs in a place that is known already; in others nothing can be changed.
    fn in_place(&mut self, now: Time, place: Place, out: &mut Vec<Effect>, act: impl FnOnce(&mut Turn<'_>)) {
        let Some(room_index) = self.index.get(&place.room).map(|index| *index as usize) else { return };
        if self.rooms[room_index].place(place.thread.as_ref()).is_some() {
            act(&mut self.turn_at(room_index, place.thread, now, out));
        }
    }

    /// Runs in the place that waits for this call. A result that nobody waits for is dropped there, but still has to be paid for:
    /// any place of the room will do for that.
    fn in_call(&mut self, now: Time, call: &CallId, out: &mut Vec<Effect>, act: impl FnOnce(&mut Turn<'_>)) {
        let Some(room_index) = self.index.get(&call.room).map(|index| *index as usize) else { return };
        let room = &self.rooms[room_index];
        let waits = |thread: &Option<&ThreadId>| room.place(*thread).is_some_and(|place| place.waits_for(call));
        let thread = room.threads().find(waits).flatten().cloned();
        act(&mut self.turn_at(room_index, thread, now, out));
    }

    fn fire_timers(&mut self, now: Time, out: &mut Vec<Effect>) {
        while let Some((at, key)) = self.timers.pop_due(now) {
            let room_index = key.room_index as usize;
            // A thread that was let go may still have an alarm.
            if self.rooms[room_index].place(key.thread.as_ref()).is_some() {
                tick::check_deadlines(&mut self.turn_at(room_index, key.thread, at, out));
            }
        }
    }

    fn handle_command(&mut self, now: Time, room: &RoomId, command: Command, out: &mut Vec<Effect>) {
        let room_index = self.room_index_or_new(room);
        let threads = self.rooms[room_index].thread_ids();
        let mut turn = self.turn_at(room_index, None, now, out);
        commands::run_command(&mut turn, command);
        for thread in threads {
            turn.thread = thread;
            commands::drop_after(&mut turn, command);
        }
        if matches!(command, Command::Reset | Command::Left) {
            turn.room.clear();
        }
    }

    /// What is remembered is looked at again: the name or the keywords may be others now.
    fn change_policies(&mut self, policies: Policies) {
        self.policies = policies;
        for room in &mut self.rooms {
            let notice = &self.policies.for_room(room.id.as_str()).notice;
            if let Some(spent) = &mut room.spent {
                spent.forget_total();
            }
            for place in room.places_mut() {
                place.buffer.notice_again(|text| notice.of(text));
            }
        }
    }

    fn resume(&mut self, now: Time, out: &mut Vec<Effect>) {
        for room_index in 0..self.rooms.len() {
            self.rooms[room_index].note_start(now);
            pay::settle_lost(&mut self.turn_at(room_index, None, now, out));
            let threads = self.rooms[room_index].thread_ids();
            for thread in threads {
                resume::resume(&mut self.turn_at(room_index, thread, now, out));
            }
            let mut turn = self.turn_at(room_index, None, now, out);
            remind::resume(&mut turn);
            digest::resume_digest(&mut turn);
        }
    }
}

#[cfg(test)]
mod approval_tests;
#[cfg(test)]
mod mute_tests;
#[cfg(test)]
mod remind_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tools_tests;
