//! What a cluster of one node carries on this machine: messages a second over 1, 10, 100 and 1,000 rooms, one by one and ten together, and
//! how long until a message is accepted and until it is decided, also at a steady 200 messages a second, and for how long nothing is
//! decided when the worker is killed. What each part costs in time of a core and on disk, and the engine of a single process with SQLite
//! beside it. `-- MESSAGES` sets how many each case has, `-- steady` leaves out those that push as hard as they can.

use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use aizuchi::cluster::{ClusterContext, RestateClient, Stamped, serve};
use aizuchi::models::offline;
use aizuchi::ports::{BoxFuture, ClusterStore, ModelClient};
use aizuchi::runtime::{Clock, Runtime, RuntimeContext};
use aizuchi::stores::postgres::{PgTarget, PostgresDatabase};
use aizuchi::stores::{Database, StoreSettings};
use aizuchi::tools::Toolset;
use aizuchi_core::effect::{Ask, Brief, Failure};
use aizuchi_core::input::Answer;
use aizuchi_core::settings::Layers;
use aizuchi_core::types::{Author, Message, MessageId, PersonId, Place, RoomId, Visibility, Voice};
use aizuchi_core::{Input, Policies};
use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::postgres::{PostgresOptions, PostgresServer, PostgresVersion};
use aizuchi_test_servers::restate::RestateServer;
use tokio::net::TcpListener;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

const MESSAGES: usize = 3_000;
/// The most rooms that get something at the same time, as by so many gateways.
const AT_ONCE: usize = 64;
const STEADY_A_SECOND: usize = 200;
const STEADY_SECONDS: usize = 60;
/// Within which a message is to be accepted.
const AIM: Duration = Duration::from_millis(25);
/// Servers go on writing for a while what came as fast as they could take it.
const QUIET_BEFORE: Duration = Duration::from_secs(10);
const STEADY_ROOMS: usize = 100;
/// How long people talk before the worker is killed, and after it.
const FAILOVER_SECONDS: usize = 10;
const FAILOVER_A_SECOND: usize = 50;
/// What a worker that is a process of its own listens on, and its database.
const WORKER_LISTEN: &str = "BENCH_WORKER_LISTEN";
const WORKER_STORE: &str = "BENCH_WORKER_STORE";

/// Answers at once.
struct Offline;

impl ModelClient for Offline {
    fn judge(self: Arc<Self>, ask: Box<Ask>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        Box::pin(std::future::ready(Ok(offline::answer(offline::judge(&ask), &ask.transcript))))
    }

    fn write(self: Arc<Self>, brief: Box<Brief>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        Box::pin(std::future::ready(Ok(offline::answer("Well.".to_owned(), &brief.transcript))))
    }
}

fn main() {
    if let Ok(listen) = std::env::var(WORKER_LISTEN) {
        return tokio::runtime::Runtime::new().expect("a runtime").block_on(be_worker(&listen));
    }
    let messages = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(MESSAGES);
    let pushes = !std::env::args().any(|argument| argument == "steady");
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let folder = Scratch::new("bench-cluster");
        let restate_server = RestateServer::start().await;
        let options = PostgresOptions { version: PostgresVersion::Debian, durable: true, ..PostgresOptions::default() };
        let postgres = PostgresServer::start(options).await;
        let name = postgres.empty_database().await;
        let database = open(&postgres.url(&name), &folder).await;
        let restate = worker(&restate_server, &database).await;
        let cases = [(1, 1), (10, 1), (100, 1), (100, 10), (1_000, 1), (1_000, 10)];
        for (rooms, together) in cases.into_iter().filter(|_| pushes) {
            let parts = Parts::now(&restate_server, &postgres);
            measure(&restate, (&postgres, &name), rooms, together, messages).await;
            parts.print(&Parts::now(&restate_server, &postgres), (messages / rooms).max(together) * rooms);
        }
        tokio::time::sleep(QUIET_BEFORE).await;
        steady(&restate, (&postgres, &name), Until::Accepted).await;
        steady(&restate, (&postgres, &name), Until::Decided).await;
        failover(&restate, &postgres.url(&name)).await;
        if !pushes {
            return;
        }
        let state = restate.look(&room(100, 10, 0)).await.expect("a room can be looked at").encode().len();
        let journal = postgres.psql(&name, "select pg_total_relation_size('journal')").await;
        println!("a room of {} messages has {state} bytes; the journal has {} bytes", messages / 100, journal.trim());
        let database = postgres.psql(&name, "select pg_database_size(current_database())").await;
        println!("the database has {} bytes for {} messages", database.trim(), said((&postgres, &name)).await);
        single_process(messages).await;
    });
}

