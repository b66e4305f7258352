//! What an earlier version stored is found as before, and by what is new.

use super::*;
use crate::stores::sqlite::leave_facts_of_an_earlier_version;

#[tokio::test]
async fn facts_of_an_earlier_version_are_found_merged_and_forgotten() {
    let folder = Scratch::new("upgraded");
    leave_facts_of_an_earlier_version(&DataFolder::database_in(&folder));
    let house = MemoryFixture { memory: reopen("local", &folder).await, policies: settings(&[]), folder };
    let (lobby, garden) = (public("web:lobby"), public("web:garden"));
    assert_eq!(house.found("Who likes tea?", &garden).await, ["Ann likes green tea"], "before anything is written");
    house.apply([kept(sourced(&lobby, "ann likes green tea!", &[("web:bob", "m2")]))]).await;
    assert_eq!(house.facts().await[0].messages.len(), 2, "the same is one fact");
    house.apply([MemoryChange::Faded { at: day(0) }]).await;
    let by_meaning = Query {
        text: "beverage".into(),
        speaker: None,
        reader: garden.clone(),
        at: day(1),
        count: 3,
        vector: Some(("m".into(), vec![1.0, -0.9])),
        close: Vec::new(),
    };
    assert_eq!(house.memory.recall(by_meaning, &house.policies).await.unwrap().len(), 1, "its vector is found");
    assert_eq!(house.found("Who likes tea?", &garden).await, ["Ann likes green tea"]);
    house.apply([gone("web:lobby", "m1"), gone("web:lobby", "m2")]).await;
    assert!(house.found("tea", &garden).await.is_empty());
    assert_eq!(scan(&house.folder, "green"), None);
}
