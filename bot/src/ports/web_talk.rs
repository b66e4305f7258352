//! The talk of the web room as a store keeps it. The web room alone decides what may be said, by whom and where: a change
//! names what has to be read for it, decides from the result, and says what is to be written. The store does all three in
//! one transaction, so that nothing changes in between that the decision depends on.

use std::collections::HashSet;
use std::sync::Arc;

use aizuchi_core::Input;
use aizuchi_core::types::{Time, Voice};
use serde::{Deserialize, Serialize};

use super::{BoxFuture, InboxEntry};
use crate::stores::StoreError;

pub trait WebTalk: Send + Sync {
    /// Reads, decides and writes in one commit. Returns the input for the engine, which is not recorded.
    fn change<'a>(&'a self, change: &'a WebChange) -> BoxFuture<'a, Result<Option<Input>, StoreError>>;

    fn query(&self, query: WebQuery) -> BoxFuture<'_, Result<WebQueryResult, StoreError>>;

    /// Some messages of a room from before the change `before`, oldest first.
    fn history<'a>(
        &'a self,
        room: &'a str,
        before: u64,
        at_most: usize,
    ) -> BoxFuture<'a, Result<WebHistory, StoreError>>;

    /// What changed after the change `since`, in the order of the changes; in one room or in all.
    fn changes<'a>(
        &'a self,
        room: Option<&'a str>,
        since: u64,
        at_most: usize,
    ) -> BoxFuture<'a, Result<Vec<WebMessage>, StoreError>>;

    /// All rooms, oldest first, with the number of their messages.
    fn count_messages(&self) -> BoxFuture<'_, Result<Vec<(WebRoom, u64)>, StoreError>>;
}

/// Browser sessions that were started with the token. Those older than `since` are dropped; beyond `at_most`, the oldest
/// are.
pub trait WebSessions: Send + Sync {
    fn all(&self, since: Time, at_most: usize) -> BoxFuture<'_, Result<Vec<WebSession>, StoreError>>;

    fn begin(&self, session: WebSession, since: Time, at_most: usize) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Whether other processes begin sessions in it too.
    fn has_others(&self) -> bool {
        false
    }

    /// The sessions of these hashes.
    fn find(&self, hashes: Vec<[u8; 32]>) -> BoxFuture<'_, Result<Vec<WebSession>, StoreError>>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebSession {
    pub hash: [u8; 32],
    pub begun: Time,
}

/// The speaker. The id is the one everybody may see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Speaker {
    pub id: String,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebMessage {
    pub id: String,
    pub room: String,
    /// The number of its last change. Changes of all rooms share one counter.
    pub seq: u64,
    /// The number of its first change, and so its position in the room.
    pub first_seq: u64,
    /// Its key: sent again with the same key, it is the same message. `None` if nobody may know it any more.
    pub key: Option<String>,
    pub body: WebBody,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebBody {
    pub at: Time,
    pub by: Speaker,
    pub voice: Voice,
    pub text: String,
    pub thread: Option<String>,
    pub reply_to: Option<String>,
    pub edited: bool,
    pub deleted: bool,
    pub reactions: Vec<(String, Vec<Speaker>)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebRoom {
    pub name: String,
    pub opened: Time,
    /// Who may close it, if known.
    pub opened_by: Option<String>,
}

/// Some messages of a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebHistory {
    pub messages: Vec<WebMessage>,
    /// Whether there are older ones.
    pub more_before: bool,
    /// The number of the latest change of all, as of the same instant.
    pub last_seq: u64,
}

/// What is to be read. The number of the latest change always is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebQuery {
    /// The room of exactly this name.
    pub room: Option<String>,
    /// Messages of that room.
    pub ids: Vec<String>,
    /// Messages of any room.
    pub keys: Vec<String>,
    /// How many of those who spoke in that room, latest first.
    pub members: usize,
    /// The person with this secret.
    pub secret: Option<String>,
    /// All rooms.
    pub rooms: bool,
    /// The names of the rooms without a message.
    pub silent_rooms: bool,
    /// All messages of all rooms, in the order of their last changes.
    pub all_messages: bool,
}

/// The result of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebQueryResult {
    /// The number of the latest change.
    pub last_seq: u64,
    pub room: Option<WebRoom>,
    /// Those of the room that were requested, or all.
    pub messages: Vec<WebMessage>,
    pub by_key: Vec<WebMessage>,
    pub members: Vec<Speaker>,
    /// The id of the person with the secret.
    pub person: Option<String>,
    /// Oldest first, as are those without a message.
    pub rooms: Vec<WebRoom>,
    pub silent_rooms: Vec<String>,
}

/// A change of the talk that depends on its current state.
#[derive(Clone)]
pub struct WebChange {
    pub query: WebQuery,
    /// Called again when the whole commit is retried.
    pub decide: Arc<dyn Fn(&WebQueryResult) -> WebDecision + Send + Sync>,
}

#[derive(Clone, Debug, Default)]
pub struct WebDecision {
    /// In this order.
    pub writes: Vec<WebWrite>,
    /// The number of the latest change from now on, if changes were counted.
    pub last_seq: Option<u64>,
    /// The input for the engine.
    pub input: Option<Input>,
}

#[derive(Clone, Debug)]
pub enum WebWrite {
    Add(WebMessage),
    /// Writes its last change, its key and its body.
    Update(WebMessage),
    /// Unless a room of this name exists.
    OpenRoom(WebRoom),
    /// With everything in it.
    RemoveRoom(String),
    /// A person entered a room, under their current name.
    Enter {
        secret: String,
        person: Speaker,
        room: String,
        at: Time,
    },
    /// A person spoke in a room and can be mentioned there from now on, if they are known. Nothing is written if they spoke
    /// there under this name after `unless_since`.
    Spoke {
        room: String,
        by: Speaker,
        at: Time,
        unless_since: Time,
    },
    /// Deletes people once there are more than this: first those who never spoke, then those unseen for longest.
    LimitPeople {
        at_most: u32,
        besides: HashSet<String>,
    },
    /// Deletes people who were not seen since.
    DropUnseen(Time),
    /// The person, their memberships, and that they opened rooms.
    DropPerson(String),
    /// An entry for the engine at the next start.
    Leave(InboxEntry, Time),
}

impl WebQueryResult {
    pub fn message(&self, id: &str) -> Option<&WebMessage> {
        self.messages.iter().find(|message| message.id == id)
    }

    pub fn by_key(&self, key: &str) -> Option<&WebMessage> {
        self.by_key.iter().find(|message| message.key.as_deref() == Some(key))
    }
}
