//! Probabilities and what happened, by how long the conversation of the message had been silent.

use crate::conversations::GROUPS;
use crate::metrics::Outcomes;

#[derive(Clone, Debug, Default)]
pub struct BySilence {
    outcomes: Vec<(f32, bool)>,
    /// Of each of them, which of [`GROUPS`] it is in.
    silences: Vec<usize>,
}

impl BySilence {
    pub fn push(&mut self, silence: usize, guess: f32, happened: bool) {
        self.outcomes.push((guess, happened));
        self.silences.push(silence);
    }

    pub fn add(&mut self, other: BySilence) {
        self.outcomes.extend(other.outcomes);
        self.silences.extend(other.silences);
    }

    pub fn all(&self) -> &Outcomes {
        &self.outcomes
    }

    /// For each of [`GROUPS`], what is in it.
    pub fn groups(&self) -> [Vec<(f32, bool)>; GROUPS.len()] {
        let mut groups: [Vec<(f32, bool)>; GROUPS.len()] = Default::default();
        self.silences.iter().zip(&self.outcomes).for_each(|(silence, outcome)| groups[*silence].push(*outcome));
        groups
    }
}

/// How many of them happened.
pub fn happened(outcomes: &Outcomes) -> usize {
    outcomes.iter().filter(|(_, happened)| *happened).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_in_the_group_of_its_silence() {
        let mut some = BySilence::default();
        some.push(4, 0.1, false);
        let mut more = BySilence::default();
        more.push(1, 0.9, true);
        more.push(4, 0.2, true);
        some.add(more);
        let groups = some.groups();
        assert_eq!(
            (&groups[0], &groups[1], &groups[4]),
            (&vec![], &vec![(0.9, true)], &vec![(0.1, false), (0.2, true)])
        );
        assert_eq!((some.all().len(), happened(some.all())), (3, 2));
    }
}
