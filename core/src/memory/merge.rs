//! Two facts that say the same become one; one that says the opposite replaces the other.
//!
//! What says the same is defined in [`same`]. A merged fact keeps what each draft said and its sources, so that it is reduced
//! to what is left when a message is deleted. It keeps so many and no more: what is said again after that is a fact of its
//! own, since nobody who said it may be lost.
//!
//! [`same`]: super::same

use super::context::add_turns;
use super::same::says_same;
use super::walls::narrower;
use super::{Fact, FactDraft, FactId, Wording};
use crate::types::MessageId;

/// How a new fact relates to the known ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeOutcome {
    New,
    /// It says the same as this one.
    Same(FactId),
    /// This one is no longer true.
    Replaces(FactId),
}

/// Compares with the facts of the draft's own room.
pub fn compare<'a>(known: impl Iterator<Item = &'a Fact> + Clone, draft: &FactDraft) -> MergeOutcome {
    let mut known = known.filter(|fact| fact.origin.room == draft.origin.room);
    if let Some(old) = draft.replaces
        && let Some(fact) = known.clone().find(|fact| fact.id == old && !fact.pinned)
    {
        return match says_same(&fact.content, &draft.content) {
            true if fact.can_absorb(draft) => MergeOutcome::Same(old),
            true => MergeOutcome::New,
            false => MergeOutcome::Replaces(old),
        };
    }
    let same = known.find(|fact| fact.can_absorb(draft) && says_same(&fact.content, &draft.content));
    same.map_or(MergeOutcome::New, |fact| MergeOutcome::Same(fact.id))
}

impl Wording {
    fn is_of(&self, draft: &FactDraft) -> bool {
        (&self.content, &self.keywords, &self.people, &self.messages)
            == (&draft.content, &draft.keywords, &draft.people, &draft.messages)
    }
}

impl Fact {
    /// Whether there is room for another wording, or this one is known.
    fn can_absorb(&self, draft: &FactDraft) -> bool {
        self.wordings.len() < WORDINGS_MAX || self.wordings.iter().any(|wording| wording.is_of(draft))
    }

    /// Merges another that says the same: it rests on both now, with the higher confidence of the two.
    pub fn absorb(&mut self, other: FactDraft) {
        self.confidence = self.confidence.max(other.confidence);
        // It was said again, so it holds.
        self.former = self.former.filter(|former| former.since > other.at);
        self.at = self.at.max(other.at);
        self.shareable &= other.shareable;
        self.origin.visibility = narrower(self.origin.visibility, other.origin.visibility);
        if self.wordings.is_empty() {
            self.wordings.push(Wording {
                content: self.content.clone(),
                keywords: self.keywords.clone(),
                people: self.people.clone(),
                messages: self.messages.clone(),
            });
        }
        let FactDraft { content, keywords, people, messages, context, .. } = other;
        add_turns(&mut self.context, context);
        let wording = Wording { content, keywords, people, messages };
        if self.wordings.len() < WORDINGS_MAX && !self.wordings.contains(&wording) {
            self.wordings.push(wording);
            self.rest_on_wordings();
        }
        if self.wordings.len() == 1 {
            self.wordings.clear();
        }
    }

    /// A message was deleted: what rests on it is removed. Returns whether anything is left: the same statement by others.
    pub fn lose_message(&mut self, message: &MessageId) -> bool {
        self.forget_turns(|turn| turn.message == *message);
        !self.messages.contains(message) || self.lose_wordings(|wording| wording.messages.contains(message))
    }

    /// Removes what was merged from these drafts. Returns whether anything is left.
    pub fn lose_wordings(&mut self, gone: impl Fn(&Wording) -> bool) -> bool {
        self.wordings.retain(|wording| !gone(wording));
        let Some(first) = self.wordings.first() else { return false };
        self.content = first.content.clone();
        self.rest_on_wordings();
        // Nobody knows beside which of the drafts something was said.
        let left = self.messages.clone();
        self.forget_turns(|turn| turn.offset != 0 || !left.contains(&turn.message));
        if self.wordings.len() == 1 {
            self.wordings.clear();
        }
        true
    }

    fn rest_on_wordings(&mut self) {
        (self.keywords, self.people, self.messages) = Default::default();
        for wording in &self.wordings {
            add_new(&mut self.keywords, &wording.keywords);
            add_new(&mut self.people, &wording.people);
            add_new(&mut self.messages, &wording.messages);
        }
    }
}

impl Fact {
    /// The drafts it was merged from, as if they had just been found.
    pub fn into_drafts(mut self) -> Vec<FactDraft> {
        let wordings = std::mem::take(&mut self.wordings);
        let whole = FactDraft::from(self);
        if wordings.is_empty() {
            return vec![whole];
        }
        let draft = |Wording { content, keywords, people, messages }| FactDraft {
            content,
            keywords,
            people,
            messages,
            ..whole.clone()
        };
        wordings.into_iter().map(draft).collect()
    }
}

impl From<Fact> for FactDraft {
    /// As if it had just been found.
    fn from(fact: Fact) -> FactDraft {
        let Fact { origin, content, keywords, people, messages, context, confidence, shareable, at, .. } = fact;
        FactDraft { origin, content, keywords, people, messages, context, confidence, shareable, at, replaces: None }
    }
}

/// How many drafts a fact can be merged from.
const WORDINGS_MAX: usize = 20;

fn add_new<T: PartialEq + Clone>(list: &mut Vec<T>, more: &[T]) {
    for item in more {
        if !list.contains(item) {
            list.push(item.clone());
        }
    }
}

#[cfg(test)]
mod tests;
