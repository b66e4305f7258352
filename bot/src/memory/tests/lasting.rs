//! What holds after one of several facts is forgotten, and who is known to have said what many say.

use super::*;

#[tokio::test]
async fn facts_hold_or_not_by_what_is_left() {
    for store in &stores() {
        println!("store: {store}");
        what_was_replaced_twice_is_former_when_the_first_of_both_is_forgotten(store).await;
        everybody_who_says_the_same_is_known_however_many_they_are(store).await;
        an_import_keeps_apart_who_said_it(store).await;
    }
}

async fn what_was_replaced_twice_is_former_when_the_first_of_both_is_forgotten(store: &str) {
    let house = MemoryFixture::new(store, "chain").await;
    let lobby = public("web:lobby");
    for (nth, city) in ["Tokyo", "Osaka", "Kyoto"].into_iter().enumerate() {
        let said = sourced(&lobby, &format!("Ken lives in {city}"), &[("ken", &format!("m{nth}"))]);
        house.apply([kept(FactDraft { at: day(nth as u64), ..said })]).await;
    }
    let number = async |city: &str| house.facts().await.into_iter().find(|fact| fact.content.ends_with(city)).unwrap();
    let (osaka, kyoto) = (number("Osaka").await.id, number("Kyoto").await.id);
    house.apply([MemoryChange::Forgotten { fact: osaka }]).await;
    assert_eq!(number("Tokyo").await.former.map(|former| former.by), Some(kyoto), "{store}");
    house.apply([gone("web:lobby", "m2")]).await;
    assert_eq!(number("Tokyo").await.former, None, "{store}: nothing is left that replaced it");
}

async fn everybody_who_says_the_same_is_known_however_many_they_are(store: &str) {
    let house = MemoryFixture::new(store, "crowd").await;
    let lobby = public("web:lobby");
    let people: Vec<(String, String)> = (0..22).map(|nth| (format!("p{nth:02}"), format!("m{nth}"))).collect();
    for (person, message) in &people {
        house.apply([kept(sourced(&lobby, "The bell rings at nine", &[(person, message)]))]).await;
    }
    for (person, _) in &people {
        let about = house.memory.about(&PersonId::new(&**person)).await.unwrap();
        assert_eq!(about.facts.len(), 1, "{store}: {person}");
    }
    house.apply(people[..21].iter().map(|(_, message)| gone("web:lobby", message))).await;
    assert_eq!(house.contents().await, ["The bell rings at nine"], "{store}: one of them said it too");
}

async fn an_import_keeps_apart_who_said_it(store: &str) {
    let lobby = public("web:lobby");
    let both =
        [sourced(&lobby, "The tulip is red", &[("ann", "m1")]), sourced(&lobby, "the tulip is red", &[("bob", "m2")])];
    let first = MemoryFixture::new(store, "apart-from").await;
    first.apply(both.clone().map(kept)).await;
    let exported = first.facts().await.remove(0);
    let second = MemoryFixture::new(store, "apart-to").await;
    second.apply([kept(sourced(&lobby, "The tulip is red!", &[("mia", "m3")]))]).await;
    second.apply([MemoryChange::Imported(Box::new(ExportItem::Fact(exported)))]).await;
    second.apply([gone("web:lobby", "m3"), gone("web:lobby", "m1")]).await;
    assert_eq!(second.contents().await, ["the tulip is red"], "{store}: bob said it too");
}
