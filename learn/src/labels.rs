//! What the labels say: at which messages somebody joined.

use std::collections::BTreeSet;

use crate::logs::Channel;

/// Annotated messages at the end of a channel whose answers may lie beyond it.
const TAIL: usize = 30;

/// For each message whether somebody who was not in its conversation answered it; absent where that can not be known.
pub fn entries(channel: &Channel) -> Vec<Option<bool>> {
    let said = &channel.said;
    let annotated: Vec<usize> = (0..said.len()).filter(|place| said[*place].gold.is_some()).collect();
    let counted: BTreeSet<usize> = annotated[..annotated.len().saturating_sub(TAIL)].iter().copied().collect();
    let mut answers: Vec<Vec<u64>> = vec![Vec::new(); said.len()];
    for &place in annotated.iter().filter(|place| !said[**place].bot) {
        for &parent in said[place].gold.iter().flatten().filter(|parent| **parent != place) {
            answers[parent].push(said[place].author);
        }
    }
    let mut talks = Talks::new(said.len());
    let mut labels = vec![None; said.len()];
    for place in 0..said.len() {
        talks.add(place, said[place].author);
        for &parent in said[place].gold.iter().flatten().filter(|parent| **parent < place) {
            talks.join(place, parent);
        }
        if counted.contains(&place) && !said[place].bot {
            let inside = talks.people(place);
            labels[place] = Some(answers[place].iter().any(|author| !inside.contains(author)));
        }
    }
    labels
}

/// The conversations so far: messages that hang together, and who wrote them.
struct Talks {
    root: Vec<usize>,
    people: Vec<BTreeSet<u64>>,
}

impl Talks {
    fn new(len: usize) -> Talks {
        Talks { root: (0..len).collect(), people: vec![BTreeSet::new(); len] }
    }

    fn find(&self, mut place: usize) -> usize {
        while self.root[place] != place {
            place = self.root[place];
        }
        place
    }

    fn add(&mut self, place: usize, author: u64) {
        self.people[place].insert(author);
    }

    fn join(&mut self, later: usize, earlier: usize) {
        let (later, earlier) = (self.find(later), self.find(earlier));
        if later != earlier {
            let people = std::mem::take(&mut self.people[later]);
            self.people[earlier].extend(people);
            self.root[later] = earlier;
        }
    }

    fn people(&self, place: usize) -> &BTreeSet<u64> {
        &self.people[self.find(place)]
    }
}
