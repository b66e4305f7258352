//! `aizuchi stats`: what it said, what became of it, what it cost.

use super::program::Folder;
use super::store::live;

const TALK: &str = include_str!("../../../samples/en.jsonl");
const SCRIPT: &str = include_str!("../../../samples/en.judge.jsonl");

#[test]
fn a_day_is_counted_with_what_people_made_of_it() {
    let folder = Folder::new();
    live(TALK, SCRIPT).keep_in(&folder);
    let day = folder.run("stats --json").succeeded().last_line();
    assert_eq!((&day["room"], &day["contributions"], &day["judge_calls"]), (&"garden".into(), &1.into(), &1.into()));
    let received = day["received"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum::<u64>();
    assert_eq!(received, 1, "the one contribution was received somehow: {day}");
    assert_eq!(day["received"]["told_off"], 0, "{day}");
    let share = day["contributions"].as_f64().unwrap() / day["messages"].as_f64().unwrap();
    assert_eq!(day["share"].as_f64(), Some(share), "{day}");
    let told = folder.run("stats --room garden").succeeded().out;
    assert!(told.contains("1 contributions (") && told.contains("its contributions were: 1 "), "{told}");
    assert!(told.contains("1 questions to the judge, "), "{told}");
    let all = folder.run("stats").succeeded().out;
    assert!(all.starts_with("Spent today in all rooms: 0 calls, 0 tokens, $0.000000\n"), "{all}");
    folder.run("stats --room attic").refused(1, &["nothing was decided in a room attic"]);
}
