//! A Restate that is not the one of the database: empty, of another cluster, or older.

use aizuchi_test_servers::restate::RestateServer;
use aizuchi_test_servers::visitor::Visitor;

use crate::cluster_rooms::{ClusterServers, answer, both, get, say, set_state, state_of};
use crate::program::{Home, eventually, new_home};

const SETTINGS: &[&str] = &["reply.part_chars=1500", "web.rooms=[\"lobby\", \"garden\"]"];

/// Somebody is answered and mutes the bot, in each of these rooms; then it is stopped. Returns who that was in each.
async fn talk_and_mute(home: &Home, rooms: &[&str]) -> Vec<String> {
    let (mut program, mut people) = (both(home).await, Vec::new());
    for room in rooms {
        let mut mia = Visitor::enter(program.address, room, "mia").await;
        say(&mut mia, "1", "@aizuchi are you there?").await;
        answer(&mut mia).await;
        assert!(mia.order("/mute").await.contains("muted"));
        people.push(mia.person.clone());
    }
    program.terminate();
    assert!(program.ended().await.success(), "{}", program.said());
    people
}

async fn is_muted(home: &Home, room: &str, person: &str) {
    let mut program = both(home).await;
    let (mut mia, _) = Visitor::come_back(program.address, room, "mia", Some(person), 0).await;
    let status = mia.order("/status").await;
    assert!(status.contains("muted"), "{status}");
    program.terminate();
    assert!(program.ended().await.success(), "{}", program.said());
}

/// It was taken: mutes were forgotten, and what people said from then on was neither answered nor recorded.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_process_starts_with_a_restate_that_has_none_of_the_rooms() {
    let (servers, other) = (ClusterServers::start().await, RestateServer::start().await);
    let url = servers.postgres.url(&servers.postgres.empty_database().await);
    let mut home = servers.home_on(&url, SETTINGS);
    let people = talk_and_mute(&home, &["lobby"]).await;
    home.change("cluster.ingress", other.ingress());
    home.change("cluster.admin", other.admin());
    for role in [&["run", "--no-browser", "--cluster"][..], &["worker"], &["gateway"]] {
        let mut program = home.spawn_as(role);
        let code = program.ended().await.code();
        let told = program.said();
        assert!(code == Some(1) && told.contains("none of the rooms that the database (store.url) has"), "{told}");
        assert!(told.contains("such as web:lobby"), "{told}");
    }
    home.change("cluster.ingress", servers.restate.ingress());
    home.change("cluster.admin", servers.restate.admin());
    is_muted(&home, "lobby", &people[0]).await;
}

/// What is left of the cluster is in the database, and another one goes on with a copy of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_whose_restate_is_lost_goes_on_with_a_copy_of_its_database() {
    let (servers, other) = (ClusterServers::start().await, RestateServer::start().await);
    let url = servers.postgres.url(&servers.postgres.empty_database().await);
    let mut home = servers.home_on(&url, SETTINGS);
    let people = talk_and_mute(&home, &["lobby", "garden"]).await;
    let copied = servers.postgres.url(&servers.postgres.empty_database().await);
    let told = home.plain_command(&["store", "copy", "--from", &url, "--to", &copied]).await;
    assert!(told.contains("counted and compared"), "{told}");
    home.change("store.url", copied);
    home.change("cluster.ingress", other.ingress());
    home.change("cluster.admin", other.admin());
    home.change("store.folder", new_home(&[]).data().display());
    for (room, person) in ["lobby", "garden"].into_iter().zip(&people) {
        is_muted(&home, room, person).await;
    }
}

/// It went on with what Restate had, and nothing of it was recorded.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_room_that_is_older_in_restate_does_not_go_on_and_is_named() {
    let servers = ClusterServers::start().await;
    let url = servers.postgres.url(&servers.postgres.empty_database().await);
    let home = servers.home_on(&url, SETTINGS);
    let people = talk_and_mute(&home, &["lobby", "garden"]).await;
    let program = both(&home).await;
    let (mut mia, _) = Visitor::come_back(program.address, "lobby", "mia", Some(&people[0]), 0).await;
    let older = state_of(&servers, "web:lobby").await;
    for key in ["2", "3", "4"] {
        say(&mut mia, key, "what a lovely day").await;
    }
    eventually("the room has heard it", async || (state_of(&servers, "web:lobby").await != older).then_some(())).await;
    eventually("nothing is on its way", async || {
        home.command(&["cluster", "status"]).await.contains("stored and not told yet: 0").then_some(())
    })
    .await;
    set_state(&servers, "web:lobby", &older).await;
    eventually("Restate has the older one", async || (state_of(&servers, "web:lobby").await == older).then_some(()))
        .await;
    say(&mut mia, "5", "@aizuchi can you hear me?").await;
    eventually("it raises an alert", async || {
        get(program.address, "/ready").await.contains("alert: 1 room or call keeps failing").then_some(())
    })
    .await;
    let told = home.command(&["cluster", "rooms", "--stuck"]).await;
    assert!(told.contains("web:lobby") && told.contains("do not belong together"), "{told}");
    // Other rooms go on.
    let (mut finn, _) = Visitor::come_back(program.address, "garden", "mia", Some(&people[1]), 0).await;
    finn.order("/unmute").await;
    say(&mut finn, "9", "@aizuchi are you there?").await;
    answer(&mut finn).await;
}
