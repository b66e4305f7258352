//! What tools find of people's words, and that it is gone when the words are.

use std::sync::Arc;
use std::time::Duration;

use aizuchi::journal::traces::find;
use aizuchi::keeper::ForgetState;
use aizuchi::ports::{BoxFuture, Draft, ModelClient, RequestedCall, Stores, ToolSpec};
use aizuchi::stores::StoreSettings;
use aizuchi_core::Policies;
use aizuchi_core::effect::{Ask, Brief, Failure, Usage};
use aizuchi_core::input::Answer;
use aizuchi_core::types::{MessageId, PersonId, RoomId};

use crate::made_up::Scratch;
use crate::remembering_life::{RememberingLife, holds, others_talk, short_lived};

/// Looks up the last word of a question in the talk and among the people, and says how much it found.
struct Librarian;

impl ModelClient for Librarian {
    fn judge(self: Arc<Self>, _: Box<Ask>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        let text = r#"{"respond": false, "reason": "nobody asks"}"#.into();
        Box::pin(async { Ok(Answer { text, usage: Usage::default() }) })
    }

    fn write(self: Arc<Self>, _: Box<Brief>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        Box::pin(async { Err(Failure::unpaid("it is asked with tools")) })
    }

    fn draft(
        self: Arc<Self>,
        brief: Box<Brief>,
        _: Vec<ToolSpec>,
        _: Arc<Policies>,
    ) -> BoxFuture<'static, Result<Draft, Failure>> {
        let call = |name: &str, arguments: &str| RequestedCall {
            id: name.into(),
            name: name.into(),
            arguments: arguments.into(),
            signatures: Vec::new(),
        };
        let draft = match brief.steps.is_empty() {
            true => {
                let calls = vec![call("history", r#"{"words": "mine"}"#), call("people", "{}")];
                Draft::Calls(calls, Usage::default())
            }
            false => {
                let found: usize = brief.steps.iter().map(|step| step.words().lines().count()).sum();
                Draft::Words(Answer { text: format!("I found {found} lines.").into(), usage: Usage::default() })
            }
        };
        Box::pin(async move { Ok(draft) })
    }
}

async fn asked(life: &RememberingLife) {
    life.says(2, "log:room", "id-jonas", "@aizuchi what is whose?").await;
    tokio::time::sleep(Duration::from_secs(60)).await;
}

/// What the tools said for the question of the second message.
async fn found(life: &RememberingLife) -> String {
    let stores = Stores::from(life.database.clone());
    let (room, id) = (RoomId::new("log:room"), MessageId::new("m2"));
    let trace = find(&*stores.decisions, Some(&room), &id).await.unwrap().expect("it was decided about");
    trace.tools.iter().map(|tool| format!("{} {}\n", tool.arguments, tool.result)).collect()
}

#[tokio::test(start_paused = true)]
async fn what_tools_found_of_a_deleted_message_goes_with_it() {
    for shards in [1, 3] {
        let scratch = Scratch::new();
        let life = RememberingLife::with_model(&scratch, shards, short_lived(), Arc::new(Librarian)).await;
        life.says(1, "log:room", "id-mia", "the glockenspiel is mine").await;
        asked(&life).await;
        assert!(found(&life).await.contains("glockenspiel"), "it is found: {}", found(&life).await);
        life.changes(1, "log:room", None).await;
        others_talk(&life, 1_000).await;
        tokio::time::sleep(Duration::from_secs(3 * 3600)).await;
        assert!(!holds(&scratch, "glockenspiel"), "with {shards} engines what was looked up is still in the files");
        let left = found(&life).await;
        assert!(!left.contains("glockenspiel"), "{left}");
        life.runtime.stop().await;
    }
}

/// The journal may let go of a deletion only when memory has heard of it.
#[tokio::test(start_paused = true)]
async fn what_was_deleted_just_before_a_stop_leaves_memory_too() {
    let scratch = Scratch::new();
    let store = || StoreSettings { deleted_hours: 1, ..StoreSettings::default() };
    let life = RememberingLife::with_model(&scratch, 1, store(), Arc::new(Librarian)).await;
    life.says(1, "log:room", "id-mia", "my glockenspiel password").await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    life.keeper.catch_up().await.unwrap();
    life.changes(1, "log:room", None).await;
    life.runtime.stop().await;
    assert!(holds(&scratch, "glockenspiel"), "the scan would find it");
    let life = RememberingLife::with_model(&scratch, 1, store(), Arc::new(Librarian)).await;
    tokio::time::sleep(Duration::from_secs(3 * 3600)).await;
    life.keeper.catch_up().await.unwrap();
    let people = life.keeper.memory().people(None).await.unwrap();
    assert!(!format!("{people:?}").contains("glockenspiel"), "memory still has it: {people:?}");
    life.runtime.stop().await;
}

/// Few words are said here: no snapshot is taken for their number.
#[tokio::test(start_paused = true)]
async fn in_a_quiet_room_deleted_words_go_without_a_restart() {
    let scratch = Scratch::new();
    let store = StoreSettings { deleted_hours: 1, ..StoreSettings::default() };
    let life = RememberingLife::with_model(&scratch, 3, store, Arc::new(Librarian)).await;
    life.says(1, "log:room", "id-mia", "the glockenspiel is mine").await;
    life.changes(1, "log:room", None).await;
    life.says(2, "log:room", "id-jonas", "a marimba here").await;
    tokio::time::sleep(Duration::from_secs(4 * 3600)).await;
    assert!(!holds(&scratch, "glockenspiel"), "the words of a deleted message are still in the files");
    assert!(holds(&scratch, "marimba"), "what others said stays");
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_tools_found_of_an_edited_message_goes_with_its_words() {
    let scratch = Scratch::new();
    let life = RememberingLife::with_model(&scratch, 1, short_lived(), Arc::new(Librarian)).await;
    life.says(1, "log:room", "id-mia", "the glockenspiel is mine").await;
    asked(&life).await;
    life.changes(1, "log:room", Some("the celesta is mine")).await;
    others_talk(&life, 1_000).await;
    tokio::time::sleep(Duration::from_secs(3 * 3600)).await;
    assert!(!holds(&scratch, "glockenspiel"), "what was looked up before the edit is still in the files");
    assert!(holds(&scratch, "the celesta is mine"), "the edit is kept");
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_tools_found_of_a_person_is_forgotten_with_them() {
    for shards in [1, 3] {
        let scratch = Scratch::new();
        let life = RememberingLife::with_model(&scratch, shards, short_lived(), Arc::new(Librarian)).await;
        life.says(1, "log:room", "id-mia", "the glockenspiel is mine").await;
        asked(&life).await;
        assert!(holds(&scratch, "glockenspiel"), "the scan would find it");
        assert_eq!(life.forget_mia().await, ForgetState::Done);
        for text in ["glockenspiel", "id-mia"] {
            assert!(!holds(&scratch, text), "with {shards} engines {text} is still in the files");
        }
        life.runtime.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn who_opted_out_is_found_by_no_tool() {
    let scratch = Scratch::new();
    let life = RememberingLife::with_model(&scratch, 1, short_lived(), Arc::new(Librarian)).await;
    life.keeper.opt_out(&PersonId::new("id-mia"), &life.platforms).await.unwrap();
    for number in 100..150 {
        life.says(number, "log:room", "id-mia", "the glockenspiel is mine").await;
    }
    life.says(1, "log:room", "id-ann", "the celesta is mine").await;
    for number in 200..250 {
        life.says(number, "log:room", "id-mia", "the glockenspiel is mine").await;
    }
    asked(&life).await;
    let told = found(&life).await;
    assert!(told.contains("celesta"), "what others said is found behind it: {told}");
    assert!(!told.contains("glockenspiel") && !told.contains("id-mia"), "{told}");
    life.runtime.stop().await;
}