fn offline_context() -> RuntimeContext {
    RuntimeContext {
        tools: Toolset::default(),
        clock: Clock::Wall,
        models: Arc::new(Offline),
        platforms: Vec::new(),
        keeper: None,
        events: broadcast::channel(16).0,
        ready: watch::channel(true).0,
        store: StoreSettings::default(),
    }
}

fn policies() -> Policies {
    let mut layers = Layers::default();
    layers.suggest_for_replay();
    layers.resolve(&|_| None).expect("the defaults are sound")
}

async fn open(url: &str, folder: &Scratch) -> PostgresDatabase {
    let target = PgTarget::new(&url.to_owned().into(), &|_| None).expect("a sound address");
    PostgresDatabase::open_among_others(target, folder.join("postgres")).await.expect("a database")
}

async fn context(database: &PostgresDatabase) -> Arc<ClusterContext> {
    let store: Arc<dyn ClusterStore> = Arc::new(database.clone());
    Arc::new(ClusterContext::new(Arc::new(offline_context()), store, policies()).await.expect("it starts"))
}

async fn worker(server: &RestateServer, database: &PostgresDatabase) -> RestateClient {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    tokio::spawn(serve(listener, context(database).await, CancellationToken::new()));
    let restate = RestateClient::new(&server.ingress(), &server.admin()).expect("sound addresses");
    restate.register(&format!("http://{address}")).await.expect("the worker answers");
    restate
}

fn room(rooms: usize, together: usize, number: usize) -> RoomId {
    RoomId::new(format!("log:{rooms}-{together}-{number}"))
}

