//! Memory in Firestore.
//!
//! A change is applied as in every store (`crate::memory::apply`), on a thread that may block, over what one transaction
//! reads. If another process changed any of it meanwhile, the commit is aborted and the change is repeated over the new
//! state. Changes of one process wait for each other: they would only abort each other.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use aizuchi_core::Policies;
use aizuchi_core::memory::rank::SearchQuestion;
use aizuchi_core::memory::{
    ChannelMemory, ExportItem, Fact, FactId, Filter, Marks, MemoryChange, Origin, Person, PersonExport, Query,
    Recalled, SearchOptions, Tie,
};
use aizuchi_core::types::{PersonId, RoomId, Span, Time};
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;
use tokio::sync::Mutex;

use super::client::DocumentClient;
use super::commit::{CommitParts, commit, new_commit, send};
use super::connect::connect;
use super::document::{Collection, DocumentFields, DocumentFilter, DocumentKey, DocumentLimit};
use super::expected::expected;
use super::facts::{StoredVector, to_fields};
use super::failure::FirestoreFailure;
use super::index::FirestoreFactIndex;
use super::patience::{Attempts, Patience};
use super::read::{about, all, body, facts, get, people, ties, who_opted_out};
use super::scope::MessageScope;
use super::session::{ChangeSession, too_large};
use super::table::{
    FirestoreTable, StoredMarks, channel_fields, channel_key, marks_key, person_fields, person_key, tie_fields, tie_key,
};
use crate::memory::StoredLayers;
use crate::memory::apply::apply;
use crate::memory::search::{self, readable_places};
use crate::ports::{BoxFuture, Memory, MemoryCatalog, WaitLimit};
use crate::stores::StoreError;
use crate::stores::firestore::FirestoreLocation;

/// Cheap to clone.
#[derive(Clone)]
pub struct FirestoreMemory {
    client: Arc<DocumentClient>,
    kept: StoredLayers,
    writing: Arc<Mutex<()>>,
    faded_at: Arc<AtomicU64>,
}

/// Fading takes months; finding faded facts reads everything, so it is done once a day.
const FADES_EVERY: Span = Span::minutes(24 * 60);
/// How many changes of an import are one transaction: each queries for duplicates, and a transaction has to end within
/// minutes.
const IMPORTED_TOGETHER: usize = 50;
/// What an answer or a command waits for, in all.
const WAITS_MAX: Duration = Duration::from_secs(5);
/// What it is called in metrics.
const STORE: &str = "firestore";

impl FirestoreMemory {
    /// Connects. `Err` says why there is no connection.
    pub async fn open(
        location: &FirestoreLocation,
        kept: StoredLayers,
        scope: MessageScope,
        patience: Patience,
    ) -> Result<FirestoreMemory, String> {
        let client = Arc::new(connect(location, scope, patience).await?);
        Ok(FirestoreMemory { client, kept, writing: Arc::default(), faded_at: Arc::default() })
    }

    /// Writes a test document, reads it, and deletes it.
    pub async fn try_out(&self) -> Result<(), StoreError> {
        let key = DocumentKey::of_trial(&new_commit());
        send(&self.client, &[self.client.write(&key, Some(DocumentFields::of(&"trial")))]).await?;
        let found = retrying(&self.client, || get(&self.client, std::slice::from_ref(&key))).await;
        // It is deleted also if it could not be read.
        let deleted = send(&self.client, &[self.client.write(&key, None)]).await;
        let found = found?;
        deleted?;
        match body::<String>(&found, &key)?.as_deref() {
            Some("trial") => Ok(()),
            Some(_) | None => Err(StoreError::Failed("Firestore: what was written was not found".to_owned())),
        }
    }

    pub(super) fn client(&self) -> &Arc<DocumentClient> {
        &self.client
    }

