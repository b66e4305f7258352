//! What every store does: keeps, finds, fades, merges, and counts.

use aizuchi_core::memory::Allowed;

use super::*;

macro_rules! for_every_store {
    ($($name:ident)*) => {
        $(#[tokio::test]
        async fn $name() {
            for store in &stores() {
                println!("store: {store}");
                checks::$name(store).await;
            }
        })*
    };
}

for_every_store! {
    finds_japanese_and_english
    keeps_to_the_walls
    ranks_as_the_settings_say
    reads_nothing_twice
    counts_people
    makes_room_and_lets_fade
    merges_and_supersedes
    loses_nothing_by_merging
    the_later_of_two_that_contradict_holds
    an_old_fact_is_former_however_many_newer_ones_share_a_word_with_it
    an_import_settles_contradictions_and_keeps_what_replaced_a_fact
    edits_pins_uses_and_tells
    lists_by_room_person_and_words
    finds_by_meaning
    works_for_many_at_once
    narrows_with_its_room
}

mod checks {
    use super::*;

    /// However much is said about somebody later.
    pub async fn an_old_fact_is_former_however_many_newer_ones_share_a_word_with_it(store: &str) {
        let house = MemoryFixture::new(store, "saturated").await;
        let lobby = public("web:lobby");
        house.apply([kept(draft(&lobby, "Zebediah lives in Tokyo"))]).await;
        house.apply((0..70).map(|number| kept(draft(&lobby, &format!("Zebediah bought trinket{number}"))))).await;
        house.apply([kept(draft(&lobby, "Zebediah lives in Osaka"))]).await;
        let facts = house.facts().await;
        let of = |content: &str| facts.iter().find(|fact| &*fact.content == content).unwrap();
        let former = of("Zebediah lives in Tokyo").former.map(|former| former.by);
        assert_eq!(former, Some(of("Zebediah lives in Osaka").id), "{store}");
    }

    /// By whichever number the fact has that replaced it.
    pub async fn an_import_settles_contradictions_and_keeps_what_replaced_a_fact(store: &str) {
        let house = MemoryFixture::new(store, "imported").await;
        let lobby = public("web:lobby");
        house.apply((0..3).map(|number| kept(draft(&lobby, &format!("spare{number} is blue"))))).await;
        house.apply([kept(draft(&lobby, "Zebediah lives in Tokyo"))]).await;
        house.apply([kept(draft(&lobby, "Zebediah lives in Osaka"))]).await;
        let exported = house.facts().await;
        let by = |facts: &[Fact]| {
            let of = |content: &str| facts.iter().find(|fact| fact.content.ends_with(content)).unwrap().clone();
            (of("Tokyo").former.map(|former| former.by), of("Osaka").id, of("Osaka").former)
        };
        assert_eq!(by(&exported).0, Some(by(&exported).1), "{store}");
        for former_first in [true, false] {
            let mut facts: Vec<Fact> = exported.iter().filter(|fact| fact.content.starts_with('Z')).cloned().collect();
            facts.sort_by_key(|fact| fact.former.is_some() != former_first);
            let other = MemoryFixture::new(store, &format!("importing-{former_first}")).await;
            let import = |fact: Fact| MemoryChange::Imported(Box::new(ExportItem::Fact(fact)));
            other.apply(facts.iter().cloned().map(import)).await;
            let (former, osaka, holds) = by(&other.facts().await);
            assert_eq!((former, holds), (Some(osaka), None), "{store}, {former_first}");
            let unsettled = facts.into_iter().map(|fact| Fact { former: None, ..fact });
            let third = MemoryFixture::new(store, &format!("unsettled-{former_first}")).await;
            third.apply(unsettled.enumerate().map(|(nth, fact)| import(Fact { at: day(nth as u64), ..fact }))).await;
            assert_eq!(third.facts().await.iter().filter(|fact| fact.former.is_some()).count(), 1, "{store}");
        }
    }

