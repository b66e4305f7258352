//! Commits what a change has written.
//!
//! All of it is sent in one commit, which is atomic. Firestore limits the size of a commit (500 writes in the older of its
//! two limits, 10 MiB in the newer), so a larger change is split into several, in an order in which it can be repeated
//! after any of them (a change that adds that many facts at once could add some twice, but there is none):
//!
//! 1. people who opted out,
//! 2. deletions, so that nothing that is to be forgotten waits for something else,
//! 3. the number of the latest fact, so that no number is ever used twice,
//! 4. everything else,
//! 5. deletions of people: their entries say what they said and where, in case the rest has to be repeated,
//! 6. how far records were read: as long as this is not written, they are read again.
//!
//! Only the first of them is part of the transaction. The others replace a document only if nobody changed it since it was
//! read: else the whole change is made again, and brings nothing back that another writer has deleted meanwhile. They are
//! retried until they succeed or too much time has passed.

use std::sync::atomic::{AtomicU64, Ordering};

use firestore::gcloud_sdk::google::firestore::v1::Write;
use firestore::gcloud_sdk::prost::Message as _;
use tonic::Code;

use super::client::{CallResult, DocumentClient, DocumentVersions, ReadMoment, if_missing};
use super::document::{Collection, DocumentFields, DocumentKey, hash};
use super::failure::CallFailure;
use super::patience::Attempts;
use super::session::{ChangeAttempt, Documents};

/// Fewer in tests, where the emulator takes minutes to compare so many facts.
const WRITES_MAX: usize = if cfg!(test) { 50 } else { 500 };
const BYTES_MAX: usize = 8_000_000;
/// Several, because another writer may have changed some of them since.
const WITNESSES_MAX: usize = 20;

/// Commits all of it or nothing: then the whole change can be retried. If another transaction was in the way, this one is put
/// into `aborted`.
pub async fn commit(
    client: &DocumentClient,
    attempt: ChangeAttempt,
    attempts: &mut Attempts,
    aborted: &mut Vec<u8>,
) -> CallResult<()> {
    let ChangeAttempt { written, versions, transaction, .. } = attempt;
    let commit = new_commit();
    let mut parts = parts_of(client, written, &versions, &commit).into_iter();
    let Some(mut first) = parts.next() else { return Ok(()) };
    // The transaction is condition enough.
    first.writes.iter_mut().for_each(|write| write.current_document = None);
    if let Err(failure) = client.commit(first.writes, transaction.clone()).await {
        if failure.code == Code::Aborted {
            *aborted = transaction;
            return Err(failure);
        }
        // From here on it has happened already, or never will.
        client.roll_back(transaction).await;
        if !(failure.leaves_in_doubt() && has_happened(client, &first.witnesses, &commit, attempts).await?) {
            return Err(failure);
        }
    }
    for part in parts {
        send_unless_overtaken(client, part, &commit).await?;
    }
    Ok(())
}

fn parts_of(client: &DocumentClient, written: Documents, versions: &DocumentVersions, commit: &str) -> Vec<CommitPart> {
    let mut parts = CommitParts::default();
    let mut entries: Vec<_> = written.into_iter().collect();
    entries.sort_by_key(|(key, fields)| order(key, fields.is_none()));
    for (key, fields) in entries {
        // Of a person who opted out, nothing is kept but a hash.
        let is_signed = key.collection != Collection::OptOuts;
        let sign =
            |fields: &DocumentFields| if is_signed { fields.clone().with_commit(commit) } else { fields.clone() };
        let fields = fields.map(|fields| sign(&fields));
        let (is_removed, tells) = (fields.is_none(), is_signed && fields.is_some());
        let mut write = client.write(&key, fields);
        // A deletion brings nothing back, whatever was changed meanwhile.
        if !is_removed {
            write.current_document = Some(versions.get(&key).copied().unwrap_or_else(if_missing));
        }
        let part = parts.add(write);
        if tells && part.witnesses.len() < WITNESSES_MAX {
            part.witnesses.push(key);
        }
    }
    parts.0
}

/// Writes in the order of their commits, each within Firestore's limits.
#[derive(Default)]
pub struct CommitParts(pub Vec<CommitPart>);

