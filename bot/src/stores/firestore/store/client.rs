//! The calls to Firestore: reading documents by name or by query, counting them, and committing.
//!
//! They use Google's own gRPC interface. The layer above it that the crate `firestore` offers reads documents of one
//! collection at a time and begins a transaction with a separate call; here a change reads what it needs of all collections
//! with the call that begins it. Every call has a time limit, and none is retried here: only the caller knows the whole
//! change.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use firestore::FirestoreDb;
use firestore::gcloud_sdk::GoogleAuthMiddleware;
use firestore::gcloud_sdk::google::firestore::v1::firestore_client::FirestoreClient;
use firestore::gcloud_sdk::google::firestore::v1::{
    BatchGetDocumentsRequest, CommitRequest, Document, Precondition, RollbackRequest, RunAggregationQueryRequest,
    RunQueryRequest, TransactionOptions, Value, Write, batch_get_documents_request, batch_get_documents_response,
    precondition, run_aggregation_query_request, run_query_request, transaction_options, write,
};
use tonic::Code;

use super::document::{Collection, DocumentFields, DocumentFilter, DocumentKey, DocumentLimit};
use super::failure::CallFailure;
use super::patience::Patience;
use super::query::{counted, structured};
use super::scope::MessageScope;

/// Documents that are read by name with one call.
const READ_TOGETHER: usize = 300;
/// How many index entries are counted for the price of one read.
const COUNTED_FOR_ONE: u64 = 1000;

pub type CallResult<T> = std::result::Result<T, CallFailure>;

pub struct DocumentClient {
    db: FirestoreDb,
    prefix: String,
    pub scope: MessageScope,
    pub patience: Patience,
    pub billed: BilledCalls,
}

/// What Google bills, as far as the client can see.
#[derive(Debug, Default)]
pub struct BilledCalls {
    reads: AtomicU64,
    writes: AtomicU64,
    deletes: AtomicU64,
    calls: AtomicU64,
}

impl BilledCalls {
    /// Reads, writes, deletions and calls so far.
    pub fn so_far(&self) -> [u64; 4] {
        [&self.reads, &self.writes, &self.deletes, &self.calls].map(|count| count.load(Ordering::Relaxed))
    }

    fn read(&self, documents: u64) {
        self.reads.fetch_add(documents, Ordering::Relaxed);
    }
}

/// The moment as of which something is read.
#[derive(Clone, Debug)]
pub enum ReadMoment {
    Now,
    /// Begins a transaction; after an aborted one, the new one takes its place in the queue.
    Begin {
        aborted: Vec<u8>,
    },
    /// Everything that follows is read as of the same moment. Nothing is written or locked.
    BeginReading,
    Within(Vec<u8>),
}

/// The transaction to begin, or the one that has begun.
enum ReadSelector {
    None,
    New(TransactionOptions),
    Begun(Vec<u8>),
}

impl From<ReadMoment> for ReadSelector {
    fn from(moment: ReadMoment) -> ReadSelector {
        let mode = match moment {
            ReadMoment::Now => return ReadSelector::None,
            ReadMoment::Within(transaction) => return ReadSelector::Begun(transaction),
            ReadMoment::Begin { aborted } => {
                let options = transaction_options::ReadWrite { retry_transaction: aborted, ..Default::default() };
                transaction_options::Mode::ReadWrite(options)
            }
            ReadMoment::BeginReading => transaction_options::Mode::ReadOnly(transaction_options::ReadOnly::default()),
        };
        ReadSelector::New(TransactionOptions { mode: Some(mode) })
    }
}

/// The result of a read, and the transaction that began with it.
pub struct ReadAnswer<T> {
    pub found: T,
    pub begun: Vec<u8>,
    pub versions: DocumentVersions,
}

/// When each document was last written: the condition under which a write replaces what was read, and nothing else.
pub type DocumentVersions = BTreeMap<DocumentKey, Precondition>;

/// The condition under which a write makes a new document.
pub fn if_missing() -> Precondition {
    Precondition { condition_type: Some(precondition::ConditionType::Exists(false)) }
}

impl DocumentClient {
    pub fn new(db: FirestoreDb, prefix: String, scope: MessageScope, patience: Patience) -> DocumentClient {
        DocumentClient { db, prefix, scope, patience, billed: BilledCalls::default() }
    }

    fn calling(&self) -> FirestoreClient<GoogleAuthMiddleware> {
        self.billed.calls.fetch_add(1, Ordering::Relaxed);
        self.db.client().get()
    }

