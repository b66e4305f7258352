//! One suite that every store of memory passes, and what holds over random lives.

mod caps;
mod context;
mod durable;
mod forget;
mod lasting;
mod properties;
mod suite;
mod ties;
mod upgrade;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aizuchi_core::Policies;
use aizuchi_core::memory::{
    Answered, ChannelMemory, ExportItem, Fact, FactDraft, Filter, HeardFrom, MemoryChange, Note, Origin, PersonNames,
    Query, Recalled, Tie,
};
use aizuchi_core::settings::Layers;
use aizuchi_core::types::{MessageId, PersonId, RoomId, Span, Time, Visibility};
use aizuchi_test_servers::folder::Scratch;

use super::{MemoryContext, MemoryUser, Ram, StoredLayers, open};
use crate::ports::{MemoryStore, StoreBackend};
use crate::stores::{DataFolder, Database};

/// A store in a folder of its own.
pub struct MemoryFixture {
    pub memory: Arc<dyn MemoryStore>,
    pub policies: Policies,
    pub folder: Scratch,
}

pub fn settings(assignments: &[&str]) -> Policies {
    let mut layers = Layers::default();
    assignments.iter().for_each(|assignment| layers.add_assignment(assignment));
    layers.resolve(&|_| None).unwrap()
}

/// The stores there are, each alone, and mixtures: a layer in one, the others in another.
pub fn stores() -> Vec<String> {
    let mut stores = vec!["local", "memory", "facts in local, others in memory", "profiles in local, others in memory"];
    if cfg!(feature = "postgres") {
        stores.extend([
            "postgres",
            "plain postgres",
            "facts in postgres, others in memory",
            "profiles in postgres, others in sqlite",
        ]);
    }
    if cfg!(feature = "firestore") {
        stores.extend([
            "firestore",
            "facts in firestore, others in local",
            "profiles in firestore, others in memory",
            "facts in local, others in firestore",
        ]);
    }
    stores.into_iter().map(str::to_owned).collect()
}

/// Those whose files can be searched.
pub fn stores_on_disk() -> Vec<String> {
    stores().into_iter().filter(|store| store.contains("local") || store.contains("sqlite")).collect()
}

impl MemoryFixture {
    pub async fn new(store: &str, name: &str) -> MemoryFixture {
        MemoryFixture::with(store, name, &[]).await
    }

    pub async fn with(store: &str, name: &str, assignments: &[&str]) -> MemoryFixture {
        let folder = Scratch::new(&format!("{}-{name}", store.replace([' ', ','], "-")));
        let policies = settings(assignments);
        let memory = reopen(store, &folder).await;
        MemoryFixture { memory, policies, folder }
    }

    pub async fn apply(&self, changes: impl IntoIterator<Item = MemoryChange>) {
        self.memory.apply(changes.into_iter().collect(), &self.policies).await.unwrap();
    }

    pub async fn recall(&self, text: &str, reader: &Origin, at: Time) -> Vec<Recalled> {
        let query = Query {
            text: text.into(),
            speaker: None,
            reader: reader.clone(),
            at,
            count: 10,
            vector: None,
            close: Vec::new(),
        };
        self.memory.recall(query, &self.policies).await.unwrap()
    }

    pub async fn found(&self, text: &str, reader: &Origin) -> Vec<String> {
        let found = self.recall(text, reader, day(1)).await;
        found.into_iter().map(|recalled| recalled.fact.content.into()).collect()
    }

    pub async fn facts(&self) -> Vec<Fact> {
        self.memory.facts(Filter::default()).await.unwrap()
    }

    pub async fn ties(&self) -> Vec<Tie> {
        self.memory.ties(None, None).await.unwrap()
    }

    pub async fn contents(&self) -> Vec<String> {
        self.facts().await.into_iter().map(|fact| fact.content.into()).collect()
    }
}

/// Opens a store, as often as a test likes. One on a server is found again by what its folder says.
pub async fn reopen(store: &str, folder: &Path) -> Arc<dyn MemoryStore> {
    let backend = backend(store, folder).await;
    let Some((one, others)) = store.split_once(", others in ") else {
        return match store {
            "memory" => Arc::new(Ram::new(StoredLayers::ALL)),
            #[cfg(feature = "firestore")]
            "firestore" => Arc::new(crate::stores::firestore::test_project::memory(folder).await),
            _ => backend.memory(StoredLayers::ALL),
        };
    };
    let (layer, first) = one.split_once(" in ").unwrap();
    let mut layers = crate::config::new_layers();
    for of in ["channel_context", "profiles", "facts"] {
        let store = if of == layer { first } else { others };
        layers.add_assignment(&format!("memory.{of}_store={store}"));
    }
    layers.add_assignment(&format!("store.folder={}", folder.display()));
    #[cfg(feature = "firestore")]
    if store.contains("firestore") {
        let assignments = crate::stores::firestore::test_project::assignments(folder).await;
        assignments.iter().for_each(|assignment| layers.add_assignment(assignment));
    }
    let policies = layers.resolve(&|_| None).unwrap();
    let context = MemoryContext { backend: &*backend, layers: &layers, user: MemoryUser::CommandLine };
    open(&policies.general().settings.memory, context).await.unwrap()
}

async fn backend(store: &str, folder: &Path) -> Arc<dyn StoreBackend> {
    #[cfg(feature = "postgres")]
    if store.contains("postgres") {
        use aizuchi_test_servers::postgres::PostgresVersion;
        let without_extension = store.contains("plain postgres");
        let version = if without_extension { PostgresVersion::Debian } else { PostgresVersion::WithVector };
        return Arc::new(crate::stores::postgres::scratch(folder, version).await);
    }
    let _ = store;
    Arc::new(Database::open(&DataFolder::database_in(folder)).unwrap())
}

