//! `aizuchi memory forget` takes words out of what the bot starts from.

use std::path::Path;

use aizuchi::journal::{Journal, ShardState};
use aizuchi::ports::JournalEntry;
use aizuchi::stores::{DataFolder, Database};
use aizuchi_core::effect::Usage;
use aizuchi_core::input::Answer;
use aizuchi_core::types::{Author, Message, MessageId, PersonId, Place, Time, Visibility, Voice};
use aizuchi_core::{Effect, Engine, Input, Policies};

use super::memory::{now, sample};

/// Writes down that Ann said this in the lobby, what the bot answered, and the engine that heard it.
fn converse(folder: &Path, text: &str) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let journal = Journal::new(Database::open(&DataFolder::database_in(folder)).unwrap());
        let mut engine = Engine::new(Policies::preset("aizuchi").unwrap());
        let mut effects = Vec::new();
        let mut take = |at: Time, input: Input| {
            engine.handle(at, input.clone(), &mut effects);
            let wanted = effects.drain(..).find_map(|effect| match effect {
                Effect::Write(brief) => Some(brief.call),
                Effect::Deliver(delivery) => Some(delivery.call),
                _ => None,
            });
            (JournalEntry::Input(at, input), wanted)
        };
        let said = Message {
            id: MessageId::new("w1"),
            place: Place::room("web:lobby"),
            at: now(),
            author: Author { id: PersonId::new("web:1"), name: "Ann".into(), voice: Voice::Person },
            text: format!("aizuchi, {text}").into(),
            reply: None,
            mentions: Vec::new(),
            mentions_me: true,
            visibility: Visibility::Public,
            backfilled: false,
            heard: None,
        };
        let (first, write) = take(said.at, Input::Said(said.clone()));
        let answer = Answer { text: format!("You said: {text}").into(), usage: Usage::default() };
        let (second, post) = take(said.at, Input::Written(write.expect("it is called"), Ok(answer)));
        let posted = Input::Delivered(post.expect("it answers"), Ok(vec![MessageId::new("w2")]));
        let (third, _) = take(said.at, posted);
        journal.append(0, &[first, second, third]).await.unwrap();
        journal.take_snapshot(ShardState::of(0, said.at, &engine)).await.unwrap();
    });
}

#[test]
fn what_is_forgotten_by_command_is_in_no_snapshot() {
    for forget in ["memory forget --person Ann", "memory forget --room lobby"] {
        let folder = sample();
        converse(&folder.path("aizuchi-data"), "I collect rhodochrosite stones");
        folder.run(forget).succeeded();
        for entry in std::fs::read_dir(folder.path("aizuchi-data")).unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            let word = b"rhodochrosite";
            assert!(!bytes.windows(word.len()).any(|window| window == word), "{forget}");
        }
    }
}
