//! What a room is told at once, in the order in which it is to hear it.
//!
//! What is stored until the room has it is numbered, in the order in which people see it. Several gateways store at the same time, so
//! that between two numbers of one gateway there may be numbers of another, which belong in between.

use std::collections::HashSet;

use super::state::Stamped;
use crate::ports::Unsent;

#[derive(Debug, Default)]
pub struct Telling {
    /// Each with its number, if it is stored.
    told: Vec<(Option<i64>, Stamped)>,
}

impl Telling {
    pub fn push(&mut self, id: Option<i64>, stamped: Stamped) {
        self.told.push((id, stamped));
    }

    pub fn push_stored(&mut self, Unsent { id, at, input }: Unsent) {
        self.push(Some(id), Stamped { at, input });
    }

    /// The highest number.
    pub fn last_stored(&self) -> Option<i64> {
        self.told.iter().filter_map(|(id, _)| *id).max()
    }

    /// `unsent` is everything up to the highest number that no room was told yet. What others have told meanwhile is left out: told
    /// again after something newer, an edit would undo that. What others have stored is added, each before everything with a higher
    /// number.
    pub fn replace_stored(&mut self, unsent: Vec<Unsent>) {
        let numbers: HashSet<i64> = unsent.iter().map(|unsent| unsent.id).collect();
        self.told.retain(|(id, _)| id.is_none_or(|id| numbers.contains(&id)));
        let known: HashSet<i64> = self.told.iter().filter_map(|(id, _)| *id).collect();
        for Unsent { id, at, input } in unsent.into_iter().filter(|unsent| !known.contains(&unsent.id)) {
            let later = self.told.iter().position(|(other, _)| other.is_some_and(|other| other > id));
            self.told.insert(later.unwrap_or(self.told.len()), (Some(id), Stamped { at, input }));
        }
    }

    /// Everything in order, and the numbers in it.
    pub fn into_parts(self) -> (Vec<Stamped>, Vec<i64>) {
        let ids = self.told.iter().filter_map(|(id, _)| *id).collect();
        (self.told.into_iter().map(|(_, stamped)| stamped).collect(), ids)
    }
}

#[cfg(test)]
mod tests {
    use aizuchi_core::{Input, Time};

    use super::*;

    fn stamped(at: u64) -> Stamped {
        Stamped { at: Time(at), input: Input::Tick }
    }

    fn unsent(id: i64) -> Unsent {
        Unsent { id, at: Time(id.cast_unsigned()), input: Input::Tick }
    }

    /// A room heard 50, 54, 52, 53 once: what another gateway stored between two messages of this one came after both.
    #[test]
    fn what_others_stored_in_between_is_told_in_between() {
        let mut telling = Telling::default();
        telling.push(None, stamped(1_000));
        telling.push_stored(unsent(50));
        telling.push(None, stamped(1_001));
        telling.push(Some(54), stamped(54));
        assert_eq!(telling.last_stored(), Some(54));
        telling.replace_stored([48, 49, 50, 52, 53, 54].map(unsent).into());
        let (told, ids) = telling.into_parts();
        let order: Vec<u64> = told.iter().map(|stamped| stamped.at.0).collect();
        assert_eq!(order, [1_000, 48, 49, 50, 1_001, 52, 53, 54]);
        assert_eq!(ids, [48, 49, 50, 52, 53, 54]);
    }

    #[test]
    fn what_another_gateway_has_told_meanwhile_is_not_told_again() {
        let mut telling = Telling::default();
        telling.push(Some(7), stamped(7));
        telling.push(None, stamped(1_000));
        telling.push(Some(9), stamped(9));
        telling.replace_stored(vec![unsent(9)]);
        let (told, ids) = telling.into_parts();
        assert_eq!(told.iter().map(|stamped| stamped.at.0).collect::<Vec<_>>(), [1_000, 9]);
        assert_eq!(ids, [9]);
    }

    #[test]
    fn what_is_not_stored_stays_as_it_came() {
        let mut telling = Telling::default();
        telling.push(None, stamped(2));
        telling.push(None, stamped(1));
        assert_eq!(telling.last_stored(), None);
        let (told, ids) = telling.into_parts();
        assert!(ids.is_empty() && told[0].at.0 == 2 && told[1].at.0 == 1);
    }
}