    pub async fn finds_japanese_and_english(store: &str) {
        let house = MemoryFixture::new(store, "finds").await;
        let lobby = public("web:lobby");
        let mut english = draft(&lobby, "Ann explained how async works in Rust");
        english.keywords = vec!["Rust".into(), "非同期".into()];
        let facts =
            [english, draft(&lobby, "田中さんはRustで非同期処理を書いている"), draft(&lobby, "昼はカレーだった")];
        house.apply(facts.map(kept)).await;
        assert_eq!(house.found("Rustの非同期処理について教えて", &lobby).await.len(), 2);
        assert_eq!(house.found("カレーの店", &lobby).await, ["昼はカレーだった"]);
        assert_eq!(house.found("ＲＵＳＴ", &lobby).await.len(), 2);
        for nothing in ["", "？", "\"", "'; DROP TABLE memory_fact; --", "words:x*", "について", "zebra NEAR(a b)"]
        {
            assert!(house.found(nothing, &lobby).await.is_empty(), "{nothing}");
        }
    }

    pub async fn keeps_to_the_walls(store: &str) {
        let house = MemoryFixture::new(store, "walls").await;
        let rooms = [public("discord:1/2"), public("discord:1/3"), private("discord:1/4"), public("discord:9/2")];
        house.apply(rooms.iter().map(|room| kept(draft(room, &format!("the party in {}", room.room))))).await;
        let told = |found: Vec<Recalled>| -> Vec<(String, Allowed)> {
            let mut told: Vec<_> =
                found.into_iter().map(|found| (found.fact.origin.room.to_string(), found.allowed)).collect();
            told.sort();
            told
        };
        let here = told(house.recall("party", &rooms[0], day(0)).await);
        assert_eq!(here, [("discord:1/2".into(), Allowed::SameRoom), ("discord:1/3".into(), Allowed::PublicInHouse)]);
        assert_eq!(told(house.recall("party", &rooms[2], day(0)).await).len(), 3);
        assert_eq!(told(house.recall("party", &rooms[3], day(0)).await).len(), 1);
        let direct = Origin::new("discord:@me/5", Visibility::Direct);
        assert!(house.recall("party", &direct, day(0)).await.is_empty());
        let shut = MemoryFixture { policies: settings(&["memory.across_rooms=false"]), ..house };
        assert_eq!(told(shut.recall("party", &rooms[2], day(0)).await).len(), 1);
    }

    pub async fn ranks_as_the_settings_say(store: &str) {
        let house = MemoryFixture::with(store, "ranks", &["memory.ranking=sphene"]).await;
        let lobby = public("web:lobby");
        let mut tea = sourced(&lobby, "x", &[("ann", "m1")]);
        tea.keywords = vec!["tea".into(), "uji".into()];
        let mut old = draft(&lobby, "y");
        old.keywords = vec!["tea".into()];
        old.at = Time(day(0).0 - Span::minutes(30 * 24 * 60).0);
        house.apply([kept(tea), kept(old)]).await;
        let scores: Vec<f64> = house.recall("tea", &lobby, day(0)).await.iter().map(|found| found.score).collect();
        assert_eq!(scores, [0.5, 0.5]);
        let query = Query {
            text: "tea".into(),
            speaker: Some(PersonId::new("ann")),
            reader: lobby,
            at: day(0),
            count: 1,
            vector: None,
            close: Vec::new(),
        };
        let best = house.memory.recall(query, &house.policies).await.unwrap();
        assert_eq!((best.len(), &*best[0].fact.content, best[0].score), (1, "x", 0.75));
    }

    pub async fn reads_nothing_twice(store: &str) {
        let house = MemoryFixture::new(store, "twice").await;
        let lobby = public("web:lobby");
        for _ in 0..2 {
            house.apply([reflected(&lobby, 7, vec![draft(&lobby, "Ann has a dog")], Vec::new())]).await;
            house.apply([heard(&lobby, 3, "ann", "Ann", "dogs")]).await;
            house.apply([summarized(&lobby, 5, "About dogs.", &[("ann", "Ann")])]).await;
        }
        house.apply([reflected(&lobby, 6, vec![draft(&lobby, "something older")], Vec::new())]).await;
        house.apply([summarized(&lobby, 4, "Older.", &[])]).await;
        let (channel, marks) = house.memory.channel(&lobby.room).await.unwrap();
        assert_eq!((marks.summarized, marks.reflected, marks.heard), (5, 7, 3));
        assert_eq!(&*channel.unwrap().summary, "About dogs.");
        assert_eq!(house.contents().await, ["Ann has a dog"]);
        let ann = house.memory.people(Some(&PersonId::new("ann"))).await.unwrap().remove(0);
        assert_eq!(ann.messages, 1);
        assert_eq!(house.memory.channel(&RoomId::new("web:x")).await.unwrap(), (None, Default::default()));
    }

