//! What a command declares: the web room's offers, Discord's registration, `/help`, Slack's hint and the manual come from it.

use aizuchi_core::input::Command;
use aizuchi_core::types::RoomId;

use super::parse::ArgumentValue;
use super::runner::{CommandCall, CommandError, CommandRunner};
use crate::language::Language;
use crate::ports::BoxFuture;

/// A slash command. It takes at most one argument: everything after its name.
#[derive(Debug)]
pub struct CommandSpec {
    pub name: &'static str,
    pub argument: Option<ArgumentSpec>,
    pub permission: Permission,
    pub offered: OfferedIn,
    pub effect: CommandEffect,
}

#[derive(Debug)]
pub struct ArgumentSpec {
    /// The name on Discord.
    pub name: &'static str,
    pub kind: ArgumentKind,
    pub required: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum ArgumentKind {
    Duration,
    Share,
    MessageId,
    /// One of these.
    Choice(fn() -> Vec<&'static str>),
    /// Names of the caller, separated by commas.
    Names,
    RoomName,
    Number,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    Anybody,
    /// People who may change settings in this place.
    Managers,
    /// The person who opened the room; the web room checks it.
    RoomOpener,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferedIn {
    Everywhere,
    WebRoom,
}

#[derive(Clone, Copy, Debug)]
pub enum CommandEffect {
    /// Changes the engine: it is recorded, so a log can contain it.
    Engine {
        command: fn(Option<&ArgumentValue>) -> Command,
        answer: fn(Option<&ArgumentValue>, CommandCall<'_>) -> String,
    },
    Run(RunCommand),
    /// The same, with what is remembered: that may be elsewhere, and is waited for beside whatever else the caller does.
    Remember(RunCommand),
    /// Run by the web room itself.
    Web(WebEffect),
}

pub type RunCommand = for<'a> fn(
    &'a CommandRunner,
    CommandCall<'a>,
    Option<ArgumentValue>,
) -> BoxFuture<'a, Result<String, CommandError>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebEffect {
    CloseRoom,
}

/// How a command is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandForm {
    /// `/mute`, in the web room.
    Bare,
    /// `/aizuchi mute`, on platforms where other programs have commands too: Slack has its own `/mute`.
    Prefixed,
}

/// The sentences are found by the command's name in `locales/`.
impl CommandSpec {
    /// One line, without a full stop.
    pub fn help(&self, language: Language) -> String {
        language.text(&format!("command-{}", self.name))
    }

    /// Its name in this language, as Discord shows it. It is an alias everywhere.
    pub fn alias(&self, language: Language) -> String {
        language.text(&format!("command-{}.alias", self.name))
    }

    /// An example of its use, without the slash.
    pub fn example(&self, language: Language) -> String {
        language.text(&format!("command-{}.example", self.name))
    }

    /// Its row in the manual.
    pub fn manual(&self, language: Language) -> String {
        language.text(&format!("command-{}.manual", self.name))
    }

    /// The description of its argument.
    pub fn argument_help(&self, language: Language) -> String {
        language.text(&format!("command-{}.argument", self.name))
    }

    /// The command with its argument, as the help shows it: `mute [2h|30m|90s]`, `channel on|off`.
    pub fn usage(&self, language: Language) -> String {
        let Some(argument) = &self.argument else { return self.name.to_owned() };
        let shown = argument.kind.placeholder(language);
        if argument.required { format!("{} {shown}", self.name) } else { format!("{} [{shown}]", self.name) }
    }

    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || Language::ALL.iter().any(|language| self.alias(*language) == name)
    }

    pub fn is_offered(&self, form: CommandForm) -> bool {
        match self.offered {
            OfferedIn::Everywhere => true,
            OfferedIn::WebRoom => form == CommandForm::Bare,
        }
    }
}

impl ArgumentKind {
    /// Empty if anything is allowed.
    pub fn choices(self) -> Vec<&'static str> {
        match self {
            ArgumentKind::Choice(choices) => choices(),
            ArgumentKind::Duration
            | ArgumentKind::Share
            | ArgumentKind::MessageId
            | ArgumentKind::Names
            | ArgumentKind::RoomName
            | ArgumentKind::Number => Vec::new(),
        }
    }

    fn placeholder(self, language: Language) -> String {
        match self {
            ArgumentKind::Duration => "2h|30m|90s".to_owned(),
            ArgumentKind::Share => "3%".to_owned(),
            ArgumentKind::MessageId => "id".to_owned(),
            ArgumentKind::Number => "1".to_owned(),
            ArgumentKind::Choice(choices) => choices().join("|"),
            ArgumentKind::Names => language.text("argument-names"),
            ArgumentKind::RoomName => language.text("argument-room"),
        }
    }
}

impl CommandForm {
    /// The form of the room's platform.
    pub fn of(room: &RoomId) -> CommandForm {
        match room.as_str().split_once(':') {
            Some(("web", _)) => CommandForm::Bare,
            Some(_) | None => CommandForm::Prefixed,
        }
    }

    /// A command as a person types it there.
    pub fn write(self, command: &str) -> String {
        match self {
            CommandForm::Bare => format!("/{command}"),
            CommandForm::Prefixed => format!("/aizuchi {command}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_platform_has_its_form() {
        let form = |room: &str| CommandForm::of(&RoomId::new(room)).write("mute 2h");
        assert_eq!(form("web:lobby"), "/mute 2h");
        assert_eq!((form("discord:1/2"), form("slack:T/C")), ("/aizuchi mute 2h".into(), "/aizuchi mute 2h".into()));
    }
}
