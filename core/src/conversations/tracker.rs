//! Follows the conversations of one place, message by message.
//!
//! For each message [`Conversations::place`] decides which earlier message it answers: the platform's own reply link if there
//! is one, otherwise the candidate with the highest sum of the link model. The message joins the conversation of that message,
//! or starts a new one. [`Conversations::keep`] then records it; in between, the likelihood of joining is computed from the
//! state without it.
//!
//! Everything is bounded: the last 64 lines, at most 65 conversations, 96 participants. People are *slots* (small numbers), so
//! that a set of people is a `u128`; when a slot gets a new owner, every reference to the old one is cleared. Lines are
//! numbered from the beginning of the place and found by their distance from the end. Cost per message: one walk over 64 lines.

use super::line::{Conversation, LINES_MAX, SlotSet, TalkLine};
use super::lines::TalkLines;
use super::models::LinkModel;
use super::pace::UsualGap;
use super::pairs::{self, WeighedCandidates};
use super::participants::{NOBODY, Participants, Slot};
use super::reading::{Directness, RareWords, Reading, body, read};
use crate::trees::{LANES, SCALE, exp, log_steps};
use crate::types::{ClockShift, ConversationId, MessageId, Time, prefetch};

/// A message as the tracker gets it.
#[derive(Clone, Copy, Debug)]
pub struct Utterance<'a> {
    pub id: &'a MessageId,
    pub at: Time,
    /// Hash of the author's id.
    pub author: u64,
    pub name: &'a str,
    pub bot: bool,
    pub text: &'a str,
    /// The platform's reply link, and whose message it leads to.
    pub reply: Option<&'a MessageId>,
    pub reply_author: Option<u64>,
    /// Hashes of the ids of those it mentions by the platform's own means.
    pub mentions: &'a [u64],
}

/// The conversations of one place.
#[derive(Clone, Debug, Default)]
pub struct Conversations {
    /// Oldest first; the last is number `heard - 1`.
    pub(super) lines: TalkLines,
    pub(crate) people: Participants,
    /// A line's conversation is always among them.
    pub(crate) list: Vec<Conversation>,
    pub(super) heard: u32,
    pub(super) begun: u32,
    pub(crate) usual_gap: UsualGap,
}

/// A message while it is being placed.
pub(crate) struct Arrival<'a> {
    pub number: u32,
    pub at: Time,
    pub author: Slot,
    pub reading: &'a Reading,
    pub words: &'a RareWords,
}

/// Which alternative was taken, and how likely each was.
pub(crate) struct Choice {
    pub parent: Option<u32>,
    pub sure: f32,
    pub starts: f32,
    /// Likelihood that it answers somebody else's message, or one's own.
    pub to_others: f32,
    pub to_own: f32,
    /// Likelihood that nobody else is in the conversation, and the number of others to be expected.
    pub alone: f32,
    pub others: f32,
    /// How likely each of the weighed alternatives is, in their order.
    pub likely: [f32; LANES],
}

/// Where a message belongs, before it is kept.
pub(crate) struct Placed {
    /// The message it answers; its own id where it starts a conversation.
    pub reply_to: MessageId,
    pub conversation: ConversationId,
    pub choice: Choice,
    /// The alternatives that were weighed.
    pub weighed: WeighedCandidates,
    /// Index of the conversation in the list of them.
    pub(crate) index: u8,
    number: u32,
    at: Time,
    author: Slot,
    reading: Reading,
    words: RareWords,
}

impl Placed {
    pub(crate) fn arrival(&self) -> Arrival<'_> {
        let Placed { number, at, author, ref reading, ref words, .. } = *self;
        Arrival { number, at, author, reading, words }
    }
}

impl Conversations {
    /// Fetches from memory what the next message needs.
    pub(crate) fn prefetch(&self) {
        self.lines.prefetch();
        self.people.prefetch();
        prefetch(&self.list, |conversation| conversation.starter);
    }

    /// Takes in a message; the conversation it belongs to.
    pub fn hear(&mut self, heard: &Utterance<'_>, model: &LinkModel) -> ConversationId {
        let placed = self.place(heard, model);
        let conversation = placed.conversation;
        self.keep(heard, placed);
        conversation
    }

