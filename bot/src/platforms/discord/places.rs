//! Which channel is where: the guild it belongs to, the channel a thread belongs to, and who can read it.

use std::collections::HashMap;

use aizuchi_core::types::{Place, RoomId, ThreadId, Visibility};
use serde_json::Value;

use super::read::{bits, id, list};

/// The beginning of the names of rooms and people.
pub const PREFIX: &str = "discord:";
const DIRECT: &str = "@me";

pub const VIEW_CHANNEL: u64 = 1 << 10;

/// Kinds of channels, as Discord counts them.
const DM: u64 = 1;
const GROUP_DM: u64 = 3;
const THREADS: std::ops::RangeInclusive<u64> = 10..=12;
const PRIVATE_THREAD: u64 = 12;

/// A channel or a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// 0 for direct messages.
    pub guild: u64,
    /// The channel it is a thread of.
    pub parent: Option<u64>,
    /// Of a thread only what it adds to its channel's.
    visibility: Visibility,
}

#[derive(Debug, Default)]
pub struct Places {
    channels: HashMap<u64, Channel>,
    guilds: HashMap<u64, Guild>,
}

#[derive(Debug, Default)]
struct Guild {
    /// Whether everybody sees a channel that says nothing about it.
    closed: bool,
    /// The role that came with the bot: people mention it and mean the bot.
    my_role: Option<u64>,
}

impl Places {
    /// Everything about a guild. Returns its channels and threads with the id of their last message.
    pub fn learn_guild(&mut self, guild: &Value, me: u64) -> Vec<(u64, Option<u64>)> {
        let Some(guild_id) = id(guild, "id") else { return Vec::new() };
        let roles = list(guild, "roles");
        let everyone = roles.iter().find(|role| id(role, "id") == Some(guild_id));
        let is_mine = |role: &&Value| role.get("tags").and_then(|tags| id(tags, "bot_id")) == Some(me);
        let known = Guild {
            closed: everyone.is_some_and(|role| bits(role, "permissions") & VIEW_CHANNEL == 0),
            my_role: roles.iter().find(is_mine).and_then(|role| id(role, "id")),
        };
        self.guilds.insert(guild_id, known);
        let all = list(guild, "channels").iter().chain(list(guild, "threads"));
        all.filter_map(|channel| self.learn(channel, Some(guild_id))).collect()
    }

    pub fn forget_guild(&mut self, guild: u64) {
        self.guilds.remove(&guild);
        self.channels.retain(|_, channel| channel.guild != guild);
    }

    /// A channel or a thread; `guild` where the object itself does not say. Returns its id and that of its last message.
    pub fn learn(&mut self, channel: &Value, guild: Option<u64>) -> Option<(u64, Option<u64>)> {
        let channel_id = id(channel, "id")?;
        let kind = bits(channel, "type");
        let guild = if kind == DM || kind == GROUP_DM { 0 } else { id(channel, "guild_id").or(guild).unwrap_or(0) };
        let parent = if THREADS.contains(&kind) { id(channel, "parent_id") } else { None };
        let visibility = match kind {
            DM | GROUP_DM => Visibility::Direct,
            PRIVATE_THREAD => Visibility::Private,
            _ if self.is_closed(channel, guild) => Visibility::Private,
            _ => Visibility::Public,
        };
        self.channels.insert(channel_id, Channel { guild, parent, visibility });
        Some((channel_id, id(channel, "last_message_id")))
    }

    /// Whether not everybody of the guild can read it.
    fn is_closed(&self, channel: &Value, guild: u64) -> bool {
        let everyone = list(channel, "permission_overwrites").iter().find(|entry| id(entry, "id") == Some(guild));
        let (denied, allowed) = everyone.map_or((0, 0), |entry| (bits(entry, "deny"), bits(entry, "allow")));
        let closed = self.guilds.get(&guild).is_some_and(|guild| guild.closed);
        denied & VIEW_CHANNEL != 0 || (closed && allowed & VIEW_CHANNEL == 0)
    }

    pub fn forget(&mut self, channel: u64) {
        self.channels.remove(&channel);
    }

    pub fn get(&self, channel: u64) -> Option<Channel> {
        self.channels.get(&channel).copied()
    }

