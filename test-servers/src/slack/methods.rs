//! The methods of the Web API, with Slack's own errors for wrong calls.

use std::collections::BTreeMap;

use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::workspace::{BOT_ID, Fault};
use super::{BOT, SlackServer, TEAM};

pub enum Answer {
    Json { body: Value, scopes: String },
    Limited { seconds: u64 },
    Broken { status: u16 },
    Cut,
}

type Form = BTreeMap<String, String>;

/// How a method has to be called.
struct Method {
    name: &'static str,
    /// Which token it requires.
    token: &'static str,
    scope: Option<&'static str>,
    /// The required arguments.
    needed: &'static [&'static str],
    takes_json: bool,
}

/// Whatever changes something takes JSON too.
const fn method(name: &'static str, scope: &'static str, needed: &'static [&'static str], takes_json: bool) -> Method {
    Method { name, token: "xoxb-", scope: Some(scope), needed, takes_json }
}

const METHODS: &[Method] = &[
    Method { name: "auth.test", token: "xoxb-", scope: None, needed: &[], takes_json: true },
    Method { name: "apps.connections.open", token: "xapp-", scope: None, needed: &[], takes_json: true },
    method("chat.postMessage", "chat:write", &["channel", "text"], true),
    method("chat.postEphemeral", "chat:write", &["channel", "user", "text"], true),
    method("chat.update", "chat:write", &["channel", "ts", "text"], true),
    method("chat.delete", "chat:write", &["channel", "ts"], true),
    method("reactions.add", "reactions:write", &["channel", "timestamp", "name"], true),
    method("conversations.history", "channels:history", &["channel"], false),
    method("conversations.replies", "channels:history", &["channel", "ts"], false),
    method("conversations.info", "channels:read", &["channel"], false),
    method("conversations.list", "channels:read", &[], false),
    method("users.info", "users:read", &["user"], false),
    method("users.list", "users:read", &[], false),
];

const TEXT_CHARS_MAX: usize = 40_000;

pub fn call(
    server: &SlackServer,
    method: &str,
    headers: &HeaderMap,
    query: Vec<(String, String)>,
    body: &str,
) -> Answer {
    let mut form: Form = query.into_iter().collect();
    let kind = headers.get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_json = kind.starts_with("application/json");
    if is_json {
        let fields = serde_json::from_str::<Value>(body).ok().and_then(|body| body.as_object().cloned());
        let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        form.extend(fields.into_iter().flatten().map(|(name, value)| (name, text(value))));
    } else {
        form.extend(pairs(body));
    }
    let bearer = headers.get("authorization").and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let token = bearer.map(str::to_owned).or_else(|| form.remove("token"));
    let mut workspace = server.workspace();
    workspace.calls.push((method.to_owned(), form.clone()));
    let scopes: Vec<String> = workspace.scopes.iter().cloned().collect();
    let scopes = scopes.join(",");
    let refuse = |error: &str| Answer::Json { body: json!({"ok": false, "error": error}), scopes: scopes.clone() };
    let Some(known) = METHODS.iter().find(|known| known.name == method) else { return refuse("unknown_method") };
    let Method { token: prefix, scope, needed, takes_json, .. } = known;
    let Some(token) = token else { return refuse("not_authed") };
    if let Some(error) = workspace.revoked {
        return refuse(error);
    }
    if !workspace.tokens.contains(&token) {
        return refuse("invalid_auth");
    }
    if !token.starts_with(prefix) {
        return refuse("not_allowed_token_type");
    }
    if let Some(scope) = scope.filter(|scope| !workspace.scopes.contains(*scope)) {
        let body = json!({"ok": false, "error": "missing_scope", "needed": scope, "provided": scopes});
        return Answer::Json { body, scopes };
    }
    if is_json && !takes_json && !body.is_empty() {
        return refuse("invalid_form_data");
    }
    if needed.iter().any(|name| form.get(*name).is_none_or(String::is_empty)) {
        return refuse(if needed.contains(&"text") && form.contains_key("channel") {
            "no_text"
        } else {
            "invalid_arguments"
        });
    }
    let fault = workspace.faults.get_mut(method).and_then(|faults| faults.pop_front());
    match &fault {
        Some(Fault::Limited(seconds)) => return Answer::Limited { seconds: *seconds },
        Some(Fault::Status(status)) => return Answer::Broken { status: *status },
        Some(Fault::Error(error)) => return refuse(error),
        Some(Fault::Cut) | None => (),
    }
    drop(workspace);
    let body = match obey(server, method, &form) {
        Ok(mut body) => {
            body["ok"] = json!(true);
            body
        }
        Err(error) => json!({"ok": false, "error": error}),
    };
    if fault == Some(Fault::Cut) { Answer::Cut } else { Answer::Json { body, scopes } }
}

