//! Several shards, another number of them at the next start, and sudden ends: nothing is lost, nothing is said twice.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use aizuchi::journal::{DamagedRecord, Engines, Record, Records, Recovered, RecoveredFrom, recover, traces};
use aizuchi::replay::{DecisionComparison, EmptiedRecords, StoredTraces, relive};
use aizuchi::runtime::{Clock, shard_of};
use aizuchi::stores::{Database, StoreSettings};
use aizuchi_core::input::Command;
use aizuchi_core::types::{Place, RoomId, Span};
use aizuchi_core::{Input, Policies, Time};
use rusqlite::Connection;
use serde_json::Value;

use crate::made_up::{Board, EngineRun, START, Scratch, Scripted, line, policies, said, saving_after};
use crate::talks::Dice;

fn said_in(room: &RoomId, id: &str, at: Time, text: &str) -> Input {
    let Input::Said(mut message) = said(id, at, "mia", text) else { unreachable!("it was said") };
    message.place = Place::room(room.as_str());
    Input::Said(message)
}

/// Rooms that this one of `shards` has.
fn rooms_of(shard: usize, shards: usize) -> impl Iterator<Item = RoomId> {
    (0..).map(|number| RoomId::new(format!("log:room{number}"))).filter(move |room| shard_of(room, shards) == shard)
}

/// Everything that happens in `work` happens in a world that is gone the next instant.
fn live_and_vanish<F: Future<Output = ()>>(work: impl FnOnce() -> F) {
    let world = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    world.block_on(work());
    world.shutdown_timeout(Duration::from_secs(10));
}

#[test]
fn a_shard_without_a_snapshot_of_its_own_loses_nothing() {
    let (scratch, board) = (Scratch::in_memory(), Arc::new(Board::default()));
    let settings = policies(&["runtime.shards=2"]);
    let models = || Scripted::new(false, vec![line("write", "Hello!", 5_000)], &settings);
    let quiet: Vec<RoomId> = rooms_of(1, 2).take(8).collect();
    let busy = rooms_of(0, 2).next().unwrap();
    live_and_vanish(async || {
        let clock = Clock::starting_at(START);
        let life = EngineRun::with_store(
            saving_after(50),
            scratch.database(),
            settings.clone(),
            models(),
            board.clone(),
            clock,
        )
        .await;
        for (number, room) in quiet.iter().enumerate() {
            life.hear(said_in(room, &format!("q{number}"), clock.now(), "aizuchi, are you there?")).await;
        }
        for room in &quiet[4..] {
            life.hear(Input::Told(room.clone(), Command::Mute(None))).await;
        }
        for number in 0..200 {
            life.hear(said_in(&busy, &format!("b{number}"), clock.now(), "and then it rained")).await;
        }
    });
    live_and_vanish(async || {
        let clock = Clock::starting_at(START + Span::seconds(3));
        let life = EngineRun::with_store(
            saving_after(50),
            scratch.database(),
            settings.clone(),
            models(),
            board.clone(),
            clock,
        )
        .await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        for (number, room) in quiet.iter().enumerate() {
            let view = life.runtime.engine.view(room).await.unwrap().expect("the room is known");
            assert_eq!(view.mute.is_some(), number >= 4, "{room}: {view:?}");
        }
    });
    let posts = board.posts.lock().unwrap();
    let answered: BTreeSet<&str> = posts.iter().map(|(key, _)| key.split_once('#').unwrap().0).collect();
    assert_eq!(answered.len(), 4, "those who were not muted are answered: {posts:?}");
    assert_eq!(posts.len(), 4, "and once: {posts:?}");
}

const ROOMS: u64 = 12;
const LIVES: u64 = 6;
/// A soak tries more of them.
fn worlds() -> u64 {
    std::env::var("SHARD_WORLDS").ok().and_then(|worlds| worlds.parse().ok()).unwrap_or(10)
}

/// What was reported, and what must come of it.
#[derive(Default)]
struct Told {
    messages: Vec<(RoomId, String)>,
    mentions: BTreeMap<RoomId, u64>,
    muted: BTreeSet<RoomId>,
    /// When somebody last called in a room: its answer may be under way.
    called: BTreeMap<RoomId, Time>,
}

fn settings_of(dice: &mut Dice) -> (Policies, StoreSettings) {
    let shards = 1 + dice.roll(4);
    let records = [1, 3, 10, 40, 1000][dice.roll(5) as usize];
    (policies(&[&format!("runtime.shards={shards}")]), saving_after(records))
}

