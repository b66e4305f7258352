//! How a cluster is: what Restate knows of workers and rooms, and what PostgreSQL has of them.

use std::fmt::Write as _;

use anyhow::Context as _;
use serde_json::Value;

use crate::cli::settings::SettingsArguments;
use crate::cli::{harmless, print, store};
use crate::cluster::{ClusterSettings, RestateClient, RestateError, StuckInvocation};
use crate::platforms::{PLATFORMS, PlatformSpec};
use crate::ports::{ClusterStore as _, SetAside};
use crate::stores::postgres::{LockHolder, PostgresDatabase};

/// Invocations that are not over, by service and what they do.
const WAITING: &str = "SELECT target_service_name AS service, status, count(*) AS number FROM sys_invocation
    WHERE status <> 'completed' GROUP BY 1, 2 ORDER BY 1, 2";
/// Inputs that are shown.
const SET_ASIDE_MAX: u32 = 20;
/// What is stuck and shown here; `aizuchi cluster rooms --stuck` shows the rest.
const STUCK_MAX: usize = 5;

const UNANSWERED: &str = "cannot ask Restate (setting cluster.admin)";

struct ClusterView {
    restate: RestateClient,
    database: PostgresDatabase,
    runtime: tokio::runtime::Runtime,
}

impl ClusterView {
    fn open(settings: &SettingsArguments) -> anyhow::Result<ClusterView> {
        let section: ClusterSettings = settings.section()?;
        let location = store::location_of(&settings.section()?)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let database = runtime.block_on(location.open_database_to_read())?;
        let restate = RestateClient::new(&section.ingress, &section.admin)?;
        Ok(ClusterView { restate, database, runtime })
    }

    fn query(&self, sql: &str) -> anyhow::Result<Vec<Value>> {
        self.runtime.block_on(self.restate.query(sql)).context(UNANSWERED)
    }

    fn stuck(&self) -> anyhow::Result<Vec<StuckInvocation>> {
        self.runtime.block_on(self.restate.stuck()).context(UNANSWERED)
    }
}

pub fn show(settings: &SettingsArguments) -> anyhow::Result<()> {
    let view = ClusterView::open(settings)?;
    let mut told = String::new();
    view.show_nodes(&mut told)?;
    view.show_workers(&mut told)?;
    let rooms = view.runtime.block_on(view.database.rooms())?;
    writeln!(told, "rooms: {}", rooms.len())?;
    let waiting = view.query(WAITING)?;
    writeln!(told, "invocations that are not over:{}", if waiting.is_empty() { " none" } else { "" })?;
    for row in &waiting {
        writeln!(told, "  {} {}: {}", text(row, "service"), text(row, "status"), row["number"])?;
    }
    view.show_connections(&mut told)?;
    view.show_stuck_rooms(&mut told)?;
    let unsent = view.runtime.block_on(view.database.unsent(std::time::Duration::ZERO))?;
    writeln!(told, "stored and not told yet: {}", unsent.len())?;
    let set_aside = view.runtime.block_on(view.database.set_aside(SET_ASIDE_MAX))?;
    writeln!(told, "inputs set aside: {}", set_aside.len())?;
    print(&told)
}

impl ClusterView {
    /// Each address of Restate, and whether it answers.
    fn show_nodes(&self, told: &mut String) -> anyhow::Result<()> {
        writeln!(told, "Restate:")?;
        for (address, health) in self.runtime.block_on(self.restate.health()) {
            match health {
                Ok(()) => writeln!(told, "  {address}  answers")?,
                Err(error) => writeln!(told, "  {address}  {}", harmless(&error.to_string()))?,
            }
        }
        match self.runtime.block_on(self.restate.metadata_members()) {
            Ok(Some(members)) => writeln!(told, "  nodes that keep its metadata: {members}")?,
            Ok(None) => (),
            Err(error) => writeln!(told, "  nodes that keep its metadata: {}", harmless(&error.to_string()))?,
        }
        Ok(())
    }

    /// Each deployment with what it has begun and not ended.
    fn show_workers(&self, told: &mut String) -> anyhow::Result<()> {
        let asked = async {
            let (known, newest) = (self.restate.deployments().await?, self.restate.newest_deployment().await?);
            Ok::<_, RestateError>((known, newest, self.restate.unfinished().await?))
        };
        let (known, newest, unfinished) = self.runtime.block_on(asked).context(UNANSWERED)?;
        writeln!(told, "workers: {}", known.len())?;
        for worker in known {
            let is_newest = newest.as_ref().is_some_and(|newest| newest.id == worker.id);
            let begun: u64 = unfinished.get(&worker.id).map_or(0, |unfinished| unfinished.values().sum());
            let role = if is_newest { "gets what begins" } else { "ends what it has begun" };
            writeln!(told, "  {}  {}  {role}, {begun} not over", harmless(&worker.id), harmless(&worker.uri))?;
        }
        Ok(())
    }

    /// Who has what only one process may have.
    fn show_connections(&self, told: &mut String) -> anyhow::Result<()> {
        let mut names = vec![super::live::LEADER];
        names.extend(PLATFORMS.iter().map(PlatformSpec::name));
        let holders = self.runtime.block_on(self.database.lock_holders(&names))?;
        writeln!(told, "held by one process each:{}", if holders.is_empty() { " nothing" } else { "" })?;
        for LockHolder { name, process, address, seconds } in holders {
            let name = name.unwrap_or_else(|| "something else".into());
            writeln!(told, "  {name}: {} from {}, connected for {seconds} s", harmless(&process), harmless(&address))?;
        }
        Ok(())
    }

    fn show_stuck_rooms(&self, told: &mut String) -> anyhow::Result<()> {
        let stuck = self.stuck()?;
        writeln!(told, "stuck: {}", stuck.len())?;
        for StuckInvocation { service, room, error, .. } in stuck.iter().take(STUCK_MAX) {
            let (room, error) = (room.clone().unwrap_or_default(), error.clone().unwrap_or_default());
            writeln!(told, "  {service} {}: {}", harmless(&room), harmless(&error))?;
        }
        Ok(())
    }
}

pub fn show_stuck(settings: &SettingsArguments) -> anyhow::Result<()> {
    let view = ClusterView::open(settings)?;
    let mut told = String::new();
    for StuckInvocation { service, room, status, attempts, error } in view.stuck()? {
        let (room, error) = (room.unwrap_or_default(), error.unwrap_or_default());
        let attempts = attempts.unwrap_or_default();
        writeln!(told, "{}  {service} {status}, attempt {attempts}: {}", harmless(&room), harmless(&error))?;
    }
    for SetAside { room, at, error, .. } in view.runtime.block_on(view.database.set_aside(SET_ASIDE_MAX))? {
        writeln!(told, "{}  set aside at {}: {}", harmless(room.as_str()), at.0, harmless(&error))?;
    }
    if told.is_empty() {
        told.push_str("no room is stuck\n");
    }
    print(&told)
}

pub fn list_rooms(settings: &SettingsArguments) -> anyhow::Result<()> {
    let view = ClusterView::open(settings)?;
    let rooms = view.runtime.block_on(view.database.rooms())?;
    print(&rooms.iter().map(|room| harmless(room.as_str()) + "\n").collect::<String>())
}

fn text(row: &Value, column: &str) -> String {
    harmless(row[column].as_str().unwrap_or_default())
}
