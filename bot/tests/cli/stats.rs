//! `aizuchi stats`: what it said, what became of it, what it cost.

use aizuchi_core::Policies;

use super::program::Folder;
use super::store::{live, live_with, meddle};
use super::talk::said;

const TALK: &str = include_str!("../../../samples/en.jsonl");
const SCRIPT: &str = include_str!("../../../samples/en.judge.jsonl");

#[test]
fn a_day_is_counted_with_what_people_made_of_it() {
    let folder = Folder::new();
    live(TALK, SCRIPT).keep_in(&folder);
    let day = folder.run("stats --json").succeeded().last_line();
    assert_eq!((&day["room"], &day["contributions"], &day["judge_calls"]), (&"garden".into(), &1.into(), &2.into()));
    let received = day["received"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum::<u64>();
    assert_eq!(received, 1, "the one contribution was received somehow: {day}");
    assert_eq!(day["received"]["told_off"], 0, "{day}");
    let share = day["contributions"].as_f64().unwrap() / day["messages"].as_f64().unwrap();
    assert_eq!(day["share"].as_f64(), Some(share), "{day}");
    let told = folder.run("stats --room garden").succeeded().out;
    assert!(told.contains("1 contributions (") && told.contains("its contributions were: 1 "), "{told}");
    assert!(told.contains("2 questions to the judge, "), "{told}");
    let all = folder.run("stats").succeeded().out;
    assert!(all.starts_with("Spent today in all rooms: 0 calls, 0 tokens, $0.000000\n"), "{all}");
    assert!(all.contains("; $0.00") && all.contains(" for these decisions\n"), "{all}");
    folder.run("stats --room attic").refused(1, &["no decisions in a room attic"]);
}

/// A talk of today, in which it is called by name and the writer says this.
fn called_today(words: &str) -> Folder {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("it is past 1970").as_secs();
    let line = said(0.0, "m1", "ann", "aizuchi, are you there?").replace("1700000000", &now.to_string());
    let folder = Folder::new();
    let script = format!("{}\n", serde_json::json!({"question": "write", "answer": words}));
    live_with(Policies::preset("aizuchi").expect("the preset is there"), &line, &script).keep_in(&folder);
    folder
}

#[test]
fn an_excuse_is_no_answer() {
    let counted = |words: &str| {
        let day = called_today(words).run("stats --json").succeeded().last_line();
        (day["answers"].as_u64(), day["excuses"].as_u64())
    };
    assert_eq!(counted("I am here."), (Some(1), Some(0)));
    assert_eq!(counted("None"), (Some(0), Some(1)));
    let told = called_today("null").run("stats").succeeded().out;
    assert!(told.contains("0 answers when addressed, 1 excuses"), "{told}");
}

#[test]
fn rooms_together_spent_what_all_rooms_spent() {
    let folder = called_today("I am here.");
    // The decision about a message that was under way at a stop is not stored yet; what it cost is.
    meddle(&folder, "DELETE FROM trace");
    let told = folder.run("stats").succeeded().out;
    let (head, rooms) = told.split_once('\n').expect("there are rooms");
    let spent = head.strip_prefix("Spent today in all rooms: ").expect("it is printed first");
    assert!(!spent.starts_with("0 calls"), "{told}");
    assert!(rooms.contains(&format!("spent today, memory and lost calls included: {spent}\n")), "{told}");
    let lines = folder.run("stats --json").succeeded().out;
    let lines: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["spent"], lines[1]["spent"], "{lines:?}");
}

#[test]
fn an_estimated_price_is_marked() {
    let folder = called_today("I am here.");
    let told = folder.run("stats --set models.main=google/new").succeeded().out;
    assert!(told.contains("\nEstimated: no price is listed for google/new; it counts as $"), "{told}");
    let json = folder.run("stats --json --set models.main=google/new").succeeded().out;
    assert!(json.lines().nth(1).unwrap().contains("\"estimated\":\"google/new\""), "{json}");
    let one_room = folder.run("stats --room c --set models.main=google/new").succeeded().out;
    assert!(one_room.starts_with("Estimated: "), "{one_room}");
    assert!(!folder.run("stats").succeeded().out.contains("Estimated"));
}
