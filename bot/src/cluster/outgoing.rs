//! What is sent to a room at once, in the order in which it is to hear it.
//!
//! What is stored until the room has it is numbered, in the order in which people see it. Several gateways store at the same time, so
//! that between two numbers of one gateway there may be numbers of another, which belong in between.

use aizuchi_core::Time;

use super::state::Stamped;
use crate::ports::Unsent;
use crate::runtime::HandedOn;

#[derive(Debug, Default)]
pub struct OutgoingInputs {
    /// Each with its number, if it is stored, and who waits for it.
    told: Vec<(Stamped, Option<HandedOn>)>,
}

impl OutgoingInputs {
    pub fn push(&mut self, stamped: Stamped) {
        self.told.push((stamped, None));
    }

    /// The same of what somebody waits for.
    pub fn push_waited_for(&mut self, stamped: Stamped, by: HandedOn) {
        self.told.push((stamped, Some(by)));
    }

    pub fn is_empty(&self) -> bool {
        self.told.is_empty()
    }

    /// The highest number.
    pub fn last_stored(&self) -> Option<i64> {
        self.told.iter().filter_map(|(stamped, _)| stamped.number).max()
    }

    /// `unsent` is everything up to the highest number that was not sent to the room yet, in its order. What other gateways have sent
    /// meanwhile is left out. What other gateways have stored is added, each before everything with a higher number.
    pub fn replace_stored(&mut self, unsent: Vec<Unsent>) {
        let mut unsent = unsent.into_iter().peekable();
        let mut merged = Vec::new();
        for (stamped, by) in self.told.drain(..) {
            match stamped.number {
                None => merged.push((stamped, by)),
                Some(number) => {
                    while let Some(next) = unsent.next_if(|unsent| unsent.id <= number) {
                        merged.push((next.into(), None));
                    }
                }
            }
        }
        merged.extend(unsent.map(|unsent| (unsent.into(), None)));
        self.told = merged;
    }

    /// What may be told now, in order: what is not wanted any more is left out for good. `at` is when it is handed over.
    pub fn wanted(&mut self, at: Time) -> Vec<Stamped> {
        self.told.retain(|(_, by)| by.as_ref().is_none_or(HandedOn::is_wanted));
        self.told.iter().map(|(stamped, _)| Stamped { handed_over: Some(at), ..stamped.clone() }).collect()
    }

    /// All of it is with its room. Returns the numbers in it.
    pub fn accepted(self) -> Vec<i64> {
        let mut ids = Vec::new();
        for (stamped, by) in self.told {
            ids.extend(stamped.number);
            if let Some(by) = by {
                by.send(());
            }
        }
        ids
    }
}

impl From<Unsent> for Stamped {
    fn from(Unsent { id, at, input }: Unsent) -> Stamped {
        Stamped { number: Some(id), ..Stamped::new(at, input) }
    }
}

#[cfg(test)]
mod tests {
    use aizuchi_core::Input;

    use super::*;

    fn stamped(at: u64) -> Stamped {
        Stamped::new(Time(at), Input::Tick)
    }

    fn unsent(id: i64) -> Unsent {
        Unsent { id, at: Time(id.cast_unsigned()), input: Input::Tick }
    }

    fn parts(mut telling: OutgoingInputs) -> (Vec<u64>, Vec<i64>) {
        let told = telling.wanted(Time(1)).iter().map(|stamped| stamped.at.0).collect();
        (told, telling.accepted())
    }

    /// A room heard 50, 54, 52, 53 once: what another gateway stored between two messages of this one came after both.
    #[test]
    fn what_others_stored_in_between_is_told_in_between() {
        let mut outgoing = OutgoingInputs::default();
        outgoing.push(stamped(1_000));
        outgoing.push(unsent(50).into());
        outgoing.push(stamped(1_001));
        outgoing.push(unsent(54).into());
        assert_eq!(outgoing.last_stored(), Some(54));
        outgoing.replace_stored([48, 49, 50, 52, 53, 54].map(unsent).into());
        let (order, ids) = parts(outgoing);
        assert_eq!(order, [1_000, 48, 49, 50, 1_001, 52, 53, 54]);
        assert_eq!(ids, [48, 49, 50, 52, 53, 54]);
    }

    #[test]
    fn what_another_gateway_has_told_meanwhile_is_not_told_again() {
        let mut outgoing = OutgoingInputs::default();
        outgoing.push(unsent(7).into());
        outgoing.push(stamped(1_000));
        outgoing.push(unsent(9).into());
        outgoing.replace_stored(vec![unsent(9)]);
        assert_eq!(parts(outgoing), (vec![1_000, 9], vec![9]));
    }

    /// A room that heard 9 would leave out 8.
    #[test]
    fn what_is_stored_is_told_once_and_in_its_order() {
        let mut outgoing = OutgoingInputs::default();
        for id in [9, 8, 9] {
            outgoing.push(unsent(id).into());
        }
        outgoing.replace_stored([8, 9].map(unsent).into());
        assert_eq!(parts(outgoing), (vec![8, 9], vec![8, 9]));
    }

    #[test]
    fn what_is_not_stored_stays_as_it_came() {
        let mut outgoing = OutgoingInputs::default();
        outgoing.push(stamped(2));
        outgoing.push(stamped(1));
        assert_eq!(outgoing.last_stored(), None);
        assert_eq!(parts(outgoing), (vec![2, 1], Vec::new()));
    }
}
