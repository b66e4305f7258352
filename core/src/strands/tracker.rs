//! Follows one place, message by message.

use serde::{Deserialize, Serialize};

use super::line::{LINES_MAX, LINES_OVER, Line, Strand};
use super::models::Models;
use super::pairs::{self, Weighed};
use super::people::{NOBODY, People, Slot};
use super::reading::{Address, Reading, body, read};
use crate::join;
use crate::trees::{LANES, SCALE, exp, log_steps, probability};
use crate::types::{ClockShift, MessageId, Time};

/// A message as it is told to the tracker.
#[derive(Clone, Copy, Debug)]
pub struct Heard<'a> {
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

/// What the tracker makes of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Guess {
    /// The message it answers; its own id where it starts a conversation.
    pub reply_to: MessageId,
    /// How likely that is, 0–1.
    pub sure: f32,
    /// How likely it starts a conversation, 0–1.
    pub starts: f32,
    /// Number of its conversation within the place.
    pub strand: u32,
    /// How likely somebody who is not in the conversation answers it, 0–1.
    pub p_join: f32,
    /// What `p_join` was made from; [`join::contributions`] tells what each of them did.
    pub features: join::Values,
}

/// The conversations of one place.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Strands {
    /// Oldest first; the last is number `heard - 1`. Some at the beginning may be too old already: see `recent`.
    lines: Vec<Line>,
    pub(crate) people: People,
    /// A line's conversation is always among them.
    pub(crate) list: Vec<Strand>,
    heard: u32,
    begun: u32,
}

/// A message while it is being placed.
pub struct Scene<'a> {
    pub number: u32,
    pub at: Time,
    pub author: Slot,
    pub reading: &'a Reading,
}

/// Which alternative was taken, and how likely each was.
pub struct Choice {
    pub parent: Option<u32>,
    pub sure: f32,
    pub starts: f32,
    /// Likelihood that it answers somebody else's message, or one's own.
    pub to_others: f32,
    pub to_own: f32,
    /// Likelihood that nobody else is in the conversation, and the number of others to be expected.
    pub alone: f32,
    pub others: f32,
}

impl Strands {
    /// Takes in a message.
    pub fn hear(&mut self, heard: &Heard<'_>, models: &Models) -> Guess {
        self.hear_weighed(heard, models).0
    }

    /// The same, with the alternatives that were weighed: what training looks at.
    pub fn hear_weighed(&mut self, heard: &Heard<'_>, models: &Models) -> (Guess, Weighed) {
        let (author, taken) = self.people.meet(heard.author, heard.name, heard.bot, heard.at);
        if taken {
            self.let_go(author);
        }
        let mut reading = read(heard.text, author, &self.people, &models.lexicon);
        let told = heard.mentions.iter().copied().chain(heard.reply_author);
        for slot in told.map(|key| self.people.by_key(key).unwrap_or(NOBODY)).filter(|slot| *slot != author) {
            reading.address(slot, Address::Directed);
        }
        let scene = Scene { number: self.heard, at: heard.at, author, reading: &reading };
        let weighed = pairs::weigh(self, &scene);
        let linked = heard.reply.map(|id| self.find(id));
        let choice = match linked {
            Some(parent) => self.linked(parent, author),
            None => self.choose(&weighed, &scene, models),
        };
        let strand = self.place(&scene, &choice);
        let features = join::values(self, &scene, &choice, strand, &weighed.lately);
        let p_join = probability(models.join.calibrated(models.join.sum(&features)));
        let reply_to = match (choice.parent.and_then(|parent| self.line(parent)), heard.reply) {
            (_, Some(link)) => link.clone(),
            (Some(line), None) => line.id.clone(),
            (None, None) => heard.id.clone(),
        };
        let guess = Guess {
            reply_to,
            sure: choice.sure,
            starts: choice.starts,
            strand: self.list[usize::from(strand)].number,
            p_join,
            features,
        };
        self.keep(heard, author, reading, &choice, strand);
        (guess, weighed)
    }

