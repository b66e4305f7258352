//! Has every room of a cluster forget a person, and then the journal.
//!
//! A room that cannot go on, or is slow, must not keep the others from forgetting. So the request is first sent to all of them, which is durable; only
//! then it is waited for each, and what is recorded is scrubbed whatever became of them. As long as one has not forgotten, the job is tried
//! again, and waits for the same invocations: they do not pile up.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aizuchi_core::Time;
use aizuchi_core::memory::ForgetRequest;
use futures_util::StreamExt as _;
use futures_util::future::join_all;
use tokio::sync::oneshot;
use xxhash_rust::xxh3::xxh3_64;

use super::gateway::Gateway;
use super::ingress::{RestateError, unique_key};
use super::room::Forgetting;
use crate::stores::StoreError;

/// To how many rooms it is sent at the same time.
const ROOMS_TOGETHER: usize = 32;
/// How long to wait for what is on its way to its rooms.
const HEARD_WITHIN: Duration = Duration::from_secs(10);
const LOOKS_EVERY: Duration = Duration::from_millis(100);

/// Requests that not every room has carried out yet, by what they are: the key under which they are sent.
#[derive(Default)]
pub struct PendingForgets(Mutex<HashMap<u64, PendingForget>>);

struct PendingForget {
    key: String,
    /// Whether rooms had heard everything that was on its way.
    is_complete: bool,
}

impl PendingForgets {
    /// The same as in the attempt before, unless rooms may have heard something since that has to be forgotten too.
    fn key_of(&self, request: u64, is_complete: bool) -> String {
        let mut pending = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = |is_complete| PendingForget { key: unique_key(), is_complete };
        let found = pending.entry(request).or_insert_with(|| begun(is_complete));
        if is_complete && !found.is_complete {
            *found = begun(true);
        }
        found.key.clone()
    }

    fn end(&self, request: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&request);
    }
}

impl Gateway {
    /// `on_its_way` is notified when the lines of this gateway have passed. `Err` if not everything is forgotten yet.
    pub(super) async fn forget(
        &self,
        request: Arc<ForgetRequest>,
        now: Time,
        on_its_way: Vec<oneshot::Receiver<()>>,
    ) -> Result<(), StoreError> {
        let heard = self.until_heard(on_its_way).await;
        let number = xxh3_64(&serde_json::to_vec(&*request).expect("a request can be written"));
        let key = self.forgets.key_of(number, heard.is_ok());
        let found = self.journal.footprints(0, 1, request).await?;
        let forgetting = Forgetting { at: now, request: found.request };
        let rooms = self.context.store.rooms().await?;
        each(rooms.iter().map(|room| self.restate.tell_to_forget(room, &key, &forgetting)).collect()).await?;
        let forgotten = each(rooms.iter().map(|room| self.restate.forget(room, &key, &forgetting)).collect()).await;
        // What rooms did in the meantime is recorded by now.
        let request = Arc::new(forgetting.request);
        let found = self.journal.footprints(0, 1, request.clone()).await?;
        self.journal.forget_records(found, &self.context.policies().policies).await?;
        self.context.store.forget_set_aside(request).await?;
        forgotten.and(heard)?;
        self.forgets.end(number);
        Ok(())
    }

    /// What is on its way would be heard after it was forgotten: what gateways have stored, and then what Restate has and no worker has
    /// handled. A room of which nothing is recorded yet would not be told to forget at all.
    async fn until_heard(&self, on_its_way: Vec<oneshot::Receiver<()>>) -> Result<(), StoreError> {
        let heard = async {
            join_all(on_its_way).await;
            if let Some(last) = self.context.store.last_unsent().await? {
                while self.context.store.count_unsent(last).await? > 0 {
                    tokio::time::sleep(LOOKS_EVERY).await;
                }
            }
            let unavailable = |error: RestateError| StoreError::Unavailable(error.to_string());
            let Some(last) = self.restate.last_unheard().await.map_err(unavailable)? else { return Ok(()) };
            while self.restate.count_unheard(&last).await.map_err(unavailable)? > 0 {
                tokio::time::sleep(LOOKS_EVERY).await;
            }
            Ok(())
        };
        let not_yet = || StoreError::Unavailable("not every room has heard what was said yet".into());
        tokio::time::timeout(HEARD_WITHIN, heard).await.unwrap_or_else(|_| Err(not_yet()))
    }
}

/// Goes on with the other rooms where one fails; `Err` is the first failure.
async fn each<F: Future<Output = Result<(), RestateError>>>(asked: Vec<F>) -> Result<(), StoreError> {
    let told: Vec<_> = futures_util::stream::iter(asked).buffer_unordered(ROOMS_TOGETHER).collect().await;
    let failed: Vec<RestateError> = told.into_iter().filter_map(Result::err).collect();
    let Some(first) = failed.first() else { return Ok(()) };
    let rooms = match failed.len() {
        1 => "1 room has".to_owned(),
        many => format!("{many} rooms have"),
    };
    let why = match first {
        // Restate waits for a worker as long as it is asked, and says nothing meanwhile.
        RestateError::Unavailable(what) => format!("no worker answers, or Restate does not: {what}"),
        RestateError::Refused(_) => first.to_string(),
    };
    Err(StoreError::Unavailable(format!("{rooms} not forgotten: {why}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn why_rooms_have_not_forgotten_is_told_as_far_as_it_is_known() {
        let told = async |asked: Vec<Result<(), RestateError>>| {
            let asked = asked.into_iter().map(std::future::ready).collect();
            each(asked).await.map_err(|error| error.to_string())
        };
        let silent = || Err(RestateError::Unavailable("operation timed out".into()));
        assert_eq!(told(vec![Ok(()), Ok(())]).await, Ok(()));
        let one = told(vec![Ok(()), silent()]).await.expect_err("one has not");
        assert!(one.contains("1 room has not forgotten: no worker answers, or Restate does not: operation"), "{one}");
        let two = told(vec![silent(), silent()]).await.expect_err("two have not");
        assert!(two.contains("2 rooms have not forgotten: no worker answers"), "{two}");
        let refused = told(vec![Err(RestateError::Refused("400".into()))]).await.expect_err("it refuses");
        assert!(refused.contains("1 room has not forgotten: Restate refused: 400"), "{refused}");
    }

    #[test]
    fn an_attempt_that_comes_again_waits_for_the_same_and_a_later_request_does_not() {
        let pending = PendingForgets::default();
        let first = pending.key_of(7, true);
        assert_eq!(pending.key_of(7, true), first);
        assert_eq!(pending.key_of(7, false), first, "what is on its way now is for the next attempt");
        assert_ne!(pending.key_of(8, true), first);
        pending.end(7);
        assert_ne!(pending.key_of(7, true), first);
        let early = pending.key_of(9, false);
        assert_eq!(pending.key_of(9, false), early);
        let late = pending.key_of(9, true);
        assert_ne!(late, early, "rooms have heard the rest since");
        assert_eq!(pending.key_of(9, true), late);
    }
}