    async fn change(&self, mut changes: Vec<MemoryChange>, policies: &Policies) -> Result<(), StoreError> {
        let _alone = self.writing.lock().await;
        let faded_at = Time(self.faded_at.load(Ordering::Relaxed));
        changes.retain(|change| fades_at(change).is_none_or(|at| at.since(faded_at) >= FADES_EVERY));
        let fades = changes.iter().filter_map(fades_at).max();
        let is_import = changes.iter().all(|change| matches!(change, MemoryChange::Imported(_)));
        let together = if is_import { IMPORTED_TOGETHER } else { changes.len().max(1) };
        let (before, begun) = (self.client.billed.so_far(), Instant::now());
        for part in changes.chunks(together) {
            self.change_together(part, policies).await?;
        }
        metrics::histogram!("aizuchi_store_seconds", "store" => STORE, "kind" => "write").record(begun.elapsed());
        if let Some(at) = fades {
            self.faded_at.store(at.0, Ordering::Relaxed);
        }
        let after = self.client.billed.so_far();
        let [reads, writes, deletes, calls] = std::array::from_fn(|at| after[at] - before[at]);
        tracing::debug!(reads, writes, deletes, calls, "memory changed in Firestore");
        Ok(())
    }

    async fn change_together(&self, changes: &[MemoryChange], policies: &Policies) -> Result<(), StoreError> {
        let (mut attempts, mut aborted) = (Attempts::within(self.client.patience.writes), Vec::new());
        loop {
            let attempt = self.attempt(changes.to_vec(), policies, &mut attempts, &mut aborted);
            let Err(failure) = attempt.await else { return Ok(()) };
            wait_to_retry(failure, &mut attempts, "write").await?;
        }
    }

    /// Searches facts, on a thread that may block.
    async fn search(&self, query: Query, options: SearchOptions) -> Result<Vec<Recalled>, FirestoreFailure> {
        let places = readable_places(&query.reader, options.across_rooms);
        let index = FirestoreFactIndex::new(self.client.clone(), Handle::current(), places);
        let work = tokio::task::spawn_blocking(move || {
            let ahead = index.read_ahead(SearchQuestion::new(&query.text).words());
            (ahead.and_then(|()| search::recall(&index, &query, options)), index.into_failure())
        });
        let (found, failure) = work.await.map_err(|error| ended(&error))?;
        found.map_err(|error| failure.map_or(FirestoreFailure::Content(error), FirestoreFailure::Call))
    }

    /// `aborted` is the transaction of the previous attempt.
    async fn attempt(
        &self,
        changes: Vec<MemoryChange>,
        policies: &Policies,
        attempts: &mut Attempts,
        aborted: &mut Vec<u8>,
    ) -> Result<(), FirestoreFailure> {
        let (kept, policies) = (self.kept, policies.clone());
        let expected = expected(&changes, kept, self.client.scope.journal());
        let session = ChangeSession::new(self.client.clone(), Handle::current(), expected, std::mem::take(aborted));
        let work = tokio::task::spawn_blocking(move || {
            let mut table = FirestoreTable(session);
            let applied = changes.into_iter().try_for_each(|change| apply(&mut table, kept, change, &policies));
            (applied, table.0.finish())
        });
        let (applied, attempt) = work.await.map_err(|error| ended(&error))?;
        if let Err(error) = applied {
            self.end(attempt.transaction).await;
            return Err(attempt.failure.map_or(FirestoreFailure::Content(error), FirestoreFailure::Call));
        }
        if attempt.written.is_empty() {
            self.end(attempt.transaction).await;
            return Ok(());
        }
        Ok(commit(&self.client, attempt, attempts, aborted).await?)
    }

    async fn whole<T: DeserializeOwned>(&self, collection: Collection) -> Result<Vec<T>, StoreError> {
        retrying(&self.client, move || all(&self.client, collection, &DocumentFilter::All, DocumentLimit::None)).await
    }

