//! Memory in Firestore, with the program itself.

use aizuchi_test_servers::firestore::{CallFails, FirestoreServer};

use super::doctor::free_port;
use super::memory::sample;
use super::program::Folder;
use super::store::meddle;

const PROJECT: &str = "test-project";
const ALL_LAYERS: &str = "--set memory.facts_store=firestore --set memory.profiles_store=firestore \
    --set memory.channel_context_store=firestore --set firestore.project=test-project";
/// A code of gRPC.
const PERMISSION_DENIED: i32 = 7;

fn started() -> FirestoreServer {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    runtime.block_on(FirestoreServer::start())
}

#[test]
fn doctor_and_run_try_it_out_and_say_the_same() {
    let (server, folder) = (started(), Folder::new());
    let address = server.address();
    let line = |command: &str| {
        let line = format!("{command} {ALL_LAYERS} --set web.address=127.0.0.1:{}", free_port());
        folder.run_in(&[("FIRESTORE_EMULATOR_HOST", &*address)], &line)
    };
    let well = line("doctor");
    let told =
        format!("ok   memory    firestore://{PROJECT}/(default)?prefix=aizuchi at {address} was written to and read");
    assert!(well.code == Some(0) && well.out.contains(&told), "{well:?}");
    assert_eq!((server.calls("Commit"), server.calls("BatchGetDocuments")), (2, 1), "written, read and deleted");
    assert!(!server.dump(PROJECT).contains("trial"), "nothing of it is left");
    let refused = |words: &str| {
        let (looked, run) = (line("doctor"), line("run --no-browser"));
        let fails = looked.out.lines().find(|told| told.starts_with("fail memory"));
        assert!(looked.code == Some(1) && fails.is_some_and(|told| told.contains(words)), "{looked:?}");
        assert!(run.code.is_some_and(|code| code != 0) && run.err.contains(words), "{run:?}");
    };
    server.fail("Commit", PERMISSION_DENIED, 2, CallFails::BeforeIt, 0);
    refused("Firestore: told to fail (PermissionDenied)");
    server.kill();
    refused("cannot connect to Firestore");
}

#[test]
fn a_backup_says_which_layers_it_does_not_have() {
    let folder = sample();
    let backup = folder.run("backup all.db");
    assert_eq!((backup.code, backup.err.as_str()), (Some(0), ""), "{backup:?}");
    let backup = folder.run("backup part.db --set memory.facts_store=firestore --set firestore.project=test-project");
    let told = "aizuchi: not in this backup: what `memory.facts_store` keeps in \"firestore\"\n";
    assert_eq!((backup.code, backup.err.as_str()), (Some(0), told), "{backup:?}");
}

#[test]
fn memory_is_copied_there_listed_there_and_copied_back() {
    let (server, folder) = (started(), sample());
    let place = format!("firestore://{PROJECT}/(default)?emulator={}", server.address());
    let there = folder.run(&format!("store copy --from aizuchi-data --to {place}")).succeeded().out;
    assert!(there.contains("3 facts, 2 people, 1 channels, 0 opt-outs; counted and compared"), "{there}");
    assert!(there.contains("the journal, decisions and the web room were not copied"), "{there}");
    let emulator = format!("{ALL_LAYERS} --set firestore.emulator={}", server.address());
    assert_eq!(folder.run("memory forget --person Ann").code, Some(0), "in the file only");
    assert_eq!(folder.run("memory list people").succeeded().out.lines().count(), 1);
    let people = folder.run(&format!("memory list people {emulator}")).succeeded().out;
    assert_eq!(people.lines().count(), 2, "{people}");
    let found = folder.run(&format!("memory search tea --room lobby {emulator}")).succeeded().out;
    assert!(found.contains("The tea is from Uji"), "{found}");
    let exported = folder.run(&format!("memory export {emulator}")).succeeded().out;
    let back = folder.run(&format!("store copy --from {place} --to other")).succeeded().out;
    assert!(back.contains("3 facts, 2 people, 1 channels"), "{back}");
    assert_eq!(folder.run("memory export --folder other").succeeded().out, exported);
    let refused = folder.run(&format!("store copy --from {place} --to aizuchi-data"));
    assert!(refused.code == Some(1) && refused.err.contains("--replace"), "{refused:?}");
    folder.run(&format!("store copy --from {place} --to aizuchi-data --replace")).succeeded();
    assert_eq!(folder.run("memory export").succeeded().out, exported);
    folder.run(&format!("store copy --from {place} --to {place}")).refused(1, &["are the same store"]);
    folder
        .run("store copy --from aizuchi-data --to firestore://x?y=z")
        .refused(2, &["--to must be firestore://PROJECT"]);
}

