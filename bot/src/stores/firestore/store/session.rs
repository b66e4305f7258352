//! One attempt at a change: it reads in one transaction, collects its writes for one commit, and sees its own writes.
//!
//! The transaction begins with the first call that reads. Nothing is read twice, and a collection that was read completely
//! is not queried again.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use firestore::gcloud_sdk::prost::Message as _;
use tokio::runtime::Handle;

use super::client::{CallResult, DocumentClient, DocumentVersions, ReadAnswer, ReadMoment};
use super::document::{Collection, DocumentFields, DocumentFilter, DocumentKey, DocumentLimit};
use super::failure::CallFailure;
use super::scope::MessageScope;
use crate::memory::table::StoreResult;
use crate::stores::StoreError;

/// The maximum size of a document with its name; Firestore allows 1 MiB.
pub const DOCUMENT_BYTES_MAX: usize = 1_000_000;

/// Each document, or that it does not exist.
pub type Documents = BTreeMap<DocumentKey, Option<Arc<DocumentFields>>>;

/// What Firestore would say of a document that is too large.
pub fn too_large(client: &DocumentClient, key: &DocumentKey, fields: &DocumentFields) -> Option<String> {
    let bytes = client.write(key, Some(fields.clone())).encoded_len();
    let what = key.collection.name();
    (bytes > DOCUMENT_BYTES_MAX)
        .then(|| format!("a document of {what} would have {bytes} bytes, and {DOCUMENT_BYTES_MAX} are allowed"))
}

pub struct ChangeSession {
    client: Arc<DocumentClient>,
    handle: Handle,
    aborted: Vec<u8>,
    transaction: RefCell<Vec<u8>>,
    /// Documents that will be needed, to be read with the first call.
    expected: RefCell<Vec<DocumentKey>>,
    stored: RefCell<Documents>,
    versions: RefCell<DocumentVersions>,
    read_whole: RefCell<BTreeSet<Collection>>,
    written: Documents,
    failure: RefCell<Option<CallFailure>>,
}

/// The result of an attempt.
pub struct ChangeAttempt {
    pub written: Documents,
    /// Of all documents that were found.
    pub versions: DocumentVersions,
    pub transaction: Vec<u8>,
    /// The call that failed, if any.
    pub failure: Option<CallFailure>,
}

impl ChangeSession {
    /// It blocks the thread that uses it, which must allow that.
    pub fn new(
        client: Arc<DocumentClient>,
        handle: Handle,
        expected: Vec<DocumentKey>,
        aborted: Vec<u8>,
    ) -> ChangeSession {
        ChangeSession {
            client,
            handle,
            aborted,
            transaction: RefCell::default(),
            expected: RefCell::new(expected),
            stored: RefCell::default(),
            versions: RefCell::default(),
            read_whole: RefCell::default(),
            written: Documents::new(),
            failure: RefCell::default(),
        }
    }

    pub fn scope(&self) -> &MessageScope {
        &self.client.scope
    }

    /// What it came to: only what is different from what is stored.
    pub fn finish(self) -> ChangeAttempt {
        let (stored, mut written) = (self.stored.into_inner(), self.written);
        written.retain(|key, fields| stored.get(key) != Some(&*fields));
        ChangeAttempt {
            written,
            versions: self.versions.into_inner(),
            transaction: self.transaction.into_inner(),
            failure: self.failure.into_inner(),
        }
    }

    fn call<T>(&self, call: impl Future<Output = CallResult<ReadAnswer<T>>>) -> StoreResult<T> {
        match self.handle.block_on(call) {
            Ok(ReadAnswer { found, begun, versions }) => {
                if !begun.is_empty() {
                    self.transaction.replace(begun);
                }
                self.versions.borrow_mut().extend(versions);
                Ok(found)
            }
            Err(failure) => {
                self.failure.replace(Some(failure.clone()));
                Err(failure.into())
            }
        }
    }

    fn moment(&self) -> ReadMoment {
        let transaction = self.transaction.borrow();
        match transaction.is_empty() {
            true => ReadMoment::Begin { aborted: self.aborted.clone() },
            false => ReadMoment::Within(transaction.clone()),
        }
    }

    pub fn get(&self, key: &DocumentKey) -> StoreResult<Option<Arc<DocumentFields>>> {
        if let Some(written) = self.written.get(key) {
            return Ok(written.clone());
        }
        if let Some(stored) = self.stored.borrow().get(key) {
            return Ok(stored.clone());
        }
        if self.read_whole.borrow().contains(&key.collection) {
            return Ok(None);
        }
        let mut keys = self.expected.take();
        keys.push(key.clone());
        keys.sort();
        keys.dedup();
        keys.retain(|key| !self.stored.borrow().contains_key(key));
        let found = self.call(self.client.get(&keys, self.moment()))?;
        for (key, fields) in found {
            self.remember(key, fields);
        }
        Ok(self.stored.borrow().get(key).cloned().flatten())
    }

