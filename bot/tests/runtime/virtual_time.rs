//! An hour of talk in a moment: the loop that lives decides as `replay` does.

use std::time::Duration;

use aizuchi::replay::{Decided, OwnPosts, run as replay};
use aizuchi::runtime::{Clock, EngineEvent};
use aizuchi_core::sim::StandIn;
use aizuchi_core::types::{MessageId, Place, Span};
use aizuchi_core::{Input, Message, Policies, Trace};
use aizuchi_formats::Event as Recorded;

use crate::made_up::{Board, EngineRun, START, Scratch, Scripted, policies};
use crate::talks::{A_DAY, day, essence, hour, sample, script};

async fn live(settings: &[&str], events: &[Recorded]) -> Vec<Trace> {
    let (scratch, policies) = (Scratch::new(), policies(settings));
    let models = Scripted::new(false, script(), &policies);
    let board = std::sync::Arc::new(Board::default());
    let clock = Clock::starting_at(START);
    let mut life = EngineRun::start(scratch.database(), policies, models, board, clock).await;
    for event in events {
        life.clock.sleep_until(Some(event.at)).await;
        life.hear(event.input.clone()).await;
    }
    tokio::time::sleep(Duration::from_secs(3600)).await;
    let mut traces = Vec::new();
    while let Ok(event) = life.events.try_recv() {
        // How people received it is reported later, as the same decision.
        if let EngineEvent::Decided(trace) = event
            && trace.received.is_none()
        {
            traces.push((*trace).clone());
        }
    }
    life.runtime.stop().await;
    traces
}

fn replayed(policies: &Policies, events: Vec<Recorded>) -> Vec<Decided> {
    let stand_in = StandIn::new(false, script(), policies);
    replay(policies.clone(), stand_in, events, OwnPosts::Ignored, &mut |_| ())
}

async fn check(settings: &[&str], events: Vec<Recorded>) {
    let said = events.iter().filter(|event| matches!(event.input, Input::Said(_))).count();
    let mut lived = live(settings, &events).await;
    let expected = replayed(&policies(settings), events);
    assert_eq!((lived.len(), expected.len()), (said, said), "{settings:?}: every message is decided once");
    let index = |trace: &Trace| expected.iter().position(|decided| decided.trace.message == trace.message);
    lived.sort_by_key(index);
    for (lived, expected) in lived.iter().zip(&expected) {
        assert_eq!(essence(lived), essence(&expected.trace), "{settings:?}");
        let (now, then) = (lived.acted_at, expected.trace.acted_at);
        let apart = now.zip(then).map(|(now, then)| now.0.abs_diff(then.0));
        assert!(apart.is_none_or(|ms| ms <= 20) && now.is_some() == then.is_some(), "{now:?} {then:?}");
    }
    let spoke = expected.iter().filter(|decided| decided.trace.acted_at.is_some()).count();
    assert!(spoke > 0, "{settings:?}: a test in which nothing is said shows little");
}

#[tokio::test(start_paused = true)]
async fn the_default_lives_as_it_replays() {
    check(&["preset=aizuchi"], hour()).await;
    check(&["preset=aizuchi"], sample()).await;
}

#[tokio::test(start_paused = true)]
async fn the_presets_live_as_they_replay() {
    for preset in ["kotonoha", "sphene", "myao2"] {
        check(&[&format!("preset={preset}"), "bot.name=aizuchi", "address.name=true"], hour()).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_day_lives_as_it_replays() {
    check(&A_DAY, day()).await;
}

/// The rooms after the first learn how likely messages were in it.
#[tokio::test(start_paused = true)]
async fn new_rooms_start_from_others_as_in_a_replay() {
    let in_room = |room: u64, event: Recorded| {
        let Input::Said(message) = event.input else { unreachable!("people only talk in that hour") };
        let at = event.at + Span::minutes(90 * room);
        let (id, place) = (MessageId::new(format!("{room}-{}", message.id)), Place::room(format!("log:room{room}")));
        let input = Input::Said(Message { id, place, at, heard: message.heard.map(|_| at), ..message });
        Recorded { line: event.line + 10_000 * room, at, input }
    };
    let events: Vec<Recorded> =
        (0..3).flat_map(|room| hour().into_iter().take(110).map(move |event| in_room(room, event))).collect();
    check(&["preset=aizuchi"], events).await;
}

#[tokio::test(start_paused = true)]
async fn several_engines_decide_as_one() {
    check(&["preset=aizuchi", "runtime.shards=3"], hour()).await;
}
