//! Nothing that was read is written over, nothing odd reaches a terminal, and order decides nothing.

use std::io::Write as _;

use serde_json::json;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::program::{Folder, Run};
use super::talk::{said, with};

const TURNING: [char; 9] =
    ['\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}', '\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}'];

/// Table on standard output (bot/src/replay/table.rs, `harmless`).
#[test]
fn what_turns_text_around_reaches_no_terminal() {
    let words: String = TURNING.iter().collect();
    let place = json!({"channel": format!("c{words}"), "thread": words, "mentions": ["@me"]});
    let log = [with(place, 0.0, "m1", &format!("ann{words}"), &words), said(1.0, "m2", "bob", "hm")].concat();
    let run = Folder::with("talk.jsonl", log).run("replay talk.jsonl --all").succeeded();
    assert!(!run.out.contains(TURNING), "{:?}", run.out);
}

/// Names of files inside an archive on standard error (bot/src/transcript/archive.rs, `is_readable`).
#[test]
fn what_turns_text_around_reaches_no_terminal_by_the_name_of_a_file() {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in [("gen\u{202e}eral/2023-11-14.json", "[7]"), ("dev/2023-11-14.json", "[]")] {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    let run = Folder::with("export.zip", zip.finish().unwrap().into_inner()).run("replay export.zip");
    assert!(!run.err.contains(TURNING), "{:?}", run.err);
}

/// `eprintln!` panics where nobody reads standard error: 101 instead of the documented codes, and no results.
#[test]
fn nobody_reading_standard_error_is_no_crash() {
    let folder = Folder::with("talk.jsonl", said(0.0, "m1", "ann", "hm") + "{\n");
    for (line, code) in [
        ("replay talk.jsonl --json --decisions out.jsonl", 0),
        ("replay none.jsonl", 1),
        ("replay talk.jsonl --set x=1", 2),
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let run = Run::of(folder.command(line.split_whitespace()).stderr(writer).output().unwrap());
        assert_eq!(run.code, Some(code), "{line}");
    }
    assert_eq!(folder.decisions("out.jsonl").len(), 1);
}

/// `check_outputs` (bot/src/cli/replay.rs) compares paths: a second name of the same file is another path.
#[test]
#[cfg(unix)]
fn the_log_is_never_written_over_by_way_of_a_second_name() {
    let log = said(0.0, "m1", "ann", "hm");
    let folder = Folder::with("talk.jsonl", &log);
    std::fs::hard_link(folder.path("talk.jsonl"), folder.path("second.jsonl")).unwrap();
    let run = folder.run("replay talk.jsonl --decisions second.jsonl");
    assert_eq!(folder.read("talk.jsonl"), log, "{run:?}");
}

/// The same where the log is a folder: a file inside it is the log too.
#[test]
fn a_folder_that_is_the_log_is_never_written_into() {
    let day = r#"[{"type": "message", "user": "U1", "text": "hm", "ts": "1700000000.000100"}]"#;
    let folder = Folder::with("export/general/2023-11-14.json", day);
    let run = folder.run("replay export --decisions export/general/2023-11-14.json");
    assert_eq!(folder.read("export/general/2023-11-14.json"), day, "{run:?}");
}

/// Two results in one file: the report replaces the decisions, and the exit code is 0.
#[test]
fn one_file_cannot_hold_both_results() {
    let folder = Folder::with("talk.jsonl", said(0.0, "m1", "ann", "hm"));
    let run = folder.run("replay talk.jsonl --decisions out --report ./out");
    assert_ne!(run.code, Some(0), "{run:?}");
}

/// The script and the settings file are inputs as well.
#[test]
fn no_input_is_written_over() {
    let folder = Folder::with("talk.jsonl", said(0.0, "m1", "ann", "hm"));
    let script = "{\"question\": \"join\", \"answer\": {\"respond\": false}}\n";
    for (file, text, option) in
        [("script", script, "--judge script:script"), ("own.toml", "[score]\nlow = 3\n", "--config own.toml")]
    {
        folder.write(file, text);
        let run = folder.run(&format!("replay talk.jsonl {option} --decisions {file}"));
        assert_eq!(folder.read(file), text, "{run:?}");
    }
}

/// "1 of 2 lines": lines that were read and are no event (reactions; in exports and IRC logs, notices) are not
/// counted (bot/src/cli/replay.rs, `read`).
#[test]
fn the_number_of_lines_is_the_number_of_lines() {
    let reacted = with(json!({"type": "reacted"}), 1.0, "m1", "bob", "👍");
    let folder = Folder::with("talk.jsonl", [said(0.0, "m1", "ann", "hm"), reacted, "{\n".into()].concat());
    let run = folder.run("replay talk.jsonl");
    assert!(run.err.contains("1 of 3 lines"), "{}", run.err);
}

/// `problems.dedup()` (core/src/settings/layers.rs, `resolve`) sees neighbours only: with a `[channel]` and two
/// mistakes above it, each general mistake is reported once more for every channel.
#[test]
fn a_mistake_is_told_once() {
    let folder = Folder::with("talk.jsonl", said(0.0, "m1", "ann", "hm"));
    let channels = "[channel.\"a\".score]\nlow = 1\n[channel.\"b\".score]\nlow = 1\n";
    folder.write("own.toml", format!("[score]\nlow = 300\nhihg = 4\n{channels}"));
    let run = folder.run("replay talk.jsonl --config own.toml").refused(2, &["own.toml:2: ", "own.toml:3: "]);
    assert_eq!(run.err.lines().count(), 2, "{}", run.err);
}

/// A name of the documents and ours for the same setting: whichever is later in the environment wins, and that
/// order is nobody's choice (bot/src/cli/replay.rs, `policies`: `vars_os` as it comes).
#[test]
#[cfg(unix)]
fn the_order_of_the_environment_decides_nothing() {
    let folder = Folder::with("talk.jsonl", said(0.0, "m1", "ann", "Rust?"));
    let run = "replay talk.jsonl --preset sphene --json --decisions out.jsonl".split(' ');
    let score = |variables: [&str; 2]| {
        let mut command = std::process::Command::new("env");
        command.current_dir(folder.path("")).arg("-i").args(variables);
        let status = command.arg(env!("CARGO_BIN_EXE_aizuchi")).args(run.clone()).output().unwrap().status;
        assert!(status.success());
        folder.decisions("out.jsonl")[0]["score"].clone()
    };
    let (theirs, ours) = ("JUDGE_KEYWORDS=Rust", "AIZUCHI__SCORE__KEYWORDS=Go");
    assert_eq!(score([theirs, ours]), score([ours, theirs]));
}

/// Text of a script or a settings file reaches standard error as it is: serde's `unknown field`, the settings' keys.
#[test]
fn codes_in_a_script_or_a_settings_file_reach_no_terminal() {
    let folder = Folder::with("talk.jsonl", said(0.0, "m1", "ann", "hm"));
    folder.write("script", "{\"question\": \"join\", \"answer\": \"\", \"\\u001b[31mred\": 1}");
    folder.write("own.toml", "[score]\n\"\\u001b[31mred\" = 1\n");
    for option in ["--judge script:script", "--config own.toml"] {
        let run = folder.run(&format!("replay talk.jsonl {option}"));
        assert_ne!(run.code, Some(0));
        assert!(!run.err.contains('\u{1b}'), "{:?}", run.err);
    }
}

/// A named settings file that is missing, a folder, or no text is exit code 1; the contract has 2 for settings.
#[test]
fn a_settings_file_that_cannot_be_read_is_a_matter_of_settings() {
    let folder = Folder::with("talk.jsonl", said(0.0, "m1", "ann", "hm"));
    folder.write("noise.toml", b"\xff\xfe");
    folder.write("below/keep", "");
    for file in ["none.toml", "below", "noise.toml"] {
        folder.run(&format!("replay talk.jsonl --config {file}")).refused(2, &[file]);
    }
}
