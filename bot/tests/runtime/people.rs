//! One person under several ids.

use std::sync::Arc;
use std::time::Duration;

use aizuchi::runtime::{Clock, EngineEvent};
use aizuchi_core::types::Span;

use crate::made_up::{Board, EngineRun, START, Scratch, Scripted, line, policies, said};

const LIMIT: [&str; 2] = ["preset=aizuchi", "gates.user_addressed_per_hour=1"];
const SAME: &str = "people.same=discord:1 = slack:T1/U1";

/// The gate that closed for each of these, said one minute apart.
async fn gates(life: &mut EngineRun, authors: &[&str], first: u64) -> Vec<Option<String>> {
    for (author, minute) in authors.iter().zip(first..) {
        let at = START + Span::minutes(minute);
        life.clock.sleep_until(Some(at)).await;
        life.hear(said(&format!("m{minute}"), at, author, "aizuchi, are you there?")).await;
    }
    tokio::time::sleep(Duration::from_secs(50)).await;
    let mut gates = Vec::new();
    while let Ok(event) = life.events.try_recv() {
        if let EngineEvent::Decided(trace) = event {
            gates.push(trace.gate.as_ref().map(|gate| gate.to_string()));
        }
    }
    gates
}

fn closed(gate: Option<&String>) -> bool {
    gate.is_some_and(|gate| gate.contains("user_limit"))
}

#[tokio::test(start_paused = true)]
async fn ids_of_two_platforms_share_the_limit_of_one_person() {
    let (scratch, apart) = (Scratch::new(), policies(&LIMIT));
    let models = Scripted::new(false, vec![line("write", "Yes.", 100)], &apart);
    let clock = Clock::starting_at(START);
    let mut life = EngineRun::start(scratch.database(), apart, models, Arc::new(Board::default()), clock).await;
    let strangers = gates(&mut life, &["discord:1", "slack:T1/U1"], 1).await;
    assert!(strangers.len() == 2 && strangers.iter().all(Option::is_none), "{strangers:?}");

    // Other settings hold at once, also for those who listen already.
    let engine = life.runtime.engine.clone();
    life.runtime.engine.change_policies(&policies(&[LIMIT[0], LIMIT[1], SAME])).await.unwrap();
    life.runtime.engine = engine;
    let one = gates(&mut life, &["discord:1", "slack:T1/U1"], 120).await;
    assert!(one.len() == 2 && !closed(one[0].as_ref()) && closed(one[1].as_ref()), "{one:?}");
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_start_knows_who_is_one_person() {
    let (scratch, policies) = (Scratch::new(), policies(&[LIMIT[0], LIMIT[1], SAME]));
    let models = Scripted::new(false, vec![line("write", "Yes.", 100)], &policies);
    let clock = Clock::starting_at(START);
    let mut life = EngineRun::start(scratch.database(), policies, models, Arc::new(Board::default()), clock).await;
    let gates = gates(&mut life, &["slack:T1/U1", "discord:1", "discord:2"], 1).await;
    let shut: Vec<bool> = gates.iter().map(|gate| closed(gate.as_ref())).collect();
    assert_eq!(shut, [false, true, false], "{gates:?}");
    life.runtime.stop().await;
}
