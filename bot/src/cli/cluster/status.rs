//! How a cluster is: what Restate knows of workers and rooms, and what PostgreSQL has of them.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::cli::settings::SettingsArguments;
use crate::cli::store::CommandRuntime;
use crate::cli::{harmless, print, store, when};
use crate::cluster::{
    ClusterSettings, Deployment, NodePartitions, RestateClient, RestateError, RestateHealth, STUCK_MAX,
    StuckInvocation, Unfinished,
};
use crate::platforms::{PLATFORMS, PlatformSpec};
use crate::ports::{ClusterStore as _, SetAside};
use crate::stores::postgres::{LockHolder, PostgresDatabase};
use crate::stores::{StoreError, StoreLocation};

/// Invocations that are not over, by service and what they do.
const WAITING: &str = "SELECT target_service_name AS service, status, count(*) AS number FROM sys_invocation
    WHERE status <> 'completed' GROUP BY 1, 2 ORDER BY 1, 2";
/// Inputs that are shown.
const SET_ASIDE_MAX: u32 = 20;
/// What is stuck and shown here; `aizuchi cluster rooms --stuck` shows the rest.
const STUCK_SHOWN: usize = 5;

const UNANSWERED: &str = "cannot ask Restate (setting cluster.admin)";

/// Both servers, to look and not to touch.
struct ClusterView {
    restate: RestateClient,
    location: StoreLocation,
    runtime: CommandRuntime,
}

impl ClusterView {
    fn open(settings: &SettingsArguments) -> anyhow::Result<ClusterView> {
        let section: ClusterSettings = settings.section()?;
        let location = store::location_of(&settings.section()?)?;
        let runtime = CommandRuntime::new(tokio::runtime::Builder::new_current_thread().enable_all().build()?);
        Ok(ClusterView { restate: section.restate()?, location, runtime })
    }

    /// Asks PostgreSQL, if a cluster has used it.
    fn ask_database<T>(&self, ask: impl AsyncFn(&PostgresDatabase) -> Result<T, StoreError>) -> anyhow::Result<T> {
        let asked = self.runtime.wait(store::within(async {
            let database = self.location.open_database_to_read().await?;
            if !database.knows_clusters().await? {
                return Ok(None);
            }
            ask(&database).await.map(Some)
        }));
        asked?.with_context(|| unused(&self.location.display_name()))
    }
}

/// What both servers know, each as far as it answers.
pub fn show(settings: &SettingsArguments) -> anyhow::Result<()> {
    let ClusterView { restate, location, runtime } = ClusterView::open(settings)?;
    let nodes = settings.section::<ClusterSettings>()?.nodes()?;
    let (of_restate, of_nodes, of_database) = runtime
        .wait(async { tokio::join!(RestateView::look(&restate), nodes.partitions(), DatabaseView::look(&location)) });
    let mut report = Report::default();
    of_restate.show(&mut report);
    report.add_nodes(&of_nodes);
    report.add_database(&location.display_name(), of_database);
    print(&report.told)?;
    ensure!(!report.is_incomplete, "not all of it answers: see above");
    Ok(())
}

#[derive(Default)]
struct Report {
    told: String,
    /// Whether something did not answer.
    is_incomplete: bool,
}

impl Report {
    fn line(&mut self, line: impl Display) {
        let _ = writeln!(self.told, "{line}");
    }

    fn missing(&mut self, line: impl Display) {
        self.line(line);
        self.is_incomplete = true;
    }

    /// The answer; without one, the reason is printed.
    fn asked<'a, T>(&mut self, what: &str, answer: &'a Asked<T>) -> Option<&'a T> {
        answer
            .as_ref()
            .inspect_err(|error| self.missing(format_args!("{what}: {UNANSWERED}: {}", harmless(error.why()))))
            .ok()
    }

    fn add_addresses(&mut self, addresses: &[Answered]) {
        for (address, answered) in addresses {
            match answered {
                Ok(()) => self.line(format_args!("  {address}  answers")),
                Err(error) => self.missing(format_args!("  {address}  does not answer: {}", harmless(error.why()))),
            }
        }
    }

    /// Which node leads how many partitions, and how far behind they are.
    fn add_nodes(&mut self, nodes: &[(String, Asked<NodePartitions>)]) {
        if nodes.is_empty() {
            return self.line("partitions: not shown (setting cluster.nodes)");
        }
        let known: Vec<&NodePartitions> = nodes.iter().filter_map(|(_, asked)| asked.as_ref().ok()).collect();
        let all = known.iter().map(|node| node.all).max().unwrap_or_default();
        let led: u64 = known.iter().map(|node| node.led).sum();
        match led >= all && !known.is_empty() {
            true => self.line(format_args!("partitions: {all}, all of them led")),
            false => self.missing(format_args!("partitions: {all}, {led} of them led by the nodes that answer")),
        }
        for (address, asked) in nodes {
            let address = harmless(address);
            match asked {
                Ok(NodePartitions { name, led, lag, unknown, .. }) => {
                    let unknown = match unknown {
                        0 => String::new(),
                        _ => format!(", unknown of {unknown}"),
                    };
                    self.line(format_args!("  {}  {address}  leads {led}, lag {lag}{unknown}", harmless(name)));
                }
                Err(error) => self.missing(format_args!("  {address}  does not answer: {}", harmless(error.why()))),
            }
        }
    }

    fn add_database(&mut self, shown: &str, view: Result<DatabaseView, StoreError>) {
        let shown = harmless(shown);
        match view {
            Ok(view) => {
                self.line(format_args!("PostgreSQL: {shown}  answers"));
                view.show(self);
            }
            Err(StoreError::Unavailable(why)) => {
                self.missing(format_args!("PostgreSQL: {shown}  does not answer: {}", harmless(&why)));
            }
            Err(error) => {
                self.missing(format_args!("PostgreSQL: {shown}  cannot be asked: {}", harmless(&error.to_string())));
            }
        }
    }
}