    pub async fn counts_people(store: &str) {
        let house = MemoryFixture::new(store, "people").await;
        let (lobby, garden) = (public("web:lobby"), private("web:garden"));
        house.apply((1..=40).map(|at| heard(&lobby, at, "ann", "Ann", &format!("topic{at}")))).await;
        house.apply([heard(&garden, 41, "ann", "Anna", "secret"), heard(&lobby, 41, "bob", "Bob", "tea")]).await;
        house.apply([reflected(&lobby, 50, Vec::new(), vec![note("ann", "tea", "m40")])]).await;
        let people = house.memory.people(None).await.unwrap();
        assert_eq!(people.iter().map(|person| person.name()).collect::<Vec<_>>(), ["Anna", "Bob"]);
        let known = people[0].known_to(&lobby, true, &[6, 31, 101]);
        assert_eq!((known.familiarity.id(), known.messages, people[0].mentions_of_me), ("regular", 41, 1));
        assert_eq!(&*known.topics[0], "topic40");
        assert_eq!((known.last_talk.as_deref(), known.tags.len()), (Some("talk tea"), 1));
        assert!(house.memory.people(Some(&PersonId::new("zoe"))).await.unwrap().is_empty());
    }

    pub async fn makes_room_and_lets_fade(store: &str) {
        let house = MemoryFixture::with(store, "fade", &["memory.facts_max=3"]).await;
        let (lobby, garden) = (public("web:lobby"), public("web:garden"));
        let fact = |number: u32| FactDraft {
            confidence: 0.5 + f64::from(number) / 100.0,
            ..draft(&lobby, &format!("number {number}"))
        };
        house.apply([kept(fact(1))]).await;
        let first = house.facts().await[0].id;
        house.apply([MemoryChange::Pinned { fact: first, pinned: true }]).await;
        house.apply([reflected(&lobby, 1, (2..=9).map(fact).collect(), Vec::new())]).await;
        house.apply([kept(draft(&garden, "another room"))]).await;
        assert_eq!(house.contents().await, ["another room", "number 9", "number 8", "number 1"]);
        house.apply([MemoryChange::Faded { at: day(200) }]).await;
        assert_eq!(house.contents().await, ["number 1"]);
        assert_eq!(house.recall("number 1", &lobby, day(200)).await[0].strength, 0.51);
    }

    pub async fn merges_and_supersedes(store: &str) {
        let house = MemoryFixture::new(store, "merge").await;
        let lobby = public("web:lobby");
        house.apply([kept(sourced(&lobby, "Ann likes green tea", &[("ann", "m1")]))]).await;
        house.apply([kept(sourced(&lobby, "ann likes green tea!", &[("bob", "m2")]))]).await;
        let facts = house.facts().await;
        assert_eq!((facts.len(), facts[0].people.len(), facts[0].messages.len()), (1, 2, 2));
        let newer = FactDraft { replaces: Some(facts[0].id), ..draft(&lobby, "Ann drinks coffee now") };
        house.apply([kept(newer)]).await;
        assert_eq!(house.contents().await, ["Ann drinks coffee now", "Ann likes green tea"]);
        let former = house.facts().await[1].former.expect("it no longer holds");
        assert_eq!((former.by, former.since), (house.facts().await[0].id, day(0)));
        assert!(house.facts().await[0].id > facts[0].id, "a number is never given twice");
    }