    /// A channel nobody has told of is taken as an ordinary one.
    pub fn suppose(&mut self, channel: u64, guild: Option<u64>) {
        let visibility = if guild.is_some() { Visibility::Public } else { Visibility::Direct };
        let supposed = Channel { guild: guild.unwrap_or(0), parent: None, visibility };
        self.channels.entry(channel).or_insert(supposed);
    }

    pub fn my_role(&self, guild: u64) -> Option<u64> {
        self.guilds.get(&guild)?.my_role
    }

    /// Where something in this channel is said, and who can read it.
    pub fn place(&self, channel_id: u64, guild: Option<u64>) -> (Place, Visibility) {
        let supposed = guild.map_or(Visibility::Direct, |_| Visibility::Public);
        let fallback = Channel { guild: guild.unwrap_or(0), parent: None, visibility: supposed };
        let channel = self.get(channel_id).unwrap_or(fallback);
        let room = |id| room(channel.guild, id);
        match channel.parent {
            None => (Place { room: room(channel_id), thread: None }, channel.visibility),
            Some(parent) => {
                let above = self.get(parent).map_or(Visibility::Public, |parent| parent.visibility);
                let visibility = if channel.visibility == Visibility::Public { above } else { channel.visibility };
                (Place { room: room(parent), thread: Some(ThreadId::new(channel_id.to_string())) }, visibility)
            }
        }
    }
}

fn room(guild: u64, channel: u64) -> RoomId {
    match guild {
        0 => RoomId::new(format!("{PREFIX}{DIRECT}/{channel}")),
        _ => RoomId::new(format!("{PREFIX}{guild}/{channel}")),
    }
}

/// The channel to post to; `None` for another platform's place.
pub fn channel_of(place: &Place) -> Option<u64> {
    let (_, channel) = place.room.as_str().strip_prefix(PREFIX)?.split_once('/')?;
    place.thread.as_ref().map_or(channel, |thread| thread.as_str()).parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn threads_lie_in_their_channel_and_closed_channels_are_private() {
        let mut places = Places::default();
        let known = places.learn_guild(
            &json!({
                "id": "1", "roles": [{"id": "1", "permissions": "1024"}, {"id": "7", "tags": {"bot_id": "99"}}],
                "channels": [
                    {"id": "2", "type": 0, "last_message_id": "20"},
                    {"id": "3", "type": 0, "permission_overwrites": [{"id": "1", "type": 0, "deny": "1024"}]},
                ],
                "threads": [{"id": "4", "type": 11, "parent_id": "2"}, {"id": "5", "type": 12, "parent_id": "2"},
                    {"id": "6", "type": 11, "parent_id": "3"}],
            }),
            99,
        );
        assert_eq!(known.len(), 5);
        assert_eq!(known[0], (2, Some(20)));
        let place = |channel| {
            let (place, visibility) = places.place(channel, Some(1));
            assert_eq!(channel_of(&place), Some(channel));
            (place.to_string(), visibility)
        };
        assert_eq!(place(2), ("discord:1/2".to_owned(), Visibility::Public));
        assert_eq!(place(3), ("discord:1/3".to_owned(), Visibility::Private));
        assert_eq!(place(4), ("discord:1/2/4".to_owned(), Visibility::Public));
        assert_eq!(place(5).1, Visibility::Private);
        assert_eq!(place(6), ("discord:1/3/6".to_owned(), Visibility::Private));
        assert_eq!(places.place(8, None).0, Place::room("discord:@me/8"));
        assert_eq!(places.my_role(1), Some(7));
        assert_eq!(channel_of(&Place::room("web:lobby")), None);
    }

    #[test]
    fn where_everybody_is_shut_out_a_channel_has_to_say_that_it_is_open() {
        let mut places = Places::default();
        let open = json!([{"id": "1", "allow": "1024"}]);
        places.learn_guild(
            &json!({"id": "1", "roles": [{"id": "1", "permissions": "0"}],
                "channels": [{"id": "2"}, {"id": "3", "permission_overwrites": open}]}),
            99,
        );
        assert_eq!(places.place(2, Some(1)).1, Visibility::Private);
        assert_eq!(places.place(3, Some(1)).1, Visibility::Public);
    }
}
