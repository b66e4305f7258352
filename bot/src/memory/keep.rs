//! Incoming facts: merged with facts that say the same; facts that no longer hold become former.

use aizuchi_core::memory::{
    ContextTurn, ExportItem, Fact, FactDraft, FactId, Former, Layer, MemoryChange, MergeOutcome, compare, contradicts,
};
use aizuchi_core::types::PersonId;

use super::apply::ChangeApplier;
use super::table::StoreResult;

/// In a former fact that was exported: the one that replaced it is not known here, or not yet.
const ELSEWHERE: FactId = FactId(0);

type NamedPerson = (PersonId, Box<str>);

impl ChangeApplier<'_> {
    pub(super) fn keep(&mut self, mut draft: FactDraft) -> StoreResult<()> {
        draft.confidence = if draft.confidence.is_finite() { draft.confidence.clamp(0.0, 1.0) } else { 0.0 };
        if self.is_unwelcome(&draft)? {
            return Ok(());
        }
        draft.context = self.wanted_turns(draft.context)?;
        let known = self.alike(&draft)?;
        match compare(known.iter(), &draft) {
            MergeOutcome::New => {
                let new = self.keep_new(draft)?;
                self.settle_contradictions(new, known)
            }
            MergeOutcome::Same(id) => {
                self.with_fact(id, |fact| fact.absorb(draft.clone()))?;
                match self.table.fact(id)? {
                    Some(fact) => self.settle_contradictions(fact, known),
                    None => Ok(()),
                }
            }
            MergeOutcome::Replaces(id) => {
                let new = self.keep_new(draft)?;
                let former = Some(Former { by: new.id, since: new.at });
                self.with_fact(id, |fact| fact.former = former)?;
                self.settle_contradictions(new, known)
            }
        }
    }

    fn keep_new(&mut self, draft: FactDraft) -> StoreResult<Fact> {
        let fact = draft.keep(self.table.new_fact()?);
        self.table.put_fact(&fact)?;
        Ok(fact)
    }

    /// Of two contradicting facts, the later one holds. A pinned fact always holds.
    fn settle_contradictions(&mut self, mut new: Fact, known: Vec<Fact>) -> StoreResult<()> {
        for mut fact in known.into_iter().filter(|fact| fact.id != new.id && fact.former.is_none() && !fact.pinned) {
            if !contradicts(&new, &fact) {
                continue;
            }
            if fact.at <= new.at {
                // It may have been replaced by name already.
                fact.former = Some(Former { by: new.id, since: new.at });
                self.table.put_fact(&fact)?;
            } else {
                new.former = Some(Former { by: fact.id, since: fact.at });
                self.table.put_fact(&new)?;
            }
        }
        Ok(())
    }

    /// The same for a fact that was exported: it may be a former one, or the one that replaced another.
    fn settle_imported(&mut self, mut new: Fact, known: Vec<Fact>) -> StoreResult<()> {
        let is_replaced = |fact: &Fact| fact.former.is_some_and(|former| former.by == ELSEWHERE);
        let pairs: Vec<Fact> = known.iter().filter(|fact| contradicts(&new, fact)).cloned().collect();
        if is_replaced(&new) {
            if let Some(by) = pairs.iter().find(|fact| fact.former.is_none()) {
                new.former = new.former.map(|former| Former { by: by.id, ..former });
                self.table.put_fact(&new)?;
            }
            return Ok(());
        }
        for mut fact in pairs.into_iter().filter(is_replaced) {
            fact.former = fact.former.map(|former| Former { by: new.id, ..former });
            self.table.put_fact(&fact)?;
        }
        self.settle_contradictions(new, known)
    }

    /// Facts that these ones had replaced hold again, unless a later one that still holds contradicts them as well.
    pub(super) fn restore_former(&mut self, gone: &[FactId], left: Vec<Fact>) -> StoreResult<()> {
        let is_revived = |fact: &Fact| fact.former.is_some_and(|former| gone.contains(&former.by));
        let (mut revived, mut left): (Vec<Fact>, Vec<Fact>) = left.into_iter().partition(is_revived);
        // Of several, the latest holds first.
        revived.sort_by_key(|fact| std::cmp::Reverse((fact.at, fact.id)));
        for mut fact in revived {
            let replaces = |other: &&Fact| {
                other.former.is_none() && (other.at >= fact.at || other.pinned) && contradicts(other, &fact)
            };
            let by = left.iter().filter(replaces).max_by_key(|other| (other.at, other.id)).filter(|_| !fact.pinned);
            fact.former = by.map(|other| Former { by: other.id, since: other.at });
            self.table.put_fact(&fact)?;
            left.push(fact);
        }
        Ok(())
    }

    pub(super) fn import(&mut self, item: ExportItem) -> StoreResult<()> {
        match item {
            ExportItem::Fact(mut fact) if self.kept.has(Layer::Facts) => {
                fact.context = self.wanted_turns(fact.context)?;
                let known = self.table.facts_alike(&fact.origin.room, &fact.content)?;
                let draft = FactDraft::from(fact.clone());
                if compare(known.iter(), &draft) != MergeOutcome::New || self.is_unwelcome(&draft)? {
                    return fact.into_drafts().into_iter().try_for_each(|draft| self.keep(draft));
                }
                // The fact that replaced it has another number here.
                let former = fact.former.map(|former| Former { by: ELSEWHERE, ..former });
                let fact = Fact { id: self.table.new_fact()?, former, ..fact };
                self.table.put_fact(&fact)?;
                self.settle_imported(fact, known)
            }
            ExportItem::Person(person) if self.kept.has(Layer::People) => {
                let known = self.table.person(&person.id)?.is_some() || self.is_out(&person.id)?;
                match person.opted_out {
                    true => self.change(MemoryChange::OptedOut { person: person.id, out: true }),
                    false if known => Ok(()),
                    false => self.table.put_person(&person),
                }
            }
            ExportItem::Channel(mut channel) if self.kept.has(Layer::Channels) => {
                channel.active = self.wanted_people(channel.active)?;
                // Its marks refer to another journal: the records here are yet to be read.
                let known = self.table.channel(&channel.origin.room)?;
                if known.is_some_and(|known| !known.is_empty()) { Ok(()) } else { self.table.put_channel(&channel) }
            }
            ExportItem::Tie(tie) => self.import_tie(&tie),
            ExportItem::Fact(_) | ExportItem::Person(_) | ExportItem::Channel(_) => Ok(()),
        }
    }

    /// The facts of the room that may say the same or the opposite, and the one it is to replace.
    fn alike(&self, draft: &FactDraft) -> StoreResult<Vec<Fact>> {
        let mut known = self.table.facts_alike(&draft.origin.room, &draft.content)?;
        if let Some(id) = draft.replaces.filter(|id| known.iter().all(|fact| fact.id != *id)) {
            known.extend(self.table.fact(id)?);
        }
        Ok(known)
    }

    /// Without the turns of people who opted out.
    fn wanted_turns(&self, turns: Vec<ContextTurn>) -> StoreResult<Vec<ContextTurn>> {
        let mut wanted = Vec::new();
        for turn in turns {
            if !self.is_out(&turn.person)? {
                wanted.push(turn);
            }
        }
        Ok(wanted)
    }

    /// Without those who opted out.
    pub(super) fn wanted_people(&self, people: Vec<NamedPerson>) -> StoreResult<Vec<NamedPerson>> {
        let mut wanted = Vec::new();
        for (person, name) in people {
            if !self.is_out(&person)? {
                wanted.push((person, name));
            }
        }
        Ok(wanted)
    }

    fn is_unwelcome(&self, draft: &FactDraft) -> StoreResult<bool> {
        for person in &draft.people {
            if self.is_out(person)? {
                return Ok(true);
            }
        }
        Ok(draft.content.trim().is_empty())
    }
}
