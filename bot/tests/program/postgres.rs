//! Everything in PostgreSQL: the program killed at any instant, and the server too. No message is lost, nothing is said twice.

use std::net::SocketAddr;
use std::time::{Duration, Instant, SystemTime};

use aizuchi_test_servers::postgres::{PostgresOptions, PostgresServer, PostgresVersion, StopMode};
use aizuchi_test_servers::program::PATIENCE;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::{mpsc, watch};

use crate::crash::{PEOPLE, SETTINGS};
use crate::crowd::{Draw, News, Talker, Wish};
use crate::ledger::{Ledger, Terms};
use crate::moment::Moment;
use crate::program::{Home, eventually, new_home};

/// How often the program is killed, and how often the server. `./dev soak` sets POSTGRES_KILLS and POSTGRES_STOPS to more.
const KILLS: u64 = 12;
const STOPS: u64 = 6;
/// Within which somebody says the next thing, where a machine does more than one thing.
const THINKS_MS: u64 = 1_500;
const THINKS_LONG_MS: u64 = 6_000;
/// People who are alone in a room.
pub const ALONE: [(&str, &str); 3] = [("ada", "attic"), ("ben", "cellar"), ("cho", "porch")];

pub fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().expect("a number"))
}

pub fn seed() -> u64 {
    let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("it is past 1970");
    let seed = number("CRASH_SEED").unwrap_or(clock.as_millis() as u64);
    println!("CRASH_SEED={seed}");
    seed
}

/// A program whose store is in a database of this server.
async fn at_home(server: &PostgresServer) -> Home {
    let mut home = new_home(SETTINGS);
    home.set(format!("store.url={}", server.url(&server.empty_database().await)));
    home
}

async fn durable(version: PostgresVersion) -> PostgresServer {
    PostgresServer::start(PostgresOptions { version, durable: true, ..PostgresOptions::default() }).await
}

/// People who talk until they get the signal to finish.
pub struct Crowd {
    people: Vec<tokio::task::JoinHandle<Talker>>,
    wish: watch::Sender<Wish>,
    pub news: mpsc::UnboundedReceiver<News>,
}

impl Crowd {
    pub fn gather(home: &Home, seed: u64) -> Crowd {
        let (tell, news) = mpsc::unbounded_channel();
        let (wish, wished) = watch::channel(Wish::Talk);
        let talker = |(number, who)| Talker::new(who, home.address, seed ^ number as u64, tell.clone(), wished.clone());
        let talkers = PEOPLE.into_iter().enumerate().map(talker);
        Crowd { people: talkers.map(|talker| tokio::spawn(talker.talk())).collect(), wish, news }
    }

    /// The same people in the rooms of several gateways, with time to think, and some who talk to themselves: there it waits for quiet.
    pub fn gather_at(rooms: &[SocketAddr], seed: u64) -> Crowd {
        let (tell, news) = mpsc::unbounded_channel();
        let (wish, wished) = watch::channel(Wish::Talk);
        let talker = |(number, who): (usize, _)| {
            let room = rooms[number % rooms.len()];
            let within_ms = if number < PEOPLE.len() { THINKS_MS } else { THINKS_LONG_MS };
            Talker::new(who, room, seed ^ number as u64, tell.clone(), wished.clone()).saying_within(within_ms)
        };
        let talkers = PEOPLE.into_iter().chain(ALONE).enumerate().map(talker);
        Crowd { people: talkers.map(|talker| tokio::spawn(talker.talk())).collect(), wish, news }
    }

    /// They finish, and what they know is held against the store.
    pub async fn part(self, home: &Home) -> usize {
        self.wish.send_replace(Wish::Finish);
        let mut knowing = Vec::new();
        for talker in self.people {
            knowing.push(talker.await.expect("nobody receives anything twice"));
        }
        let until = Instant::now() + PATIENCE;
        loop {
            let pending = Ledger::read(&copy_of(home).await).pending(&knowing);
            if pending.is_empty() {
                break;
            }
            assert!(Instant::now() < until, "still pending:\n{}", pending.join("\n"));
        }
        // An answer of several posts may still be on its way when it is decided.
        let store = eventually("everybody is shown everything", async || {
            for talker in &mut knowing {
                talker.visit().await.expect("they are shown the rest");
            }
            let store = copy_of(home).await;
            let has_seen =
                |talker: &Talker| talker.missed(said_in(&store, talker.room).iter().map(String::as_str)).is_empty();
            knowing.iter().all(has_seen).then_some(store)
        })
        .await;
        let answered = Ledger::read(&store).check(&knowing, &Terms::default()).with_words;
        let taken: usize = knowing.iter().map(|talker| talker.taken.len()).sum();
        println!("{taken} messages, {answered} calls answered");
        taken
    }
}

