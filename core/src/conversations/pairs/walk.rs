//! The way back through the lines, newest first: how each of them relates to the message.
//!
//! For each line, [`weigh`](super::weigh) calls `candidate`, which says what follows from the counts so far, and `is_wanted`, which
//! picks the lines that may become alternatives: at most fifteen. The `put_*` functions write the features of one that does, each into
//! its column. `pass` then adds the line to the counts, so that older lines see it as something that came after them. The order is
//! essential: a line must be described before it is counted.
//!
//! Everything is in arrays of fixed size, by person ([`PerPerson`]), by conversation ([`PerConversation`]) or by line: this runs for
//! every message of every room, and allocates nothing.

use super::*;
use crate::conversations::exchange_counts::{ExchangeCounts, PerPerson};
use crate::conversations::line::{LINES_MAX, TalkLine};
use crate::conversations::participants::{NOBODY, Slot};
use crate::conversations::reading::Reading;
use crate::conversations::shared::Shared;
use crate::types::Time;

/// The newest line of so many conversations may always be answered.
const LIVE: u8 = 8;

/// Where the way has come to.
pub(super) struct LineWalk<'a> {
    conversations: &'a Conversations,
    arrival: &'a Arrival<'a>,
    pub(super) lines: &'a [TalkLine],
    /// Number of the first of them.
    first: u32,
    shared: Shared,
    /// The most that is shared with one line.
    pub(super) best: u16,
    pub(super) exchanges: ExchangeCounts,
    /// To whom this author spoke last, and whom this message speaks to.
    partner: Slot,
    spoken_to: Slot,
    /// What this author answered last, and in which conversation.
    my_parent: u32,
    my_conversation: Option<u8>,
    pub(super) counts: RunningCounts,
    said_by: PerPerson<u8>,
    next_of: PerPerson<Option<u8>>,
    mine_to: [u8; LINES_MAX],
    fresh: [u8; LINES_MAX],
    since_in: PerConversation,
    rank_of: PerConversation,
    /// The first alternative in each conversation, 0 where there is none yet.
    lane_of: PerConversation,
}

/// Something of each conversation, by any index of one.
type PerConversation = [u8; 1 << u8::BITS];

/// Running counts on the way back through the lines.
#[derive(Default)]
pub(super) struct RunningCounts {
    mine: u8,
    to_me: u8,
    spoken_to: u8,
    pub(super) addressee_away: u8,
    pub(super) speak_to_somebody: usize,
    /// Messages that started a conversation, conversations, authors, and the longest pause until now.
    pub(super) starts: u8,
    conversations: u8,
    authors: u8,
    pause: u64,
    later: Option<Time>,
}

/// One line, and how it relates to the message.
pub(super) struct EarlierLine<'a> {
    line: &'a TalkLine,
    index: usize,
    pub(super) number: u32,
    /// Messages since.
    gap: u32,
    mine: bool,
    to_them: bool,
    to_me: bool,
    /// Messages of its author, and of its conversation, since.
    theirs: u8,
    after: u8,
}

