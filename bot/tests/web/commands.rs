//! Slash commands, answered to this page alone.

use std::sync::Arc;

use aizuchi::commands::COMMANDS;
use aizuchi::journal::{Journal, JournalEntry};
use aizuchi::ports::{BoxFuture, Caller, Commands};
use aizuchi_core::input::Command;
use aizuchi_core::listen::Unheard;
use aizuchi_core::types::{MessageId, Place, Reaction, RoomId, Share, Span};
use aizuchi_core::{Input, Message, Trace};
use aizuchi_test_servers::visitor::{Visitor, connect};
use serde_json::json;

use crate::house::{Engine, WebFixture, folder};

/// Commands of which those about memory are never done.
struct Forgetful(Arc<dyn Commands>);

impl Commands for Forgetful {
    fn run<'a>(&'a self, text: &'a str, caller: &'a Caller, place: &'a Place) -> BoxFuture<'a, String> {
        match text.trim_start_matches('/') {
            "what-do-you-know" => Box::pin(std::future::pending()),
            _ => self.0.run(text, caller, place),
        }
    }
}

#[tokio::test]
async fn a_page_goes_on_while_a_command_waits_for_a_memory_that_hangs() {
    let folder = folder("beside");
    let house =
        WebFixture::open_with(&folder, &[], Engine::Listens, |commands| Arc::new(Forgetful(commands))).await.unwrap();
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    mia.send(json!({"do": "say", "key": "first", "text": "/what-do-you-know"})).await;
    mia.send(json!({"do": "say", "key": "second", "text": "/what-do-you-know"})).await;
    assert!(mia.order("/help").await.contains("/status"));
    house.close().await;
}

#[tokio::test]
async fn commands_reach_the_engine_and_no_room() {
    let house = WebFixture::open("commands").await;
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    assert_eq!(mia.order("/mute 2h").await, "I am muted for 2 h. /unmute ends it.");
    assert_eq!(mia.taken("order").await, "");
    assert_eq!(mia.order("/mute").await, "I am muted until /unmute.");
    assert_eq!(mia.order("/unmute").await, "I am taking part again.");
    assert!(mia.order("/mute soon").await.contains("/mute [2h|30m|90s]"));
    assert!(mia.order("/talk 3%").await.contains("about 3 %"));
    assert!(mia.order("/dance").await.contains("There is no command /dance.\n/mute"));
    assert!(mia.order("/help").await.contains("/status"));
    let status = mia.order("/status").await;
    assert!(status.contains("listening: yes") && status.contains("model: offline (offline)"), "{status}");
    let told: Vec<(RoomId, Command)> = house
        .heard
        .lock()
        .unwrap()
        .iter()
        .filter_map(|input| match input {
            Input::Told(room, command) => Some((room.clone(), *command)),
            _ => None,
        })
        .collect();
    let lobby = RoomId::new("web:lobby");
    let expected = [
        Command::Mute(Some(Span::minutes(120))),
        Command::Mute(None),
        Command::Unmute,
        Command::Talk(Share::parse("3%")),
    ];
    assert_eq!(told, expected.map(|command| (lobby.clone(), command)));
    // Nothing of it is in the talk.
    let (_, told) = Visitor::come_back(house.address, "lobby", "jonas", None, 0).await;
    assert_eq!(told.len(), 1);
    house.close().await;
}

#[tokio::test]
async fn a_page_is_told_every_command_in_its_language() {
    let house = WebFixture::open("offers").await;
    let mut mio = connect(house.address, &[]).await.unwrap();
    for (language, help) in
        [("en", "/channel on|off – listen here, or not"), ("ja", "/channel on|off – ここで聞く、聞かない")]
    {
        mio.send(json!({"do": "enter", "room": "lobby", "name": "mio", "language": language})).await;
        let hello = mio.next("hello").await;
        let offers = hello["commands"].as_array().unwrap();
        let names: Vec<&str> = offers.iter().map(|offer| offer["name"].as_str().unwrap()).collect();
        assert_eq!(names, COMMANDS.iter().map(|spec| spec.name).collect::<Vec<_>>());
        let line = |offer: &serde_json::Value| {
            format!("/{} – {}", offer["usage"].as_str().unwrap(), offer["help"].as_str().unwrap())
        };
        let lines: Vec<String> = offers.iter().map(line).collect();
        assert!(lines.iter().any(|line| line == help), "{lines:?}");
        assert_eq!(mio.order("/help").await, lines.join("\n"), "the help says the same");
    }
    house.close().await;
}

