//! Who answers whom: learnt, trimmed, faded, and deleted with the people concerned.

use aizuchi_core::memory::{Answered, Layer, MemoryChange, PersonMatcher, TIES_MAX, Tie, weakest_tie};
use aizuchi_core::types::{MessageId, PersonId, RoomId, Time};

use super::apply::ChangeApplier;
use super::table::StoreResult;

impl ChangeApplier<'_> {
    pub(super) fn answer(&mut self, answered: &Answered) -> StoreResult<()> {
        let Answered { origin, from, to, .. } = answered;
        if !self.kept.has(Layer::People) || from == to || self.is_out(from)? || self.is_out(to)? {
            return Ok(());
        }
        let known = self.table.tie(&origin.room, from, to)?;
        let is_new = known.is_none();
        let mut tie = known.unwrap_or_else(|| Tie::new(answered));
        tie.answer(answered);
        self.table.put_tie(&tie)?;
        if is_new { self.trim_ties(&tie, answered.at) } else { Ok(()) }
    }

    /// An existing tie stays as it is, since both counts may be from the same talk.
    pub(super) fn import_tie(&mut self, tie: &Tie) -> StoreResult<()> {
        let Tie { origin, from, to, .. } = tie;
        let known = self.table.tie(&origin.room, from, to)?.is_some();
        if known || !self.kept.has(Layer::People) || self.is_out(from)? || self.is_out(to)? {
            return Ok(());
        }
        self.table.put_tie(tie)?;
        self.trim_ties(tie, tie.last)
    }

    fn trim_ties(&mut self, new: &Tie, at: Time) -> StoreResult<()> {
        let ties = self.table.ties(Some(&new.origin.room), None)?;
        match weakest_tie(&ties, new, at).filter(|_| ties.len() > TIES_MAX) {
            Some(weakest) => self.table.remove_tie(weakest),
            None => Ok(()),
        }
    }

    pub(super) fn fade_ties(&mut self, at: Time) -> StoreResult<()> {
        self.each_tie(|tie| tie.has_faded(at).then_some(None))
    }

    pub(super) fn tie_message_gone(
        &mut self,
        change: &MemoryChange,
        room: &RoomId,
        message: &MessageId,
    ) -> StoreResult<()> {
        for mut tie in self.table.ties_resting_on(room, message)? {
            if tie.apply(change) {
                self.table.put_tie(&tie)?;
            }
        }
        Ok(())
    }

    pub(super) fn narrow_ties(&mut self, change: &MemoryChange, room: &RoomId) -> StoreResult<()> {
        for mut tie in self.table.ties(Some(room), None)? {
            if tie.apply(change) {
                self.table.put_tie(&tie)?;
            }
        }
        Ok(())
    }

    /// Removes a person's ties, and every word of other people's ties that names them.
    pub(super) fn untie_person(&mut self, id: &PersonId, theirs: &PersonMatcher) -> StoreResult<()> {
        self.each_tie(|mut tie| {
            if tie.is_of(id) {
                return Some(None);
            }
            let origin = tie.origin.clone();
            tie.unmention(&|word| theirs.is_named_in(word, &origin)).then_some(Some(tie))
        })
    }

    pub(super) fn untie_room(&mut self, room: &RoomId) -> StoreResult<()> {
        let ties = self.table.ties(Some(room), None)?;
        ties.iter().try_for_each(|tie| self.table.remove_tie(tie))
    }

    /// Goes room by room, since there may be many ties. `None` leaves a tie as it is, `Some(None)` removes it.
    fn each_tie(&mut self, change: impl Fn(Tie) -> Option<Option<Tie>>) -> StoreResult<()> {
        for room in self.table.rooms_with_ties()? {
            for tie in self.table.ties(Some(&room), None)? {
                match change(tie.clone()) {
                    None => (),
                    Some(None) => self.table.remove_tie(&tie)?,
                    Some(Some(changed)) => self.table.put_tie(&changed)?,
                }
            }
        }
        Ok(())
    }
}
