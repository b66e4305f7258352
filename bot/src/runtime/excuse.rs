//! The friendly line of somebody who was asked and has no answer.

use aizuchi_core::effect::Excuse;
use aizuchi_core::settings::Language;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tongue {
    #[default]
    English,
    Japanese,
}

/// The language somebody writes in: kana and kanji are Japanese enough for an excuse.
pub fn tongue_of(text: &str) -> Tongue {
    let japanese = text.chars().any(|c| matches!(c, '\u{3041}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}'));
    if japanese { Tongue::Japanese } else { Tongue::English }
}

pub fn tongue(wish: Language, heard: Option<&Tongue>) -> Tongue {
    match wish {
        Language::English => Tongue::English,
        Language::Japanese => Tongue::Japanese,
        Language::Auto => heard.copied().unwrap_or_default(),
    }
}

pub fn words(excuse: Excuse, tongue: Tongue) -> &'static str {
    match (excuse, tongue) {
        (Excuse::NoWords, Tongue::English) => "Sorry, I can't find the words right now. Please try me again in a bit.",
        (Excuse::NoWords, Tongue::Japanese) => {
            "ごめんなさい、いまうまく言葉が出てきません。少ししてからもう一度声をかけてください。"
        }
        (Excuse::BudgetSpent, Tongue::English) => "Sorry, I've used up my words for today. Talk to me again tomorrow.",
        (Excuse::BudgetSpent, Tongue::Japanese) => {
            "ごめんなさい、今日の分のおしゃべりは使い切ってしまいました。また明日話しかけてください。"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_excuses_itself_in_the_language_of_the_room() {
        assert_eq!(tongue(Language::Auto, Some(&tongue_of("これ見た?"))), Tongue::Japanese);
        assert_eq!(tongue(Language::Auto, Some(&tongue_of("did you see?"))), Tongue::English);
        assert_eq!(tongue(Language::Japanese, None), Tongue::Japanese);
        assert!(words(Excuse::NoWords, Tongue::Japanese).contains("ごめん"));
    }
}
