//! The learnt model of who answers whom, compiled in.

use std::sync::LazyLock;

use super::lexicon::Lexicon;
use super::pairs;
use crate::trees::{PackedTrees, PreparedTrees, Trees};

#[derive(Clone, Debug)]
pub struct LinkModel {
    pub lexicon: Lexicon,
    /// Which earlier message is answered.
    pub trees: PreparedTrees<PackedTrees>,
}

static BUILT_IN: LazyLock<LinkModel> = LazyLock::new(|| LinkModel {
    lexicon: Lexicon::parse(include_str!("../../models/words.txt")).expect("the list of words is well formed"),
    trees: Trees::parse(include_str!("../../models/links.txt"), &pairs::FEATURES)
        .expect("the model of links is well formed")
        .into(),
});

impl LinkModel {
    pub fn built_in() -> &'static LinkModel {
        &BUILT_IN
    }

    /// An empty model, with which training begins.
    pub fn empty() -> LinkModel {
        LinkModel { lexicon: Lexicon::default(), trees: Trees::empty().into() }
    }
}
