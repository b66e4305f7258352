//! What a cluster of one node carries on this machine: messages a second over 1, 10, 100 and 1,000 rooms, one by one and ten together, and
//! how long until a message is accepted and until it is recorded. `-- MESSAGES` sets how many each case has.

use std::sync::Arc;
use std::time::{Duration, Instant};

use aizuchi::cluster::{ClusterContext, RestateClient, Stamped, serve};
use aizuchi::models::offline;
use aizuchi::ports::{BoxFuture, ClusterStore, ModelClient};
use aizuchi::runtime::{Clock, RuntimeContext};
use aizuchi::stores::StoreSettings;
use aizuchi::stores::postgres::{PgTarget, PostgresDatabase};
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
/// Rooms that are told something at the same time at most, as by so many gateways.
const AT_ONCE: usize = 64;

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
    let messages = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(MESSAGES);
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let folder = Scratch::new("bench-cluster");
        let restate_server = RestateServer::start().await;
        let options = PostgresOptions { version: PostgresVersion::Debian, durable: true, ..PostgresOptions::default() };
        let postgres = PostgresServer::start(options).await;
        let name = postgres.empty_database().await;
        let target = PgTarget::new(&postgres.url(&name).into(), &|_| None).expect("a sound address");
        let database = PostgresDatabase::open_among_others(target, folder.join("postgres")).await.expect("a database");
        let restate = worker(&restate_server, &database).await;
        for (rooms, together) in [(1, 1), (10, 1), (100, 1), (100, 10), (1_000, 1), (1_000, 10)] {
            measure(&restate, (&postgres, &name), rooms, together, messages).await;
        }
        let state = restate.look(&room(100, 10, 0)).await.expect("a room can be looked at").encode().len();
        let journal = postgres.psql(&name, "select pg_total_relation_size('journal')").await;
        println!("a room of {} messages has {state} bytes; the journal has {} bytes", messages / 100, journal.trim());
    });
}

async fn worker(server: &RestateServer, database: &PostgresDatabase) -> RestateClient {
    let runtime = RuntimeContext {
        tools: Toolset::default(),
        clock: Clock::Wall,
        models: Arc::new(Offline),
        platforms: Vec::new(),
        keeper: None,
        events: broadcast::channel(16).0,
        ready: watch::channel(true).0,
        store: StoreSettings::default(),
    };
    let mut layers = Layers::default();
    layers.suggest_for_replay();
    let policies = layers.resolve(&|_| None).expect("the defaults are sound");
    let store: Arc<dyn ClusterStore> = Arc::new(database.clone());
    let context = Arc::new(ClusterContext::new(Arc::new(runtime), store, policies).await.expect("it starts"));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    tokio::spawn(serve(listener, context, CancellationToken::new()));
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
    let at = |percent: usize| waits[(waits.len() * percent / 100).min(waits.len() - 1)].as_secs_f64() * 1e3;
    println!(
        "{rooms:>5} rooms, {together:>2} together: {:>6.0} messages/s accepted, {:>6.0} recorded; accepted p50 {:.1} ms, p99 {:.1} ms",
        total as f64 / accepted.as_secs_f64(),
        total as f64 / recorded.as_secs_f64(),
        at(50),
        at(99)
    );
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
    Stamped { at, input: Input::Said(message) }
}
