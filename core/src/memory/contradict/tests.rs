//! What retires an earlier fact, and what may hold beside it.

use super::super::fact::tests::fact;
use super::*;
use crate::types::PersonId;

#[test]
fn another_value_or_a_not_contradicts() {
    let pairs = [
        ("Ken lives in Tokyo", "Ken lives in Osaka"),
        ("The festival takes place in Tokyo", "The festival takes place in Osaka"),
        ("The door code is 4711", "The door code is 9876"),
        ("The meeting is at 10 on Monday", "The meeting is at 11 on Monday"),
        ("Ann likes green tea", "Ann does not like green tea"),
        ("田中さんは東京に住んでいる", "田中さんは大阪に住んでいる"),
        ("集合は10時です", "集合は11時です"),
        ("田中さんは納豆を食べる", "田中さんは納豆を食べない"),
        ("Ken moved to Tokyo", "Ken moved to Osaka"),
        ("Ken is now called Kenta", "Ken is now called Kenji"),
        ("Ken is married to Mia", "Ken is married to Rina"),
        ("Ken's birthday is on May 5", "Ken's birthday is on May 6"),
        ("Ken's phone number is 5550100", "Ken's phone number is 5550199"),
        ("The price is 5 euros", "The price is 6 euros"),
        ("The ticket costs 5 euros", "The ticket costs 6 euros"),
        ("The boss's name is Mia", "The boss's name is Rina"),
        ("The meeting takes place on Monday", "The meeting takes place on Friday"),
        ("Ken works at Google", "Ken now works at Apple"),
        ("Ken works at Google", "Ken no longer works at Google"),
        ("Ken works at Google", "Ken doesn't work at Google anymore"),
        ("Ken has a dog", "Ken has no dog"),
        ("Ken is in Tokyo", "Ken is now in Osaka"),
        ("Ken drinks coffee", "Ken now drinks tea instead of coffee"),
        ("田中さんの電話番号は5550100です", "田中さんの電話番号は5550199です"),
        ("会議は東京で開催される", "会議は大阪で開催される"),
        ("集合は10時です", "集合は11時に変わった"),
        ("田中さんはソニーで働いている", "田中さんは今はトヨタで働いている"),
        ("田中さんは肉を食べる", "田中さんはもう肉を食べない"),
        ("田中さんは学生です", "田中さんは学生ではない"),
    ];
    let missed: Vec<_> = pairs.iter().filter(|(one, other)| !contradicts(&fact(2, other), &fact(1, one))).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn what_may_hold_beside_it_does_not() {
    let pairs = [
        ("Ann likes tea", "Ann likes dogs"),
        ("Ken lives in Tokyo", "Mia lives in Tokyo"),
        ("Ann is a friend of Bob", "Ann is a friend of Carol"),
        ("Ann is Bob's sister", "Ann is Carol's sister"),
        ("Ann is happy", "Ann is tired"),
        ("row 1 has 2 seats", "row 2 has 1 seats"),
        ("Ken lives in Tokyo", "Ken lives in Tokyo"),
        ("Ken was in Tokyo", "Ken was in Osaka"),
        ("Ken works on Monday", "Ken works on Friday"),
        ("Ken works at Google", "Ken works at Apple"),
        ("Ken meets Mia", "Ken meets Bob"),
        ("Ken is from Japan", "Ken is from Osaka"),
        ("Ken is Japanese", "Ken is Catholic"),
        ("Ken is Japanese", "Ken is now Catholic"),
        ("Ken studies Physics", "Ken studies Chemistry"),
        ("Ken studies Physics", "Ken now also studies Chemistry"),
        ("The library is open on Monday", "The library is open on Saturday"),
        ("The train to Oslo is at 9", "The train to Oslo is at 10"),
        ("The bus starts at 9:00", "The bus starts at 10:00"),
        ("The winners are Mia", "The winners are Ken"),
        ("Room 3 is for Mia", "Room 3 is for Ken"),
        ("Backup runs are at 2", "Backup runs are at 14"),
        ("Ken sits with Mia", "Ken sits with Bob"),
        ("Ken starts Python", "Ken starts Rust"),
        ("Ken is 41", "Ken is 180 cm tall"),
        ("Ken was born in 1980", "Ken was born in Tokyo 3"),
        ("Lunch is at 12", "Lunch is at Luigi's 2"),
        ("One ticket costs 5", "One ticket costs 5 until 2027"),
        ("The meeting is at 10", "The meeting is at desk 4"),
        ("Ken is a doctor", "Ken is not only a doctor"),
        ("Ken was not in Tokyo", "Ken is in Tokyo"),
        ("Ken came to Oslo", "Ken did not come from Oslo"),
        ("Ken is ill?", "Ken is not ill"),
        ("Ken lived in Tokyo", "Ken lived in Osaka"),
        ("Ken lives in Tokyo?", "Ken lives in Osaka"),
        ("If Ken lives in Tokyo", "If Ken lives in Osaka"),
        ("田中さんは医者です", "田中さんは父親です"),
        ("田中さんは教師だ", "田中さんは日本人だ"),
        ("田中さんは東京にある家を買った", "田中さんは大阪にある家を買った"),
        ("学校は東京にある", "学校は大阪にある"),
        ("公園は駅前にあり、静か", "公園は川沿にあり、静か"),
        ("田中さんはソニーで働いている", "田中さんはトヨタで働いている"),
        ("店は月曜にある", "店は火曜にある"),
        ("田中さんはソニーで働いている", "田中さんはトヨタで働いているよ"),
        ("田中さんは東京に住んでいる友人がいる", "田中さんは大阪に住んでいる友人がいる"),
        ("犬は猫が好きだ", "猫は犬が好きではない"),
        ("田中さんは納豆を食べなかった", "田中さんは納豆を食べる"),
        ("I live in Tokyo", "I live in Osaka"),
        ("田中さんは東京に住んでいる", "佐藤さんは東京に住んでいる"),
        ("田中さんは猫が好き", "田中さんは犬が好き"),
    ];
    let taken: Vec<_> = pairs.iter().filter(|(one, other)| contradicts(&fact(2, other), &fact(1, one))).collect();
    assert!(taken.is_empty(), "{taken:#?}");
}

#[test]
fn anyone_who_speaks_of_themselves_can_contradict_only_themselves() {
    let said = |id, by: &str, content: &str| Fact { people: vec![PersonId::new(by)], ..fact(id, content) };
    assert!(contradicts(&said(1, "ken", "I live in Tokyo"), &said(2, "ken", "I live in Osaka")));
    assert!(!contradicts(&said(1, "ken", "I live in Tokyo"), &said(2, "mia", "I live in Osaka")));
}
