//! Whatever is set, it is refused in lines a person can read, or an engine can live by it.
//!
//! An input is a settings file; behind lines of `%%` follow assignments, and variables as `$NAME=value`.
#![no_main]

use aizuchi_core::Input;
use aizuchi_core::input::Command;
use aizuchi_core::settings::Layers;
use aizuchi_core::types::{
    Author, Change, Message, MessageId, PersonId, Place, Reply, RoomId, ThreadId, Time, Visibility, Voice, Zone,
};
use aizuchi_fuzz::{assert_one_line, live};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut pieces = text.split("\n%%\n");
    let mut layers = Layers::default();
    layers.add_file("aizuchi.toml", pieces.next().unwrap_or_default());
    for piece in pieces {
        match piece.strip_prefix('$').and_then(|variable| variable.split_once('=')) {
            Some((name, value)) => layers.add_variable(name, value),
            None => layers.add_assignment(piece),
        }
    }
    let _ = layers.preset();
    match layers.resolve(&zone) {
        Ok(policies) => {
            live(policies.clone(), true, talk());
            live(policies, false, talk());
        }
        Err(problems) => {
            assert!(!problems.is_empty(), "refused without a reason");
            problems.iter().for_each(|problem| assert_one_line(&problem.to_string()));
        }
    }
});

fn zone(name: &str) -> Option<Zone> {
    (name == "Asia/Tokyo").then(|| Zone::fixed(540))
}

/// A room with a thread, a bot, a call, a correction and an order, and another room where it is alone with somebody.
fn talk() -> Vec<(Time, Input)> {
    let plain = said("general", 1, "alice", "Does anyone know how to fix this?");
    let mut bot = said("general", 5, "helper", "Build failed again");
    bot.author.voice = Voice::Bot;
    let mut threaded = said("general", 9, "bob", "```rust\nfn main() {}\n``` 助けて！！");
    threaded.place.thread = Some(ThreadId::new("t1"));
    let mut answer = said("general", 70, "carol", "ありがとう、またね");
    answer.reply = Some(Reply { to: Some(plain.id.clone()), to_me: false, to_person: Some(plain.author.id.clone()) });
    let mut call = said("general", 71, "alice", "<@me> aizuchi, what do you think?");
    call.mentions_me = true;
    let mut direct = said("direct", 72, "bob", "aizuchi: be quiet");
    direct.visibility = Visibility::Direct;
    let edit =
        Change { place: call.place.clone(), id: call.id.clone(), at: seconds(73), text: Some("never mind".into()) };
    let mut own = said("general", 400, "aizuchi", "Well.");
    own.author.voice = Voice::Me;
    let repeated = plain.clone();
    let late = said("general", 3, "bob", "草");
    let last = said("general", 90_000, "alice", "still there?");
    let said = |message: Message| (message.at, Input::Said(message));
    vec![
        said(plain),
        said(bot),
        said(threaded),
        said(answer),
        said(call),
        said(direct),
        (edit.at, Input::Changed(edit)),
        (seconds(80), Input::Said(repeated)),
        (seconds(81), Input::Said(late)),
        said(own),
        (seconds(500), Input::Told(RoomId::new("general"), Command::Reset)),
        said(last),
    ]
}

fn seconds(seconds: u64) -> Time {
    Time(1_700_000_000_000 + seconds * 1000)
}

fn said(room: &str, at: u64, name: &str, text: &str) -> Message {
    Message {
        id: MessageId::new(at.to_string()),
        place: Place::room(room),
        at: seconds(at),
        author: Author { id: PersonId::new(name), name: name.into(), voice: Voice::Person },
        text: text.into(),
        reply: None,
        mentions: Vec::new(),
        mentions_me: false,
        visibility: Visibility::Public,
        backfilled: false,
        heard: None,
    }
}
