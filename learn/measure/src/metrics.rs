//! How good guesses are.

/// Predicted and true links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Links {
    pub guessed: usize,
    pub gold: usize,
    pub right: usize,
}

impl Links {
    pub fn precision(&self) -> f64 {
        self.right as f64 / self.guessed.max(1) as f64
    }

    pub fn recall(&self) -> f64 {
        self.right as f64 / self.gold.max(1) as f64
    }

    pub fn f1(&self) -> f64 {
        2.0 * self.right as f64 / (self.guessed + self.gold).max(1) as f64
    }

    pub fn add(&mut self, other: Links) {
        self.guessed += other.guessed;
        self.gold += other.gold;
        self.right += other.right;
    }
}

/// Predicted probabilities and what happened.
pub type Outcomes = [(f32, bool)];

fn sorted(outcomes: &Outcomes) -> Vec<(f32, bool)> {
    let mut sorted = outcomes.to_vec();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    sorted
}

/// Groups of equal predictions, highest first: how many happened, how many did not.
fn ties(outcomes: &Outcomes) -> Vec<(f64, f64)> {
    let count = |run: &[(f32, bool)]| {
        let happened = run.iter().filter(|(_, happened)| *happened).count();
        (happened as f64, (run.len() - happened) as f64)
    };
    sorted(outcomes).chunk_by(|a, b| a.0 == b.0).map(count).collect()
}

/// The probability that something that happened has a higher prediction than something that did not.
pub fn auc(outcomes: &Outcomes) -> f64 {
    let (mut above, mut area, mut below) = (0.0, 0.0, 0.0);
    for (happened, not) in ties(outcomes) {
        area += not * (above + happened / 2.0);
        above += happened;
        below += not;
    }
    area / (above * below)
}

/// Mean precision over the recall.
pub fn average_precision(outcomes: &Outcomes) -> f64 {
    let total = outcomes.iter().filter(|(_, happened)| *happened).count() as f64;
    let (mut seen, mut right, mut sum) = (0.0, 0.0, 0.0);
    for (happened, not) in ties(outcomes) {
        right += happened;
        seen += happened + not;
        sum += happened / total * right / seen;
    }
    sum
}

/// Mean squared error of the probabilities.
pub fn brier(outcomes: &Outcomes) -> f64 {
    let error = |(guess, happened): &(f32, bool)| (f64::from(*guess) - f64::from(u8::from(*happened))).powi(2);
    outcomes.iter().map(error).sum::<f64>() / outcomes.len().max(1) as f64
}

/// Ten groups by prediction: how many, mean prediction, share that happened.
pub fn reliability(outcomes: &Outcomes) -> Vec<(usize, f64, f64)> {
    let sorted = sorted(outcomes);
    let group = |group: &[(f32, bool)]| {
        let len = group.len() as f64;
        let guess = group.iter().map(|(guess, _)| f64::from(*guess)).sum::<f64>() / len;
        (group.len(), guess, group.iter().filter(|(_, happened)| *happened).count() as f64 / len)
    };
    let mut groups: Vec<_> = sorted.chunks(sorted.len().div_ceil(10).max(1)).map(group).collect();
    groups.reverse();
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTCOMES: [(f32, bool); 5] = [(0.9, true), (0.8, false), (0.7, true), (0.2, false), (0.2, false)];

    #[test]
    fn order_is_measured_with_ties_in_the_middle() {
        assert!((auc(&OUTCOMES) - 5.0 / 6.0).abs() < 1e-9);
        assert!((average_precision(&OUTCOMES) - (1.0 + 2.0 / 3.0) / 2.0).abs() < 1e-9);
        assert!((auc(&[(0.5, true), (0.5, false)]) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn honesty_is_measured() {
        assert!((brier(&[(1.0, true), (0.5, false)]) - 0.125).abs() < 1e-9);
        let groups = reliability(&OUTCOMES);
        assert_eq!(groups.len(), 5);
        assert!(groups[0].1 < groups[4].1 && groups[4].2 == 1.0);
    }

    #[test]
    fn links_count_what_was_guessed_and_what_was_there() {
        let mut links = Links { guessed: 4, gold: 5, right: 3 };
        links.add(Links { guessed: 1, gold: 0, right: 0 });
        assert_eq!((links.precision(), links.recall(), links.f1()), (0.6, 0.6, 0.6));
    }
}