    pub fn path(&self, key: &DocumentKey) -> String {
        format!("{}/{}/{}", self.db.get_documents_path(), self.collection(key.collection), key.id)
    }

    fn collection(&self, collection: Collection) -> String {
        format!("{}_{}", self.prefix, collection.name())
    }

    /// Documents by name; `None` for those that do not exist.
    pub async fn get(
        &self,
        keys: &[DocumentKey],
        moment: ReadMoment,
    ) -> CallResult<ReadAnswer<Vec<(DocumentKey, Option<DocumentFields>)>>> {
        let (mut found, mut begun, mut moment) = (Vec::new(), Vec::new(), moment);
        let mut versions = DocumentVersions::new();
        for keys in keys.chunks(READ_TOGETHER) {
            let answer = self.get_together(keys, moment.clone()).await?;
            if !answer.begun.is_empty() {
                begun = answer.begun;
                moment = ReadMoment::Within(begun.clone());
            }
            found.extend(answer.found);
            versions.extend(answer.versions);
        }
        Ok(ReadAnswer { found, begun, versions })
    }

    async fn get_together(
        &self,
        keys: &[DocumentKey],
        moment: ReadMoment,
    ) -> CallResult<ReadAnswer<Vec<(DocumentKey, Option<DocumentFields>)>>> {
        let mut asked: HashMap<String, &DocumentKey> = keys.iter().map(|key| (self.path(key), key)).collect();
        let request = BatchGetDocumentsRequest {
            database: self.db.get_database_path().clone(),
            documents: asked.keys().cloned().collect(),
            consistency_selector: match moment.into() {
                ReadSelector::None => None,
                ReadSelector::New(options) => {
                    Some(batch_get_documents_request::ConsistencySelector::NewTransaction(options))
                }
                ReadSelector::Begun(id) => Some(batch_get_documents_request::ConsistencySelector::Transaction(id)),
            },
            ..Default::default()
        };
        self.billed.read(asked.len() as u64);
        let (mut client, limit) = (self.calling(), self.patience.call);
        let mut parts = within(limit, client.batch_get_documents(request)).await?.into_inner();
        let mut answer = ReadAnswer { found: Vec::new(), begun: Vec::new(), versions: DocumentVersions::new() };
        while let Some(part) = within(limit, parts.message()).await? {
            if !part.transaction.is_empty() {
                answer.begun = part.transaction;
            }
            let (name, fields, version) = match part.result {
                Some(batch_get_documents_response::Result::Found(Document { name, fields, update_time, .. })) => {
                    (name, Some(self.received(fields)), update_time.map(precondition::ConditionType::UpdateTime))
                }
                Some(batch_get_documents_response::Result::Missing(name)) => (name, None, None),
                None => continue,
            };
            let Some(key) = asked.remove(&name) else { continue };
            if version.is_some() {
                answer.versions.insert(key.clone(), Precondition { condition_type: version });
            }
            answer.found.push((key.clone(), fields));
        }
        if asked.is_empty() { Ok(answer) } else { Err(CallFailure::new(Code::Unavailable, "an answer was cut off")) }
    }

    /// Documents of a collection, with their names.
    pub async fn select(
        &self,
        collection: Collection,
        filter: &DocumentFilter,
        limit: DocumentLimit,
        moment: ReadMoment,
    ) -> CallResult<ReadAnswer<Vec<(String, DocumentFields)>>> {
        let query = structured(self.collection(collection), filter, limit);
        let request = RunQueryRequest {
            parent: self.db.get_documents_path().clone(),
            query_type: Some(run_query_request::QueryType::StructuredQuery(query)),
            consistency_selector: match moment.into() {
                ReadSelector::None => None,
                ReadSelector::New(options) => Some(run_query_request::ConsistencySelector::NewTransaction(options)),
                ReadSelector::Begun(id) => Some(run_query_request::ConsistencySelector::Transaction(id)),
            },
            ..Default::default()
        };
        let (mut client, limit) = (self.calling(), self.patience.call);
        let mut parts = within(limit, client.run_query(request)).await?.into_inner();
        let mut answer = ReadAnswer { found: Vec::new(), begun: Vec::new(), versions: DocumentVersions::new() };
        while let Some(part) = within(limit, parts.message()).await? {
            if !part.transaction.is_empty() {
                answer.begun = part.transaction;
            }
            if let Some(Document { name, fields, update_time, .. }) = part.document {
                let id = name.rsplit('/').next().unwrap_or_default().to_owned();
                if let Some(time) = update_time {
                    let condition_type = Some(precondition::ConditionType::UpdateTime(time));
                    answer.versions.insert(DocumentKey { collection, id: id.clone() }, Precondition { condition_type });
                }
                answer.found.push((id, self.received(fields)));
            }
        }
        // A query without results is billed as one read.
        self.billed.read(answer.found.len().max(1) as u64);
        Ok(answer)
    }

