//! Trains boosted trees: the same data and seed give the same model, byte by byte.

use aizuchi_core::trees::{SCALE, Tree, Trees, VALUES, exp};

/// Values by feature, then by row.
#[derive(Clone, Debug, Default)]
pub struct Matrix {
    pub columns: Vec<Vec<u8>>,
    pub rows: usize,
}

/// What is to be predicted.
pub enum Goal<'a> {
    /// One of the right rows of each group; groups are given by where they begin, and where the last one ends. A group's
    /// weight says how much it counts, compared with others: below 1 it is sampled less often.
    OneOf { begins: &'a [usize], right: &'a [bool], weight: &'a [f32] },
    /// Yes or no for each row, each with its weight.
    Whether { target: &'a [bool], weight: &'a [f32] },
}

#[derive(Clone, Copy, Debug)]
pub struct Growth {
    pub trees: usize,
    pub depth: usize,
    pub rate: f64,
    pub ridge: f64,
    /// The share of the groups, and of the features, that a tree is trained on.
    pub rows: f64,
    pub columns: f64,
    pub seed: u64,
}

impl Matrix {
    pub fn new(features: usize) -> Matrix {
        Matrix { columns: vec![Vec::new(); features], rows: 0 }
    }

    pub fn push(&mut self, values: impl Iterator<Item = u8>) {
        self.columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
        self.rows += 1;
    }

    /// The values of one row.
    pub fn row(&self, row: usize) -> Vec<u8> {
        self.columns.iter().map(|column| column[row]).collect()
    }
}

