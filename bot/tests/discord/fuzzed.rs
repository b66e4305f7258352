//! Payloads that no Discord sends: fields missing, of the wrong kind, or unknown. Nothing stops it from hearing the next.

use aizuchi_test_servers::discord::{BOT, BOT_ID, CHANNEL, GUILD, person};
use aizuchi_test_servers::program::eventually;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

use crate::house::DiscordFixture;

/// One whole event of every kind that is read.
fn events() -> Vec<(&'static str, Value)> {
    let about =
        json!({"id": "50", "message_id": "50", "channel_id": CHANNEL.to_string(), "guild_id": GUILD.to_string()});
    let with = |fields: Value| {
        let mut all: Map<String, Value> = about.as_object().unwrap().clone();
        all.extend(fields.as_object().unwrap().clone());
        Value::Object(all)
    };
    let thread = json!({"id": "901", "type": 11, "parent_id": CHANNEL.to_string(), "guild_id": GUILD.to_string()});
    let message = with(json!({
        "content": "hi <@100> <@12> <@&7> <#901> <:a:5> <t:9>", "author": person(11, "mia"), "member": {"nick": "m"}, "mentions": [{"id": "12"}], "type": 19,
        "message_reference": {"message_id": "49"}, "referenced_message": {"author": {"id": "12"}}, "nonce": "n",
        "attachments": [{"filename": "a", "content_type": "image/png"}], "sticker_items": [{"name": "s"}],
        "embeds": [{"title": "t"}], "message_snapshots": [{"message": {"content": "c"}}], "poll": {"question": {"text": "q"}},
    }));
    let guild = json!({"id": GUILD.to_string(), "roles": [{"id": GUILD.to_string(), "permissions": "1024"}],
        "channels": [{"id": CHANNEL.to_string(), "type": 0, "last_message_id": "5", "permission_overwrites":
            [{"id": GUILD.to_string(), "deny": "1024"}]}], "threads": [thread]});
    let reaction = with(json!({"user_id": "12", "emoji": {"id": null, "name": "👍"}}));
    let order = with(json!({"type": 2, "token": "t", "application_id": "100", "member": {"user": person(11, "mia"),
        "permissions": "8"}, "data": {"name": "aizuchi", "options": [{"name": "why", "options": [{"value": "5"}]}]}}));
    vec![
        ("MESSAGE_CREATE", message.clone()),
        ("MESSAGE_UPDATE", with(json!({"content": "c", "edited_timestamp": "2026-01-01T00:00:00Z"}))),
        ("MESSAGE_DELETE", about.clone()),
        ("MESSAGE_DELETE_BULK", with(json!({"ids": ["1", "2"]}))),
        ("MESSAGE_REACTION_ADD", reaction.clone()),
        ("MESSAGE_REACTION_REMOVE", reaction),
        ("GUILD_CREATE", guild),
        ("GUILD_ROLE_UPDATE", json!({"guild_id": GUILD.to_string(), "role": {"id": "7", "name": "r"}})),
        ("GUILD_ROLE_DELETE", json!({"guild_id": GUILD.to_string(), "role_id": "7"})),
        (
            "GUILD_MEMBER_UPDATE",
            json!({"guild_id": GUILD.to_string(), "user": {"id": BOT.to_string()}, "roles": ["7", "8"]}),
        ),
        ("CHANNEL_UPDATE", json!({"id": "77", "type": 0, "guild_id": GUILD.to_string()})),
        ("THREAD_CREATE", thread.clone()),
        ("THREAD_LIST_SYNC", json!({"guild_id": GUILD.to_string(), "threads": [thread]})),
        ("THREAD_DELETE", json!({"id": "901"})),
        ("INTERACTION_CREATE", order),
        ("NEVER_HEARD_OF", json!({"a": 1})),
        (
            "READY",
            json!({"user": {"id": BOT.to_string()}, "session_id": "s", "resume_gateway_url": "ws://127.0.0.1:1"}),
        ),
    ]
}

fn odd() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!([])),
        Just(json!({})),
        Just(json!([[[null]]])),
        Just(json!({"id": {"id": -1}})),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<u64>().prop_map(|number| number.to_string().into()),
        ".{0,40}".prop_map(Value::from),
    ]
}

/// How many values an event holds.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::Object(fields) => fields.values().map(size).sum::<usize>(),
        Value::Array(items) => items.iter().map(size).sum(),
        _ => 0,
    }
}

/// Puts something else in the place of the value with this number, or takes it away.
fn spoil(value: &mut Value, number: &mut usize, with: &Option<Value>) {
    let keys: Vec<String> = value.as_object().map(|fields| fields.keys().cloned().collect()).unwrap_or_default();
    for key in keys {
        let fields = value.as_object_mut().unwrap();
        match (*number, with) {
            (0, Some(with)) => drop(fields.insert(key, with.clone())),
            (0, None) => drop(fields.remove(&key)),
            _ => {
                *number -= 1;
                spoil(&mut fields[&key], number, with);
                continue;
            }
        }
        *number = usize::MAX;
        return;
    }
    for item in value.as_array_mut().into_iter().flatten() {
        spoil(item, number, with);
    }
}

#[tokio::test]
async fn nothing_it_is_sent_stops_it() {
    let (house, _scratch) = DiscordFixture::open().await;
    let mut runner = TestRunner::deterministic();
    let changes = (any::<usize>(), proptest::option::of(odd()));
    let events = events();
    for round in 0..1500 {
        let (kind, whole) = &events[round % events.len()];
        let mut event = whole.clone();
        for _ in 0..=round % 3 {
            let (number, with) = changes.new_tree(&mut runner).unwrap().current();
            spoil(&mut event, &mut (number % size(whole)), &with);
        }
        // The bot's id does not change on Discord; a session with another one has nothing to compare.
        if *kind == "READY" && event["user"]["id"] != BOT_ID {
            continue;
        }
        house.server.dispatch(kind, event);
    }
    house.server.dispatch("MESSAGE_CREATE", json!({"content": "x".repeat(10_000_000), "id": "1", "channel_id": "2"}));
    house.server.dispatch("MESSAGE_CREATE", json!([1, 2]));
    let thread = json!({"id": CHANNEL.to_string(), "type": 0, "guild_id": GUILD.to_string()});
    house.server.dispatch("CHANNEL_UPDATE", thread);
    let last = house.server.say(CHANNEL, &person(11, "mia"), "still there?").to_string();
    let is_last =
        |input: &aizuchi_core::Input| matches!(input, aizuchi_core::Input::Said(said) if said.id.as_str() == last);
    eventually("it hears the last", async || house.heard.lock().unwrap().iter().any(is_last).then_some(())).await;
    house.close().await;
}
