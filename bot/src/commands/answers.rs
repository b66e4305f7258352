//! Sentences that more than one command needs.

use aizuchi_core::room::Cost;
use aizuchi_core::settings::Price;

use super::COMMANDS;
use super::spec::{CommandForm, CommandSpec};
use crate::language::{Language, say};

/// Every available command, one per line.
pub fn help(form: CommandForm, language: Language) -> String {
    let line = |spec: &CommandSpec| {
        say!(language, "command-line", usage = form.write(&spec.usage(language)), help = spec.help(language))
    };
    COMMANDS.iter().filter(|spec| spec.is_offered(form)).map(line).collect::<Vec<_>>().join("\n")
}

pub fn unknown(name: &str, form: CommandForm, language: Language) -> String {
    let head = say!(language, "command-unknown", command = form.write(name));
    format!("{head}\n{}", help(form, language))
}

pub fn wrong_argument(spec: &CommandSpec, form: CommandForm, language: Language) -> String {
    say!(language, "command-wrong-argument", usage = form.write(&spec.usage(language)))
}

pub fn no_memory(language: Language) -> String {
    language.text("command-no-memory")
}

pub fn no_decision(language: Language) -> String {
    language.text("command-why.none")
}

/// What was spent, and the limit if there is one.
pub fn format_cost(spent: Cost, limit: Cost, language: Language) -> String {
    let of = |have: String, most: String, limited: bool| match limited {
        true => say!(language, "cost-limited", have = have, most = most),
        false => have,
    };
    let calls = of(spent.calls.to_string(), limit.calls.to_string(), limit.calls > 0);
    let tokens = of(spent.tokens.to_string(), limit.tokens.to_string(), limit.tokens > 0);
    let money = of(format_dollars(spent.micros), format_dollars(limit.micros), limit.micros > 0);
    say!(language, "cost", calls = calls, tokens = tokens, money = money)
}

/// For the command line.
pub fn format_price(price: Price) -> String {
    format!("${} in and ${} out per million tokens", price.input, price.output)
}

pub(super) fn format_dollars(micros: u64) -> String {
    format!("${}.{:06}", micros / 1_000_000, micros % 1_000_000)
}
