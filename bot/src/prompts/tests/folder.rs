//! The user's own prompts: taken, taken anew, refused.

use std::fs;
use std::time::{Duration, SystemTime};

use aizuchi_core::effect::Transcript;
use aizuchi_core::judge::Question;
use aizuchi_core::settings::JudgeStyle;
use aizuchi_core::types::Voice::Person;
use aizuchi_test_servers::folder::Scratch;

use super::{ask, lines, policies};
use crate::ports::{Prompt, PromptBuilder as _};
use crate::prompts::Prompts;

struct Folder(Scratch);

impl Folder {
    fn new() -> Folder {
        let folder = Scratch::new("prompts");
        fs::create_dir(folder.join("en")).expect("folders can be made");
        Folder(folder)
    }

    /// Each version a second younger than the one before, whatever the clock of the file system can tell apart.
    fn write(&self, name: &str, text: &str, version: u64) {
        let path = self.0.join(name);
        fs::write(&path, text).expect("files can be written");
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + version);
        fs::File::options()
            .write(true)
            .open(&path)
            .and_then(|file| file.set_modified(at))
            .expect("its time can be set");
    }

    fn prompts(&self) -> Prompts {
        Prompts::new(self.0.to_path_buf())
    }
}

fn state(prompts: &Prompts) -> Prompt {
    let transcript = Transcript { lines: lines(&[("alice", Person, "hello")]), ..Transcript::default() };
    prompts.judge(&ask(Question::State, JudgeStyle::Ladder, transcript), policies(&[]).general()).unwrap()
}

fn system(prompts: &Prompts) -> String {
    state(prompts).system
}

#[test]
fn a_file_of_ones_own_takes_the_place_of_ours_and_is_read_again_when_it_changes() {
    let folder = Folder::new();
    let prompts = folder.prompts();
    assert!(system(&prompts).starts_with("You read a group chat"));
    folder.write("en/state.md", "Mine, {{ name }}.\n---\nWell?", 1);
    assert_eq!(system(&prompts), "Mine, aizuchi.");
    assert_eq!(state(&prompts).turns[0].text, "<talk>\n[1] alice: hello\n</talk>\n\nWell?");
    folder.write("en/state.md", "Hers, {{ name }}.\n---\nWell?", 2);
    assert_eq!(system(&prompts), "Hers, aizuchi.");
    folder.write("en/frame.md", "Read it.", 1);
    folder.write("en/state.md", "{{ frame }}", 3);
    assert_eq!(system(&prompts), "Read it.");
    fs::remove_file(folder.0.join("en/state.md")).unwrap();
    assert!(system(&prompts).starts_with("You read a group chat") && system(&prompts).contains("Read it."));
    assert_eq!(prompts.problems(), Vec::<String>::new());
}

#[test]
fn a_broken_file_is_told_once_and_ours_is_used() {
    let folder = Folder::new();
    let prompts = folder.prompts();
    for (version, (text, line, what)) in [
        ("fine\n{% if %}", 2, "syntax error"),
        ("a\nb\n{{ speaker }}", 3, "undefined"),
        ("a\n---\n\n{{ nmae }}", 4, "undefined"),
        ("{% include \"other.md\" %}", 1, "template"),
        ("{% for a in range(10000) %}{% for b in range(10000) %}x{% endfor %}{% endfor %}", 1, ""),
    ]
    .into_iter()
    .enumerate()
    {
        folder.write("en/state.md", text, version as u64);
        for _ in 0..3 {
            assert!(system(&prompts).starts_with("You read a group chat"), "{text}");
        }
        let told = prompts.problems();
        assert_eq!(told.len(), 1, "{told:?}");
        let place = folder.0.join("en/state.md");
        assert!(told[0].starts_with(&format!("{}:{line}: ", place.display())), "{told:?}");
        assert!(told[0].contains(what) && told[0].ends_with("the built-in prompt is used"), "{told:?}");
    }
    folder.write("en/state.md", "---\nonly a question", 10);
    assert!(system(&prompts).starts_with("You read") && prompts.problems()[0].contains("no instructions"));
    folder.write("en/state.md", "changed", 11);
    assert_eq!(system(&prompts), "changed");
}

#[test]
fn what_cannot_be_read_is_told() {
    let folder = Folder::new();
    let prompts = folder.prompts();
    fs::write(folder.0.join("en/state.md"), b"\xff\xfe").unwrap();
    assert!(system(&prompts).starts_with("You read"));
    assert!(prompts.problems()[0].contains("cannot be read"));
    fs::write(folder.0.join("en/state.md"), "x".repeat(300_000)).unwrap();
    assert!(system(&prompts).starts_with("You read"));
    assert!(prompts.problems()[0].contains("bytes and at most"));
}

#[test]
fn a_file_that_nobody_reads_is_told_with_the_nearest_name() {
    let folder = Folder::new();
    folder.write("en/jion.md", "x", 1);
    folder.write("en/reply.txt", "x", 1);
    folder.write("en/.reply.md.swp", "x", 1);
    folder.write("en/state.md~", "x", 1);
    folder.write("join.md", "x", 1);
    folder.write("README.md", "x", 1);
    let prompts = folder.prompts();
    state(&prompts);
    let told = prompts.problems();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[0].contains("join.md is ignored"), "{told:?}");
    assert!(told[1].contains("jion.md: unknown prompt; did you mean `join.md`?"), "{told:?}");
    assert!(told[2].contains("reply.txt: unknown prompt; did you mean `reply.md`?"), "{told:?}");
    state(&prompts);
    assert_eq!(prompts.problems(), Vec::<String>::new());
}

#[test]
fn no_folder_is_no_trouble() {
    let prompts = Prompts::new("no/such/folder".into());
    assert!(system(&prompts).starts_with("You read"));
    assert_eq!(prompts.problems(), Vec::<String>::new());
}
