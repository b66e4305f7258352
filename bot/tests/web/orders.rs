//! Orders with a slash, answered to this page alone.

use aizuchi_core::Input;
use aizuchi_core::input::Command;
use aizuchi_core::types::{RoomId, Share, Span};
use serde_json::json;

use crate::house::House;
use crate::visitor::{Visitor, connect};

#[tokio::test]
async fn orders_reach_the_engine_and_no_room() {
    let house = House::open("orders").await;
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    assert_eq!(mia.order("/mute 2h").await, "Muted for 2 h. /unmute ends it.");
    assert_eq!(mia.taken("order").await, "");
    assert_eq!(mia.order("/mute").await, "Muted until /unmute.");
    assert_eq!(mia.order("/unmute").await, "Takes part again.");
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
async fn a_japanese_browser_is_answered_in_japanese() {
    let house = House::open("japanese").await;
    let mut mio = connect(house.address, &[("Accept-Language", "ja,en;q=0.8")]).await.unwrap();
    mio.send(json!({"do": "enter", "room": "庭", "name": "みお"})).await;
    mio.next("caught_up").await;
    assert_eq!(mio.order("/mute 2時間").await, "2時間黙ります。/unmute で解除できます。");
    assert!(mio.order("/踊れ").await.starts_with("/踊れ というコマンドはありません。"));
    let refused = mio.refused(json!({"do": "say", "key": "1", "text": " "})).await;
    assert_eq!(refused, "メッセージが空です。");
    house.close().await;
}
