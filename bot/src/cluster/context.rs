//! What all rooms of a worker have in common: how to act, where to record, and the settings that hold now.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use aizuchi_core::Policies;
use aizuchi_core::policy::StoredPolicies;
use tokio_util::sync::CancellationToken;
use xxhash_rust::xxh3::xxh3_64;

use super::siblings::SharedSiblings;
use crate::ports::{ClusterStore, PoliciesId};
use crate::runtime::{Ledger, RuntimeContext};
use crate::stores::StoreError;

/// Settings under their number.
#[derive(Clone, Debug)]
pub struct KnownPolicies {
    pub id: PoliciesId,
    pub policies: Arc<Policies>,
    /// As they are recorded: a room of a cluster has an engine of its own, whatever number of shards is set.
    pub stated: StoredPolicies,
}

impl KnownPolicies {
    pub fn new(policies: Policies) -> KnownPolicies {
        let stated = policies.stated().with_shards(0);
        let written = serde_json::to_vec(&stated).expect("settings can be written");
        KnownPolicies { id: PoliciesId(xxh3_64(&written)), policies: Arc::new(policies), stated }
    }
}

/// How often it is checked whether other settings hold, and what all rooms spent.
const FOLLOWS_EVERY: Duration = Duration::from_secs(1);

/// How often workers share what rooms of one kind are like. A worker that is killed loses what it has seen since.
const SHARES_EVERY: Duration = Duration::from_secs(10);

pub struct ClusterContext {
    pub runtime: Arc<RuntimeContext>,
    pub store: Arc<dyn ClusterStore>,
    pub ledger: Arc<Ledger>,
    policies: RwLock<Arc<KnownPolicies>>,
    /// Settings of before, for invocations that began under them.
    before: Mutex<HashMap<PoliciesId, Arc<KnownPolicies>>>,
    pub siblings: SharedSiblings,
}

impl ClusterContext {
    /// Keeps the settings where every worker finds them.
    pub async fn new(
        runtime: Arc<RuntimeContext>,
        store: Arc<dyn ClusterStore>,
        policies: Policies,
    ) -> Result<ClusterContext, StoreError> {
        let known = KnownPolicies::new(policies);
        store.keep_policies(known.id, known.stated.clone()).await?;
        store.hold_policies(known.id).await?;
        Ok(ClusterContext {
            ledger: Arc::new(Ledger::new(&[], &known.policies)),
            runtime,
            store,
            policies: RwLock::new(Arc::new(known)),
            before: Mutex::default(),
            siblings: SharedSiblings::default(),
        })
    }

    /// Those that hold now.
    pub fn policies(&self) -> Arc<KnownPolicies> {
        self.policies.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Other settings hold from now on, in every process: each room is told with the next thing that happens there.
    pub async fn set_policies(&self, policies: Policies) -> Result<(), StoreError> {
        let known = Arc::new(KnownPolicies::new(policies));
        self.store.keep_policies(known.id, known.stated.clone()).await?;
        self.store.hold_policies(known.id).await?;
        self.adopt(known);
        Ok(())
    }

    /// Adopts the settings that another process was given, as long as it runs. `changed` is called with them.
    pub async fn follow_settings(&self, stop: CancellationToken, changed: impl Fn(&Policies)) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(FOLLOWS_EVERY) => (),
            }
            let held = async {
                let Some(id) = self.store.held_policies().await?.filter(|id| *id != self.policies().id) else {
                    return Ok(None);
                };
                self.policies_of(id).await.map(Some)
            };
            match held.await {
                Ok(None) => (),
                Ok(Some(known)) => {
                    tracing::info!("other settings hold now");
                    changed(&known.policies);
                    self.adopt(known);
                }
                Err(StoreError::Failed(what)) => tracing::error!(what, "cannot use the settings of the cluster"),
                Err(error) => tracing::debug!(%error, "cannot read the settings of the cluster"),
            }
        }
    }

    /// Keeps up with what all rooms spend together, for `/status` and the metrics, as long as it runs.
    pub async fn follow_spending(&self, stop: CancellationToken) {
        loop {
            match self.store.spent_by_day().await {
                Ok(days) => self.ledger.set_days(days, self.runtime.clock.now()),
                Err(error) => tracing::debug!(%error, "cannot read what all rooms spent"),
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(FOLLOWS_EVERY) => (),
            }
        }
    }

    /// Shares with other workers what rooms of one kind are like, as long as it runs, and once more in the end.
    pub async fn share_siblings(&self, stop: CancellationToken) {
        loop {
            if let Err(error) = self.siblings.share(&*self.store).await {
                tracing::debug!(%error, "cannot share what rooms of one kind are like; retrying");
            }
            if stop.is_cancelled() {
                return;
            }
            tokio::select! {
                () = stop.cancelled() => (),
                () = tokio::time::sleep(SHARES_EVERY) => (),
            }
        }
    }

    fn adopt(&self, known: Arc<KnownPolicies>) {
        self.ledger.set_policies(&known.policies);
        let before = std::mem::replace(&mut *self.policies.write().unwrap_or_else(PoisonError::into_inner), known);
        self.before.lock().unwrap_or_else(PoisonError::into_inner).insert(before.id, before);
    }

    /// The settings of this number, also if another worker has them. `Err` if nobody does.
    pub async fn policies_of(&self, id: PoliciesId) -> Result<Arc<KnownPolicies>, StoreError> {
        let now = self.policies();
        if now.id == id {
            return Ok(now);
        }
        if let Some(known) = self.before.lock().unwrap_or_else(PoisonError::into_inner).get(&id) {
            return Ok(known.clone());
        }
        let missing = || StoreError::Failed(format!("no settings of the number {} are kept", id.0));
        let stated = self.store.policies(id).await?.ok_or_else(missing)?;
        let policies = Arc::new(stated.clone().known_to(&now.policies));
        let known = Arc::new(KnownPolicies { id, policies, stated });
        self.before.lock().unwrap_or_else(PoisonError::into_inner).insert(id, known.clone());
        Ok(known)
    }
}
