//! What becomes one fact, and what is left of it.

use super::super::fact::tests::fact;
use super::*;
use crate::types::{MessageId, PersonId, Time};

fn draft(content: &str) -> FactDraft {
    fact(0, content).into()
}

#[test]
fn what_says_the_same_is_one_fact() {
    let same =
        |a: &str, b: &str| assert_eq!(compare([fact(1, a)].iter(), &draft(b)), MergeOutcome::Same(FactId(1)), "{b}");
    same("Ann likes green tea.", "ann likes GREEN tea");
    same("Ann likes green tea from Uji", "Ann really likes the green tea from Uji");
    same("田中さんは猫を飼っている", "田中さんは、猫を飼っている。");
    same("ケンはお茶が好き", "ケンはお茶が好きです");
    same("ケンは泳ぐのが嫌いだ", "ケンは泳ぐのが嫌い");
    let other = |a: &str, b: &str| assert_eq!(compare([fact(1, a)].iter(), &draft(b)), MergeOutcome::New, "{b}");
    other("The meeting is at 10", "The meeting is at 11");
    other("Ann likes green tea", "Ann does not like green tea");
    other("田中さんは納豆を食べる", "田中さんは納豆を食べない");
    other("Ann likes tea", "Ann likes dogs");
    other("Ann owes Bob a lunch", "Bob owes Ann a lunch");
    other("row 1 has 2 seats", "row 2 has 1 seats");
    other("Vitamin helps", "Vitamin A helps");
    other("Vitamin A helps", "Vitamin helps");
    other("ビタミンAは目に良い", "ビタミンは目に良い");
    other("ビタミンは目に良い", "ビタミンAは目に良い");
    other("vitamin a helps", "vitamin helps");
    other("VITAMIN A HELPS", "vitamin helps");
    other("Ann is in group a", "Ann is in group");
    other("The plan is a", "The plan is");
    other("USが勝った", "usが勝った");
    other("US won", "us won");
    other("us won", "US won");
    other("Ann asked IT about that", "Ann asked it about that");
    other("Ann went to see WHO", "Ann went to see who");
    same("A vitamin helps", "vitamin helps");
    same("It is a good plan", "It is good plan");
    same("ANN LIKES TEA", "Ann likes tea");
    same("ANN HAS A CAT", "Ann has a cat");
    same("Ann has a cat", "Ann has cat");
    same("Ann does NOT eat meat", "Ann does not eat meat");
    same("the", "The");
}

#[test]
fn a_name_a_number_a_place_or_a_not_makes_another_fact_however_long_the_rest_is() {
    let long = "of the yearly summer meeting of the choir that Ann and Bob and Carol sing in with their old friends";
    for (a, b) in [
        (format!("The party {long} takes place in Tokyo"), format!("The party {long} takes place in Osaka")),
        (format!("temporary contact {long} is Rina Sato"), format!("Deleted temporary contact {long} is Rina Sato")),
        (format!("The song {long} was written by Ann"), format!("The song {long} was written by Mia")),
        (format!("Members {long} moved from Kyoto"), format!("Members {long} moved to Kyoto")),
        (format!("The notes {long} are kept in C"), format!("The notes {long} are kept in C++")),
        (format!("The notes {long}: https://a.example/1"), format!("The notes {long}: https://a.example/2")),
        (
            "毎年夏に開かれる合唱団の大きな集まりの懇親会は今年も来年も東京の公園で行われる".to_owned(),
            "毎年夏に開かれる合唱団の大きな集まりの懇親会は今年も来年も大阪の公園で行われる".to_owned(),
        ),
        (
            "合唱団の夏の集まりでは田中さんが毎年ピアノを弾いて山田さんが歌う予定だ".to_owned(),
            "合唱団の夏の集まりでは田中さんが毎年ピアノを弾いて山田さんが歌わない予定だ".to_owned(),
        ),
    ] {
        assert_eq!(compare([fact(1, &a)].iter(), &draft(&b)), MergeOutcome::New, "{b}");
        let replacing = FactDraft { replaces: Some(FactId(1)), ..draft(&b) };
        assert_eq!(compare([fact(1, &a)].iter(), &replacing), MergeOutcome::Replaces(FactId(1)), "{b}");
    }
}

#[test]
fn a_merged_fact_goes_back_to_what_is_left_when_a_message_is_deleted() {
    let said = |content: &str, person: &str, message: &str| FactDraft {
        people: vec![PersonId::new(person)],
        messages: vec![MessageId::new(message)],
        keywords: vec![person.into()],
        ..draft(content)
    };
    let mut known = said("Ann really likes the green tea", "ann", "m1").keep(FactId(1));
    known.absorb(said("Ann likes green tea", "bob", "m2"));
    known.absorb(said("ann likes GREEN tea", "mia", "m3"));
    assert!(known.lose_message(&MessageId::new("m9")) && known.messages.len() == 3);
    assert!(known.lose_message(&MessageId::new("m1")));
    assert_eq!((&*known.content, known.people.len(), known.keywords.len()), ("Ann likes green tea", 2, 2));
    assert!(known.lose_message(&MessageId::new("m2")));
    assert_eq!((&*known.content, known.wordings.len()), ("ann likes GREEN tea", 0));
    assert!(!known.lose_message(&MessageId::new("m3")), "nothing is left");
    let mut of_two =
        FactDraft { messages: vec![MessageId::new("m1"), MessageId::new("m2")], ..draft("x") }.keep(FactId(2));
    assert!(!of_two.lose_message(&MessageId::new("m1")), "it was made of both, and nobody can tell which words");
}

