//! `/export-me`, `/what-do-you-know` and `/forget-me`, as people give them: what they show of others, and what they delete.

use std::sync::Arc;

use aizuchi::commands::{BotInfo, CommandRunner};
use aizuchi::journal::Traces;
use aizuchi::language::Language;
use aizuchi::ports::{Caller, Commands as _};
use aizuchi::runtime::Clock;
use aizuchi_core::memory::{ChannelMemory, ContextTurn, Fact, FactDraft, Filter, MemoryChange, Origin};
use aizuchi_core::settings::Presets;
use aizuchi_core::types::{Author, MessageId, PersonId, Place, Visibility};
use aizuchi_core::{Input, Message};
use tokio::sync::mpsc;

use crate::made_up::{START, Scratch, said};
use crate::remembering_life::RememberingLife;

/// Somebody says something under a name.
pub async fn says_as(life: &RememberingLife, number: u64, id: &str, name: &str, text: &str) {
    says_to(life, number, (id, name), &[], text).await;
}

/// The same to people whom they mention.
pub async fn says_to(life: &RememberingLife, number: u64, by: (&str, &str), to: &[&str], text: &str) {
    let Input::Said(message) = said(&format!("m{number}"), START, by.0, text) else { unreachable!() };
    let author = Author { name: by.1.into(), ..message.author.clone() };
    let mentions = to.iter().map(PersonId::new).collect();
    let message = Message { place: Place::room("log:1/room"), author, mentions, ..message };
    life.runtime.engine.submit(Input::Said(message)).await.unwrap();
    life.keeper.catch_up().await.unwrap();
}

pub fn draft(content: &str, by: &[(&str, &str)]) -> FactDraft {
    FactDraft {
        origin: Origin::new("log:1/room", Visibility::Public),
        content: content.into(),
        keywords: Vec::new(),
        people: by.iter().map(|(person, _)| PersonId::new(person)).collect(),
        messages: by.iter().map(|(_, message)| MessageId::new(message)).collect(),
        context: Vec::new(),
        confidence: 0.9,
        shareable: false,
        at: START,
        replaces: None,
    }
}

fn turn(message: &str, person: &str, offset: i8, text: &str) -> ContextTurn {
    let (message, id) = (MessageId::new(message), PersonId::new(person));
    ContextTurn { message, person: id, name: format!("name of {person}").into(), at: START, offset, text: text.into() }
}

pub async fn keep(life: &RememberingLife, drafts: impl IntoIterator<Item = FactDraft>) {
    for draft in drafts {
        life.keeper.change(vec![MemoryChange::Kept(Box::new(draft))]).await.unwrap();
    }
}

pub async fn contents(life: &RememberingLife) -> Vec<String> {
    let facts: Vec<Fact> = life.keeper.memory().facts(Filter::default()).await.unwrap();
    let mut contents: Vec<String> = facts.iter().map(|fact| fact.content.to_string()).collect();
    contents.sort();
    contents
}

/// What a command answers.
pub async fn answer(life: &RememberingLife, person: &str, command: &str) -> String {
    let bot = BotInfo {
        name: "aizuchi".into(),
        model: "offline".into(),
        judge: "offline".into(),
        offline: true,
        local: None,
        preset: "aizuchi".into(),
        presets: Presets::default(),
    };
    let traces = Traces::new(life.database.clone());
    let runner =
        CommandRunner::new(life.runtime.engine.clone(), traces, Clock::starting_at(START), bot, mpsc::channel(1).0)
            .remembering(Arc::clone(&life.keeper), life.platforms.clone());
    let caller = Caller { person: PersonId::new(person), manages: false, language: Language::ENGLISH };
    runner.run(command, &caller, &Place::room("log:1/room")).await
}

