//! `aizuchi backup` and `aizuchi restore`: nothing is lost because of a damaged or interrupted copy.

use super::program::{Folder, Run};
use super::store::{live, meddle};

const TALK: &str = r#"{"ts": 1700000000, "channel": "log", "id": "m1", "author": "mia", "text": "the key is under the mat"}
{"ts": 1700000060, "channel": "log", "id": "m2", "author": "lena", "text": "thanks"}
"#;

/// What is said of a store that has only a part.
const PART: &str = "a copy into this store was interrupted";

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

#[test]
fn a_damaged_store_is_replaced() {
    let folder = folder_with_backup();
    let before = exported(&folder);
    meddle(&folder, "INSERT INTO memory_fact (id, room, body) VALUES (1, 'web:lobby', '{\"content\":')");
    folder.run("restore saved.db --replace").succeeded();
    assert_eq!(exported(&folder), before);
    assert!(!folder.run("memory export").succeeded().out.contains("lobby"));
}

/// As if the copy had been killed in the middle.
#[test]
fn no_program_runs_on_a_part_and_the_same_command_completes_it() {
    let folder = folder_with_backup();
    let before = exported(&folder);
    meddle(&folder, "CREATE TABLE store_copying (copying INTEGER); DELETE FROM trace WHERE message > 'm1'");
    folder.run("run --no-browser").refused(1, &[PART, "completes it"]);
    let doctor = folder.run("doctor --offline");
    assert!(doctor.code == Some(1) && doctor.out.contains(PART), "{doctor:?}");
    folder.run("store copy --from aizuchi-data --to elsewhere").refused(1, &[PART, "nothing was changed"]);
    folder.run("restore saved.db").succeeded();
    assert_eq!(exported(&folder), before);
    let doctor = folder.run("doctor --offline");
    assert!(!doctor.out.contains(PART), "{doctor:?}");
}

#[test]
fn a_part_is_not_backed_up() {
    let folder = folder_with_backup();
    meddle(&folder, "CREATE TABLE store_copying (copying INTEGER)");
    folder.run("backup other.db").refused(1, &[PART, "run the same `aizuchi store copy` or `aizuchi restore` again"]);
    assert!(!folder.has("other.db"));
}

#[cfg(feature = "postgres")]
#[test]
fn a_part_in_postgresql_is_neither_read_nor_backed_up() {
    use aizuchi_test_servers::postgres::{PostgresVersion, shared};

    let folder = folder_with_backup();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    let (server, name) = runtime.block_on(async {
        let server = shared(PostgresVersion::Debian).await;
        let name = server.empty_database().await;
        (server, name)
    });
    let url = server.url(&name);
    folder.run(&format!("store copy --from saved.db --to {url}")).succeeded();
    let there = folder.run(&format!("export --set store.url={url}")).succeeded().out;
    // As the program that copies leaves it when it is killed.
    let part = "set role aizuchi; create table store_copying (copying integer); delete from trace where message > 'm1'";
    runtime.block_on(server.psql(&name, part));
    folder.run(&format!("backup other.db --set store.url={url}")).refused(1, &[PART]);
    assert!(!folder.has("other.db") && !folder.has("other.db-wal"));
    folder.run(&format!("stats --set store.url={url}")).refused(1, &[PART]);
    folder.run(&format!("store copy --from saved.db --to {url}")).succeeded();
    assert_eq!(folder.run(&format!("export --set store.url={url}")).succeeded().out, there);
    folder.run(&format!("backup other.db --set store.url={url}")).succeeded();
}

#[test]
fn nothing_is_read_from_a_part() {
    let folder = folder_with_backup();
    meddle(&folder, "CREATE TABLE store_copying (copying INTEGER)");
    for line in [
        "memory export",
        "memory list",
        "memory search mat",
        "export",
        "stats",
        "rooms list",
        "why --last",
        "replay --journal",
        "tools",
    ] {
        folder.run(line).refused(1, &[PART]);
    }
}

