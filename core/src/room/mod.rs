//! Working memory of a room: who speaks there, what was said, what is pending in each of its places.

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
pub(crate) use buffer::{BufferEntry, Glance, HeardMessage};
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
use crate::types::{CallId, Message, MessageId, RoomId, Share, Span, ThreadId, Time};

/// A channel with its threads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Room {
    pub id: RoomId,
    /// Time of the newest message heard here.
    pub newest: Time,
    pub speakers: Speakers,
    /// The channel itself.
    main: PlaceState,
    threads: BTreeMap<ThreadId, PlaceState>,
    calls: u64,
    pub mute: Option<Mute>,
    /// Whether people's words muted it: then their words lift that again, said to nobody in particular.
    #[serde(default)]
    pub muted_by_words: bool,
    pub off: bool,
    /// How much it says here, where that is a share of the talk.
    #[serde(default)]
    pub talk: Option<Box<TalkShare>>,
    pub spent: Option<Box<Spent>>,
    /// What long memory has yet to take in; absent where nothing is remembered for long.
    #[serde(default)]
    pub digest: Option<Box<Digest>>,
    /// Whom it answered lately, for the limits per person.
    pub answered: Vec<AnsweredPerson>,
    /// For whom it ran tools lately.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_runs: Vec<ToolRun>,
    /// What it is to say at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reminders: Option<Box<Reminders>>,
    /// When it last said that too many had called for all of them to be answered.
    #[serde(default)]
    pub excused_at: Option<Time>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mute {
    Until(Time),
    Open,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AnsweredPerson {
    pub person: u64,
    pub at: Time,
    pub addressed: bool,
}

/// A tool was run for somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ToolRun {
    pub person: u64,
    pub at: Time,
}

/// The limits per person look back this far.
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

    /// How much it is to say here and how it stands, where that is a share of the talk.
    pub(crate) fn talk_of(&self, policy: &Policy) -> Option<(&TalkShare, Share)> {
        let talk = self.talk.as_deref()?;
        Some((talk, talk.share(policy.settings.talk)?))
    }

    /// The same, to be changed.
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

    fn places(&self) -> impl Iterator<Item = &PlaceState> {
        std::iter::once(&self.main).chain(self.threads.values())
    }

    pub(crate) fn places_mut(&mut self) -> impl Iterator<Item = &mut PlaceState> {
        std::iter::once(&mut self.main).chain(self.threads.values_mut())
    }

    /// Makes the place known; where there are too many, the thread that was quiet longest and has nothing pending is let go.
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

    /// The place, and beside it the speakers of its room.
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

    /// The same, to change them one after the other.
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

    /// Whether it is silent because somebody told it so in words.
    pub(crate) fn is_muted_by_words(&self, now: Time) -> bool {
        self.muted_by_words && self.is_muted(now)
    }

    /// By order, or in words; none lifts it.
    pub(crate) fn set_mute(&mut self, mute: Option<Mute>, by_words: bool) {
        (self.mute, self.muted_by_words) = (mute, by_words && mute.is_some());
    }

    /// Silences the room up to then; a longer mute stays.
    pub(crate) fn mute_at_least_until(&mut self, until: Time) {
        self.mute = match self.mute {
            Some(Mute::Open) => Some(Mute::Open),
            Some(Mute::Until(longer)) => Some(Mute::Until(longer.max(until))),
            None => Some(Mute::Until(until)),
        };
    }

    /// Notes the time of a message that is heard.
    pub(crate) fn note_newest(&mut self, message: &Message, now: Time) {
        // Nothing is newer than now; earlier versions thought so of what was dated ahead.
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

    /// How often it answered this person within the hour.
    pub(crate) fn answers_to(&self, person: u64, addressed: bool, now: Time) -> u64 {
        let counts =
            |a: &&AnsweredPerson| a.person == person && a.addressed == addressed && now.since(a.at) < PERSON_LIMIT_SPAN;
        self.answered.iter().filter(counts).count() as u64
    }

    /// How many messages of this person it still owes an answer.
    pub(crate) fn owed_to(&self, person: u64) -> u64 {
        let by_them = |trace: &&Trace| self.speakers.key(&trace.author_id) == person;
        let owed = self.places().flat_map(PlaceState::owed);
        owed.flat_map(|owed| owed.together.iter().chain([&*owed.trace])).filter(by_them).count() as u64
    }

    /// How many messages of this person are answered by posts on their way to the platform.
    pub(crate) fn leaving_to(&self, person: u64, addressed: bool) -> u64 {
        let by_them = |trace: &&Trace| self.speakers.key(&trace.author_id) == person;
        let sent = self.places().filter_map(|place| place.bot.as_deref()).flat_map(BotState::on_its_way);
        let begins = |sent: &&PendingDelivery| sent.addressed == addressed && !sent.delivery.continues;
        sent.filter(begins).flat_map(|sent| &sent.traces).filter(by_them).count() as u64
    }

    /// When the main place is to be looked at for what it is to say at a time.
    pub(crate) fn next_reminder(&self, now: Time) -> Option<Time> {
        let reminders = self.reminders.iter().flat_map(|reminders| &reminders.list);
        let next = reminders.map(|reminder| reminder.next_look(now)).min()?;
        // What waits for the end of a mute is looked at right then.
        let unmuted = if let Some(Mute::Until(until)) = self.mute { Some(until) } else { None };
        Some(unmuted.filter(|until| *until > now).map_or(next, |until| until.min(next)))
    }

    pub(crate) fn cancel_reminder(&mut self, number: u32) {
        if let Some(reminders) = &mut self.reminders {
            reminders.cancel(number);
        }
    }

    /// What somebody asked to be reminded of goes with the message that asked.
    pub(crate) fn note_deleted_request(&mut self, message: &MessageId) {
        if let Some(reminders) = &mut self.reminders {
            reminders.list.retain(|reminder| reminder.asked.as_ref().is_none_or(|asked| asked.message != *message));
        }
    }

    /// The clock was set, and times of day are what they were: the main place is looked at in time for them.
    pub(crate) fn look_for_reminders(&mut self, now: Time) {
        let next = self.next_reminder(now);
        let Some(main) = self.place_mut(None) else { return };
        main.alarm = main.alarm.into_iter().chain(next).min();
    }

    /// Forgets the talk of the room. Posts on their way still have to be acknowledged.
    pub(crate) fn clear(&mut self) {
        self.threads.retain(|_, place| !place.is_at_rest());
        for place in self.places_mut() {
            place.forget();
        }
        self.speakers = Speakers::default();
        self.digest = None;
    }
}
