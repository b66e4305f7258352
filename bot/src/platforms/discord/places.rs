//! Where each channel belongs: its guild, the parent channel of a thread, who can read it, and the names of channels and of
//! the roles of a guild.

use std::collections::HashMap;

use aizuchi_core::types::{Place, RoomId, ThreadId, Visibility};
use serde_json::Value;

use super::read::{as_id, bits, id, list, text};

/// The prefix of the ids of rooms and people.
pub const PREFIX: &str = "discord:";
const DIRECT: &str = "@me";

pub const VIEW_CHANNEL: u64 = 1 << 10;

/// Discord's channel types.
const DM: u64 = 1;
const GROUP_DM: u64 = 3;
const THREADS: std::ops::RangeInclusive<u64> = 10..=12;
const PRIVATE_THREAD: u64 = 12;
/// A channel of posts, each of them a thread: nothing is said in the channel itself.
const FORUM: u64 = 15;
const MEDIA: u64 = 16;

const NAME_CHARS_MAX: usize = 100;

/// A channel or a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscordChannel {
    /// 0 for direct messages.
    pub guild: u64,
    /// The parent channel, for a thread.
    pub parent: Option<u64>,
    /// For a thread, only the restriction it adds to its channel's.
    visibility: Visibility,
    /// Empty if it is not known.
    name: Box<str>,
}

#[derive(Debug, Default)]
pub struct Places {
    channels: HashMap<u64, DiscordChannel>,
    guilds: HashMap<u64, Guild>,
}

#[derive(Debug, Default)]
struct Guild {
    /// Whether channels without an overwrite for everyone are hidden from everyone.
    closed: bool,
    roles: HashMap<u64, Box<str>>,
    /// The role that came with the bot, and those it was given: people who mention them mean the bot.
    my_roles: Vec<u64>,
}

impl Places {
    /// Learns everything about a guild. Returns its channels and threads with the id of their last message.
    pub fn learn_guild(&mut self, guild: &Value, me: u64) -> Vec<(u64, Option<u64>)> {
        let Some(guild_id) = id(guild, "id") else { return Vec::new() };
        let roles = list(guild, "roles");
        let everyone = roles.iter().find(|role| id(role, "id") == Some(guild_id));
        let is_mine = |role: &&Value| role.get("tags").and_then(|tags| id(tags, "bot_id")) == Some(me);
        let came_with_me = roles.iter().find(is_mine).and_then(|role| id(role, "id"));
        let is_me = |member: &&Value| member.get("user").and_then(|user| id(user, "id")) == Some(me);
        let given = list(guild, "members").iter().find(is_me).map_or(&[][..], |member| list(member, "roles"));
        let known = Guild {
            closed: everyone.is_some_and(|role| bits(role, "permissions") & VIEW_CHANNEL == 0),
            roles: roles.iter().filter_map(|role| Some((id(role, "id")?, name_of(role)))).collect(),
            my_roles: came_with_me.into_iter().chain(given.iter().filter_map(as_id)).collect(),
        };
        self.guilds.insert(guild_id, known);
        let all = list(guild, "channels").iter().chain(list(guild, "threads"));
        all.filter_map(|channel| self.learn(channel, Some(guild_id))).collect()
    }

    /// Returns the rooms that are gone with it.
    pub fn forget_guild(&mut self, guild: u64) -> Vec<RoomId> {
        self.guilds.remove(&guild);
        let gone: Vec<u64> =
            self.channels.iter().filter(|(_, channel)| channel.guild == guild).map(|(id, _)| *id).collect();
        gone.into_iter().filter_map(|channel| self.forget(channel)).collect()
    }

