//! `/aizuchi` as Discord shows it: its subcommands in every language, and the command each of them maps to.

use std::sync::Arc;

use serde_json::{Value, json};
use tracing::{debug, warn};

use super::errors::registration_advice;
use super::platform::Discord;
use super::read::{list, text};
use super::rest::with_retries;
use crate::commands::{ArgumentSpec, COMMANDS, CommandForm, CommandSpec};
use crate::language::Language;

pub const NAME: &str = "aizuchi";

const SUBCOMMAND: u8 = 1;
const STRING: u8 = 3;

/// The languages of Discord whose tag is a plain language code. Discord rejects any other tag.
const DISCORD_LANGUAGES: [&str; 24] = [
    "bg", "cs", "da", "de", "el", "fi", "fr", "hi", "hr", "hu", "id", "it", "ja", "ko", "lt", "nl", "no", "pl", "ro",
    "ru", "th", "tr", "uk", "vi",
];

/// A text in every language that Discord supports, by Discord's tag.
fn localizations(text: impl Fn(Language) -> String) -> Value {
    let tag = |language: Language| match language {
        Language::ENGLISH => Some("en-US"),
        other => DISCORD_LANGUAGES.into_iter().find(|tag| *tag == other.id()),
    };
    Language::ALL.iter().filter_map(|language| Some((tag(*language)?, Value::from(text(*language))))).collect()
}

/// The definition that is registered.
pub fn definition() -> Value {
    let doc = |language: Language| language.text("command-all");
    json!([{
        "type": 1, "name": NAME, "description": doc(Language::ENGLISH), "description_localizations": localizations(doc),
        "contexts": [0, 1], "options": offered_commands().map(subcommand).collect::<Vec<_>>(),
    }])
}

fn offered_commands() -> impl Iterator<Item = &'static CommandSpec> {
    COMMANDS.iter().filter(|spec| spec.is_offered(CommandForm::Prefixed))
}

fn subcommand(spec: &CommandSpec) -> Value {
    let doc = |language| capitalised(&spec.help(language));
    json!({
        "type": SUBCOMMAND, "name": spec.name, "description": doc(Language::ENGLISH),
        "name_localizations": localizations(|language| spec.alias(language)),
        "description_localizations": localizations(doc),
        "options": spec.argument.iter().map(|argument| option(spec, argument)).collect::<Vec<_>>(),
    })
}

fn option(spec: &CommandSpec, argument: &ArgumentSpec) -> Value {
    let choices = argument.kind.choices().into_iter().map(|choice| json!({"name": choice, "value": choice}));
    json!({
        "type": STRING, "name": argument.name, "description": spec.argument_help(Language::ENGLISH), "required": argument.required,
        "description_localizations": localizations(|language| spec.argument_help(language)), "choices": choices.collect::<Vec<_>>(),
    })
}

/// Discord shows a description by itself, as a sentence.
fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// The command that an interaction's data maps to: `mute 2h`. `None` for a command that is not ours.
pub fn command_text(data: &Value) -> Option<String> {
    if text(data, "name") != Some(NAME) {
        return None;
    }
    let chosen = list(data, "options").first()?;
    let spec = offered_commands().find(|spec| text(chosen, "name") == Some(spec.name))?;
    let value = list(chosen, "options").first().and_then(|option| text(option, "value")).map(str::trim);
    // Joined into one line: what a user types is an argument, never a second command.
    let value = value.map(|value| value.split_whitespace().collect::<Vec<_>>().join(" "));
    Some(match value.filter(|value| !value.is_empty()) {
        Some(value) => format!("{} {value}", spec.name),
        None => spec.name.to_owned(),
    })
}

const ATTEMPTS_MAX: u32 = 6;

