//! What was learnt, compiled in.

use std::sync::LazyLock;

use super::lexicon::Lexicon;
use super::pairs;
use crate::join;
use crate::join::steps::{self, STEPS};
use crate::trees::Trees;

#[derive(Clone, Debug)]
pub struct Models {
    pub lexicon: Lexicon,
    /// Which earlier message is answered.
    pub links: Trees,
    /// Whether somebody will join.
    pub join: Trees,
    /// Of a thousand messages of people, how many were how likely in the talk it was learnt from.
    pub usual: [f32; STEPS],
}

static BUILT_IN: LazyLock<Models> = LazyLock::new(|| Models {
    lexicon: Lexicon::parse(include_str!("../../models/words.txt")).expect("the list of words is well formed"),
    links: Trees::parse(include_str!("../../models/links.txt"), &pairs::FEATURES)
        .expect("the model of links is well formed"),
    join: Trees::parse(include_str!("../../models/join.txt"), &join::FEATURES)
        .expect("the model of joining is well formed"),
    usual: steps::parse(include_str!("../../models/usual.txt")).expect("the usual likelihoods are well formed"),
});

impl Models {
    pub fn built_in() -> &'static Models {
        &BUILT_IN
    }

    /// Knows nothing yet: what training begins with.
    pub fn empty() -> Models {
        Models {
            lexicon: Lexicon::default(),
            links: Trees::empty(),
            join: Trees::empty(),
            usual: [1000.0 / STEPS as f32; STEPS],
        }
    }
}
