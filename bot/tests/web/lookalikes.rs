//! Rooms, names and messages that look like others, or like nothing.

use aizuchi_test_servers::visitor::{Visitor, connect};
use serde_json::json;

use crate::house::WebFixture;
use crate::strangers::{count, enter, tries};

#[tokio::test]
async fn a_room_is_the_same_whatever_the_case_and_width_of_its_name() {
    let house = WebFixture::open("fold").await;
    Visitor::enter(house.address, "Straße", "mia").await;
    let mut page = connect(house.address, &[]).await.unwrap();
    for (room, wanted) in [
        ("LOBBY", "lobby"),
        ("ｌｏｂｂｙ", "lobby"),
        ("Ｌobby", "lobby"),
        ("STRASSE", "Straße"),
        ("garden", "garden"),
        ("Garden", "garden"),
    ] {
        assert_eq!(tries(&mut page, enter(room, "mallory")).await["room"], wanted, "{room}");
    }
    assert_eq!(count(&house, "web_room").await, 3);
    // A sample is removed after a day, and is not listed.
    for room in ["sample-1", "SAMPLE-1", "ｓample-1"] {
        assert_eq!(tries(&mut page, enter(room, "mallory")).await["tell"], "refused", "{room}");
    }
    house.close().await;
}

#[tokio::test]
async fn what_looks_empty_is_neither_a_name_nor_a_room_nor_a_message() {
    let house = WebFixture::open("blank").await;
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    let id = mia.say("1", "hi").await;
    let mut page = connect(house.address, &[]).await.unwrap();
    for blank in [
        "\u{3164}",
        "\u{2800}",
        "\u{115f}",
        "\u{1160}",
        "\u{ffa0}",
        "\u{34f}",
        "\u{e0000}\u{e0041}\u{e007f}",
        "\u{fe0f}\u{200d}",
        "\u{180e}",
        "\u{301}",
        "\u{fffc}",
        "\u{e000}",
        "\u{1d159}",
        " \u{2800} \u{3164}\u{200b}",
    ] {
        let name = tries(&mut page, enter("lobby", blank)).await;
        assert!(name["why"].as_str().is_some_and(|why| why.contains("name")), "name {blank:?}: {name}");
        let room = tries(&mut page, enter(blank, "mallory")).await;
        assert!(room["why"].as_str().is_some_and(|why| why.contains("room")), "room {blank:?}: {room}");
        for frame in [
            json!({"do": "say", "key": "k", "text": blank}),
            json!({"do": "edit", "key": "k", "id": id, "text": blank}),
        ] {
            let why = mia.refused(frame).await;
            assert!(why.contains("empty"), "{blank:?}: {why}");
        }
    }
    assert_eq!(house.said().len(), 1);
    for (n, name) in ["み お", "👩🏽‍💻", "❤️", "می‌خواهم", "한글"].into_iter().enumerate() {
        let mut page = Visitor::enter(house.address, "lobby", name).await;
        page.say(&n.to_string(), name).await;
    }
    house.close().await;
}
