//! The language of the talk.

use aizuchi_core::Policy;
use aizuchi_core::effect::Transcript;

use crate::language::Language;

/// As it is set, or as people talk; where nobody has said a word, as its owner describes it.
pub fn language_for(policy: &Policy, transcript: &Transcript) -> Language {
    let bot = &policy.settings.bot;
    let described = || Language::of_talk([&*bot.persona, &bot.group, &bot.name]);
    Language::set(&bot.language)
        .or_else(|| Language::of_talk(transcript.lines.iter().map(|line| line.text)))
        .or_else(described)
        .unwrap_or_default()
}
