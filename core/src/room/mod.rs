//! Working memory of a room: who speaks there, what was said, and what is pending in each of its places.

mod bot;
mod budget;
mod buffer;
mod clock;
mod digest;
mod exchanges;
mod outgoing;
mod pending;
mod place;
mod speakers;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub(crate) use bot::{BotState, Intervention, SentAnswer, TrackedContribution};
pub(crate) use budget::Exhausted;
pub use budget::{Cost, Spent};
pub(crate) use buffer::{BufferEntry, HeardMessage, MessageSummary};
pub(crate) use digest::Digest;
pub(crate) use exchanges::{Exchange, ExchangedText};
pub(crate) use outgoing::{Chunk, PendingDelivery, WaitingPost};
pub(crate) use pending::{Approval, Consent, FirstWords, Pending, Phase, ToolSession};
pub(crate) use place::PlaceState;
pub(crate) use speakers::Speakers;

use crate::likelihood::TalkShare;
use crate::policy::Policy;
use crate::reminders::Reminders;
use crate::trace::Trace;
use crate::types::{CallId, Message, MessageId, RoomId, Share, Span, ThreadId, Time, prefetch};

/// A channel with its threads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Room {
    pub id: RoomId,
    /// The time of the newest message heard here.
    pub newest: Time,
    pub speakers: Speakers,
    /// The channel itself.
    main: PlaceState,
    threads: BTreeMap<ThreadId, PlaceState>,
    calls: u64,
    pub mute: Option<Mute>,
    /// Whether people's words muted it: then their words lift the mute again, even if they are said to nobody in
    /// particular.
    #[serde(default)]
    pub muted_by_words: bool,
    /// The longest absence of the program since this mute was set; empty as long as there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    muted_absence: Option<Absence>,
    pub off: bool,
    /// How much the bot says here, if that is a share of the talk.
    #[serde(default)]
    pub talk: Option<Box<TalkShare>>,
    pub spent: Option<Box<Spent>>,
    /// What long-term memory has yet to process; absent if there is none.
    #[serde(default)]
    pub digest: Option<Box<Digest>>,
    /// Whom the bot answered recently, for the limits per person.
    pub answered: Vec<AnsweredPerson>,
    /// For whom the bot ran tools recently.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_runs: Vec<ToolRun>,
    /// Reminders and schedules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reminders: Option<Box<Reminders>>,
    /// When the bot last said that too many people had called to answer all of them.
    #[serde(default)]
    pub excused_at: Option<Time>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mute {
    Until(Time),
    Open,
}

/// What the clock shows for a time in which the program did not run. It begins with what the room last heard, and not with what the
/// engine last did, so that a room decides the same whatever other rooms there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Absence {
    from: Time,
    until: Time,
}

impl Absence {
    fn length(self) -> Span {
        self.until.since(self.from)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AnsweredPerson {
    pub person: u64,
    pub at: Time,
    pub addressed: bool,
}

/// A tool was run for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ToolRun {
    pub person: u64,
    pub at: Time,
}

/// The period of the limits per person.
pub(crate) const PERSON_LIMIT_SPAN: Span = Span::minutes(60);
const ANSWERED_MAX: usize = 1000;

impl Room {
    pub(crate) fn new(id: RoomId) -> Room {
        Room {
            id,
            newest: Time(0),
            speakers: Speakers::default(),
            main: PlaceState::default(),
            threads: BTreeMap::new(),
            calls: 0,
            mute: None,
            muted_by_words: false,
            muted_absence: None,
            off: false,
            talk: None,
            spent: None,
            digest: None,
            answered: Vec::new(),
            tool_runs: Vec::new(),
            reminders: None,
            excused_at: None,
        }
    }

    /// The talk share of this room and its state, if there is one.
    pub(crate) fn talk_of(&self, policy: &Policy) -> Option<(&TalkShare, Share)> {
        let talk = self.talk.as_deref()?;
        Some((talk, talk.share(policy.settings.talk)?))
    }

    /// The same, mutable.
    pub(crate) fn talk_mut(&mut self, policy: &Policy) -> Option<(&mut TalkShare, Share)> {
        if self.talk.is_none() && policy.settings.talk.is_some() {
            self.talk = Some(Box::default());
        }
        let talk = self.talk.as_deref_mut()?;
        let share = talk.share(policy.settings.talk)?;
        Some((talk, share))
    }

