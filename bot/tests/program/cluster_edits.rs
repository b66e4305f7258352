//! What people edit and delete while no gateway listens reaches a room that has not handled yet what they had said before.

use aizuchi_test_servers::discord::{CHANNEL, GUILD, person};
use aizuchi_test_servers::slack::{self, SlackServer, TEAM};

use crate::cluster::{Cluster, connections, on_discord};
use crate::cluster_rooms::http;
use crate::program::eventually;

const SLACK_CHANNEL: &str = "C2RAN";
const SLACK_PERSON: &str = "U3TOM";

/// How many batches Restate has accepted for this room and no worker has handled.
async fn unhandled(cluster: &Cluster, room: &str) -> u64 {
    let query = format!(
        "SELECT count(*) AS number FROM sys_invocation WHERE target_service_key = '{room}'
        AND target_handler_name = 'handle' AND status <> 'completed'"
    );
    let asked = http().post(format!("{}/query", cluster.restate.admin()));
    let asked = asked.header("accept", "application/json").json(&serde_json::json!({"query": query}));
    let answer: serde_json::Value = asked.send().await.expect("it answers").json().await.expect("it answers in JSON");
    answer["rows"][0]["number"].as_u64().expect("a number")
}

async fn accepts(cluster: &Cluster, room: &str, count: u64) {
    eventually("Restate has accepted it", async || (unhandled(cluster, room).await >= count).then_some(())).await;
}

/// Each text that a message had, and that it was deleted.
async fn texts(cluster: &Cluster, id: &str) -> Vec<String> {
    let query = format!(
        "SELECT coalesce(body::jsonb #>> '{{Said,text}}', body::jsonb #>> '{{Changed,text}}', '(deleted)') FROM journal
        WHERE body::jsonb #>> '{{Said,id}}' = '{id}' OR body::jsonb #>> '{{Changed,id}}' = '{id}' ORDER BY seq"
    );
    cluster.postgres.psql(&cluster.database, &query).await.lines().map(str::to_owned).collect()
}

async fn ends_as(cluster: &Cluster, id: &str, text: &str) {
    let what = format!("{id} is {text:?} in the end");
    eventually(&what, async || (texts(cluster, id).await.last()? == text).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_room_that_was_behind_hears_what_was_edited_on_discord() {
    let ((server, cluster), mia) = (on_discord().await, person(11, "mia"));
    let room = format!("discord:{GUILD}/{CHANNEL}");
    let (mut worker, mut gateway) = (cluster.worker().await, cluster.gateway().await);
    eventually("it is connected", async || (connections(&server) == 1).then_some(())).await;
    worker.kill();
    let edited = server.say(CHANNEL, &mia, "the meeting is at five");
    accepts(&cluster, &room, 1).await;
    let deleted = server.say(CHANNEL, &mia, "the code of the door is 4711");
    accepts(&cluster, &room, 2).await;
    gateway.kill();
    eventually("nobody is connected", async || (connections(&server) == 0).then_some(())).await;
    server.world.with(|world| {
        world.edit(CHANNEL, edited, "the meeting is at six");
        world.delete(CHANNEL, deleted);
    });
    let _gateway = cluster.gateway().await;
    eventually("it is connected again", async || (connections(&server) == 1).then_some(())).await;
    // The channel is known again by then.
    server.say(CHANNEL, &mia, "is anybody here?");
    accepts(&cluster, &room, 3).await;
    let _worker = cluster.worker().await;
    ends_as(&cluster, &edited.to_string(), "the meeting is at six").await;
    ends_as(&cluster, &deleted.to_string(), "(deleted)").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_room_that_was_behind_hears_what_was_edited_on_slack() {
    let (server, mut cluster) = (SlackServer::start().await, Cluster::start().await);
    cluster.home.set(format!("slack.api_url={}", server.api_url()));
    cluster.home.set_variable("SLACK_BOT_TOKEN", slack::BOT_TOKEN);
    cluster.home.set_variable("SLACK_APP_TOKEN", slack::APP_TOKEN);
    let room = format!("slack:{TEAM}/{SLACK_CHANNEL}");
    let (mut worker, mut gateway) = (cluster.worker().await, cluster.gateway().await);
    eventually("it is connected", async || (server.sockets.open() > 0).then_some(())).await;
    worker.kill();
    let edited = server.say(SLACK_CHANNEL, SLACK_PERSON, "the meeting is at five");
    accepts(&cluster, &room, 1).await;
    let deleted = server.say(SLACK_CHANNEL, SLACK_PERSON, "the code of the door is 4711");
    accepts(&cluster, &room, 2).await;
    gateway.kill();
    eventually("nobody is connected", async || (server.sockets.open() == 0).then_some(())).await;
    // Without events: Slack gives up sending them again after a while.
    server.workspace().edit(SLACK_CHANNEL, &edited, "the meeting is at six");
    server.workspace().delete(SLACK_CHANNEL, &deleted);
    let reads = || server.workspace().calls_of("conversations.history");
    let before = reads();
    let _gateway = cluster.gateway().await;
    eventually("the history was read", async || (reads() > before).then_some(())).await;
    server.say(SLACK_CHANNEL, SLACK_PERSON, "is anybody here?");
    accepts(&cluster, &room, 3).await;
    let _worker = cluster.worker().await;
    ends_as(&cluster, &edited, "the meeting is at six").await;
    ends_as(&cluster, &deleted, "(deleted)").await;
}
