//! `aizuchi init`: questions in, a settings file out that the program accepts.

use super::program::{Folder, Run};
use super::talk::said;

/// The file is read without a complaint, and is not simply ignored.
#[track_caller]
fn accepted(folder: &Folder, file: &str) {
    folder.write("talk.jsonl", said(0.0, "m1", "ann", "hello"));
    folder.run(&format!("replay talk.jsonl --json --config {file}")).succeeded();
}

fn init(folder: &Folder, answers: &str, line: &str) -> Run {
    folder.run_reading(answers.as_bytes(), line)
}

#[test]
fn without_questions_it_writes_the_defaults() {
    let folder = Folder::new();
    let run = folder.run_in(&[("TZ", "Asia/Tokyo")], "init --yes").succeeded();
    let text = folder.read("aizuchi.toml");
    for line in ["preset = \"aizuchi\"", "name = \"aizuchi\"", "address = \"127.0.0.1:4860\""] {
        assert!(text.lines().any(|written| written == line), "{line} is missing: {text}");
    }
    assert!(!text.contains("interval_seconds") && !text.contains("aliases"), "it talks as much as `talk` says: {text}");
    assert!(run.out.contains("aizuchi.toml is written") && run.out.contains("aizuchi doctor"), "{}", run.out);
    accepted(&folder, "aizuchi.toml");
    let bare = |pair: &&[&str]| pair[1].contains(" = ") && !pair[1].starts_with('#') && !pair[0].starts_with("# ");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.windows(2).filter(bare).count(), 0, "every setting has a sentence: {text}");
}

#[test]
fn answers_come_line_by_line_and_enter_takes_the_default() {
    let folder = Folder::new();
    let answers = "ミオ\nja\n3\n2\n\"calm\" \\o/\n\n0.0.0.0:8080\n3\n";
    let run = init(&folder, answers, "init settings/").succeeded();
    let text = folder.read("settings/aizuchi.toml");
    for line in [
        "name = \"ミオ\"",
        "language = \"ja\"",
        "preset = \"sphene\"",
        "main = \"anthropic/claude-sonnet-4-5\"",
        "judge = \"anthropic/claude-haiku-4-5\"",
        "persona = \"\\\"calm\\\" \\\\o/\"",
        "group = \"\"",
        "address = \"0.0.0.0:8080\"",
        "interval_seconds = 60",
        "# The key is read from the environment: ANTHROPIC_API_KEY",
    ] {
        assert!(text.lines().any(|written| written == line), "{line} is missing: {text}");
    }
    assert!(text.contains("AIZUCHI__WEB__TOKEN"), "other machines need a token: {text}");
    for told in ["export ANTHROPIC_API_KEY=…", "export AIZUCHI__WEB__TOKEN=…", "--config settings/aizuchi.toml"] {
        assert!(run.out.contains(told), "{told} is missing: {}", run.out);
    }
    accepted(&folder, "settings/aizuchi.toml");
}

#[test]
fn the_originals_keep_their_own_interval_unless_told_otherwise() {
    let folder = Folder::new();
    init(&folder, "\n\n2\n", "init").succeeded();
    let text = folder.read("aizuchi.toml");
    assert!(text.contains("preset = \"kotonoha\"") && !text.contains("interval_seconds"), "{text}");
    assert!(text.contains("channels = [\"*\"]"), "it takes part: {text}");
    accepted(&folder, "aizuchi.toml");
}

#[test]
fn nothing_said_is_everything_by_default() {
    let (asked, unasked) = (Folder::new(), Folder::new());
    init(&asked, "", "init").succeeded();
    unasked.run("init --yes").succeeded();
    assert_eq!(asked.read("aizuchi.toml"), unasked.read("aizuchi.toml"));
}

#[test]
fn it_asks_and_writes_in_japanese() {
    let folder = Folder::new();
    let run = folder.run_in(&[("LANG", "ja_JP.UTF-8")], "init").succeeded();
    assert!(run.out.contains("どのようにふるまいますか") && !run.out.contains("How should"), "{}", run.out);
    let text = folder.read("aizuchi.toml");
    assert!(text.contains("language = \"ja\"") && text.contains("# 呼び名。"), "{text}");
    accepted(&folder, "aizuchi.toml");
}

#[test]
fn a_file_that_is_there_is_kept() {
    let folder = Folder::with("aizuchi.toml", "# mine\n");
    for line in ["init --yes", "init aizuchi.toml --yes", "init . --yes", "init"] {
        folder.run(line).refused(1, &["aizuchi.toml already exists; --force overwrites it"]);
    }
    assert_eq!(folder.read("aizuchi.toml"), "# mine\n");
    folder.run("init --yes --force").succeeded();
    assert!(folder.read("aizuchi.toml").contains("preset = "));
    accepted(&folder, "aizuchi.toml");
}

#[test]
fn secrets_stay_in_the_environment() {
    let folder = Folder::new();
    let secrets = [("ANTHROPIC_API_KEY", "sk-hush"), ("AIZUCHI__WEB__TOKEN", "hush-hush")];
    folder.run_in(&secrets, "init --yes").succeeded();
    assert!(!folder.read("aizuchi.toml").contains("hush"));
}

#[test]
fn what_is_no_answer_is_told_and_nothing_is_written() {
    for (answers, told) in [
        ("a\nklingon\n", " or auto"),
        ("a\nja\n9\n", "expected one of the numbers above"),
        ("a\nja\n1\ngpt\n", "or for example anthropic/claude-haiku-4-5"),
        ("a\nja\n1\nollama/qwen3\n\n\nhere\n", "expected for example 127.0.0.1:4860, or -"),
    ] {
        let folder = Folder::new();
        let run = init(&folder, answers, "init");
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.err.contains(told), "{told} is not told: {run:?}");
        assert!(!folder.has("aizuchi.toml"));
    }
    Folder::with("file", "").run("init file/aizuchi.toml --yes").refused(1, &["cannot write file/aizuchi.toml"]);
}
