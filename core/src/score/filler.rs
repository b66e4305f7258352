//! A word of laughter or assent that asks for nothing.
use super::{Percent, Rule, Scene};

pub const RULE: Rule = Rule { id: "filler", doc: "laughter or assent that asks for nothing", points: -25, strength };

/// The whole message, in lower case, without what stands around it.
const FILLERS: &[&str] = &[
    "lol",
    "lmao",
    "rofl",
    "haha",
    "hahaha",
    "heh",
    "hehe",
    "ok",
    "okay",
    "k",
    "kk",
    "yes",
    "yeah",
    "yep",
    "yup",
    "no",
    "nope",
    "nah",
    "sure",
    "right",
    "true",
    "nice",
    "cool",
    "wow",
    "oh",
    "ah",
    "hm",
    "hmm",
    "hmmm",
    "mm",
    "+1",
    "same",
    "indeed",
    "草",
    "笑",
    "なるほど",
    "うん",
    "うんうん",
    "はい",
    "そう",
    "そうそう",
    "そうだね",
    "そうですね",
    "たしかに",
    "確かに",
    "それな",
    "わかる",
    "いいね",
    "へー",
    "へえ",
    "おお",
    "了解",
    "りょ",
    "おk",
    "ほんとそれ",
    "まじか",
    "マジか",
];

fn strength(scene: &Scene<'_>) -> Percent {
    Percent::all_or_none(is_filler(scene.text))
}

pub fn is_filler(text: &str) -> bool {
    super::words::is_any(text, FILLERS)
}
