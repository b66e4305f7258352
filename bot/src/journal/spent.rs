//! What was spent, for commands that read a store: added up from the snapshots and the journal, as a start does.

use std::collections::BTreeMap;

use aizuchi_core::room::Cost;
use aizuchi_core::total::TotalBudget;
use aizuchi_core::types::RoomId;
use aizuchi_core::{Policies, Time};

use super::recover::recover;
use crate::ports::Stores;
use crate::stores::StoreError;

/// What all rooms spent together on the day of `now`, without calls that were in flight at the last record.
pub async fn spent_today(stores: &Stores, policies: &Policies, now: Time) -> Result<Cost, StoreError> {
    let mut total = TotalBudget::default();
    for engine in recover(stores, policies, 1).await?.engines {
        total.take_over(&engine);
    }
    Ok(total.today(policies, now))
}

/// The same for each room that spent anything; together they are what all rooms spent.
pub async fn spent_today_by_room(
    stores: &Stores,
    policies: &Policies,
    now: Time,
) -> Result<BTreeMap<RoomId, Cost>, StoreError> {
    let today = policies.general().zone.day(now);
    let mut rooms: BTreeMap<RoomId, Cost> = BTreeMap::new();
    for engine in recover(stores, policies, 1).await?.engines {
        for (room, spent) in engine.spent_by_room() {
            for (_, cost) in spent.days().filter(|(day, cost)| *day == today && !cost.is_zero()) {
                *rooms.entry(room.clone()).or_default() += cost;
            }
        }
    }
    Ok(rooms)
}