    /// Learns a channel or a thread; `guild` is used if the object itself has none. Returns its id and that of its last
    /// message.
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
        self.channels.insert(channel_id, DiscordChannel { guild, parent, visibility, name: name_of(channel) });
        // For a forum, Discord sends the id of the last post there.
        let last = if kind == FORUM || kind == MEDIA { None } else { id(channel, "last_message_id") };
        Some((channel_id, last))
    }

    /// Whether not every member of the guild can read it.
    fn is_closed(&self, channel: &Value, guild: u64) -> bool {
        let everyone = list(channel, "permission_overwrites").iter().find(|entry| id(entry, "id") == Some(guild));
        let (denied, allowed) = everyone.map_or((0, 0), |entry| (bits(entry, "deny"), bits(entry, "allow")));
        let closed = self.guilds.get(&guild).is_some_and(|guild| guild.closed);
        denied & VIEW_CHANNEL != 0 || (closed && allowed & VIEW_CHANNEL == 0)
    }

    /// Returns its room, if it was one: a thread is a place in another room.
    pub fn forget(&mut self, channel: u64) -> Option<RoomId> {
        let known = self.channels.remove(&channel)?;
        known.parent.is_none().then(|| room(known.guild, channel))
    }

    pub fn get(&self, channel: u64) -> Option<&DiscordChannel> {
        self.channels.get(&channel)
    }

    /// The name of a channel, but only within its own guild.
    pub fn name(&self, channel: u64, guild: u64) -> Option<&str> {
        let channel = self.get(channel).filter(|channel| channel.guild == guild)?;
        Some(&*channel.name).filter(|name| !name.is_empty())
    }

    pub fn learn_role(&mut self, role: &Value, guild: u64) {
        if let (Some(known), Some(role_id)) = (self.guilds.get_mut(&guild), id(role, "id")) {
            known.roles.insert(role_id, name_of(role));
        }
    }

    pub fn forget_role(&mut self, role: u64, guild: u64) {
        if let Some(known) = self.guilds.get_mut(&guild) {
            known.roles.remove(&role);
            known.my_roles.retain(|mine| *mine != role);
        }
    }

    pub fn role(&self, role: u64, guild: u64) -> Option<&str> {
        let name = self.guilds.get(&guild)?.roles.get(&role)?;
        Some(&**name).filter(|name| !name.is_empty())
    }

    /// The roles of the bot have changed. The one that came with it is among them.
    pub fn give_roles(&mut self, roles: &[Value], guild: u64) {
        if let Some(known) = self.guilds.get_mut(&guild) {
            known.my_roles = roles.iter().filter_map(as_id).collect();
        }
    }

    /// Treats an unknown channel as an ordinary one.
    pub fn suppose(&mut self, channel: u64, guild: Option<u64>) {
        let visibility = if guild.is_some() { Visibility::Public } else { Visibility::Direct };
        let supposed = DiscordChannel { guild: guild.unwrap_or(0), parent: None, visibility, name: "".into() };
        self.channels.entry(channel).or_insert(supposed);
    }

    pub fn my_roles(&self, guild: u64) -> &[u64] {
        self.guilds.get(&guild).map_or(&[], |guild| &guild.my_roles)
    }

    /// The place of a message in this channel, and who can read it.
    pub fn place(&self, channel_id: u64, guild: Option<u64>) -> (Place, Visibility) {
        let supposed = guild.map_or(Visibility::Direct, |_| Visibility::Public);
        let fallback =
            DiscordChannel { guild: guild.unwrap_or(0), parent: None, visibility: supposed, name: "".into() };
        let channel = self.get(channel_id).unwrap_or(&fallback);
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

/// The name of a channel, a role or a person on one line, since it is inserted into other people's text.
pub fn on_one_line(name: &str) -> String {
    let plain = |c: char| if c.is_control() || c == '\u{2028}' || c == '\u{2029}' { ' ' } else { c };
    name.trim().chars().map(plain).take(NAME_CHARS_MAX).collect::<String>().trim().to_owned()
}

fn name_of(value: &Value) -> Box<str> {
    on_one_line(text(value, "name").unwrap_or_default()).into()
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

/// The guild of a place, 0 for direct messages; `None` for another platform's place.
pub fn guild_of(place: &Place) -> Option<u64> {
    let (guild, _) = place.room.as_str().strip_prefix(PREFIX)?.split_once('/')?;
    if guild == DIRECT { Some(0) } else { guild.parse().ok() }
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
                "id": "1", "roles": [{"id": "1", "permissions": "1024"}, {"id": "7", "name": "a\nb", "tags": {"bot_id": "99"}},
                    {"id": "8"}],
                "members": [{"user": {"id": "98"}, "roles": ["9"]}, {"user": {"id": "99"}, "roles": ["8"]}],
                "channels": [
                    {"id": "2", "type": 0, "last_message_id": "20", "name": "general"},
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
        assert_eq!(places.my_roles(1), [7, 8]);
        assert_eq!((places.role(7, 1), places.role(8, 1), places.role(7, 2)), (Some("a b"), None, None));
        assert_eq!((places.name(2, 1), places.name(3, 1), places.name(2, 9)), (Some("general"), None, None));
        assert_eq!(channel_of(&Place::room("web:lobby")), None);
        let guild = |room: &str| guild_of(&Place::room(room));
        assert_eq!((guild("discord:1/2"), guild("discord:@me/8"), guild("web:lobby")), (Some(1), Some(0), None));
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
