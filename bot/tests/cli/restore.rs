//! `aizuchi backup` and `aizuchi restore`: nothing is lost because of a damaged or interrupted copy.

use super::program::Folder;
use super::store::{live, meddle};

const TALK: &str = r#"{"ts": 1700000000, "channel": "log", "id": "m1", "author": "mia", "text": "the key is under the mat"}
{"ts": 1700000060, "channel": "log", "id": "m2", "author": "lena", "text": "thanks"}
"#;

fn folder_with_backup() -> Folder {
    let folder = Folder::new();
    live(TALK, "").keep_in(&folder);
    folder.run("backup saved.db").succeeded();
    folder
}

fn exported(folder: &Folder) -> String {
    folder.run("export").succeeded().out
}

#[test]
fn what_was_backed_up_is_brought_back() {
    let folder = folder_with_backup();
    let before = exported(&folder);
    assert!(before.contains("under the mat"), "{before}");
    std::fs::remove_dir_all(folder.path("aizuchi-data")).expect("it is ours");
    let told = folder.run("restore saved.db").succeeded().out;
    assert!(told.contains("counted and compared"), "{told}");
    assert_eq!(exported(&folder), before);
}

#[test]
fn a_damaged_backup_replaces_nothing() {
    let folder = folder_with_backup();
    let before = exported(&folder);
    let mut bytes = std::fs::read(folder.path("saved.db")).expect("it was written");
    // The pages with what was said; those with the list of tables are whole.
    let said = b"under the mat";
    for page in bytes.chunks_mut(4096).filter(|page| page.windows(said.len()).any(|words| words == said)) {
        page.fill(0xa5);
    }
    folder.write("saved.db", &bytes);
    let refused = folder.run("restore saved.db --replace");
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.err.contains("nothing was changed"), "{refused:?}");
    assert_eq!(exported(&folder), before);
}

/// As if the copy had been killed in the middle.
#[test]
fn no_program_runs_on_a_part_and_the_same_command_completes_it() {
    let folder = folder_with_backup();
    let before = exported(&folder);
    meddle(&folder, "CREATE TABLE store_copying (copying INTEGER); DELETE FROM trace WHERE message > 'm1'");
    let part = "a copy into this store was interrupted";
    folder.run("run --no-browser").refused(1, &[part, "completes it"]);
    let doctor = folder.run("doctor --offline");
    assert!(doctor.code == Some(1) && doctor.out.contains(part), "{doctor:?}");
    folder.run("store copy --from aizuchi-data --to elsewhere").refused(1, &[part, "nothing was changed"]);
    folder.run("restore saved.db").succeeded();
    assert_eq!(exported(&folder), before);
    let doctor = folder.run("doctor --offline");
    assert!(!doctor.out.contains(part), "{doctor:?}");
}