    async fn set_back_own_marks(&self, last: u64) -> Result<usize, StoreError> {
        let _alone = self.writing.lock().await;
        let own = self.client.scope.journal();
        let (mut parts, mut rooms) = (CommitParts::default(), 0);
        for StoredMarks { journal, room, marks } in self.whole(Collection::Marks).await? {
            if own != Some(&journal) || marks.up_to(last) == marks {
                continue;
            }
            let key = marks_key(&journal, &room);
            let set_back = StoredMarks { journal, room, marks: marks.up_to(last) };
            parts.add(self.client.write(&key, Some(DocumentFields::of(&set_back))));
            rooms += 1;
        }
        for part in parts.0 {
            send(&self.client, &part.writes).await?;
        }
        Ok(rooms)
    }

    async fn end(&self, transaction: Vec<u8>) {
        if !transaction.is_empty() {
            self.client.roll_back(transaction).await;
        }
    }
}

fn ended(error: &tokio::task::JoinError) -> StoreError {
    StoreError::Failed(format!("memory in Firestore failed: {error}"))
}

/// Waits before another attempt, if one may succeed.
async fn wait_to_retry(
    failure: FirestoreFailure,
    attempts: &mut Attempts,
    kind: &'static str,
) -> Result<(), StoreError> {
    let error = match failure {
        FirestoreFailure::Content(error) => error,
        FirestoreFailure::Call(failure) => match attempts.next_after(&failure) {
            Some(pause) => {
                metrics::counter!("aizuchi_store_retries_total", "store" => STORE, "kind" => kind).increment(1);
                tracing::debug!(?failure, ?pause, kind, "retrying a Firestore call");
                tokio::time::sleep(pause).await;
                return Ok(());
            }
            None => failure.into(),
        },
    };
    metrics::counter!("aizuchi_store_errors_total", "store" => STORE).increment(1);
    Err(error)
}

/// Reads, again if a call failed that may succeed a little later.
pub(super) async fn retrying<T, F>(client: &DocumentClient, work: impl Fn() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, FirestoreFailure>>,
{
    let (mut attempts, begun) = (Attempts::within(client.patience.reads), Instant::now());
    loop {
        match work().await {
            Ok(found) => {
                metrics::histogram!("aizuchi_store_seconds", "store" => STORE, "kind" => "read")
                    .record(begun.elapsed());
                return Ok(found);
            }
            Err(failure) => wait_to_retry(failure, &mut attempts, "read").await?,
        }
    }
}

fn fades_at(change: &MemoryChange) -> Option<Time> {
    if let MemoryChange::Faded { at } = change { Some(*at) } else { None }
}

impl Memory for FirestoreMemory {
    fn apply<'a>(
        &'a self,
        changes: Vec<MemoryChange>,
        policies: &'a Policies,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        // It goes on when its caller no longer waits: a transaction that is left open would block all others.
        let (memory, policies) = (self.clone(), policies.clone());
        let change = async move { memory.change(changes, &policies).await };
        Box::pin(async move { tokio::spawn(change).await.map_err(|error| ended(&error))? })
    }

    fn channel<'a>(&'a self, room: &'a RoomId) -> BoxFuture<'a, Result<(Option<ChannelMemory>, Marks), StoreError>> {
        let marks = self.client.scope.journal().map(|journal| marks_key(journal, room));
        let keys: Vec<DocumentKey> = std::iter::once(channel_key(room)).chain(marks).collect();
        Box::pin(async move {
            let asked = &keys[..];
            let found = retrying(&self.client, move || get(&self.client, asked)).await?;
            let stored: Option<StoredMarks> = keys.get(1).map(|key| body(&found, key)).transpose()?.flatten();
            Ok((body(&found, &keys[0])?, stored.map(|stored| stored.marks).unwrap_or_default()))
        })
    }

    fn recall<'a>(&'a self, query: Query, policies: &'a Policies) -> BoxFuture<'a, Result<Vec<Recalled>, StoreError>> {
        let options = (&policies.for_room(query.reader.room.as_str()).settings.memory).into();
        Box::pin(async move { retrying(&self.client, || self.search(query.clone(), options)).await })
    }

    fn facts<'a>(&'a self, filter: Filter) -> BoxFuture<'a, Result<Vec<Fact>, StoreError>> {
        Box::pin(async move {
            let filter = &filter;
            retrying(&self.client, move || facts(&self.client, filter)).await
        })
    }

    fn people<'a>(&'a self, who: Option<&'a PersonId>) -> BoxFuture<'a, Result<Vec<Person>, StoreError>> {
        Box::pin(retrying(&self.client, move || people(&self.client, who)))
    }

    fn who_opted_out<'a>(&'a self, people: &'a [PersonId]) -> BoxFuture<'a, Result<Vec<PersonId>, StoreError>> {
        Box::pin(retrying(&self.client, move || who_opted_out(&self.client, people)))
    }

    fn ties<'a>(
        &'a self,
        room: Option<&'a RoomId>,
        person: Option<&'a PersonId>,
    ) -> BoxFuture<'a, Result<Vec<Tie>, StoreError>> {
        Box::pin(retrying(&self.client, move || ties(&self.client, room, person)))
    }

    fn about<'a>(&'a self, person: &'a PersonId) -> BoxFuture<'a, Result<PersonExport, StoreError>> {
        Box::pin(retrying(&self.client, move || about(&self.client, person)))
    }

    fn set_back_marks(&self, last: u64) -> BoxFuture<'_, Result<usize, StoreError>> {
        Box::pin(self.set_back_own_marks(last))
    }

    fn wait_limit(&self) -> Option<WaitLimit> {
        Some(WaitLimit { store: "Firestore", time: WAITS_MAX })
    }
}

