//! Turns logs into rows of features, by letting the core live through them.

use aizuchi_core::join;
use aizuchi_core::strands::{Models, Strands, pairs};

use crate::boost::Matrix;
use crate::labels::entries;
use crate::logs::Channel;
use crate::metrics::Links;
use crate::words::heard;

/// Rows for both models, channel by channel.
pub struct Rows {
    pub links: Matrix,
    pub begins: Vec<usize>,
    pub target: Vec<f32>,
    /// Of each group, its channel.
    pub group_channel: Vec<usize>,
    pub join: Vec<join::Values>,
    pub joined: Vec<bool>,
    pub guesses: Vec<f32>,
    pub join_channel: Vec<usize>,
    /// How the models themselves did.
    pub score: Links,
    /// Labelled links that were among the alternatives.
    pub reachable: usize,
}

/// Lives through every channel with the models that are meant for it.
pub fn collect<'m>(channels: &[Channel], models: impl Fn(usize) -> &'m Models) -> Rows {
    let mut rows = Rows {
        links: Matrix::new(pairs::FEATURES.len()),
        begins: vec![0],
        target: Vec::new(),
        group_channel: Vec::new(),
        join: Vec::new(),
        joined: Vec::new(),
        guesses: Vec::new(),
        join_channel: Vec::new(),
        score: Links::default(),
        reachable: 0,
    };
    for (number, channel) in channels.iter().enumerate() {
        rows.live(number, channel, models(number));
    }
    rows
}

impl Rows {
    fn live(&mut self, number: usize, channel: &Channel, models: &Models) {
        let mut strands = Strands::default();
        let labels = entries(channel);
        for (place, said) in channel.said.iter().enumerate() {
            let (guess, weighed) = strands.hear_weighed(&heard(said), models);
            if let Some(joined) = labels[place] {
                self.join.push(guess.features);
                self.joined.push(joined);
                self.guesses.push(guess.p_join);
                self.join_channel.push(number);
            }
            let Some(gold) = &said.gold else { continue };
            self.score.guessed += 1;
            self.score.gold += gold.len() + said.lost;
            self.score.right += usize::from(gold.iter().any(|gold| channel.said[*gold].id == guess.reply_to));
            let candidates = &weighed.candidates[..weighed.used];
            let found = candidates.iter().filter(|candidate| gold.contains(&(**candidate as usize))).count();
            self.reachable += found;
            if found == 0 {
                continue;
            }
            for (lane, candidate) in candidates.iter().enumerate() {
                let right = gold.contains(&(*candidate as usize));
                self.target.push(if right { 1.0 / found as f32 } else { 0.0 });
                self.links.push(weighed.columns.iter().map(|column| column[lane]));
            }
            self.begins.push(self.links.rows);
            self.group_channel.push(number);
        }
    }

    /// The rows of some channels: links, where groups begin, targets.
    pub fn links_of(&self, wanted: impl Fn(usize) -> bool) -> (Matrix, Vec<usize>, Vec<f32>) {
        let mut matrix = Matrix::new(pairs::FEATURES.len());
        let (mut begins, mut target) = (vec![0], Vec::new());
        for (group, ends) in self.begins.windows(2).enumerate() {
            if wanted(self.group_channel[group]) {
                for (to, from) in matrix.columns.iter_mut().zip(&self.links.columns) {
                    to.extend_from_slice(&from[ends[0]..ends[1]]);
                }
                matrix.rows += ends[1] - ends[0];
                target.extend_from_slice(&self.target[ends[0]..ends[1]]);
                begins.push(matrix.rows);
            }
        }
        (matrix, begins, target)
    }
}