fn said_in(store: &Connection, room: &str) -> Vec<String> {
    let mut statement =
        store.prepare("SELECT id FROM web_message WHERE room = ?1 ORDER BY first_seq").expect("a copy is a store");
    let ids = statement.query_map([room], |row| row.get(0)).expect("a copy can be read");
    ids.map(|id| id.expect("a copy can be read")).collect()
}

/// What the store holds, in a file that can be looked into.
pub async fn copy_of(home: &Home) -> Connection {
    let file = home.folder().join("copy.db");
    for leftover in ["copy.db", "copy.db-wal", "copy.db-shm"] {
        let _ = std::fs::remove_file(home.folder().join(leftover));
    }
    let told = home.command(&["backup", &file.to_string_lossy()]).await;
    assert!(told.contains("wrote "), "{told}");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(&file, flags).expect("a copy can be read")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_any_instant_it_loses_nothing_and_says_nothing_twice() {
    let (server, seed) = (durable(PostgresVersion::WithVector).await, seed());
    let home = at_home(&server).await;
    let mut crowd = Crowd::gather(&home, seed);
    let mut draw = Draw(seed);
    for _ in 0..number("POSTGRES_KILLS").unwrap_or(KILLS) {
        let death = Moment::draw(&mut draw);
        println!("{death:?}");
        let mut program = home.spawn();
        death.come(&mut crowd.news).await;
        assert!(program.has_ended().is_none(), "it died by itself:\n{}", program.said());
        program.kill();
    }
    let mut program = home.start().await;
    assert!(crowd.part(&home).await > 0, "somebody said something");
    program.terminate();
    assert!(program.ended().await.success(), "{}", program.said());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_crashes_again_and_again_loses_nothing_and_nothing_is_said_twice() {
    let (server, seed) = (durable(PostgresVersion::Debian).await, seed());
    let home = at_home(&server).await;
    let mut program = home.start().await;
    let mut crowd = Crowd::gather(&home, seed);
    let mut draw = Draw(seed);
    for _ in 0..number("POSTGRES_STOPS").unwrap_or(STOPS) {
        // Some talk in between.
        Moment::draw(&mut draw).come(&mut crowd.news).await;
        server.stop(StopMode::Immediate).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        server.start_again().await;
        assert!(program.has_ended().is_none(), "it died of it:\n{}", program.said());
    }
    assert!(crowd.part(&home).await > 0, "somebody said something");
    program.terminate();
    assert!(program.ended().await.success(), "{}", program.said());
}

/// The server is lost and its standby takes over; later it is back, as a second one that accepts writes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_that_takes_over_has_everything() {
    let (server, seed) = (durable(PostgresVersion::Debian).await, seed());
    let database = server.empty_database().await;
    let standby = server.start_standby().await;
    let mut home = new_home(SETTINGS);
    home.set(format!("store.url={}", server.url_with(&standby, &database)));
    let mut program = home.start().await;
    let mut crowd = Crowd::gather(&home, seed);
    let mut draw = Draw(seed);
    for _ in 0..3 {
        Moment::draw(&mut draw).come(&mut crowd.news).await;
    }
    server.kill_9();
    standby.promote().await;
    for _ in 0..3 {
        Moment::draw(&mut draw).come(&mut crowd.news).await;
    }
    // The old one is back and accepts writes, but knows nothing of what was said since: it is not used.
    server.start_again().await;
    server.psql("postgres", "alter system reset synchronous_standby_names").await;
    server.psql("postgres", "select pg_reload_conf()").await;
    for _ in 0..3 {
        standby
            .psql("postgres", "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'aizuchi'")
            .await;
        Moment::draw(&mut draw).come(&mut crowd.news).await;
    }
    assert!(program.has_ended().is_none(), "it died of it:\n{}", program.said());
    assert!(crowd.part(&home).await > 0, "somebody said something");
    program.terminate();
    assert!(program.ended().await.success(), "{}", program.said());
}

/// A standby that had not received everything is not taken for the server, and says so; what was acknowledged is waited for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_that_lacks_something_is_not_used() {
    let (server, seed) = (durable(PostgresVersion::Debian).await, seed());
    let database = server.empty_database().await;
    let standby = server.start_standby().await;
    let mut home = new_home(SETTINGS);
    home.set(format!("store.url={}", server.url_with(&standby, &database)));
    let mut program = home.start().await;
    let mut crowd = Crowd::gather(&home, seed);
    let mut draw = Draw(seed);
    Moment::draw(&mut draw).come(&mut crowd.news).await;
    // From now on the standby hears nothing.
    server.psql("postgres", "alter system reset synchronous_standby_names").await;
    server.psql("postgres", "select pg_reload_conf()").await;
    standby.psql("postgres", "alter system set primary_conninfo = ''").await;
    standby.psql("postgres", "select pg_reload_conf()").await;
    eventually("nothing is replicated", async || {
        (server.psql("postgres", "select count(*) from pg_stat_replication").await == "0").then_some(())
    })
    .await;
    let counted = async || server.psql(&database, "select count(*) from journal").await;
    let before = counted().await;
    eventually("something more is said", async || (counted().await != before).then_some(())).await;
    server.stop(StopMode::Immediate).await;
    standby.promote().await;
    let refused = "does not have what was stored last";
    eventually("it says why it waits", async || program.said().contains(refused).then_some(())).await;
    server.start_again().await;
    assert!(crowd.part(&home).await > 0, "somebody said something");
    program.terminate();
    assert!(program.ended().await.success(), "{}", program.said());
}