/// One life with its own number of shards, gone after a while or stopped as it should be.
fn live(scratch: &Scratch, board: &Arc<Board>, dice: &mut Dice, from: &mut Time, told: &mut Told, last: bool) {
    let (settings, store) = settings_of(dice);
    live_and_vanish(async || {
        let models = Scripted::new(false, vec![line("write", "Hello!", 700)], &settings);
        let (clock, database) = (Clock::starting_at(*from), scratch.database());
        let life = EngineRun::with_store(store.clone(), database, settings.clone(), models, board.clone(), clock).await;
        for _ in 0..dice.roll(30) {
            let room = RoomId::new(format!("log:room{}", dice.roll(ROOMS)));
            let id = format!("m{}", told.messages.len());
            let free = told.called.get(&room).is_none_or(|at| clock.now().since(*at) > Span::seconds(60));
            let text = match dice.roll(4) {
                0 if !told.muted.contains(&room) && free => {
                    *told.mentions.entry(room.clone()).or_default() += 1;
                    told.called.insert(room.clone(), clock.now());
                    "aizuchi, tell me"
                }
                1 if dice.roll(4) == 0 && free => {
                    life.hear(Input::Told(room.clone(), Command::Mute(None))).await;
                    told.muted.insert(room.clone());
                    continue;
                }
                _ => "and then it rained",
            };
            life.hear(said_in(&room, &id, clock.now(), text)).await;
            told.messages.push((room, id));
            tokio::time::sleep(Duration::from_millis(dice.roll(3_000))).await;
        }
        if last {
            tokio::time::sleep(Duration::from_secs(300)).await;
        }
        *from = clock.now();
        if last || dice.roll(3) == 0 {
            life.runtime.stop().await;
        }
    });
}

#[test]
fn any_number_of_shards_and_any_change_of_it_loses_nothing() {
    for seed in 0..worlds() {
        let (scratch, board) =
            (Scratch::in_memory(), Arc::new(Board { way: Duration::from_millis(60), ..Board::default() }));
        let (mut dice, mut from, mut told) = (Dice(seed), START, Told::default());
        for number in 0..=LIVES {
            live(&scratch, &board, &mut dice, &mut from, &mut told, number == LIVES);
            snapshots_say_what_the_journal_says(&scratch, seed);
        }
        check(&scratch, &board, &told, seed);
    }
}

#[test]
fn snapshots_of_another_number_of_shards_are_of_use() {
    let (scratch, board) = (Scratch::in_memory(), Arc::new(Board::default()));
    for (number, shards) in [2, 3, 3, 1, 4].into_iter().enumerate() {
        let settings = policies(&[&format!("runtime.shards={shards}")]);
        live_and_vanish(async || {
            let clock = Clock::starting_at(START + Span::seconds(number as u64));
            let models = Scripted::new(false, Vec::new(), &settings);
            let life = EngineRun::start(scratch.database(), settings.clone(), models, board.clone(), clock).await;
            let room = RoomId::new(format!("log:room{number}"));
            life.hear(said_in(&room, "m1", clock.now(), "and then it rained")).await;
        });
        let found = recovered(&scratch.0.join("aizuchi.db"), &settings, shards);
        assert_eq!(found.from, RecoveredFrom::Snapshots, "life {number} with {shards} shards");
    }
}

#[test]
fn records_missing_between_others_are_reported() {
    let (scratch, board) = (Scratch::in_memory(), Arc::new(Board::default()));
    let settings = policies(&[]);
    live_and_vanish(async || {
        let clock = Clock::starting_at(START);
        let models = Scripted::new(false, Vec::new(), &settings);
        let life = EngineRun::start(scratch.database(), settings.clone(), models, board.clone(), clock).await;
        for number in 0..6 {
            life.hear(said_in(&RoomId::new("log:room"), &format!("m{number}"), clock.now(), "it rained")).await;
        }
    });
    let path = scratch.0.join("aizuchi.db");
    assert_eq!(recovered(&path, &settings, 1).damaged, []);
    let store = Connection::open(&path).unwrap();
    store.execute("DELETE FROM journal WHERE seq IN (3, 4)", []).unwrap();
    let damaged = recovered(&path, &settings, 1).damaged;
    assert_eq!(damaged, [DamagedRecord::Missing { from: 3, to: 4 }]);
}

fn waiting<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

fn recovered(path: &Path, settings: &Policies, shards: usize) -> Recovered {
    waiting(async { recover(&Database::open_to_read(path).unwrap().into(), settings, shards).await.unwrap() })
}

