//! Everything that runs.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use aizuchi_test_servers::discord::{self, DiscordServer};
use aizuchi_test_servers::network::{Machine, Network};
use aizuchi_test_servers::postgres::{PostgresOptions, PostgresServer, PostgresVersion};
use aizuchi_test_servers::restate::RestateCluster;
use aizuchi_test_servers::slack::{self, SlackServer};

use super::balancer::{Balancer, WorkerAddresses};
use crate::crash::SETTINGS;
use crate::program::{Home, Program, new_home};

/// A process of the cluster, and how to start it again.
pub struct Station {
    pub machine: Arc<Machine>,
    pub home: Home,
    command: &'static str,
    ready: String,
    pub program: Program,
}

impl Station {
    async fn start(machine: Arc<Machine>, home: Home, command: &'static str, ready: String) -> Station {
        let program = home.start_as(&[command], &ready).await;
        Station { machine, home, command, ready, program }
    }

    /// After it was killed.
    pub async fn start_again(&mut self) {
        self.program = self.home.start_as(&[self.command], &self.ready).await;
    }

    /// The same without waiting.
    pub fn spawn_again(&mut self) {
        self.program = self.home.spawn_as(&[self.command]);
    }
}

pub struct ClusterStage {
    pub workers: Vec<Station>,
    pub gateways: Vec<Station>,
    // Ended when it is dropped.
    _balancer: Balancer,
    pub restate: RestateCluster,
    pub node_machines: [Arc<Machine>; 3],
    pub postgres: PostgresServer,
    pub postgres_machine: Arc<Machine>,
    pub database: String,
    pub discord: Arc<DiscordServer>,
    pub slack: Arc<SlackServer>,
    // Dropped last: the others are on it.
    _network: Option<Network>,
}

impl ClusterStage {
    pub async fn start(network: Option<Network>) -> ClusterStage {
        let machine = || network.as_ref().map_or_else(Machine::here, Network::machine);
        let host = if network.is_some() { Network::host() } else { IpAddr::from(Ipv4Addr::LOCALHOST) };
        let (node_machines, postgres_machine) = ([machine(), machine(), machine()], machine());
        let options = PostgresOptions {
            version: PostgresVersion::Debian,
            durable: true,
            machine: Some(postgres_machine.clone()),
            // Shows when something was committed.
            extra: vec!["track_commit_timestamp=on".into()],
            ..PostgresOptions::default()
        };
        let (restate, postgres) =
            tokio::join!(RestateCluster::start(node_machines.clone()), PostgresServer::start(options));
        let database = postgres.empty_database().await;
        let (discord, slack) = tokio::join!(DiscordServer::start_on(host), SlackServer::start_on(host));
        let (discord, slack) = (Arc::new(discord), Arc::new(slack));
        let home = |machine: &Arc<Machine>| {
            let mut home = new_home(SETTINGS);
            home.move_to(machine.clone());
            home.change("log.level", "info");
            home.change("web.rooms", r#"["lobby", "garden", "attic", "cellar", "porch"]"#);
            home.set(format!("store.url={}", postgres.url(&database)));
            home.set(format!("cluster.ingress={}", restate.ingress()));
            home.set(format!("cluster.admin={}", restate.admin()));
            home.set(format!("discord.api_url={}", discord.url()));
            home.set(format!("slack.api_url={}", slack.api_url()));
            // Nothing that is said in a gap is too much.
            home.set("discord.backfill_messages=500");
            home.set("slack.backfill_messages=500");
            home.set_variable("DISCORD_TOKEN", discord::TOKEN);
            home.set_variable("SLACK_BOT_TOKEN", slack::BOT_TOKEN);
            home.set_variable("SLACK_APP_TOKEN", slack::APP_TOKEN);
            home
        };
        let machines = [machine(), machine()];
        let address = |machine: &Arc<Machine>| SocketAddr::new(machine.ip(), new_home(&[]).address.port());
        let target = |machine| WorkerAddresses { address: address(machine), health: address(machine) };
        let targets: Vec<WorkerAddresses> = machines.iter().map(target).collect();
        let balancer = Balancer::start(host, targets.clone()).await;
        let (mut workers, mut gateways) = (Vec::new(), Vec::new());
        for (machine, target) in machines.into_iter().zip(targets) {
            let mut home = home(&machine);
            home.set(format!("cluster.listen={}", target.address));
            home.set(format!("cluster.health={}", target.health));
            home.set(format!("cluster.worker_url={}", balancer.url()));
            workers.push(Station::start(machine, home, "worker", "registered the worker with Restate".into()).await);
        }
        for machine in [machine(), machine()] {
            let home = home(&machine);
            let ready = format!("is in the room: http://{}", home.address);
            gateways.push(Station::start(machine, home, "gateway", ready).await);
        }
        let _network = network;
        ClusterStage {
            workers,
            gateways,
            _balancer: balancer,
            restate,
            node_machines,
            postgres,
            postgres_machine,
            database,
            discord,
            slack,
            _network,
        }
    }

    /// None of them ended by itself.
    pub fn all_run(&mut self) {
        for station in self.workers.iter_mut().chain(&mut self.gateways) {
            let ended = station.program.has_ended();
            assert!(ended.is_none(), "a {} ended: {ended:?}\n{}", station.command, station.program.said());
        }
    }

    /// Where people find the web room.
    pub fn rooms(&self) -> Vec<SocketAddr> {
        self.gateways.iter().map(|gateway| gateway.home.address).collect()
    }

    /// What became of a message: what is recorded and decided of it, and what the gateways logged last.
    pub async fn story_of(&self, id: &str) -> String {
        let records =
            format!("select at, left(body, 400) from journal where message = '{id}' or body like '%{id}%' limit 20");
        let decided = format!("select body from trace where message = '{id}'");
        let mut story = String::new();
        for query in [records, decided] {
            story += &format!("{}\n", self.postgres.psql(&self.database, &query).await);
        }
        for gateway in &self.gateways {
            let said = gateway.program.said();
            let lines: Vec<&str> = said.lines().collect();
            story += &format!("a gateway:\n{}\n", lines[lines.len().saturating_sub(40)..].join("\n"));
        }
        story
    }

    /// Stops everything in order.
    pub async fn end(mut self) {
        for mut station in self.gateways.drain(..).chain(self.workers.drain(..)) {
            station.program.terminate();
            let status = station.program.ended().await;
            assert!(status.success(), "a {}: {status}\n{}", station.command, station.program.said());
        }
    }
}
