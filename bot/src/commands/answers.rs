//! Sentences that more than one command needs.

use aizuchi_core::room::Cost;
use aizuchi_core::settings::Price;
use aizuchi_core::types::Span;

use super::COMMANDS;
use super::spec::{CommandForm, CommandSpec};
use crate::language::Language;

/// Every command that is offered there, a line each.
pub fn help(form: CommandForm, language: Language) -> String {
    let line = |spec: &CommandSpec| format!("{} – {}", form.write(&spec.usage(language)), spec.help.of(language));
    COMMANDS.iter().filter(|spec| spec.is_offered(form)).map(line).collect::<Vec<_>>().join("\n")
}

pub fn unknown(name: &str, form: CommandForm, language: Language) -> String {
    let named = form.write(name);
    let head =
        language.choose(format!("There is no command {named}."), format!("{named} というコマンドはありません。"));
    format!("{head}\n{}", help(form, language))
}

pub fn wrong_argument(spec: &CommandSpec, form: CommandForm, language: Language) -> String {
    let usage = form.write(&spec.usage(language));
    language.choose(format!("Not understood. Like this: {usage}"), format!("使い方：{usage}"))
}

pub fn no_memory(language: Language) -> &'static str {
    language.choose("Nothing is remembered for long here.", "ここでは長くは何も覚えていません。")
}

pub fn for_managers(language: Language) -> &'static str {
    language.choose("Only those who manage this place can do that.", "この操作は管理権限のある人だけができます。")
}

pub fn stopping(language: Language) -> &'static str {
    language.choose("aizuchi is stopping.", "aizuchi を停止しています。")
}

pub fn trouble(language: Language) -> &'static str {
    language.choose("That did not work; please try again.", "うまくいきませんでした。もう一度お試しください。")
}

pub fn no_decision(language: Language) -> &'static str {
    language.choose("There is no decision about that yet.", "それについての判断はまだありません。")
}

/// What was spent, and of how much where there is a limit.
pub fn cost(spent: Cost, limit: Cost) -> String {
    amount(spent, limit, Language::English)
}

pub(super) fn amount(spent: Cost, limit: Cost, language: Language) -> String {
    let of = |have: String, most: String, limited: bool| match limited {
        true => language.choose(format!("{have} of {most}"), format!("{have}／{most}")),
        false => have,
    };
    let calls = of(spent.calls.to_string(), limit.calls.to_string(), limit.calls > 0);
    let tokens = of(spent.tokens.to_string(), limit.tokens.to_string(), limit.tokens > 0);
    let money = of(dollars(spent.micros), dollars(limit.micros), limit.micros > 0);
    language
        .choose(format!("{calls} calls, {tokens} tokens, {money}"), format!("{calls} 回、{tokens} トークン、{money}"))
}

pub fn price(price: Price) -> String {
    format!("${} in and ${} out per million tokens", price.input, price.output)
}

pub(super) fn dollars(micros: u64) -> String {
    format!("${}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

pub(super) fn japanese(span: Span) -> String {
    let seconds = span.whole_seconds();
    let parts = [(seconds / 3600, "時間"), (seconds / 60 % 60, "分"), (seconds % 60, "秒")];
    let text: String = parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n}{unit}")).collect();
    if text.is_empty() { "0秒".into() } else { text }
}
