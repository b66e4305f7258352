//! `aizuchi cluster up`: a whole cluster on this machine, to try it out. Everything listens on loopback and writes into one folder.

mod children;
mod layout;
mod postgres;
mod programs;
mod restate;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;

use crate::cli::print;
use crate::cli::settings::SettingsArguments;
use crate::cli::stop_signals::StopSignals;
use crate::cluster::RestateClient;
use crate::config;
use crate::platforms::web::WebSettings;
use children::{Child, ChildSpec, EndBy};
use layout::Layout;

#[derive(Args)]
pub struct UpArguments {
    /// How many nodes of Restate; of three, any one may be lost [default: those that the folder has, or 3]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=9))]
    nodes: Option<u16>,
    /// Where everything is kept; a second start goes on with it
    #[arg(long, value_name = "DIR", default_value = "aizuchi-cluster")]
    folder: PathBuf,
    /// Restate's server [default: restate-server in PATH]
    #[arg(long, value_name = "PROGRAM")]
    restate: Option<PathBuf>,
    /// A PostgreSQL database that exists, instead of a server of its own
    #[arg(long, value_name = "URL")]
    database: Option<String>,
}

/// How long a process may take to start.
const STARTS_WITHIN: Duration = Duration::from_secs(60);
const LOOKS_EVERY: Duration = Duration::from_millis(100);
/// How long to wait before one that ended by itself is started again.
const START_AGAIN_AFTER: Duration = Duration::from_secs(3);

pub fn run(arguments: &UpArguments, settings: &SettingsArguments) -> anyhow::Result<()> {
    let web: WebSettings = settings.section()?;
    let restate = programs::restate(arguments.restate.as_deref())?;
    let usual: WebSettings = config::new_layers().section().expect("the defaults are sound");
    let unsound = "`web.address` must be an address and a port, such as 127.0.0.1:4860";
    let web = Some(web.address).filter(|address| *address != usual.address);
    let web = web.map(|address| address.parse()).transpose().context(unsound)?;
    let layout = Layout::open(&arguments.folder, arguments.nodes, arguments.database.as_deref(), web)?;
    let database = if layout.database.is_none() { Some(programs::Postgres::find()?) } else { None };
    layout.write_settings()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut stopping = StopSignals::new()?;
        let mut cluster = LocalCluster { layout, settings: settings.clone(), children: Vec::new() };
        let lived = tokio::select! {
            started = cluster.start(&restate, database.as_ref()) => match started {
                Ok(()) => cluster.watch(&mut stopping).await,
                Err(error) => Err(error),
            },
            () = stopping.wait() => Ok(()),
        };
        print("stopping\n")?;
        let stopped = cluster.stop(&mut stopping).await;
        lived.and(stopped)
    })
}

struct LocalCluster {
    layout: Layout,
    settings: SettingsArguments,
    /// In the order in which they start.
    children: Vec<Child>,
}

impl LocalCluster {
    async fn start(&mut self, restate: &std::path::Path, database: Option<&programs::Postgres>) -> anyhow::Result<()> {
        if let Some(postgres) = database {
            print("PostgreSQL starts\n")?;
            postgres::prepare(postgres, &self.layout)?;
            self.spawn(postgres::spec(postgres, &self.layout))?;
            let layout = &self.layout;
            until("PostgreSQL", &mut self.children, async || postgres::is_ready(layout)).await?;
        }
        print(&format!("Restate starts, {}\n", layout::nodes_in_words(self.layout.nodes.len())))?;
        for number in 0..self.layout.nodes.len() {
            restate::prepare(&self.layout, number)?;
            self.spawn(restate::spec(restate, &self.layout, number))?;
        }
        for node in &self.layout.nodes {
            let client = RestateClient::new(&node.ingress_url(), &node.admin_url())?;
            let is_ready = async || client.check().await.is_ok() && client.query("SELECT 1").await.is_ok();
            until("Restate", &mut self.children, is_ready).await?;
        }
        print("the worker and the gateway start\n")?;
        let client = RestateClient::new(&self.layout.ingress(), &self.layout.admin())?;
        self.spawn(self.own("worker")?)?;
        let url = format!("http://{}", self.layout.worker);
        let is_known = async || {
            let known = client.deployments().await.unwrap_or_default();
            known.iter().any(|known| known.uri.trim_end_matches('/') == url)
        };
        until("the worker", &mut self.children, is_known).await?;
        self.spawn(self.own("gateway")?)?;
        let web = self.layout.web;
        until("the gateway", &mut self.children, async || tokio::net::TcpStream::connect(web).await.is_ok()).await?;
        print(&self.welcome()?)
    }

