//! A clock that is years ahead: what is remembered does not fade at once, nor by a date that it gave.

use std::time::Duration;

use aizuchi::runtime::{Clock, RetentionClock};
use aizuchi_core::listen::Unheard;
use aizuchi_core::memory::{Answered, FactDraft, Filter, MemoryChange, Origin};
use aizuchi_core::types::{MessageId, PersonId, Reply, Span, Visibility};
use aizuchi_core::{Input, Message, Time, Trace};
use tokio_util::sync::CancellationToken;

use crate::made_up::{START, Scratch, said};
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

#[tokio::test(start_paused = true)]
async fn one_answer_that_is_dated_years_ahead_does_not_wipe_a_tie() {
    let scratch = Scratch::new();
    let life = RememberingLife::start(&scratch, 1).await;
    let answered = Answered {
        origin: Origin::new("log:room", Visibility::Public),
        from: PersonId::new("jonas"),
        to: PersonId::new("mia"),
        at: START,
        words: Vec::new(),
    };
    life.keeper.change(vec![MemoryChange::Answered(Box::new(answered)); 8]).await.unwrap();
    let Input::Said(answer) = said("m2", START + YEARS, "jonas", "cover the tomatoes") else { unreachable!() };
    let reply = Reply { to: Some(MessageId::new("m1")), to_me: false, to_person: None };
    let answer = Message { reply: Some(reply), ..answer };
    life.runtime.engine.submit(said("m1", START, "mia", "the frost took my tomatoes")).await.unwrap();
    life.runtime.engine.submit(Input::Said(answer.clone())).await.unwrap();
    life.keeper.note_links(&[Trace::passed_over(&answer, Unheard::Empty)]);
    facts_after(&life, START, Duration::from_secs(60)).await;
    let ties = life.keeper.memory().ties(None, Some(&PersonId::new("mia"))).await.unwrap();
    assert!(ties[0].answers > 8 && ties[0].weight > 8.5, "{ties:?}");
    life.runtime.stop().await;
}
