//! Detects the format of a log by its content, not by its name.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::MultiGzDecoder;

use super::archive::{Archive, LIMITS};
use super::error::ReadError;
use super::json::quoted;
use super::log::{Format, Log, Options};
use super::settle::settle;
use super::text_lines::{for_each_line, without_mark};
use super::{discord, irc, lines, slack, zulip};

/// How many lines are checked before a text counts as unknown: an IRC log may begin with a page of joins.
const LINES_LOOKED_AT: u64 = 1000;

/// Reads a log from bytes, plain or packed. `name` is used in error messages, and `progress` gets the number of bytes read.
pub fn read_text(name: &str, bytes: &[u8], options: &Options, progress: &mut dyn FnMut(u64)) -> Result<Log, ReadError> {
    let Unpacked { text, broken } = unpack(name, bytes)?;
    if text.starts_with(b"PK\x03\x04") || text.starts_with(b"PK\x05\x06") {
        let mut archive = Archive::zip(name, &text, LIMITS)?;
        let mut progress = as_packed(bytes.len(), archive.told_bytes().unwrap_or(u64::MAX), progress);
        return read_archive(&mut archive, options, &mut progress);
    }
    let progress = &mut as_packed(bytes.len(), text.len() as u64, progress);
    let mut log = match recognise(&text) {
        Some(Format::Transcript) => lines::read(name, &text, options, progress)?,
        Some(Format::Discord) => discord::read(name, &text, options, progress)?,
        Some(Format::Irc) => irc::read(name, &text, options, progress)?,
        Some(Format::Slack | Format::Zulip) | None => {
            return Err(ReadError::Unrecognized(format!(
                "{name} is not in a known log format: a transcript in JSON Lines, a DiscordChatExporter JSON \
             export, a Slack export or a Zulip export (the whole folder or zip), a plain IRC log. It begins with {}",
                quoted(&first_line(&text))
            )));
        }
    };
    if let Some(problem) = broken {
        let lines = text.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        log.note(options, name, lines, problem)?;
    }
    settle(&mut log.events, options);
    Ok(log)
}

/// Converts progress in unpacked bytes to packed bytes, since a person knows the size of the file.
fn as_packed(packed: usize, unpacked: u64, progress: &mut dyn FnMut(u64)) -> impl FnMut(u64) {
    let (packed, unpacked) = (packed as u128, u128::from(unpacked.max(1)));
    move |done| progress((u128::from(done) * packed / unpacked).min(packed) as u64)
}

pub fn read_archive(
    archive: &mut Archive<'_>,
    options: &Options,
    progress: &mut dyn FnMut(u64),
) -> Result<Log, ReadError> {
    let mut log = match zulip::root(&archive.files) {
        Some(root) => zulip::read(archive, &root, options, progress)?,
        None => slack::read(archive, options, progress)?,
    };
    settle(&mut log.events, options);
    Ok(log)
}

pub(crate) struct Unpacked<'b> {
    pub text: Cow<'b, [u8]>,
    /// Why it is truncated.
    pub broken: Option<String>,
}

/// A truncated packed file gives what it contains.
pub(crate) fn unpack<'b>(name: &str, bytes: &'b [u8]) -> Result<Unpacked<'b>, ReadError> {
    if !bytes.starts_with(b"\x1f\x8b") {
        return Ok(Unpacked { text: Cow::Borrowed(bytes), broken: None });
    }
    let mut text = Vec::new();
    let result = MultiGzDecoder::new(bytes).take(LIMITS.total_bytes + 1).read_to_end(&mut text);
    if text.len() as u64 > LIMITS.total_bytes {
        return Err(ReadError::too_large_unpacked(name, LIMITS.total_bytes));
    }
    match result {
        Err(error) if text.is_empty() => Err(ReadError::unreadable(format!("{name} is a damaged gzip file"))(error)),
        result => Ok(Unpacked {
            text: Cow::Owned(text),
            broken: result.err().map(|error| format!("the gzip file ends early here: {error}")),
        }),
    }
}

/// Ends the iteration over lines.
struct SeenEnough;

/// An empty text is an empty transcript.
fn recognise(text: &[u8]) -> Option<Format> {
    if without_mark(text).trim_ascii().is_empty() {
        return Some(Format::Transcript);
    }
    if discord::recognise(text) {
        return Some(Format::Discord);
    }
    let (mut objects, mut talk) = (0, 0);
    let _ = for_each_line(text, &mut |_| (), |number, line| {
        if line.trim_ascii_start().starts_with(b"{") {
            objects += 1;
        } else if irc::recognise(&String::from_utf8_lossy(line)) {
            talk += 1;
        }
        if number < LINES_LOOKED_AT { Ok(()) } else { Err(SeenEnough) }
    });
    match (objects, talk) {
        (0, 0) => None,
        (objects, talk) if objects >= talk => Some(Format::Transcript),
        _ => Some(Format::Irc),
    }
}

