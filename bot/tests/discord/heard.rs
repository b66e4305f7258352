//! What happens on Discord, as the engine hears it.

use aizuchi::commands::{COMMANDS, CommandForm};
use aizuchi::language::Language;
use aizuchi_core::Input;
use aizuchi_core::types::{MessageId, PersonId, Visibility, Voice};
use aizuchi_test_servers::discord::{BOT, CHANNEL, GUILD, PRIVATE, hook, person};
use serde_json::json;

use crate::house::DiscordFixture;

#[tokio::test]
async fn what_is_said_has_its_place_its_author_and_its_links() {
    let (house, _scratch) = DiscordFixture::open().await;
    let (mia, jonas) = (person(11, "mia"), person(12, "jonas"));
    let first = house.server.say(CHANNEL, &mia, &format!("<@{BOT}> and <@12>, hello"));
    let mentions = json!([jonas, {"id": BOT.to_string()}]);
    house.server.tell(
        CHANNEL,
        &mia,
        json!({"content": "<@!12> look", "mentions": mentions, "member": {"nick": "ミア"}}),
    );
    house.server.tell(
        CHANNEL,
        &jonas,
        json!({"content": "yes", "message_reference": {"message_id": first.to_string()}}),
    );
    house.server.say(PRIVATE, &jonas, "psst");
    house.server.tell(CHANNEL, &hook(77, "CI"), json!({"content": "build 7", "webhook_id": "77"}));
    let picture = json!([{"id": "5", "filename": "tomato.png", "content_type": "image/png"}]);
    house.server.tell(CHANNEL, &mia, json!({"attachments": picture}));
    // Somebody joined: that is the platform talking.
    house.server.tell(CHANNEL, &mia, json!({"type": 7}));
    let said = house.says(6).await;
    assert_eq!(said[0].place.to_string(), format!("discord:{GUILD}/{CHANNEL}"));
    assert_eq!((said[0].id.as_str(), said[0].mentions_me), (first.to_string().as_str(), true));
    assert_eq!((&*said[0].author.name, &said[0].author.id), ("mia", &PersonId::new("discord:11")));
    assert_eq!((&*said[1].author.name, said[1].mentions_me), ("ミア", false));
    assert_eq!(said[1].mentions, [PersonId::new("discord:12")]);
    let reply = said[2].reply.clone().unwrap();
    assert_eq!((reply.to, reply.to_me), (Some(MessageId::new(first.to_string())), false));
    assert_eq!(reply.to_person, Some(PersonId::new("discord:11")));
    assert_eq!((said[0].visibility, said[3].visibility), (Visibility::Public, Visibility::Private));
    assert_eq!((said[4].author.voice, said[0].author.voice), (Voice::Bot, Voice::Person));
    assert_eq!(&*said[5].text, "[image: tomato.png]");
    house.close().await;
}

#[tokio::test]
async fn threads_are_places_in_their_channel() {
    let (house, _scratch) = DiscordFixture::open().await;
    let mia = person(11, "mia");
    let thread = json!({"id": "900", "type": 11, "parent_id": CHANNEL.to_string(), "guild_id": GUILD.to_string()});
    house.server.world.with(|world| world.channels.insert(900, thread.clone()));
    house.server.dispatch("THREAD_CREATE", thread);
    house.server.say(900, &mia, "in the thread");
    // The server is asked about a thread that no event announced.
    let unknown = json!({"id": "901", "type": 12, "parent_id": CHANNEL.to_string(), "guild_id": GUILD.to_string()});
    house.server.world.with(|world| world.channels.insert(901, unknown));
    house.server.say(901, &mia, "in another");
    let direct = json!({"id": "902", "type": 1, "recipients": [mia]});
    house.server.world.with(|world| world.channels.insert(902, direct));
    house.server.say(902, &mia, "just us");
    let said = house.says(3).await;
    assert_eq!(said[0].place.to_string(), format!("discord:{GUILD}/{CHANNEL}/900"));
    assert_eq!(said[1].place.to_string(), format!("discord:{GUILD}/{CHANNEL}/901"));
    assert_eq!((said[0].visibility, said[1].visibility), (Visibility::Public, Visibility::Private));
    assert_eq!((said[2].place.to_string().as_str(), said[2].visibility), ("discord:@me/902", Visibility::Direct));
    house.close().await;
}

