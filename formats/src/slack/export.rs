//! All channels of an export, each ordered by time.

use aizuchi_core::Input;

use super::layout::{CHANNEL_LISTS, ChannelDay, Channels, USER_LISTS, days, root};
use super::people::People;
use super::post::{PostContext, post};
use crate::archive::Archive;
use crate::error::ReadError;
use crate::json::pieces;
use crate::log::{Event, Format, Log, Options};
use crate::text_lines::without_mark;

pub fn read(archive: &mut Archive<'_>, options: &Options, progress: &mut dyn FnMut(u64)) -> Result<Log, ReadError> {
    let Some(root) = root(&archive.files) else {
        return Err(ReadError::Unrecognized(format!(
            "{} is not a Slack export: neither channels.json nor files such as general/2024-01-31.json are in it",
            archive.name
        )));
    };
    let mut log = Log::empty(Format::Slack);
    let channels = channels(archive, &root, options, &mut log)?;
    let people = people(archive, &root, options, &mut log)?;
    let days = days(&archive.files, &root);
    for channel in days.chunk_by(|a, b| a.folder == b.folder) {
        let (room, visibility) = channels.of(&channel[0].folder);
        let setting = PostContext { room, visibility, people: &people, options };
        read_channel(archive, channel, &setting, &mut log, progress)?;
    }
    Ok(log)
}

fn channels(archive: &mut Archive<'_>, root: &str, options: &Options, log: &mut Log) -> Result<Channels, ReadError> {
    let mut channels = Channels::default();
    for (list, visibility) in CHANNEL_LISTS {
        let list = List::read(archive, format!("{root}{list}"))?;
        let mut bad = Vec::new();
        channels.add(list.json(), visibility, &mut bad);
        list.note(bad, options, log)?;
    }
    Ok(channels)
}

fn people(archive: &mut Archive<'_>, root: &str, options: &Options, log: &mut Log) -> Result<People, ReadError> {
    let mut people = People::default();
    for list in USER_LISTS {
        let list = List::read(archive, format!("{root}{list}"))?;
        let mut bad = Vec::new();
        people.add(list.json(), options, &mut bad);
        list.note(bad, options, log)?;
    }
    Ok(people)
}

/// A list at the root of the export, empty if it is missing.
struct List {
    file: String,
    bytes: Vec<u8>,
}

impl List {
    fn read(archive: &mut Archive<'_>, file: String) -> Result<List, ReadError> {
        let bytes = if archive.files.contains(&file) { archive.read(&file)? } else { Vec::new() };
        Ok(List { file, bytes })
    }

    fn json(&self) -> &[u8] {
        without_mark(&self.bytes)
    }

    fn note(&self, bad: Vec<(u64, String)>, options: &Options, log: &mut Log) -> Result<(), ReadError> {
        bad.into_iter().try_for_each(|(line, problem)| log.note(options, &self.file, line, problem))
    }
}

fn read_channel(
    archive: &mut Archive<'_>,
    days: &[ChannelDay],
    setting: &PostContext<'_>,
    log: &mut Log,
    progress: &mut dyn FnMut(u64),
) -> Result<(), ReadError> {
    let first = log.events.len();
    for day in days {
        let json = archive.read(&day.file)?;
        read_day(&day.file, without_mark(&json), setting, log)?;
        progress(archive.unpacked);
    }
    // Within a millisecond the id decides, which is the time with more digits.
    log.events[first..].sort_by(|a, b| (a.at, id_of(a)).cmp(&(b.at, id_of(b))));
    Ok(())
}

fn id_of(event: &Event) -> Option<&str> {
    if let Input::Said(message) = &event.input { Some(message.id.as_str()) } else { None }
}

