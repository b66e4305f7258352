//! Whose turn it is: how likely a participant of a conversation is the next to speak in it.
//!
//! Learnt from people: every participant of a labelled conversation is an example at each message of somebody else in it,
//! and who spoke next is the label. In production the participant is the bot. [`turn_values`] describes, from the view of
//! that participant, the message (whom it is for, what it says), the conversation (who spoke when) and the pace of the
//! room. It is computed after a message was assigned and before it is kept, as the features of joining are.

use crate::conversations::{
    Arrival, Conversation, Conversations, NOBODY, Placed, Slot, TalkLine, TextMarks, WordSignal,
};
use crate::trees::{VALUES, features, log_steps};

features! {
    IN "in";
    MASS "mass";
    TO_MINE "to_mine";
    PARENT_MINE "parent_mine";
    ADDRESS "address";
    SPEAKER "speaker";
    SINCE "since";
    AWAY_LINES "away_lines";
    AWAY "away";
    AWAY_USUAL "away_usual";
    MY_LINES "my_lines";
    MY_SHARE "my_share";
    LINES "lines";
    OTHERS "others";
    STARTER "starter";
    AUTHOR_STARTER "author_starter";
    AUTHOR_IN "author_in";
    AUTHOR_LINES "author_lines";
    RUN "run";
    BOND "bond";
    BOND_LEAD "bond_lead";
    MY_QUESTION "my_question";
    MY_TO_AUTHOR "my_to_author";
    MY_WIDTH "my_width";
    LAST_OTHER "last_other";
    ALTERNATIONS "alternations";
    OTHERS_RECENT "others_recent";
    MY_RECENT "my_recent";
    QUESTION "question";
    CLOSING "closing";
    FILLER "filler";
    ASKS "asks";
    CALL "call";
    GREETING "greeting";
    UNFINISHED "unfinished";
    EXCLAIMS "exclaims";
    LINK "link";
    CODE "code";
    SMILE "smile";
    WIDTH "width";
    WORD_STARTS "word_starts";
    WORD_ANSWERED "word_answered";
    WORD_GOES_ON "word_goes_on";
    WORD_DRAWS "word_draws";
    P_STARTS "starts";
    P_OWN "to_own";
    SURE "sure";
    PARENT_QUESTION "parent_question";
    PARENT_GAP "parent_gap";
    PARENT_AGO "parent_ago";
    LAST_USUAL "last_usual";
    PACE "pace";
    USUAL "usual";
    CROWD "crowd";
    CUSTOM "custom";
    MY_SAID "my_said";
    MY_DIRECTED "my_directed";
    AUTHOR_SAID "author_said";
    AUTHOR_DIRECTED "author_directed";
}

pub type TurnValues = [u8; FEATURES.len()];

/// A conversation of a participant counts if the message is in it with at least this likelihood.
const MASS_MIN: f32 = 0.02;
/// How many lines of the conversation are considered.
const LOOKED_AT: usize = 16;
/// How many of these count as recent.
const RECENT: usize = 6;

/// The features of an assigned message for one participant; absent if that one takes no part.
pub(super) fn turn_values(conversations: &Conversations, placed: &Placed, person: u64) -> Option<TurnValues> {
    let me = conversations.people.by_key(person).filter(|slot| *slot != placed.arrival().author)?;
    let (index, mass) = my_conversation(conversations, placed, me)?;
    let view = View::of(conversations, placed, me, index);
    let mut values = [0; FEATURES.len()];
    let mut put = |feature: usize, value: u32| values[feature] = value.min(VALUES as u32 - 1) as u8;
    put(MASS, (mass * 63.0) as u32);
    view.put_place(&mut put);
    view.put_lines(&mut put);
    view.put_people(&mut put);
    view.put_text(&mut put);
    view.put_parent(&mut put);
    view.put_room(&mut put);
    Some(values)
}