#[tokio::test]
async fn edits_deletions_and_reactions_are_heard() {
    let (house, _scratch) = DiscordFixture::open().await;
    let mia = person(11, "mia");
    let id = house.server.say(CHANNEL, &mia, "tomatos").to_string();
    let about = |field: &str| json!({field: id, "channel_id": CHANNEL.to_string(), "guild_id": GUILD.to_string()});
    let with = |mut value: serde_json::Value, fields: serde_json::Value| {
        value.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        value
    };
    let unfurled = json!({"content": "tomatos", "edited_timestamp": null, "author": mia, "embeds": [{}]});
    house.server.dispatch("MESSAGE_UPDATE", with(about("id"), unfurled));
    let edited = json!({"content": "tomatoes", "edited_timestamp": "2026-11-15T09:00:00.123000+00:00", "author": mia});
    house.server.dispatch("MESSAGE_UPDATE", with(about("id"), edited));
    let reaction = json!({"user_id": "12", "emoji": {"id": null, "name": "👍"}});
    house.server.dispatch("MESSAGE_REACTION_ADD", with(about("message_id"), reaction.clone()));
    house.server.dispatch("MESSAGE_REACTION_REMOVE", with(about("message_id"), reaction));
    let own = json!({"user_id": BOT.to_string(), "emoji": {"id": null, "name": "👀"}});
    house.server.dispatch("MESSAGE_REACTION_ADD", with(about("message_id"), own));
    house.server.dispatch("MESSAGE_DELETE", about("id"));
    house.server.dispatch("MESSAGE_DELETE_BULK", with(about("x"), json!({"ids": [id, "5", null]})));
    let heard = house.hears(7).await;
    let Input::Changed(edit) = &heard[1] else { panic!("{heard:#?}") };
    assert_eq!((edit.text.as_deref(), edit.at.0 % 1000), (Some("tomatoes"), 123));
    let Input::Reacted(on) = &heard[2] else { panic!("{heard:#?}") };
    assert_eq!((on.by.as_str(), &*on.emoji, on.on, on.message.as_str()), ("discord:12", "👍", true, id.as_str()));
    assert!(matches!(&heard[3], Input::Reacted(off) if !off.on));
    for gone in &heard[4..] {
        assert!(matches!(gone, Input::Changed(change) if change.text.is_none()), "{gone:?}");
    }
    house.close().await;
}

#[tokio::test]
async fn hostile_names_stay_names() {
    let (house, _scratch) = DiscordFixture::open().await;
    let long = "x".repeat(5000);
    for (number, name) in ["", "\u{202e}evil\n@everyone", "<@100>", &long].into_iter().enumerate() {
        house.server.say(CHANNEL, &person(20 + number as u64, name), "hi");
    }
    let said = house.says(4).await;
    assert_eq!(&*said[0].author.name, "20");
    assert!(said.iter().all(|message| !message.mentions_me && message.author.name.chars().count() <= 100));
    house.close().await;
}

#[tokio::test]
async fn commands_are_acknowledged_at_once_and_answered_to_the_caller() {
    let (house, _scratch) = DiscordFixture::open().await;
    let interaction = json!({
        "id": "31", "application_id": BOT.to_string(), "type": 2, "token": "tok-en_1", "locale": "ja",
        "channel_id": CHANNEL.to_string(), "guild_id": GUILD.to_string(),
        "member": {"user": person(11, "mia"), "permissions": "32"},
        "data": {"name": "aizuchi", "options": [{"name": "mute", "type": 1, "options": [{"name": "duration", "value": "2h"}]}]},
    });
    house.server.dispatch("INTERACTION_CREATE", interaction.clone());
    house.server.until("the answer", |world| world.asked.iter().any(|asked| asked.line.starts_with("PATCH"))).await;
    let later = &house.server.asked("POST interactions/31/tok-en_1/callback")[0];
    assert_eq!(later.body, json!({"type": 5, "data": {"flags": 64}}));
    let answer = &house.server.asked("PATCH webhooks/100/tok-en_1/messages/@original")[0];
    assert_eq!(answer.body["content"], "done: mute 2h");
    let (order, by, place) = house.commands.0.lock().unwrap()[0].clone();
    assert_eq!((order.as_str(), by.manages, by.language), ("mute 2h", true, Language::from_id("ja").unwrap()));
    assert_eq!((by.person.as_str(), place.to_string()), ("discord:11", format!("discord:{GUILD}/{CHANNEL}")));
    let registered = &house.server.asked(&format!("PUT applications/100/guilds/{GUILD}/commands"))[0];
    let names = |options: &serde_json::Value| -> Vec<String> {
        options.as_array().unwrap().iter().map(|option| option["name"].as_str().unwrap().to_owned()).collect()
    };
    let declared = COMMANDS.iter().filter(|spec| spec.is_offered(CommandForm::Prefixed));
    assert_eq!(names(&registered.body[0]["options"]), declared.map(|spec| spec.name).collect::<Vec<_>>());
    house.close().await;
}