    pub(crate) fn place(&self, thread: Option<&ThreadId>) -> Option<&PlaceState> {
        match thread {
            None => Some(&self.main),
            Some(thread) => self.threads.get(thread),
        }
    }

    pub(crate) fn place_mut(&mut self, thread: Option<&ThreadId>) -> Option<&mut PlaceState> {
        match thread {
            None => Some(&mut self.main),
            Some(thread) => self.threads.get_mut(thread),
        }
    }

    /// Fetches from memory what a message in this place needs.
    pub(crate) fn prefetch(&self, thread: Option<&ThreadId>) {
        let Some(place) = self.place(thread) else { return };
        place.buffer.prefetch();
        self.speakers.prefetch();
        if let Some(conversations) = &place.conversations {
            conversations.prefetch();
        }
        if let Some(talk) = &self.talk {
            prefetch(talk.seen(), |count| *count as u8);
        }
    }

    fn places(&self) -> impl Iterator<Item = &PlaceState> {
        std::iter::once(&self.main).chain(self.threads.values())
    }

    pub(crate) fn places_mut(&mut self) -> impl Iterator<Item = &mut PlaceState> {
        std::iter::once(&mut self.main).chain(self.threads.values_mut())
    }

    /// Creates the place; if there are too many, the thread that was quiet for longest and has nothing pending is dropped.
    pub(crate) fn open(&mut self, thread: Option<&ThreadId>, threads_max: usize) {
        let Some(thread) = thread else { return };
        if self.threads.contains_key(thread) {
            return;
        }
        if self.threads.len() >= threads_max {
            let quiet = self.threads.iter().filter(|(_, place)| place.is_at_rest());
            let oldest =
                quiet.min_by_key(|(_, place)| place.buffer.newest().map(|heard| heard.at)).map(|(id, _)| id.clone());
            if let Some(place) = oldest.and_then(|oldest| self.threads.remove(&oldest)) {
                self.release(place);
            }
        }
        self.threads.insert(thread.clone(), PlaceState::default());
    }

    fn release(&mut self, place: PlaceState) {
        for heard in place.buffer.iter() {
            self.speakers.release(heard.speaker);
        }
    }

    /// The place together with the speakers of its room.
    pub(crate) fn split(&mut self, thread: Option<&ThreadId>) -> (&mut PlaceState, &mut Speakers) {
        let place = match thread {
            None => &mut self.main,
            Some(thread) => self.threads.get_mut(thread).expect("a place is opened before it is used"),
        };
        (place, &mut self.speakers)
    }

    pub(crate) fn threads(&self) -> impl Iterator<Item = Option<&ThreadId>> {
        std::iter::once(None).chain(self.threads.keys().map(Some))
    }

    /// The ids of all places, for changing them one after the other.
    pub(crate) fn thread_ids(&self) -> Vec<Option<ThreadId>> {
        self.threads().map(|thread| thread.cloned()).collect()
    }

    pub(crate) fn next_call(&mut self) -> CallId {
        self.calls += 1;
        CallId { room: self.id.clone(), serial: self.calls }
    }

    pub(crate) fn is_muted(&self, now: Time) -> bool {
        match self.mute {
            None => false,
            Some(Mute::Open) => true,
            Some(Mute::Until(until)) => now < until,
        }
    }

    /// Whether the bot is silent because somebody told it so in words.
    pub(crate) fn is_muted_by_words(&self, now: Time) -> bool {
        self.muted_by_words && self.is_muted(now)
    }

    /// Sets a mute, by command or in words; `None` lifts it.
    pub(crate) fn set_mute(&mut self, mute: Option<Mute>, by_words: bool, now: Time) {
        self.muted_by_words = by_words && mute.is_some();
        self.begin_mute(mute, now);
    }

    /// Mutes the room for this long; a longer mute stays.
    pub(crate) fn mute_at_least(&mut self, span: Span, now: Time) {
        let until = now + span;
        let mute = match self.mute {
            Some(Mute::Open) => Mute::Open,
            Some(Mute::Until(longer)) => Mute::Until(longer.max(until)),
            None => Mute::Until(until),
        };
        self.begin_mute(Some(mute), now);
    }

