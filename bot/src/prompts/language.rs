//! The language of the talk.

use aizuchi_core::Policy;
use aizuchi_core::effect::Transcript;

use crate::language::Language;

/// The language of the settings, or else of the talk; if nobody has said anything, that of the owner's description.
pub fn language_for(policy: &Policy, transcript: &Transcript) -> Language {
    let bot = &policy.settings.bot;
    let described = || Language::of_talk([&*bot.persona, &bot.group, &bot.name]);
    Language::set(&bot.language)
        .or_else(|| Language::of_talk(transcript.lines.iter().map(|line| line.text)))
        .or_else(described)
        .unwrap_or_default()
}
