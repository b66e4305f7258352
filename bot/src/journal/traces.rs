//! The decision about each message, kept so that it can be explained later.

use std::collections::BTreeSet;

use aizuchi_core::listen::Unheard;
use aizuchi_core::trace::{Cause, ChunkProgress};
use aizuchi_core::types::{MessageId, PersonId, RoomId};
use aizuchi_core::{Time, Trace};

use crate::ports::{DecisionPart, DecisionQuery, DecisionStore, StoredDecision, Stores};
use crate::stores::StoreError;

/// Cheap to clone.
#[derive(Clone)]
pub struct Traces {
    pub(super) stores: Stores,
}

impl Traces {
    pub fn new(stores: impl Into<Stores>) -> Traces {
        Traces { stores: stores.into() }
    }

    pub async fn find(&self, room: &RoomId, message: &MessageId) -> Result<Option<Trace>, StoreError> {
        find(&*self.stores.decisions, Some(room), message).await
    }

    /// The decisions about these messages, if there are any.
    pub async fn of(&self, room: &RoomId, messages: Vec<MessageId>) -> Result<Vec<Trace>, StoreError> {
        let found = self.stores.decisions.find(DecisionQuery::Messages(room, &messages)).await?;
        found.into_iter().map(readable).collect()
    }

    /// The latest decision of a room, except those about its own posts.
    pub async fn last(&self, room: &RoomId) -> Result<Option<Trace>, StoreError> {
        last(&*self.stores.decisions, Some(room)).await
    }
}

/// Whether this message was received before: only the first decision counts, which was made or will be.
pub fn is_repeat(trace: &Trace) -> bool {
    trace.cause == Cause::Unheard(Unheard::Repeated)
}

/// How a decision is stored if there may already be one about the same message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictRule {
    /// The first decision stays.
    Not,
    /// People's response is added to the stored decision; if there is none, the whole decision is stored.
    AddResponse,
    /// The progress of its answer is added in the same way.
    AddProgress,
    /// A message that is received again keeps its first decision.
    IfNew,
    Replace,
}

impl ConflictRule {
    pub fn of(trace: &Trace) -> ConflictRule {
        let has_come_on = |chunks: &ChunkProgress| !chunks.later.is_empty() || chunks.stopped.is_some();
        let late = matches!(trace.cause, Cause::Unheard(unheard) if unheard.is_late());
        match trace.received {
            _ if is_repeat(trace) => ConflictRule::Not,
            Some(_) => ConflictRule::AddResponse,
            None if late => ConflictRule::IfNew,
            None if trace.chunks.as_ref().is_some_and(has_come_on) => ConflictRule::AddProgress,
            None => ConflictRule::Replace,
        }
    }
}

/// Whether it may contain words of a model or a tool: see [`Trace::forget_words`].
pub fn has_words(trace: &Trace) -> bool {
    !trace.asked.is_empty()
        || !trace.tools.is_empty()
        || matches!(trace.cause, Cause::SaidNo { .. } | Cause::SaidYes { .. })
}

fn readable(stored: StoredDecision) -> Result<Trace, StoreError> {
    let StoredDecision { room, message, trace, .. } = stored;
    trace.map_err(|what| StoreError::Failed(format!("cannot read the decision about {message} in {room}: {what}")))
}

/// The decision about a message; without a room, the latest one with that id.
pub async fn find(
    store: &dyn DecisionStore,
    room: Option<&RoomId>,
    message: &MessageId,
) -> Result<Option<Trace>, StoreError> {
    store.find(DecisionQuery::Message(room, message)).await?.pop().map(readable).transpose()
}

/// The latest decision about somebody else's message.
pub async fn last(store: &dyn DecisionStore, room: Option<&RoomId>) -> Result<Option<Trace>, StoreError> {
    let is_about_others = |trace: &Trace| trace.cause != Cause::Unheard(Unheard::Itself);
    store.find(DecisionQuery::Latest(room, is_about_others)).await?.pop().map(readable).transpose()
}

/// Every readable decision.
pub async fn all(store: &dyn DecisionStore) -> Result<Vec<Trace>, StoreError> {
    let mut traces = Vec::new();
    each(store, DecisionPart::All, |stored| traces.extend(stored.trace.ok())).await?;
    Ok(traces)
}

/// Passes a part of the decisions to `see`, page by page.
pub async fn each(
    store: &dyn DecisionStore,
    part: DecisionPart<'_>,
    mut see: impl FnMut(StoredDecision),
) -> Result<(), StoreError> {
    let mut last: Option<(RoomId, MessageId)> = None;
    loop {
        let page = store.page(part, last.as_ref().map(|(room, message)| (room, message))).await?;
        let Some(newest) = page.last() else { return Ok(()) };
        last = Some((newest.room.clone(), newest.message.clone()));
        page.into_iter().for_each(&mut see);
    }
}

/// When and where the bot acted on messages of these people: the deliveries at these times are the answers.
pub async fn acted_for(store: &dyn DecisionStore, people: &[PersonId]) -> Result<BTreeSet<(RoomId, Time)>, StoreError> {
    let mut acted = BTreeSet::new();
    for person in people {
        each(store, DecisionPart::By(person), |stored| {
            let Ok(trace) = stored.trace else { return };
            let later = trace.chunks.into_iter().flat_map(|chunks| chunks.later);
            acted.extend(trace.acted_at.into_iter().chain(later).map(|at| (trace.place.room.clone(), at)));
        })
        .await?;
    }
    Ok(acted)
}