fn pairs(body: &str) -> Vec<(String, String)> {
    let plain = |text: &str| {
        let mut bytes = Vec::new();
        let mut rest = text.bytes();
        while let Some(byte) = rest.next() {
            bytes.push(match byte {
                b'+' => b' ',
                b'%' => {
                    let digits = [rest.next().unwrap_or(b'0'), rest.next().unwrap_or(b'0')];
                    u8::from_str_radix(&String::from_utf8_lossy(&digits), 16).unwrap_or(b'?')
                }
                byte => byte,
            });
        }
        String::from_utf8(bytes).unwrap_or_default()
    };
    let pair = |pair: &str| pair.split_once('=').map(|(name, value)| (plain(name), plain(value)));
    body.split('&').filter_map(pair).collect()
}

fn obey(server: &SlackServer, method: &str, form: &Form) -> Result<Value, &'static str> {
    let mut workspace = server.workspace();
    if let Some(channel) = form.get("channel") {
        let known = workspace.channels.get(channel).ok_or("channel_not_found")?;
        if known["is_archived"] == true && !method.starts_with("conversations.") {
            return Err("is_archived");
        }
        if known["is_member"] == false && method != "conversations.info" {
            return Err("not_in_channel");
        }
    }
    let field = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    match method {
        "auth.test" => Ok(json!({"url": "https://tea.slack.com/", "team": "Tea", "user": "aizuchi", "team_id": TEAM,
                                 "user_id": BOT, "bot_id": BOT_ID, "is_enterprise_install": false})),
        "apps.connections.open" => {
            let ticket = workspace.next_ts();
            let url = format!("ws://{}/link?ticket={ticket}", server.address);
            workspace.tickets.insert(ticket);
            Ok(json!({"url": url}))
        }
        "chat.postMessage" => {
            drop(workspace);
            post(server, form)
        }
        "chat.postEphemeral" => {
            workspace.users.iter().find(|user| user["id"] == field("user")).ok_or("user_not_in_channel")?;
            workspace.answers.push(json!({"response_type": "ephemeral", "text": field("text"), "user": field("user")}));
            Ok(json!({"message_ts": workspace.next_ts()}))
        }
        "chat.update" => {
            let event = workspace.edit(field("channel"), field("ts"), field("text"));
            drop(workspace);
            server.happens(event);
            Ok(json!({"channel": field("channel"), "ts": field("ts"), "text": field("text")}))
        }
        "chat.delete" => {
            if !workspace.has(field("channel"), field("ts")) {
                return Err("message_not_found");
            }
            let event = workspace.delete(field("channel"), field("ts"));
            drop(workspace);
            server.happens(event);
            Ok(json!({"channel": field("channel"), "ts": field("ts")}))
        }
        "reactions.add" => {
            let name = field("name");
            if name.is_empty()
                || !name
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_+-".contains(&byte))
            {
                return Err("invalid_name");
            }
            let messages = workspace.messages.get(field("channel"));
            if !messages.into_iter().flatten().any(|message| message["ts"] == field("timestamp")) {
                return Err("message_not_found");
            }
            let reaction = (field("channel").to_owned(), field("timestamp").to_owned(), name.to_owned());
            if workspace.reactions.contains(&reaction) {
                return Err("already_reacted");
            }
            workspace.reactions.push(reaction);
            Ok(json!({}))
        }
        "conversations.history" => {
            let all = workspace.messages.get(field("channel")).cloned().unwrap_or_default();
            let top = |message: &Value| message["thread_ts"].is_null() || message["thread_ts"] == message["ts"];
            let newest: Vec<Value> = all.into_iter().filter(top).rev().collect();
            page(since(newest, form), "messages", form)
        }
        "conversations.replies" => {
            let all = workspace.messages.get(field("channel")).cloned().unwrap_or_default();
            let (thread, parent) = (field("ts"), |message: &Value| message["ts"] == field("ts"));
            if !all.iter().any(parent) {
                return Err("thread_not_found");
            }
            let of_thread =
                all.into_iter().filter(|message| message["thread_ts"] == thread || parent(message)).collect();
            page(since(of_thread, form), "messages", form)
        }
        "conversations.info" => Ok(json!({"channel": workspace.channels[field("channel")]})),
        "conversations.list" => page(workspace.channels.values().cloned().collect(), "channels", form),
        "users.info" => {
            let user = workspace.users.iter().find(|user| user["id"] == field("user")).ok_or("user_not_found")?;
            Ok(json!({"user": with_locale(user, form)}))
        }
        "users.list" => page(workspace.users.iter().map(|user| with_locale(user, form)).collect(), "members", form),
        _ => Err("unknown_method"),
    }
}