#[derive(Default)]
pub struct CommitPart {
    pub writes: Vec<Write>,
    bytes: usize,
    /// If it is unclear whether it was committed, these documents reveal it.
    witnesses: Vec<DocumentKey>,
}

impl CommitParts {
    /// Returns the part that the write is in.
    pub fn add(&mut self, write: Write) -> &mut CommitPart {
        let bytes = write.encoded_len();
        let fits = |part: &CommitPart| part.writes.len() < WRITES_MAX && part.bytes + bytes <= BYTES_MAX;
        if !self.0.last().is_some_and(fits) {
            self.0.push(CommitPart::default());
        }
        let part = self.0.last_mut().expect("there is one now");
        part.writes.push(write);
        part.bytes += bytes;
        part
    }
}

fn order(key: &DocumentKey, is_removed: bool) -> u8 {
    match (key.collection, is_removed) {
        (Collection::OptOuts, _) => 0,
        (Collection::People, true) => 4,
        (_, true) => 1,
        (Collection::Counters, false) => 2,
        (Collection::Marks, false) => 5,
        (Collection::Channels | Collection::People | Collection::Ties | Collection::Facts, false) => 3,
    }
}

/// Each write sets a whole document, so that sending it twice does no harm.
pub async fn send(client: &DocumentClient, writes: &[Write]) -> CallResult<()> {
    let mut attempts = Attempts::within(client.patience.writes);
    loop {
        let Err(failure) = client.commit(writes.to_vec(), Vec::new()).await else { return Ok(()) };
        match attempts.next_after(&failure) {
            Some(pause) => tokio::time::sleep(pause).await,
            None => return Err(failure),
        }
    }
}

/// The same on conditions. If another writer was faster, the error says that the whole change may be repeated.
async fn send_unless_overtaken(client: &DocumentClient, part: CommitPart, commit: &str) -> CallResult<()> {
    let (mut attempts, mut in_doubt) = (Attempts::within(client.patience.writes), false);
    loop {
        let Err(failure) = client.commit(part.writes.clone(), Vec::new()).await else { return Ok(()) };
        if failure.is_overtaken() {
            // The other writer may have been the previous attempt.
            if in_doubt && has_happened(client, &part.witnesses, commit, &mut attempts).await? {
                return Ok(());
            }
            return Err(CallFailure::new(Code::Aborted, "another writer changed what was to be written"));
        }
        in_doubt |= failure.leaves_in_doubt();
        match attempts.next_after(&failure) {
            Some(pause) => tokio::time::sleep(pause).await,
            None => return Err(failure),
        }
    }
}

/// Whether an unconfirmed commit took place. One that only deletes is repeated instead. `Err` if that cannot be determined:
/// then it must not be repeated here.
async fn has_happened(
    client: &DocumentClient,
    witnesses: &[DocumentKey],
    commit: &str,
    attempts: &mut Attempts,
) -> CallResult<bool> {
    if witnesses.is_empty() {
        return Ok(false);
    }
    loop {
        let failure = match client.get(witnesses, ReadMoment::Now).await {
            Ok(answer) => {
                let mut there = answer.found.into_iter().filter_map(|(_, fields)| fields);
                return Ok(there.any(|mut fields| fields.take_commit().as_deref() == Some(commit)));
            }
            Err(failure) => failure,
        };
        match attempts.next_after(&failure) {
            Some(pause) => tokio::time::sleep(pause).await,
            None => break,
        }
    }
    Err(CallFailure::new(Code::FailedPrecondition, "it is not known whether a commit took place"))
}

/// A unique name for a commit.
pub fn new_commit() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let now = jiff::Timestamp::now().as_nanosecond();
    let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    hash(&[&format!("{now} {process} {count}")])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_removed_goes_before_what_is_put_and_marks_come_last() {
        let key = |collection| DocumentKey { collection, id: String::new() };
        let order = |collection, is_removed| order(&key(collection), is_removed);
        assert!(order(Collection::OptOuts, false) < order(Collection::Facts, true));
        assert!(order(Collection::Facts, true) < order(Collection::Counters, false));
        assert!(order(Collection::Counters, false) < order(Collection::Facts, false));
        assert!(order(Collection::Channels, false) < order(Collection::People, true));
        assert!(order(Collection::People, true) < order(Collection::Marks, false));
    }
}
