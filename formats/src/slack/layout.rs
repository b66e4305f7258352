//! The layout of an export in a folder or a zip, and its channels.

use std::collections::HashMap;

use aizuchi_core::types::{RoomId, Visibility};
use serde::Deserialize;

use crate::json::{Field, pieces, value};

/// The lists of channels an export may hold, and who can read those.
pub const CHANNEL_LISTS: [(&str, Visibility); 4] = [
    ("channels.json", Visibility::Public),
    ("groups.json", Visibility::Private),
    ("mpims.json", Visibility::Private),
    ("dms.json", Visibility::Direct),
];

/// The second is the name in an export of a whole organisation.
pub const USER_LISTS: [&str; 2] = ["users.json", "org_users.json"];

/// A day of a channel.
#[derive(Debug, PartialEq, Eq)]
pub struct ChannelDay {
    pub file: String,
    pub folder: String,
}

/// The folder of the export within the archive, empty or with a trailing `/`; `None` if this is not an export.
pub fn root(files: &[String]) -> Option<String> {
    let is_list = |name: &str| CHANNEL_LISTS.iter().any(|(list, _)| *list == name) || USER_LISTS.contains(&name);
    let lists = files.iter().map(|file| split(file)).filter(|(_, name)| is_list(name)).map(|(folder, _)| folder);
    let days = files.iter().filter_map(|file| day(file)).map(|(root, _)| root);
    let highest = |folder: &&str| folder.matches('/').count();
    lists.min_by_key(highest).or_else(|| days.min_by_key(highest)).map(str::to_owned)
}

/// Ordered by channel, then by date.
pub fn days(files: &[String], root: &str) -> Vec<ChannelDay> {
    let of_root = |file: &&String| day(file).is_some_and(|(above, _)| above == root);
    let mut days: Vec<ChannelDay> = files
        .iter()
        .filter(of_root)
        .filter_map(|file| day(file).map(|(_, folder)| ChannelDay { file: file.clone(), folder: folder.to_owned() }))
        .collect();
    days.sort_unstable_by(|a, b| (&a.folder, &a.file).cmp(&(&b.folder, &b.file)));
    days
}

/// "top/general/2024-01-31.json" is "top/", "general".
fn day(file: &str) -> Option<(&str, &str)> {
    let (folder, name) = split(file);
    let date = name.strip_suffix(".json")?;
    let shape: String = date.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let (root, channel) = split(folder.strip_suffix('/')?);
    (shape == "0000-00-00" && !channel.is_empty()).then_some((root, channel))
}

fn split(path: &str) -> (&str, &str) {
    path.split_at(path.rfind('/').map_or(0, |slash| slash + 1))
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ListedChannel<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
}

/// Channels by the name of their folder, which is their name or their id.
#[derive(Default)]
pub struct Channels(HashMap<String, (RoomId, Visibility)>);

impl Channels {
    /// Adds a list; problems with an entry go to `bad`, with its position.
    pub fn add(&mut self, json: &[u8], visibility: Visibility, bad: &mut Vec<(u64, String)>) {
        for (number, piece) in (1..).zip(pieces(json).pieces) {
            if let Err(problem) = self.add_one(piece, visibility) {
                bad.push((number, problem));
            }
        }
    }

    fn add_one(&mut self, json: &[u8], visibility: Visibility) -> Result<(), String> {
        let listed: ListedChannel<'_> = value(json)?.object("channel")?;
        let id = listed.id.needed("id")?;
        let room = RoomId::new(&id);
        if let Some(name) = listed.name.text("name")? {
            self.0.insert(name.into_owned(), (room.clone(), visibility));
        }
        self.0.insert(id.into_owned(), (room, visibility));
        Ok(())
    }

    /// A folder that is in no list is a public channel of that name.
    pub fn of(&self, folder: &str) -> (RoomId, Visibility) {
        self.0.get(folder).cloned().unwrap_or_else(|| (RoomId::new(folder), Visibility::Public))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_export_may_lie_inside_a_folder() {
        let nested = files(&[
            "__MACOSX/top/._channels.json",
            "notes/2024-01-01.json",
            "top/channels.json",
            "top/雑談/2024-01-02.json",
            "top/雑談/2024-01-01.json",
            "top/dev/2024-02-01.json",
            "top/dev/canvas.json",
            "top/dev/deep/2024-02-01.json",
        ]);
        assert_eq!(root(&nested).unwrap(), "top/");
        let days = days(&nested, "top/");
        let days: Vec<_> = days.iter().map(|day| (&*day.folder, &*day.file)).collect();
        assert_eq!(
            days,
            [
                ("dev", "top/dev/2024-02-01.json"),
                ("雑談", "top/雑談/2024-01-01.json"),
                ("雑談", "top/雑談/2024-01-02.json")
            ]
        );
    }

    #[test]
    fn days_alone_are_an_export_and_other_files_are_none() {
        assert_eq!(root(&files(&["general/2024-01-01.json"])).unwrap(), "");
        assert_eq!(root(&files(&["general/2024-1-1.json", "2024-01-01.json", "a/notes.txt"])), None);
    }

    #[test]
    fn a_folder_is_known_by_name_or_id() {
        let mut channels = Channels::default();
        let mut bad = Vec::new();
        channels.add(br#"[{"id": "C1", "name": "general"}, {"name": "x"}, 3]"#, Visibility::Public, &mut bad);
        channels.add(br#"[{"id": "D1", "members": ["U1"]}]"#, Visibility::Direct, &mut bad);
        assert_eq!(channels.of("general"), (RoomId::new("C1"), Visibility::Public));
        assert_eq!(channels.of("D1"), (RoomId::new("D1"), Visibility::Direct));
        assert_eq!(channels.of("雑談"), (RoomId::new("雑談"), Visibility::Public));
        assert_eq!(bad, [(2, "no `id`".into()), (3, "`channel` must be an object, got 3".into())]);
    }
}
