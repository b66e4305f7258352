//! What all rooms of a cluster may spend together: added up in PostgreSQL by every worker, and never overrun.

use std::sync::Arc;

use aizuchi::cluster::{RoomBill, Stamped};
use aizuchi::journal::Engines;
use aizuchi::ports::{ClusterStore as _, RecordOutcome, RoomBatch, RoomSpending, TotalLimit};
use aizuchi::replay::relive;
use aizuchi::runtime::Clock;
use aizuchi_core::effect::Usage;
use aizuchi_core::room::Cost;
use aizuchi_core::types::{ClockShift, RoomId, Span};
use aizuchi_core::usage::TotalSpent;
use aizuchi_core::{Input, Time};
use aizuchi_test_servers::program::eventually;
use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;

use super::one_node::OneNode;
use crate::made_up::{START, policies};
use crate::money::{Counting, calls_in, excuses};
use crate::talks::essence;

const SETTINGS: [&str; 2] = ["preset=aizuchi", "budget.total_calls_per_day=10"];
const DAY_MS: u64 = 86_400_000;

/// Two workers, each with a Restate server and rooms of its own, on one database.
struct TwoWorkers {
    nodes: [OneNode; 2],
    models: Arc<Counting>,
}

impl TwoWorkers {
    async fn start() -> TwoWorkers {
        let (policies, models) = (policies(&SETTINGS), Counting::taking(1));
        let first = OneNode::start(policies.clone(), models.clone(), Clock::standing_at(START)).await;
        let second = first.beside(policies, models.clone()).await;
        TwoWorkers { nodes: [first, second], models }
    }

    /// Somebody calls the bot in each of these rooms, all at once.
    async fn all_call(&self, rooms: std::ops::Range<u64>, at: Time) {
        let calls = rooms.map(async |number| {
            let (room, key) = (RoomId::new(format!("log:room{number}")), format!("{}-{number}", at.0));
            let told = [Stamped::new(at, calls_in(number, &key, at))];
            self.nodes[number as usize % 2].restate.tell(&room, &key, &told).await.expect("a room listens");
        });
        join_all(calls).await;
    }

    fn posts(&self) -> usize {
        self.nodes.iter().map(|node| node.board.posts.lock().unwrap().len()).sum()
    }

    fn excuses(&self) -> usize {
        self.nodes.iter().map(|node| excuses(&node.board)).sum()
    }

