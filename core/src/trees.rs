//! Boosted decision trees, small enough to evaluate for every message.
//!
//! - A tree is *oblivious*: every level asks one question (`feature > value`) on all branches. The answers, one bit per level,
//!   are the index of the leaf, so a tree is a table lookup without branches.
//! - Features are whole numbers below 64 and leaves are thousandths of log-odds. A sum is integer arithmetic, and [`exp`] uses
//!   plain arithmetic only: the same message has the same likelihood on every machine, which replay and recovery rely on.
//! - [`PreparedTrees`] evaluate fast: one alternative at a time ([`AnswerRows`]), or up to sixteen side by side ([`PackedTrees`]).
//! - [`Trees::contributions`] explains a sum: each answer changes the expected leaf, and that change belongs to its feature.
//! - A model is a text file that can be read and compared; `learn/` writes it.

mod lanes;
mod rows;

use std::ops::Deref;

pub use lanes::PackedTrees;
pub use rows::AnswerRows;

/// Features take values below this.
pub const VALUES: usize = 64;
/// How many alternatives are rated side by side.
pub const LANES: usize = 16;
const DEPTH_MAX: usize = 5;
/// The depth of trees that rate one alternative at a time.
const DEPTH_USUAL: usize = 3;
const LEAVES_MAX: usize = 1 << DEPTH_MAX;
/// Leaves are written in this fraction of log-odds.
pub const SCALE: f32 = 1000.0;

/// A feature of a model: one row of a table. Its words for people are found by its id in `locales/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    pub id: &'static str,
}

/// Declares features once: the index of each in a row of values, and the table of all.
macro_rules! features {
    ($($name:ident $id:literal;)*) => {
        #[derive(Clone, Copy)]
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "they are constants in all but name")]
        enum FeatureIndex { $($name,)* }

        $(const $name: usize = FeatureIndex::$name as usize;)*

        pub const FEATURES: [$crate::trees::Feature; [$(FeatureIndex::$name,)*].len()] =
            [$($crate::trees::Feature { id: $id },)*];
    };
}
pub(crate) use features;

/// The value of each feature for each of the alternatives.
pub type Columns<const N: usize> = [[u8; LANES]; N];

/// The maximum number of trees of a model, and the largest bias in thousandths of log-odds: their sums cannot overflow.
const TREES_MAX: usize = 4000;
const SUM_MAX: i32 = 1_000_000;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trees {
    pub bias: i32,
    pub trees: Vec<Tree>,
    /// Calibrates the sum to log-odds: a factor and a term, in thousandths.
    pub calibration: (i32, i32),
}

/// A split that is always answered with no.
const NEVER: (u8, u8) = (0, 127);

#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    depth: u8,
    /// Which feature is compared, and the value it has to exceed.
    splits: [(u8, u8); DEPTH_MAX],
    leaves: [i16; LEAVES_MAX],
    /// For each leaf, how much of the training data reached it, as a power of two.
    weights: Box<[u8]>,
    /// How much each answer changes the expected value, for the first answer, for the second, and so on.
    changes: Box<[f32]>,
}

impl Trees {
    /// An empty model.
    pub fn empty() -> Trees {
        Trees { calibration: (SCALE as i32, 0), ..Trees::default() }
    }

    /// Reads a model made for these features.
    pub fn parse(text: &str, features: &[Feature]) -> Result<Trees, String> {
        let mut model = Trees::empty();
        for (number, line) in text.lines().enumerate() {
            model.take_line(line, features).map_err(|problem| format!("line {}: {problem}", number + 1))?;
        }
        Ok(model)
    }

