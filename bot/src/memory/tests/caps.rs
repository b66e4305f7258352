//! What is dropped is reported.

use aizuchi_test_servers::logs::Logs;

use super::*;

/// The rules are the same for every store; this one works on the thread whose log is read.
#[tokio::test]
async fn a_room_that_is_full_says_what_it_drops_and_how_to_keep_it() {
    let logs = Logs::collect();
    let house = MemoryFixture::with("memory", "full", &["memory.facts_max=3"]).await;
    let lobby = public("web:lobby");
    let facts =
        |numbers: std::ops::Range<u32>| numbers.map(|number| draft(&lobby, &format!("locker {number} is empty")));
    house.apply([reflected(&lobby, 1, facts(0..3).collect(), Vec::new())]).await;
    assert_eq!(logs.with("facts_max"), Vec::<String>::new(), "nothing was dropped");
    house.apply([reflected(&lobby, 2, facts(3..9).collect(), Vec::new())]).await;
    assert_eq!(house.facts().await.len(), 3);
    let told = logs.with("raise memory.facts_max");
    assert!(told.len() == 1 && told[0].contains("dropped=6") && told[0].contains("room=web:lobby"), "{told:?}");
    house.apply([MemoryChange::Faded { at: day(0) }]).await;
    assert_eq!(logs.with("facts_max").len(), 1, "and nothing twice");
}

/// The time of a message may come from such a clock.
#[tokio::test]
async fn a_clock_that_is_years_ahead_deletes_no_more_of_a_full_room_than_one_fact_for_each_new_one() {
    for store in &stores() {
        let house = MemoryFixture::with(store, "years-ahead", &["memory.facts_max=3"]).await;
        let lobby = public("web:lobby");
        let facts = (0..3).map(|number| draft(&lobby, &format!("locker {number} is empty"))).collect();
        house.apply([reflected(&lobby, 1, facts, Vec::new())]).await;
        let later = FactDraft { at: day(8 * 365), ..draft(&lobby, "the oven is hot") };
        house.apply([kept(later)]).await;
        assert_eq!(house.facts().await.len(), 3, "{store}");
        assert!(house.contents().await.contains(&"the oven is hot".to_owned()), "{store}");
    }
}

#[tokio::test]
async fn thousands_of_facts_are_kept_by_default() {
    // The rule is the same for every store. In Firestore each fact asks a query; `limits.rs` there has as many as matter.
    for store in stores().iter().filter(|store| !store.contains("firestore")) {
        let house = MemoryFixture::new(store, "thousands").await;
        let lobby = public("web:lobby");
        let facts = (0..1500).map(|number| draft(&lobby, &format!("locker {number} is empty"))).collect();
        house.apply([reflected(&lobby, 1, facts, Vec::new()), MemoryChange::Faded { at: day(1) }]).await;
        assert_eq!(house.facts().await.len(), 1500, "{store}");
        assert_eq!(house.found("Which state has locker 777?", &lobby).await[0], "locker 777 is empty", "{store}");
    }
}
