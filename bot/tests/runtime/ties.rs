//! Who answers whom, in a life: learnt from decisions, shown to the model that writes, and deleted with the people it concerns.

use std::sync::Arc;

use aizuchi::keeper::ForgetState;
use aizuchi::ports::Platform;
use aizuchi::runtime::Clock;
use aizuchi_core::memory::{Frequency, KnownPair, Pair, pairs_of_ties};
use aizuchi_core::types::{Change, MessageId, PersonId, Place, Reply, ThreadId, Visibility};
use aizuchi_core::{Input, Message};

use crate::made_up::{START, Scratch, policies, said};
use crate::remembering_life::holds;
use crate::remembers::{KeeperRun, a_moment, minutes};

async fn life(scratch: &Scratch, settings: &[&str]) -> KeeperRun {
    let policies = policies(&[&["memory.reflection=false", "memory.channel_context=false"], settings].concat());
    KeeperRun::start_with(scratch.database(), Arc::default(), Clock::starting_at(START), policies).await
}

/// Mia and Jonas answer each other, by the platform's own links.
async fn exchange(life: &KeeperRun, numbers: std::ops::RangeInclusive<u64>, change: impl Fn(Message) -> Message) {
    for number in numbers {
        let (who, text) = match number % 2 {
            1 => ("mia", "the frost took my tomatoes"),
            _ => ("jonas", "cover the tomatoes with a xylophone"),
        };
        let Input::Said(message) = said(&format!("m{number}"), life.clock.now(), who, text) else { unreachable!() };
        let reply = Reply { to: Some(MessageId::new(format!("m{}", number - 1))), to_me: false, to_person: None };
        let message = change(Message { reply: (number > 1).then_some(reply), ..message });
        life.runtime.engine.submit(Input::Said(message)).await.expect("it listens");
        minutes(2).await;
    }
    minutes(10).await;
    a_moment().await;
    life.keeper.catch_up().await.unwrap();
}

async fn pairs(life: &KeeperRun) -> Vec<Pair> {
    pairs_of_ties(&life.keeper.memory().ties(None, None).await.unwrap(), life.clock.now())
}