    /// Parses one line of a model.
    pub(crate) fn take_line(&mut self, line: &str, features: &[Feature]) -> Result<(), String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "bias" => {
                self.bias = rest.parse().map_err(|_| "no number")?;
                if !(-SUM_MAX..=SUM_MAX).contains(&self.bias) {
                    return Err(format!("the bias must be within {SUM_MAX} of 0, got {rest}"));
                }
            }
            "calibration" => {
                let numbers: Vec<i32> = rest.split(' ').filter_map(|number| number.parse().ok()).collect();
                let [factor, term] = numbers[..] else { return Err("no two numbers".to_owned()) };
                let fits = |number: i32| (-SUM_MAX..=SUM_MAX).contains(&number);
                if factor == 0 || !fits(factor) || !fits(term) {
                    return Err(format!(
                        "the calibration must be two numbers within {SUM_MAX} of 0, the first not 0, got {rest}"
                    ));
                }
                self.calibration = (factor, term);
            }
            "tree" if self.trees.len() >= TREES_MAX => return Err(format!("a model has at most {TREES_MAX} trees")),
            "tree" => self.trees.push(Tree::parse(rest, features)?),
            _ => {}
        }
        Ok(())
    }

    pub fn write(&self, features: &[Feature]) -> String {
        let (factor, term) = self.calibration;
        let mut text = format!("bias {}\ncalibration {factor} {term}\n", self.bias);
        for tree in &self.trees {
            text.push_str("tree ");
            text.push_str(&tree.write(features));
            text.push('\n');
        }
        text
    }

    /// The sum of one alternative.
    pub fn sum(&self, values: &[u8]) -> i32 {
        let values = every(values);
        self.bias + self.trees.iter().map(|tree| i32::from(tree.leaf(&values))).sum::<i32>()
    }

    /// Log-odds from a sum.
    pub fn calibrated(&self, sum: i32) -> f32 {
        let (factor, term) = self.calibration;
        (sum as f32 * factor as f32 / SCALE + term as f32) / SCALE
    }

    /// What each feature adds to the log-odds of one alternative, relative to the average.
    pub fn contributions(&self, values: &[u8], out: &mut [f32]) {
        let values = every(values);
        for tree in &self.trees {
            let index = tree.leaf_index(&values);
            for (level, &(feature, _)) in tree.splits().iter().enumerate() {
                out[usize::from(feature)] += tree.change(index, level) / SCALE * self.calibration.0 as f32 / SCALE;
            }
        }
    }
}

/// Space for every feature index.
type AllFeatures = [u8; 1 << u8::BITS];

fn every(values: &[u8]) -> AllFeatures {
    let mut every = [0; 1 << u8::BITS];
    every[..values.len()].copy_from_slice(values);
    every
}

/// Trees with precomputed data for fast evaluation. They must not change any more, since that data would no longer match.
#[derive(Clone, Debug)]
pub struct PreparedTrees<E> {
    trees: Trees,
    evaluator: E,
}

impl<E: for<'a> From<&'a Trees>> From<Trees> for PreparedTrees<E> {
    fn from(trees: Trees) -> PreparedTrees<E> {
        PreparedTrees { evaluator: E::from(&trees), trees }
    }
}

impl<E> Deref for PreparedTrees<E> {
    type Target = Trees;

    fn deref(&self) -> &Trees {
        &self.trees
    }
}

impl PreparedTrees<AnswerRows> {
    /// The sum of one alternative.
    pub fn sum(&self, values: &[u8]) -> i32 {
        self.trees.bias + self.evaluator.sum(values)
    }
}

impl PreparedTrees<PackedTrees> {
    /// The sums of the first `used` alternatives. Those that soon turn out hopeless are not evaluated completely.
    pub fn sums<const N: usize>(&self, columns: &Columns<N>, used: usize) -> [i32; LANES] {
        self.evaluator.sums(self.trees.bias, columns, used)
    }
}

/// Models that were learnt earlier say `strand` for `conversation`.
fn index_of(id: &str, features: &[Feature]) -> Option<usize> {
    let called = |id: &str| features.iter().position(|feature| feature.id == id);
    called(id).or_else(|| called(&id.replace("strand", "conversation")))
}

