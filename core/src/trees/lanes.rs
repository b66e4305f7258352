//! Trees prepared for up to sixteen alternatives side by side.
//!
//! Eight values are packed into one `u64`, and one addition answers a question for all eight (a value that exceeds the split
//! carries into the top bit of its byte). All alternatives see the first 16 trees; the best eight see the rest, until one is
//! far ahead.

use super::{Columns, DEPTH_MAX, LANES, LEAVES_MAX, NEVER, Tree, Trees};

/// All alternatives are asked by this many trees, and the best eight of them by the rest, this many at a time, until
/// one is far ahead.
const TREES_FOR_ALL: usize = 16;
const TREES_AT_ONCE: usize = 32;
/// How far that is, in thousandths of log-odds.
const FAR: i32 = 3000;
const EIGHT: usize = 8;

/// One in each byte.
const ONES: u64 = 0x0101_0101_0101_0101;
/// The highest bit of each byte.
const HIGHEST: u64 = ONES << 7;

/// Of each feature that can be named, its values for eight of the alternatives.
type Words = [u64; 1 << u8::BITS];

#[derive(Clone, Debug)]
pub struct PackedTrees(Vec<PackedTree>);

/// In one piece and in this order, as many of them are walked through for each message.
#[derive(Clone, Debug)]
#[repr(C)]
struct PackedTree {
    features: [u8; DEPTH_MAX],
    /// Of each question, what makes eight values that exceed carry into their highest bits.
    carries: [u64; DEPTH_MAX],
    leaves: [i16; LEAVES_MAX],
}

impl From<&Trees> for PackedTrees {
    fn from(trees: &Trees) -> PackedTrees {
        PackedTrees(trees.trees.iter().map(PackedTree::from).collect())
    }
}

impl From<&Tree> for PackedTree {
    fn from(tree: &Tree) -> PackedTree {
        let carries = tree.splits.map(|(_, value)| u64::from(NEVER.1.saturating_sub(value)) * ONES);
        PackedTree { features: tree.splits.map(|(feature, _)| feature), carries, leaves: tree.leaves }
    }
}

impl PackedTrees {
    /// The sums of the first `used` alternatives. Those that soon turn out hopeless are not looked at to the end.
    pub(super) fn sums<const N: usize>(&self, bias: i32, columns: &Columns<N>, used: usize) -> [i32; LANES] {
        let mut sums = [bias; LANES];
        let (first, rest) = self.0.split_at(self.0.len().min(TREES_FOR_ALL));
        let mut words = [0; 1 << u8::BITS];
        for (half, sums) in sums.chunks_mut(EIGHT).enumerate().take(used.div_ceil(EIGHT)) {
            put_half(columns, half, &mut words);
            add::<EIGHT>(first, &words, sums);
        }
        let mut best = best_first(&sums, used);
        let close = |lane: &&usize| sums[**lane] > sums[best[0]] - FAR;
        let close = best[..used.min(EIGHT)].iter().take_while(close).count();
        if close == 1 {
            return sums;
        }
        keep_in_place(&mut best[..close]);
        let mut close_sums = best.map(|lane| sums[lane]);
        match close {
            2 => add_rest::<2, N>(rest, columns, &best, &mut words, &mut close_sums),
            3 => add_rest::<3, N>(rest, columns, &best, &mut words, &mut close_sums),
            4 => add_rest::<4, N>(rest, columns, &best, &mut words, &mut close_sums),
            5 => add_rest::<5, N>(rest, columns, &best, &mut words, &mut close_sums),
            6 => add_rest::<6, N>(rest, columns, &best, &mut words, &mut close_sums),
            7 => add_rest::<7, N>(rest, columns, &best, &mut words, &mut close_sums),
            _ => add_rest::<EIGHT, N>(rest, columns, &best, &mut words, &mut close_sums),
        }
        best[..close].iter().zip(close_sums).for_each(|(lane, sum)| sums[*lane] = sum);
        sums
    }
}

/// The eight alternatives with the highest sums, the highest first; of equal ones the first.
fn best_first(sums: &[i32; LANES], used: usize) -> [usize; EIGHT] {
    let mut order: [i64; LANES] = std::array::from_fn(|lane| lane as i64 - i64::from(sums[lane]) * LANES as i64);
    order[..used].sort_unstable();
    std::array::from_fn(|index| order[index] as usize % LANES)
}

/// Orders alternatives so that each whose index is one of these places is there: most are, and need not be moved.
fn keep_in_place(lanes: &mut [usize]) {
    for index in 0..lanes.len() {
        while lanes[index] != index && lanes[index] < lanes.len() {
            let own = lanes[index];
            lanes.swap(index, own);
        }
    }
}

/// Adds what these trees say of the first `C` of the best alternatives.
fn add_rest<const C: usize, const N: usize>(
    trees: &[PackedTree],
    columns: &Columns<N>,
    best: &[usize; EIGHT],
    words: &mut Words,
    sums: &mut [i32; EIGHT],
) {
    let in_place = (0..C).filter(|index| best[*index] == *index).map(|index| 0xff << (8 * index)).sum::<u64>();
    put_half(columns, 0, words);
    words[..N].iter_mut().for_each(|word| *word &= in_place);
    for index in (0..C).filter(|index| best[*index] != *index) {
        for (word, column) in words.iter_mut().zip(columns) {
            *word |= u64::from(column[best[index] % LANES]) << (8 * index);
        }
    }
    for trees in trees.chunks(TREES_AT_ONCE) {
        add::<C>(trees, words, sums);
        let most = sums[..C].iter().max().unwrap_or(&0);
        if sums[..C].iter().filter(|sum| **sum > most - FAR).count() == 1 {
            break;
        }
    }
}

/// Puts there, of each feature, its values for the first or the last eight alternatives.
fn put_half<const N: usize>(columns: &Columns<N>, half: usize, words: &mut Words) {
    for (word, column) in words.iter_mut().zip(columns) {
        *word = u64::from_le_bytes(column.as_chunks().0[half]);
    }
}

/// Adds what the trees say of the first `C` of eight alternatives. As no value reaches 64, all eight are compared by one
/// addition, which carries into the highest bit of each that exceeds.
fn add<const C: usize>(trees: &[PackedTree], words: &Words, sums: &mut [i32]) {
    let mut added = [0; C];
    for tree in trees {
        // The highest bits of eight bytes, pushed down by the later ones: five answers never reach the next byte.
        let mut answers = 0u64;
        for level in 0..DEPTH_MAX {
            let exceeds = words[usize::from(tree.features[level])] + tree.carries[level];
            answers = (answers >> 1) | (exceeds & HIGHEST);
        }
        // All other bits are 0 already; said again, no index has to be checked below.
        let indexes = (answers >> (8 - DEPTH_MAX)) & (ONES * (LEAVES_MAX as u64 - 1));
        for (lane, sum) in added.iter_mut().enumerate() {
            *sum += i32::from(tree.leaves[usize::from((indexes >> (8 * lane)) as u8)]);
        }
    }
    sums.iter_mut().zip(added).for_each(|(sum, added)| *sum += added);
}
