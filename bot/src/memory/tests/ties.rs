//! Who answers whom, in every store: counted, bounded, behind walls, and gone with whom it concerns.

use aizuchi_core::memory::{ExportItem, TIES_MAX};

use super::*;

fn words(tie: &Tie) -> Vec<&str> {
    tie.words.iter().map(|word| &*word.word).collect()
}

async fn people_and_words(house: &MemoryFixture) -> Vec<(String, String, Vec<String>)> {
    let ties = house.ties().await;
    let mut told: Vec<_> = ties
        .iter()
        .map(|tie| (tie.from.to_string(), tie.to.to_string(), words(tie).iter().map(|word| (*word).into()).collect()))
        .collect();
    told.sort();
    told
}

/// Zebediah and Bob speak of xylophones, Bob and Ann of tomatoes and of Zebediah.
async fn lived(store: &str, name: &str) -> MemoryFixture {
    let house = MemoryFixture::new(store, name).await;
    let lobby = public("web:lobby");
    house
        .apply([
            answered(&lobby, "web:zebediah", "web:bob", &[("xylophones", "m1"), ("marmalade", "m2")]),
            answered(&lobby, "web:bob", "web:zebediah", &[("xylophones", "m3")]),
            answered(&lobby, "web:bob", "web:ann", &[("tomatoes", "m3"), ("zebediah", "m3"), ("marmalade", "m4")]),
            answered(&public("web:garden"), "web:ann", "web:bob", &[("tomatoes", "m3")]),
        ])
        .await;
    house
}

#[tokio::test]
async fn answers_are_counted_for_each_direction_and_room() {
    for store in &stores() {
        println!("store: {store}");
        let mut house = lived(store, "ties-counted").await;
        house
            .apply([answered(&public("web:lobby"), "web:bob", "web:ann", &[("frost", "m9"), ("tomatoes", "m9")])])
            .await;
        house.apply([answered(&public("web:lobby"), "web:bob", "web:bob", &[("alone", "m9")])]).await;
        if store == "local" {
            house.memory = reopen(store, &house.folder).await;
        }
        let (lobby, bob, ann) = (RoomId::new("web:lobby"), PersonId::new("web:bob"), PersonId::new("web:ann"));
        let ties = house.memory.ties(Some(&lobby), Some(&ann)).await.unwrap();
        assert_eq!((ties.len(), &ties[0].from, ties[0].answers, ties[0].weight), (1, &bob, 2, 2.0));
        assert_eq!(words(&ties[0])[0], "tomatoes", "the word that came twice is first");
        assert_eq!(house.memory.ties(None, Some(&ann)).await.unwrap().len(), 2, "in all rooms");
        assert_eq!(house.memory.ties(Some(&lobby), None).await.unwrap().len(), 3, "nobody answers themselves");
        assert_eq!(house.ties().await.len(), 4);
    }
}

#[tokio::test]
async fn a_room_keeps_its_strongest_ties_and_lets_old_ones_fade() {
    for store in &stores() {
        println!("store: {store}");
        let house = MemoryFixture::new(store, "ties-bounded").await;
        let lobby = public("web:lobby");
        let twice = (0..2 * TIES_MAX).map(|number| answered(&lobby, "web:bob", &format!("web:{}", number / 2), &[]));
        house.apply(twice.collect::<Vec<_>>()).await;
        assert_eq!(house.ties().await.len(), TIES_MAX);
        house.apply([answered(&lobby, "web:new", "web:bob", &[]), answered(&lobby, "web:newer", "web:bob", &[])]).await;
        let from: Vec<String> = house.ties().await.iter().map(|tie| tie.from.to_string()).collect();
        assert_eq!((from.len(), from.contains(&"web:newer".to_owned())), (TIES_MAX, true), "the newest has its chance");
        assert!(!from.contains(&"web:new".to_owned()), "the weakest makes room");
        house.apply([MemoryChange::Faded { at: day(100) }]).await;
        assert_eq!(house.ties().await.len(), TIES_MAX);
        house.apply([MemoryChange::Faded { at: day(400) }]).await;
        assert!(house.ties().await.is_empty());
    }
}