/// An address, and why it does not answer.
type Answered = (String, Asked<()>);

/// What Restate knows.
struct RestateView {
    health: RestateHealth,
    /// Unless no address answers that could be asked.
    known: Option<KnownToRestate>,
}

type Asked<T> = Result<T, RestateError>;

/// Each of it as far as it could be asked.
struct KnownToRestate {
    members: Asked<Option<usize>>,
    workers: Asked<Vec<(Deployment, Asked<()>)>>,
    work: Asked<WorkerTasks>,
    waiting: Asked<Vec<Value>>,
    stuck: Asked<Vec<StuckInvocation>>,
}

/// Which worker gets what begins, and what each has begun and not ended.
struct WorkerTasks {
    newest: Option<Deployment>,
    unfinished: BTreeMap<String, Unfinished>,
}

impl RestateView {
    async fn look(restate: &RestateClient) -> RestateView {
        let health = restate.health().await;
        let known = match health.admin.iter().any(|(_, answered)| answered.is_ok()) {
            true => Some(KnownToRestate::ask(restate).await),
            false => None,
        };
        RestateView { health, known }
    }

    fn show(&self, report: &mut Report) {
        report.line("Restate:");
        report.add_addresses(&self.health.ingress);
        report.add_addresses(&self.health.admin);
        match &self.known {
            Some(known) => known.show(report),
            None => report.missing("  what it knows of workers and of what waits is not shown (setting cluster.admin)"),
        }
    }
}

impl KnownToRestate {
    async fn ask(restate: &RestateClient) -> KnownToRestate {
        let workers = async {
            let known = restate.deployments().await?;
            let answers = restate.ask_workers(&known).await;
            Ok(known.into_iter().zip(answers).collect())
        };
        let work = async {
            let newest = restate.newest_deployment().await?;
            Ok(WorkerTasks { newest, unfinished: restate.unfinished().await? })
        };
        let (members, waiting, stuck) = (restate.metadata_members(), restate.query(WAITING), restate.stuck());
        let (members, workers, work, waiting, stuck) = tokio::join!(members, workers, work, waiting, stuck);
        KnownToRestate { members, workers, work, waiting, stuck }
    }

    fn show(&self, report: &mut Report) {
        if let Some(Some(members)) = report.asked("  nodes that keep its metadata", &self.members) {
            report.line(format_args!("  nodes that keep its metadata: {members}"));
        }
        self.show_workers(report);
        if let Some(waiting) = report.asked("invocations that are not over", &self.waiting) {
            report
                .line(format_args!("invocations that are not over:{}", if waiting.is_empty() { " none" } else { "" }));
            for row in waiting {
                report.line(format_args!("  {} {}: {}", text(row, "service"), text(row, "status"), row["number"]));
            }
        }
        if let Some(stuck) = report.asked("stuck", &self.stuck) {
            report.line(format_args!("stuck: {}", at_least(stuck.len(), STUCK_MAX)));
            for invocation in stuck.iter().take(STUCK_SHOWN) {
                let (whose, error) = (harmless(invocation.whose()), invocation.error.as_deref().unwrap_or_default());
                report.line(format_args!("  {} {whose}: {}", invocation.service, harmless(error)));
            }
        }
    }

    /// Each deployment with what it has begun and not ended.
    fn show_workers(&self, report: &mut Report) {
        let Some(workers) = report.asked("workers", &self.workers) else { return };
        report.line(format_args!("workers: {}", workers.len()));
        for (worker, answered) in workers {
            let (id, uri) = (harmless(&worker.id), harmless(&worker.shown_uri()));
            let task = self.work.as_ref().map_or_else(|_| String::new(), |work| work.task_of(worker));
            match answered {
                Ok(()) => report.line(format_args!("  {id}  {uri}  answers{task}")),
                Err(error) => {
                    report.missing(format_args!("  {id}  {uri}  does not answer: {}{task}", harmless(error.why())));
                }
            }
        }
        report.asked("  what they do", &self.work);
    }
}