/// Registers the commands globally; with a custom API address, per guild, which takes effect immediately.
pub async fn register(discord: Arc<Discord>, application: u64, guilds: Vec<u64>) {
    let commands = definition();
    let paths = if discord.settings.api_url.is_empty() {
        vec![format!("applications/{application}/commands")]
    } else {
        guilds.iter().map(|guild| format!("applications/{application}/guilds/{guild}/commands")).collect()
    };
    for path in paths {
        match with_retries(ATTEMPTS_MAX, || discord.rest.put(path.clone(), Some(&commands))).await {
            Ok(_) => debug!("registered /aizuchi"),
            Err(error) => warn!(%error, advice = registration_advice(&error), "cannot register /aizuchi"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_chosen_becomes_a_command() {
        let chosen = |subcommand: &str, value: Option<&str>| {
            let options: Vec<Value> = value.iter().map(|value| json!({"name": "x", "value": value})).collect();
            command_text(&json!({"name": "aizuchi", "options": [{"name": subcommand, "options": options}]}))
        };
        assert_eq!(chosen("mute", Some(" 2h ")).as_deref(), Some("mute 2h"));
        assert_eq!(chosen("mute", None).as_deref(), Some("mute"));
        assert_eq!(chosen("channel", Some("off\nreset")).as_deref(), Some("channel off reset"));
        assert_eq!(chosen("dance", None), None);
        assert_eq!(command_text(&json!({"name": "other", "options": []})), None);
    }

    /// Discord's own limits.
    #[test]
    fn names_and_descriptions_are_such_as_discord_takes() {
        for spec in offered_commands() {
            let of_option = spec.argument.iter().map(|argument| argument.name.to_owned());
            let aliases = Language::ALL.map(|language| spec.alias(language));
            for name in aliases.into_iter().chain([spec.name.to_owned()]).chain(of_option) {
                let fine = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | 'ー');
                assert!(name.chars().all(fine) && (1..=32).contains(&name.chars().count()), "{name}");
                assert_eq!(name, name.to_lowercase());
            }
            let docs = Language::ALL.map(|language| spec.help(language));
            let of_option =
                spec.argument.iter().flat_map(|_| Language::ALL.map(|language| spec.argument_help(language)));
            for doc in docs.into_iter().chain(of_option) {
                assert!((1..=100).contains(&doc.chars().count()), "{doc}");
            }
        }
        assert!((1..=25).contains(&offered_commands().count()), "Discord takes 25 subcommands");
    }

    #[test]
    fn every_command_is_registered_in_discords_own_form() {
        let registered = definition();
        let subcommands = registered[0]["options"].as_array().unwrap();
        let names: Vec<&str> = subcommands.iter().map(|subcommand| subcommand["name"].as_str().unwrap()).collect();
        let declared: Vec<&str> = COMMANDS.iter().map(|spec| spec.name).filter(|name| *name != "close-room").collect();
        assert_eq!(names, declared, "all but the one for the web room");
        let (mute, help) = (&subcommands[0], "Say nothing for a while, or until told otherwise");
        assert_eq!((&mute["type"], &mute["name"], &mute["description"]), (&json!(1), &json!("mute"), &json!(help)));
        let (names, docs) = (&mute["name_localizations"], &mute["description_localizations"]);
        assert_eq!((&names["en-US"], &names["ja"]), (&json!("mute"), &json!("ミュート")));
        assert_eq!((&docs["en-US"], &docs["ja"]), (&json!(help), &json!("しばらく、または解除するまで黙る")));
        let duration = &mute["options"][0];
        let doc = "such as 2h, 30m; without one, until further notice";
        assert_eq!(
            (&duration["type"], &duration["name"], &duration["description"]),
            (&json!(3), &json!("duration"), &json!(doc))
        );
        assert_eq!((&duration["required"], &duration["choices"]), (&json!(false), &json!([])));
        let docs = &duration["description_localizations"];
        assert_eq!((&docs["en-US"], &docs["ja"]), (&json!(doc), &json!("2h、30m など。省略すると無期限")));
        let channel = subcommands.iter().find(|subcommand| subcommand["name"] == "channel").unwrap();
        assert_eq!(
            channel["options"][0]["choices"],
            json!([{"name": "on", "value": "on"}, {"name": "off", "value": "off"}])
        );
    }
}
