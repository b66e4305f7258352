//! `aizuchi memory forget` and `aizuchi rooms close` take words out of what the bot starts from.

use std::path::Path;

use aizuchi::journal::{Journal, ShardState};
use aizuchi::ports::JournalEntry;
use aizuchi::stores::{DataFolder, Database};
use aizuchi_core::effect::Usage;
use aizuchi_core::input::Answer;
use aizuchi_core::settings::Layers;
use aizuchi_core::types::{Author, Message, MessageId, PersonId, Place, Time, Visibility, Voice, stable_hash};
use aizuchi_core::{Effect, Engine, Input};

use super::memory::{now, sample};
use super::program::Folder;
use super::store::meddle;

const WORD: &str = "rhodochrosite";
const OTHERS: &str = "labradorite";

/// An engine with what happened to it.
struct RecordingEngine {
    engine: Engine,
    entries: Vec<JournalEntry>,
}

impl RecordingEngine {
    /// What it does because of this, as far as it wants something from others.
    fn take(&mut self, at: Time, input: Input) -> Option<Effect> {
        let mut effects = Vec::new();
        self.engine.handle(at, input.clone(), &mut effects);
        self.entries.push(JournalEntry::Input(at, input));
        effects.into_iter().find(|effect| matches!(effect, Effect::Write(_) | Effect::Deliver(_)))
    }

    /// Somebody says this in a room, and the bot repeats it.
    fn converse(&mut self, room: &str, (id, name): (&str, &str), text: &str) {
        let at = now();
        let said = Message {
            id: MessageId::new(format!("{room}-{id}")),
            place: Place::room(room),
            at,
            author: Author { id: PersonId::new(id), name: name.into(), voice: Voice::Person },
            text: format!("aizuchi, {text}").into(),
            reply: None,
            mentions: Vec::new(),
            mentions_me: true,
            visibility: Visibility::Public,
            backfilled: false,
            heard: None,
        };
        let Some(Effect::Write(brief)) = self.take(at, Input::Said(said)) else { panic!("it is called") };
        let answer = Answer { text: format!("You said: {text}").into(), usage: Usage::default() };
        let Some(Effect::Deliver(delivery)) = self.take(at, Input::Written(brief.call, Ok(answer))) else {
            panic!("it answers")
        };
        let post = MessageId::new(format!("{room}-{id}-answer"));
        self.take(at, Input::Delivered(delivery.call, Ok(vec![post])));
    }
}

/// A store of so many engines: Ann and Bob spoke in the garden, Bob in the lobby.
fn lived(shards: usize) -> Folder {
    let folder = sample();
    let mut layers = Layers::default();
    layers.add_assignment(&format!("runtime.shards={shards}"));
    let policies = layers.resolve(&|_| None).unwrap();
    let mut lives: Vec<RecordingEngine> = std::iter::repeat_with(|| Engine::new(policies.clone()))
        .take(shards)
        .map(|engine| RecordingEngine { engine, entries: Vec::new() })
        .collect();
    let mut converse = |room: &str, who: (&str, &str), text: &str| {
        let shard = (stable_hash(0, room) % shards as u64) as usize;
        lives[shard].converse(room, who, text);
    };
    converse("web:garden", ("web:1", "Ann"), &format!("I collect {WORD} stones"));
    converse("web:lobby", ("web:2", "Bob"), &format!("I collect {OTHERS} stones"));
    store(&folder.path("aizuchi-data"), lives);
    meddle(&folder, "INSERT INTO web_room (name, opened) VALUES ('lobby', 0), ('garden', 1);");
    folder
}

fn store(folder: &Path, lives: Vec<RecordingEngine>) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let journal = Journal::new(Database::open(&DataFolder::database_in(folder)).unwrap());
        for (shard, life) in lives.iter().enumerate() {
            journal.append(shard, &life.entries).await.unwrap();
        }
        for (shard, life) in lives.iter().enumerate() {
            journal.take_snapshot(ShardState::of(shard, now(), &life.engine)).await.unwrap();
        }
    });
}

fn holds(folder: &Folder, word: &str) -> bool {
    let files = std::fs::read_dir(folder.path("aizuchi-data")).unwrap();
    files
        .map(|file| std::fs::read(file.unwrap().path()).unwrap())
        .any(|bytes| bytes.windows(word.len()).any(|window| window == word.as_bytes()))
}

#[test]
fn what_is_forgotten_by_command_is_in_no_file() {
    // As many engines as there were, more and fewer.
    for (shards, later) in [(1, 1), (3, 3), (1, 3), (3, 1)] {
        for forget in ["memory forget --person Ann", "memory forget --room garden", "rooms close garden"] {
            let folder = lived(shards);
            assert!(holds(&folder, WORD), "the search would find it");
            let told = format!("{forget}, {shards} engines and then {later}");
            folder.run(&format!("{forget} --set runtime.shards={later}")).succeeded();
            assert!(!holds(&folder, WORD), "{told}: the words are still in the files");
            assert!(holds(&folder, OTHERS), "{told}: what others said elsewhere stays");
        }
    }
}

/// The talk of the web room is in the same file.
#[test]
fn a_person_who_is_forgotten_by_command_is_in_the_talk_of_no_web_room_and_doubtful_names_are_told() {
    let folder = sample();
    meddle(
        &folder,
        &format!(
            r#"INSERT INTO web_message (id, room, seq, first_seq, key, body) VALUES ('w1', 'lobby', 1, 1, '1/1',
            '{{"at":1,"by":{{"id":"1","name":"Ann"}},"voice":"Person","text":"a {WORD}","thread":null,"reply_to":null,
            "edited":false,"deleted":false,"reactions":[]}}'), ('w2', 'lobby', 2, 2, '2/1',
            '{{"at":1,"by":{{"id":"2","name":"Ann (Kyoto)"}},"voice":"Person","text":"a {OTHERS}","thread":null,"reply_to":null,
            "edited":false,"deleted":false,"reactions":[]}}')"#
        ),
    );
    assert!(holds(&folder, WORD), "the search would find it");
    let told = folder.run("memory forget --person web:1").succeeded().out;
    assert!(!holds(&folder, WORD), "the words are still in the files");
    assert!(holds(&folder, OTHERS), "what others said stays");
    assert!(told.starts_with("forgot web:1 and 1 facts from their words\n"), "{told}");
    folder.write("facts.jsonl", format!("{}\n", fact("Kyoto is where the choir meets")));
    folder.run("memory import facts.jsonl").succeeded();
    let told = folder.run("memory forget --person web:2").succeeded().out;
    assert!(told.contains("“Kyoto” (only a part of their name)") && told.contains("--name \"Kyoto\""), "{told}");
    assert!(folder.run("memory list").succeeded().out.contains("choir"), "it is kept until it is confirmed");
    folder.run("memory forget --person web:2 --name Kyoto").succeeded();
    assert!(!folder.run("memory list").succeeded().out.contains("choir"));
}

fn fact(content: &str) -> String {
    let at = now().0;
    format!(
        r#"{{"fact":{{"id":1,"room":"web:lobby","visibility":"public","content":"{content}","keywords":[],"people":[],"messages":[],"confidence":0.9,"shareable":true,"at":{at},"used_at":null,"uses":0,"pinned":false,"told_in":[]}}}}"#
    )
}