    /// Finds out what a message answers. It is to be kept afterwards, whatever else is made of it meanwhile.
    pub(crate) fn place(&mut self, heard: &Utterance<'_>, model: &LinkModel) -> Placed {
        let (author, taken) = self.people.meet(heard.author, heard.name, heard.bot, heard.at);
        if taken {
            self.let_go(author);
        }
        let (mut reading, words) = read(heard.text, author, &self.people, &model.lexicon);
        let told = heard.mentions.iter().copied().chain(heard.reply_author);
        for slot in told.map(|key| self.people.by_key(key).unwrap_or(NOBODY)).filter(|slot| *slot != author) {
            reading.address(slot, Directness::Directed);
        }
        let arrival = Arrival { number: self.heard, at: heard.at, author, reading: &reading, words: &words };
        let weighed = pairs::weigh(self, &arrival);
        let linked = heard.reply.map(|id| self.find(id));
        let choice = match linked {
            Some(parent) => self.linked(parent, author, &weighed),
            None => self.choose(&weighed, &arrival, model),
        };
        let index = self.join_or_begin(&arrival, &choice);
        let reply_to = match (choice.parent.and_then(|parent| self.index_of(parent)), heard.reply) {
            (_, Some(link)) => link.clone(),
            (Some(index), None) => MessageId::new(self.lines.id(index)),
            (None, None) => heard.id.clone(),
        };
        let conversation = ConversationId::nth(self.list[usize::from(index)].number);
        let (number, at) = (self.heard, heard.at);
        Placed { reply_to, conversation, choice, weighed, index, number, at, author, reading, words }
    }

