//! A worker in this process, a Restate server of one node and a database of its own.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aizuchi::cluster::{ClusterContext, RestateClient, RoomState, serve};
use aizuchi::journal::{Record, Records, traces};
use aizuchi::ports::{ClusterStore, ModelClient};
use aizuchi::runtime::{Clock, RuntimeContext};
use aizuchi::stores::StoreSettings;
use aizuchi::stores::postgres::{PgTarget, PostgresDatabase};
use aizuchi::tools::Toolset;
use aizuchi_core::types::{CallId, RoomId};
use aizuchi_core::{Policies, Trace};
use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::postgres::{PostgresServer, PostgresVersion, shared};
use aizuchi_test_servers::program::PATIENCE;
use aizuchi_test_servers::restate::RestateServer;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{broadcast, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::held_models::HeldModels;
use crate::made_up::Board;

pub struct OneNode {
    pub restate: RestateClient,
    pub server: RestateServer,
    pub context: Arc<ClusterContext>,
    pub database: PostgresDatabase,
    pub board: Arc<Board>,
    pub clock: Clock,
    url: String,
    address: SocketAddr,
    worker: Mutex<CancellationToken>,
    postgres: Arc<PostgresServer>,
    _folder: Scratch,
}

impl OneNode {
    pub async fn start(policies: Policies, models: Arc<dyn ModelClient>, clock: Clock) -> OneNode {
        let postgres = shared(PostgresVersion::Debian).await;
        let url = postgres.url(&postgres.empty_database().await);
        OneNode::on(url, policies, models, clock).await
    }

    /// Another worker on the same database, with a Restate server of its own.
    pub async fn beside(&self, policies: Policies, models: Arc<dyn ModelClient>) -> OneNode {
        OneNode::on(self.url.clone(), policies, models, self.clock).await
    }

    async fn on(url: String, policies: Policies, models: Arc<dyn ModelClient>, clock: Clock) -> OneNode {
        let (server, postgres) = (RestateServer::start().await, shared(PostgresVersion::Debian).await);
        let folder = Scratch::new("cluster");
        let target =
            PgTarget::new(&url.clone().into(), &|_| None).expect("the server of the tests has a sound address");
        let notes: PathBuf = folder.join("postgres");
        let database = PostgresDatabase::open_among_others(target, notes).await.expect("the database opens");
        let board = Arc::new(Board::default());
        let runtime = RuntimeContext {
            tools: Toolset::default(),
            clock,
            models,
            platforms: vec![board.clone()],
            keeper: None,
            events: broadcast::channel(1000).0,
            ready: watch::channel(true).0,
            store: StoreSettings::default(),
        };
        let store: Arc<dyn ClusterStore> = Arc::new(database.clone());
        let context = ClusterContext::new(Arc::new(runtime), store, policies).await.expect("settings are kept");
        let (context, stop) = (Arc::new(context), CancellationToken::new());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        tokio::spawn(serve(listener, context.clone(), stop.clone()));
        let worker = Mutex::new(stop);
        let restate = RestateClient::new(&server.ingress(), &server.admin()).expect("its addresses are sound");
        restate.register(&format!("http://{address}")).await.expect("the worker answers");
        let _folder = folder;
        OneNode { restate, server, context, database, board, clock, url, address, worker, postgres, _folder }
    }

    /// From now on nobody serves Restate.
    pub fn end_worker(&self) {
        self.worker.lock().unwrap().cancel();
    }

    /// A worker at the same address as the one before.
    pub async fn start_worker(&self) {
        let stop = CancellationToken::new();
        let listener = TcpListener::bind(self.address).await.expect("the port is still free");
        tokio::spawn(serve(listener, self.context.clone(), stop.clone()));
        *self.worker.lock().unwrap() = stop;
    }

    /// What a statement prints.
    pub async fn sql(&self, sql: &str) -> String {
        let name = self.url.rsplit('/').next().expect("an address has a path");
        self.postgres.psql(name, sql).await
    }

    /// Puts bytes where Restate keeps the state of a room.
    pub async fn set_state(&self, room: &RoomId, state: &[u8]) {
        let url = format!("{}/services/Room/state", self.server.admin());
        let change = json!({"object_key": room, "new_state": {"room": state}});
        let changed = reqwest::Client::new().post(url).json(&change).send().await.expect("Restate answers");
        assert!(changed.status().is_success(), "{changed:?}");
    }

    pub async fn state(&self, room: &RoomId) -> RoomState {
        self.restate.look(room).await.expect("a room can be looked at")
    }

    pub async fn traces(&self) -> Vec<Trace> {
        traces::all(&self.database).await.expect("decisions can be read")
    }

    /// Everything that was recorded, in order.
    pub async fn records(&self) -> Vec<Record> {
        Records::all(&self.database).await.expect("records can be read").whole().await.expect("records can be read")
    }

    /// Waits until these rooms, and Restate, wait for nothing but these models and timers. The rooms then.
    pub async fn rest(&self, models: &HeldModels, rooms: &[RoomId]) -> Vec<RoomState> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(states) = self.at_rest(models, rooms).await {
                return states;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let stuck = "SELECT target, status, last_failure FROM sys_invocation WHERE status <> 'completed'";
        panic!("it never rests: {:?}", self.restate.query(stuck).await);
    }
}

impl OneNode {
    async fn at_rest(&self, models: &HeldModels, rooms: &[RoomId]) -> Option<Vec<RoomState>> {
        let (held, mut wanted, mut states) = (models.calls(), BTreeSet::new(), Vec::new());
        for room in rooms {
            // A server that has just started may not be able to say.
            let state = self.restate.look(room).await.ok()?;
            let calls = state.calls.keys().map(|serial| CallId { room: room.clone(), serial: *serial }.to_string());
            let calls: BTreeSet<String> = calls.collect();
            // Between two objects a message is in neither of them: what a room waits for says more.
            if !state.posts.is_empty() || !calls.is_subset(&held) {
                return None;
            }
            wanted.extend(calls);
            states.push(state);
        }
        let query = "SELECT target_service_name AS service, idempotency_key AS key FROM sys_invocation
            WHERE status NOT IN ('completed', 'scheduled')";
        let rows = self.restate.query(query).await.ok()?;
        let key =
            |row: &Value| row["key"].as_str().filter(|_| row["service"] == "Calls").unwrap_or("a room").to_owned();
        let running: BTreeSet<String> = rows.iter().map(key).collect();
        // The others were cancelled.
        models.keep(&wanted);
        running.is_subset(&wanted).then_some(states)
    }
}

impl Drop for OneNode {
    fn drop(&mut self) {
        self.end_worker();
    }
}