impl Tree {
    fn parse(text: &str, features: &[Feature]) -> Result<Tree, String> {
        let mut parts = text.split(" : ");
        let (questions, leaves, weights) = (parts.next(), parts.next(), parts.next());
        let mut splits = Vec::new();
        for question in questions.unwrap_or("").split(' ') {
            let (id, value) = question.split_once('>').ok_or("a question without a value")?;
            let feature = index_of(id, features);
            let feature = feature.ok_or_else(|| format!("no feature is called {id}"))?;
            splits.push((feature as u8, value.parse().map_err(|_| "no number")?));
        }
        let leaves: Vec<i16> = leaves.unwrap_or("").split(' ').filter_map(|leaf| leaf.parse().ok()).collect();
        let weights: Vec<u8> =
            weights.unwrap_or("").bytes().map(|letter| letter.saturating_sub(b'a').min(31)).collect();
        Tree::new(&splits, &leaves, &weights).ok_or_else(|| "a tree of an odd shape".to_owned())
    }

    /// A tree with these splits, a leaf for each combination of answers, and the weight of each.
    pub fn new(splits: &[(u8, u8)], leaves: &[i16], weights: &[u8]) -> Option<Tree> {
        if splits.len() > DEPTH_MAX {
            return None;
        }
        let expected = 1 << splits.len();
        if leaves.len() != expected || weights.len() != expected {
            return None;
        }
        let mut tree = Tree {
            depth: splits.len() as u8,
            splits: [NEVER; DEPTH_MAX],
            leaves: [0; LEAVES_MAX],
            weights: weights.into(),
            changes: Box::default(),
        };
        tree.splits[..splits.len()].copy_from_slice(splits);
        tree.leaves[..expected].copy_from_slice(leaves);
        let answers = (1..=splits.len()).flat_map(|answers| (0..1 << answers).map(move |index| (index, answers)));
        let change = |(index, answers)| tree.mean(index, answers) - tree.mean(index, answers - 1);
        tree.changes = answers.map(change).collect();
        Some(tree)
    }

    pub fn splits(&self) -> &[(u8, u8)] {
        &self.splits[..usize::from(self.depth)]
    }

    fn leaf(&self, values: &AllFeatures) -> i16 {
        self.leaves[self.leaf_index(values)]
    }

    fn write(&self, features: &[Feature]) -> String {
        let used = 1 << self.depth;
        let questions: Vec<String> = self
            .splits()
            .iter()
            .map(|&(feature, value)| format!("{}>{value}", features[usize::from(feature)].id))
            .collect();
        let leaves: Vec<String> = self.leaves[..used].iter().map(i16::to_string).collect();
        let weights: String = self.weights[..used].iter().map(|weight| char::from(b'a' + weight)).collect();
        format!("{} : {} : {weights}", questions.join(" "), leaves.join(" "))
    }

    fn leaf_index(&self, values: &AllFeatures) -> usize {
        let (first, rest) = self.splits.split_at(DEPTH_USUAL);
        let index = |questions: &[(u8, u8)]| {
            let answers = questions.iter().map(|&(feature, value)| values[usize::from(feature)] > value);
            answers.enumerate().map(|(level, yes)| usize::from(yes) << level).sum::<usize>()
        };
        if usize::from(self.depth) <= DEPTH_USUAL {
            return index(first);
        }
        index(first) | index(rest) << DEPTH_USUAL
    }

    /// How much the answer of this level changed the expected value on the way to a leaf.
    fn change(&self, index: usize, level: usize) -> f32 {
        let answered = (1 << (level + 1)) - 1;
        self.changes[answered - 1 + (index & answered)]
    }

    /// The mean of the leaves that share the first answers with this one.
    fn mean(&self, index: usize, answers: usize) -> f32 {
        let known = (1 << answers) - 1;
        let (mut total, mut weight) = (0.0, 0.0);
        for leaf in (0..1usize << self.depth).filter(|leaf| leaf & known == index & known) {
            let one = (1u64 << self.weights[leaf]) as f32;
            total += one * f32::from(self.leaves[leaf]);
            weight += one;
        }
        total / weight
    }
}

/// The probability that belongs to log-odds. Plain arithmetic only, so that it is the same on every machine.
pub fn probability(log_odds: f32) -> f32 {
    1.0 / (1.0 + exp(-log_odds))
}

