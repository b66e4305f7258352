//! A clock that is years ahead: what is remembered does not fade at once.

use std::time::Duration;

use aizuchi::runtime::{Clock, RetentionClock};
use aizuchi_core::Time;
use aizuchi_core::memory::{FactDraft, Filter, MemoryChange, Origin};
use aizuchi_core::types::{PersonId, Span, Visibility};
use tokio_util::sync::CancellationToken;

use crate::made_up::{START, Scratch};
use crate::remembering_life::RememberingLife;

const YEARS: Span = Span::minutes(5 * 365 * 24 * 60);

/// Has memory kept for so long by a clock that is years ahead, and returns how many facts are left.
async fn facts_after(life: &RememberingLife, ran_until: Time, time: Duration) -> usize {
    let clock = RetentionClock::start(Clock::starting_at(START + YEARS), ran_until);
    let stop = CancellationToken::new();
    let watching = tokio::spawn(life.keeper.clone().watch(life.runtime.engine.clone(), clock, stop.clone()));
    tokio::time::sleep(time).await;
    let facts = life.keeper.memory().facts(Filter::default()).await.unwrap();
    stop.cancel();
    watching.await.unwrap();
    facts.len()
}

#[tokio::test(start_paused = true)]
async fn no_fact_fades_at_once_by_a_clock_that_is_years_ahead() {
    let scratch = Scratch::new();
    let life = RememberingLife::start(&scratch, 1).await;
    let draft = FactDraft {
        origin: Origin::new("log:room", Visibility::Public),
        content: "Mia plays the xylophone".into(),
        keywords: Vec::new(),
        people: vec![PersonId::new("id-mia")],
        messages: Vec::new(),
        context: Vec::new(),
        confidence: 0.9,
        shareable: true,
        at: START,
        replaces: None,
    };
    life.keeper.change(vec![MemoryChange::Kept(Box::new(draft))]).await.unwrap();
    let minute = Duration::from_secs(60);
    assert_eq!(facts_after(&life, START, minute).await, 1, "a program that ran before");
    assert_eq!(facts_after(&life, Time(0), minute).await, 1, "a new one that shares a memory");
    life.runtime.stop().await;
}
