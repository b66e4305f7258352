//! Whatever bytes a log is made of, it is read or refused, and what was read can be replayed.
//!
//! An input is a log as it is. One that begins with a line `zip` is packed first, since no mutation keeps the checksums of
//! a zip: files with their names on the first line, between lines of `%%`.
#![no_main]

use std::collections::HashMap;
use std::io::{Cursor, Write};
use std::sync::LazyLock;

use aizuchi_core::settings::PRESETS;
use aizuchi_core::types::{RoomId, Time};
use aizuchi_core::{Input, Policies};
use aizuchi_formats::{Event, Log, Options, ReadError, read_text};
use aizuchi_fuzz::{assert_one_line, live};
use libfuzzer_sys::fuzz_target;
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

/// Enough for every path of the engine, few enough to be fast.
const EVENTS_MAX: usize = 200;

static POLICIES: LazyLock<Vec<Policies>> =
    LazyLock::new(|| PRESETS.iter().map(|(name, _)| Policies::preset(name).expect("the presets are sound")).collect());

fuzz_target!(|bytes: &[u8]| {
    match std::str::from_utf8(bytes).ok().and_then(|text| text.strip_prefix("zip\n")) {
        Some(files) => check(&zipped(files)),
        None => check(bytes),
    }
});

fn zipped(files: &str) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, text) in files.split("\n%%\n").filter_map(|file| file.split_once('\n')) {
        // A zip has no two files of one name.
        if zip.start_file(name, stored).is_ok() {
            zip.write_all(text.as_bytes()).expect("memory takes what is written");
        }
    }
    zip.finish().expect("memory takes what is written").into_inner()
}

/// What else varies hangs on the length, so that any log is a seed as it is.
fn check(bytes: &[u8]) {
    let options = Options { me: vec!["aizuchi".into()], ..Options::default() };
    let lenient = read(bytes, &options);
    let strict = read(bytes, &Options { strict: true, ..options });
    match (&lenient, &strict) {
        (Ok(lenient), Ok(strict)) => assert!(lenient.bad.is_empty() && lenient.events.len() == strict.events.len()),
        (Ok(lenient), Err(_)) => assert!(!lenient.bad.is_empty(), "only a strict reading failed, and of no bad line"),
        (Err(_), Ok(_)) => panic!("only a lenient reading failed"),
        (Err(_), Err(_)) => (),
    }
    for log in [lenient, strict] {
        match log {
            Ok(log) => {
                log.bad.iter().for_each(|bad| assert_one_line(&bad.to_string()));
                let policies = &POLICIES[bytes.len() % POLICIES.len()];
                live(policies.clone(), bytes.len() % 5 > 1, in_order_of_arrival(log.events));
            }
            Err(error) => assert_one_line(&format!("{:#}", anyhow::Error::from(error))),
        }
    }
}

fn read(bytes: &[u8], options: &Options) -> Result<Log, ReadError> {
    let mut done = 0;
    let mut progress = |bytes| {
        assert!(bytes >= done, "progress goes forward");
        done = bytes;
    };
    read_text("log", bytes, options, &mut progress)
}

/// As a replay has it: what is dated earlier than its predecessor in its room arrives with it.
fn in_order_of_arrival(mut events: Vec<Event>) -> Vec<(Time, Input)> {
    events.truncate(EVENTS_MAX);
    let mut clocks: HashMap<RoomId, Time> = HashMap::new();
    let mut arrivals: Vec<(Time, Input)> = Vec::new();
    for Event { at, input, .. } in events {
        let clock = clocks.entry(input.room().expect("a log holds what people did").clone()).or_default();
        *clock = at.max(*clock);
        arrivals.push((*clock, input));
    }
    arrivals.sort_by_key(|(at, _)| *at);
    arrivals
}