    async fn spent_on(&self, day: u64) -> Cost {
        let days = self.nodes[0].database.spent_by_day().await.expect("the database answers");
        days.into_iter().find(|(of, _)| *of == day as i64).map(|(_, cost)| cost).unwrap_or_default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_workers_do_not_overrun_what_all_rooms_may_spend() {
    let cluster = TwoWorkers::start().await;
    cluster.all_call(0..40, START).await;
    eventually("everybody is answered", async || (cluster.posts() == 40).then_some(())).await;
    assert_eq!((cluster.models.calls(), cluster.excuses()), (10, 30), "as many as may be, and excuses for the others");
    eventually("the calls are booked", async || (cluster.spent_on(START.0 / DAY_MS).await.calls == 10).then_some(()))
        .await;
    // Nothing is left for the rest of the day.
    cluster.all_call(0..40, Time(START.0 + 60_000)).await;
    eventually("everybody is answered", async || (cluster.posts() == 80).then_some(())).await;
    assert_eq!((cluster.models.calls(), cluster.excuses()), (10, 70));
    // Each process knows it for `/status`, and nothing that is looked up is paid for.
    let (stop, node) = (CancellationToken::new(), &cluster.nodes[1]);
    let (context, until) = (node.context.clone(), stop.clone());
    let polling = tokio::spawn(async move { context.poll_spending(until).await });
    let room = RoomId::new("log:room0");
    eventually("it is known", async || (node.context.ledger.today(&room, START).spent.calls == 10).then_some(())).await;
    stop.cancel();
    polling.await.unwrap();
    let usage = Usage { calls: 1, tokens_in: 5, ..Usage::default() };
    let bill = RoomBill { at: START + Span::seconds(120), usage };
    assert_eq!(node.restate.pay(&RoomId::new("log:elsewhere"), &bill).await, Ok(false));
    // The day turns, here at midnight UTC.
    let midnight = (START.0 / DAY_MS + 1) * DAY_MS;
    node.clock.set(ClockShift::between(START, Time(midnight)));
    cluster.all_call(0..5, Time(midnight)).await;
    eventually("everybody is answered", async || (cluster.posts() == 85).then_some(())).await;
    let bill = RoomBill { at: Time(midnight), usage };
    assert_eq!(node.restate.pay(&RoomId::new("log:elsewhere"), &bill).await, Ok(true));
    eventually("they are booked", async || (cluster.spent_on(midnight / DAY_MS).await.calls == 6).then_some(())).await;
    assert_eq!((cluster.models.calls(), cluster.excuses()), (15, 70));
    decides_again(&cluster).await;
}

/// A room from its records alone, without the others and without the ledger, decides as it did.
async fn decides_again(cluster: &TwoWorkers) {
    let (records, lived) = (cluster.nodes[0].records().await, cluster.nodes[0].traces().await);
    let refused = records.iter().filter(|record| matches!(record.input, Input::Refused(..))).count();
    assert!(refused >= 30, "a refusal is recorded as what happened to the room: {refused}");
    let again = relive(Engines::fresh(&policies(&SETTINGS)), &records, None, &mut |_| ()).decided;
    assert_eq!(again.len(), lived.len());
    for trace in lived {
        let decided = again.iter().find(|decided| decided.trace.message == trace.message).expect("it was counted");
        assert_eq!(essence(&decided.trace), essence(&trace));
    }
}

const CALL: Cost = Cost { calls: 1, tokens: 100, micros: 50 };
const BUDGET: TotalLimit = TotalLimit { today: 7, limit: Cost { calls: 3, tokens: 0, micros: 0 } };

fn batch(room: &str, after: u64, spending: RoomSpending) -> Arc<RoomBatch> {
    let records = vec![(START, Input::Tick)];
    Arc::new(RoomBatch { records, spending: Some(spending), ..RoomBatch::new(RoomId::new(room), after) })
}

fn wants(days: &[(i64, Cost)], wanted: &[u64]) -> RoomSpending {
    let (days, wanted) = (days.to_vec(), wanted.iter().map(|serial| (*serial, CALL)).collect());
    RoomSpending { days, in_flight: Vec::new(), wanted, budget: BUDGET }
}

/// A worker that dies after the commit leaves its batch to another one, which records it again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_that_is_recorded_again_is_paid_for_once() {
    let models = Counting::taking(0);
    let node = OneNode::start(policies(&SETTINGS), models, Clock::standing_at(START)).await;
    let record = async |batch: &Arc<RoomBatch>| match node.database.record(batch.clone()).await {
        Ok(RecordOutcome::Recorded(recorded)) => recorded,
        other => panic!("it is recorded: {other:?}"),
    };
    let kitchen = batch("log:kitchen", 0, wants(&[(7, CALL), (6, CALL)], &[1]));
    let garden = batch("log:garden", 0, wants(&[], &[1, 2]));
    let refused = |have, for_today| TotalSpent { have, limit: 3, for_today };
    for attempt in 0..3 {
        assert_eq!(record(&kitchen).await.refused, [], "attempt {attempt}");
    }
    for attempt in 0..3 {
        assert_eq!(record(&garden).await.refused, [(2, refused(3, false))], "attempt {attempt}");
    }
    let spent = async || node.database.spent_by_day().await.unwrap();
    assert_eq!(spent().await, [(7, CALL), (6, CALL)]);
    // Both are over, and were as expensive as was thought; the day before is not kept any more.
    record(&batch("log:kitchen", 1, wants(&[(7, CALL + CALL)], &[]))).await;
    record(&batch("log:garden", 1, wants(&[(7, CALL)], &[]))).await;
    assert_eq!(spent().await, [(7, CALL + CALL + CALL), (6, Cost::default())]);
    let attic = batch("log:attic", 0, wants(&[], &[1]));
    assert_eq!(record(&attic).await.refused, [(1, refused(3, true))]);
    // An attempt from before is too late to change anything, and nobody waits for its answer.
    let late = node.database.record(kitchen).await;
    assert!(late.as_ref().is_err_and(|error| error.to_string().contains("do not belong together")), "{late:?}");
    assert_eq!(spent().await[0], (7, CALL + CALL + CALL));
}