    pub async fn loses_nothing_by_merging(store: &str) {
        let house = MemoryFixture::new(store, "lossless").await;
        let lobby = public("web:lobby");
        let festival = |place: &str| {
            format!(
                "The festival of the choir that Ann and Bob and Carol sing in with their friends takes place in {place}"
            )
        };
        house.apply([kept(sourced(&lobby, &festival("Tokyo"), &[("ann", "m1")]))]).await;
        let tokyo = house.facts().await[0].id;
        let mut osaka = sourced(&lobby, &festival("Osaka"), &[("bob", "m2")]);
        (osaka.replaces, osaka.at) = (Some(tokyo), day(1));
        house.apply([kept(osaka)]).await;
        let contact = "temporary contact of Rina Sato for the choir of Ann and Bob and Carol is the number 5550100";
        house.apply([kept(draft(&lobby, contact)), kept(draft(&lobby, &format!("Deleted {contact}")))]).await;
        assert_eq!(house.contents().await.len(), 4, "{:?}", house.contents().await);
        let found = house.recall("Where does the festival take place?", &lobby, day(2)).await;
        let told: Vec<(bool, bool)> = found[..2]
            .iter()
            .map(|found| (found.fact.content.contains("Osaka"), found.fact.former.is_some()))
            .collect();
        assert_eq!(told, [(true, false), (false, true)], "the later holds, the earlier is former");
        house.apply([gone("web:lobby", "m2")]).await;
        assert!(house.facts().await.iter().all(|fact| fact.former.is_none()), "what replaced it is gone");
    }

    pub async fn the_later_of_two_that_contradict_holds(store: &str) {
        let house = MemoryFixture::new(store, "contradict").await;
        let lobby = public("web:lobby");
        let said = |text: &str, at: u64| kept(FactDraft { at: day(at), ..draft(&lobby, text) });
        house.apply([said("Ken lives in Tokyo", 1), said("田中さんは東京に住んでいる", 1)]).await;
        house
            .apply([said("Ken lives in Osaka", 3), said("田中さんは大阪に住んでいる", 3), said("Ken lives in Nara", 2)])
            .await;
        let former = async || -> Vec<(String, bool)> {
            let mut facts = house.facts().await;
            facts.reverse();
            facts.into_iter().map(|fact| (fact.content.into(), fact.former.is_some())).collect()
        };
        let expected = [
            ("Ken lives in Tokyo", true),
            ("田中さんは東京に住んでいる", true),
            ("Ken lives in Osaka", false),
            ("田中さんは大阪に住んでいる", false),
            ("Ken lives in Nara", true),
        ];
        assert_eq!(former().await, expected.map(|(text, former)| (text.to_owned(), former)));
        house.apply([said("Ken lives in Tokyo!", 4)]).await;
        let again = former().await;
        assert_eq!((again[0].1, again[2].1, again.len()), (false, true, 5), "he moved back");
    }

    pub async fn edits_pins_uses_and_tells(store: &str) {
        let house = MemoryFixture::new(store, "edit").await;
        let lobby = public("web:lobby");
        house.apply([kept(draft(&lobby, "the office is in Kyoto"))]).await;
        let id = house.facts().await[0].id;
        house
            .apply([
                MemoryChange::Used { facts: vec![id], at: day(1) },
                MemoryChange::Told { fact: id, room: lobby.room.clone(), at: day(2) },
                MemoryChange::Edited {
                    fact: id,
                    content: "the office is in Nara".into(),
                    keywords: vec!["奈良".into()],
                },
            ])
            .await;
        let fact = house.facts().await.remove(0);
        assert_eq!((fact.uses, fact.used_at, fact.told_in), (2, Some(day(2)), vec![lobby.room.clone()]));
        assert!(house.found("Kyoto", &lobby).await.is_empty());
        assert_eq!(house.found("奈良", &lobby).await, ["the office is in Nara"]);
        house.apply([MemoryChange::Forgotten { fact: id }, MemoryChange::Used { facts: vec![id], at: day(3) }]).await;
        assert!(house.contents().await.is_empty() && house.found("Nara", &lobby).await.is_empty());
    }