#[tokio::test]
async fn a_japanese_browser_is_answered_in_japanese() {
    let house = WebFixture::open("japanese").await;
    let mut mio = connect(house.address, &[("Accept-Language", "ja,en;q=0.8")]).await.unwrap();
    mio.send(json!({"do": "enter", "room": "庭", "name": "みお"})).await;
    mio.next("caught_up").await;
    assert_eq!(mio.order("/mute 2時間").await, "2時間黙ります。/unmute で解除できます。");
    assert!(mio.order("/踊れ").await.starts_with("/踊れ というコマンドはありません。"));
    let refused = mio.refused(json!({"do": "say", "key": "1", "text": " "})).await;
    assert_eq!(refused, "メッセージが空です。");
    house.close().await;
}

#[tokio::test]
async fn why_is_told_in_japanese_and_the_page_gets_it_as_data() {
    let house = WebFixture::open("why").await;
    let mut mio = connect(house.address, &[("Accept-Language", "ja")]).await.unwrap();
    mio.send(json!({"do": "enter", "room": "庭", "name": "みお"})).await;
    mio.next("caught_up").await;
    mio.say("1", "こんにちは").await;
    let said = loop {
        match house.said().first() {
            Some(said) => break said.clone(),
            None => tokio::time::sleep(std::time::Duration::from_millis(5)).await,
        }
    };
    let decided = Trace::passed_over(&said, Unheard::Empty);
    Journal::new(house.database.clone()).keep([decided].into()).await.unwrap();
    let told = mio.order(&format!("/why {}", said.id)).await;
    assert_eq!(told, format!("{} (みお): 対象外：空のメッセージです。", said.id));
    mio.send(json!({"do": "why", "id": said.id})).await;
    let trace = mio.next("decided").await["trace"].clone();
    assert_eq!(trace["why"], json!([["unheard-empty", {}]]));
    assert_eq!(trace["reason"], "Ignored: the message is empty.");
    let languages = house.get("/locales.json", &[]).await;
    assert!(languages.contains(r#"{"id":"ja","name":"日本語","sample":true,"switch":"日本語にする"}"#), "{languages}");
    let messages = house.get("/locales/ja.json", &[]).await;
    assert!(messages.contains(r#""unheard-empty":"空のメッセージです。""#), "the page has the same words");
    assert!(house.get("/locales/xx.json", &[]).await.starts_with("HTTP/1.1 404"));
    house.close().await;
}

#[tokio::test]
async fn a_person_is_told_what_is_kept_of_them_and_of_nobody_else() {
    let house = WebFixture::open("known").await;
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    let nothing = mia.order("/what-do-you-know").await;
    assert!(nothing.starts_with("None of your messages is stored.\n"), "{nothing}");
    let mut jonas = Visitor::enter(house.address, "garden", "jonas").await;
    mia.taken("order").await;
    mia.say("1", "secret plans").await;
    mia.say("2", "secret plans").await;
    while house.said().len() < 2 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    jonas.say("3", "secret plans").await;
    while house.said().len() < 3 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let (of_mia, journal) = (house.said()[0].clone(), Journal::new(house.database.clone()));
    // The journal has one that the room's own history has let go of, all the others too, and another platform's.
    let gone = Message { id: MessageId::new("w0"), ..of_mia.clone() };
    let elsewhere = Message { place: Place { room: RoomId::new("slack:T1/C1"), thread: None }, ..of_mia.clone() };
    let place = of_mia.place.clone();
    let (message, by) = (of_mia.id.clone(), of_mia.author.id.clone());
    let reaction = Reaction { place, message, at: of_mia.at, by, emoji: "👍".into(), on: true };
    let said = house.said().into_iter().chain([gone, elsewhere.clone()]).map(Input::Said);
    let inputs: Vec<_> =
        said.chain([Input::Reacted(reaction)]).map(|input| JournalEntry::Input(of_mia.at, input)).collect();
    journal.append(0, &inputs).await.unwrap();
    let decided = [&of_mia, &house.said()[2], &elsewhere].map(|message| Trace::passed_over(message, Unheard::Empty));
    journal.keep(decided.into()).await.unwrap();
    // One that is in the room's own history alone.
    mia.say("4", "secret plans").await;
    let told = mia.order("/what-do-you-know").await;
    assert!(told.starts_with("Your stored messages: 4, since 20"), "{told}");
    assert!(told.contains("in rooms: 1\n- lobby: 4\nReactions: 1. Decisions about your messages: 1.\n"), "{told}");
    let told = jonas.order("/what-do-you-know").await;
    assert!(told.contains("in rooms: 1\n- garden: 1\nReactions: 0. Decisions about your messages: 1.\n"), "{told}");
    house.close().await;
}
