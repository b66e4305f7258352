//! What was said beside a fact: it is found by it, and it is forgotten with its message.

use aizuchi_core::memory::{ContextTurn, ExportItem};

use super::*;

fn turn(number: u64, person: &str, text: &str) -> ContextTurn {
    ContextTurn {
        message: MessageId::new(format!("m{number}")),
        person: PersonId::new(format!("web:{}", person.to_lowercase())),
        name: person.into(),
        at: day(0) + Span::minutes(number),
        offset: 0,
        text: text.into(),
    }
}

/// A talk in which the second line answers the first.
fn talk() -> Vec<ContextTurn> {
    vec![
        turn(1, "Bob", "did anybody feed the axolotl?"),
        turn(2, "Zebediah", "yes, at noon, with a quixotic spoon"),
        turn(3, "Bob", "marvellous"),
        turn(4, "Ann", "the weather is fine"),
    ]
}

async fn lived(store: &str, name: &str) -> MemoryFixture {
    let house = MemoryFixture::new(store, name).await;
    let lobby = public("web:lobby");
    let fed = sourced(&lobby, "It was fed at noon", &[("web:zebediah", "m2")]);
    let sun = sourced(&lobby, "The weather is fine", &[("web:ann", "m4")]);
    house.apply([reflected(&lobby, 9, vec![fed.within(&talk()), sun.within(&talk())], Vec::new())]).await;
    house
}

#[tokio::test]
async fn a_fact_is_found_by_what_was_said_beside_it() {
    for store in &stores() {
        println!("store: {store}");
        let house = lived(store, "beside").await;
        let lobby = public("web:lobby");
        assert_eq!(house.found("Who fed the axolotl?", &lobby).await.first().unwrap(), "It was fed at noon");
        assert_eq!(house.found("quixotic", &lobby).await[0], "It was fed at noon", "its own message");
        let facts = house.facts().await;
        let fed = facts.iter().find(|fact| fact.content.contains("noon")).unwrap();
        assert_eq!((fed.said_at(), fed.context.len()), (day(0) + Span::minutes(2), 4));
        assert_eq!(house.found("What did Zebediah feed?", &lobby).await[0], "It was fed at noon", "who said it");
    }
}

/// Its vector is made of them.
#[tokio::test]
async fn a_fact_that_loses_words_loses_its_vector() {
    for store in &stores() {
        let house = MemoryFixture::new(store, "meaning-gone").await;
        let lobby = public("web:lobby");
        let tea = sourced(&lobby, "the tea is from Uji", &[("web:bob", "m1")]);
        let with = |keyword: &str, message: &str| FactDraft {
            keywords: vec![keyword.into()],
            messages: vec![MessageId::new(message)],
            ..tea.clone()
        };
        house.apply([kept(with("teapot", "m1")), kept(with("xylophone", "m2"))]).await;
        let fact = house.facts().await.pop().unwrap();
        let (model, vector) = ("m".into(), vec![0.5, -1.0]);
        house.apply([MemoryChange::Embedded { fact: fact.id, content: fact.content, model, vector }]).await;
        let without = Filter { without_vector: Some("m".into()), ..Filter::default() };
        assert_eq!(house.memory.facts(without.clone()).await.unwrap().len(), 0, "{store}");
        house.apply([gone("web:lobby", "m2")]).await;
        assert_eq!(house.facts().await.len(), 1, "{store}");
        assert_eq!(house.memory.facts(without).await.unwrap().len(), 1, "{store}");
    }
}

#[tokio::test]
async fn a_deleted_message_takes_its_words_out_of_every_context() {
    for store in &stores() {
        println!("store: {store}");
        let house = lived(store, "context-gone").await;
        let lobby = public("web:lobby");
        assert!(store != "local" || scan(&house.folder, "axolotl").is_some(), "the scan would find it");
        house.apply([gone("web:garden", "m1"), gone("web:lobby", "m1")]).await;
        assert!(house.found("axolotl", &lobby).await.is_empty());
        assert_eq!(house.contents().await.len(), 2, "nothing rested on it");
        assert_eq!(scan(&house.folder, "axolotl"), None);
        house.apply([gone("web:lobby", "m2")]).await;
        assert!(!format!("{:?}", house.facts().await).contains("quixotic"), "{:?}", house.facts().await);
        assert_eq!(house.contents().await, ["The weather is fine"]);
        assert_eq!(scan(&house.folder, "quixotic"), None);
    }
}

