//! A token that is replaced while the program runs: SIGHUP, and it goes on with the new one.

use aizuchi_test_servers::discord::{self, BOT_ID, CHANNEL, DiscordServer, person};
use aizuchi_test_servers::slack::{self, APP_TOKEN, BOT_TOKEN, SlackServer};
use serde_json::json;

use crate::program::{Home, Program, eventually, new_home};

/// One post for each answer.
const SETTINGS: &[&str] =
    &["web.enabled=false", "reply.part_chars=1500", "gates.user_addressed_per_hour=0", "log.level=info"];
const OTHER_TOKEN: &str = "MTAw.another.one";
const OTHER_BOT_TOKEN: &str = "xoxb-another";
const OTHER_APP_TOKEN: &str = "xapp-another";

/// A variable that names a file with this in it. A file without a line's end is a token too.
fn keep_in_file(home: &Home, variable: &str, token: &str) {
    std::fs::write(home.folder().join(variable), token).expect("it can be written");
}

fn name_file(home: &mut Home, variable: &str) {
    let path = home.folder().join(variable);
    home.set_variable(&format!("{variable}_FILE"), path.to_str().expect("a path in UTF-8"));
}

fn on_discord(server: &DiscordServer, home: &mut Home) {
    keep_in_file(home, "DISCORD_TOKEN", &format!("{}\n", discord::TOKEN));
    name_file(home, "DISCORD_TOKEN");
    home.set(format!("discord.api_url={}", server.url()));
}

fn connections(server: &DiscordServer) -> usize {
    server.world.with(|world| world.sessions.values().filter(|it| it.line.is_some()).count())
}

fn call(server: &DiscordServer, words: &str) {
    server.say(CHANNEL, &person(11, "mia"), &format!("<@{BOT_ID}> {words}"));
}

/// The old one is not valid any more, and somebody asks before the program knows that.
async fn rotate(server: &DiscordServer) {
    server.world.with(|world| {
        world.token = OTHER_TOKEN.into();
        world.order(|| discord::Order::Close(4004));
        world.sessions.clear();
        let id = world.snowflake();
        world.keep(id, CHANNEL, &person(11, "mia"), json!({"content": format!("<@{BOT_ID}> and in between?")}));
    });
}

async fn sent_away(program: &Program) {
    eventually("it is sent away", async || program.said().contains("refused the connection for good").then_some(()))
        .await;
}

#[tokio::test]
async fn another_token_of_discord_is_used_without_a_restart() {
    let (server, mut home) = (DiscordServer::start().await, new_home(SETTINGS));
    home.change("web.enabled", true);
    on_discord(&server, &mut home);
    let mut program = home.start().await;
    eventually("it is connected", async || (connections(&server) == 1).then_some(())).await;
    call(&server, "are you there?");
    server.until_posts(CHANNEL, 1).await;

    // The connection with the old one would go on, and somebody asks while nobody listens.
    server.world.with(|world| {
        world.token = OTHER_TOKEN.into();
        let id = world.snowflake();
        world.keep(id, CHANNEL, &person(11, "mia"), json!({"content": format!("<@{BOT_ID}> and while it changes?")}));
    });
    keep_in_file(&home, "DISCORD_TOKEN", OTHER_TOKEN);
    program.hang_up();
    server.until("it has another session", |world| world.identified == 2).await;
    eventually("the old one is closed", async || (connections(&server) == 1).then_some(())).await;
    // What is said before it is answered would be answered together with it.
    server.until_posts(CHANNEL, 2).await;
    call(&server, "and now?");
    assert_eq!(server.until_posts(CHANNEL, 3).await.len(), 3);

    // Sent away with it, and back with the next one.
    server.world.with(|world| world.token = discord::TOKEN.into());
    server.world.with(|world| world.order(|| discord::Order::Close(4004)));
    sent_away(&program).await;
    keep_in_file(&home, "DISCORD_TOKEN", discord::TOKEN);
    program.hang_up();
    server.until("it is back", |world| world.identified == 3).await;
    call(&server, "and again?");
    assert_eq!(server.until_posts(CHANNEL, 4).await.len(), 4);

    // What cannot be one changes nothing.
    keep_in_file(&home, "DISCORD_TOKEN", "");
    program.hang_up();
    eventually("it says what is missing", async || program.said().contains("needs the token").then_some(())).await;
    call(&server, "still there?");
    assert_eq!(server.until_posts(CHANNEL, 5).await.len(), 5);
    program.terminate();
    assert!(program.ended().await.success(), "{}", program.said());
    assert!(!program.said().contains(OTHER_TOKEN), "{}", program.said());
}