    /// The number of documents of a collection, without reading them.
    pub async fn count(
        &self,
        collection: Collection,
        filter: &DocumentFilter,
        moment: ReadMoment,
    ) -> CallResult<ReadAnswer<u64>> {
        let request = RunAggregationQueryRequest {
            parent: self.db.get_documents_path().clone(),
            query_type: Some(run_aggregation_query_request::QueryType::StructuredAggregationQuery(counted(
                structured(self.collection(collection), filter, DocumentLimit::None),
            ))),
            consistency_selector: match moment.into() {
                ReadSelector::None => None,
                ReadSelector::New(options) => {
                    Some(run_aggregation_query_request::ConsistencySelector::NewTransaction(options))
                }
                ReadSelector::Begun(id) => Some(run_aggregation_query_request::ConsistencySelector::Transaction(id)),
            },
            ..Default::default()
        };
        let (mut client, limit) = (self.calling(), self.patience.call);
        let mut parts = within(limit, client.run_aggregation_query(request)).await?.into_inner();
        let mut answer = ReadAnswer { found: 0, begun: Vec::new(), versions: DocumentVersions::new() };
        while let Some(part) = within(limit, parts.message()).await? {
            if !part.transaction.is_empty() {
                answer.begun = part.transaction;
            }
            answer.found += part.result.as_ref().map_or(0, super::query::count_of);
        }
        self.billed.read(answer.found.div_ceil(COUNTED_FOR_ONE).max(1));
        Ok(answer)
    }

    /// Atomic; with a transaction, only if nothing that it read has changed.
    pub async fn commit(&self, writes: Vec<Write>, transaction: Vec<u8>) -> CallResult<()> {
        let is_deletion = |write: &&Write| matches!(write.operation, Some(write::Operation::Delete(_)));
        let deletions = writes.iter().filter(is_deletion).count() as u64;
        self.billed.deletes.fetch_add(deletions, Ordering::Relaxed);
        self.billed.writes.fetch_add(writes.len() as u64 - deletions, Ordering::Relaxed);
        let database = self.db.get_database_path().clone();
        let (mut client, limit) = (self.calling(), self.patience.call);
        within(limit, client.commit(CommitRequest { database, writes, transaction, request_options: None })).await?;
        Ok(())
    }

    /// Releases the locks of a transaction. If that fails, Firestore does so by itself after a minute.
    pub async fn roll_back(&self, transaction: Vec<u8>) {
        let database = self.db.get_database_path().clone();
        let mut client = self.calling();
        let call = client.rollback(RollbackRequest { database, transaction, request_options: None });
        if let Err(failure) = within(self.patience.call, call).await {
            tracing::debug!(?failure, "cannot roll a transaction of Firestore back");
        }
    }

    /// A document as the journal of this scope has it.
    fn received(&self, fields: HashMap<String, Value>) -> DocumentFields {
        DocumentFields(fields).map_body(|json| self.scope.to_own(json))
    }

    /// The write that makes a document be this, or not be.
    pub fn write(&self, key: &DocumentKey, fields: Option<DocumentFields>) -> Write {
        let operation = match fields {
            Some(fields) => {
                let DocumentFields(fields) = fields.map_body(|json| self.scope.to_stored(json));
                write::Operation::Update(Document { name: self.path(key), fields, ..Default::default() })
            }
            None => write::Operation::Delete(self.path(key)),
        };
        Write { operation: Some(operation), ..Default::default() }
    }
}

async fn within<T>(
    limit: Duration,
    call: impl Future<Output = std::result::Result<T, tonic::Status>>,
) -> CallResult<T> {
    match tokio::time::timeout(limit, call).await {
        Ok(answered) => answered.map_err(CallFailure::from),
        Err(_) => {
            Err(CallFailure::new(Code::DeadlineExceeded, format!("no answer within {} seconds", limit.as_secs())))
        }
    }
}
