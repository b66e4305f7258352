//! Whether messages were assigned to their own conversation, by how long that had been silent.

use std::collections::HashMap;

use crate::logs::Channel;
use crate::metrics::Links;

/// Silences of a conversation, in milliseconds, from which on a message counts in the next group.
const EDGES: [u64; 3] = [600_000, 3_600_000, 28_800_000];

/// What each group is called: first messages, then by the silence before a follow-up.
pub const GROUPS: [&str; 5] = ["first", "under 10 min", "10-60 min", "1-8 h", "over 8 h"];

/// The right ones and all, for each of [`GROUPS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placements {
    pub groups: [(usize, usize); GROUPS.len()],
    /// First messages that were recognised as such, and all that were taken for one.
    pub starts_right: usize,
    pub starts_guessed: usize,
}

impl Placements {
    /// A follow-up is right if its guess is in its own conversation, a first message if its guess is itself. `guess` gives the
    /// index of what a message was taken to answer.
    pub fn of(channel: &Channel, guess: impl Fn(usize) -> Option<usize>) -> Placements {
        let mut placements = Placements::default();
        for Placement { right, group, starts } in placements_of(channel, guess).into_iter().flatten() {
            let (rights, all) = &mut placements.groups[group];
            (*rights, *all) = (*rights + usize::from(right), *all + 1);
            placements.starts_guessed += usize::from(starts);
            placements.starts_right += usize::from(starts && group == 0);
        }
        placements
    }

    pub fn all(&self) -> usize {
        self.groups.iter().map(|(_, all)| all).sum()
    }

    pub fn right(&self) -> usize {
        self.groups.iter().map(|(right, _)| right).sum()
    }

    /// The share of messages in their own conversation.
    pub fn share(&self) -> f64 {
        self.right() as f64 / self.all().max(1) as f64
    }

    /// The F1 score of first messages.
    pub fn start_f1(&self) -> f64 {
        2.0 * self.starts_right as f64 / (self.groups[0].1 + self.starts_guessed).max(1) as f64
    }

    pub fn add(&mut self, other: Placements) {
        for (mine, theirs) in self.groups.iter_mut().zip(other.groups) {
            *mine = (mine.0 + theirs.0, mine.1 + theirs.1);
        }
        self.starts_right += other.starts_right;
        self.starts_guessed += other.starts_guessed;
    }
}

/// The result of the guess about one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    pub right: bool,
    /// Which of [`GROUPS`] it is in.
    pub group: usize,
    /// Whether it was taken for a first message.
    pub starts: bool,
}

/// The result of the guess about each message; absent if the label is unknown.
pub fn placements_of(channel: &Channel, guess: impl Fn(usize) -> Option<usize>) -> Vec<Option<Placement>> {
    let (conversations, answers) = (channel.conversations(), channel.answers());
    let placement = |(index, group): (usize, Option<usize>)| {
        let (conversation, group) = (conversations[index]?, group?);
        let guess = guess(index).unwrap_or(index);
        let answered = answers[index].as_deref().unwrap_or_default();
        let right = match group {
            0 => guess == index,
            _ => guess != index && (conversations[guess] == Some(conversation) || answered.contains(&guess)),
        };
        Some(Placement { right, group, starts: guess == index })
    };
    groups(channel).into_iter().enumerate().map(placement).collect()
}

/// Which of [`GROUPS`] each message is in; absent if its conversation is unknown.
pub fn groups(channel: &Channel) -> Vec<Option<usize>> {
    let answers = channel.answers();
    let mut last: HashMap<usize, usize> = HashMap::new();
    let group = |(index, conversation): (usize, Option<usize>)| {
        let answered = answers[index].as_deref().unwrap_or_default();
        // The message it answers may have no label of its own.
        let before = last.insert(conversation?, index).or(answered.iter().copied().find(|other| *other < index));
        Some(before.map_or(0, |before| {
            let silence = channel.said[index].at.since(channel.said[before].at).0;
            1 + EDGES.iter().filter(|edge| silence >= **edge).count()
        }))
    };
    channel.conversations().into_iter().enumerate().map(group).collect()
}

/// How many guesses are exactly the message that is answered. `guess` gives nothing where nothing was guessed.
pub fn links_of(channel: &Channel, guess: impl Fn(usize) -> Option<usize>) -> Links {
    let mut links = Links::default();
    for (index, said) in channel.said.iter().enumerate() {
        let Some(gold) = &said.gold else { continue };
        links.gold += gold.len() + said.lost;
        if let Some(guess) = guess(index) {
            links.guessed += 1;
            links.right += usize::from(gold.contains(&guess));
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::parse;

    /// Two topics: a at 0 s, 60 s and after nine hours; b at 30 s. One message in between has no label.
    fn channel() -> Channel {
        let talk = [(0, Some("a")), (30, Some("b")), (40, None), (60, Some("a")), (60 + 9 * 3600, Some("a"))];
        let line = |(index, (ts, label)): (usize, &(u64, Option<&str>))| {
            let label = label.map_or(String::new(), |label| format!(r#", "gold_conversation": "{label}""#));
            format!(r#"{{"ts": {ts}, "channel": "c", "id": "{index}", "author": "x", "text": "t"{label}}}"#)
        };
        let lines: Vec<String> = talk.iter().enumerate().map(line).collect();
        parse(&lines.join("\n")).expect("it parses").remove(0)
    }

    #[test]
    fn a_guess_is_right_in_its_own_conversation_whatever_it_answers_there() {
        let guesses = [0, 1, 1, 0, 0];
        let placements = Placements::of(&channel(), |index| Some(guesses[index]));
        assert_eq!(placements.groups, [(2, 2), (1, 1), (0, 0), (0, 0), (1, 1)]);
        assert_eq!((placements.share(), placements.start_f1()), (1.0, 1.0));
    }

    #[test]
    fn a_reply_is_no_first_message_though_what_it_answers_has_no_label() {
        let line = |ts: u64, label: &str| {
            format!(r#"{{"ts": {ts}, "channel": "c", "id": "{ts}", "author": "x", "text": "t"{label}}}"#)
        };
        let log = [line(0, ""), line(1, r#", "gold_reply_to": ["0"]"#), line(2, r#", "gold_reply_to": ["0"]"#)];
        let channel = parse(&log.join("\n")).expect("it parses").remove(0);
        let placements =
            |guesses: [usize; 3]| Placements::of(&channel, |index| Some(guesses[index])).groups[..2].to_vec();
        assert_eq!(placements([0, 0, 1]), [(0, 0), (2, 2)]);
        assert_eq!(placements([0, 1, 2]), [(0, 0), (0, 2)]);
    }

    #[test]
    fn a_start_too_many_and_an_answer_to_what_nobody_labelled_are_wrong() {
        let guesses = [0, 0, 1, 3, 2];
        let placements = Placements::of(&channel(), |index| Some(guesses[index]));
        assert_eq!(placements.groups, [(1, 2), (0, 1), (0, 0), (0, 0), (0, 1)]);
        assert_eq!((placements.starts_right, placements.starts_guessed), (1, 2));
    }
}
