//! More than one connection: as many as Discord recommends, each with its own guilds.

use aizuchi_test_servers::discord::{CHANNEL, DiscordServer, Order, person};
use aizuchi_test_servers::folder::Scratch;
use serde_json::json;

use crate::house::DiscordFixture;

#[tokio::test]
async fn each_connection_hears_its_own_and_all_is_heard_once() {
    let (scratch, server) = (Scratch::new("discord"), DiscordServer::start().await);
    let mia = person(11, "mia");
    server.world.with(|world| {
        world.shards = 3;
        world.channels.insert(902, json!({"id": "902", "type": 1, "recipients": [mia]}));
    });
    let house = DiscordFixture::open_in(&scratch.0, server, &[]).await;
    house.server.until("all are there", |world| world.sessions.len() == 3).await;
    let mut numbers: Vec<_> =
        house.server.world.with(|world| world.sessions.values().map(|session| session.shard).collect());
    numbers.sort_unstable();
    assert_eq!(numbers, [(0, 3), (1, 3), (2, 3)]);
    house.server.say(CHANNEL, &mia, "in the guild");
    let said = house.says(1).await;
    house.server.say(902, &mia, "just us");
    assert_eq!((&*said[0].text, &*house.says(2).await[1].text), ("in the guild", "just us"));
    // One line is cut: the others stay, and it comes back as itself.
    let cut = house.server.world.with(|world| {
        let (id, session) = world.sessions.iter().find(|(_, session)| session.shard.0 == 1).expect("the guild's own");
        let _ = session.line.as_ref().expect("it is open").send(Order::Cut);
        let id = id.clone();
        world.say(CHANNEL, &mia, json!({"content": "during the cut"}));
        id
    });
    assert_eq!(&*house.says(3).await[2].text, "during the cut");
    house.server.world.with(|world| {
        assert_eq!((world.identified, world.resumed), (3, 1));
        assert!(world.sessions[&cut].line.is_some());
    });
    house.close().await;
}

#[tokio::test]
async fn the_settings_say_how_many() {
    let (scratch, server) = (Scratch::new("discord"), DiscordServer::start().await);
    let house = DiscordFixture::open_in(&scratch.0, server, &["discord.shards=2"]).await;
    house.server.until("both are there", |world| world.sessions.len() == 2).await;
    house.close().await;
}
