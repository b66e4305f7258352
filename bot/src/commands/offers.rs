//! Commands as data for the page of the web room, which offers them while a person types.

use serde::Serialize;

use super::COMMANDS;
use super::spec::{CommandForm, CommandSpec};
use crate::language::Language;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CommandOffer {
    pub name: &'static str,
    /// Its name in the language of the page.
    pub alias: String,
    /// With its argument, without the slash.
    pub usage: String,
    pub help: String,
    pub takes_argument: bool,
    /// The possible arguments; empty if anything is allowed.
    pub choices: Vec<&'static str>,
}

/// The commands offered in this form.
pub fn offers(form: CommandForm, language: Language) -> Vec<CommandOffer> {
    COMMANDS.iter().filter(|spec| spec.is_offered(form)).map(|spec| to_offer(spec, language)).collect()
}

fn to_offer(spec: &CommandSpec, language: Language) -> CommandOffer {
    CommandOffer {
        name: spec.name,
        alias: spec.alias(language),
        usage: spec.usage(language),
        help: spec.help(language),
        takes_argument: spec.argument.is_some(),
        choices: spec.argument.as_ref().map(|argument| argument.kind.choices()).unwrap_or_default(),
    }
}
