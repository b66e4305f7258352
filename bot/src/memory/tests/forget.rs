//! What is forgotten is gone: from every answer, and from the files.

use aizuchi_core::memory::{asked_to_forget, changes_to_unsay};

use super::*;

async fn lived(store: &str, name: &str) -> MemoryFixture {
    let house = MemoryFixture::new(store, name).await;
    let (lobby, garden) = (public("web:lobby"), public("web:garden"));
    house
        .apply([
            heard(&lobby, 1, "web:zebediah", "Zebediah", "xylophones"),
            heard(&lobby, 2, "web:bob", "Bob", "gardening"),
            summarized(
                &lobby,
                2,
                "Somebody plays quixotic music.",
                &[("web:zebediah", "Zebediah"), ("web:bob", "Bob")],
            ),
            summarized(&garden, 9, "Bob said that zebediah is away.", &[("web:bob", "Bob")]),
            reflected(
                &lobby,
                2,
                vec![
                    sourced(&lobby, "A quixotic xylophone stands in the lobby", &[("web:zebediah", "m1")]),
                    sourced(&lobby, "Both of them like marmalade", &[("web:zebediah", "m1"), ("web:bob", "m2")]),
                    sourced(&lobby, "ZEBEDIAH owes Bob a lunch", &[("web:bob", "m2")]),
                    sourced(&lobby, "Bob grows tomatoes", &[("web:bob", "m2")]),
                ],
                vec![note("web:zebediah", "xylophonist", "m1"), note("web:bob", "knows Zebediah", "m2")],
            ),
        ])
        .await;
    house
}

const THEIRS: [&str; 5] = ["zebediah", "xylophon", "quixotic", "marmalade", "owes"];

async fn nothing_is_left(house: &MemoryFixture) {
    let lobby = public("web:lobby");
    for word in ["Zebediah", "xylophones", "quixotic", "marmalade", "lunch"] {
        assert!(house.found(word, &lobby).await.is_empty(), "{word}");
    }
    assert_eq!(house.contents().await, ["Bob grows tomatoes"]);
    let everything = format!(
        "{:?} {:?} {:?} {:?}",
        house.facts().await,
        house.memory.people(None).await.unwrap(),
        house.memory.channel(&lobby.room).await.unwrap(),
        house.memory.channel(&RoomId::new("web:garden")).await.unwrap()
    );
    for word in THEIRS {
        assert!(!everything.to_lowercase().contains(word), "{word} in {everything}");
        assert_eq!(scan(&house.folder, word), None, "{word}");
    }
    let about = house.memory.about(&PersonId::new("web:bob")).await.unwrap();
    assert_eq!((about.facts.len(), about.person.unwrap().messages), (1, 1));
}

#[tokio::test]
async fn a_person_who_is_forgotten_leaves_nothing() {
    for store in &stores() {
        println!("store: {store}");
        let house = lived(store, "person").await;
        assert_eq!(house.memory.about(&PersonId::new("web:zebediah")).await.unwrap().facts.len(), 2);
        if store == "local" {
            assert!(THEIRS.iter().all(|word| scan(&house.folder, word).is_some()), "the scan would find it");
        }
        house.apply([forget("web:zebediah")]).await;
        nothing_is_left(&house).await;
        let about = house.memory.about(&PersonId::new("web:zebediah")).await.unwrap();
        assert_eq!(about, Default::default());
    }
}

#[tokio::test]
async fn a_name_decides_nothing_where_its_owner_never_spoke() {
    for store in &stores() {
        println!("store: {store}");
        let house = MemoryFixture::new(store, "elsewhere").await;
        let (lobby, guild) = (public("web:lobby"), public("discord:1/2"));
        let (workspace, whispers) = (private("slack:T/C"), Origin::new("web:whispers", Visibility::Direct));
        let says = |origin: &Origin, content: &str| kept(sourced(origin, content, &[("web:bob", "m9")]));
        let MemoryChange::Summarized(elsewhere) = summarized(&guild, 1, "Zebediah is away.", &[]) else {
            unreachable!()
        };
        house
            .apply([
                heard(&lobby, 1, "web:zebediah", "Zebediah", "xylophones"),
                heard(&guild, 1, "discord:9", "Bob", "Zebediah"),
                MemoryChange::Imported(Box::new(ExportItem::Channel(*elsewhere))),
                answered(&guild, "discord:9", "discord:8", &[("zebediah", "m1")]),
                says(&private("web:den"), "Zebediah sings"),
                says(&guild, "Zebediah drives"),
                says(&workspace, "Zebediah is ill"),
                says(&whispers, "Zebediah is late"),
            ])
            .await;
        house.apply([forget("web:zebediah")]).await;
        let mut left = house.contents().await;
        left.sort();
        assert_eq!(left, ["Zebediah drives", "Zebediah is ill", "Zebediah is late"], "{store}");
        let (channel, _) = house.memory.channel(&guild.room).await.unwrap();
        assert_eq!(&*channel.unwrap().summary, "Zebediah is away.");
        assert_eq!(house.ties().await[0].words.len(), 1);
        assert_eq!(house.memory.people(None).await.unwrap()[0].topics.len(), 1);
    }
}

