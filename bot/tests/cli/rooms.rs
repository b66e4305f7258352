//! `aizuchi rooms` and `aizuchi web-link`: the web room from the command line.

use super::program::Folder;
use super::store::{live, meddle};
use super::talk::said;

#[test]
fn rooms_are_listed_and_closed_without_a_page() {
    let folder = Folder::new();
    live(&said(0.0, "m1", "ann", "hello"), "").keep_in(&folder);
    meddle(
        &folder,
        "INSERT INTO web_room (name, opened) VALUES ('lobby', 0), ('garden', 1);
         INSERT INTO web_message VALUES ('w1', 'garden', 1, 1, 'k', '{}');",
    );
    let listed = folder.run("rooms list").succeeded().out;
    assert!(listed.lines().any(|line| line.ends_with("1  garden")), "{listed}");
    folder.run("rooms close cellar").refused(1, &["there is no web room cellar"]);
    folder.run("rooms close lobby").refused(1, &["lobby", "web.rooms"]);
    assert_eq!(folder.run("rooms close garden").succeeded().out, "closed garden\n");
    let left = folder.run("rooms list").succeeded().out;
    assert!(left.contains("lobby") && !left.contains("garden"), "{left}");
    let store = rusqlite::Connection::open(folder.path("aizuchi-data/aizuchi.db")).unwrap();
    let count = |query: &str| store.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM web_message"), 0);
    assert_eq!(
        count("SELECT count(*) FROM inbox WHERE platform = 'web' AND body LIKE '%web:garden%Left%'"),
        1,
        "the engine is notified"
    );
}

#[test]
fn the_link_has_the_token() {
    let folder = Folder::new();
    let link = |options: &str| folder.run(&format!("web-link {options}"));
    assert_eq!(link("").succeeded().out, "http://127.0.0.1:4860/\n");
    let token = "--set web.address=0.0.0.0:80 --set web.token=a&b";
    assert_eq!(link(token).succeeded().out, "http://127.0.0.1:80/?token=a%26b\n");
    link("--set web.address=127.0.0.1:0").refused(1, &["free port"]);
    link("--set web.enabled=false").refused(1, &["web.enabled"]);
}

/// What `--help` lists may stand before or behind the order.
#[test]
fn settings_may_be_given_behind_the_order() {
    let folder = Folder::new();
    live(&said(0.0, "m1", "ann", "hello"), "").keep_at(&folder.path("there"));
    for command in ["rooms", "memory"] {
        let before = folder.run(&format!("{command} --set store.folder=there list")).succeeded().out;
        let behind = folder.run(&format!("{command} list --set store.folder=there")).succeeded().out;
        assert_eq!(before, behind, "{command}");
        let help = folder.run(&format!("{command} list --help")).succeeded().out;
        assert!(help.contains("--set <KEY=VALUE>") && help.contains("--config <FILE>"), "{help}");
    }
}
