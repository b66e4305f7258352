//! How a cluster is: what Restate knows of workers and rooms, and what PostgreSQL has of them.

use std::fmt::Write as _;

use anyhow::Context as _;
use serde_json::Value;

use crate::cli::settings::SettingsArguments;
use crate::cli::{harmless, print, store};
use crate::cluster::{ClusterSettings, RestateClient, StuckInvocation};
use crate::ports::{ClusterStore as _, SetAside};
use crate::stores::postgres::PostgresDatabase;

/// Invocations that are not over, by service and what they do.
const WAITING: &str = "SELECT target_service_name AS service, status, count(*) AS number FROM sys_invocation
    WHERE status <> 'completed' GROUP BY 1, 2 ORDER BY 1, 2";
const DEPLOYMENTS: &str = "SELECT id, endpoint FROM sys_deployment ORDER BY created_at DESC";
/// Inputs that are shown.
const SET_ASIDE_MAX: u32 = 20;

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
    let deployments = view.query(DEPLOYMENTS)?;
    writeln!(told, "workers: {}", deployments.len())?;
    for deployment in &deployments {
        writeln!(told, "  {}  {}", text(deployment, "id"), text(deployment, "endpoint"))?;
    }
    let rooms = view.runtime.block_on(view.database.rooms())?;
    writeln!(told, "rooms: {}", rooms.len())?;
    let waiting = view.query(WAITING)?;
    writeln!(told, "invocations that are not over:{}", if waiting.is_empty() { " none" } else { "" })?;
    for row in &waiting {
        writeln!(told, "  {} {}: {}", text(row, "service"), text(row, "status"), row["number"])?;
    }
    writeln!(told, "stuck: {}", view.stuck()?.len())?;
    let unsent = view.runtime.block_on(view.database.unsent(std::time::Duration::ZERO))?;
    writeln!(told, "stored and not told yet: {}", unsent.len())?;
    let set_aside = view.runtime.block_on(view.database.set_aside(SET_ASIDE_MAX))?;
    writeln!(told, "inputs set aside: {}", set_aside.len())?;
    print(&told)
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
