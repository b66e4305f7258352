//! What people ask of memory, in their own words and by deleting what they said.

use std::sync::Arc;

use aizuchi::runtime::Clock;
use aizuchi_core::effect::Digesting;
use aizuchi_core::memory::{FactDraft, Filter, MemoryChange, Origin};
use aizuchi_core::types::{Author, Change, MessageId, PersonId, Place, Visibility, Voice};
use aizuchi_core::{Input, Message};

use crate::made_up::{START, Scratch, said};
use crate::remembers::{KeeperRun, a_moment, minutes};

fn keep(content: &str, by: &str) -> MemoryChange {
    MemoryChange::Kept(Box::new(FactDraft {
        origin: Origin::new("log:room", Visibility::Public),
        content: content.into(),
        keywords: Vec::new(),
        people: vec![PersonId::new(by)],
        messages: Vec::new(),
        context: Vec::new(),
        confidence: 0.9,
        shareable: true,
        at: START,
        replaces: None,
    }))
}

#[tokio::test(start_paused = true)]
async fn who_asks_it_to_forget_what_they_said_is_obeyed_and_told_so() {
    let scratch = Scratch::new();
    let life = KeeperRun::start(scratch.database(), Arc::default(), Clock::starting_at(START)).await;
    life.keeper.change(vec![keep("mia practises the xylophone", "mia"), keep("mia has a dog", "mia")]).await.unwrap();
    life.keeper.change(vec![keep("jonas owns a xylophone", "jonas")]).await.unwrap();
    for number in 1..=5 {
        life.says(number, "mia", "my xylophone is out of tune").await;
        life.says(10 + number, "jonas", "the xylophone of the school is fine").await;
    }
    life.says(20, "mia", "木琴の発表会に出る").await;
    life.calls(21, "mia", "@aizuchi please forget what I said about the xylophone").await;
    a_moment().await;
    let told = life.board.posts.lock().unwrap().last().cloned().expect("it confirms").1;
    assert!(told.starts_with("Done: I have forgotten what you said about that (5 messages, 1 facts)."), "{told}");
    assert!(life.models.briefs.lock().unwrap().is_empty(), "no model is asked");
    let facts = life.keeper.memory().facts(Filter::default()).await.unwrap();
    let facts: Vec<&str> = facts.iter().map(|fact| &*fact.content).collect();
    assert_eq!(facts, ["jonas owns a xylophone", "mia has a dog"], "what others said stays");
    life.calls(22, "jonas", "@aizuchi what about it?").await;
    a_moment().await;
    let brief = life.models.briefs.lock().unwrap().last().cloned().expect("it writes");
    let shown = brief.transcript.lines.plain();
    assert!(!shown.contains("my xylophone") && shown.contains("of the school"), "{shown}");
    life.calls(23, "mia", "@aizuchi 発表会について言ったこと忘れて").await;
    a_moment().await;
    let told = life.board.posts.lock().unwrap().last().cloned().unwrap().1;
    assert!(told.contains("発言 1 件") || told.contains("(1 messages, 0 facts)"), "{told}");
    life.calls(24, "mia", "@aizuchi forget what I said about the xylophone").await;
    a_moment().await;
    let told = life.board.posts.lock().unwrap().last().cloned().unwrap().1;
    assert!(told.contains("I found nothing") || told.contains("見つかりませんでした"), "{told}");
    minutes(30).await;
    a_moment().await;
    let read = life.digested(Digesting::Reflection).concat();
    assert!(!read.iter().any(|id| ["m1", "m20", "m21", "m23"].contains(&id.as_str())), "{read:?}");
    life.runtime.stop().await;
}

/// What it said about it to them goes too, and the wish itself is nothing to remember.
#[tokio::test(start_paused = true)]
async fn what_it_said_about_a_forgotten_topic_is_not_shown_again() {
    let scratch = Scratch::new();
    let life = KeeperRun::start(scratch.database(), Arc::default(), Clock::starting_at(START)).await;
    life.says(1, "mia", "my xylophone is out of tune").await;
    *life.models.words.lock().unwrap() = Some("Your xylophone is out of tune.");
    life.calls(2, "mia", "@aizuchi what did I say?").await;
    a_moment().await;
    let (key, text) = life.board.posts.lock().unwrap().last().cloned().expect("it answers");
    let Input::Said(echo) = said(&format!("post {key}"), life.clock.now(), "aizuchi", &text) else { unreachable!() };
    let echo = Message { author: Author { voice: Voice::Me, ..echo.author }, ..echo };
    life.runtime.engine.submit(Input::Said(echo)).await.unwrap();
    *life.models.words.lock().unwrap() = None;
    life.calls(3, "mia", "@aizuchi please forget what I said about the xylophone").await;
    a_moment().await;
    life.calls(4, "jonas", "@aizuchi what is new?").await;
    a_moment().await;
    let brief = life.models.briefs.lock().unwrap().last().cloned().expect("it writes");
    let shown = brief.transcript.lines.plain();
    assert!(!shown.contains("Your xylophone"), "{shown}");
    life.keeper.catch_up().await.unwrap();
    let people = life.keeper.memory().people(None).await.unwrap();
    let remarks: Vec<&str> = people.iter().flat_map(|person| person.remarks()).map(|remark| &*remark.text).collect();
    assert!(!remarks.iter().any(|text| text.contains("xylophone")), "{remarks:?}");
    let ties = life.keeper.memory().ties(None, None).await.unwrap();
    assert!(!format!("{ties:?}").contains("xylophone"), "{ties:?}");
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_taken_back_when_its_question_is_deleted() {
    let scratch = Scratch::new();
    let life = KeeperRun::start(scratch.database(), Arc::default(), Clock::starting_at(START)).await;
    life.calls(1, "mia", "@aizuchi what is on Sunday?").await;
    a_moment().await;
    assert_eq!(life.board.posts.lock().unwrap().len(), 1);
    let gone = Change { place: Place::room("log:room"), id: MessageId::new("m1"), at: life.clock.now(), text: None };
    life.runtime.engine.submit(Input::Changed(gone)).await.unwrap();
    a_moment().await;
    assert!(life.board.posts.lock().unwrap().is_empty(), "the answer to a deleted question is still there");
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_edit_that_changes_no_word_takes_no_fact_along() {
    let scratch = Scratch::new();
    let life = KeeperRun::start(scratch.database(), Arc::default(), Clock::starting_at(START)).await;
    for number in 1..=20 {
        life.says(number, "mia", "I bring the xylophone to the picnic").await;
    }
    minutes(30).await;
    a_moment().await;
    let facts = async || life.keeper.memory().facts(Filter::default()).await.unwrap().len();
    assert_eq!(facts().await, 1);
    let edit = async |text: &str| {
        let (place, at) = (Place::room("log:room"), life.clock.now());
        let edited = Change { place, id: MessageId::new("m1"), at, text: Some(text.into()) };
        life.runtime.engine.submit(Input::Changed(edited)).await.unwrap();
        life.keeper.catch_up().await.unwrap();
    };
    edit("I bring the xylophone to the picnic").await;
    assert_eq!(facts().await, 1, "a preview was added, and the fact is gone");
    edit("I bring nothing").await;
    assert_eq!(facts().await, 0);
    life.runtime.stop().await;
}