/// The participant's conversation that the message is most likely in, and how likely it is in any of them.
fn my_conversation(conversations: &Conversations, placed: &Placed, me: Slot) -> Option<(u8, f32)> {
    let mut masses = [0.0f32; 1 << u8::BITS];
    let mut all = 0.0;
    for (candidate, likely) in placed.weighed.candidates[..placed.weighed.used].iter().zip(placed.choice.likely).skip(1)
    {
        let Some(line) = conversations.line(*candidate) else { continue };
        if conversations.list[usize::from(line.conversation)].has(me) {
            masses[usize::from(line.conversation)] += likely;
            all += likely;
        }
    }
    if conversations.list[usize::from(placed.index)].has(me) {
        return Some((placed.index, all.max(masses[usize::from(placed.index)])));
    }
    let best = (0..=u8::MAX).max_by(|one, two| masses[usize::from(*one)].total_cmp(&masses[usize::from(*two)]))?;
    (all >= MASS_MIN).then_some((best, all))
}

/// The data that is considered.
struct View<'a> {
    conversations: &'a Conversations,
    placed: &'a Placed,
    arrival: Arrival<'a>,
    me: Slot,
    index: u8,
    there: &'a Conversation,
    /// The newest lines of the conversation, newest first.
    lines: Vec<&'a TalkLine>,
}