#[tokio::test]
async fn that_a_name_was_shared_is_known_when_one_of_them_is_gone() {
    for store in &stores() {
        println!("store: {store}");
        let house = MemoryFixture::new(store, "shared").await;
        let lobby = public("web:lobby");
        let sams = ["web:sam", "web:other"].map(|id| heard(&lobby, u64::from(id == "web:other") + 1, id, "Sam", "tea"));
        house.apply(sams).await;
        house.apply([forget("web:sam")]).await;
        let other = house.memory.people(Some(&PersonId::new("web:other"))).await.unwrap().remove(0);
        assert_eq!(other.shared_names, vec![Box::<str>::from("Sam")], "{store}");
    }
}

#[tokio::test]
async fn who_opts_out_is_never_kept_again_also_after_a_restart() {
    for store in &stores() {
        println!("store: {store}");
        let mut house = lived(store, "out").await;
        let out = |out| MemoryChange::OptedOut { person: PersonId::new("web:zebediah"), out };
        house.apply([forget("web:zebediah"), out(true)]).await;
        nothing_is_left(&house).await;
        let lobby = public("web:lobby");
        if store != "memory" {
            // A database lets one program in at a time.
            house.memory = Arc::new(Ram::default());
            house.memory = reopen(store, &house.folder).await;
            house.apply([heard(&lobby, 2, "web:bob", "Bob", "gardening")]).await;
        }
        let theirs = [("web:zebediah", "Zebediah"), ("web:bob", "Bob")];
        let MemoryChange::Summarized(attic) = summarized(&public("web:attic"), 1, "Tomatoes.", &theirs) else {
            unreachable!("that is what it makes");
        };
        house
            .apply([
                MemoryChange::Imported(Box::new(ExportItem::Channel(*attic))),
                heard(&lobby, 3, "web:zebediah", "Zebediah", "xylophones"),
                summarized(&lobby, 4, "Tomatoes.", &theirs),
                reflected(
                    &lobby,
                    5,
                    vec![sourced(&lobby, "quixotic", &[("web:bob", "m3"), ("web:zebediah", "m4")])],
                    vec![note("web:zebediah", "xylophonist", "m4")],
                ),
            ])
            .await;
        let known = house.memory.people(Some(&PersonId::new("web:zebediah"))).await.unwrap();
        assert_eq!(known.len(), 1);
        assert!(known[0].opted_out && known[0].names.is_empty() && known[0].messages == 0);
        assert!(!house.contents().await.contains(&"quixotic".to_owned()));
        for room in [&lobby.room, &RoomId::new("web:attic")] {
            let (channel, _) = house.memory.channel(room).await.unwrap();
            assert_eq!(channel.unwrap().active.len(), 1, "{room}");
        }
        for word in THEIRS {
            assert_eq!(scan(&house.folder, word), None, "{word}");
        }
        house.apply([out(false), heard(&lobby, 6, "web:zebediah", "Zebediah", "x")]).await;
        assert_eq!(house.memory.people(Some(&PersonId::new("web:zebediah"))).await.unwrap()[0].messages, 1);
    }
}

#[tokio::test]
async fn a_deleted_message_takes_along_what_rests_on_it_alone() {
    for store in &stores() {
        println!("store: {store}");
        let house = lived(store, "message").await;
        house.apply([gone("web:garden", "m1"), gone("web:lobby", "m77")]).await;
        assert_eq!(house.contents().await.len(), 4, "another room's message, and one that nothing rests on");
        house.apply([gone("web:lobby", "m1")]).await;
        let contents = house.contents().await;
        assert!(!contents.contains(&"Both of them like marmalade".to_owned()), "its words may be from either");
        assert!(!contents.iter().any(|content| content.contains("xylophone")));
        let person = house.memory.people(Some(&PersonId::new("web:zebediah"))).await.unwrap().remove(0);
        assert!(person.topics.is_empty() && person.notes.is_empty());
        assert_eq!(scan(&house.folder, "xylophon"), None);
        house.apply([gone("web:lobby", "m2")]).await;
        assert!(house.contents().await.is_empty());
        let (channel, marks) = house.memory.channel(&RoomId::new("web:lobby")).await.unwrap();
        assert!(channel.unwrap().is_empty(), "the summary rested on it");
        assert_eq!(marks.summarized, 2, "what was read stays read");
        assert_eq!(scan(&house.folder, "marmalade"), None);
    }
}