#[tokio::test(start_paused = true)]
async fn an_export_has_nothing_that_others_said_except_of_the_one_who_asks() {
    let scratch = Scratch::new();
    let life = RememberingLife::start(&scratch, 1).await;
    says_as(&life, 1, "id-mia", "Mia Quartz", "I play the glockenspiel").await;
    says_as(&life, 2, "id-jonas", "Jonas", "my divorce is final").await;
    says_to(&life, 3, ("id-jonas", "Jonas"), &["id-mia"], "what does Mia Quartz say?").await;
    let own = FactDraft {
        context: vec![
            turn("m1", "id-mia", 0, "I play the glockenspiel"),
            turn("m2", "id-jonas", 1, "my divorce is final"),
        ],
        ..draft("Mia Quartz plays the glockenspiel", &[("id-mia", "m1")])
    };
    let merged = FactDraft {
        keywords: vec!["secretword".into()],
        ..draft("mia QUARTZ plays glockenspiel", &[("id-jonas", "m2")])
    };
    let about = FactDraft {
        context: vec![turn("m2", "id-jonas", 0, "my divorce is final")],
        ..draft("Mia Quartz owes him a lunch", &[("id-jonas", "m2")])
    };
    keep(&life, [own, merged, about]).await;
    assert_eq!(contents(&life).await.len(), 2, "two say the same");
    let export = answer(&life, "id-mia", "export-me").await;
    for own in ["I play the glockenspiel", "Mia Quartz plays the glockenspiel", "Mia Quartz owes him a lunch", "m1"] {
        assert!(export.contains(own), "{own} is missing: {export}");
    }
    for others in ["divorce", "jonas", "Jonas", "mia QUARTZ", "secretword", "\"m2\""] {
        assert!(!export.contains(others), "{others} is somebody else's: {export}");
    }
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_invisible_character_makes_no_name_ones_own() {
    for (nick, other) in [("T\u{200b}he", None), ("Ri\u{200b}na", Some("Rina")), ("R\u{e0061}ina", Some("Rina"))] {
        let scratch = Scratch::new();
        let life = RememberingLife::start(&scratch, 1).await;
        says_as(&life, 1, "id-rina", "Rina", "hello").await;
        says_as(&life, 2, "id-mallory", nick, "hello").await;
        let stays = ["Rina sings in a choir", "the bus is late"];
        keep(&life, stays.map(|content| draft(content, &[("id-bo", "m9")]))).await;
        let told = answer(&life, "id-mallory", "forget-me").await;
        assert_eq!(contents(&life).await, stays, "{nick:?}: {told}");
        // Nor does it help to insist.
        let told = answer(&life, "id-mallory", &format!("forget-me {}", other.unwrap_or("the"))).await;
        assert_eq!(contents(&life).await, stays, "{nick:?}: {told}");
        life.runtime.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_part_of_a_name_deletes_nothing_unasked() {
    let scratch = Scratch::new();
    let life = RememberingLife::start(&scratch, 1).await;
    says_as(&life, 1, "id-mia", "Mia (Kyoto)", "hello").await;
    keep(&life, ["Bo moved to Kyoto", "Mia sings"].map(|content| draft(content, &[("id-bo", "m9")]))).await;
    let told = answer(&life, "id-mia", "forget-me").await;
    assert!(told.contains("Kyoto") && told.contains("Mia"), "she is asked: {told}");
    assert_eq!(contents(&life).await, ["Bo moved to Kyoto", "Mia sings"]);
    answer(&life, "id-mia", "forget-me Mia").await;
    assert_eq!(contents(&life).await, ["Bo moved to Kyoto"]);
    life.runtime.stop().await;
}

/// Somebody takes another's name, or an everyday word.
#[tokio::test(start_paused = true)]
async fn a_name_that_others_have_too_deletes_nothing_by_itself() {
    for nick in ["Bob", "the", "bob.", "Good Morning", "BOB \u{1f338}"] {
        let scratch = Scratch::new();
        let life = RememberingLife::start(&scratch, 1).await;
        says_as(&life, 1, "id-bob", "Bob", "hello").await;
        says_as(&life, 2, "id-mallory", nick, "hello").await;
        let beside = FactDraft {
            context: vec![turn("m9", "id-bo", 0, "x"), turn("m2", "id-mallory", 1, "hello")],
            ..draft("the good morning song of Bob annoys Mallory", &[("id-bo", "m9")])
        };
        keep(&life, [draft("Every good morning begins with the tea of Bob.", &[("id-bo", "m9")]), beside]).await;
        let told = answer(&life, "id-mallory", "forget-me").await;
        assert_eq!(contents(&life).await.len(), 2, "{nick}: {told}");
        answer(&life, "id-mallory", &format!("forget-me {nick}")).await;
        let left = contents(&life).await;
        assert_eq!(left, ["Every good morning begins with the tea of Bob."], "{nick}: only where they were there");
        life.runtime.stop().await;
    }
}

/// What others say of somebody who opted out is shown to them, as it is deleted with them; and summaries are.
#[tokio::test(start_paused = true)]
async fn who_opted_out_is_shown_what_is_said_of_them() {
    let scratch = Scratch::new();
    let life = RememberingLife::start(&scratch, 1).await;
    says_as(&life, 1, "id-mia", "Mia Quartz", "hello").await;
    keep(&life, [FactDraft { people: vec![PersonId::new("id-mia")], ..draft("she sings", &[("id-mia", "m1")]) }]).await;
    let summary = ChannelMemory {
        origin: Origin::new("log:1/room", Visibility::Public),
        summary: "Mia Quartz hums.".into(),
        mood: "calm".into(),
        topics: Vec::new(),
        active: Vec::new(),
        at: START,
        up_to: 1,
        messages: Vec::new(),
    };
    life.keeper.change(vec![MemoryChange::Summarized(Box::new(summary.clone()))]).await.unwrap();
    let shown = answer(&life, "id-mia", "what-do-you-know").await;
    assert!(shown.contains("she sings") && shown.contains("Mia Quartz hums."), "{shown}");
    life.keeper.opt_out(&PersonId::new("id-mia"), &life.platforms).await.unwrap();
    let shown = answer(&life, "id-mia", "what-do-you-know").await;
    assert!(shown.contains("You asked not to be remembered") && !shown.contains("she sings"), "{shown}");
    keep(&life, [draft("Mia Quartz owes Bo a lunch", &[("id-bo", "m9")])]).await;
    let summary = ChannelMemory { summary: "Mia Quartz whistles.".into(), up_to: 9, ..summary };
    life.keeper.change(vec![MemoryChange::Summarized(Box::new(summary))]).await.unwrap();
    let shown = answer(&life, "id-mia", "what-do-you-know").await;
    assert!(shown.contains("You asked not to be remembered"), "{shown}");
    assert!(shown.contains("owes Bo") && shown.contains("Mia Quartz whistles."), "she is in that room: {shown}");
    assert!(!shown.contains("more in rooms"), "{shown}");
    life.runtime.stop().await;
}