    pub async fn lists_by_room_person_and_words(store: &str) {
        let house = MemoryFixture::new(store, "list").await;
        let (lobby, garden) = (public("web:lobby"), public("web:garden"));
        house.apply([kept(sourced(&lobby, "roses are red", &[("ann", "m1")]))]).await;
        house
            .apply([kept(sourced(&garden, "roses need water", &[("bob", "m2")])), kept(draft(&garden, "tulips"))])
            .await;
        let list = async |filter: Filter| house.memory.facts(filter).await.unwrap().len();
        assert_eq!(list(Filter { room: Some(garden.room.clone()), ..Filter::default() }).await, 2);
        assert_eq!(list(Filter { person: Some(PersonId::new("ann")), ..Filter::default() }).await, 1);
        assert_eq!(list(Filter { text: Some("rose".into()), ..Filter::default() }).await, 2);
        assert_eq!(list(Filter { text: Some("rose water".into()), ..Filter::default() }).await, 1);
        assert_eq!(list(Filter { count: 2, ..Filter::default() }).await, 2);
        let about = house.memory.about(&PersonId::new("bob")).await.unwrap();
        assert_eq!((about.facts.len(), about.person.is_none()), (1, true));
    }

    pub async fn finds_by_meaning(store: &str) {
        let house = MemoryFixture::new(store, "vectors").await;
        let lobby = public("web:lobby");
        house.apply(["the cat sleeps", "stocks fell", "a kitten plays"].map(|text| kept(draft(&lobby, text)))).await;
        let vectors = [vec![0.9, 0.1, -0.2], vec![-0.5, 0.8, 0.1], vec![0.8, 0.2, -0.1]];
        let mut facts = house.facts().await;
        facts.reverse();
        let embed = |fact: &Fact, vector: &Vec<f32>| MemoryChange::Embedded {
            fact: fact.id,
            content: fact.content.clone(),
            model: "m".into(),
            vector: vector.clone(),
        };
        house.apply(facts.iter().zip(&vectors).map(|(fact, vector)| embed(fact, vector))).await;
        let ask = async |model: &str, reader: &Origin| {
            let vector = Some((model.into(), vec![1.0, 0.0, -0.1]));
            let query = Query {
                text: "feline".into(),
                speaker: None,
                reader: reader.clone(),
                at: day(0),
                count: 2,
                vector,
                close: Vec::new(),
            };
            let found = house.memory.recall(query, &house.policies).await.unwrap();
            found.into_iter().map(|found| found.fact.content.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(ask("m", &lobby).await, ["the cat sleeps", "a kitten plays"]);
        assert!(ask("another", &lobby).await.is_empty());
        assert!(ask("m", &public("discord:1/2")).await.is_empty());
        let without = Filter { without_vector: Some("m".into()), ..Filter::default() };
        assert!(house.memory.facts(without.clone()).await.unwrap().is_empty());
        let stale = embed(&facts[0], &vec![1.0, 0.0, -0.1]);
        let edit = MemoryChange::Edited { fact: facts[0].id, content: "dogs bark".into(), keywords: Vec::new() };
        house.apply([edit, stale]).await;
        assert_eq!(house.memory.facts(without).await.unwrap().len(), 1);
        assert_eq!(ask("m", &lobby).await, ["a kitten plays"]);
    }

    pub async fn works_for_many_at_once(store: &str) {
        let house = Arc::new(MemoryFixture::new(store, "many").await);
        let tasks: Vec<_> = (0..8)
            .map(|task| {
                let house = house.clone();
                tokio::spawn(async move {
                    let room = public(&format!("web:{task}"));
                    for at in 1..=20 {
                        house
                            .apply([heard(&room, at, "ann", "Ann", "x"), kept(draft(&room, &format!("fact {at}")))])
                            .await;
                        assert!(!house.recall(&format!("fact {at}"), &room, day(0)).await.is_empty());
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(house.contents().await.len(), 160);
        assert_eq!(house.memory.people(None).await.unwrap()[0].messages, 160);
    }

    pub async fn narrows_with_its_room(store: &str) {
        let house = MemoryFixture::new(store, "narrow").await;
        let (lobby, garden) = (public("web:lobby"), public("web:garden"));
        house.apply([kept(draft(&lobby, "roses are red")), heard(&lobby, 1, "ann", "Ann", "roses")]).await;
        assert_eq!(house.found("roses", &garden).await.len(), 1);
        house.apply([MemoryChange::Narrowed { origin: private("web:lobby") }]).await;
        assert!(house.found("roses", &garden).await.is_empty());
        assert_eq!(house.found("roses", &private("web:lobby")).await.len(), 1);
        let ann = house.memory.people(None).await.unwrap().remove(0);
        assert!(ann.known_to(&garden, true, &[]).topics.is_empty());
    }
}
