//! Somebody wants to be forgotten: it ends, also after a kill, and nothing of them is in any file of the data folder.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use aizuchi::journal::{Journal, JournalEntry};
use aizuchi::runtime::shard_of;
use aizuchi::stores::Database;
use aizuchi_core::effect::Usage;
use aizuchi_core::input::Answer;
use aizuchi_core::types::{Author, CallId, Message, MessageId, PersonId, Place, RoomId, Visibility, Voice};
use aizuchi_core::{Input, Time};
use aizuchi_test_servers::models::{ModelServer, Step, openai_answer};
use aizuchi_test_servers::visitor::Visitor;
use rusqlite::{Connection, params};
use serde_json::json;

use crate::crowd::Draw;
use crate::program::{Home, PATIENCE, Program, eventually, new_home};

/// How often it is killed while it forgets. `./dev soak` sets CRASH_KILLS to more.
const KILLS: u64 = 8;
/// What somebody has said who is forgotten.
const MESSAGES: u64 = 1_000;
const SECRET: &str = "0123456789abcdef0123456789abcdef";
const HER_ID: &str = "zq7x1k9w";
const HER_NAME: &str = "Quinella";
const HER_WORD: &str = "xylophanes";
const ROOMS: [&str; 3] = ["lobby", "garden", "kitchen"];

/// When she said the first of it.
fn days_ago(days: u64) -> Time {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("it is past 1970");
    Time(now.as_millis() as u64 - days * 24 * 3600 * 1000)
}

fn message(number: u64, room: &str, at: Time, by: (&str, &str), text: &str) -> Message {
    Message {
        id: MessageId::new(format!("w{number}")),
        place: Place::room(format!("web:{room}")),
        at,
        author: Author { id: PersonId::new(format!("web:{}", by.0)), name: by.1.into(), voice: Voice::Person },
        text: text.into(),
        reply: None,
        mentions: Vec::new(),
        mentions_me: false,
        visibility: Visibility::Public,
        backfilled: false,
        heard: None,
    }
}

/// A data folder in which she has said much, and was answered.
async fn lived_in(folder: &Path, shards: usize, begun: Time) {
    std::fs::create_dir_all(folder).unwrap();
    let database = Database::open(&folder.join("aizuchi.db")).unwrap();
    let journal = Journal::new(database.clone());
    let mut rows = Vec::new();
    let mut inputs: Vec<Vec<JournalEntry>> = (0..shards).map(|_| Vec::new()).collect();
    for number in 1..=MESSAGES {
        let room = ROOMS[number as usize % ROOMS.len()];
        let (by, text) = if number % 10 == 0 {
            (("jonas-id", "Jonas"), format!("a marimba for the band, {number}"))
        } else {
            ((HER_ID, HER_NAME), format!("{HER_WORD} number {number}"))
        };
        let message = message(number, room, Time(begun.0 + number * 1000), by, &text);
        let (shard, at) = (shard_of(&message.place.room, shards), message.at);
        let body = json!({
            "at": at, "by": {"id": by.0, "name": by.1}, "voice": "Person", "text": text, "thread": null,
            "reply_to": null, "edited": false, "deleted": false, "reactions": [],
        });
        rows.push((number, room, format!("{}/{number}", by.0), body.to_string()));
        inputs[shard].push(JournalEntry::Input(at, Input::Said(message)));
        if number % 50 == 1 {
            let call = CallId { room: RoomId::new(format!("web:{room}")), serial: number };
            let answer = Answer { text: format!("I like {HER_WORD} too").into(), usage: Usage::default() };
            inputs[shard].push(JournalEntry::Input(at, Input::Written(call, Ok(answer))));
        }
    }
    for (shard, inputs) in inputs.iter().enumerate() {
        journal.append(shard, inputs).await.unwrap();
    }
    let write = move |transaction: &rusqlite::Transaction<'_>| {
        for room in ROOMS {
            transaction.execute("INSERT OR IGNORE INTO web_room (name, opened) VALUES (?1, 0)", [room])?;
            transaction.execute(
                "INSERT INTO web_member (room, person, name, spoke) VALUES (?1, ?2, ?3, 1)",
                [room, HER_ID, HER_NAME],
            )?;
        }
        transaction.execute(
            "INSERT INTO web_person (secret, id, name, seen, spoke) VALUES (?1, ?2, ?3, 1999999999999, 1999999999999)",
            params![SECRET, HER_ID, HER_NAME],
        )?;
        transaction.execute("UPDATE web_counter SET seq = ?1", [MESSAGES as i64])?;
        for (number, room, key, body) in &rows {
            let insert = "INSERT INTO web_message VALUES (?1, ?2, ?3, ?3, ?4, ?5)";
            transaction.execute(insert, params![format!("w{number}"), room, *number as i64, key, body])?;
        }
        Ok(())
    };
    database.write(write).await.unwrap();
    // Files that are read while this process has the database open lose its locks: it is closed when the log is gone.
    drop((journal, database));
    eventually("the database is closed", async || (!folder.join("aizuchi.db-wal").exists()).then_some(())).await;
}