#[test]
fn what_differs_in_anything_that_may_mean_something_stays_two_facts() {
    let pairs = [
        ("5 mW laser of Ken", "5 MW laser of Ken"),
        ("The link of Ken has 10 Mb", "The link of Ken has 10 MB"),
        ("The wifi password of Ken is Abc123", "The wifi password of Ken is abc123"),
        ("Ken likes Polish things", "Ken likes polish things"),
        ("Ken ate in Turkey", "Ken ate in turkey"),
        ("Ken has a RAM", "Ken has a ram"),
        ("Ken has a 10² grid", "Ken has a 102 grid"),
        ("Ken lives at 1½ Elm road", "Ken lives at 11⁄2 Elm road"),
        ("ケンは①番", "ケンは1番"),
        ("ケンはⅣ号室", "ケンはIV号室"),
        ("Ken has .5 kg", "Ken has 5 kg"),
        ("Ken comes at 10:30", "Ken comes at 10 30"),
        ("Ken has ~5 books", "Ken has 5 books"),
        ("Ken is not just a doctor", "Ken is not a doctor"),
        ("Ken is not quite finished", "Ken is not finished"),
        ("Ken is not really ill", "Ken is really not ill"),
        ("Ken isn't actually ill", "Ken isn't ill"),
        ("Ken has a few friends", "Ken has few friends"),
        ("Ken has quite a few friends", "Ken has few friends"),
        ("Ken has a little money", "Ken has little money"),
        ("Ken has the key", "Ken has a key"),
        ("Ken is the one", "Ken is one"),
        ("Ken is so so", "Ken is"),
        ("So likes tea", "likes tea"),
        ("Indeed hired Ken", "hired Ken"),
        ("Ken met Just", "Ken met"),
        ("Ken met Really", "Ken met"),
        ("Ken listens to The The", "Ken listens to"),
        ("Ken likes The Band", "Ken likes band"),
        ("Ken is ill?", "Ken is ill"),
        ("ケンは病気？", "ケンは病気"),
        ("犬は猫が好き", "犬が猫は好き"),
        ("母は父が嫌い", "母が父は嫌い"),
        ("よしだはケン", "よしはケン"),
        ("よさんは友だち", "さんは友だち"),
        ("はなは妹だ", "な妹"),
        ("ボスはよしだ", "ボスはよし"),
        ("ケンは来るよ", "ケンは来る"),
        ("the", "a"),
    ];
    let merged: Vec<_> =
        pairs.iter().filter(|(a, b)| compare([fact(1, a)].iter(), &draft(b)) != MergeOutcome::New).collect();
    assert!(merged.is_empty(), "{merged:#?}");
    let pairs = [
        ("Ann lives in Ｋyoto", "Ann lives in Kyoto"),
        ("会議は１０時です", "会議は10時です"),
        ("ｹﾝはﾋﾞｰﾙが好き", "ケンはビールが好き"),
        ("Ann’s dog is old", "Ann's dog is old!"),
        ("Ann actually likes the tea", "Ann likes tea"),
        ("Mia Quartz plays the flute", "mia QUARTZ plays flute"),
        ("田中さんは医者です", "田中さんは医者"),
    ];
    let apart: Vec<_> =
        pairs.iter().filter(|(a, b)| compare([fact(1, a)].iter(), &draft(b)) == MergeOutcome::New).collect();
    assert!(apart.is_empty(), "{apart:#?}");
}

#[test]
fn a_fact_that_has_as_many_wordings_as_it_can_keep_takes_up_no_more() {
    let said = |nth: usize| FactDraft {
        people: vec![PersonId::new(format!("p{nth}"))],
        messages: vec![MessageId::new(format!("m{nth}"))],
        ..draft("The bell rings at nine")
    };
    let mut facts: Vec<Fact> = Vec::new();
    for nth in 0..45 {
        match compare(facts.iter(), &said(nth)) {
            MergeOutcome::Same(id) => facts[id.0 as usize].absorb(said(nth)),
            _ => facts.push(said(nth).keep(FactId(facts.len() as u64))),
        }
    }
    let people: usize = facts.iter().map(|fact| fact.people.len()).sum();
    assert_eq!((facts.len(), people), (3, 45), "everybody who said it is known");
    assert!(facts.iter().all(|fact| fact.wordings.len() <= WORDINGS_MAX));
    let again = FactDraft { at: Time(9), ..said(3) };
    assert_eq!(compare(facts.iter(), &again), MergeOutcome::Same(FactId(0)), "this one is known");
}

#[test]
fn a_named_fact_is_replaced_unless_somebody_pinned_it() {
    let mut known = fact(1, "The door code is 1234");
    let new = FactDraft { replaces: Some(FactId(1)), ..draft("The door code is 9876") };
    assert_eq!(compare([known.clone()].iter(), &new), MergeOutcome::Replaces(FactId(1)));
    known.pinned = true;
    assert_eq!(compare([known.clone()].iter(), &new), MergeOutcome::New);
    let elsewhere = FactDraft { origin: super::super::Origin::new("web:other", Default::default()), ..new };
    known.pinned = false;
    assert_eq!(compare([known].iter(), &elsewhere), MergeOutcome::New);
}

#[test]
fn a_merged_fact_rests_on_both() {
    let mut known = fact(1, "x");
    known.people = vec![PersonId::new("a")];
    known.absorb(FactDraft {
        people: vec![PersonId::new("a"), PersonId::new("b")],
        messages: vec![MessageId::new("m")],
        confidence: 0.9,
        at: Time(5),
        shareable: false,
        ..draft("x")
    });
    assert_eq!((known.people.len(), known.messages.len(), known.confidence), (2, 1, 0.9));
    assert_eq!((known.at, known.shareable), (Time(5), false));
}