impl WorkerTasks {
    fn task_of(&self, worker: &Deployment) -> String {
        let is_newest = self.newest.as_ref().is_some_and(|newest| newest.id == worker.id);
        let begun: u64 = self.unfinished.get(&worker.id).map_or(0, |unfinished| unfinished.values().sum());
        let role = if is_newest { "gets what begins" } else { "ends what it has begun" };
        format!(", {role}, {begun} not over")
    }
}

/// What PostgreSQL knows.
struct DatabaseView {
    rooms: usize,
    holders: Vec<LockHolder>,
    unsent: u64,
    set_aside: usize,
}

impl DatabaseView {
    async fn look(location: &StoreLocation) -> Result<DatabaseView, StoreError> {
        store::within(DatabaseView::ask(location)).await
    }

    async fn ask(location: &StoreLocation) -> Result<DatabaseView, StoreError> {
        let database = location.open_database_to_read().await?;
        if !database.knows_clusters().await? {
            return Err(StoreError::Failed(unused(&location.display_name())));
        }
        let mut names = vec![super::live::LEADER, super::live::GATEWAY];
        names.extend(PLATFORMS.iter().map(PlatformSpec::name));
        let mut holders = database.lock_holders(&names).await?;
        // It only says that there is one.
        holders.retain(|holder| holder.name.as_deref() != Some(super::live::GATEWAY));
        Ok(DatabaseView {
            rooms: database.rooms().await?.len(),
            holders,
            unsent: database.count_unsent(i64::MAX).await?,
            set_aside: database.set_aside(SET_ASIDE_MAX).await?.len(),
        })
    }

    fn show(&self, report: &mut Report) {
        report.line(format_args!("rooms: {}", self.rooms));
        report.line(format_args!("held by one process each:{}", if self.holders.is_empty() { " nothing" } else { "" }));
        for LockHolder { name, shards, process, address, seconds } in &self.holders {
            let shards: String = shards.iter().map(|shard| format!(" {shard}")).collect();
            let (name, process) = (name.as_deref().unwrap_or("something else"), harmless(process));
            let address = harmless(address);
            report.line(format_args!("  {name}{shards}: {process} from {address}, connected for {seconds} s"));
        }
        report.line(format_args!("stored and not told yet: {}", self.unsent));
        report.line(format_args!("inputs set aside: {}", at_least(self.set_aside, SET_ASIDE_MAX as usize)));
    }
}

pub fn show_stuck(settings: &SettingsArguments) -> anyhow::Result<()> {
    let view = ClusterView::open(settings)?;
    let mut told = String::new();
    for invocation in view.runtime.wait(view.restate.stuck()).context(UNANSWERED)? {
        let whose = harmless(invocation.whose());
        let StuckInvocation { service, status, attempts, error, .. } = invocation;
        let (attempts, error) = (attempts.unwrap_or_default(), error.unwrap_or_default());
        writeln!(told, "{whose}  {service} {status}, attempt {attempts}: {}", harmless(&error))?;
    }
    for SetAside { room, at, error, .. } in
        view.ask_database(async |database| database.set_aside(SET_ASIDE_MAX).await)?
    {
        writeln!(told, "{}  set aside at {}: {}", harmless(room.as_str()), when::day_and_clock(at), harmless(&error))?;
    }
    if told.is_empty() {
        told.push_str("no room is stuck\n");
    }
    print(&told)
}

/// Has what Restate has paused go on.
pub fn resume(settings: &SettingsArguments) -> anyhow::Result<()> {
    let section: ClusterSettings = settings.section()?;
    let restate = section.restate()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let resumed = runtime.block_on(restate.resume_paused()).context(UNANSWERED)?;
    print(&match resumed {
        0 => "nothing was paused\n".to_owned(),
        1 => "1 paused invocation goes on\n".to_owned(),
        _ => format!("{resumed} paused invocations go on\n"),
    })
}

pub fn list_rooms(settings: &SettingsArguments) -> anyhow::Result<()> {
    let view = ClusterView::open(settings)?;
    let rooms = view.ask_database(async |database| database.rooms().await)?;
    print(&rooms.iter().map(|room| harmless(room.as_str()) + "\n").collect::<String>())
}

fn unused(shown: &str) -> String {
    format!(
        "no cluster has used {} (setting store.url) yet: the first start of a worker or a gateway prepares it",
        harmless(shown)
    )
}

/// Of what is counted only up to a limit.
fn at_least(count: usize, limit: usize) -> String {
    if count < limit { count.to_string() } else { format!("at least {count}") }
}

fn text(row: &Value, column: &str) -> String {
    harmless(row[column].as_str().unwrap_or_default())
}