    fn spawn(&mut self, spec: ChildSpec) -> anyhow::Result<()> {
        self.children.push(Child::start(spec)?);
        Ok(())
    }

    /// This program in another role.
    fn own(&self, role: &str) -> anyhow::Result<ChildSpec> {
        let program = std::env::current_exe().context("cannot find this program")?;
        let mut arguments = vec![role.to_owned()];
        let given = &self.settings;
        for (name, value) in [("--preset", &given.preset), ("--config", &given.config), ("--bot-name", &given.bot_name)]
        {
            arguments.extend(value.iter().flat_map(|value| [name.to_owned(), value.clone()]));
        }
        arguments.extend(given.set.iter().flat_map(|assignment| ["--set".to_owned(), assignment.clone()]));
        let (variables, log) = (self.layout.variables(), self.layout.log_of(role));
        let (name, end_by) = (role.to_owned(), EndBy::Terminate);
        Ok(ChildSpec { name, program, arguments, variables, end_by, user: None, log, folder: None })
    }

    fn welcome(&self) -> anyhow::Result<String> {
        let mut told = String::new();
        for child in &self.children {
            writeln!(told, "  {:12} process {:<8} log {}", child.name(), child.id(), child.log().display())?;
        }
        for (number, node) in self.layout.nodes.iter().enumerate() {
            writeln!(told, "  restate-{}    ingress {}, admin {}", number + 1, node.ingress_url(), node.admin_url())?;
        }
        let settings = self.layout.settings_file();
        writeln!(told, "settings: {}", settings.display())?;
        writeln!(told, "how it is: aizuchi cluster status --config {}", settings.display())?;
        writeln!(told, "the web room: http://{}", self.layout.web)?;
        writeln!(
            told,
            "Kill any of these processes to see what happens; it is started again. Press Ctrl-C to stop all of it."
        )?;
        Ok(told)
    }

    /// Until it is to stop; what ends by itself is started again.
    async fn watch(&mut self, stopping: &mut StopSignals) -> anyhow::Result<()> {
        loop {
            for child in &mut self.children {
                if let Some(how) = child.start_again(START_AGAIN_AFTER)? {
                    print(&format!("{how}\n"))?;
                }
            }
            tokio::select! {
                () = stopping.wait() => return Ok(()),
                () = tokio::time::sleep(LOOKS_EVERY) => (),
            }
        }
    }

    /// The last one first. A second signal ends it at once.
    async fn stop(&mut self, stopping: &mut StopSignals) -> anyhow::Result<()> {
        let ending = async {
            while let Some(mut child) = self.children.pop() {
                child.end().await;
            }
        };
        tokio::select! {
            () = ending => Ok(()),
            () = stopping.wait() => bail!("stopped without waiting for all of it to end"),
        }
    }
}

/// Waits until something is so. `Err` if one of them ends before.
async fn until(what: &str, children: &mut [Child], is_so: impl AsyncFn() -> bool) -> anyhow::Result<()> {
    let by = tokio::time::Instant::now() + STARTS_WITHIN;
    while !is_so().await {
        for child in children.iter_mut() {
            if let Some(how) = child.ended()? {
                bail!("{how}:\n{}", child.last_lines());
            }
        }
        if tokio::time::Instant::now() > by {
            let logs: Vec<String> = children.last().map(|child| child.last_lines()).into_iter().collect();
            bail!("{what} does not start within {} s:\n{}", STARTS_WITHIN.as_secs(), logs.concat());
        }
        tokio::time::sleep(LOOKS_EVERY).await;
    }
    Ok(())
}