    /// What remains of a text without the names it begins with: what its words are learnt from.
    pub fn body<'a>(&self, text: &'a str, author: u64) -> &'a str {
        body(text, self.people.by_key(author).unwrap_or(NOBODY), &self.people)
    }

    fn choose(&self, weighed: &Weighed, scene: &Scene<'_>, models: &Models) -> Choice {
        let sums = models.links.sums(&weighed.columns, weighed.used);
        let sums = &sums[..weighed.used];
        let most = sums.iter().copied().max().unwrap_or(0);
        let mut odds = [0.0f32; LANES];
        for (odd, sum) in odds.iter_mut().zip(sums) {
            *odd = exp((sum - most) as f32 / SCALE);
        }
        let total: f32 = odds.iter().sum();
        let best = sums.iter().position(|sum| *sum == most).unwrap_or(0);
        let (mut to_others, mut to_own) = (0.0, 0.0);
        let (mut alone, mut others) = (odds[0] / total, 0.0);
        for (candidate, odds) in weighed.candidates[..weighed.used].iter().zip(odds).skip(1) {
            let Some(line) = self.line(*candidate) else { continue };
            *(if line.author == scene.author { &mut to_own } else { &mut to_others }) += odds / total;
            let company = self.list[usize::from(line.strand)].others_than(scene.author);
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
        }
    }

    /// The platform knows what is answered.
    fn linked(&self, parent: Option<u32>, author: Slot) -> Choice {
        let line = parent.and_then(|parent| self.line(parent));
        let (to_others, to_own) = if line.is_some_and(|line| line.author == author) { (0.0, 1.0) } else { (1.0, 0.0) };
        let company = line.map_or(1, |line| self.list[usize::from(line.strand)].others_than(author));
        let alone = if company == 0 { 1.0 } else { 0.0 };
        Choice { parent, sure: 1.0, starts: 0.0, to_others, to_own, alone, others: company as f32 }
    }

    /// Puts the message into the conversation of what it answers, or into a new one.
    fn place(&mut self, scene: &Scene<'_>, choice: &Choice) -> u8 {
        match choice.parent.and_then(|parent| self.line(parent)) {
            Some(line) => line.strand,
            None => self.begin(scene),
        }
    }

    fn begin(&mut self, scene: &Scene<'_>) -> u8 {
        let (number, began, starter, last) = (self.begun, scene.at, scene.author, scene.number);
        let strand = Strand { number, began, last, lines: 0, people: 0, starter, settled: 0 };
        self.begun += 1;
        if self.list.len() <= LINES_MAX {
            self.list.push(strand);
            return (self.list.len() - 1) as u8;
        }
        let oldest = self.list.iter().enumerate().min_by_key(|(_, strand)| strand.last).map_or(0, |(place, _)| place);
        self.list[oldest] = strand;
        oldest as u8
    }

    fn keep(&mut self, heard: &Heard<'_>, author: Slot, reading: Reading, choice: &Choice, strand: u8) {
        let number = self.heard;
        let mut parent_author = NOBODY;
        if let Some(line) = choice.parent.and_then(|parent| self.line_mut(parent)) {
            line.replies = line.replies.saturating_add(1);
            parent_author = line.author;
        }
        let there = &mut self.list[usize::from(strand)];
        there.last = number;
        there.lines = there.lines.saturating_add(1);
        let joins = there.people != 0 && !there.has(author);
        there.settled = if joins { 0 } else { there.settled.saturating_add(1) };
        there.people |= 1 << author;
        if let Some(them) = self.people.get_mut(parent_author).filter(|_| joins) {
            them.drew = them.drew.saturating_add(1);
        }
        let me = self.people.get_mut(author).expect("who speaks was met");
        me.said = me.said.saturating_add(1);
        me.starts = me.starts.saturating_add(u16::from(choice.parent.is_none()));
        me.directed = me.directed.saturating_add(u16::from(reading.address != Address::Nobody));
        (me.last, me.last_at) = (number, heard.at);
        let spoken_to = reading.to[0].unwrap_or(parent_author);
        if spoken_to != NOBODY && spoken_to != author {
            me.partner = spoken_to;
        }
        if self.lines.len() == LINES_MAX + LINES_OVER {
            self.lines.drain(..=LINES_OVER);
        }
        self.lines.push(Line {
            id: heard.id.clone(),
            at: heard.at,
            author,
            reading,
            parent: choice.parent.unwrap_or(number),
            parent_author,
            sure: (choice.sure * 63.0) as u8,
            joins,
            strand,
            replies: 0,
            gone: false,
        });
        self.heard += 1;
    }

    /// Takes over the new text of a message; what it was taken to answer stays.
    pub fn edit(&mut self, id: &MessageId, text: &str, models: &Models) {
        let Some(place) = self.lines.iter().position(|line| line.id == *id && !line.gone) else { return };
        let reading = read(text, self.lines[place].author, &self.people, &models.lexicon);
        self.lines[place].reading = reading;
    }

    /// A deleted message can not be answered, and leaves no words behind.
    pub fn delete(&mut self, id: &MessageId) {
        if let Some(line) = self.lines.iter_mut().find(|line| line.id == *id) {
            line.blank();
        }
    }

    /// Leaves nothing of a person, given by the hash of their id.
    pub fn forget(&mut self, person: u64) {
        let Some(slot) = self.people.by_key(person) else { return };
        self.people.forget(slot);
        for line in self.lines.iter_mut().filter(|line| line.author == slot) {
            line.blank();
            line.author = NOBODY;
        }
        self.let_go(slot);
    }

    /// The clock was set: what was noted by the old one counts by the new one.
    pub fn set_clock(&mut self, by: ClockShift) {
        self.lines.iter_mut().for_each(|line| line.at = line.at.shifted(by));
        self.list.iter_mut().for_each(|strand| strand.began = strand.began.shifted(by));
        self.people.set_clock(by);
    }

    pub fn clear(&mut self) {
        *self = Strands { heard: self.heard, begun: self.begun, ..Strands::default() };
    }

    /// Somebody else has this slot now.
    fn let_go(&mut self, slot: Slot) {
        for line in &mut self.lines {
            line.reading.to.iter_mut().filter(|to| **to == Some(slot)).for_each(|to| *to = Some(NOBODY));
            if line.parent_author == slot {
                line.parent_author = NOBODY;
            }
        }
        for strand in &mut self.list {
            strand.people &= !(1 << slot);
            if strand.starter == slot {
                strand.starter = NOBODY;
            }
        }
        self.people.no_partner(slot);
    }

    /// The messages that count, oldest first; the last is number `heard - 1`.
    pub(crate) fn recent(&self) -> &[Line] {
        &self.lines[self.lines.len().saturating_sub(LINES_MAX)..]
    }

    fn find(&self, id: &MessageId) -> Option<u32> {
        let lines = self.recent();
        let place = lines.iter().rposition(|line| line.id == *id)?;
        Some(self.heard - (lines.len() - place) as u32)
    }

    pub(crate) fn line(&self, number: u32) -> Option<&Line> {
        let back = self.heard.checked_sub(number)? as usize;
        let lines = self.recent();
        lines.get(lines.len().checked_sub(back)?)
    }

    fn line_mut(&mut self, number: u32) -> Option<&mut Line> {
        let back = self.heard.checked_sub(number)? as usize;
        let place = self.lines.len().checked_sub(back)?;
        self.lines.get_mut(place)
    }

    /// Time that the last ten messages took.
    pub(crate) fn pace(&self, now: Time) -> u8 {
        let tenth = self.lines.len().checked_sub(10).map_or(0, |place| now.since(self.lines[place].at).0);
        if tenth == 0 { 63 } else { log_steps(tenth / 500) }
    }

    /// People among the last sixteen messages.
    pub(crate) fn crowd(&self) -> u32 {
        let there = self.lines.iter().rev().take(16).fold(0u128, |there, line| there | 1 << (line.author & 127));
        there.count_ones()
    }
}

#[cfg(test)]
mod tests;
