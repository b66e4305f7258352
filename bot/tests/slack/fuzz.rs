//! Envelopes as nobody should send them: never a panic, never a line that hangs.

use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::slack::SlackServer;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::office::{Office, until};

/// Something that JSON can hold.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        prop::sample::select(vec![
            "C1GEN",
            "U1MIA",
            "1700000000.000100",
            "9999999999.999999",
            "<@U1MIA",
            "<@|>",
            "&",
            "message",
            ""
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{1,8}", inner, 0..4).prop_map(|fields| json!(fields)),
        ]
    })
}

/// Real envelopes, to be bent.
fn originals() -> Vec<Value> {
    let message = json!({"type": "message", "channel": "C1GEN", "channel_type": "channel", "user": "U1MIA", "text": "hi <@U2HAN>",
                         "ts": "1700000000.000100", "thread_ts": "1700000000.000000", "files": [{"name": "a"}],
                         "attachments": [{"fallback": "b"}], "user_profile": {"display_name": "c"}});
    let changed = json!({"type": "message", "subtype": "message_changed", "channel": "C1GEN", "ts": "1700000002.000000",
                         "message": {"ts": "1700000000.000100", "text": "new"}, "previous_message": {"text": "old"}});
    let reaction = json!({"type": "reaction_added", "user": "U1MIA", "reaction": "eyes", "event_ts": "1700000003.000000",
                          "item": {"type": "message", "channel": "C1GEN", "ts": "1700000000.000100"}});
    let person =
        json!({"type": "user_change", "user": {"id": "U1MIA", "name": "mia", "profile": {"display_name": "Mia"}}});
    let renamed = json!({"type": "channel_rename", "channel": {"id": "C1GEN", "name": "general"}});
    let events = [message, changed, reaction, person, renamed].into_iter().map(|event| {
        json!({"type": "events_api", "envelope_id": "e", "payload": {"type": "event_callback", "event_id": "Ev1", "event": event}})
    });
    let order = json!({"type": "slash_commands", "envelope_id": "o",
                       "payload": {"text": "why", "user_id": "U1MIA", "channel_id": "C1GEN", "response_url": "http://127.0.0.1:1/"}});
    events.chain([order, json!({"type": "hello"}), json!({"type": "interactive", "envelope_id": "i"})]).collect()
}

/// Puts something else in the place of some node; counts down to it.
fn bend(value: &mut Value, left: &mut usize, with: &Value) {
    if *left == 0 {
        *value = with.clone();
    }
    *left = left.wrapping_sub(1);
    match value {
        Value::Object(fields) => fields.values_mut().for_each(|field| bend(field, left, with)),
        Value::Array(items) => items.iter_mut().for_each(|item| bend(item, left, with)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => (),
    }
}

#[tokio::test]
async fn bent_envelopes_are_survived() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-fuzz"));
    let office = Office::open(&server, &scratch).await;
    let mut runner = TestRunner::new(Config { cases: 400, failure_persistence: None, ..Config::default() });
    let bent = (prop::sample::select(originals()), 0usize..20, anything(), any::<bool>(), any::<u32>());
    let expected = std::cell::Cell::new(0);
    runner
        .run(&bent, |(mut frame, place, with, cut, number)| {
            if frame.get("envelope_id").is_some() {
                frame["envelope_id"] = json!(format!("bent-{number}"));
            }
            bend(&mut frame, &mut { place }, &with);
            let mut text = frame.to_string();
            if cut {
                text = text.chars().take(text.len() / 2).collect();
            }
            // What warns of an end is tried elsewhere.
            if !text.contains("disconnect") {
                server.sockets.send_raw(&text);
                let read: Option<Value> = serde_json::from_str(&text).ok();
                let has_envelope = |frame: Value| {
                    frame["type"] != "hello" && frame["envelope_id"].as_str().is_some_and(|id| !id.is_empty())
                };
                expected.set(expected.get() + usize::from(read.is_some_and(has_envelope)));
            }
            Ok(())
        })
        .unwrap();
    until("whatever has an envelope is acknowledged", || server.sockets.unasked() == expected.get()).await;
    let ts = server.say("C1GEN", "U1MIA", "still there?");
    office.hears(&ts).await;
    assert_eq!(server.sockets.opened(), 2, "no line broke");
    office.close().await;
}
