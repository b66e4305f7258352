//! What each route of the REST API does, and what it refuses.

use std::time::{Duration, Instant};

use axum::http::Method;
use serde_json::{Value, json};

use super::rest::refused;
use super::world::{BOT, World, bot};

pub type Reply = (u16, Value);

/// Discord remembers a nonce for a few minutes.
const NONCE_LIFE: Duration = Duration::from_secs(180);

pub fn route(world: &mut World, method: &Method, path: &[&str], query: &[(String, String)], body: &Value) -> Reply {
    let asked = |name: &str| query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let number = |text: &str| text.parse::<u64>().unwrap_or(0);
    match (method.as_str(), path) {
        ("GET", ["gateway", "bot"]) => (
            200,
            json!({"url": format!("ws://{}:{}", world.host, world.port), "shards": world.shards, "session_start_limit":
                {"total": 1000, "remaining": 999, "reset_after": 14_400_000, "max_concurrency": 16}}),
        ),
        ("GET", ["users", "@me"]) => (200, bot()),
        ("GET", ["applications", "@me"] | ["oauth2", "applications", "@me"]) => {
            let flags = if world.message_content_granted { 1 << 19 } else { 0 };
            let owner = super::person(1, "owner");
            (
                200,
                json!({"id": BOT.to_string(), "name": "aizuchi", "flags": flags, "description": "", "icon": null,
                "bot_public": true, "bot_require_code_grant": false, "verify_key": "", "owner": owner, "summary": ""}),
            )
        }
        ("GET", ["users", "@me", "guilds"]) => {
            let guild = &world.guild;
            let mut shown = json!({"id": guild["id"], "name": guild["name"], "owner": false});
            if let Some(permissions) = guild["roles"][0].get("permissions") {
                shown["permissions"] = permissions.clone();
            }
            (200, json!([shown]))
        }
        ("GET", ["guilds", _]) => (200, world.guild_now()),
        ("PUT", ["applications", _, "commands"] | ["applications", _, "guilds", _, "commands"]) => commands(body),
        ("POST", ["interactions", _, _, "callback"]) => match body["type"].as_u64() {
            Some(1..=12) => (204, Value::Null),
            _ => invalid("type"),
        },
        ("PATCH", ["webhooks", _, _, "messages", "@original"]) | ("POST", ["webhooks", _, _]) => too_long(body)
            .unwrap_or_else(|| (200, json!({"id": world.snowflake().to_string(), "content": body["content"]}))),
        (_, ["channels", id, ..]) if !world.channels.contains_key(&number(id)) => {
            refused(404, 10003, "Unknown Channel")
        }
        ("GET", ["channels", id]) => (200, world.channels[&number(id)].clone()),
        ("POST", ["channels", _, "typing"]) => (204, Value::Null),
        ("GET", ["channels", id, "messages"]) => {
            let limit = asked("limit").map_or(50, number).clamp(1, 100) as usize;
            messages(world, number(id), asked("after").map(number), asked("before").map(number), limit)
        }
        ("POST", ["channels", id, "messages"]) => post(world, number(id), body),
        (_, ["channels", id, "messages", message, ..]) if !exists(world, number(id), message) => {
            refused(404, 10008, "Unknown Message")
        }
        ("PUT", ["channels", id, "messages", message, "reactions", emoji, "@me"]) => {
            let data = json!({"user_id": BOT.to_string(), "channel_id": id, "message_id": message,
                "guild_id": world.guild_of(number(id)), "emoji": {"id": null, "name": unescaped(emoji)},
                "type": 0, "burst": false, "burst_colors": []});
            world.dispatch("MESSAGE_REACTION_ADD", data);
            (204, Value::Null)
        }
        ("DELETE", ["channels", _, "messages", _, "reactions", _, "@me"]) => (204, Value::Null),
        ("PATCH", ["channels", id, "messages", message]) => too_long(body).unwrap_or_else(|| {
            let all = world.messages.get_mut(&number(id)).expect("it exists");
            let found = all.iter_mut().find(|kept| kept["id"] == *message).expect("it exists");
            found["content"] = body["content"].clone();
            (200, found.clone())
        }),
        ("DELETE", ["channels", id, "messages", message]) => {
            world.messages.entry(number(id)).or_default().retain(|kept| kept["id"] != *message);
            (204, Value::Null)
        }
        _ => refused(404, 0, "404: Not Found"),
    }
}

fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let coded = after.get(..2).and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        (bytes, rest) = match coded.filter(|_| *first == b'%') {
            Some(byte) => ([bytes, vec![byte]].concat(), &after[2..]),
            None => ([bytes, vec![*first]].concat(), after),
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn exists(world: &World, channel: u64, message: &str) -> bool {
    world.messages.get(&channel).is_some_and(|all| all.iter().any(|kept| kept["id"] == message))
}

fn messages(world: &World, channel: u64, after: Option<u64>, before: Option<u64>, limit: usize) -> Reply {
    let id = |message: &Value| message["id"].as_str().unwrap_or_default().parse::<u64>().unwrap_or(0);
    let mut all: Vec<&Value> = world.messages.get(&channel).into_iter().flatten().collect();
    all.retain(|message| {
        after.is_none_or(|after| id(message) > after) && before.is_none_or(|before| id(message) < before)
    });
    all.sort_by_key(|message| id(message));
    // Those next to where it was asked, newest first.
    let some: Vec<Value> = match after {
        Some(_) => all.into_iter().take(limit).rev().cloned().collect(),
        None => all.into_iter().rev().take(limit).cloned().collect(),
    };
    (200, some.into())
}

fn post(world: &mut World, channel: u64, body: &Value) -> Reply {
    if let Some(refusal) = too_long(body) {
        return refusal;
    }
    let content = body["content"].as_str().unwrap_or_default();
    let embeds = body["embeds"].as_array().cloned().unwrap_or_default();
    if content.trim().is_empty() && embeds.is_empty() {
        return refused(400, 50006, "Cannot send an empty message");
    }
    let nonce = body["nonce"].as_str().map(str::to_owned).or_else(|| body["nonce"].as_u64().map(|it| it.to_string()));
    if nonce.as_ref().is_some_and(|nonce| nonce.chars().count() > 25) {
        return invalid("nonce");
    }
    let enforced = nonce.as_ref().filter(|_| body["enforce_nonce"] == true);
    if let Some((channel, id, at)) = enforced.and_then(|nonce| world.nonces.get(nonce))
        && at.elapsed() < NONCE_LIFE
        && let Some(first) =
            world.messages.get(channel).into_iter().flatten().find(|kept| kept["id"].as_str() == Some(&*id.to_string()))
    {
        return (200, first.clone());
    }
    let id = world.snowflake();
    if let Some(nonce) = &nonce {
        world.nonces.insert(nonce.clone(), (channel, id, Instant::now()));
    }
    let mut fields = json!({"content": content.trim(), "embeds": embeds, "nonce": nonce});
    if body["message_reference"].is_object() {
        fields["message_reference"] = body["message_reference"].clone();
    }
    (200, world.say_as(id, channel, &bot(), fields))
}

fn commands(body: &Value) -> Reply {
    let Some(commands) = body.as_array() else { return invalid("commands") };
    let named = |value: &Value| value["name"].as_str().is_some_and(|name| (1..=32).contains(&name.chars().count()));
    let described =
        |value: &Value| value["description"].as_str().is_some_and(|text| (1..=100).contains(&text.chars().count()));
    let options = commands.iter().flat_map(|command| command["options"].as_array().into_iter().flatten());
    let fine = commands.iter().chain(options).all(|value| named(value) && described(value));
    if fine { (200, body.clone()) } else { invalid("name") }
}

fn too_long(body: &Value) -> Option<Reply> {
    if body["content"].as_str().is_some_and(|content| content.chars().count() > 2000) {
        return Some(invalid("content"));
    }
    let embeds = body["embeds"].as_array().into_iter().flatten();
    let long = |embed: &Value| embed["description"].as_str().is_some_and(|text| text.chars().count() > 4096);
    embeds.into_iter().any(long).then(|| invalid("embeds"))
}

/// The shape of Discord's form errors.
fn invalid(field: &str) -> Reply {
    let told = json!({"_errors": [{"code": "BASE_TYPE_MAX_LENGTH", "message": "Must be 2000 or fewer in length."}]});
    (400, json!({"code": 50035, "message": "Invalid Form Body", "errors": {field: told}}))
}