/// e to the x.
pub fn exp(x: f32) -> f32 {
    let x = x.clamp(-80.0, 80.0) * std::f32::consts::LOG2_E;
    let whole = x.floor();
    let rest = (x - whole) * std::f32::consts::LN_2;
    let series = 1.0
        + rest * (1.0 + rest * (0.5 + rest * (1.0 / 6.0 + rest * (1.0 / 24.0 + rest * (1.0 / 120.0 + rest / 720.0)))));
    series * f32::from_bits(((whole as i32 + 127) as u32) << 23)
}

/// A number on a scale that is fine at the start and coarse later: four steps for each doubling, from 4 on.
pub fn log_steps(number: u64) -> u8 {
    if number < 4 {
        return number as u8;
    }
    let octave = number.ilog2();
    let quarter = (number >> (octave - 2)) & 3;
    (u64::from(octave - 1) * 4 + quarter).min(VALUES as u64 - 1) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEATURES: [Feature; 2] = [Feature { id: "gap" }, Feature { id: "asks" }];
    const MODEL: &str =
        "bias -100\ncalibration 1000 0\ntree gap>3 asks>0 : 100 -50 400 7 : ccaa\ntree asks>0 : -5 5 : aa\n";

    #[test]
    fn a_model_is_a_text_and_answers_alike_alone_and_in_company() {
        let model = Trees::parse(MODEL, &FEATURES).expect("it parses");
        assert_eq!(model.write(&FEATURES), MODEL);
        assert_eq!(model.sum(&[2, 1]), -100 + 400 + 5);
        let mut columns: Columns<2> = [[0; LANES]; 2];
        (columns[0][1], columns[1][1]) = (2, 1);
        let sums = PreparedTrees::<PackedTrees>::from(model).sums(&columns, 2);
        assert_eq!(sums[..2], [-100 + 100 - 5, 305]);
    }

    #[test]
    fn a_model_learnt_earlier_names_features_as_they_were_called() {
        let features = [Feature { id: "conversation_lines" }, Feature { id: "to_in_conversation" }];
        let earlier = "tree strand_lines>3 to_in_strand>0 : 100 -50 400 7 : ccaa\n";
        let model = Trees::parse(earlier, &features).expect("it parses");
        assert!(model.write(&features).contains("tree conversation_lines>3 to_in_conversation>0 :"));
        assert!(Trees::parse("tree strand_width>1 : 1 2 : aa", &features).is_err());
    }

    #[test]
    fn contributions_add_up_to_the_difference_from_everybody() {
        let model = Trees::parse(MODEL, &FEATURES).expect("it parses");
        let mut parts = [0.0; 2];
        model.contributions(&[2, 1], &mut parts);
        let mut others = [0.0; 2];
        model.contributions(&[9, 0], &mut others);
        let difference = (model.sum(&[2, 1]) - model.sum(&[9, 0])) as f32 / SCALE;
        let parts: f32 = parts.iter().sum::<f32>() - others.iter().sum::<f32>();
        assert!((parts - difference).abs() < 1e-5, "{parts} {difference}");
    }

    #[test]
    fn odd_models_are_refused() {
        for odd in [
            "tree gap>3 : 1 : aa",
            "tree age>3 : 1 2 : aa",
            "bias x",
            "calibration 1",
            "tree gap : 1 2 : aa",
            "bias 2147483647",
            "calibration 0 0",
        ] {
            assert!(Trees::parse(odd, &FEATURES).is_err(), "{odd}");
        }
    }

    #[test]
    fn steps_never_fall_and_stay_small() {
        let steps: Vec<u8> = (0..100_000).map(log_steps).collect();
        assert!(steps.is_sorted() && steps[4] == 4 && steps[8] == 8 && steps[10] == 9);
        assert_eq!(log_steps(u64::MAX), 63);
    }

    #[test]
    fn e_is_raised_closely() {
        for x in [-20.0f32, -1.0, -0.1, 0.0, 0.5, 1.0, 10.0] {
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-5, "{x}");
        }
    }
}
