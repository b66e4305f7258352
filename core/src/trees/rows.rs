//! Trees prepared for one alternative at a time.
//!
//! Trees share a byte of answers, one bit per question, and the byte is the index of the sum of their leaves. Each value of
//! each feature has a row: the answers of all trees that this value alone turns into a yes. A sum is then the rows of all
//! features put together, and one lookup per byte. Most values are 0, which exceeds nothing and has no row.

use super::{Tree, Trees, VALUES};

/// Questions that share a byte: more would make the tables of leaves too large for a cache.
const QUESTIONS_MAX: usize = 6;
const LEAVES: usize = 1 << QUESTIONS_MAX;
/// Bytes of answers that are put together at once: as many as fit into registers.
const BLOCK: usize = 128;

/// The row of a value that answers nothing with yes.
const NO_ROW: u16 = 0;

#[derive(Clone, Debug)]
pub struct AnswerRows {
    /// Of each feature, the row of each value.
    row_of: Vec<[u16; VALUES]>,
    /// How many rows there are.
    rows: usize,
    /// Block by block, all rows.
    answers: Vec<AnswerBlock>,
    /// Of each byte of answers, the sum of the leaves it leads to.
    leaves: Vec<[i32; LEAVES]>,
}

/// Answers that are put together at once. They begin where a line of the cache does: processors put aligned ones together without
/// loading them first.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct AnswerBlock([u8; BLOCK]);

/// A question, and where its answer is.
struct PlacedQuestion {
    feature: usize,
    exceeds: u8,
    byte: usize,
    bit: usize,
}

impl From<&Trees> for AnswerRows {
    fn from(trees: &Trees) -> AnswerRows {
        let (mut leaves, mut questions, mut used) = (Vec::new(), Vec::new(), LEAVES);
        for tree in &trees.trees {
            if used + tree.splits().len() > QUESTIONS_MAX {
                leaves.push([0; LEAVES]);
                used = 0;
            }
            let byte = leaves.len() - 1;
            add_leaves(tree, used, &mut leaves[byte]);
            for &(feature, exceeds) in tree.splits() {
                questions.push(PlacedQuestion { feature: feature.into(), exceeds, byte, bit: used });
                used += 1;
            }
        }
        leaves.resize(leaves.len().next_multiple_of(BLOCK), [0; LEAVES]);
        let (row_of, lists) = rows_of(&questions);
        let mut answers = vec![AnswerBlock([0; BLOCK]); lists.len() * leaves.len() / BLOCK];
        for (row, list) in lists.iter().enumerate() {
            for question in list {
                let (block, byte) = (question.byte / BLOCK, question.byte % BLOCK);
                answers[block * lists.len() + row].0[byte] |= 1 << question.bit;
            }
        }
        AnswerRows { row_of, rows: lists.len(), answers, leaves }
    }
}

/// Adds the leaves of a tree whose answers begin at this bit.
fn add_leaves(tree: &Tree, bit: usize, leaves: &mut [i32; LEAVES]) {
    let own = (1 << tree.splits().len()) - 1;
    for (answers, sum) in leaves.iter_mut().enumerate() {
        *sum += i32::from(tree.leaves[answers >> bit & own]);
    }
}

/// Of each feature, the row of each value; and of each row, the questions that are answered with yes.
fn rows_of(questions: &[PlacedQuestion]) -> (Vec<[u16; VALUES]>, Vec<Vec<&PlacedQuestion>>) {
    let features = questions.iter().map(|question| question.feature + 1).max().unwrap_or(0);
    let (mut row_of, mut lists) = (vec![[NO_ROW; VALUES]; features], vec![Vec::new()]);
    for (feature, rows) in row_of.iter_mut().enumerate() {
        let asked: Vec<&PlacedQuestion> = questions.iter().filter(|question| question.feature == feature).collect();
        for value in 1..VALUES {
            rows[value] = rows[value - 1];
            if asked.iter().any(|question| usize::from(question.exceeds) == value - 1) {
                rows[value] = u16::try_from(lists.len()).expect("at most a row for each value of each feature");
                let yes = asked.iter().copied().filter(|question| usize::from(question.exceeds) < value);
                lists.push(yes.collect());
            }
        }
    }
    (row_of, lists)
}

impl AnswerRows {
    /// What the trees say of one alternative.
    pub(super) fn sum(&self, values: &[u8]) -> i32 {
        let mut rows = [NO_ROW; 1 << u8::BITS];
        let mut count = 0;
        for (row_of, value) in self.row_of.iter().zip(values) {
            let row = row_of[usize::from(*value) % VALUES];
            rows[count % rows.len()] = row;
            count += usize::from(row != NO_ROW);
        }
        let blocks = self.answers.chunks_exact(self.rows).zip(self.leaves.chunks_exact(BLOCK));
        blocks.map(|(block, leaves)| sum_of_block(block, &rows[..count], leaves)).sum()
    }
}

fn sum_of_block(block: &[AnswerBlock], rows: &[u16], leaves: &[[i32; LEAVES]]) -> i32 {
    let mut answers = [0; BLOCK];
    for row in rows {
        answers.iter_mut().zip(&block[usize::from(*row)].0).for_each(|(answers, row)| *answers |= row);
    }
    answers.iter().zip(leaves).map(|(answers, leaves)| leaves[usize::from(*answers) % LEAVES]).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_say_what_the_trees_say() {
        let mut state = 7u32;
        let mut draw = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % below
        };
        let mut trees = Trees { bias: -70, ..Trees::empty() };
        for _ in 0..300 {
            let depth = draw(6) as usize;
            let splits: Vec<(u8, u8)> = (0..depth).map(|_| (draw(200) as u8, draw(80) as u8)).collect();
            let leaves: Vec<i16> = (0..1 << depth).map(|_| draw(60_000) as i16).collect();
            trees.trees.push(Tree::new(&splits, &leaves, &vec![1; 1 << depth]).expect("a tree of a sound shape"));
        }
        let rows = AnswerRows::from(&trees);
        for _ in 0..200 {
            let values: Vec<u8> = (0..200).map(|_| if draw(2) == 0 { 0 } else { draw(64) as u8 }).collect();
            assert_eq!(trees.bias + rows.sum(&values), trees.sum(&values));
        }
        assert_eq!(AnswerRows::from(&Trees::empty()).sum(&[1, 2]), 0);
    }
}