impl<'a> LineWalk<'a> {
    #[inline]
    pub(super) fn new(
        conversations: &'a Conversations,
        arrival: &'a Arrival<'a>,
        lately: &mut RecentContext,
    ) -> LineWalk<'a> {
        let shared = Shared::of(conversations, arrival, lately);
        let lines = conversations.recent();
        let partner = conversations.people.get(arrival.author).map_or(NOBODY, |me| me.partner);
        let first = arrival.number - lines.len() as u32;
        let my_last = lines.iter().rposition(|line| line.author == arrival.author);
        let (my_parent, my_conversation) = my_last.map_or((u32::MAX, None), |index| {
            let line = &lines[index];
            // It may be further back than any line that is kept, or than the first of all.
            ((first + index as u32).wrapping_sub(line.parent_back.into()), Some(line.conversation))
        });
        LineWalk {
            conversations,
            arrival,
            lines,
            first,
            best: shared.per_line.iter().copied().max().unwrap_or(0),
            shared,
            exchanges: ExchangeCounts::of(conversations, arrival.author),
            partner,
            spoken_to: arrival.reading.to.first().unwrap_or(partner),
            my_parent,
            my_conversation,
            counts: RunningCounts { addressee_away: 63, ..RunningCounts::default() },
            said_by: PerPerson::new(),
            next_of: PerPerson::new(),
            mine_to: [0; LINES_MAX],
            fresh: [0; LINES_MAX],
            since_in: [0; 1 << u8::BITS],
            rank_of: [0; 1 << u8::BITS],
            lane_of: [0; 1 << u8::BITS],
        }
    }

    #[inline]
    pub(super) fn candidate(&mut self, index: usize, line: &'a TalkLine) -> EarlierLine<'a> {
        let number = self.first + index as u32;
        let later = self.counts.later.replace(line.at()).unwrap_or(self.arrival.at);
        self.counts.pause = self.counts.pause.max(later.since(line.at()).0);
        if self.since_in[usize::from(line.conversation)] == 0 {
            self.rank_of[usize::from(line.conversation)] = self.counts.conversations;
            self.counts.conversations += 1;
        }
        EarlierLine {
            line,
            index,
            number,
            gap: self.arrival.number - number,
            mine: line.author == self.arrival.author,
            to_them: self.arrival.reading.addresses(line.author),
            to_me: line.reading.addresses(self.arrival.author),
            theirs: *self.said_by.of(line.author),
            after: self.since_in[usize::from(line.conversation)],
        }
    }

    #[inline]
    pub(super) fn note_lately(&mut self, candidate: &EarlierLine<'_>, lately: &mut RecentContext) {
        let EarlierLine { line, gap, to_them, to_me, .. } = *candidate;
        self.note_line(line, gap, (to_them, to_me), lately);
    }

    #[inline]
    fn note_line(&mut self, line: &TalkLine, gap: u32, (to_them, to_me): (bool, bool), lately: &mut RecentContext) {
        self.counts.speak_to_somebody += usize::from(line.reading.directness() != Directness::Nobody);
        if to_them {
            self.counts.addressee_away = self.counts.addressee_away.min(gap.min(63) as u8);
        }
        if to_me {
            lately.waiting += u8::from(self.counts.mine == 0);
            lately.to_me += u8::from(gap <= 32);
            lately.company |= 1 << (line.author % 128);
        }
    }

    /// Whether the message may well answer this line.
    #[inline]
    pub(super) fn is_wanted(&self, candidate: &EarlierLine<'_>) -> bool {
        let EarlierLine { line, number, gap, mine, to_them, to_me, theirs, after, .. } = *candidate;
        gap <= RECENT
            || (to_them && theirs < 3)
            || (mine && theirs < 2)
            || (to_me && self.counts.to_me < 3)
            || (line.author == self.partner && theirs < 2)
            || number == self.my_parent
            || (self.my_conversation == Some(line.conversation) && after < 2)
            || (after == 0 && self.counts.conversations <= LIVE)
    }

    /// How both authors relate to each other.
    #[inline]
    pub(super) fn put_people(&mut self, candidate: &EarlierLine<'_>, put: &mut impl FnMut(usize, u32)) {
        let EarlierLine { line, gap, mine, to_them, to_me, theirs, .. } = *candidate;
        let reading = self.arrival.reading;
        put(SAME_AUTHOR, mine.into());
        put(THEIRS_SINCE, theirs.into());
        put(MINE_SINCE, self.counts.mine.into());
        put(TO_THEM, address_code(reading, to_them));
        put(TO_ME, address_code(&line.reading, to_me));
        put(TO_ME_SINCE, self.counts.to_me.into());
        put(SAME_TO, reading.to.iter().any(|to| line.reading.addresses(to)).into());
        put(MY_PARTNER, (self.partner != NOBODY && line.author == self.partner).into());
        let them = self.conversations.people.get(line.author);
        put(THEIR_PARTNER, them.is_some_and(|them| them.partner == self.arrival.author).into());
        put(ANSWERS_ME, (line.parent_author == self.arrival.author && !mine).into());
        put(TO_SINCE, self.counts.spoken_to.into());
        let affinity = *self.exchanges.with_me.of(line.author);
        put(AFFINITY, affinity.into());
        put(AFFINITY_LEAD, u32::from(self.exchanges.most - affinity.min(self.exchanges.most)));
        put(THEIR_OTHERS, u32::from(self.exchanges.all.of(line.author).saturating_sub(affinity)));
        put(BETWEEN, gap - 1 - u32::from(theirs) - if mine { 0 } else { u32::from(self.counts.mine) });
        put(THEIR_SAID, log_steps(them.map_or(0, |them| them.said.into())).into());
    }

    /// What the line says, and what it shares with the message.
    #[inline]
    pub(super) fn put_line(&self, candidate: &EarlierLine<'_>, put: &mut impl FnMut(usize, u32)) {
        let EarlierLine { line, index, gap, after, .. } = *candidate;
        let reading = &line.reading;
        put(GAP, gap);
        put(CONVERSATION_SINCE, after.into());
        let usual = self.conversations.usual_gap;
        let (ago, pause) = (log_steps(self.arrival.at.since(line.at()).0 / 500), log_steps(self.counts.pause / 500));
        put(AGO, ago.into());
        put(AGO_USUAL, usual.compare(ago));
        put(PAUSE, pause.into());
        put(PAUSE_USUAL, usual.compare(pause));
        put(AUTHORS_BETWEEN, self.counts.authors.into());
        put(STARTS_SINCE, self.counts.starts.into());
        put(REPLIES, line.replies.into());
        put(MY_REPLIES, self.mine_to[index].into());
        put(OTHER_REPLIES_SINCE, self.fresh[index].into());
        put(THEIR_QUESTION, reading.question().into());
        put(THEIR_WIDTH, reading.width().into());
        put(THEIR_STARTS, reading.tells(WordSignal::Starts).into());
        put(THEIR_ANSWERED, reading.tells(WordSignal::Answered).into());
        put(THEIR_GOES_ON, reading.tells(WordSignal::GoesOn).into());
        let (closing, filler) = (reading.marks().has(TextMarks::CLOSING), reading.marks().has(TextMarks::FILLER));
        put(THEIR_CLOSING, u32::from(closing) + 2 * u32::from(filler));
        put(THEIR_UNFINISHED, reading.marks().has(TextMarks::UNFINISHED).into());
        put(THEIR_SURE, line.sure().into());
        put(THEIR_ADDRESS, reading.directness() as u32);
        put(THEIR_START, line.is_start().into());
        let (shared, best) = (self.shared.per_line[index], self.best);
        put(SHARED, u32::from(shared) / 2);
        put(SHARED_BEST, self.shared.best_word[index].into());
        put(SHARED_LEAD, if best == 0 { 0 } else { 1 + u32::from(best - shared) / 2 });
    }

    /// What its author said next, and before.
    #[inline]
    pub(super) fn put_next(&mut self, candidate: &EarlierLine<'_>, put: &mut impl FnMut(usize, u32)) {
        let EarlierLine { line, index, .. } = *candidate;
        if let Some(next) = *self.next_of.of(line.author) {
            let later = &self.lines[usize::from(next)];
            put(NEXT_QUESTION, 1 + u32::from(later.reading.question()));
            put(NEXT_GOES_ON, 1 + u32::from(usize::from(next) - index == usize::from(later.parent_back)));
            put(NEXT_GAP, u32::from(next) - index as u32);
            let shared = &self.shared.per_line;
            put(NEXT_SHARED, u32::from(shared[usize::from(next)].saturating_sub(shared[index])) / 2);
            put(NEXT_TO_ME, 1 + address_code(&later.reading, later.reading.addresses(self.arrival.author)));
        }
        if line.parent_author == line.author && !line.is_start() {
            let before = index.checked_sub(line.parent_back.into()).and_then(|index| self.lines.get(index));
            put(PREVIOUS_OWN, 1 + before.map_or(0, |before| u32::from(before.reading.question())));
        }
    }

    /// Notes the lane of an alternative; the lane of an earlier one in the same conversation.
    #[inline]
    pub(super) fn note_lane(&mut self, candidate: &EarlierLine<'_>, lane: usize) -> Option<usize> {
        let first = &mut self.lane_of[usize::from(candidate.line.conversation)];
        if *first == 0 {
            *first = lane as u8;
            return None;
        }
        Some(usize::from(*first) % LANES)
    }

    /// The conversation it is in: [`CONVERSATION_FEATURES`].
    #[inline]
    pub(super) fn put_conversation(&self, candidate: &EarlierLine<'_>, put: &mut impl FnMut(usize, u32)) {
        let EarlierLine { line, .. } = *candidate;
        let author = self.arrival.author;
        let there = &self.conversations.list[usize::from(line.conversation)];
        put(CONVERSATION_MINE, there.has(author).into());
        put(CONVERSATION_MY_LAST, (self.my_conversation == Some(line.conversation)).into());
        put(CONVERSATION_GAP, self.arrival.number - there.last);
        put(CONVERSATION_PEOPLE, there.count());
        put(CONVERSATION_LINES, log_steps(there.lines.into()).into());
        put(CONVERSATION_TO, self.arrival.reading.to.iter().any(|to| there.has(to)).into());
        put(CONVERSATION_STARTER, (there.starter == author).into());
        put(CONVERSATION_RANK, self.rank_of[usize::from(line.conversation)].into());
        let turn = match (there.speaker == author, there.speaker_before == author) {
            (true, _) => 1,
            (false, true) => 2,
            (false, false) => 0,
        };
        put(CONVERSATION_TURN, turn);
        let last = self.conversations.line(there.last);
        let ago = last.map_or(63, |last| log_steps(self.arrival.at.since(last.at()).0 / 500));
        put(CONVERSATION_AGO, ago.into());
        put(CONVERSATION_AGO_USUAL, self.conversations.usual_gap.compare(ago));
        put(CONVERSATION_ASKED, last.map_or(0, |last| last.reading.question().into()));
        put(SHARED_CONVERSATION, u32::from(self.shared.per_conversation[usize::from(line.conversation)]) / 2);
    }

    /// One line further back.
    #[inline]
    pub(super) fn pass(&mut self, candidate: &EarlierLine<'_>) {
        let EarlierLine { line, index, gap, mine, to_me, theirs, after, .. } = *candidate;
        *self.next_of.of(line.author) = Some(index as u8);
        *self.said_by.of(line.author) = theirs + 1;
        let counts = &mut self.counts;
        counts.authors += u8::from(theirs == 0);
        counts.starts += u8::from(line.is_start());
        counts.mine = counts.mine.saturating_add(u8::from(mine));
        counts.to_me = counts.to_me.saturating_add(u8::from(to_me));
        counts.spoken_to = counts.spoken_to.saturating_add(u8::from(line.author == self.spoken_to));
        self.since_in[usize::from(line.conversation)] = after.saturating_add(1);
        if let Some(parent) = index.checked_sub(line.parent_back.into()).filter(|parent| *parent < index) {
            self.mine_to[parent] += u8::from(mine);
            self.fresh[parent] += u8::from(!mine && gap < 8);
        }
    }
}

impl LineWalk<'_> {
    /// The lines behind the last alternative: only what counts for the message as a whole is looked at.
    #[inline]
    pub(super) fn pass_older(&mut self, lines: usize, lately: &mut RecentContext) {
        let (me, reading) = (self.arrival.author, self.arrival.reading);
        for (index, line) in self.lines[..lines].iter().enumerate().rev() {
            let number = self.first + index as u32;
            let speaks_to = (reading.addresses(line.author), line.reading.addresses(me));
            self.note_line(line, self.arrival.number - number, speaks_to, lately);
            self.counts.starts += u8::from(line.is_start());
            self.counts.mine = self.counts.mine.saturating_add(u8::from(line.author == me));
        }
    }
}

fn address_code(reading: &Reading, hit: bool) -> u32 {
    match (reading.directness(), hit) {
        (Directness::Nobody, _) => 0,
        (_, false) => 1,
        (Directness::Named, true) => 2,
        (Directness::Directed, true) => 3,
    }
}