fn read_day(file: &str, json: &[u8], setting: &PostContext<'_>, log: &mut Log) -> Result<(), ReadError> {
    let options = setting.options;
    if !json.trim_ascii_start().starts_with(b"[") {
        return log.note(options, file, 1, "no list of messages".to_owned());
    }
    let list = pieces(json);
    let mut number = 0;
    for piece in list.pieces {
        number += 1;
        match post(piece, setting) {
            Ok(Some(post)) => {
                log.reactions = log.reactions.saturating_add(post.reactions);
                log.events.push(Event { line: number, at: post.message.at, input: Input::Said(post.message) });
            }
            Ok(None) => (),
            Err(problem) => log.note(options, file, number, problem)?,
        }
    }
    if !list.closed {
        log.note(options, file, number, "the file ends early here".to_owned())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use aizuchi_core::types::{Message, Visibility};

    use super::*;
    use crate::archive::LIMITS;
    use crate::archive::testing::{Scratch, zipped};

    const EXPORT: [(&str, &str); 8] = [
        ("top/channels.json", r#"[{"id": "C2", "name": "general"}, {"id": "C1", "name": "雑談"}]"#),
        ("top/dms.json", r#"[{"id": "D1", "members": ["U1", "U9"]}]"#),
        ("top/users.json", r#"[{"id": "U1", "name": "花子"}]"#),
        (
            "top/雑談/2023-11-15.json",
            r#"[{"user": "U1", "text": "四", "ts": "1700006400.000000"}, {"user": "U1", "text": "三", "ts": "1700000009.000200"}]"#,
        ),
        (
            "top/雑談/2023-11-14.json",
            r#"[{"user": "U1", "text": "一", "ts": "1700000000.000100", "reactions": [{"count": 2}]},
                {"user": "U1", "text": "2b", "ts": "1700000009.000199"}, {"user": "U1", "text": "2a", "ts": "1700000009.000100"}]"#,
        ),
        (
            "top/general/2023-11-14.json",
            r#"[{"user": "U1", "text": "later", "ts": "1800000000.0"}, {"text": "x", "ts": "soon"}"#,
        ),
        ("top/D1/2023-11-14.json", r#"[{"user": "U1", "text": "psst", "ts": "1600000000.0"}]"#),
        ("top/D1/2023-11-16.json", r#"{"ok": false}"#),
    ];

    fn said(log: &Log) -> Vec<&Message> {
        log.events
            .iter()
            .filter_map(|event| if let Input::Said(message) = &event.input { Some(message) } else { None })
            .collect()
    }

    fn check(mut archive: Archive<'_>) {
        let mut bytes = 0;
        let log = read(&mut archive, &Options::default(), &mut |so_far| bytes = so_far).unwrap();
        let talk: Vec<_> =
            said(&log).iter().map(|message| (message.place.room.to_string(), message.text.to_string())).collect();
        let expected =
            [("D1", "psst"), ("C2", "later"), ("C1", "一"), ("C1", "2a"), ("C1", "2b"), ("C1", "三"), ("C1", "四")];
        assert_eq!(talk, expected.map(|(room, text)| (room.to_owned(), text.to_owned())));
        assert_eq!((said(&log)[0].visibility, said(&log)[1].visibility), (Visibility::Direct, Visibility::Public));
        assert_eq!(&*said(&log)[2].author.name, "花子");
        assert_eq!(log.reactions, 2);
        let bad: Vec<String> = log.bad.iter().map(ToString::to_string).collect();
        assert_eq!(
            bad,
            [
                "top/D1/2023-11-16.json:1: no list of messages",
                "top/general/2023-11-14.json:2: `ts` must be seconds or RFC 3339, got \"soon\"",
                "top/general/2023-11-14.json:2: the file ends early here",
            ]
        );
        assert_eq!(bytes, EXPORT.iter().map(|(_, text)| text.len() as u64).sum::<u64>());
    }

    #[test]
    fn a_folder_and_a_zip_are_read_channel_by_channel_in_the_order_of_time() {
        let scratch = Scratch::new("slack", &EXPORT);
        check(Archive::folder(scratch.path()).unwrap());
        check(Archive::zip("export.zip", &zipped(&EXPORT), LIMITS).unwrap());
    }

    #[test]
    fn another_zip_is_refused_with_what_is_missing() {
        let bytes = zipped(&[("photo.jpg", "…")]);
        let mut archive = Archive::zip("photos.zip", &bytes, LIMITS).unwrap();
        let error = read(&mut archive, &Options::default(), &mut |_| ()).unwrap_err().to_string();
        assert!(error.starts_with("photos.zip is not a Slack export: neither channels.json nor"), "{error}");
    }
}
