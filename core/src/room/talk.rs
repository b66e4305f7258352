//! How much it should say in a room, as a share of what is said there, and how much it has said.

use serde::{Deserialize, Serialize};

use crate::types::Share;

/// What was asked for with "talk 3%". Old messages count less and less, so that it follows the room as it is now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Talk {
    pub share: Share,
    heard: f64,
    spoke: f64,
    /// How many messages had which score.
    scores: Vec<f64>,
}

/// Messages after which everything counts half.
const FORGET_AFTER: f64 = 400.0;
/// Messages that must have been heard before their scores mean anything.
const HEARD_MIN: f64 = 20.0;
/// Of so many that reach a judge, about one is agreed to.
const ASKED_FOR_ONE: f64 = 4.0;

impl Talk {
    pub fn new(share: Share) -> Talk {
        Talk { share, heard: 0.0, spoke: 0.0, scores: vec![0.0; 101] }
    }

    pub fn note_heard(&mut self, score: Option<u8>) {
        self.heard += 1.0;
        self.scores[usize::from(score.unwrap_or(0)).min(100)] += 1.0;
        if self.heard >= FORGET_AFTER {
            self.heard /= 2.0;
            self.spoke /= 2.0;
            self.scores.iter_mut().for_each(|count| *count /= 2.0);
        }
    }

    pub fn note_spoke(&mut self) {
        self.spoke += 1.0;
    }

    /// How many contributions its share comes to, rounded as people would.
    pub fn due(&self) -> f64 {
        if self.share == Share::NONE { 0.0 } else { self.share.of(self.heard) + 0.5 }
    }

    pub fn spoke(&self) -> f64 {
        self.spoke
    }

    /// At or below which score it stays silent, so that enough of what is said comes before the judge.
    pub fn low(&self, otherwise: u32) -> u32 {
        if self.heard < HEARD_MIN {
            return otherwise;
        }
        let wanted = self.share.of(self.heard) * ASKED_FOR_ONE;
        let mut above = 0.0;
        for (score, count) in self.scores.iter().enumerate().rev() {
            above += count;
            if above > wanted {
                return score as u32;
            }
        }
        0
    }
}
