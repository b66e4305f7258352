//! The context of a fact: the messages it rests on and those around them. A fact is found by these words too, and they are
//! forgotten with their messages.

use serde::{Deserialize, Serialize};

use super::{Fact, FactDraft};
use crate::types::{MessageId, PersonId, Span, Time};

/// A message that a fact rests on, or one around it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContextTurn {
    pub message: MessageId,
    pub person: PersonId,
    pub name: Box<str>,
    pub at: Time,
    /// 0 for a message the fact rests on, -1 for the one before it, 1 for the one after it.
    #[serde(default)]
    pub offset: i8,
    /// Its beginning. Empty if the fact itself says the same.
    #[serde(default)]
    pub text: Box<str>,
}

/// How many turns are kept with a fact.
pub(super) const TURNS_MAX: usize = 8;
/// How many of the messages it rests on are kept, the first ones.
const OWN_MAX: usize = 3;
/// Which turns are kept before and after each, the nearest first.
const OFFSETS: [i8; 4] = [-1, 1, -2, 2];
const TEXT_CHARS: usize = 300;
/// What was said longer before or after belongs to another conversation.
const SAME_TALK: Span = Span::minutes(3 * 60);

/// The part of a talk that is kept with a fact that says `content` and rests on these messages. The talk is in order.
pub fn context_of(content: &str, messages: &[MessageId], talk: &[ContextTurn]) -> Vec<ContextTurn> {
    let own: Vec<usize> = (0..talk.len()).filter(|at| messages.contains(&talk[*at].message)).take(OWN_MAX).collect();
    let mut context: Vec<ContextTurn> = Vec::new();
    let mut add = |at: usize, offset: i8, text: &str| {
        if context.len() < TURNS_MAX && context.iter().all(|known| known.message != talk[at].message) {
            let text = text.chars().take(TEXT_CHARS).collect::<String>().into();
            context.push(ContextTurn { offset, text, ..talk[at].clone() });
        }
    };
    for at in &own {
        let text = if *talk[*at].text == *content { "" } else { &talk[*at].text };
        add(*at, 0, text);
    }
    for offset in OFFSETS {
        for at in &own {
            let beside = at.checked_add_signed(isize::from(offset)).filter(|beside| *beside < talk.len());
            let Some(beside) = beside.filter(|beside| !messages.contains(&talk[*beside].message)) else { continue };
            let (earlier, later) = (talk[*at].at.min(talk[beside].at), talk[*at].at.max(talk[beside].at));
            if later.since(earlier) <= SAME_TALK {
                add(beside, offset, &talk[beside].text);
            }
        }
    }
    context
}

impl Fact {
    /// When it was said, as far as known.
    pub fn said_at(&self) -> Time {
        self.own_turns().map(|turn| turn.at).min().unwrap_or(self.at)
    }

    /// The messages it rests on, as far as they are kept.
    pub fn own_turns(&self) -> impl Iterator<Item = &ContextTurn> {
        self.context.iter().filter(|turn| turn.offset == 0)
    }

    /// Forgets the turns for which this holds. Returns whether there were any.
    pub fn forget_turns(&mut self, gone: impl Fn(&ContextTurn) -> bool) -> bool {
        let before = self.context.len();
        self.context.retain(|turn| !gone(turn));
        self.context.len() < before
    }

    /// Changes the content. The reason may be what was said, so only author and time are kept of that.
    pub fn edit(&mut self, content: Box<str>, keywords: Vec<Box<str>>) {
        (self.content, self.keywords) = (content, keywords);
        self.wordings.clear();
        self.forget_turns(|turn| turn.offset != 0);
        self.context.iter_mut().for_each(|turn| turn.text = "".into());
    }

    /// The sentence that is embedded: who said it, and what it is about.
    pub fn meaning(&self) -> String {
        let mut text = String::new();
        let mut names: Vec<&str> = Vec::new();
        for turn in self.own_turns() {
            if !self.content.contains(&*turn.name) && !names.contains(&&*turn.name) {
                names.push(&turn.name);
            }
        }
        if !names.is_empty() {
            text = format!("{}: ", names.join(", "));
        }
        text += &self.content;
        for keyword in self.keywords.iter().filter(|keyword| !self.content.contains(&***keyword)) {
            text.push(' ');
            text += keyword;
        }
        text
    }
}

impl FactDraft {
    /// The same with its context in this talk.
    pub fn within(self, talk: &[ContextTurn]) -> FactDraft {
        FactDraft { context: context_of(&self.content, &self.messages, talk), ..self }
    }
}

/// Adds turns that are not known yet, as far as there is space.
pub(super) fn add_turns(known: &mut Vec<ContextTurn>, more: Vec<ContextTurn>) {
    for turn in more {
        if known.len() < TURNS_MAX && known.iter().all(|known| known.message != turn.message) {
            known.push(turn);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fact::tests::fact;
    use super::*;

    fn turn(number: u64, minutes: u64, text: &str) -> ContextTurn {
        ContextTurn {
            message: MessageId::new(format!("m{number}")),
            person: PersonId::new("ann"),
            name: "Ann".into(),
            at: Time(0) + Span::minutes(minutes),
            offset: 0,
            text: text.into(),
        }
    }

    #[test]
    fn a_fact_keeps_the_turns_around_what_it_rests_on_and_no_more() {
        let talk: Vec<ContextTurn> = (0..9).map(|number| turn(number, number, &format!("line {number}"))).collect();
        let kept = |content: &str, messages: &[&str]| -> Vec<(String, i8, String)> {
            let messages: Vec<MessageId> = messages.iter().copied().map(MessageId::new).collect();
            let kept = context_of(content, &messages, &talk);
            kept.iter().map(|turn| (turn.message.to_string(), turn.offset, turn.text.to_string())).collect()
        };
        let expected = [("m4", 0, "line 4"), ("m3", -1, "line 3"), ("m5", 1, "line 5"), ("m2", -2, "line 2")];
        let expected = expected.into_iter().chain([("m6", 2, "line 6")]);
        let expected: Vec<(String, i8, String)> =
            expected.map(|(id, offset, text)| (id.to_owned(), offset, text.to_owned())).collect();
        assert_eq!(kept("a fact", &["m4"]), expected);
        assert_eq!(kept("line 4", &["m4"])[0], ("m4".to_owned(), 0, String::new()), "nothing is kept twice");
        assert_eq!(kept("a fact", &["m0", "m3", "m6", "m8"]).len(), TURNS_MAX);
        assert!(kept("a fact", &["m77"]).is_empty());
        let long = [turn(1, 0, &"x".repeat(1000)), turn(2, 600, "another day")];
        let kept = context_of("a fact", &[MessageId::new("m1")], &long);
        assert_eq!((kept.len(), kept[0].text.len()), (1, TEXT_CHARS));
    }

    #[test]
    fn who_said_it_and_when_is_known_from_its_turns() {
        let mut tea = fact(1, "likes tea");
        assert_eq!((tea.said_at(), tea.meaning()), (Time(0), "likes tea".to_owned()));
        tea.context = vec![turn(1, 5, "I like tea"), ContextTurn { offset: -1, ..turn(0, 4, "and you?") }];
        tea.keywords = vec!["tea".into(), "drink".into()];
        assert_eq!(tea.said_at(), Time(0) + Span::minutes(5));
        assert_eq!(tea.meaning(), "Ann: likes tea drink");
        assert!(tea.forget_turns(|turn| turn.offset == 0) && !tea.forget_turns(|turn| turn.offset == 0));
        assert_eq!(tea.meaning(), "likes tea drink");
    }
}