#[tokio::test]
async fn what_cannot_be_used_is_told_with_what_would_be_right() {
    let server = durable(PostgresVersion::Debian).await;
    let refused = async |url: String| {
        let mut home = new_home(&[]);
        home.set(format!("store.url={url}"));
        let (code, told) = home.refused().await;
        assert!(code.is_some_and(|code| code != 0), "{told}");
        told
    };
    server.create_database("latin", Some("LATIN1")).await;
    let told = refused(server.url("latin")).await;
    assert!(told.contains("has the encoding LATIN1") && told.contains("ENCODING 'UTF8'"), "{told}");
    let told = refused(server.url("nowhere")).await;
    assert!(told.contains("database \"nowhere\" does not exist"), "{told}");
    let told = refused("mysql://db/talk".into()).await;
    assert!(told.contains("`store.url` must begin with postgres://, got mysql://"), "{told}");
    let newer = server.empty_database().await;
    server.psql(&newer, "create table store_version (version int); insert into store_version values (999); grant all on store_version to public").await;
    let told = refused(server.url(&newer)).await;
    assert!(told.contains("the store has version 999"), "{told}");
    let bouncer = aizuchi_test_servers::pgbouncer::PgBouncer::start(&server).await;
    let name = server.empty_database().await;
    let told = refused(bouncer.url(&name)).await;
    assert!(told.contains("connection pooler in transaction mode"), "{told}");
    // It keeps no lock for anybody.
    let mut home = new_home(&[]);
    home.set(format!("store.url={}", server.url(&name)));
    let mut program = home.start().await;
    program.terminate();
    assert!(program.ended().await.success(), "{}", program.said());
    server.psql(&name, "alter table journal owner to postgres; grant all on journal to public").await;
    let told = refused(server.url(&name)).await;
    assert!(told.contains("the role aizuchi does not own the table journal"), "{told}");
    let told = home.command(&["doctor"]).await;
    assert!(told.contains("does not own the table journal"), "{told}");
    server.psql(&name, "update store_version set version = 0").await;
    let told = refused(server.url(&name)).await;
    assert!(told.contains("does not own") || told.contains("store_version has no version"), "{told}");
    let mut home = new_home(&["memory.facts_store=postgres"]);
    let (code, told) = home.refused().await;
    assert!(code == Some(2) && told.contains("set store.url"), "{told}");
    home.set("store.url=postgres://mia:S3cr3t p@ss/w%rd@127.0.0.1/talk");
    let (code, told) = home.refused().await;
    assert!(code == Some(2) && told.contains("percent-encode") && !told.contains("ss/w"), "{told}");
}