/// What a start makes of the snapshots is what it would make of all records.
fn snapshots_say_what_the_journal_says(scratch: &Scratch, seed: u64) {
    let (path, copy) = (scratch.0.join("aizuchi.db"), scratch.0.join("copy.db"));
    let settings = policies(&["runtime.shards=3"]);
    let state = |path: &Path| {
        let engines = recovered(path, &settings, 3).engines;
        let rooms = |engine: &aizuchi_core::Engine| {
            let mut snapshot = serde_json::to_value(engine.snapshot()).unwrap();
            let rooms = snapshot["rooms"].as_array_mut().unwrap();
            rooms.sort_by_key(|room| room["id"].to_string());
            snapshot
        };
        engines.iter().map(rooms).collect::<Vec<_>>()
    };
    let with_snapshots = state(&path);
    let store = Connection::open(&path).unwrap();
    store.execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
    Connection::open(&copy).unwrap().execute_batch("DELETE FROM snapshot").unwrap();
    let from_records = state(&copy);
    std::fs::remove_file(&copy).unwrap();
    let (with_snapshots, from_records) = (Value::from(with_snapshots), Value::from(from_records));
    let difference = first_difference(&with_snapshots, &from_records);
    assert!(difference.is_none(), "seed {seed}: the snapshots differ from the records: {}", difference.unwrap());
}

/// Where two values differ first, and how.
fn first_difference(one: &Value, other: &Value) -> Option<String> {
    let within = |step: String, one: Option<&Value>, other: Option<&Value>| {
        let (one, other) = (one.unwrap_or(&Value::Null), other.unwrap_or(&Value::Null));
        first_difference(one, other).map(|difference| format!("{step}{difference}"))
    };
    match (one, other) {
        (Value::Object(some), Value::Object(others)) => {
            let keys: BTreeSet<&String> = some.keys().chain(others.keys()).collect();
            keys.into_iter().find_map(|key| within(format!(".{key}"), some.get(key), others.get(key)))
        }
        (Value::Array(some), Value::Array(others)) => (0..some.len().max(others.len()))
            .find_map(|index| within(format!("[{index}]"), some.get(index), others.get(index))),
        _ => (one != other).then(|| format!(": {one} and {other}")),
    }
}

fn check(scratch: &Scratch, board: &Board, told: &Told, seed: u64) {
    let posts = board.posts.lock().unwrap();
    let mut answers: BTreeMap<RoomId, u64> = BTreeMap::new();
    for (key, _) in posts.iter() {
        *answers.entry(RoomId::new(key.split_once('#').unwrap().0)).or_default() += 1;
    }
    assert_eq!(answers, told.mentions, "seed {seed}: each is answered once");
    let store = Connection::open(scratch.0.join("aizuchi.db")).unwrap();
    for (room, id) in &told.messages {
        let query = "SELECT count(*) FROM trace WHERE room = ?1 AND message = ?2";
        let decided: i64 = store.query_row(query, [room.as_str(), id], |row| row.get(0)).unwrap();
        assert_eq!(decided, 1, "seed {seed}: {id} in {room} is decided");
    }
    let settings = policies(&["runtime.shards=2"]);
    let now = Time(START.0 + 1_000_000_000);
    let path = scratch.0.join("aizuchi.db");
    for engine in recovered(&path, &settings, 2).engines {
        for number in 0..ROOMS {
            let room = RoomId::new(format!("log:room{number}"));
            let Some(view) = engine.view(&room, now) else { continue };
            assert_eq!(view.mute.is_some(), told.muted.contains(&room), "seed {seed}: {room}");
        }
    }
    // Lived again, the records lead to the same decisions.
    let (records, stored) = waiting(async {
        let database = Database::open_to_read(&path).unwrap();
        let records = Records::all(&database).await.unwrap().collect().await.unwrap();
        (records, traces::all(&database).await.unwrap())
    });
    let records: Vec<Record> = records.into_iter().map(|record| record.unwrap()).collect();
    let relived = relive(Engines::fresh(&settings), &records, None, &mut |_| ());
    let stored: StoredTraces = stored.into_iter().collect();
    let compared = DecisionComparison::of(&relived.decided, &stored, &EmptiedRecords::default(), &BTreeSet::new());
    assert!(compared.different.is_empty() && compared.missing == 0, "seed {seed}: {:?}", compared.different.first());
    assert_eq!(compared.same, told.messages.len() as u64, "seed {seed}");
}