    fn begin_mute(&mut self, mute: Option<Mute>, now: Time) {
        self.mute = mute;
        // Without an end, the clock means nothing to it.
        self.muted_absence = matches!(mute, Some(Mute::Until(_))).then_some(Absence { from: now, until: now });
    }

    /// Notes the time of a received message.
    pub(crate) fn note_newest(&mut self, message: &Message, now: Time) {
        // Nothing is newer than now; earlier versions accepted messages dated ahead.
        let newest = if message.heard.is_some() { self.newest.min(now) } else { self.newest };
        self.newest = newest.max(message.at);
    }

    pub(crate) fn note_answer(&mut self, answered: AnsweredPerson) {
        self.answered.retain(|earlier| answered.at.since(earlier.at) < PERSON_LIMIT_SPAN);
        if self.answered.len() == ANSWERED_MAX {
            self.answered.remove(0);
        }
        self.answered.push(answered);
    }

    /// How often the bot answered this person within the hour.
    pub(crate) fn answers_to(&self, person: u64, addressed: bool, now: Time) -> u64 {
        let counts =
            |a: &&AnsweredPerson| a.person == person && a.addressed == addressed && now.since(a.at) < PERSON_LIMIT_SPAN;
        self.answered.iter().filter(counts).count() as u64
    }

    /// How many messages of this person still wait for an answer.
    pub(crate) fn owed_to(&self, person: u64) -> u64 {
        let by_them = |trace: &&Trace| self.speakers.key(&trace.author_id) == person;
        let owed = self.places().flat_map(PlaceState::owed);
        owed.flat_map(|owed| owed.together.iter().chain([&*owed.trace])).filter(by_them).count() as u64
    }

    /// How many messages of this person are answered by posts that are being sent.
    pub(crate) fn leaving_to(&self, person: u64, addressed: bool) -> u64 {
        let by_them = |trace: &&Trace| self.speakers.key(&trace.author_id) == person;
        let sent = self.places().filter_map(|place| place.bot.as_deref()).flat_map(BotState::on_its_way);
        let begins = |sent: &&PendingDelivery| sent.addressed == addressed && !sent.delivery.continues;
        sent.filter(begins).flat_map(|sent| &sent.traces).filter(by_them).count() as u64
    }

    /// When the main place is to be checked for reminders.
    pub(crate) fn next_reminder(&self, now: Time) -> Option<Time> {
        let reminders = self.reminders.iter().flat_map(|reminders| &reminders.list);
        let next = reminders.map(|reminder| reminder.next_look(now)).min()?;
        // A reminder that waits for the end of a mute is checked right then.
        let unmuted = if let Some(Mute::Until(until)) = self.mute { Some(until) } else { None };
        Some(unmuted.filter(|until| *until > now).map_or(next, |until| until.min(next)))
    }

    pub(crate) fn cancel_reminder(&mut self, number: u32) {
        if let Some(reminders) = &mut self.reminders {
            reminders.cancel(number);
        }
    }

    /// A reminder is deleted with the message that asked for it.
    pub(crate) fn note_deleted_request(&mut self, message: &MessageId) {
        if let Some(reminders) = &mut self.reminders {
            reminders.list.retain(|reminder| reminder.asked.as_ref().is_none_or(|asked| asked.message != *message));
        }
    }

    /// The clock was set, and times of day stay the same: the main place is checked in time for them.
    pub(crate) fn look_for_reminders(&mut self, now: Time) {
        let next = self.next_reminder(now);
        let Some(main) = self.place_mut(None) else { return };
        main.alarm = main.alarm.into_iter().chain(next).min();
    }

    /// Drops what was said and is pending here, and the reminders that are due, without a look at any of it. What was set for the room
    /// stays.
    pub(crate) fn start_over(&mut self, now: Time) {
        self.threads.clear();
        self.main.start_over();
        self.speakers = Speakers::default();
        self.digest = None;
        if let Some(reminders) = &mut self.reminders {
            reminders.list.retain(|reminder| reminder.set.due > now);
        }
    }

    /// Forgets the talk of the room. Posts that are being sent still have to be acknowledged.
    pub(crate) fn clear(&mut self) {
        self.threads.retain(|_, place| !place.is_at_rest());
        for place in self.places_mut() {
            place.forget();
        }
        self.speakers = Speakers::default();
        self.digest = None;
    }
}