async fn measure(
    restate: &RestateClient,
    database: (&PostgresServer, &str),
    rooms: usize,
    together: usize,
    messages: usize,
) {
    let before = said(database).await;
    let (each, started) = ((messages / rooms).max(together), Instant::now());
    let turns = Arc::new(tokio::sync::Semaphore::new(AT_ONCE));
    let mut telling = tokio::task::JoinSet::new();
    for number in 0..rooms {
        let (restate, turns) = (restate.clone(), turns.clone());
        telling.spawn(async move {
            let (room, mut waits) = (room(rooms, together, number), Vec::new());
            for first in (0..each).step_by(together) {
                let told: Vec<Stamped> = (first..each.min(first + together)).map(|nth| message(&room, nth)).collect();
                let _turn = turns.acquire().await.expect("it is never closed");
                let begun = Instant::now();
                restate.tell(&room, &format!("{room}-{first}"), &told).await.expect("it is accepted");
                waits.push(begun.elapsed());
            }
            waits
        });
    }
    let mut waits: Vec<Duration> = telling.join_all().await.into_iter().flatten().collect();
    let accepted = started.elapsed();
    let total = (each * rooms) as u64;
    while said(database).await - before < total {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let recorded = started.elapsed();
    waits.sort();
    println!(
        "{rooms:>5} rooms, {together:>2} together: {:>6.0} messages/s accepted, {:>6.0} recorded; accepted p50 {:.1} ms, p99 {:.1} ms",
        total as f64 / accepted.as_secs_f64(),
        total as f64 / recorded.as_secs_f64(),
        percentile_ms(&waits, 50),
        percentile_ms(&waits, 99)
    );
}

/// Time of a core that each part has used so far, in seconds.
struct Parts {
    own: f64,
    restate: f64,
    postgres: f64,
}

impl Parts {
    fn now(restate: &RestateServer, postgres: &PostgresServer) -> Parts {
        let of = |id: Option<u32>| id.map_or(0.0, core_seconds_of_tree);
        // Worker and gateway are in this process, which has the clients too.
        Parts { own: core_seconds(std::process::id()), restate: of(restate.id()), postgres: of(postgres.id()) }
    }

    fn print(&self, later: &Parts, messages: usize) {
        let each = |from: f64, to: f64| (to - from) * 1e6 / messages as f64;
        println!(
            "      a message: {:.0} µs of a core here (worker and sender), {:.0} in Restate, {:.0} in PostgreSQL",
            each(self.own, later.own),
            each(self.restate, later.restate),
            each(self.postgres, later.postgres)
        );
    }
}

/// Of this process and those it started: PostgreSQL has one for each connection.
fn core_seconds_of_tree(id: u32) -> f64 {
    let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    let children = children.split_whitespace().filter_map(|child| child.parse().ok());
    core_seconds(id) + children.map(core_seconds_of_tree).sum::<f64>()
}

fn core_seconds(id: u32) -> f64 {
    const TICKS_A_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    // The name of the program is in parentheses, and may hold spaces.
    let fields: Vec<&str> = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
    // User and system time, and that of children that have ended.
    let ticks = fields.get(11..15).unwrap_or_default().iter().filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS_A_SECOND
}

/// A worker that can be killed.
async fn be_worker(listen: &str) {
    let folder = Scratch::new("bench-cluster-worker");
    let database = open(&std::env::var(WORKER_STORE).expect("the variable names the database"), &folder).await;
    let listener = TcpListener::bind(listen).await.expect("the port is free");
    serve(listener, context(&database).await, CancellationToken::new()).await;
}

fn start_worker(listen: &str, store: &str) -> Child {
    let own = std::env::current_exe().expect("it has a name");
    Command::new(own).env(WORKER_LISTEN, listen).env(WORKER_STORE, store).spawn().expect("it starts")
}

/// What a message is waited for.
#[derive(Clone, Copy, PartialEq)]
enum Until {
    Accepted,
    /// The room has handled it, so that it is recorded too.
    Decided,
}

/// An overloaded server may not answer in time: then it is said again, under the same key.
async fn say(restate: &RestateClient, until: Until, key: &str, room: &RoomId, nth: usize) {
    let told = [message(room, nth)];
    let say = async || match until {
        Until::Accepted => restate.tell(room, key, &told).await,
        Until::Decided => restate.call(room, key, &told).await,
    };
    while say().await.is_err() {}
}

/// The worker is killed while people talk, and started again at once.
async fn failover(restate: &RestateClient, store: &str) {
    let listen = aizuchi_test_servers::ports::free_address().to_string();
    let mut worker = start_worker(&listen, store);
    while tokio::net::TcpStream::connect(&listen).await.is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    restate.register(&format!("http://{listen}")).await.expect("the worker answers");
    let (every, begun) = (Duration::from_secs(1) / FAILOVER_A_SECOND as u32, Instant::now());
    let mut talking = tokio::task::JoinSet::new();
    for nth in 0..2 * FAILOVER_A_SECOND * FAILOVER_SECONDS {
        tokio::time::sleep_until((begun + every * nth as u32).into()).await;
        if nth == FAILOVER_A_SECOND * FAILOVER_SECONDS {
            worker.kill().and_then(|()| worker.wait()).expect("it can be killed");
            worker = start_worker(&listen, store);
        }
        let restate = restate.clone();
        talking.spawn(async move {
            let (room, said) = (room(0, 2, nth % STEADY_ROOMS), Instant::now());
            say(&restate, Until::Decided, &format!("failover-{nth}"), &room, nth).await;
            (Instant::now(), said.elapsed())
        });
    }
    let mut decided = talking.join_all().await;
    decided.sort();
    let silence = decided.windows(2).map(|pair| pair[1].0 - pair[0].0).max().unwrap_or_default();
    let longest = decided.iter().map(|(_, took)| *took).max().unwrap_or_default();
    println!(
        "a worker killed at {FAILOVER_A_SECOND} messages/s: {:.1} s without a decision, at most {:.1} s until a message was decided",
        silence.as_secs_f64(),
        longest.as_secs_f64()
    );
    worker.kill().and_then(|()| worker.wait()).expect("it can be killed");
}

/// How late this process was at each look: what it waits for is not all the servers' doing.
async fn watch_own_stalls(stop: CancellationToken) -> Vec<Duration> {
    const LOOKS_EVERY: Duration = Duration::from_millis(5);
    let mut late = Vec::new();
    while !stop.is_cancelled() {
        let begun = Instant::now();
        tokio::time::sleep(LOOKS_EVERY).await;
        late.push(begun.elapsed().saturating_sub(LOOKS_EVERY));
    }
    late.sort();
    late
}

/// Each message at its time, whatever the ones before it do. A second in which servers flush what they hold is a part of it.
async fn steady(restate: &RestateClient, database: (&PostgresServer, &str), until: Until) {
    let stop = CancellationToken::new();
    let stalls = tokio::spawn(watch_own_stalls(stop.clone()));
    let (before, started) = (said(database).await, Instant::now());
    let every = Duration::from_secs(1) / STEADY_A_SECOND as u32;
    let mut telling = tokio::task::JoinSet::new();
    for nth in 0..STEADY_A_SECOND * STEADY_SECONDS {
        tokio::time::sleep_until((started + every * nth as u32).into()).await;
        let restate = restate.clone();
        telling.spawn(async move {
            let (room, begun) = (room(0, until as usize, nth % STEADY_ROOMS), Instant::now());
            let key = format!("steady-{}-{nth}", until as usize);
            say(&restate, until, &key, &room, nth).await;
            (begun.elapsed(), nth / STEADY_A_SECOND)
        });
    }
    let said_then = telling.join_all().await;
    let mut waits: Vec<Duration> = said_then.iter().map(|(took, _)| *took).collect();
    waits.sort();
    let slow = said_then.iter().filter(|(took, _)| *took > AIM).map(|(_, second)| *second);
    let slow_seconds = slow.collect::<std::collections::BTreeSet<usize>>().len();
    while said(database).await - before < waits.len() as u64 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let behind = started.elapsed().saturating_sub(Duration::from_secs(STEADY_SECONDS as u64));
    stop.cancel();
    let stalls = stalls.await.expect("it only looks");
    println!(
        "{STEADY_ROOMS:>5} rooms, {STEADY_A_SECOND} messages/s for {STEADY_SECONDS} s: {} p50 {:.1} ms, p99 {:.1} ms; the last was \
         recorded {:.1} ms after it was due",
        if until == Until::Accepted { "accepted" } else { "decided" },
        percentile_ms(&waits, 50),
        percentile_ms(&waits, 99),
        behind.as_secs_f64() * 1e3
    );
    println!(
        "      {slow_seconds} of the {STEADY_SECONDS} seconds had one above {} ms; this process itself was late p99 {:.1} ms, at most {:.1} ms",
        AIM.as_millis(),
        percentile_ms(&stalls, 99),
        percentile_ms(&stalls, 100)
    );
}

/// The same messages to the engines of one process, each durable in SQLite before the next of its room.
async fn single_process(messages: usize) {
    const ROOMS: usize = 100;
    let folder = Scratch::new("bench-single");
    let database = Database::open(&folder.join("aizuchi.db")).expect("a store");
    let runtime = Runtime::start(database, policies(), Arc::new(offline_context())).await.expect("it starts");
    let (own, started) = (core_seconds(std::process::id()), Instant::now());
    let mut telling = tokio::task::JoinSet::new();
    for number in 0..ROOMS {
        let engine = runtime.engine.clone();
        telling.spawn(async move {
            let room = room(1, 1, number);
            for nth in 0..messages / ROOMS {
                engine.submit(message(&room, nth).input).await.expect("it runs");
            }
        });
    }
    telling.join_all().await;
    let (took, total) = (started.elapsed(), messages / ROOMS * ROOMS);
    println!(
        "one process with SQLite, {ROOMS} rooms, one by one: {:.0} messages/s durable, {:.0} µs of a core each",
        total as f64 / took.as_secs_f64(),
        (core_seconds(std::process::id()) - own) * 1e6 / total as f64
    );
    runtime.stop().await;
}

fn percentile_ms(sorted: &[Duration], percent: usize) -> f64 {
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)].as_secs_f64() * 1e3
}

/// Messages that are recorded.
async fn said((server, name): (&PostgresServer, &str)) -> u64 {
    let count = server.psql(name, "select count(*) from journal where person is not null").await;
    count.trim().parse().expect("a number")
}

fn message(room: &RoomId, number: usize) -> Stamped {
    let at = Clock::Wall.now();
    let author = format!("p{}", number % 7);
    let text = "and how long does the oven take until it is warm enough for bread?";
    let message = Message {
        id: MessageId::new(format!("m{number}")),
        place: Place { room: room.clone(), thread: None },
        at,
        author: Author { id: PersonId::new(&author), name: author.as_str().into(), voice: Voice::Person },
        text: text.into(),
        reply: None,
        mentions: Vec::new(),
        mentions_me: false,
        visibility: Visibility::Public,
        backfilled: false,
        heard: None,
    };
    Stamped::new(at, Input::Said(message))
}