/// What cannot be read, or is not there, takes the place of nothing.
#[test]
fn a_destination_is_emptied_only_once_the_whole_source_was_read() {
    let (server, folder) = (started(), sample());
    let place = format!("firestore://{PROJECT}/(default)?emulator={}", server.address());
    folder.run(&format!("store copy --from aizuchi-data --to {place}")).succeeded();
    let exported = || folder.run("memory export").succeeded().out;
    let before = exported();
    let back = |from: &str| folder.run(&format!("store copy --from {from} --to aizuchi-data --replace"));
    server.fail("RunQuery", PERMISSION_DENIED, 1, CallFails::BeforeIt, 2);
    back(&place).refused(1, &["cannot read all of", "nothing was changed", "PermissionDenied"]);
    assert_eq!(exported(), before);
    back(&place.replace(PROJECT, "test-porject")).refused(1, &["nothing is remembered in", "nothing was changed"]);
    assert_eq!(exported(), before);
    meddle(&folder, "UPDATE memory_person SET body = '{}'");
    let there = folder.run(&format!("store copy --from aizuchi-data --to {place} --replace"));
    there.refused(1, &["cannot read a person", "nothing was changed"]);
    assert!(server.dump(PROJECT).contains("Uji"));
}

/// Memory outlives the machine: it can be read before anything was recorded on a new one.
#[test]
fn memory_is_read_where_nothing_was_recorded_yet() {
    let (server, folder) = (started(), sample());
    let place = format!("firestore://{PROJECT}/(default)?emulator={}", server.address());
    folder.run(&format!("store copy --from aizuchi-data --to {place}")).succeeded();
    let emulator = format!("{ALL_LAYERS} --set firestore.emulator={}", server.address());
    let here = folder.run(&format!("memory list {emulator}")).succeeded().out;
    let there = folder.run(&format!("memory list {emulator} --folder new-machine")).succeeded().out;
    assert!(there == here && there.contains("The tea is from Uji"), "{there}");
    let exported = folder.run(&format!("memory export {emulator} --folder new-machine")).succeeded().out;
    assert_eq!(exported.lines().filter(|line| line.contains("\"content\"")).count(), 3, "{exported}");
    assert!(!folder.path("new-machine").exists(), "looking makes nothing");
}

#[test]
fn what_is_too_large_is_named_before_anything_is_copied_or_imported() {
    let (server, folder) = (started(), sample());
    let exported = folder.run("memory export").succeeded().out;
    let fact = exported.lines().find(|line| line.contains("The tea is from Uji")).unwrap();
    let large = fact.replace("The tea is from Uji", &"a long story ".repeat(120_000));
    folder.write("large.jsonl", format!("{exported}{large}\n"));
    let line = exported.lines().count() + 1;
    let emulator = format!("{ALL_LAYERS} --set firestore.emulator={}", server.address());
    let named = format!("large.jsonl:{line}: a document of facts would have");
    folder
        .run(&format!("memory import large.jsonl --folder other {emulator}"))
        .refused(1, &[&named, "nothing was imported"]);
    folder.run("memory import large.jsonl").succeeded();
    let place = format!("firestore://{PROJECT}/(default)?emulator={}", server.address());
    let copied = folder.run(&format!("store copy --from aizuchi-data --to {place}"));
    assert!(copied.code == Some(1) && copied.err.contains("nothing was copied"), "{copied:?}");
    assert!(copied.err.contains("fact 4: a document of facts would have"), "{copied:?}");
    assert!(!server.dump(PROJECT).contains("Uji"), "nothing was written");
}

#[test]
fn nobody_waits_long_for_a_server_that_does_not_answer() {
    let (server, folder) = (started(), sample());
    let emulator = format!("{ALL_LAYERS} --set firestore.emulator={}", server.address());
    let place = format!("firestore://{PROJECT}/(default)?emulator={}", server.address());
    folder.run(&format!("store copy --from aizuchi-data --to {place}")).succeeded();
    server.pause();
    let doctor = format!("doctor {emulator} --set web.address=127.0.0.1:{}", free_port());
    let (listed, looked) = std::thread::scope(|scope| {
        let looking = scope.spawn(|| folder.run(&doctor));
        (folder.run(&format!("memory list {emulator}")), looking.join().expect("it ends"))
    });
    server.resume();
    let told = "within 10 seconds";
    assert!(listed.code == Some(1) && listed.err.contains("Firestore") && listed.err.contains(told), "{listed:?}");
    assert!(looked.code == Some(1) && looked.out.contains(told), "{looked:?}");
}
