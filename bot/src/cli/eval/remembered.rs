//! A conversation as memory stores it: each turn is a fact with its speaker, its time, and the turns around it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use aizuchi_core::Policies;
use aizuchi_core::memory::{
    CloseTo, ContextTurn, ExportItem, FactDraft, FactId, Filter, MemoryChange, Origin, Query, Recalled, context_of,
};
use aizuchi_core::settings::{Layers, Ranking};
use aizuchi_core::types::{MessageId, PersonId, Span, Time, Visibility};
use anyhow::Context as _;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::locomo::{EvalTurn, Sample};
use crate::memory::{Ram, SqliteMemory, StoredLayers};
use crate::meter::Meter;
use crate::ports::{Embedder, Memory};
use crate::stores::Database;

/// A memory that contains a conversation.
pub struct RememberedTalk {
    memory: Arc<dyn Memory>,
    policies: Policies,
    at: Time,
    _folder: Option<TemporaryFolder>,
}

/// Where the conversation is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvalStore {
    InMemory,
    OnDisk,
}

/// How turns become facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnDetail {
    /// With the speaker, the pictures, and the turns around them.
    Whole,
    TextOnly,
}

const ROOM: &str = "eval:talk";
/// The assumed time between two turns, since the data has no times of single turns.
const BETWEEN_TURNS: Span = Span::minutes(1);
const BETWEEN_SESSIONS: Span = Span::minutes(24 * 60);

impl RememberedTalk {
    pub async fn new(
        sample: &Sample,
        store: EvalStore,
        ranking: Ranking,
        embedder: Option<&dyn Embedder>,
    ) -> anyhow::Result<RememberedTalk> {
        let policies = policies(ranking)?;
        let folder = (store == EvalStore::OnDisk).then(TemporaryFolder::new).transpose()?;
        let memory: Arc<dyn Memory> = match &folder {
            None => Arc::new(Ram::default()),
            Some(folder) => {
                Arc::new(SqliteMemory::new(Database::open(&folder.0.join("aizuchi.db"))?, StoredLayers::ALL))
            }
        };
        let detail = if ranking == Ranking::Default { TurnDetail::Whole } else { TurnDetail::TextOnly };
        let (turns, at) = turns(sample);
        let facts = facts(sample, &turns, detail);
        memory.apply(facts, &policies).await?;
        let talk = RememberedTalk { memory, policies, at, _folder: folder };
        if let Some(embedder) = embedder {
            talk.embed(embedder).await?;
        }
        Ok(talk)
    }

    async fn embed(&self, embedder: &dyn Embedder) -> anyhow::Result<()> {
        let model: Box<str> = embedder.model().into();
        let facts = self.memory.facts(Filter { without_vector: Some(model.clone()), ..Filter::default() }).await?;
        let texts: Vec<String> = facts.iter().map(|fact| fact.meaning()).collect();
        let vectors = embedder.embed(&texts, &Meter::default()).await?;
        let embedded = facts.into_iter().zip(vectors).map(|(fact, vector)| MemoryChange::Embedded {
            fact: fact.id,
            content: fact.content,
            model: model.clone(),
            vector,
        });
        Ok(self.memory.apply(embedded.collect(), &self.policies).await?)
    }

    /// What is recalled for a question asked at the end of the conversation by somebody who is close to these people.
    pub async fn ask(
        &self,
        text: &str,
        vector: Option<(Box<str>, Vec<f32>)>,
        count: usize,
        close: Vec<CloseTo>,
    ) -> anyhow::Result<Vec<Recalled>> {
        let reader = Origin::new(ROOM, Visibility::Public);
        let query = Query { text: text.into(), speaker: None, reader, at: self.at, count, vector, close };
        Ok(self.memory.recall(query, &self.policies).await?)
    }
}

/// Settings under which nothing fades and everything is kept.
fn policies(ranking: Ranking) -> anyhow::Result<Policies> {
    let mut layers = Layers::default();
    let ranking = match ranking {
        Ranking::Default => "default",
        Ranking::Bm25 => "bm25",
        Ranking::Sphene => "sphene",
    };
    layers.add_assignment("memory.facts_half_life_days=100000");
    layers.add_assignment(&format!("memory.ranking={ranking}"));
    layers.resolve(&|_| None).map_err(|mistakes| anyhow::anyhow!("{mistakes:?}"))
}

/// The turns with their times, and the time of the last one.
fn turns(sample: &Sample) -> (Vec<ContextTurn>, Time) {
    let mut last = Time(0);
    let mut session = None;
    let mut turns = Vec::new();
    for turn in &sample.turns {
        last = match session.replace(turn.session) {
            Some(before) if before == turn.session => last + BETWEEN_TURNS,
            _ => time_named(&turn.when).unwrap_or(last + BETWEEN_SESSIONS),
        };
        turns.push(ContextTurn {
            message: MessageId::new(&turn.id),
            person: PersonId::new(&turn.speaker),
            name: turn.speaker.as_str().into(),
            at: last,
            offset: 0,
            text: turn.text.as_str().into(),
        });
    }
    let end = turns.iter().map(|turn| turn.at).max().unwrap_or(Time(0));
    (turns, end)
}

/// Parses "1:56 pm on 8 May, 2023".
fn time_named(text: &str) -> Option<Time> {
    let time = DateTime::strptime("%I:%M %p on %d %B, %Y", text.trim()).ok()?;
    let time = time.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond();
    u64::try_from(time).ok().map(Time)
}

fn facts(sample: &Sample, turns: &[ContextTurn], detail: TurnDetail) -> Vec<MemoryChange> {
    let sessions: Vec<u32> = sample.turns.iter().map(|turn| turn.session).collect();
    let fact = |(at, turn): (usize, &EvalTurn)| {
        let said = &turns[at];
        let first = sessions.partition_point(|session| *session < turn.session);
        let end = sessions.partition_point(|session| *session <= turn.session);
        let (keywords, context) = match detail {
            TurnDetail::TextOnly => (Vec::new(), Vec::new()),
            TurnDetail::Whole => {
                let context = context_of(&said.text, std::slice::from_ref(&said.message), &turns[first..end]);
                (
                    Some(turn.picture.as_str()).filter(|text| !text.is_empty()).map(Into::into).into_iter().collect(),
                    context,
                )
            }
        };
        let draft = FactDraft {
            origin: Origin::new(ROOM, Visibility::Public),
            content: said.text.clone(),
            keywords,
            people: vec![said.person.clone()],
            messages: vec![said.message.clone()],
            context,
            confidence: 1.0,
            shareable: true,
            at: said.at,
            replaces: None,
        };
        MemoryChange::Imported(Box::new(ExportItem::Fact(draft.keep(FactId(0)))))
    };
    sample.turns.iter().enumerate().map(fact).collect()
}

/// A folder that is deleted on drop.
struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    fn new() -> anyhow::Result<TemporaryFolder> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("aizuchi-eval-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).with_context(|| format!("cannot create {}", path.display()))?;
        Ok(TemporaryFolder(path))
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // If this fails, the system empties its temporary folder anyway.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