impl<'a> View<'a> {
    fn of(conversations: &'a Conversations, placed: &'a Placed, me: Slot, index: u8) -> View<'a> {
        let there = &conversations.list[usize::from(index)];
        let lines = conversations.recent().iter().rev().filter(|line| line.conversation == index);
        let lines = lines.take(LOOKED_AT.min(there.lines.into())).collect();
        View { conversations, placed, arrival: placed.arrival(), me, index, there, lines }
    }

    fn put_place(&self, put: &mut impl FnMut(usize, u32)) {
        let (choice, weighed) = (&self.placed.choice, &self.placed.weighed);
        put(IN, (self.index == self.placed.index).into());
        let mine = weighed.candidates[..weighed.used].iter().zip(choice.likely).skip(1);
        let mine = mine
            .filter(|(candidate, _)| self.conversations.line(**candidate).is_some_and(|line| line.author == self.me));
        put(TO_MINE, (mine.map(|(_, likely)| likely).sum::<f32>() * 63.0) as u32);
        put(P_STARTS, (choice.starts * 63.0) as u32);
        put(P_OWN, (choice.to_own * 63.0) as u32);
        put(SURE, (choice.sure * 63.0) as u32);
        put(STARTER, (self.there.starter == self.me).into());
        put(AUTHOR_STARTER, (self.there.starter == self.arrival.author).into());
        put(AUTHOR_IN, self.there.has(self.arrival.author).into());
        put(LINES, log_steps(self.there.lines.into()).into());
        put(OTHERS, self.there.others_than(self.arrival.author).saturating_sub(1));
        put(SPEAKER, if self.there.speaker == self.me { 2 } else { u32::from(self.there.speaker_before == self.me) });
    }

    fn put_lines(&self, put: &mut impl FnMut(usize, u32)) {
        let (me, author) = (self.me, self.arrival.author);
        let by = |slot: Slot| self.lines.iter().filter(|line| line.author == slot).count() as u32;
        let since = self.lines.iter().position(|line| line.author == me);
        put(SINCE, since.map_or(63, |since| since as u32));
        put(MY_LINES, by(me));
        put(MY_SHARE, by(me) * 32 / self.lines.len().max(1) as u32);
        put(AUTHOR_LINES, by(author));
        put(RUN, self.lines.iter().take_while(|line| line.author == author).count() as u32);
        let last_other = self.lines.iter().find(|line| line.author != author);
        put(LAST_OTHER, last_other.is_some_and(|line| line.author == me).into());
        let both = self.lines.iter().map(|line| line.author).filter(|slot| *slot == me || *slot == author);
        let mut before = author;
        put(ALTERNATIONS, both.filter(|slot| std::mem::replace(&mut before, *slot) != *slot).count() as u32);
        let recent = || self.lines.iter().take(RECENT);
        let people =
            recent().filter(|line| line.author != NOBODY).fold(0u128, |people, line| people | 1 << line.author);
        put(OTHERS_RECENT, (people & !(1 << me) & !(1 << author)).count_ones());
        put(MY_RECENT, recent().filter(|line| line.author == me).count() as u32);
        if let Some(mine) = since.map(|since| self.lines[since]) {
            put(MY_QUESTION, 1 + u32::from(mine.reading.question()));
            let to_author = mine.reading.addresses(author) || mine.parent_author == author;
            put(MY_TO_AUTHOR, 1 + u32::from(to_author));
            put(MY_WIDTH, mine.reading.width().into());
        }
    }

    fn put_people(&self, put: &mut impl FnMut(usize, u32)) {
        let people = &self.conversations.people;
        let (me, author) =
            (people.get(self.me).expect("it was found"), people.get(self.arrival.author).expect("it was met"));
        let share = |of: u16, all: u16| u32::from(of) * 16 / u32::from(all.max(1));
        put(MY_SAID, log_steps(me.said.into()).into());
        put(MY_DIRECTED, share(me.directed, me.said));
        put(AUTHOR_SAID, log_steps(author.said.into()).into());
        put(AUTHOR_DIRECTED, share(author.directed, author.said));
        let away = log_steps(self.arrival.at.since(me.last_at()).0 / 500);
        put(AWAY, away.into());
        put(AWAY_USUAL, self.conversations.usual_gap.compare(away));
        put(AWAY_LINES, self.arrival.number.saturating_sub(me.last));
        let (mut mine, mut most) = (0, 0);
        let mut with = [0u32; 128];
        for line in self.conversations.recent() {
            let to = line.reading.to.first().unwrap_or(line.parent_author);
            let other = match (line.author == self.arrival.author, to == self.arrival.author) {
                (true, false) => to,
                (false, true) => line.author,
                _ => continue,
            };
            let count = &mut with[usize::from(other) % 128];
            *count += 1;
            if other == self.me {
                mine = *count;
            } else if other != NOBODY {
                most = most.max(*count);
            }
        }
        put(BOND, mine);
        put(BOND_LEAD, 32 + mine - most.min(32));
    }

    fn put_text(&self, put: &mut impl FnMut(usize, u32)) {
        let reading = self.arrival.reading;
        let address = match (reading.to.first(), reading.addresses(self.me)) {
            (None, _) => 0,
            (Some(_), false) => 1,
            (Some(_), true) => 1 + reading.directness() as u32,
        };
        put(ADDRESS, address);
        put(QUESTION, reading.question().into());
        let marks = [
            (CLOSING, TextMarks::CLOSING),
            (FILLER, TextMarks::FILLER),
            (ASKS, TextMarks::ASKS),
            (CALL, TextMarks::CALL),
            (GREETING, TextMarks::GREETING),
            (UNFINISHED, TextMarks::UNFINISHED),
            (EXCLAIMS, TextMarks::EXCLAIMS),
            (LINK, TextMarks::LINK),
            (CODE, TextMarks::CODE),
            (SMILE, TextMarks::SMILE),
        ];
        for (feature, mark) in marks {
            put(feature, reading.marks().has(mark).into());
        }
        put(WIDTH, reading.width().into());
        put(WORD_STARTS, reading.tells(WordSignal::Starts).into());
        put(WORD_ANSWERED, reading.tells(WordSignal::Answered).into());
        put(WORD_GOES_ON, reading.tells(WordSignal::GoesOn).into());
        put(WORD_DRAWS, reading.tells(WordSignal::Draws).into());
    }

    fn put_parent(&self, put: &mut impl FnMut(usize, u32)) {
        let Some(number) = self.placed.choice.parent else { return };
        let Some(parent) = self.conversations.line(number) else { return };
        put(PARENT_MINE, 1 + u32::from(parent.author == self.me));
        put(PARENT_QUESTION, 1 + u32::from(parent.reading.question()));
        put(PARENT_GAP, self.arrival.number - number);
        put(PARENT_AGO, log_steps(self.arrival.at.since(parent.at()).0 / 500).into());
    }

    fn put_room(&self, put: &mut impl FnMut(usize, u32)) {
        let (lately, usual) = (&self.placed.weighed.lately, self.conversations.usual_gap);
        let last = self.conversations.recent().last();
        let ago = last.map_or(63, |line| log_steps(self.arrival.at.since(line.at()).0 / 500));
        put(LAST_USUAL, usual.compare(ago));
        put(USUAL, usual.steps().into());
        put(PACE, lately.pace.into());
        put(CROWD, lately.crowd.into());
        put(CUSTOM, lately.custom.into());
    }
}