pub fn day(day: u64) -> Time {
    Time(1_700_000_000_000) + Span::minutes(day * 24 * 60)
}

pub fn public(room: &str) -> Origin {
    Origin::new(room, Visibility::Public)
}

pub fn private(room: &str) -> Origin {
    Origin::new(room, Visibility::Private)
}

pub fn draft(origin: &Origin, content: &str) -> FactDraft {
    FactDraft {
        origin: origin.clone(),
        content: content.into(),
        keywords: Vec::new(),
        people: Vec::new(),
        messages: Vec::new(),
        context: Vec::new(),
        confidence: 0.8,
        shareable: true,
        at: day(0),
        replaces: None,
    }
}

pub fn sourced(origin: &Origin, content: &str, sources: &[(&str, &str)]) -> FactDraft {
    let people = sources.iter().map(|(person, _)| PersonId::new(person)).collect();
    let messages = sources.iter().map(|(_, message)| MessageId::new(message)).collect();
    FactDraft { people, messages, ..draft(origin, content) }
}

pub fn kept(draft: FactDraft) -> MemoryChange {
    MemoryChange::Kept(Box::new(draft))
}

pub fn reflected(origin: &Origin, up_to: u64, facts: Vec<FactDraft>, people: Vec<Note>) -> MemoryChange {
    MemoryChange::Reflected { origin: origin.clone(), up_to, at: day(0), facts, people }
}

pub fn note(person: &str, about: &str, message: &str) -> Note {
    Note {
        person: PersonId::new(person),
        tags: vec![format!("tag {about}").into()],
        notes: vec![format!("note {about}").into()],
        last_talk: Some(format!("talk {about}").into()),
        messages: vec![MessageId::new(message)],
        echoes: Vec::new(),
    }
}

pub fn heard(origin: &Origin, up_to: u64, person: &str, name: &str, topic: &str) -> MemoryChange {
    MemoryChange::Heard(Box::new(HeardFrom {
        origin: origin.clone(),
        up_to,
        message: MessageId::new(format!("m{up_to}")),
        person: PersonId::new(person),
        name: name.into(),
        at: day(0) + Span::seconds(up_to),
        mentions_me: up_to == 1,
        topics: vec![topic.into()],
    }))
}

pub fn answered(origin: &Origin, from: &str, to: &str, words: &[(&str, &str)]) -> MemoryChange {
    MemoryChange::Answered(Box::new(Answered {
        origin: origin.clone(),
        from: PersonId::new(from),
        to: PersonId::new(to),
        at: day(0),
        words: words.iter().map(|(word, message)| ((*word).into(), MessageId::new(message))).collect(),
    }))
}

pub fn summarized(origin: &Origin, up_to: u64, summary: &str, active: &[(&str, &str)]) -> MemoryChange {
    MemoryChange::Summarized(Box::new(ChannelMemory {
        origin: origin.clone(),
        summary: summary.into(),
        mood: "calm".into(),
        topics: vec!["tea".into()],
        active: active.iter().map(|(id, name)| (PersonId::new(id), (*name).into())).collect(),
        at: day(0),
        up_to,
        messages: vec![MessageId::new(format!("m{up_to}"))],
    }))
}

pub fn forget(person: &str) -> MemoryChange {
    let name = person.split_once(':').map_or(person, |(_, name)| name);
    let names = PersonNames { certain: vec![name.into()], ..PersonNames::default() };
    MemoryChange::PersonForgotten { person: PersonId::new(person), names, rooms: Vec::new() }
}

pub fn gone(room: &str, message: &str) -> MemoryChange {
    MemoryChange::MessageGone { room: RoomId::new(room), message: MessageId::new(message) }
}

/// Whether any file of the folder, or a document of its project, holds these bytes.
pub fn scan(folder: &Path, words: &str) -> Option<PathBuf> {
    let holds = |path: &PathBuf| {
        // The log of a store that nobody has open any more goes away by itself.
        let bytes = match std::fs::read(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return false,
            read => read.unwrap(),
        };
        bytes.windows(words.len()).any(|window| window.eq_ignore_ascii_case(words.as_bytes()))
    };
    let found = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).find(holds);
    #[cfg(feature = "firestore")]
    let found = found.or_else(|| {
        let dump = crate::stores::firestore::test_project::dump(folder);
        dump.to_lowercase().contains(&words.to_lowercase()).then(|| "a document of Firestore".into())
    });
    found
}

/// Something of every layer, with a vector.
pub async fn remember_something(memory: &dyn MemoryStore) {
    let (lobby, policies) = (public("web:lobby"), settings(&[]));
    let changes = vec![
        heard(&lobby, 1, "web:mia", "Mia", "gardens"),
        summarized(&lobby, 1, "They talk about gardens.", &[("web:mia", "Mia")]),
        kept(sourced(&lobby, "Mia grows tomatoes", &[("web:mia", "m1")])),
        kept(sourced(&lobby, "Mia lives in 京都", &[("web:mia", "m2")])),
        answered(&lobby, "web:mia", "web:bob", &[("tomatoes", "m1")]),
        MemoryChange::OptedOut { person: PersonId::new("web:zoe"), out: true },
    ];
    memory.apply(changes, &policies).await.unwrap();
    let fact = memory.facts(Filter::default()).await.unwrap().pop().unwrap();
    let embedded =
        MemoryChange::Embedded { fact: fact.id, content: fact.content, model: "m".into(), vector: vec![0.5, -1.0] };
    memory.apply(vec![embedded], &policies).await.unwrap();
}