#[tokio::test]
async fn ties_stay_behind_the_walls_of_their_rooms() {
    for store in &stores() {
        println!("store: {store}");
        let house = MemoryFixture::new(store, "ties-walls").await;
        let rooms = [public("discord:1/2"), public("discord:1/3"), private("discord:1/4"), public("discord:9/2")];
        house.apply(rooms.iter().map(|room| answered(room, "ann", "bob", &[]))).await;
        let known = async |reader: &Origin, across: bool| {
            let ties = house.memory.ties(None, Some(&PersonId::new("ann"))).await.unwrap();
            let known = ties.into_iter().filter(|tie| tie.is_known_to(reader, across));
            known.map(|tie| tie.origin.room.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(known(&rooms[0], true).await, ["discord:1/2", "discord:1/3"]);
        assert_eq!(known(&rooms[0], false).await, ["discord:1/2"]);
        assert_eq!(known(&rooms[3], true).await, ["discord:9/2"]);
        assert!(known(&Origin::new("discord:@me/5", Visibility::Direct), true).await.is_empty());
        house.apply([MemoryChange::Narrowed { origin: private("discord:1/3") }]).await;
        assert_eq!(known(&rooms[0], true).await, ["discord:1/2"], "a room that was closed takes its ties along");
        house.apply([answered(&rooms[1], "ann", "bob", &[])]).await;
        assert_eq!(known(&rooms[0], true).await, ["discord:1/2"], "and keeps them");
    }
}

#[tokio::test]
async fn a_person_who_is_forgotten_or_opts_out_is_in_no_tie() {
    for store in &stores() {
        println!("store: {store}");
        let out = |out| MemoryChange::OptedOut { person: PersonId::new("web:zebediah"), out };
        for (name, leaves) in
            [("ties-forgotten", vec![forget("web:zebediah")]), ("ties-out", vec![forget("web:zebediah"), out(true)])]
        {
            let house = lived(store, name).await;
            house.apply([heard(&public("web:lobby"), 1, "web:zebediah", "Zebediah", "music")]).await;
            let theirs = ["zebediah", "xylophon"];
            if store == "local" {
                assert!(theirs.iter().all(|word| scan(&house.folder, word).is_some()), "the scan would find it");
            }
            let opts_out = leaves.len() > 1;
            house.apply(leaves).await;
            let left = people_and_words(&house).await;
            let left: Vec<_> = left.iter().map(|(from, to, words)| (from.as_str(), to.as_str(), words.len())).collect();
            assert_eq!(left, [("web:ann", "web:bob", 1), ("web:bob", "web:ann", 2)], "her name is no word of others");
            for word in theirs {
                assert_eq!(scan(&house.folder, word), None, "{word}");
            }
            if opts_out {
                let lobby = public("web:lobby");
                let both = [("web:zebediah", "web:bob"), ("web:bob", "web:zebediah")];
                house.apply(both.map(|(from, to)| answered(&lobby, from, to, &[("xylophones", "m7")]))).await;
                assert_eq!(house.ties().await.len(), 2, "nothing is learnt of somebody who opted out");
                assert_eq!(scan(&house.folder, "xylophon"), None);
            }
        }
    }
}

#[tokio::test]
async fn a_deleted_message_takes_its_words_out_of_the_ties_of_its_room() {
    for store in &stores() {
        println!("store: {store}");
        let house = lived(store, "ties-deleted").await;
        house.apply([gone("web:lobby", "m1"), gone("web:lobby", "m2")]).await;
        let left = people_and_words(&house).await;
        let of =
            |from: &str| left.iter().filter(|(of, ..)| of == from).map(|(.., words)| words.len()).collect::<Vec<_>>();
        assert_eq!((of("web:zebediah"), of("web:bob")), (vec![0], vec![3, 1]), "{left:?}");
        house.apply([gone("web:lobby", "m3")]).await;
        assert_eq!(scan(&house.folder, "xylophon"), None);
        assert!(people_and_words(&house).await.contains(&(
            "web:ann".into(),
            "web:bob".into(),
            vec!["tomatoes".into()]
        )));
        house.apply([gone("web:lobby", "m4")]).await;
        assert_eq!(scan(&house.folder, "marmalade"), None);
        house.apply([MemoryChange::RoomForgotten { room: RoomId::new("web:garden") }]).await;
        assert!(house.ties().await.iter().all(|tie| tie.origin.room.as_str() == "web:lobby" && tie.words.is_empty()));
        assert_eq!(scan(&house.folder, "tomatoes"), None);
    }
}

#[tokio::test]
async fn ties_can_be_taken_along() {
    for store in &stores() {
        println!("store: {store}");
        let (house, other) = (lived(store, "ties-from").await, MemoryFixture::new(store, "ties-to").await);
        let out = MemoryChange::OptedOut { person: PersonId::new("web:zebediah"), out: true };
        let known = answered(&public("web:lobby"), "web:bob", "web:ann", &[("roses", "m1")]);
        other.apply([out, known]).await;
        let ties = house.ties().await;
        other.apply(ties.into_iter().map(|tie| MemoryChange::Imported(Box::new(ExportItem::Tie(tie))))).await;
        let tie = |from: &str, to: &str, word: &str| (from.to_owned(), to.to_owned(), vec![word.to_owned()]);
        let expected = [tie("web:ann", "web:bob", "tomatoes"), tie("web:bob", "web:ann", "roses")];
        assert_eq!(people_and_words(&other).await, expected);
    }
}