impl MemoryCatalog for FirestoreMemory {
    fn fact(&self, id: FactId) -> BoxFuture<'_, Result<Option<Fact>, StoreError>> {
        let key = DocumentKey::of_fact(id.0);
        Box::pin(async move {
            let keys = std::slice::from_ref(&key);
            body(&retrying(&self.client, move || get(&self.client, keys)).await?, &key)
        })
    }

    fn channels(&self) -> BoxFuture<'_, Result<Vec<ChannelMemory>, StoreError>> {
        Box::pin(async move {
            let mut channels: Vec<ChannelMemory> = self.whole(Collection::Channels).await?;
            channels.sort_by(|a, b| a.origin.room.cmp(&b.origin.room));
            Ok(channels)
        })
    }

    fn rooms(&self) -> BoxFuture<'_, Result<Vec<RoomId>, StoreError>> {
        Box::pin(async move {
            let mut rooms: BTreeSet<RoomId> = BTreeSet::new();
            rooms.extend(self.whole::<StoredMarks>(Collection::Marks).await?.into_iter().map(|stored| stored.room));
            for collection in [Collection::Channels, Collection::Facts, Collection::Ties] {
                rooms.extend(self.whole::<Origin>(collection).await?.into_iter().map(|origin| origin.room));
            }
            Ok(rooms.into_iter().collect())
        })
    }

    fn refuses(&self, item: &ExportItem) -> Option<String> {
        let scope = &self.client.scope;
        let (key, fields) = match item {
            ExportItem::Fact(fact) => {
                (DocumentKey::of_fact(u64::MAX), to_fields(scope, fact, &StoredVector::default()))
            }
            ExportItem::Person(person) => (person_key(&person.id), person_fields(scope, person)),
            ExportItem::Tie(tie) => (tie_key(&tie.origin.room, &tie.from, &tie.to), tie_fields(scope, tie)),
            ExportItem::Channel(channel) => (channel_key(&channel.origin.room), channel_fields(channel)),
        };
        too_large(&self.client, &key, &fields)
    }
}
