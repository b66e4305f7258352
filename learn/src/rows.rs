//! Turns logs into rows of features, by letting the core live through them.

use std::ops::Range;

use aizuchi_core::conversations::{Conversations, pairs};
use aizuchi_core::likelihood;
use aizuchi_measure::labels::entries;
use aizuchi_measure::logs::Channel;
use aizuchi_measure::metrics::Links;

use crate::boost::Matrix;
use crate::models::Models;
use crate::words::heard;

/// Rows for both models, channel by channel.
pub struct Rows {
    pub links: Matrix,
    pub begins: Vec<usize>,
    pub target: Vec<f32>,
    /// Of each group, its channel.
    pub group_channel: Vec<usize>,
    pub join: Vec<likelihood::Values>,
    pub joined: Vec<bool>,
    pub guesses: Vec<f32>,
    pub join_channel: Vec<usize>,
    /// By channel, of each message the place of what it was taken to answer.
    pub guessed: Vec<Vec<usize>>,
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
        guessed: vec![Vec::new(); channels.len()],
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
        let mut conversations = Conversations::default();
        let labels = entries(channel);
        for (index, said) in channel.said.iter().enumerate() {
            let (guess, weighed) =
                likelihood::hear_weighed(&mut conversations, &heard(said), &models.link, &models.join);
            let candidates = &weighed.candidates[..weighed.used];
            let mut indexes = candidates.iter().map(|candidate| *candidate as usize);
            let guessed = indexes.find(|candidate| channel.said[*candidate].id == guess.reply_to);
            self.guessed[number].push(guessed.unwrap_or(index));
            if let Some(joined) = labels[index] {
                self.join.push(guess.features);
                self.joined.push(joined);
                self.guesses.push(guess.p_join);
                self.join_channel.push(number);
            }
            let Some(gold) = &said.gold else { continue };
            self.score.guessed += 1;
            self.score.gold += gold.len() + said.lost;
            self.score.right += usize::from(gold.iter().any(|gold| channel.said[*gold].id == guess.reply_to));
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
}

/// Links of several lives, each with its share, in some of the channels.
#[derive(Default)]
pub struct LinkRows {
    pub matrix: Matrix,
    pub begins: Vec<usize>,
    pub target: Vec<f32>,
    pub share: Vec<f32>,
}

impl LinkRows {
    pub fn of(lives: &[(&Rows, f32)], wanted: impl Fn(usize) -> bool) -> LinkRows {
        let matrix = Matrix::new(pairs::FEATURES.len());
        let mut all = LinkRows { matrix, begins: vec![0], ..LinkRows::default() };
        for &(rows, share) in lives {
            for (group, ends) in rows.begins.windows(2).enumerate() {
                if wanted(rows.group_channel[group]) {
                    all.take(rows, ends[0]..ends[1], share);
                }
            }
        }
        all
    }

    fn take(&mut self, rows: &Rows, group: Range<usize>, share: f32) {
        for (to, from) in self.matrix.columns.iter_mut().zip(&rows.links.columns) {
            to.extend_from_slice(&from[group.clone()]);
        }
        self.matrix.rows += group.len();
        self.target.extend_from_slice(&rows.target[group]);
        self.begins.push(self.matrix.rows);
        self.share.push(share);
    }
}
