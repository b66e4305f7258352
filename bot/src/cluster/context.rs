//! What all rooms of a worker have in common: how to act, where to record, and the settings that hold now.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use aizuchi_core::Policies;
use aizuchi_core::policy::StoredPolicies;
use tokio_util::sync::CancellationToken;
use xxhash_rust::xxh3::xxh3_64;

use super::reported::Reported;
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

    /// Settings of this number that another process has kept. `Err` if this one does not know a model that they name: by another
    /// model it would decide otherwise.
    fn kept(id: PoliciesId, stated: StoredPolicies, known: &Policies) -> Result<KnownPolicies, String> {
        if let Some((file, hash)) = stated.models_unknown_to(known).first() {
            return Err(format!(
                "the model {file} with the hash {hash} is missing here; copy the file to this machine"
            ));
        }
        Ok(KnownPolicies { id, policies: Arc::new(stated.clone().known_to(known)), stated })
    }
}

/// Settings of before that are kept at hand. Others are read again.
const BEFORE_MAX: usize = 8;

/// How often it is checked whether other settings hold, and what all rooms spent.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// How often workers share what rooms of one kind are like. A worker that is killed loses what it has seen since.
const SHARES_EVERY: Duration = Duration::from_secs(10);

pub struct ClusterContext {
    pub runtime: Arc<RuntimeContext>,
    pub store: Arc<dyn ClusterStore>,
    pub ledger: Arc<Ledger>,
    policies: RwLock<Arc<KnownPolicies>>,
    /// Settings of before, for invocations that began under them; the latest are last.
    before: Mutex<VecDeque<Arc<KnownPolicies>>>,
    pub siblings: SharedSiblings,
    pub reported: Reported,
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
            reported: Reported::default(),
        })
    }

    /// Those that hold now.
    pub fn policies(&self) -> Arc<KnownPolicies> {
        self.policies.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether these hold now, also if another process was given others since.
    pub async fn holds(&self, policies: &Policies) -> Result<bool, StoreError> {
        Ok(self.store.held_policies().await? == Some(KnownPolicies::new(policies.clone()).id))
    }

    /// Other settings hold from now on, in every process: each room learns of them with the next thing that happens there.
    pub async fn set_policies(&self, policies: Policies) -> Result<(), StoreError> {
        let known = Arc::new(KnownPolicies::new(policies.stated().known_to(&self.policies().policies)));
        self.store.keep_policies(known.id, known.stated.clone()).await?;
        self.store.hold_policies(known.id).await?;
        self.adopt(known);
        Ok(())
    }

    /// Adopts the settings that another process was given, as long as it runs. `changed` is called with them.
    pub async fn poll_settings(&self, stop: CancellationToken, changed: impl AsyncFn(&Policies)) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(POLL_INTERVAL) => (),
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
                    tracing::info!("adopted the settings that another process was given");
                    changed(&known.policies).await;
                    self.adopt(known);
                }
                Err(StoreError::Failed(what)) => tracing::error!(what, "cannot use the settings of the cluster"),
                Err(error) => tracing::debug!(%error, "cannot read the settings of the cluster"),
            }
        }
    }

    /// Keeps up with what all rooms spend together, for `/status` and the metrics, as long as it runs.
    pub async fn poll_spending(&self, stop: CancellationToken) {
        loop {
            match self.store.spent_by_day().await {
                Ok(days) => self.ledger.set_days(days, self.runtime.clock.now()),
                Err(error) => tracing::debug!(%error, "cannot read what all rooms spent"),
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(POLL_INTERVAL) => (),
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
        self.keep(before);
    }

    fn keep(&self, before: Arc<KnownPolicies>) {
        let mut kept = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|known| known.id != before.id);
        kept.push_back(before);
        if kept.len() > BEFORE_MAX {
            kept.pop_front();
        }
    }

    /// The settings of this number, also if another worker has them. `Err` if nobody does.
    pub async fn policies_of(&self, id: PoliciesId) -> Result<Arc<KnownPolicies>, StoreError> {
        let now = self.policies();
        if now.id == id {
            return Ok(now);
        }
        let is_it = |known: &&Arc<KnownPolicies>| known.id == id;
        if let Some(known) = self.before.lock().unwrap_or_else(PoisonError::into_inner).iter().find(is_it) {
            return Ok(known.clone());
        }
        let missing = || StoreError::Failed(format!("no settings of the number {} are kept", id.0));
        let stated = self.store.policies(id).await?.ok_or_else(missing)?;
        let known = Arc::new(KnownPolicies::kept(id, stated, &now.policies).map_err(StoreError::Failed)?);
        self.keep(known.clone());
        Ok(known)
    }
}

#[cfg(test)]
mod tests {
    use aizuchi_core::learnt::{LearntModels, OwnModels, write};
    use aizuchi_core::likelihood::steps::STEPS;
    use aizuchi_core::settings::Layers;

    use super::*;

    /// Two processes took decisions by different models for decisions by the same settings.
    #[test]
    fn settings_with_a_model_that_is_missing_here_are_refused() {
        let mut layers = Layers::default();
        layers.add_assignment("score.model_file=adapted.txt");
        let plain = layers.resolve(&|_| None).expect("sound settings");
        let own =
            OwnModels { date: "2026-04-05", source: "a test", usual: Some(&[31.2; STEPS]), ..OwnModels::default() };
        let adapted = Arc::new(LearntModels::parse(&write(&own)).expect("a sound model"));
        let with_model = plain.clone().with_models([("adapted.txt".to_owned(), adapted.clone())]);
        let known = KnownPolicies::new(with_model);
        // As another process reads it: the model itself is not stored.
        let written = serde_json::to_string(&known.stated).expect("settings can be written");
        let stated: StoredPolicies = serde_json::from_str(&written).expect("and read");
        let refused = KnownPolicies::kept(known.id, stated.clone(), &plain).expect_err("it is missing");
        assert!(refused.contains("adapted.txt"), "{refused}");
        let found = KnownPolicies::kept(known.id, stated, &plain.knowing([adapted.clone()])).expect("it is there");
        assert_eq!(found.policies.general().models.hash(), adapted.hash());
    }
}