#[tokio::test(start_paused = true)]
async fn who_answers_whom_is_learnt_and_told_to_the_writer() {
    let scratch = Scratch::new();
    let life = life(&scratch, &[]).await;
    exchange(&life, 1..=9, |message| message).await;
    let learnt = pairs(&life).await;
    assert_eq!(learnt.len(), 1, "{learnt:?}");
    assert_eq!((learnt[0].people.clone(), learnt[0].answers), (["jonas", "mia"].map(PersonId::new), [4, 4]));
    assert_eq!(&*learnt[0].words[0], "tomatoes");

    life.calls(10, "jonas", "what helps against the frost?").await;
    a_moment().await;
    let brief = life.models.briefs.lock().unwrap().last().cloned().expect("it writes");
    let KnownPair { name, other, frequency, words } = brief.memories.pairs[0].clone();
    assert_eq!((&*name, other.as_deref(), frequency), ("jonas", Some("mia"), Frequency::Often));
    assert!(words.contains(&"tomatoes".into()), "{words:?}");
    assert_eq!(brief.memories.pairs.len(), 1, "they have not spoken with the bot before");
    a_moment().await;
    life.keeper.catch_up().await.unwrap();
    let with_bot: Vec<Pair> = pairs(&life).await.into_iter().filter(|pair| pair.people[0].as_str() == "@me").collect();
    assert_eq!((with_bot.len(), with_bot[0].answers, &*with_bot[0].words[0]), (1, [1, 1], "against"));
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn where_there_are_no_links_the_engine_tells_who_answers_whom() {
    let scratch = Scratch::new();
    let life = life(&scratch, &[]).await;
    exchange(&life, 1..=6, |message| Message { reply: None, ..message }).await;
    let learnt = pairs(&life).await;
    assert_eq!(learnt.len(), 1, "{learnt:?}");
    assert!(learnt[0].answers.iter().sum::<u64>() >= 3, "{learnt:?}");
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_not_everybody_could_read_makes_no_tie_and_neither_does_a_room_that_wants_none() {
    for (settings, in_private) in [
        (&[][..], &["mia", "jonas"][..]),
        (&[], &["mia"]),
        (&["memory.people=false"], &[]),
        (&["memory.enabled=false"], &[]),
    ] {
        let scratch = Scratch::new();
        let life = life(&scratch, settings).await;
        exchange(&life, 1..=4, |message| match in_private.contains(&message.author.id.as_str()) {
            true => {
                let place = Place { thread: Some(ThreadId::new("thread")), ..message.place.clone() };
                Message { place, visibility: Visibility::Private, ..message }
            }
            false => message,
        })
        .await;
        assert_eq!(pairs(&life).await, [], "{settings:?}");
        life.runtime.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn ties_are_listed_and_go_with_messages_and_people() {
    let scratch = Scratch::new();
    let life = life(&scratch, &[]).await;
    exchange(&life, 1..=4, |message| message).await;
    let platforms = [life.board.clone() as Arc<dyn Platform>];
    let ids = [PersonId::new("mia")];
    let listed = life.keeper.list(&ids, &platforms).await.unwrap().ties;
    assert_eq!((listed.len(), &*listed[0].with, listed[0].answered, listed[0].was_answered), (1, "jonas", 1, 2));
    let export = serde_json::to_value(&listed).unwrap();
    assert_eq!((&export[0]["answered"], export[0].get("with")), (&1.into(), None), "a name is not her own: {export}");
    assert!(listed[0].words.contains(&"tomatoes".into()) && !listed[0].words.contains(&"xylophone".into()), "{export}");

    for number in [2, 4] {
        let (place, id) = (Place::room("log:room"), MessageId::new(format!("m{number}")));
        let gone = Change { place, id, at: life.clock.now(), text: None };
        life.runtime.engine.submit(Input::Changed(gone)).await.unwrap();
    }
    life.keeper.catch_up().await.unwrap();
    let left = pairs(&life).await;
    assert!(left[0].words.contains(&"tomatoes".into()), "mia said that too: {left:?}");
    assert!(!left[0].words.contains(&"xylophone".into()), "{left:?}");

    assert!(holds(&scratch, "frost"), "the scan would find it");
    let forgotten = life.keeper.forget(ids.to_vec(), &[], &life.runtime.engine, &platforms).await.unwrap();
    assert_eq!(forgotten.state, ForgetState::Done);
    assert_eq!(pairs(&life).await, []);
    assert!(!holds(&scratch, "frost"), "her words are still there");
    assert_eq!(life.keeper.list(&ids, &platforms).await.unwrap(), Default::default());
    life.runtime.stop().await;
}

/// A decision that was noted and not read yet when its message went adds nothing.
#[tokio::test(start_paused = true)]
async fn what_is_gone_before_it_was_counted_is_not_counted() {
    let scratch = Scratch::new();
    let life = life(&scratch, &[]).await;
    // At a start it looks for what is to be deleted, and counts first.
    a_moment().await;
    for (number, who) in [(1, "mia"), (2, "jonas")] {
        let reply = Reply { to: Some(MessageId::new("m1")), to_me: false, to_person: None };
        let text = "the frost took my tomatoes";
        let Input::Said(message) = said(&format!("m{number}"), life.clock.now(), who, text) else { unreachable!() };
        let message = Message { reply: (number == 2).then_some(reply), ..message };
        life.runtime.engine.submit(Input::Said(message)).await.unwrap();
    }
    minutes(10).await;
    a_moment().await;
    let gone = Change { place: Place::room("log:room"), id: MessageId::new("m1"), at: life.clock.now(), text: None };
    life.runtime.engine.submit(Input::Changed(gone)).await.unwrap();
    life.keeper.catch_up().await.unwrap();
    assert_eq!(pairs(&life).await, []);
    life.runtime.stop().await;
}
