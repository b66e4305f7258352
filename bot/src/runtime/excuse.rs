//! The friendly line of somebody who was asked and has no answer.

use aizuchi_core::effect::Excuse;

use crate::language::Language;

pub fn words(excuse: Excuse, language: Language) -> &'static str {
    match (excuse, language) {
        (Excuse::NoWords, Language::English) => {
            "Sorry, I can't find the words right now. Please try me again in a bit."
        }
        (Excuse::NoWords, Language::Japanese) => {
            "ごめんなさい、いまうまく言葉が出てきません。少ししてからもう一度声をかけてください。"
        }
        (Excuse::BudgetSpent, Language::English) => {
            "Sorry, I've used up my words for today. Talk to me again tomorrow."
        }
        (Excuse::BudgetSpent, Language::Japanese) => {
            "ごめんなさい、今日の分のおしゃべりは使い切ってしまいました。また明日話しかけてください。"
        }
    }
}
