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

/// Guessed probabilities and what happened.
pub type Outcomes = [(f32, bool)];

fn sorted(outcomes: &Outcomes) -> Vec<(f32, bool)> {
    let mut sorted = outcomes.to_vec();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    sorted
}

/// Runs of equal guesses, highest first: how many happened, how many did not.
fn ties(outcomes: &Outcomes) -> Vec<(f64, f64)> {
    let count = |run: &[(f32, bool)]| {
        let happened = run.iter().filter(|(_, happened)| *happened).count();
        (happened as f64, (run.len() - happened) as f64)
    };
    sorted(outcomes).chunk_by(|a, b| a.0 == b.0).map(count).collect()
}

/// Probability that what happened was guessed higher than what did not.
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

/// Ten groups by guess: how many, mean guess, share that happened.
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
