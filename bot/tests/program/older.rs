//! Data folders that an earlier aizuchi has left: this one goes on where it stopped. `older/README.md` says what is in them.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::path::PathBuf;

use aizuchi_test_servers::visitor::Visitor;
use serde_json::Value;

use crate::faults::Clock;
use crate::program::{Home, eventually, new_home};

/// How long it was away.
const AWAY_SECONDS: i64 = 120;

/// Puts the folder there, and the clock a little later than when it was left. What it is known to hold.
fn unpack(name: &str, home: &mut Home) -> (Clock, Value) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/program/older/{name}.zip"));
    let mut archive = zip::ZipArchive::new(File::open(path).expect("it is there")).expect("it is an archive");
    archive.extract(home.data()).expect("there is room");
    let about = std::fs::read(home.data().join("about.json")).expect("it says what is in it");
    let about: Value = serde_json::from_slice(&about).expect("it is JSON");
    let mut clock = Clock::of(home);
    let killed_at = about["killed_at"].as_i64().expect("a time");
    clock.set((killed_at - clock.now() as i64) / 1000 + AWAY_SECONDS);
    (clock, about)
}

/// Gives an order; the notice.
async fn obey(visitor: &mut Visitor, order: &str) -> String {
    let notice = visitor.order(order).await;
    visitor.taken("order").await;
    notice
}

async fn goes_on(name: &str, shards: u32) {
    let mut home = new_home(&[]);
    home.change("runtime.shards", shards);
    let (_clock, about) = unpack(name, &mut home);
    let mut program = home.start().await;
    for room in about["muted"].as_array().expect("some are muted") {
        let room = room.as_str().expect("a name");
        let mut mia = Visitor::enter(program.address, room, "mia").await;
        let status = obey(&mut mia, "/status").await;
        assert!(status.contains("muted: until /unmute"), "{room}: {status}");
        let id = mia.say("1", "@aizuchi are you there?").await;
        let why = eventually("it is decided", async || {
            Some(obey(&mut mia, &format!("/why {id}")).await).filter(|why| !why.contains("no decision"))
        });
        let why = why.await;
        assert!(why.contains("Stayed silent") && why.contains("muted"), "{room}: {why}");
    }
    let store = home.store();
    let answered = |id: &str| {
        let answer = "SELECT 1 FROM web_message WHERE body ->> 'reply_to' = ?1 AND body ->> 'voice' = 'Me'";
        store.query_row(answer, [id], |_| Ok(())).ok()
    };
    let waiting = about["waiting"].as_object().expect("some wait");
    for (room, id) in waiting {
        let id = id.as_str().expect("an id");
        eventually(&format!("who waits in {room} is answered"), async || answered(id)).await;
    }
    let mut jonas = Visitor::enter(program.address, "lobby", "jonas").await;
    let id = jonas.say("2", "@aizuchi are you still there?").await;
    eventually("who calls is answered", async || answered(&id)).await;
    program.terminate();
    assert!(program.ended().await.success(), "{}", program.said());

    let data = home.data().display().to_string();
    for id in waiting.values().map(|id| id.as_str().expect("an id")).chain([id.as_str()]) {
        let why = home.ask(&["why", id, "--folder", &data]);
        assert!(why.contains("Answered: "), "{why}");
    }
    let replayed = home.ask(&["replay", "--journal", &data, "--strict"]);
    // What was learnt is another since: likelihoods differ from the stored ones. Every record is read and lived through.
    assert!(replayed.contains("decisions compared with the stored ones: "), "{replayed}");
    let exported = home.ask(&["export", "--folder", &data]);
    for words in ["and then there was number 59", "@aizuchi what is in the attic?", "@aizuchi are you still there?"] {
        assert!(exported.contains(words), "{words:?} is not exported:\n{exported}");
    }
    let facts = home.ask(&["memory", "list", "--folder", &data]);
    assert!(facts.contains("Mia keeps bees behind the old mill."), "{facts}");
}

#[tokio::test]
async fn one_shard_goes_on_as_one() {
    goes_on("one-shard", 1).await;
}

#[tokio::test]
async fn one_shard_goes_on_as_three() {
    goes_on("one-shard", 3).await;
}

#[tokio::test]
async fn two_shards_go_on_as_two() {
    goes_on("two-shards", 2).await;
}

#[tokio::test]
async fn two_shards_go_on_as_one() {
    goes_on("two-shards", 1).await;
}