/// In which files of a folder these bytes are.
fn found(folder: &Path, text: &str) -> Vec<String> {
    let mut holding = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap_or_default();
        if bytes.windows(text.len()).any(|part| part == text.as_bytes()) {
            holding.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    holding
}

fn left_of_her(home: &Home) -> Vec<(&'static str, Vec<String>)> {
    let looked = [HER_WORD, HER_NAME, HER_ID].map(|text| (text, found(&home.data(), text)));
    looked.into_iter().filter(|(_, files)| !files.is_empty()).collect()
}

/// The tables that contain this, for the person who has to find out why.
fn tables_with(home: &Home, text: &str) -> Vec<String> {
    let (store, mut holding) = (home.store(), Vec::new());
    let mut tables = store.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").unwrap();
    for table in tables.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap) {
        let mut rows = store.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = rows.column_count();
        let mut rows = rows.query([]).unwrap();
        while let Ok(Some(row)) = rows.next() {
            let texts = (0..columns).filter_map(|column| row.get::<_, String>(column).ok());
            if let Some(found) = texts.into_iter().find(|found| found.contains(text)) {
                holding.push(format!("{table}: {}", found.chars().take(400).collect::<String>()));
                break;
            }
        }
    }
    holding
}

async fn until_nothing_is_left(home: &Home, program: &Program) {
    let until = Instant::now() + PATIENCE;
    while !left_of_her(home).is_empty() {
        let (left, late) = (left_of_her(home), Instant::now() >= until);
        assert!(!late, "still there: {left:?}, {:?}\n{}", tables_with(home, HER_ID), program.said());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_while_it_forgets_somebody_it_ends_that_at_the_next_start() {
    let number = |name: &str| std::env::var(name).ok().map(|value| value.parse::<u64>().expect("a number"));
    let (kills, seed) = (number("CRASH_KILLS").unwrap_or(KILLS), number("CRASH_SEED").unwrap_or(20_261_115));
    println!("the deaths of CRASH_SEED={seed}");
    let (mut draw, mut takes) = (Draw(seed), Duration::from_millis(300));
    for kill in 0..=kills {
        // Every other time the journal was written by another number of engines than read it now.
        let (shards, before) = (1 + kill as usize % 4, 1 + (kill / 2 * 3) as usize % 4);
        let mut home = new_home(&["log.level=warn", "web.rooms=[\"lobby\", \"garden\", \"kitchen\"]"]);
        home.set(format!("runtime.shards={shards}"));
        // And every other time it is old enough to be let go of at the start.
        lived_in(&home.data(), before, days_ago(if kill % 2 == 1 { 40 } else { 1 })).await;
        assert_eq!(left_of_her(&home).len(), 3, "the search would find her");
        let mut program = home.start().await;
        let (mut her, _) = Visitor::come_back(home.address, "lobby", HER_NAME, Some(SECRET), MESSAGES).await;
        assert_eq!(her.you, HER_ID);
        let begun = Instant::now();
        if kill == 0 {
            let told = her.order("/forget-me").await;
            assert!(told.starts_with("You are forgotten"), "{told}");
            takes = begun.elapsed();
            assert_eq!(left_of_her(&home), [], "the answer said so");
            continue;
        }
        her.send(json!({"do": "say", "key": "order", "text": "/forget-me"})).await;
        // All over the time it takes, and a little beyond.
        let part = takes.as_micros() as u64 * 5 / 4 / kills;
        let after = Duration::from_micros((kill - 1) * part + draw.below(part + 1));
        tokio::time::sleep(after).await;
        program.kill();
        let left = left_of_her(&home);
        println!("killed after {after:?} of {takes:?} with {shards} shards, {before} before: {left:?}");
        let program = home.start().await;
        if asks_again(&home) {
            // It died before anybody had heard the wish: she says it again.
            let (mut her, _) = Visitor::come_back(home.address, "lobby", HER_NAME, Some(SECRET), MESSAGES).await;
            let told = her.order("/forget-me").await;
            assert!(told.starts_with("You are forgotten"), "{told}");
        }
        until_nothing_is_left(&home, &program).await;
        assert!(!found(&home.data(), "marimba").is_empty(), "what others said stays");
        drop(program);
    }
}

/// Whether nothing has begun: nobody had heard the wish. What begins is stored first.
fn asks_again(home: &Home) -> bool {
    let count = |query: &str| home.store().query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
    let begun = count("SELECT count(*) FROM forgetting") > 0;
    // In this order: what is over is not begun any more, and she is gone then.
    !begun && count(&format!("SELECT count(*) FROM web_person WHERE id = '{HER_ID}'")) > 0
}

fn with_model(server: &ModelServer) -> Home {
    let mut home = new_home(&["models.main=openai/m", "models.judge=openai/m", "models.retries_max=0"]);
    home.set("gates.user_addressed_per_hour=0");
    home.set("log.level=warn");
    home.set(format!("providers.openai.url=http://127.0.0.1:{}/v1/", server.port));
    home.set_variable("OPENAI_API_KEY", "sk-x");
    home
}

/// Somebody calls it and is answered.
async fn calls(visitor: &mut Visitor, key: &str, text: &str) -> String {
    visitor.say(key, text).await;
    loop {
        let message = visitor.next("said").await["message"].clone();
        if message["voice"] == "Me" {
            return message["text"].as_str().unwrap().to_owned();
        }
    }
}

fn answers(texts: &[&str]) -> Vec<Step> {
    texts.iter().map(|text| Step::json(openai_answer(text))).collect()
}

/// What a page that comes in now is shown.
async fn shown(home: &Home) -> String {
    let (_, told) = Visitor::come_back(home.address, "lobby", "late", None, 0).await;
    serde_json::to_string(&told).unwrap()
}

#[tokio::test]
async fn answers_that_repeat_forgotten_words_go_too() {
    let server = ModelServer::start(answers(&["Noted: zanzibar77.", "It was zanzibar77.", "Four, as ever."])).await;
    let home = with_model(&server);
    let program = home.start().await;
    let mut mia = Visitor::enter(home.address, "lobby", "Mirabelle").await;
    let mut jonas = Visitor::enter(home.address, "lobby", "Jonas").await;
    assert_eq!(
        calls(&mut mia, "1", "@aizuchi the locker opens with zanzibar77, remember it").await,
        "Noted: zanzibar77."
    );
    jonas.next("said").await;
    jonas.next("said").await;
    assert_eq!(calls(&mut jonas, "1", "@aizuchi what opens it?").await, "It was zanzibar77.");
    assert_eq!(calls(&mut jonas, "2", "@aizuchi and two and two?").await, "Four, as ever.");
    let told = mia.order("/forget-me").await;
    assert!(told.starts_with("You are forgotten"), "{told}");
    let page = shown(&home).await;
    assert!(!page.contains("zanzibar77"), "an answer still repeats it: {page}");
    assert!(page.contains("Four, as ever."), "an answer to somebody else is gone: {page}");
    for text in ["zanzibar77", "Mirabelle", &mia.you] {
        assert_eq!(found(&home.data(), text), [""; 0], "{text}");
    }
    drop(program);
}

#[tokio::test]
async fn a_short_name_is_found_in_any_case_and_one_that_may_be_somebody_else_is_asked_about() {
    let texts = ["TANAKA-SAN likes tea, and so does 田中さん.", "I hear that BO plays jazz.", "Bob plays chess."];
    let server = ModelServer::start(answers(&texts)).await;
    let home = with_model(&server);
    let program = home.start().await;
    let mut tanaka = Visitor::enter(home.address, "lobby", "田中").await;
    let mut bo = Visitor::enter(home.address, "lobby", "Bo").await;
    let mut bob = Visitor::enter(home.address, "lobby", "Bob").await;
    for visitor in [&mut tanaka, &mut bo, &mut bob] {
        visitor.say("hello", "hello").await;
    }
    let mut jonas = Visitor::enter(home.address, "lobby", "Jonas").await;
    jonas.say("to-tanaka", "@田中 good to see you").await;
    for (number, text) in texts.iter().enumerate() {
        assert_eq!(calls(&mut jonas, &number.to_string(), "@aizuchi what do you hear?").await, *text);
    }
    let told = tanaka.order("/forget-me").await;
    assert!(told.starts_with("You are forgotten") && !told.contains("/forget-me"), "{told}");
    assert!(!shown(&home).await.contains("田中さん"), "two characters are a name");
    let told = bo.order("/forget-me").await;
    assert!(told.starts_with("You are forgotten"), "{told}");
    assert!(told.contains("“Bo”") && told.contains("Bob") && told.contains("/forget-me Bo"), "it does not ask: {told}");
    assert!(shown(&home).await.contains("BO plays jazz"), "it was not asked to");
    let told = bo.order("/forget-me Bob").await;
    assert!(told.contains("not a known name of yours"), "{told}");
    assert!(shown(&home).await.contains("Bob plays chess"), "it is somebody else");
    let told = bo.order("/forget-me bo").await;
    assert!(told.starts_with("You are forgotten"), "{told}");
    let page = shown(&home).await;
    assert!(!page.contains("BO plays jazz") && page.contains("Bob plays chess"), "{page}");
    drop(program);
}

#[tokio::test]
async fn while_somebody_reads_the_file_nobody_is_told_that_it_is_done() {
    let home = new_home(&["log.level=warn", "web.rooms=[\"lobby\", \"garden\", \"kitchen\"]"]);
    lived_in(&home.data(), 1, days_ago(1)).await;
    let mut program = home.start().await;
    let (mut her, _) = Visitor::come_back(home.address, "lobby", HER_NAME, Some(SECRET), MESSAGES).await;
    let reader = home.store();
    reader.execute_batch("BEGIN").unwrap();
    let count = |reader: &Connection| reader.query_row("SELECT count(*) FROM journal", [], |row| row.get::<_, i64>(0));
    assert!(count(&reader).unwrap() > 0);
    let told = her.order("/forget-me").await;
    assert!(!told.starts_with("You are forgotten"), "her words are in {:?}: {told}", left_of_her(&home));
    assert!(told.contains("reading") && !left_of_her(&home).is_empty(), "{told}");
    program.kill();
    let program = home.start().await;
    assert!(count(&reader).unwrap() > 0, "it is still read");
    drop(reader);
    until_nothing_is_left(&home, &program).await;
    drop(program);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn on_a_full_disk_nobody_is_told_that_it_is_done() {
    let mut home = new_home(&["log.level=error", "web.rooms=[\"lobby\", \"garden\", \"kitchen\"]"]);
    home.before = Some("trap '' XFSZ".into());
    lived_in(&home.data(), 1, days_ago(1)).await;
    let program = home.start().await;
    let (mut her, _) = Visitor::come_back(home.address, "lobby", HER_NAME, Some(SECRET), MESSAGES).await;
    let limit = |most: &str| {
        let limit = [format!("--pid={}", program.id()), format!("--fsize={most}:unlimited")];
        assert!(std::process::Command::new("prlimit").args(limit).status().expect("util-linux is there").success());
    };
    // Enough to note the wish, too little to carry it out.
    let log = std::fs::metadata(home.data().join("aizuchi.db-wal")).unwrap().len();
    limit(&(log + 100_000).to_string());
    let told = her.order("/forget-me").await;
    assert!(!told.contains("You are forgotten"), "{told}");
    limit("unlimited");
    eventually("it is ready again", async || program.get("/ready").await.starts_with("HTTP/1.1 200").then_some(()))
        .await;
    if asks_again(&home) {
        let told = her.order("/forget-me").await;
        assert!(told.starts_with("You are forgotten"), "{told}");
    }
    until_nothing_is_left(&home, &program).await;
}