#[tokio::test]
async fn a_forgotten_person_is_in_no_context() {
    for store in &stores() {
        println!("store: {store}");
        for out in [false, true] {
            let house = lived(store, "context-person").await;
            let lobby = public("web:lobby");
            house.apply([heard(&lobby, 1, "web:zebediah", "Zebediah", "spoons")]).await;
            let person = PersonId::new("web:zebediah");
            let opts_out = out.then_some(MemoryChange::OptedOut { person, out: true });
            house.apply(std::iter::once(forget("web:zebediah")).chain(opts_out)).await;
            assert_eq!(house.contents().await, ["The weather is fine"]);
            for word in ["quixotic", "zebediah"] {
                assert!(!format!("{:?}", house.facts().await).to_lowercase().contains(word), "{word}");
                assert_eq!(scan(&house.folder, word), None, "{word}");
            }
            let again = sourced(&lobby, "Bob was glad", &[("web:bob", "m3")]).within(&talk());
            house.apply([kept(again)]).await;
            assert_eq!(format!("{:?}", house.facts().await).contains("quixotic"), !out, "who opted out is not kept");
        }
    }
}

#[tokio::test]
async fn an_edited_fact_keeps_nothing_of_what_was_said() {
    for store in &stores() {
        let house = lived(store, "context-edited").await;
        let id = house.facts().await.iter().find(|fact| fact.content.contains("noon")).unwrap().id;
        let (content, keywords) = ("The pet was fed".into(), Vec::new());
        house.apply([MemoryChange::Edited { fact: id, content, keywords }]).await;
        let found = house.found("quixotic", &public("web:lobby")).await;
        assert_eq!(found, ["The weather is fine"], "{store}: what was said beside another fact stays there");
        let facts = house.facts().await;
        let edited = facts.iter().find(|fact| fact.id == id).unwrap();
        assert_eq!((edited.context.len(), &*edited.context[0].text), (1, ""), "{store}: who and when are still known");
    }
}

#[tokio::test]
async fn an_export_of_a_person_holds_nobody_elses_words() {
    for store in &stores() {
        let house = lived(store, "context-export").await;
        let about = house.memory.about(&PersonId::new("web:zebediah")).await.unwrap();
        let text = serde_json::to_string(&about).unwrap();
        assert!(text.contains("quixotic") && !text.contains("axolotl"), "{store}: {text}");
    }
}

#[tokio::test]
async fn what_is_exported_is_taken_in_with_its_context() {
    for store in &stores() {
        let house = lived(store, "context-import").await;
        let facts = house.facts().await;
        let other = MemoryFixture::new(store, "context-imported").await;
        let line = |fact: &Fact| serde_json::to_string(&ExportItem::Fact(fact.clone())).unwrap();
        let read = |fact: &Fact| MemoryChange::Imported(Box::new(serde_json::from_str(&line(fact)).unwrap()));
        other.apply(facts.iter().rev().map(read)).await;
        other.apply(facts.iter().rev().map(read)).await;
        assert_eq!(other.contents().await, house.contents().await, "{store}");
        let found = other.found("axolotl", &public("web:lobby")).await;
        assert_eq!(found, house.found("axolotl", &public("web:lobby")).await, "{store}");
        assert_eq!(found[0], "It was fed at noon");
    }
}

#[tokio::test]
async fn what_was_said_at_the_time_of_the_question_comes_first() {
    for store in &stores() {
        println!("store: {store}");
        let house = MemoryFixture::with(store, "time", &["memory.facts_half_life_days=1000"]).await;
        let lobby = public("web:lobby");
        let said = |at: u64, text: &str| FactDraft { at: day(at), ..draft(&lobby, text) };
        // `day(0)` is in November 2023.
        let trips = ["a trip to Nara", "a trip to Kobe", "a trip to Otaru"];
        house.apply([said(0, trips[0]), said(60, trips[1]), said(95, trips[2])].map(kept)).await;
        house.apply([kept(said(61, "Mia bought a bicycle"))]).await;
        let ask = async |text: &str| {
            let found = house.recall(text, &lobby, day(100)).await;
            found.into_iter().map(|recalled| recalled.fact.content.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(ask("Where was the trip in January?").await[0], "a trip to Kobe");
        assert_eq!(ask("Where was the trip in November 2023?").await[0], "a trip to Nara");
        assert_eq!(ask("先週の trip は？").await[0], "a trip to Otaru");
        assert!(ask("What happened in January?").await.contains(&"Mia bought a bicycle".to_owned()));
    }
}