#[tokio::test]
async fn other_tokens_of_slack_are_used_without_a_restart() {
    let (server, mut home) = (SlackServer::start().await, new_home(SETTINGS));
    home.change("web.enabled", true);
    home.set(format!("slack.api_url={}", server.api_url()));
    for (variable, token) in [("SLACK_BOT_TOKEN", BOT_TOKEN), ("SLACK_APP_TOKEN", APP_TOKEN)] {
        keep_in_file(&home, variable, token);
        name_file(&mut home, variable);
    }
    let mut program = home.start().await;
    let call = |words: &str| server.say("C1GEN", "U1MIA", &format!("<@{}> {words}", slack::BOT));
    let posts = async |count: usize| {
        eventually(&format!("{count} posts"), async || {
            let posted = server.workspace().posted("C1GEN").len();
            assert!(posted <= count, "{posted} posts");
            (posted == count).then_some(())
        })
        .await;
    };
    eventually("it is connected", async || (server.sockets.open() == 2).then_some(())).await;
    call("are you there?");
    posts(1).await;

    let rotate = |bot: &str, app: &str| {
        server.workspace().tokens = [bot.into(), app.into()];
        keep_in_file(&home, "SLACK_BOT_TOKEN", bot);
        keep_in_file(&home, "SLACK_APP_TOKEN", app);
    };
    rotate(OTHER_BOT_TOKEN, OTHER_APP_TOKEN);
    program.hang_up();
    eventually("there are other connections", async || {
        (server.sockets.opened() == 4 && server.sockets.open() == 2).then_some(())
    })
    .await;
    call("and now?");
    posts(2).await;

    // Sent away with them, and back with the next ones.
    server.workspace().tokens = [slack::BOT_TOKEN.into(), slack::APP_TOKEN.into()];
    server.sockets.cut();
    eventually("it is sent away", async || program.said().contains("continuing without Slack").then_some(())).await;
    rotate(BOT_TOKEN, APP_TOKEN);
    program.hang_up();
    eventually("it is back", async || (server.sockets.open() == 2).then_some(())).await;
    call("and again?");
    posts(3).await;
    program.terminate();
    assert!(program.ended().await.success(), "{}", program.said());
}

/// Both gateways and the worker, which posts, read their own files.
#[cfg(feature = "cluster")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_token_reaches_every_process_of_a_cluster() {
    let (server, mut cluster) = (DiscordServer::start().await, crate::cluster::Cluster::start().await);
    for home in [&mut cluster.home, &mut cluster.other] {
        home.change("reply.part_chars", 1500);
        on_discord(&server, home);
    }
    let (worker, gateway) = (cluster.worker().await, cluster.gateway().await);
    let room = format!("is in the room: http://{}", cluster.other.address);
    let other = cluster.other.start_as(&["gateway"], &room).await;
    eventually("one of them is connected", async || (connections(&server) == 1).then_some(())).await;
    call(&server, "are you there?");
    server.until_posts(CHANNEL, 1).await;
    rotate(&server).await;
    // Each in turn has the lock, and is sent away.
    for program in [&gateway, &other] {
        sent_away(program).await;
    }
    for home in [&cluster.home, &cluster.other] {
        keep_in_file(home, "DISCORD_TOKEN", OTHER_TOKEN);
    }
    for program in [&worker, &gateway, &other] {
        program.hang_up();
    }
    let posts = server.until_posts(CHANNEL, 2).await;
    assert_eq!(posts.len(), 2, "{posts:?}");
    call(&server, "and now?");
    assert_eq!(server.until_posts(CHANNEL, 3).await.len(), 3);
    assert_eq!(connections(&server), 1);
    for mut program in [gateway, other, worker] {
        program.terminate();
        assert!(program.ended().await.success(), "{}", program.said());
    }
}
