//! What somebody would guess who reads nothing: a model has to be better than that.

use crate::addressees::Addressees;
use crate::conversations::{Placements, links_of};
use crate::logs::{Channel, Said};
use crate::metrics::Links;

/// The results if every message is taken to answer the one before it in its channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Previous {
    pub links: Links,
    pub placements: Placements,
    pub people: Addressees,
}

impl Previous {
    pub fn of(channel: &Channel) -> Previous {
        let before = |index: usize| Some(index.saturating_sub(1));
        Previous {
            links: links_of(channel, before),
            placements: Placements::of(channel, before),
            people: Addressees::of_answers(channel, before),
        }
    }

    pub fn add(&mut self, other: Previous) {
        self.links.add(other.links);
        self.placements.add(other.placements);
        self.people.add(other.people);
    }
}

/// Whether the message before this one in the channel is by this person: then it is taken to be their turn.
pub fn spoke_just_before(channel: &Channel, index: usize, is_person: impl Fn(&Said) -> bool) -> bool {
    index.checked_sub(1).is_some_and(|before| is_person(&channel.said[before]))
}

/// The results of [`Addressees`] if every message is taken to be for the last other speaker in the channel.
pub fn last_other(channel: &Channel) -> Addressees {
    Addressees::of(channel, |index| {
        let author = channel.said[index].author;
        (0..index).rev().find(|earlier| channel.said[*earlier].author != author)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::parse;

    #[test]
    fn every_message_answers_the_one_before_it() {
        let line = |(index, (author, gold)): (usize, &(&str, usize))| {
            format!(
                r#"{{"ts": {index}, "channel": "c", "id": "{index}", "author": "{author}", "text": "x", "gold_reply_to": ["{gold}"]}}"#
            )
        };
        let talk = [("ann", 0), ("ben", 1), ("cat", 0), ("ben", 2)];
        let lines: Vec<String> = talk.iter().enumerate().map(line).collect();
        let channel = parse(&lines.join("\n")).expect("it parses").remove(0);
        let Previous { links, placements, people } = Previous::of(&channel);
        assert_eq!(people, Addressees { lines: 2, right: 1 });
        assert_eq!(links, Links { guessed: 4, gold: 4, right: 2 });
        // The first one starts; the second one should, and the third one is in the other conversation.
        assert_eq!((placements.right(), placements.groups[..2].to_vec()), (2, vec![(1, 2), (1, 2)]));
        let just_before = |index| spoke_just_before(&channel, index, |said| said.name == "ben");
        assert_eq!([0, 1, 2, 3].map(just_before), [false, false, true, false]);
    }
}