/// A deterministic number between 0 and 1 for a thing in a tree.
fn chance(seed: u64, tree: usize, thing: usize) -> f64 {
    let mut mixed =
        seed ^ (tree as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (thing as u64).wrapping_mul(0xd1b5_4a32_d192_ed03);
    for factor in [0xbf58_476d_1ce4_e5b9u64, 0x94d0_49bb_1331_11eb] {
        mixed = (mixed ^ (mixed >> 29)).wrapping_mul(factor);
    }
    ((mixed ^ (mixed >> 32)) >> 11) as f64 / (1u64 << 53) as f64
}

pub fn grow(matrix: &Matrix, goal: &Goal<'_>, growth: &Growth) -> Trees {
    let mut model = Trees::empty();
    if let Goal::Whether { target, weight } = goal {
        let all: f64 = weight.iter().map(|weight| f64::from(*weight)).sum();
        let yes: f64 = target.iter().zip(*weight).filter(|(yes, _)| **yes).map(|(_, weight)| f64::from(*weight)).sum();
        model.bias = ((yes / (all - yes)).ln() * f64::from(SCALE)) as i32;
    }
    let sums = vec![model.bias; matrix.rows];
    grow_on(model, sums, matrix, goal, growth, &mut || ())
}

/// Adds trees to a model. `grown` is called after each.
pub fn grow_more(model: &Trees, matrix: &Matrix, goal: &Goal<'_>, growth: &Growth, grown: &mut dyn FnMut()) -> Trees {
    let mut model = model.clone();
    let mut sums: Vec<i32> = (0..matrix.rows).map(|row| model.sum(&matrix.row(row))).collect();
    if let Goal::Whether { target, weight } = goal {
        let shift = shift(&sums, target, weight);
        model.bias += shift;
        sums.iter_mut().for_each(|sum| *sum += shift);
    }
    grow_on(model, sums, matrix, goal, growth, grown)
}

/// By how much all sums are to be shifted so that the expected number equals the observed one.
fn shift(sums: &[i32], target: &[bool], weight: &[f32]) -> i32 {
    let mut shift = 0.0f64;
    for _ in 0..30 {
        let (mut error, mut slope) = (0.0, 1e-9);
        for ((sum, yes), weight) in sums.iter().zip(target).zip(weight) {
            let p = 1.0 / (1.0 + (-(f64::from(*sum) / f64::from(SCALE) + shift)).exp());
            error += f64::from(*weight) * (f64::from(u8::from(*yes)) - p);
            slope += f64::from(*weight) * p * (1.0 - p);
        }
        shift += (error / slope).clamp(-1.0, 1.0);
    }
    (shift * f64::from(SCALE)).round() as i32
}

fn grow_on(
    mut model: Trees,
    mut sums: Vec<i32>,
    matrix: &Matrix,
    goal: &Goal<'_>,
    growth: &Growth,
    grown: &mut dyn FnMut(),
) -> Trees {
    let mut slopes = Slopes { g: vec![0.0; matrix.rows], h: vec![0.0; matrix.rows] };
    for number in 0..growth.trees {
        slopes.of(goal, &sums);
        let sample = Sample::of(matrix, goal, &slopes, growth, number);
        let wanted = |column: &usize| chance(growth.seed ^ 1, number, *column) < growth.columns;
        let columns: Vec<usize> = (0..matrix.columns.len()).filter(wanted).collect();
        let tree = grow_one(matrix, &sample, &columns, growth);
        let mut indexes = vec![0u8; matrix.rows];
        for (level, &(feature, value)) in tree.splits.iter().enumerate() {
            let column = &matrix.columns[usize::from(feature)];
            indexes.iter_mut().zip(column).for_each(|(index, of)| *index |= u8::from(*of > value) << level);
        }
        sums.iter_mut().zip(&indexes).for_each(|(sum, index)| *sum += i32::from(tree.leaves[usize::from(*index)]));
        model.trees.push(Tree::new(&tree.splits, &tree.leaves, &tree.weights).expect("a grown tree is well shaped"));
        grown();
    }
    model
}

/// First and second derivative of the loss at each row.
struct Slopes {
    g: Vec<f32>,
    h: Vec<f32>,
}

impl Slopes {
    fn of(&mut self, goal: &Goal<'_>, sums: &[i32]) {
        match goal {
            Goal::OneOf { begins, right, .. } => {
                for group in begins.windows(2).map(|ends| ends[0]..ends[1]) {
                    let most = sums[group.clone()].iter().copied().max().unwrap_or(0);
                    let odds = |row: usize| exp((sums[row] - most) as f32 / SCALE);
                    let total: f32 = group.clone().map(odds).sum();
                    let rights: f32 = group.clone().filter(|row| right[*row]).map(odds).sum();
                    for row in group {
                        let p = odds(row) / total;
                        // Of several right ones, the one that is already likely is to become more likely.
                        let target = if right[row] { odds(row) / rights.max(f32::MIN_POSITIVE) } else { 0.0 };
                        (self.g[row], self.h[row]) = (p - target, (p * (1.0 - p)).max(1e-4));
                    }
                }
            }
            Goal::Whether { target, weight } => {
                for row in 0..sums.len() {
                    let p = 1.0 / (1.0 + exp(-sums[row] as f32 / SCALE));
                    let error = p - f32::from(u8::from(target[row]));
                    (self.g[row], self.h[row]) = (error * weight[row], (p * (1.0 - p)).max(1e-4) * weight[row]);
                }
            }
        }
    }
}

/// The rows a tree is trained on.
struct Sample {
    rows: Vec<u32>,
    slopes: Vec<[f32; 2]>,
}

/// Rows whose prediction is this close to right are sampled, with higher weights.
const SETTLED: f32 = 0.01;
const SETTLED_SHARE: f32 = 0.2;

impl Sample {
    fn of(matrix: &Matrix, goal: &Goal<'_>, slopes: &Slopes, growth: &Growth, number: usize) -> Sample {
        let taken = |group: usize, share: f32| chance(growth.seed, number, group) < growth.rows * f64::from(share);
        let mut sample = Sample { rows: Vec::new(), slopes: Vec::new() };
        let mut take = |row: usize, times: f32| {
            sample.rows.push(row as u32);
            sample.slopes.push([slopes.g[row] * times, slopes.h[row] * times]);
        };
        match goal {
            Goal::OneOf { begins, weight, .. } => {
                let groups = begins.windows(2).enumerate().filter(|(group, _)| taken(*group, weight[*group].min(1.0)));
                for (group, row) in groups.flat_map(|(group, ends)| (ends[0]..ends[1]).map(move |row| (group, row))) {
                    let times = weight[group].max(1.0);
                    if slopes.g[row].abs() >= SETTLED {
                        take(row, times);
                    } else if chance(growth.seed ^ 2, number, row) < f64::from(SETTLED_SHARE) {
                        take(row, times / SETTLED_SHARE);
                    }
                }
            }
            Goal::Whether { .. } => (0..matrix.rows).filter(|row| taken(*row, 1.0)).for_each(|row| take(row, 1.0)),
        }
        sample
    }
}

fn grow_one(matrix: &Matrix, sample: &Sample, columns: &[usize], growth: &Growth) -> GrownTree {
    let mut indexes = vec![0u8; sample.rows.len()];
    let mut tree = GrownTree::default();
    for level in 0..growth.depth {
        let halves = columns.split_at(columns.len() / 2);
        let look = |columns: &[usize]| best_of(matrix, sample, &indexes, 1 << level, columns, growth.ridge);
        let (one, two) = std::thread::scope(|scope| {
            let other = scope.spawn(|| look(halves.0));
            (look(halves.1), other.join().expect("looking cannot fail"))
        });
        let best = if two.gain >= one.gain { two } else { one };
        if best.gain <= 1e-6 {
            break;
        }
        let column = &matrix.columns[best.column];
        for (index, row) in indexes.iter_mut().zip(&sample.rows) {
            *index |= u8::from(column[*row as usize] > best.value) << level;
        }
        tree.splits.push((best.column as u8, best.value));
    }
    let mut totals = vec![(0.0f64, 0.0f64, 0u64); 1 << tree.splits.len()];
    for (index, [g, h]) in indexes.iter().zip(&sample.slopes) {
        let total = &mut totals[usize::from(*index)];
        (total.0, total.1, total.2) = (total.0 + f64::from(*g), total.1 + f64::from(*h), total.2 + 1);
    }
    for (g, h, rows) in totals {
        let leaf = -g / (h + growth.ridge) * growth.rate * f64::from(SCALE);
        tree.leaves.push(leaf.clamp(-30_000.0, 30_000.0).round() as i16);
        tree.weights.push((rows + 1).ilog2() as u8);
    }
    tree
}

/// A tree in training.
#[derive(Default)]
struct GrownTree {
    splits: Vec<(u8, u8)>,
    leaves: Vec<i16>,
    weights: Vec<u8>,
}

struct Split {
    gain: f64,
    column: usize,
    value: u8,
}

fn best_of(matrix: &Matrix, sample: &Sample, indexes: &[u8], leaves: usize, columns: &[usize], ridge: f64) -> Split {
    let mut best = Split { gain: 0.0, column: 0, value: 0 };
    let worth = |g: f64, h: f64| g * g / (h + ridge);
    let mut table = vec![[0.0f32; 2]; leaves * VALUES];
    for &column in columns {
        table.fill([0.0; 2]);
        let values = &matrix.columns[column];
        for ((row, slope), index) in sample.rows.iter().zip(&sample.slopes).zip(indexes) {
            let cell = &mut table[usize::from(*index) * VALUES + usize::from(values[*row as usize] & 63)];
            cell[0] += slope[0];
            cell[1] += slope[1];
        }
        let mut gains = [0.0f64; VALUES];
        for leaf in table.chunks(VALUES) {
            let sum = |part: usize| leaf.iter().map(|cell| f64::from(cell[part])).sum::<f64>();
            let (all_g, all_h) = (sum(0), sum(1));
            let base = worth(all_g, all_h);
            let (mut g, mut h) = (0.0, 0.0);
            for (gain, cell) in gains.iter_mut().zip(leaf) {
                g += f64::from(cell[0]);
                h += f64::from(cell[1]);
                *gain += worth(g, h) + worth(all_g - g, all_h - h) - base;
            }
        }
        for (value, gain) in gains.iter().enumerate().take(VALUES - 1) {
            if *gain > best.gain {
                best = Split { gain: *gain, column, value: value as u8 };
            }
        }
    }
    best
}
