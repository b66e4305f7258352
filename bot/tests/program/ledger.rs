//! What the store says in the end, held against what people know.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use aizuchi_core::listen::Unheard;
use aizuchi_core::trace::{Cause, Outcome};
use aizuchi_core::{Input, Trace};
use rusqlite::Connection;
use serde_json::Value;

use crate::crowd::{Talker, is_call};

/// A message of the web room as it is stored.
struct Kept {
    id: String,
    order: i64,
    key: String,
    body: Value,
}

/// Everything that was stored.
pub struct Ledger {
    /// By room.
    messages: BTreeMap<String, Vec<Kept>>,
    traces: BTreeMap<String, Trace>,
    journal: Vec<Input>,
}

impl Ledger {
    pub fn read(store: &Connection) -> Ledger {
        let mut messages: BTreeMap<String, Vec<Kept>> = BTreeMap::new();
        for (room, kept) in
            rows(store, "SELECT room, id, first_seq, key, body FROM web_message ORDER BY first_seq", |row| {
                let body: String = row.get(4)?;
                let body = serde_json::from_str(&body).expect("a message can be read");
                Ok((row.get::<_, String>(0)?, Kept { id: row.get(1)?, order: row.get(2)?, key: row.get(3)?, body }))
            })
        {
            messages.entry(room).or_default().push(kept);
        }
        let bodies = rows(store, "SELECT body FROM trace", |row| row.get::<_, String>(0));
        let read = |body: String| serde_json::from_str::<Trace>(&body).expect("a decision can be read");
        let traces = bodies.into_iter().map(read).map(|trace| (trace.message.to_string(), trace)).collect();
        let bodies = rows(store, "SELECT body FROM journal ORDER BY seq", |row| row.get::<_, String>(0));
        let journal = bodies.iter().map(|body| serde_json::from_str(body).expect("a record can be read")).collect();
        Ledger { messages, traces, journal }
    }

    /// Whether nothing is pending any more.
    pub fn is_settled(&self, people: &[Talker]) -> bool {
        let mut taken = people.iter().flat_map(|talker| &talker.taken);
        taken.all(|(id, _)| self.traces.contains_key(id)) && self.unacknowledged().is_empty()
    }

    /// Every message that was taken is there once, was heard, and has its decision.
    pub fn check_messages(&self, talker: &Talker) {
        let heard: BTreeSet<&str> = self.journal.iter().filter_map(said).collect();
        let room = &self.messages[talker.room];
        for (id, text) in &talker.taken {
            let same: Vec<&str> =
                room.iter().filter(|kept| kept.body["text"] == **text).map(|it| it.id.as_str()).collect();
            assert_eq!(same, [id.as_str()], "{text:?} is in the history once");
            assert!(heard.contains(id.as_str()), "{text:?} is in the journal");
            let trace = self.traces.get(id).unwrap_or_else(|| panic!("{id} {text:?} is decided"));
            let again = |unheard: Unheard| unheard == Unheard::Repeated || unheard.is_late();
            let again = trace.cause == Cause::Undecided || matches!(trace.cause, Cause::Unheard(it) if again(it));
            assert!(!again, "{text:?} has a decision of its own: {}", trace.sentence());
        }
        let mine = room.iter().filter(|kept| kept.body["by"]["name"] == talker.name).count();
        assert_eq!(mine, talker.taken.len(), "{} said nothing that it does not know of", talker.name);
        let shown: BTreeSet<&str> = talker.shown.iter().map(String::as_str).collect();
        let missed = room.iter().map(|kept| kept.id.as_str()).filter(|id| !shown.contains(id));
        assert_eq!(missed.collect::<Vec<_>>(), [""; 0], "{} has seen everything", talker.name);
        assert_eq!(shown.len(), room.len(), "{} has seen nothing else", talker.name);
    }

    /// Nothing is said twice, no answer stays half, and each is an answer to a message of its own.
    pub fn check_answers(&self) {
        for (room, messages) in &self.messages {
            let mut answered = BTreeSet::new();
            for (call, parts) in answers(messages) {
                let numbers: Vec<usize> = parts.iter().map(|(part, _)| *part).collect();
                assert_eq!(numbers, (0..parts.len()).collect::<Vec<_>>(), "{call}: the parts are in order");
                let to = parts[0].1.body["reply_to"].as_str().unwrap_or_default();
                assert!(answered.insert(to), "{room}: {to:?} is answered twice");
                assert!(
                    messages.iter().any(|kept| kept.id == to && kept.order < parts[0].1.order),
                    "{call} answers {to:?}"
                );
                let text = parts
                    .iter()
                    .map(|(_, kept)| kept.body["text"].as_str().expect("a text"))
                    .collect::<Vec<_>>()
                    .join(" ");
                let called = is_call(
                    messages.iter().find(|kept| kept.id == to).expect("just found").body["text"]
                        .as_str()
                        .expect("a text"),
                );
                assert!(!called || text.ends_with("no model is connected)"), "{call} is whole: {text}");
                assert!(!called || text.contains(", I heard you: “@aizuchi what"), "{call} is whole: {text}");
            }
        }
    }

