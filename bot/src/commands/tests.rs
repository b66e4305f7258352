//! Every command is everywhere it should be: in the help, on the page, and in logs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use aizuchi_core::Input;
use aizuchi_core::input::Command;
use aizuchi_core::settings::Presets;
use aizuchi_core::types::{PersonId, Place, RoomId};
use aizuchi_formats::parse_line;
use aizuchi_test_servers::folder::Scratch;
use serde_json::json;
use tokio::sync::mpsc;

use super::*;
use crate::journal::Traces;
use crate::language::Language;
use crate::ports::{Caller, Commands as _};
use crate::runtime::{Clock, EngineHandle, ShardRequest};
use crate::stores::Database;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is in the workspace").to_owned()
}

fn offered(form: CommandForm) -> Vec<&'static CommandSpec> {
    COMMANDS.iter().filter(|spec| spec.is_offered(form)).collect()
}

#[test]
fn commands_are_files_and_rows() {
    let files = std::fs::read_dir(root().join("bot/src/commands")).expect("the folder can be listed");
    let declares = |path: &PathBuf| {
        std::fs::read_to_string(path).is_ok_and(|text| text.contains("\npub const COMMAND: CommandSpec"))
    };
    let files: BTreeSet<String> = files
        .map(|entry| entry.expect("an entry").path())
        .filter(declares)
        .filter_map(|path| Some(path.file_stem()?.to_str()?.replace('_', "-")))
        .collect();
    assert_eq!(files, COMMANDS.iter().map(|spec| spec.name.to_owned()).collect());
}

#[test]
fn no_two_commands_share_a_name() {
    let mut called = std::collections::BTreeMap::new();
    for spec in COMMANDS {
        for name in Language::ALL.map(|language| spec.alias(language)).into_iter().chain([spec.name.to_owned()]) {
            assert_eq!(name, name.to_lowercase(), "names are compared in lower case");
            let other = called.insert(name.clone(), spec.name);
            assert!(other.is_none_or(|other| other == spec.name), "{name} is {other:?} and {}", spec.name);
        }
    }
}

#[test]
fn each_is_read_as_its_example_says() {
    for spec in COMMANDS {
        for example in Language::ALL.map(|language| spec.example(language)) {
            let parsed = parse(&example, CommandForm::Bare);
            assert!(
                matches!(parsed, ParsedCommand::Command(read, _) if read.name == spec.name),
                "{example}: {parsed:?}"
            );
        }
    }
}

/// Elsewhere a bare `/mute` belongs to somebody else: no answer names one.
#[test]
fn the_help_lists_each_as_it_is_written_there() {
    for language in Language::ALL {
        for form in [CommandForm::Bare, CommandForm::Prefixed] {
            let help = answers::help(form, language);
            let line = |spec: &&CommandSpec| format!("{} – {}", form.write(&spec.usage(language)), spec.help(language));
            let lines: Vec<String> = offered(form).iter().map(line).collect();
            assert_eq!(help.lines().collect::<Vec<_>>(), lines);
        }
        let form = CommandForm::Prefixed;
        let told = [
            answers::help(form, language),
            answers::unknown("dance", form, language),
            answers::wrong_argument(&COMMANDS[0], form, language),
        ];
        for answer in told {
            let bare = answer.replace("/aizuchi ", "");
            assert!(answer.contains("/aizuchi ") && !bare.contains(" /") && !bare.starts_with('/'), "{answer}");
        }
    }
    assert!(answers::help(CommandForm::Bare, Language::ENGLISH).contains("\n/channel on|off – listen here, or not\n"));
    let (web, elsewhere) = (offered(CommandForm::Bare), offered(CommandForm::Prefixed));
    assert_eq!((web.len(), elsewhere.len()), (COMMANDS.len(), COMMANDS.len() - 1), "one is for the web room alone");
}

#[test]
fn the_page_is_offered_each_with_its_argument() {
    for language in Language::ALL {
        let names: Vec<&str> = offers(CommandForm::Bare, language).iter().map(|offer| offer.name).collect();
        assert_eq!(names, COMMANDS.iter().map(|spec| spec.name).collect::<Vec<_>>());
    }
    let offers = offers(CommandForm::Bare, Language::from_id("ja").unwrap());
    let offer = |name: &str| offers.iter().find(|offer| offer.name == name).expect("it is offered");
    assert_eq!((offer("channel").usage.as_str(), &*offer("channel").choices), ("channel on|off", &["on", "off"][..]));
    assert_eq!(offer("close-room").usage, "close-room [名前]");
    assert!(offer("mute").takes_argument && !offer("status").takes_argument);
}

/// The command that a line of a log with this text means.
fn logged(text: &str) -> Result<Command, String> {
    let line = json!({"ts": 1, "channel": "c", "author": "a", "type": "told", "text": text}).to_string();
    match parse_line(&line, 1)?.expect("an event").input {
        Input::Told(_, command) => Ok(command),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_log_can_hold_each_that_changes_the_engine() {
    for spec in COMMANDS {
        let CommandEffect::Engine { command, .. } = spec.effect else { continue };
        let choices = spec.argument.iter().flat_map(|argument| argument.kind.choices());
        let mut texts: Vec<String> = choices.map(|choice| format!("{} {choice}", spec.name)).collect();
        texts.push(spec.example(Language::ENGLISH));
        if spec.argument.as_ref().is_none_or(|argument| !argument.required) {
            texts.push(spec.name.to_owned());
        }
        for text in texts {
            let ParsedCommand::Command(_, value) = parse(&text, CommandForm::Bare) else {
                panic!("{text} is not read")
            };
            assert_eq!(logged(&text), Ok(command(value.as_ref())), "{text}");
        }
    }
}

/// `/mute` on a full disk was never answered.
#[tokio::test(start_paused = true)]
async fn somebody_who_commands_while_nothing_can_be_stored_is_told_so() {
    let (shard, mut requests) = mpsc::channel(8);
    let (failures, _) = mpsc::unbounded_channel();
    let engine = EngineHandle::new(vec![shard], failures);
    let bot = BotInfo {
        name: "aizuchi".into(),
        model: "offline".into(),
        judge: "offline".into(),
        offline: true,
        local: None,
        preset: "aizuchi".into(),
        presets: Presets::default(),
    };
    let folder = Scratch::new("commands");
    let traces = Traces::new(Database::open(&folder.join("aizuchi.db")).expect("a store"));
    let runner = CommandRunner::new(engine, traces, Clock::Wall, bot, mpsc::channel(1).0);
    let caller = Caller { person: PersonId::new("mia"), manages: true, language: Language::ENGLISH };
    let place = Place { room: RoomId::new("web:lobby"), thread: None };
    let muted = runner.run("/mute 1h", &caller, &place).await;
    assert_eq!(muted, "The server cannot store anything right now. This will be done as soon as it can.");
    assert!(matches!(requests.recv().await, Some(ShardRequest::Input(Input::Told(_, Command::Mute(_)), _))));
    assert_eq!(runner.run("/status", &caller, &place).await, "That did not work; please try again.");
}
