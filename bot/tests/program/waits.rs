//! What waits keeps its time, also when the program is gone in between.

use aizuchi_test_servers::visitor::Visitor;
use serde_json::json;

use crate::program::{Home, eventually, new_home};

#[tokio::test]
async fn a_wait_keeps_its_due_time_over_a_kill() {
    let home = new_home(&["preset=myao2", "response.min_wait_seconds=10", "response.jitter_ratio=0"]);
    let mut program = home.start().await;
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    let id = mia.say("1", "does anybody know a quiet place nearby?").await;
    let view = eventually("it waits", async || {
        let view = mia.next("view").await["view"].clone();
        view["places"].to_string().contains("\"due\"").then_some(view)
    })
    .await;
    program.kill();
    let heard: i64 =
        one(&home, "SELECT at FROM journal WHERE body LIKE '%Said%' AND body LIKE ?1", &format!("%\"{id}\"%"));
    let decisions = || home.store().query_row("SELECT count(*) FROM trace", [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(decisions(), 0, "it had not decided yet");
    let program = home.start().await;
    let body = eventually("it decides", async || {
        let store = home.store();
        store.query_row("SELECT body FROM trace WHERE message = ?1", [&id], |row| row.get::<_, String>(0)).ok()
    })
    .await;
    let trace: serde_json::Value = serde_json::from_str(&body).unwrap();
    let due = heard + 10_000;
    assert_eq!(
        trace["asked"][0]["at"],
        json!(due),
        "asked when the wait was over: {trace}\n{view}\n{}",
        program.said()
    );
}

fn one(home: &Home, query: &str, value: &str) -> i64 {
    home.store().query_row(query, [value], |row| row.get(0)).expect("it is there")
}
