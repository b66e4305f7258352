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
        (Excuse::TooMany, Language::English) => {
            "So many of you called at once that I could not get to everybody. Please ask me again if you still need me."
        }
        (Excuse::TooMany, Language::Japanese) => {
            "いちどにたくさん声をかけてもらったので、全員にはお返事できませんでした。まだ必要なら、もう一度声をかけてください。"
        }
        (Excuse::BudgetSpent, Language::English) => {
            "Sorry, I've used up my words for today. Talk to me again tomorrow."
        }
        (Excuse::BudgetSpent, Language::Japanese) => {
            "ごめんなさい、今日の分のおしゃべりは使い切ってしまいました。また明日話しかけてください。"
        }
    }
}