    fn remember(&self, key: DocumentKey, fields: Option<DocumentFields>) {
        let without_commit = |mut fields: DocumentFields| {
            fields.take_commit();
            Arc::new(fields)
        };
        self.stored.borrow_mut().insert(key, fields.map(without_commit));
    }

    /// Documents ordered by name.
    pub fn select(
        &self,
        collection: Collection,
        filter: &DocumentFilter,
        limit: Option<usize>,
    ) -> StoreResult<Vec<(String, Arc<DocumentFields>)>> {
        if !self.read_whole.borrow().contains(&collection) {
            // Some of the results may have been changed or removed in this attempt.
            let changed = self.written.keys().filter(|key| key.collection == collection).count();
            let asked = limit.map_or(DocumentLimit::None, |limit| DocumentLimit::First(limit + changed));
            let found = self.call(self.client.select(collection, filter, asked, self.moment()))?;
            let mut names = BTreeSet::new();
            for (id, fields) in found {
                let key = DocumentKey { collection, id };
                names.insert(key.id.clone());
                if !self.stored.borrow().contains_key(&key) {
                    self.remember(key, Some(fields));
                }
            }
            if matches!(filter, DocumentFilter::All) && limit.is_none() {
                self.read_whole.borrow_mut().insert(collection);
            }
            return Ok(self.matching(collection, filter, Some(&names), limit));
        }
        Ok(self.matching(collection, filter, None, limit))
    }

    /// Matching documents among these names and what was written.
    fn matching(
        &self,
        collection: Collection,
        filter: &DocumentFilter,
        names: Option<&BTreeSet<String>>,
        limit: Option<usize>,
    ) -> Vec<(String, Arc<DocumentFields>)> {
        let stored = self.stored.borrow();
        let of = DocumentKey { collection, id: String::new() };
        let in_collection = |key: &&DocumentKey| key.collection == collection;
        let was_found = |key: &&DocumentKey| names.is_none_or(|names| names.contains(&key.id));
        let known = stored.range(of.clone()..).take_while(|(key, _)| in_collection(key));
        let known = known.filter(|(key, _)| was_found(key) && !self.written.contains_key(*key));
        let written = self.written.range(of..).take_while(|(key, _)| in_collection(key));
        let mut found: Vec<(String, Arc<DocumentFields>)> = known
            .chain(written)
            .filter_map(|(key, fields)| Some((key, fields.as_ref()?)))
            .filter(|(_, fields)| filter.holds(fields))
            .map(|(key, fields)| (key.id.clone(), fields.clone()))
            .collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found.truncate(limit.unwrap_or(usize::MAX));
        found
    }

    /// The number of documents, without reading them. Whatever is written in this collection was read before.
    pub fn count(&self, collection: Collection, filter: &DocumentFilter) -> StoreResult<u64> {
        if self.read_whole.borrow().contains(&collection) {
            return Ok(self.matching(collection, filter, None, None).len() as u64);
        }
        let mut count = self.call(self.client.count(collection, filter, self.moment()))?;
        let stored = self.stored.borrow();
        let holds = |fields: Option<&Option<Arc<DocumentFields>>>| {
            u64::from(fields.and_then(Option::as_ref).is_some_and(|fields| filter.holds(fields)))
        };
        for (key, fields) in self.written.iter().filter(|(key, _)| key.collection == collection) {
            count = (count + holds(Some(fields))).saturating_sub(holds(stored.get(key)));
        }
        Ok(count)
    }

    /// Assumes that nothing has ever been stored under this name.
    pub fn assume_new(&mut self, key: DocumentKey) {
        self.stored.get_mut().insert(key, None);
    }

    pub fn put(&mut self, key: DocumentKey, fields: DocumentFields) -> StoreResult<()> {
        if let Some(why) = too_large(&self.client, &key, &fields) {
            return Err(StoreError::Failed(format!("Firestore: {why}")));
        }
        self.get(&key)?;
        self.written.insert(key, Some(Arc::new(fields)));
        Ok(())
    }

    pub fn remove(&mut self, key: DocumentKey) -> StoreResult<()> {
        self.get(&key)?;
        self.written.insert(key, None);
        Ok(())
    }
}