/// Only if the request asks for it.
fn with_locale(user: &Value, form: &Form) -> Value {
    let mut user = user.clone();
    if form.get("include_locale").is_none_or(|wanted| wanted != "true") {
        user.as_object_mut().unwrap().remove("locale");
    }
    user
}

/// After `oldest`, and without metadata unless the request asks for it.
fn since(messages: Vec<Value>, form: &Form) -> Vec<Value> {
    let oldest = form.get("oldest").cloned().unwrap_or_default();
    let metadata = form.get("include_all_metadata").is_some_and(|wanted| wanted == "true" || wanted == "1");
    let after = messages.into_iter().filter(|message| message["ts"].as_str().unwrap_or_default() > oldest.as_str());
    let shown = |mut message: Value| {
        if !metadata {
            message.as_object_mut().unwrap().remove("metadata");
        }
        message
    };
    after.map(shown).collect()
}

fn page(all: Vec<Value>, field: &str, form: &Form) -> Result<Value, &'static str> {
    let number = |name: &str, or: usize| match form.get(name).filter(|value| !value.is_empty()) {
        Some(value) => {
            value.parse::<usize>().map_err(|_| if name == "cursor" { "invalid_cursor" } else { "invalid_limit" })
        }
        None => Ok(or),
    };
    let (start, limit) = (number("cursor", 0)?, number("limit", 100)?);
    if !(1..=1000).contains(&limit) {
        return Err("invalid_limit");
    }
    let entries: Vec<&Value> = all.iter().skip(start).take(limit).collect();
    let more = start + limit < all.len();
    let next = if more { (start + limit).to_string() } else { String::new() };
    Ok(json!({field: entries, "has_more": more, "response_metadata": {"next_cursor": next}}))
}

fn post(server: &SlackServer, form: &Form) -> Result<Value, &'static str> {
    let text = &form["text"];
    if text.chars().count() > TEXT_CHARS_MAX {
        return Err("msg_too_long");
    }
    let channel = &form["channel"];
    let thread = form.get("thread_ts").filter(|thread| !thread.is_empty());
    let mut message = json!({"user": BOT, "bot_id": BOT_ID, "app_id": "A1", "text": text,
                             "bot_profile": {"id": BOT_ID, "name": "aizuchi"}});
    if let Some(metadata) = form.get("metadata") {
        let metadata: Value = serde_json::from_str(metadata).map_err(|_| "invalid_metadata_format")?;
        if !metadata["event_type"].is_string() || !metadata["event_payload"].is_object() {
            return Err("invalid_metadata_schema");
        }
        message["metadata"] = metadata;
    }
    let (ts, events) = {
        let mut workspace = server.workspace();
        if workspace.forgetful {
            message.as_object_mut().unwrap().remove("metadata");
            message["text"] = rewritten(text).into();
        }
        let all = workspace.messages.get(channel);
        if thread.is_some_and(|thread| !all.into_iter().flatten().any(|message| message["ts"] == **thread)) {
            return Err("thread_not_found");
        }
        workspace.say(channel, thread.map(String::as_str), message)
    };
    events.iter().for_each(|event| server.happens(event.clone()));
    Ok(json!({"channel": channel, "ts": ts, "message": events[0]}))
}

/// Bare links in angle brackets, and emoji by their names, as Slack stores them.
fn rewritten(text: &str) -> String {
    let word = |word: &str| match word {
        link if link.starts_with("https://") => format!("<{link}>"),
        other => other.replace('👍', ":+1:"),
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}