    /// What remains of a text without the names it begins with: what its words are learnt from.
    pub fn body<'a>(&self, text: &'a str, author: u64) -> &'a str {
        body(text, self.people.by_key(author).unwrap_or(NOBODY), &self.people)
    }

    fn choose(&self, weighed: &WeighedCandidates, arrival: &Arrival<'_>, model: &LinkModel) -> Choice {
        let sums = model.trees.sums(&weighed.columns, weighed.used);
        let sums = &sums[..weighed.used];
        let most = sums.iter().copied().max().unwrap_or(0);
        let mut odds = [0.0f32; LANES];
        for (odd, sum) in odds.iter_mut().zip(sums) {
            *odd = exp((sum - most) as f32 / SCALE);
        }
        let total: f32 = odds.iter().sum();
        let best = self.best_in_best_conversation(weighed, &odds);
        let (mut to_others, mut to_own) = (0.0, 0.0);
        let (mut alone, mut others) = (odds[0] / total, 0.0);
        for (candidate, odds) in weighed.candidates[..weighed.used].iter().zip(odds).skip(1) {
            let Some(line) = self.line(*candidate) else { continue };
            *(if line.author == arrival.author { &mut to_own } else { &mut to_others }) += odds / total;
            let company = self.list[usize::from(line.conversation)].others_than(arrival.author);
            alone += if company == 0 { odds / total } else { 0.0 };
            others += company as f32 * odds / total;
        }
        Choice {
            parent: (best > 0).then(|| weighed.candidates[best]),
            sure: odds[best] / total,
            starts: odds[0] / total,
            to_others,
            to_own,
            alone,
            others,
            likely: odds.map(|odds| odds / total),
        }
    }

    /// The likeliest message of the likeliest conversation; 0 where a new one is likelier than each of them.
    fn best_in_best_conversation(&self, weighed: &WeighedCandidates, odds: &[f32; LANES]) -> usize {
        let conversation_of = |lane: usize| self.line(weighed.candidates[lane]).map(|line| line.conversation);
        let mut together = [0.0f32; LINES_MAX + 2];
        for lane in 1..weighed.used {
            together[usize::from(conversation_of(lane).unwrap_or(0))] += odds[lane];
        }
        let (mut best, mut most) = (0, (odds[0], 0.0));
        for lane in 1..weighed.used {
            let this = (together[usize::from(conversation_of(lane).unwrap_or(0))], odds[lane]);
            if this > most {
                (best, most) = (lane, this);
            }
        }
        best
    }

    /// The platform knows what is answered.
    fn linked(&self, parent: Option<u32>, author: Slot, weighed: &WeighedCandidates) -> Choice {
        let line = parent.and_then(|parent| self.line(parent));
        let (to_others, to_own) = if line.is_some_and(|line| line.author == author) { (0.0, 1.0) } else { (1.0, 0.0) };
        let company = line.map_or(1, |line| self.list[usize::from(line.conversation)].others_than(author));
        let alone = if company == 0 { 1.0 } else { 0.0 };
        let is_it = |candidate: u32| if Some(candidate) == parent { 1.0 } else { 0.0 };
        let likely = weighed.candidates.map(is_it);
        Choice { parent, sure: 1.0, starts: 0.0, to_others, to_own, alone, others: company as f32, likely }
    }

    /// Puts the message into the conversation of what it answers, or into a new one.
    fn join_or_begin(&mut self, arrival: &Arrival<'_>, choice: &Choice) -> u8 {
        match choice.parent.and_then(|parent| self.line(parent)) {
            Some(line) => line.conversation,
            None => self.begin(arrival),
        }
    }

    fn begin(&mut self, arrival: &Arrival<'_>) -> u8 {
        let (number, began, starter, last) = (self.begun, arrival.at.into(), arrival.author, arrival.number);
        let (speaker, speaker_before, people) = (NOBODY, NOBODY, SlotSet::default());
        let conversation =
            Conversation { number, began, last, lines: 0, people, starter, settled: 0, speaker, speaker_before };
        self.begun += 1;
        if self.list.len() <= LINES_MAX {
            grow_exactly(&mut self.list, LINES_MAX + 1);
            self.list.push(conversation);
            return (self.list.len() - 1) as u8;
        }
        let oldest = self
            .list
            .iter()
            .enumerate()
            .min_by_key(|(_, conversation)| conversation.last)
            .map_or(0, |(index, _)| index);
        self.list[oldest] = conversation;
        oldest as u8
    }

    /// Keeps a message where it was placed; hands back what was weighed.
    pub(crate) fn keep(&mut self, heard: &Utterance<'_>, placed: Placed) -> WeighedCandidates {
        let Placed { number, author, reading, words, choice, index, weighed, .. } = placed;
        let gap = self.lines.all().last().map(|line| heard.at.since(line.at()).0);
        let mut parent_author = NOBODY;
        if let Some(line) = choice.parent.and_then(|parent| self.line_mut(parent)) {
            line.replies = line.replies.saturating_add(1);
            parent_author = line.author;
        }
        let there = &mut self.list[usize::from(index)];
        there.last = number;
        there.note_speaker(author);
        there.lines = there.lines.saturating_add(1);
        let joins = !there.people.is_empty() && !there.has(author);
        there.settled = if joins { 0 } else { there.settled.saturating_add(1) };
        there.people.insert(author);
        if let Some(them) = self.people.get_mut(parent_author).filter(|_| joins) {
            them.drew = them.drew.saturating_add(1);
        }
        let me = self.people.get_mut(author).expect("who speaks was met");
        me.said = me.said.saturating_add(1);
        me.starts = me.starts.saturating_add(u16::from(choice.parent.is_none()));
        me.directed = me.directed.saturating_add(u16::from(reading.directness() != Directness::Nobody));
        me.note_spoke(number, heard.at);
        let spoken_to = reading.to.first().unwrap_or(parent_author);
        if spoken_to != NOBODY && spoken_to != author {
            me.partner = spoken_to;
        }
        // An alternative is one of the lines that are kept.
        let parent_back = choice.parent.map_or(0, |parent| (number - parent) as u8);
        let mut line =
            TalkLine { parent_back, parent_author, conversation: index, ..TalkLine::new(heard.at, author, reading) };
        line.set_link((choice.sure * 63.0) as u8, joins);
        self.lines.push(line, heard.id.as_str(), words.hashes());
        self.heard += 1;
        self.usual_gap.note(gap);
        weighed
    }

    /// Takes over the new text of a message; what it was taken to answer stays.
    pub fn edit(&mut self, id: &MessageId, text: &str, model: &LinkModel) {
        let index = self.lines.with_id(id.as_str()).find(|index| !self.lines.all()[*index].is_gone());
        let Some(index) = index else { return };
        let (reading, words) = read(text, self.lines.all()[index].author, &self.people, &model.lexicon);
        self.lines.set_reading(index, reading, words.hashes());
    }

    /// A deleted message cannot be answered, and leaves no words behind.
    pub fn delete(&mut self, id: &MessageId) {
        let index = self.lines.with_id(id.as_str()).next();
        if let Some(index) = index {
            self.lines.blank(index);
        }
    }

    /// Leaves nothing of a person, given by the hash of their id.
    pub fn forget(&mut self, person: u64) {
        let Some(slot) = self.people.by_key(person) else { return };
        self.people.forget(slot);
        for index in 0..self.lines.all().len() {
            if self.lines.all()[index].author == slot {
                self.lines.blank(index);
                self.lines.all_mut()[index].author = NOBODY;
            }
        }
        self.let_go(slot);
    }

    /// The clock was set: what was noted by the old one counts by the new one.
    pub fn set_clock(&mut self, by: ClockShift) {
        self.lines.all_mut().iter_mut().for_each(|line| line.set_at(line.at().shifted(by)));
        self.list
            .iter_mut()
            .for_each(|conversation| conversation.began = Time::from(conversation.began).shifted(by).into());
        self.people.set_clock(by);
    }

    pub fn clear(&mut self) {
        let Conversations { heard, begun, usual_gap, .. } = *self;
        *self = Conversations { heard, begun, usual_gap, ..Conversations::default() };
    }

    /// Somebody else has this slot now.
    fn let_go(&mut self, slot: Slot) {
        for line in self.lines.all_mut() {
            line.reading.to.let_go(slot);
            if line.parent_author == slot {
                line.parent_author = NOBODY;
            }
        }
        for conversation in &mut self.list {
            conversation.people.remove(slot);
            for named in [&mut conversation.starter, &mut conversation.speaker, &mut conversation.speaker_before] {
                if *named == slot {
                    *named = NOBODY;
                }
            }
        }
        self.people.no_partner(slot);
    }

    /// The messages that count, oldest first; the last is number `heard - 1`.
    pub(crate) fn recent(&self) -> &[TalkLine] {
        self.lines.recent()
    }

    fn find(&self, id: &MessageId) -> Option<u32> {
        let (all, recent) = (self.lines.all().len(), self.recent().len());
        let index = self.lines.with_id(id.as_str()).last().filter(|index| *index >= all - recent)?;
        Some(self.heard - (all - index) as u32)
    }

    /// Index among all lines of one that counts.
    fn index_of(&self, number: u32) -> Option<usize> {
        self.line(number)?;
        Some(self.lines.all().len() - (self.heard - number) as usize)
    }

    pub(crate) fn line(&self, number: u32) -> Option<&TalkLine> {
        let back = self.heard.checked_sub(number)? as usize;
        let lines = self.recent();
        lines.get(lines.len().checked_sub(back)?)
    }

    fn line_mut(&mut self, number: u32) -> Option<&mut TalkLine> {
        let back = self.heard.checked_sub(number)? as usize;
        let lines = self.lines.all_mut();
        lines.len().checked_sub(back).and_then(|index| lines.get_mut(index))
    }

    /// Time that the last ten messages took.
    pub(crate) fn pace(&self, now: Time) -> u8 {
        let lines = self.lines.all();
        let tenth = lines.len().checked_sub(10).map_or(0, |index| now.since(lines[index].at()).0);
        if tenth == 0 { 63 } else { log_steps(tenth / 500) }
    }

    /// Participants among the last sixteen messages.
    pub(crate) fn crowd(&self) -> u32 {
        let there = self.lines.all().iter().rev().take(16).fold(0u128, |there, line| there | 1 << (line.author & 127));
        there.count_ones()
    }
}

/// Makes space for one more: by an eighth, and never for more than there will be.
pub(super) fn grow_exactly<T>(list: &mut Vec<T>, most: usize) {
    if list.len() == list.capacity() {
        let more = (list.len() / 16).max(2).min(most.saturating_sub(list.len()));
        list.reserve_exact(more);
    }
}

#[cfg(test)]
mod tests;