#[test]
fn what_looks_like_an_address_is_no_folder_and_is_not_repeated() {
    let folder = folder_with_backup();
    let secret = "hunter2";
    for text in [
        "POSTGRES://mia:hunter2@127.0.0.1/talk",
        "postgres:/mia:hunter2@127.0.0.1/talk",
        " postgres://mia:hunter2@127.0.0.1/talk",
        "host=127.0.0.1 password=hunter2",
        "FIRESTORE://hunter2",
    ] {
        let what = "must be a folder, postgres://… or firestore://…";
        let run = |arguments: &[&str]| {
            let output = folder.command(arguments.iter().copied()).output().expect("it can be started");
            Run::of(output)
        };
        for (arguments, told) in [
            (&["store", "copy", "--from", "aizuchi-data", "--to", text][..], what),
            (&["store", "copy", "--from", text, "--to", "elsewhere"][..], what),
            (&["restore", text][..], "a backup is a file"),
            (&["restore", "saved.db", "--folder", text][..], "the data folder must be a folder"),
            (&["export", "--folder", text][..], "the data folder must be a folder"),
        ] {
            let refused = run(arguments).refused(2, &[told]);
            assert!(!refused.err.contains(secret), "{refused:?}");
        }
    }
    let mut names: Vec<String> = std::fs::read_dir(folder.path(""))
        .expect("it is there")
        .map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["aizuchi-data", "saved.db"]);
}

#[test]
fn a_file_that_is_no_database_is_set_aside_for_a_backup() {
    let folder = folder_with_backup();
    let (before, database) = (exported(&folder), folder.path("aizuchi-data/aizuchi.db"));
    let whole = std::fs::read(&database).expect("it is there");
    folder.write("aizuchi-data/aizuchi.db", "no database".repeat(1000));
    folder.run("restore saved.db").refused(1, &["aizuchi.db", "not a database", "nothing was changed"]);
    let garbled: Vec<u8> = whole.iter().map(|byte| byte.wrapping_mul(31).wrapping_add(7)).collect();
    let malformed = [&whole[..4096], &garbled[4096..]].concat();
    let damages = [("", garbled), ("-2", whole[..8192].to_vec()), ("-3", malformed)];
    for (number, damage) in damages {
        for beside in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(folder.path(&format!("aizuchi-data/aizuchi.db{beside}")));
        }
        folder.write("aizuchi-data/aizuchi.db", &damage);
        let doctor = folder.run("doctor --offline");
        assert!(doctor.code == Some(1) && doctor.out.contains("`aizuchi restore FILE --replace`"), "{doctor:?}");
        let told = folder.run("restore saved.db --replace").succeeded().out;
        let name = format!("aizuchi-data/aizuchi.db.damaged{number}");
        assert!(told.contains(&format!("it is kept as {name}\n")), "{told}");
        assert!(std::fs::read(folder.path(&name)).is_ok_and(|kept| kept == damage), "{name}");
        assert_eq!(exported(&folder), before);
    }
}

/// The backup is read first.
#[test]
fn a_file_that_is_no_database_stays_where_the_backup_is_damaged_too() {
    let folder = folder_with_backup();
    // Somewhere else it may be anything.
    folder.write("notes.txt", "no database".repeat(1000));
    let elsewhere = folder.run("store copy --from saved.db --to notes.txt --replace");
    elsewhere.refused(1, &["cannot open notes.txt", "nothing was changed"]);
    assert!(folder.read("notes.txt").starts_with("no database"));
    folder.write("aizuchi-data/aizuchi.db", "no database".repeat(1000));
    let change = "INSERT INTO memory_fact (id, room, body) VALUES (1, 'web:lobby', '{\"content\":')";
    let backup = rusqlite::Connection::open(folder.path("saved.db")).expect("it is there");
    backup.execute_batch(change).expect("it can be changed");
    drop(backup);
    folder.run("restore saved.db --replace").refused(1, &["nothing was changed"]);
    assert!(folder.read("aizuchi-data/aizuchi.db").starts_with("no database"));
    assert!(!folder.has("aizuchi-data/aizuchi.db.damaged"));
}