/// However it is spelt, a store is not emptied to be copied into itself.
#[tokio::test]
async fn a_store_is_not_copied_into_itself() {
    let (server, home) = (durable(PostgresVersion::Debian).await, new_home(&[]));
    let mut program = home.start().await;
    program.terminate();
    assert!(program.ended().await.success(), "{}", program.said());
    let url = server.url(&server.empty_database().await);
    let (file, other) = (home.data().display().to_string(), url.replace("127.0.0.1", "localhost"));
    home.ask(&["store", "copy", "--from", &file, "--to", &url]);
    let link = home.folder().join("link");
    std::os::unix::fs::symlink(home.data(), &link).expect("a link can be made");
    let database = home.data().join("aizuchi.db").display().to_string();
    let spelt = [(&url, &other), (&file, &link.display().to_string()), (&database, &file)];
    for (from, to) in spelt {
        let told = home.plain_command(&["store", "copy", "--from", from, "--to", to, "--replace"]).await;
        assert!(told.contains("are the same store; nothing was changed"), "{told}");
    }
    let told = home.ask(&["store", "copy", "--from", &file, "--to", &url]);
    assert!(told.starts_with("copied 0 rows") || told.contains("were there already"), "{told}");
}

#[tokio::test]
async fn one_program_at_a_time_runs_on_a_database() {
    let server = durable(PostgresVersion::Debian).await;
    let url = format!("store.url={}", server.url(&server.empty_database().await));
    let (mut first, mut second) = (new_home(&[]), new_home(&[]));
    first.set(url.clone());
    second.set(url);
    let mut running = first.start().await;
    let (code, told) = second.refused().await;
    assert!(code == Some(1) && told.contains("another aizuchi is using the database"), "{told}");
    running.kill();
    let mut running = second.start().await;
    running.terminate();
    assert!(running.ended().await.success(), "{}", running.said());
}

/// A server that is not there yet is waited for.
#[tokio::test]
async fn a_start_waits_for_its_server() {
    let server = durable(PostgresVersion::Debian).await;
    let home = at_home(&server).await;
    server.stop(StopMode::Fast).await;
    let program = home.spawn();
    eventually("it says what it waits for", async || program.said().contains("waiting for the store").then_some(()))
        .await;
    server.start_again().await;
    let open = format!("is in the room: http://{}", home.address);
    eventually("its room is open", async || program.said().contains(&open).then_some(())).await;
}

/// The certificate of the server is verified.
#[tokio::test]
async fn a_connection_across_a_network_is_encrypted_and_verified() {
    let options = PostgresOptions { tls: true, ..PostgresOptions::default() };
    let server = PostgresServer::start(options).await;
    let name = server.empty_database().await;
    let authority = server.authority_file().expect("it has certificates").display().to_string();
    let mut home = new_home(&[]);
    home.set(format!("store.url={}?sslmode=verify-full&sslrootcert={authority}", server.url(&name)));
    let mut program = home.start().await;
    program.terminate();
    assert!(program.ended().await.success(), "{}", program.said());
    let mut trusting_nobody = new_home(&[]);
    trusting_nobody.set(format!("store.url={}?sslmode=require", server.url(&name)));
    let (_, told) = trusting_nobody.refused().await;
    assert!(told.contains("certificate"), "{told}");
}

/// From the file into a database and on into a file, while a program writes to the first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_moves_into_a_database_and_back() {
    let (server, home, seed) = (durable(PostgresVersion::Debian).await, new_home(SETTINGS), seed());
    let mut program = home.start().await;
    let mut crowd = Crowd::gather(&home, seed);
    Moment::draw(&mut Draw(seed)).come(&mut crowd.news).await;
    let (file, url) = (home.data().display().to_string(), server.url(&server.empty_database().await));
    let told = home.ask(&["store", "copy", "--from", &file, "--to", &url]);
    assert!(told.contains("counted and compared") && !told.contains("pass"), "{told}");
    assert!(crowd.part(&home).await > 0, "the program was not disturbed");
    program.terminate();
    assert!(program.ended().await.success(), "{}", program.said());
    let replaced = home.ask(&["store", "copy", "--from", &file, "--to", &url, "--replace"]);
    let again = home.ask(&["store", "copy", "--from", &file, "--to", &url]);
    assert!(again.contains("were there already"), "{again}");
    let back = home.folder().join("back").display().to_string();
    let returned = home.ask(&["store", "copy", "--from", &url, "--to", &back]);
    let counts = |told: &str| told.split_once(": ").map(|(_, counts)| counts.to_owned());
    assert_eq!(counts(&replaced.replace(&url, "")), counts(&returned.replace(&url, "")), "{replaced} {returned}");
    let mut elsewhere = new_home(SETTINGS);
    elsewhere.set(format!("store.url={url}"));
    let mut program = elsewhere.start().await;
    program.terminate();
    assert!(program.ended().await.success(), "{}", program.said());
    let told = elsewhere.command(&["doctor"]).await;
    assert!(told.contains("was written to and read"), "{told}");
}
