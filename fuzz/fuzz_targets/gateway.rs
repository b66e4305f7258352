//! Whatever Discord's gateway sends: names stay on one line, places lead back to their channel, and what is heard is decided.
//!
//! An input is events, one a line, as the gateway sends them: `{"t": kind, "d": data}`.
#![no_main]

use std::sync::LazyLock;

use aizuchi::platforms::discord::places::{Places, channel_of};
use aizuchi::platforms::discord::read::{id, list, text};
use aizuchi::platforms::discord::readable::OwnNames;
use aizuchi::platforms::discord::translate::MessageContext;
use aizuchi_core::types::{Time, Voice};
use aizuchi_core::{Input, Message, Policies};
use aizuchi_fuzz::live;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

const ME: u64 = 100;
const EVENTS_MAX: usize = 50;
/// 2026.
const NOW: Time = Time(1_767_225_600_000);

static POLICIES: LazyLock<Policies> = LazyLock::new(|| Policies::preset("aizuchi").expect("the default is sound"));

fuzz_target!(|events: &str| {
    let own_names = OwnNames::new(["aizuchi"]);
    let mut places = Places::default();
    let mut heard = Vec::new();
    for line in events.lines().take(EVENTS_MAX) {
        let Ok(event) = serde_json::from_str::<Value>(line) else { continue };
        let (kind, data) = (text(&event, "t").unwrap_or_default(), event.get("d").unwrap_or(&Value::Null));
        learn(&mut places, kind, data);
        let context = MessageContext { me: ME, own_names: &own_names, places: &places, guild: id(data, "guild_id") };
        hear(&context, kind, data, &mut heard);
    }
    // Time does not run backwards, whatever ids say.
    let mut now = NOW;
    let talk = heard.into_iter().map(|input| {
        now = Time(now.0 + 1000);
        (now, at(input, now))
    });
    live(POLICIES.clone(), true, talk.collect::<Vec<_>>());
});

fn learn(places: &mut Places, kind: &str, data: &Value) {
    let guild = id(data, "guild_id");
    match kind {
        "GUILD_CREATE" => _ = places.learn_guild(data, ME),
        "GUILD_DELETE" => _ = places.forget_guild(id(data, "id").unwrap_or(0)),
        "CHANNEL_CREATE" | "THREAD_CREATE" => _ = places.learn(data, None),
        "CHANNEL_DELETE" => _ = places.forget(id(data, "id").unwrap_or(0)),
        "GUILD_ROLE_UPDATE" => {
            places.learn_role(data.get("role").unwrap_or(&Value::Null), guild.unwrap_or(0));
        }
        "GUILD_ROLE_DELETE" => places.forget_role(id(data, "role_id").unwrap_or(0), guild.unwrap_or(0)),
        "GUILD_MEMBER_UPDATE" => places.give_roles(list(data, "roles"), guild.unwrap_or(0)),
        _ => (),
    }
}

fn hear(context: &MessageContext<'_>, kind: &str, data: &Value, heard: &mut Vec<Input>) {
    match kind {
        "MESSAGE_CREATE" => {
            let Some(said) = context.to_message(data) else { return };
            check(context, data, &said.message);
            assert_eq!(said.id.to_string(), said.message.id.as_str());
            heard.push(Input::Said(said.message));
        }
        "MESSAGE_UPDATE" => heard.extend(context.to_edit(data, NOW)),
        "MESSAGE_DELETE" | "MESSAGE_DELETE_BULK" => heard.extend(context.to_deletions(data, NOW)),
        "MESSAGE_REACTION_ADD" => heard.extend(context.to_reaction(data, true, NOW)),
        _ => (),
    }
}

fn check(context: &MessageContext<'_>, data: &Value, message: &Message) {
    let channel = id(data, "channel_id").expect("it is said in a channel");
    assert_eq!(channel_of(&message.place), Some(channel), "an answer finds its way back");
    assert!(message.place.room.as_str().starts_with("discord:"));
    assert!(
        context.places.place(channel, context.guild).1 == message.visibility || id(data, "guild_id") != context.guild
    );
    let name = &message.author.name;
    assert!(!name.is_empty() && name.chars().count() <= 100 && !name.contains(char::is_control), "{name:?}");
    let mine = message.author.id.as_str() == format!("discord:{ME}");
    assert_eq!(mine, message.author.voice == Voice::Me, "only its own words are its own");
    assert!(message.mentions.iter().all(|person| person.as_str() != format!("discord:{ME}")));
    // What stands for it is never rewritten.
    let content = text(data, "content").unwrap_or_default();
    let plain = data.get("type").is_none_or(Value::is_null) && !content.trim().is_empty();
    let marks = |text: &str| text.matches(&format!("<@{ME}>")).count();
    assert!(!plain || marks(&message.text) == marks(content), "{:?} of {content:?}", message.text);
    assert!(!plain || message.mentions_me || marks(content) == 0);
}

fn at(input: Input, now: Time) -> Input {
    match input {
        Input::Said(message) => Input::Said(Message { at: now, ..message }),
        other => other,
    }
}
