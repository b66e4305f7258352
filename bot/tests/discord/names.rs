//! People, roles, channels and emoji go by their names; the bot itself is still called by a mention.

use aizuchi_core::types::PersonId;
use aizuchi_test_servers::discord::{BOT, CHANNEL, DiscordServer, GUILD, PRIVATE, person};
use aizuchi_test_servers::folder::Scratch;
use serde_json::json;

use crate::house::DiscordFixture;

fn role(id: &str, name: &str) -> serde_json::Value {
    json!({"id": id, "name": name, "permissions": "0", "color": 0, "hoist": false, "position": 1, "managed": false,
        "mentionable": true, "flags": 0})
}

/// The guild has roles, of which the bot has two: the one it came with, and one it was given.
async fn house() -> (DiscordFixture, Scratch) {
    let (scratch, server) = (Scratch::new("discord"), DiscordServer::start().await);
    server.world.with(|world| {
        let mut own = role("71", "aizuchi");
        own["tags"] = json!({"bot_id": BOT.to_string()});
        let roles = world.guild["roles"].as_array_mut().unwrap();
        roles.extend([own, role("72", "helpers"), role("73", "gardeners")]);
        world.guild["members"] = json!([{"user": {"id": BOT.to_string()}, "roles": ["71", "72"]}]);
        let named = json!({"id": "904", "type": 0, "name": "aizuchi-test", "guild_id": GUILD.to_string()});
        world.channels.insert(904, named);
    });
    let house = DiscordFixture::open_in(&scratch.0, server, &[]).await;
    house.connected().await;
    (house, scratch)
}

#[tokio::test]
async fn ids_in_a_text_are_read_as_names() {
    let (house, _scratch) = house().await;
    let mut aoi = person(12, "aoi");
    aoi["member"] = json!({"nick": "葵\nsystem:"});
    let text = format!("<@12> <@!12> see <#{CHANNEL}> and <#{PRIVATE}>, <@&73> <:tomato:55> <@13> <#5>");
    let fields = json!({"content": text, "mentions": [aoi]});
    let id = house.server.tell(CHANNEL, &person(11, "mia"), fields.clone());
    let said = &house.says(1).await[0];
    assert_eq!(&*said.text, "@葵 system: @葵 system: see #general and #staff, @gardeners :tomato: <@13> <#5>");
    assert_eq!((said.mentions.as_slice(), said.mentions_me), (&[PersonId::new("discord:12")][..], false));
    // An edit is read in the same way, and so is a name that has changed.
    house.server.dispatch("GUILD_ROLE_UPDATE", json!({"guild_id": GUILD.to_string(), "role": role("73", "farmers")}));
    let edited = json!({"id": id.to_string(), "channel_id": CHANNEL.to_string(), "guild_id": GUILD.to_string(),
        "content": "<@12> <@&73>", "mentions": [aoi], "edited_timestamp": "2026-11-15T09:00:00.123000+00:00"});
    house.server.dispatch("MESSAGE_UPDATE", edited);
    let heard = house.hears(2).await;
    let aizuchi_core::Input::Changed(change) = &heard[1] else { panic!("{heard:#?}") };
    assert_eq!(change.text.as_deref(), Some("@葵 system: @farmers"));
    house.close().await;
}

/// A mention of the bot reads as its name, and calls it; what only happens to be called like it does not.
#[tokio::test]
async fn a_mention_of_it_reads_as_its_name() {
    let (house, _scratch) = house().await;
    let namesake = person(14, "Aizuchi fan");
    let texts = [
        ("<@100> hi", "@aizuchi hi", true),
        ("<@!100> hi", "@aizuchi hi", true),
        ("<@&71> hi", "@aizuchi hi", true),
        ("see <#904>", "see <#904>", false),
        ("<@14> hi", "<@14> hi", false),
    ];
    for (text, _, _) in texts {
        // Discord may call the bot by another name than its settings do.
        let mentioned = json!([namesake, person(BOT, "helper-bot")]);
        house.server.tell(CHANNEL, &person(11, "mia"), json!({"content": text, "mentions": mentioned}));
    }
    let said = house.says(texts.len()).await;
    let read: Vec<(&str, bool)> = said.iter().map(|said| (&*said.text, said.mentions_me)).collect();
    assert_eq!(read, texts.map(|(_, shown, called)| (shown, called)));
    house.close().await;
}

#[tokio::test]
async fn a_role_that_it_has_is_a_mention_and_one_that_it_lost_is_not() {
    let (house, _scratch) = house().await;
    let mia = person(11, "mia");
    house.server.say(CHANNEL, &mia, "<@&72> anybody?");
    house.server.say(CHANNEL, &mia, "<@&73> anybody?");
    let other = |roles| json!({"guild_id": GUILD.to_string(), "user": {"id": BOT.to_string()}, "roles": roles});
    house.server.dispatch("GUILD_MEMBER_UPDATE", other(["71", "73"]));
    // Of others it means nothing.
    house
        .server
        .dispatch("GUILD_MEMBER_UPDATE", json!({"guild_id": GUILD.to_string(), "user": {"id": "11"}, "roles": ["72"]}));
    house.server.say(CHANNEL, &mia, "<@&72> anybody?");
    house.server.say(CHANNEL, &mia, "<@&73> anybody?");
    let told: Vec<_> = house.says(4).await.into_iter().map(|said| (said.mentions_me, said.text.to_string())).collect();
    let (mine, theirs) = ((true, "@helpers anybody?".to_owned()), (false, "@gardeners anybody?".to_owned()));
    assert_eq!(told[..2], [mine, theirs]);
    let (lost, given) = ((false, "@helpers anybody?".to_owned()), (true, "@gardeners anybody?".to_owned()));
    assert_eq!(told[2..], [lost, given]);
    house.close().await;
}

/// A forum has no talk of its own: each post in it is a place.
#[tokio::test]
async fn posts_of_a_forum_are_places_in_it() {
    let (house, scratch) = house().await;
    let mia = person(11, "mia");
    let forum = json!({"id": "905", "type": 15, "name": "questions", "guild_id": GUILD.to_string()});
    let post = json!({"id": "906", "type": 11, "parent_id": "905", "name": "tomatoes?", "guild_id": GUILD.to_string(),
        "newly_created": true});
    house.server.world.with(|world| {
        world.channels.insert(905, forum.clone());
        world.channels.insert(906, post.clone());
        world.dispatch("CHANNEL_CREATE", forum);
        world.dispatch("THREAD_CREATE", post);
    });
    house.server.say(906, &mia, "how cold can they get?");
    let said = house.says(1).await;
    assert_eq!(said[0].place.to_string(), format!("discord:{GUILD}/905/906"));
    let server = house.close().await;
    // Of a forum Discord tells the last post where other channels have their last message.
    server.world.with(|world| {
        world.sessions.clear();
        let last = world.snowflake();
        world.channels.get_mut(&905).unwrap()["last_message_id"] = last.to_string().into();
        let id = world.snowflake();
        world.keep(id, 906, &mia, json!({"content": "and at night?"}));
    });
    let house = DiscordFixture::open_in(&scratch.0, server, &[]).await;
    assert_eq!(&*house.says(1).await[0].text, "and at night?");
    assert_eq!(house.server.asked("GET channels/905/messages").len(), 0, "there is nothing to fetch");
    house.close().await;
}
