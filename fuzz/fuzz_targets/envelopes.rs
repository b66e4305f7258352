//! Whatever comes through Slack's socket: what has an envelope is acknowledged, and what is read is short, plain and in time.
//!
//! An input is frames, one a line.
#![no_main]

use aizuchi::platforms::slack::envelope::{SocketFrame, acknowledgement, read};
use aizuchi::platforms::slack::event::{SlackEvent, ParsedEvent};
use aizuchi::platforms::slack::people::{SlackChannel, SlackPerson};
use aizuchi::platforms::slack::read::{is_id, time};
use aizuchi_formats::slack_markup::{NameLookup, plain};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

const FRAMES_MAX: usize = 50;

fuzz_target!(|frames: &str| {
    for frame in frames.lines().take(FRAMES_MAX) {
        match read(frame) {
            SocketFrame::Event { envelope, payload } | SocketFrame::Command { envelope, payload } => {
                acknowledges(&envelope);
                check(payload.get("event").unwrap_or(&Value::Null));
            }
            SocketFrame::Other { envelope } => acknowledges(&envelope),
            SocketFrame::Disconnect { reason } => assert!(reason.chars().count() <= 100),
            SocketFrame::Hello | SocketFrame::Nothing => (),
        }
    }
});

fn acknowledges(envelope: &str) {
    assert!(!envelope.is_empty() && envelope.len() <= 200);
    let told: Value = serde_json::from_str(&acknowledgement(envelope)).expect("an acknowledgement is JSON");
    assert_eq!(told["envelope_id"], envelope);
}

fn check(event: &Value) {
    match ParsedEvent::read(event) {
        ParsedEvent::Event(event) => {
            // Stored and read again after a crash, it is the same.
            let stored = serde_json::to_string(&event).expect("an event is plain data");
            assert_eq!(serde_json::from_str::<SlackEvent>(&stored).expect("what was stored is read"), event);
            check_event(event);
        }
        ParsedEvent::Person(SlackPerson { id, name, .. }) => {
            assert!(is_id(&id));
            one_line(&name);
        }
        ParsedEvent::Renamed(SlackChannel { id, name, .. }) => {
            assert!(is_id(&id));
            one_line(name.as_deref().unwrap_or_default());
        }
        ParsedEvent::Nothing => (),
    }
}

fn check_event(event: SlackEvent) {
    let key = event.key();
    match event {
        SlackEvent::Said(saying) => {
            assert_eq!(key, Some(format!("{}/{}", saying.channel, saying.ts)));
            assert!(is_id(&saying.channel) && time(&saying.ts).is_some());
            assert!(saying.user.iter().chain(&saying.bot).chain(&saying.parent).all(|id| is_id(id)));
            assert!(saying.thread.as_ref().is_none_or(|thread| time(thread).is_some() && *thread != saying.ts));
            words(&saying.text);
        }
        SlackEvent::Changed(changing) => {
            assert!(is_id(&changing.channel) && time(&changing.ts).is_some() && time(&changing.at).is_some());
            words(changing.text.as_deref().unwrap_or_default());
        }
        SlackEvent::Reacted(reacting) => {
            assert!(is_id(&reacting.user) && time(&reacting.ts).is_some() && time(&reacting.at).is_some());
            assert!(reacting.name.len() <= 100);
        }
        SlackEvent::Joined { channel, user } => assert!(is_id(&channel) && is_id(&user)),
        SlackEvent::Left { channel } => assert!(is_id(&channel)),
    }
}

fn one_line(name: &str) {
    assert!(name.chars().count() <= 80 && !name.contains(char::is_control) && name.trim() == name, "{name:?}");
}

/// As it is read on the screen: nobody is mentioned whose id is not in it.
fn words(text: &str) {
    assert!(text.chars().count() <= 40_000);
    let nobody = |_: &str| None;
    let (_, mentioned) = plain(text, &NameLookup { person: &nobody, channel: &nobody });
    assert!(mentioned.iter().all(|id| text.contains(&format!("<@{id}"))), "{text:?}");
}