    /// Whoever called the bot has an answer, alone or together with others, or a reason why not. How many have one.
    pub fn check_calls(&self, people: &[Talker]) -> usize {
        let mut count = 0;
        for talker in people {
            let answers = answers(&self.messages[talker.room]);
            let told: BTreeSet<&str> =
                answers.values().filter_map(|parts| parts[0].1.body["reply_to"].as_str()).collect();
            let acted: BTreeSet<_> = told.iter().filter_map(|id| Some(self.traces.get(*id)?.acted_at)).collect();
            for (id, text) in talker.taken.iter().filter(|(_, text)| is_call(text)) {
                let trace = &self.traces[id];
                match trace.outcome {
                    Outcome::Replies => {
                        assert!(trace.acted_at.is_some() && acted.contains(&trace.acted_at), "{text:?} has its answer");
                        count += 1;
                    }
                    Outcome::Silent => {
                        let excused = trace.cause == Cause::TooMany;
                        assert!(excused && !told.contains(id.as_str()), "{text:?}: {}", trace.sentence());
                    }
                    outcome => panic!("{text:?} is a call: {outcome:?}, {}", trace.sentence()),
                }
            }
        }
        count
    }

    /// How many parts of each answer are out, by call.
    pub fn parts(&self) -> BTreeMap<String, usize> {
        let all = self.messages.values().flat_map(|messages| answers(messages));
        all.map(|(call, parts)| (call.to_owned(), parts.len())).collect()
    }

    /// Answers that are out while the engine does not know it yet.
    fn unacknowledged(&self) -> BTreeSet<String> {
        let known: BTreeSet<String> = self.journal.iter().filter_map(acknowledges).collect();
        self.parts().into_keys().filter(|call| !known.contains(call)).collect()
    }
}

/// What a crash has left.
pub struct Left {
    /// How many parts of each answer are out, by call.
    pub parts: BTreeMap<String, usize>,
    /// Whether an answer is out, at least in part, while the engine does not know it yet.
    pub unacknowledged: bool,
}

impl Left {
    /// Reads a copy of the store, so that the next start finds it as it was left.
    pub fn read(data: &Path, aside: &Path) -> Option<Left> {
        let _ = std::fs::remove_dir_all(aside);
        std::fs::create_dir(aside).expect("a folder for the copy");
        for name in ["aizuchi.db", "aizuchi.db-wal"] {
            // Killed early on, it has made neither.
            let _ = std::fs::copy(data.join(name), aside.join(name));
        }
        let store = Connection::open(aside.join("aizuchi.db")).expect("a copy can be opened");
        let version: u32 =
            store.pragma_query_value(None, "user_version", |row| row.get(0)).expect("the store is sound");
        if version == 0 {
            return None;
        }
        let mut parts = BTreeMap::new();
        for key in rows(&store, "SELECT key FROM web_message WHERE key LIKE 'web:%#%/%'", |row| row.get::<_, String>(0))
        {
            *parts.entry(key.rsplit_once('/').expect("a key names call and part").0.to_owned()).or_default() += 1;
        }
        let acknowledged = "SELECT body FROM journal WHERE body LIKE '{\"Delivered\"%'";
        let bodies = rows(&store, acknowledged, |row| row.get::<_, String>(0));
        let inputs: Vec<Input> =
            bodies.iter().map(|body| serde_json::from_str(body).expect("a record can be read")).collect();
        let known: BTreeSet<String> = inputs.iter().filter_map(acknowledges).collect();
        let unacknowledged = parts.keys().any(|call| !known.contains(call));
        Some(Left { parts, unacknowledged })
    }
}

fn acknowledges(input: &Input) -> Option<String> {
    match input {
        Input::Delivered(call, _) => Some(call.to_string()),
        _ => None,
    }
}

fn said(input: &Input) -> Option<&str> {
    match input {
        Input::Said(message) => Some(message.id.as_str()),
        _ => None,
    }
}

/// Its own posts by call, the parts in the order in which they went out.
fn answers(messages: &[Kept]) -> BTreeMap<&str, Vec<(usize, &Kept)>> {
    let mut answers: BTreeMap<&str, Vec<(usize, &Kept)>> = BTreeMap::new();
    for kept in messages.iter().filter(|kept| kept.body["voice"] == "Me") {
        let (call, part) = kept.key.rsplit_once('/').expect("a key names call and part");
        answers.entry(call).or_default().push((part.parse().expect("a number"), kept));
    }
    answers
}

fn rows<T>(store: &Connection, query: &str, read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>) -> Vec<T> {
    let mut statement = store.prepare(query).expect("the tables are there");
    let found = statement.query_map([], read).expect("they can be read");
    found.collect::<rusqlite::Result<_>>().expect("they can be read")
}