fn first_line(text: &[u8]) -> String {
    let mut first = None;
    let _ = for_each_line(text, &mut |_| (), |_, line| {
        first = Some(String::from_utf8_lossy(&line[..line.len().min(1000)]).into_owned());
        Err(SeenEnough)
    });
    first.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::archive::testing::zipped;
    use super::*;

    const TRANSCRIPT: &str = "{\"ts\": 1, \"channel\": \"c\", \"author\": \"花子\", \"text\": \"はい\"}\n";
    const DISCORD: &str = r#"{"guild": {"id": "1"}, "channel": {"id": "2", "type": "GuildTextChat"}, "messages": [
        {"id": "3", "type": "Default", "timestamp": "2024-01-01T00:00:00Z", "content": "x", "author": {"id": "4", "name": "y"}}]}"#;
    const IRC: &str = "=== hanako [~h@example] has joined #ubuntu\n[12:34] <hanako> はい\n";
    const DAY: &str = r#"[{"type": "message", "user": "U1", "text": "hi", "ts": "1700000000.000100"}]"#;

    fn read(bytes: &[u8]) -> Result<Log, ReadError> {
        read_text("log", bytes, &Options::default(), &mut |_| ())
    }

    fn gzipped(bytes: &[u8]) -> Vec<u8> {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    }

    #[test]
    fn each_format_is_told_by_its_content_packed_or_not() {
        let zip = zipped(&[("top/general/2023-11-14.json", DAY)]);
        let logs: [(&[u8], Format); 4] = [
            (TRANSCRIPT.as_bytes(), Format::Transcript),
            (DISCORD.as_bytes(), Format::Discord),
            (IRC.as_bytes(), Format::Irc),
            (&zip, Format::Slack),
        ];
        for (bytes, format) in logs {
            for bytes in [bytes, &gzipped(bytes)] {
                let log = read(bytes).unwrap();
                assert_eq!((log.format, log.events.len(), log.bad.len()), (format, 1, 0));
            }
        }
    }

    #[test]
    fn progress_is_told_in_bytes_of_the_file() {
        let zip = zipped(&[("general/2023-11-14.json", DAY), ("general/2023-11-15.json", DAY)]);
        for bytes in [TRANSCRIPT.as_bytes(), &gzipped(TRANSCRIPT.repeat(100_000).as_bytes()), &zip] {
            let mut told = Vec::new();
            read_text("log", bytes, &Options::default(), &mut |so_far| told.push(so_far)).unwrap();
            assert!(told.is_sorted());
            assert_eq!(told.last(), Some(&(bytes.len() as u64)));
        }
    }

    #[test]
    fn a_broken_beginning_does_not_hide_the_format() {
        let log = read(format!("\u{feff}\"ts\": 1}}\n{TRANSCRIPT}").as_bytes()).unwrap();
        assert_eq!((log.format, log.events.len(), log.bad.len()), (Format::Transcript, 1, 1));
        let log = read(format!("{{\n{TRANSCRIPT}").as_bytes()).unwrap();
        assert_eq!((log.format, log.events.len(), log.bad.len()), (Format::Transcript, 1, 1));
        assert_eq!(read(b" \n\n").unwrap().format, Format::Transcript);
    }

    #[test]
    fn what_is_no_log_is_refused_with_its_first_line() {
        let error =
            read(format!("\n# Shopping {}\n12:34 nothing\n", "卵".repeat(100)).as_bytes()).unwrap_err().to_string();
        assert!(
            error.contains("a transcript in JSON Lines, a DiscordChatExporter JSON export, a Slack export"),
            "{error}"
        );
        assert!(
            error.contains("\"# Shopping 卵卵") && error.ends_with("\"…") && error.chars().count() < 350,
            "{error}"
        );
        assert!(read(DAY.as_bytes()).is_err());
    }

    #[test]
    fn a_gzip_that_was_cut_off_gives_what_it_has() {
        let whole = gzipped(TRANSCRIPT.repeat(5).as_bytes());
        let log = read(&whole[..whole.len() - 4]).unwrap();
        assert_eq!(log.events.len(), 5);
        assert_eq!(log.bad[0].line, 6);
        assert!(log.bad[0].problem.starts_with("the gzip file ends early here"), "{}", log.bad[0]);
        assert!(read(&whole[..4]).is_err());
        let two = [gzipped(TRANSCRIPT.as_bytes()), gzipped(TRANSCRIPT.as_bytes())].concat();
        assert_eq!(read(&two).unwrap().events.len(), 2);
    }

    #[test]
    fn a_strict_run_ends_at_the_first_bad_line() {
        let strict = Options { strict: true, ..Options::default() };
        let text = format!("{TRANSCRIPT}{{\"ts\": 1}}\n{TRANSCRIPT}");
        let error = read_text("log", text.as_bytes(), &strict, &mut |_| ()).unwrap_err();
        assert_eq!(error.to_string(), "log:2: no `channel`");
    }

    #[test]
    fn no_bytes_make_it_fall_over() {
        let zip = zipped(&[("channels.json", "[]"), ("general/2023-11-14.json", DAY)]);
        let seeds = [TRANSCRIPT.as_bytes(), DISCORD.as_bytes(), IRC.as_bytes(), &zip, &gzipped(IRC.as_bytes())];
        let mut random = 1_u64;
        let mut next = |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % below
        };
        let odd = b"\0\xff\"\\{}[]<>*:-@,\n\t\x03019eE+.";
        for round in 0..4000 {
            let mut bytes = seeds[round % seeds.len()].to_vec();
            for _ in 0..=next(6) {
                let index = next(bytes.len());
                match next(3) {
                    0 => bytes[index] = odd[next(odd.len())],
                    1 => bytes.insert(index, odd[next(odd.len())]),
                    _ => bytes.truncate(index + 1),
                }
            }
            let _ = read(&bytes);
        }
        let long = "あ".repeat(10 << 20);
        assert_eq!(read(format!("[12:34] <x> {long}\n").as_bytes()).unwrap().events.len(), 1);
        assert_eq!(read(format!("{TRANSCRIPT}{{\"ts\": {}\n", "[".repeat(1 << 20)).as_bytes()).unwrap().bad.len(), 1);
    }
}
