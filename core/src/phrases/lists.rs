//! Words that call for help, close a talk, or say nothing, in English and Japanese.

use super::set_phrase::is_any;

/// Searched in every text when it arrives. In lower case; Latin ones count as whole words.
pub(crate) const CALLS_FOR_HELP: &[&str] = &[
    "anyone",
    "anybody",
    "somebody",
    "how do i",
    "how can i",
    "does anyone",
    "any idea",
    "any ideas",
    "stuck",
    "誰か",
    "だれか",
    "教えて",
    "おしえて",
    "助けて",
    "たすけて",
    "困った",
    "困って",
    "わからない",
    "分からない",
    "どうすれば",
    "どうしたら",
    "みんなは",
];

/// The same for "help", where the word alone is not enough: "that will help people" calls nobody.
pub(crate) const CALLS_WITH_HELP: &[&str] = &[
    "please help",
    "pls help",
    "plz help",
    "i need help",
    "i need some help",
    "i need a little help",
    "i need a bit of help",
    "i need your help",
    "we need help",
    "we need some help",
    "use some help",
    "any help",
    "help needed",
    "help wanted",
    "help appreciated",
    "someone help",
    "someone to help",
    "can you help",
    "could you help",
    "would you help",
    "who can help",
];

/// Words that call if a clause begins with them.
pub(crate) const CALLS_THAT_BEGIN: &[&str] =
    &["help me", "help us", "help with", "help please", "help pls", "help plz", "need help", "need some help"];

/// Words that call if they are a clause of their own.
pub(crate) const CALLS_ALONE: &[&str] = &["help", "help help"];

/// Searched in every text when it arrives. In lower case; Latin ones count as whole words.
pub(crate) const CLOSINGS: &[&str] = &[
    "thanks",
    "thank you",
    "thx",
    "ty",
    "cheers",
    "bye",
    "goodbye",
    "good night",
    "gn",
    "see you",
    "see ya",
    "cya",
    "gotta go",
    "that's all",
    "ありがとう",
    "有難う",
    "おやすみ",
    "お疲れ様",
    "おつかれ",
    "お疲れさま",
    "またね",
    "じゃあね",
    "失礼します",
    "以上です",
    "以上になります",
    "助かりました",
];

/// The whole message, in lower case, trimmed.
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

/// Whether a text is only laughter or assent.
pub(crate) fn is_filler(text: &str) -> bool {
    is_any(text, FILLERS)
}
