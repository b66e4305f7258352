//! Where results are written, and where they are not.

use std::path::Path;

use super::program::{Folder, Run};
use super::talk::said;

fn talk() -> String {
    [said(0.0, "m1", "ann", "aizuchi, are you there?"), said(60.0, "m2", "bob", "hm")].concat()
}

#[test]
fn the_log_is_never_written_over() {
    let folder = Folder::with("talk.jsonl", talk());
    folder.write("below/keep", "");
    let absolute = folder.path("talk.jsonl").to_str().expect("the folder has a plain name").to_owned();
    for option in ["--decisions", "--report"] {
        for path in ["talk.jsonl", "./talk.jsonl", "below/../talk.jsonl", &absolute] {
            let run = folder.run(&format!("replay talk.jsonl {option} {path}"));
            assert!(matches!(run.code, Some(1 | 2)) && run.out.is_empty(), "{run:?}");
            assert!(run.err.contains(&format!("{option} {path} would overwrite its input")), "{run:?}");
            assert_eq!(folder.read("talk.jsonl"), talk());
        }
    }
}

#[test]
#[cfg(unix)]
fn the_log_is_never_written_over_by_way_of_a_link() {
    let folder = Folder::with("talk.jsonl", talk());
    std::os::unix::fs::symlink("talk.jsonl", folder.path("link.jsonl")).unwrap();
    for (log, output) in [("talk.jsonl", "link.jsonl"), ("link.jsonl", "talk.jsonl")] {
        let run = folder.run(&format!("replay {log} --decisions {output}"));
        assert!(matches!(run.code, Some(1 | 2)) && run.err.contains("would overwrite"), "{run:?}");
        assert_eq!(folder.read("talk.jsonl"), talk());
    }
}

#[test]
fn one_bad_output_stops_it_before_the_other_is_touched() {
    let folder = Folder::with("talk.jsonl", talk());
    folder.write("old.jsonl", "old\n");
    let run = folder.run("replay talk.jsonl --decisions old.jsonl --report talk.jsonl");
    assert_ne!(run.code, Some(0), "{run:?}");
    assert_eq!(folder.read("old.jsonl"), "old\n");
}

#[test]
fn results_replace_what_was_there() {
    let folder = Folder::with("talk.jsonl", talk());
    for name in ["decisions.jsonl", "report.html"] {
        folder.write(name, "old\n".repeat(100_000));
    }
    folder.run("replay talk.jsonl --decisions decisions.jsonl --report report.html").succeeded();
    assert_eq!(folder.decisions("decisions.jsonl").len(), 2);
    let page = folder.read("report.html");
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"), "{} bytes", page.len());
    assert_eq!(folder.read("talk.jsonl"), talk());
}

#[test]
fn a_place_that_cannot_be_written_is_a_clear_error() {
    let folder = Folder::with("talk.jsonl", talk());
    folder.write("below/keep", "");
    for option in ["--decisions", "--report"] {
        for path in ["nowhere/out", "below", "talk.jsonl/out"] {
            folder.run(&format!("replay talk.jsonl --json {option} {path}")).refused(1, &["cannot write", path]);
        }
    }
    assert_eq!(folder.read("talk.jsonl"), talk());
}

#[test]
fn a_full_disk_is_a_clear_error() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let folder = Folder::with("talk.jsonl", talk());
    for option in ["--decisions", "--report"] {
        let run = folder.run(&format!("replay talk.jsonl --json {option} /dev/full"));
        run.refused(1, &["cannot write /dev/full"]);
    }
    for line in
        ["replay talk.jsonl", "replay talk.jsonl --json", "demo", "settings", "--version", "--help", "help replay"]
    {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let run = Run::of(folder.command(line.split_whitespace()).stdout(full).output().unwrap());
        run.refused(1, &["aizuchi: "]);
    }
}

/// A pipe that nobody reads.
fn closed_pipe() -> std::io::PipeWriter {
    std::io::pipe().expect("a pipe can be had").1
}

#[test]
fn a_reader_who_has_had_enough_is_no_error() {
    let log: String = (0..400_u32).map(|nth| said(f64::from(nth), &nth.to_string(), "ann", "aizuchi?")).collect();
    let folder = Folder::with("talk.jsonl", log);
    for line in [
        "demo --language ja",
        "settings",
        "--help",
        "--version",
        "replay --help",
        "replay talk.jsonl --all",
        "replay talk.jsonl --json --decisions out.jsonl",
    ] {
        let mut command = folder.command(line.split_whitespace());
        Run::of(command.stdout(closed_pipe()).output().unwrap()).succeeded();
    }
    assert_eq!(folder.decisions("out.jsonl").len(), 400, "the rest of the work is done");
}