#[tokio::test]
async fn the_words_of_a_deleted_message_do_not_survive_in_a_merged_fact() {
    for store in &stores() {
        println!("store: {store}");
        let house = MemoryFixture::new(store, "merged").await;
        let lobby = public("web:lobby");
        let with = |content: &str, keyword: &str, by: (&str, &str)| {
            kept(FactDraft { keywords: vec![keyword.into()], ..sourced(&lobby, content, &[by]) })
        };
        house.apply([with("The REALLY green tea is from Uji", "quixotic", ("ann", "m1"))]).await;
        house.apply([with("the green tea is from Uji", "tea", ("bob", "m2"))]).await;
        assert_eq!(house.contents().await.len(), 1);
        house.apply([gone("web:lobby", "m1")]).await;
        let fact = house.facts().await.remove(0);
        assert_eq!((&*fact.content, fact.people.len(), fact.messages.len()), ("the green tea is from Uji", 1, 1));
        assert!(house.found("quixotic", &lobby).await.is_empty());
        for word in ["REALLY", "quixotic"] {
            assert_eq!(scan(&house.folder, word), None, "{word}");
        }
        assert_eq!(house.found("green", &lobby).await.len(), 1);
        house.apply([gone("web:lobby", "m2")]).await;
        assert!(house.contents().await.is_empty());
    }
}

#[tokio::test]
async fn what_one_of_two_wants_to_be_forgotten_keeps_the_wording_of_the_other() {
    for store in &stores() {
        println!("store: {store}");
        let house = MemoryFixture::new(store, "unsaid").await;
        let lobby = public("web:lobby");
        let mut unsourced = sourced(&lobby, "The glockenspiel is loud", &[("ken", "m9")]);
        unsourced.messages.clear();
        house
            .apply([
                kept(sourced(&lobby, "The tulip is red", &[("ken", "m1")])),
                kept(sourced(&lobby, "The tulip is really red", &[("mia", "m2")])),
                kept(sourced(&lobby, "Tulips need water", &[("ken", "m3")])),
                kept(unsourced),
                kept(sourced(&lobby, "The glockenspiel is really loud", &[("mia", "m4")])),
            ])
            .await;
        assert_eq!(house.contents().await.len(), 3, "{store}");
        for text in ["forget what I said about the tulip", "forget what I said about the glockenspiel"] {
            let topic = asked_to_forget(text).expect("a request");
            let facts = house.facts().await;
            let unsaid = facts.iter().flat_map(|fact| changes_to_unsay(&topic, fact, &[PersonId::new("ken")]));
            house.apply(unsaid.collect::<Vec<_>>()).await;
        }
        let mut contents = house.contents().await;
        contents.sort();
        assert_eq!(contents, ["The glockenspiel is really loud", "The tulip is really red"], "{store}");
        assert!(house.facts().await.iter().all(|fact| fact.people == [PersonId::new("mia")]), "{store}");
    }
}

#[tokio::test]
async fn a_room_that_is_forgotten_leaves_nothing() {
    for store in &stores() {
        println!("store: {store}");
        let house = lived(store, "room").await;
        let garden = public("web:garden");
        house.apply([kept(draft(&garden, "roses need water"))]).await;
        let rose = house.facts().await[0].id;
        house.apply([MemoryChange::Told { fact: rose, room: RoomId::new("web:lobby"), at: day(1) }]).await;
        house.apply([MemoryChange::RoomForgotten { room: RoomId::new("web:lobby") }]).await;
        assert_eq!(house.contents().await, ["roses need water"]);
        assert!(house.facts().await[0].told_in.is_empty());
        assert_eq!(house.memory.channel(&RoomId::new("web:lobby")).await.unwrap().0, None);
        for word in ["xylophon", "quixotic", "marmalade", "tomatoes", "gardening"] {
            assert_eq!(scan(&house.folder, word), None, "{word}");
        }
    }
}

#[tokio::test]
async fn an_edited_fact_leaves_no_trace_of_what_it_was() {
    let house = MemoryFixture::new("local", "edited").await;
    let lobby = public("web:lobby");
    house.apply([kept(draft(&lobby, "the password is swordfish")), kept(draft(&lobby, "it rains in Kyoto"))]).await;
    let id = house.facts().await[1].id;
    let changes = (0..3).map(|at| MemoryChange::Edited {
        fact: id,
        content: format!("edition {at}").into(),
        keywords: Vec::new(),
    });
    house.apply(changes).await;
    assert_eq!(scan(&house.folder, "swordfish"), None);
    house.apply([MemoryChange::Forgotten { fact: id }]).await;
    assert_eq!(scan(&house.folder, "edition"), None);
    assert!(scan(&house.folder, "Kyoto").is_some());
}
