//! From a path to bytes: standard input, a file, a folder.

use std::fs::{self, File};
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use super::archive::{Archive, LIMITS, up_to};
use super::detect::{read_archive, read_text};
use super::error::ReadError;
use super::log::{Log, Options};

/// Reads a log: a file, plain or packed with gzip or zip, a folder, or `-` for standard input. `progress` gets the number
/// of bytes read.
pub fn read(path: &str, options: &Options, progress: &mut dyn FnMut(u64)) -> Result<Log, ReadError> {
    if path == STANDARD_INPUT {
        return read_text(name_of(path), &open(path)?, options, progress);
    }
    let is_folder = fs::metadata(path).map_err(ReadError::unreadable(format!("cannot open {path}")))?.is_dir();
    if is_folder {
        return read_archive(&mut Archive::folder(path)?, options, progress);
    }
    read_text(path, &open(path)?, options, progress)
}

/// How standard input is named on a command line.
const STANDARD_INPUT: &str = "-";

/// The name of a log in error messages.
pub(crate) fn name_of(path: &str) -> &str {
    if path == STANDARD_INPUT { "stdin" } else { path }
}

/// The bytes of a file, or of standard input.
pub(crate) fn open(path: &str) -> Result<Arc<Vec<u8>>, ReadError> {
    if path == STANDARD_INPUT {
        return standard_input();
    }
    let file = File::open(path).map_err(ReadError::unreadable(format!("cannot open {path}")))?;
    whole(path, file).map(Arc::new)
}

/// It can be read only once, and some commands read a log several times, so its content is kept.
fn standard_input() -> Result<Arc<Vec<u8>>, ReadError> {
    static BYTES: Mutex<Option<Arc<Vec<u8>>>> = Mutex::new(None);
    let mut bytes = BYTES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = &*bytes {
        return Ok(known.clone());
    }
    let read = Arc::new(whole("standard input", io::stdin().lock())?);
    *bytes = Some(read.clone());
    Ok(read)
}

fn whole(name: &str, reader: impl Read) -> Result<Vec<u8>, ReadError> {
    let Some(bytes) =
        up_to(reader, LIMITS.total_bytes).map_err(ReadError::unreadable(format!("cannot read {name}")))?
    else {
        return Err(ReadError::too_large(name, LIMITS.total_bytes));
    };
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::archive::testing::Scratch;
    use super::super::log::Format;
    use super::*;

    #[test]
    fn a_path_is_a_file_or_a_folder() {
        let line = r#"{"ts": 1, "channel": "c", "author": "花子", "text": "はい"}"#;
        let day = r#"[{"type": "message", "user": "U1", "text": "hi", "ts": "1700000000.000100"}]"#;
        let scratch = Scratch::new("open", &[("log.jsonl", line), ("export/general/2023-11-14.json", day)]);
        let mut bytes = 0;
        let mut read_at = |path: &str| read(path, &Options::default(), &mut |so_far| bytes = so_far);
        let log = read_at(&format!("{}/log.jsonl", scratch.path())).unwrap();
        assert_eq!((log.format, log.events.len()), (Format::Transcript, 1));
        let log = read_at(&format!("{}/export", scratch.path())).unwrap();
        assert_eq!((log.format, log.events.len()), (Format::Slack, 1));
        let error = read_at(&format!("{}/none", scratch.path())).unwrap_err();
        assert!(error.to_string().starts_with("cannot open "), "{error}");
        assert_eq!(bytes, day.len() as u64);
    }
}
