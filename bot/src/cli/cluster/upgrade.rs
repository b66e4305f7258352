//! `aizuchi cluster upgrade`: workers of a new build take over, and those of the old one end what they have begun.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;

use crate::cli::print;
use crate::cli::settings::SettingsArguments;
use crate::cli::{harmless, stop_signals::StopSignals};
use crate::cluster::{ClusterSettings, Deployment, RestateClient, RestateError, Unfinished, without_login};

#[derive(Args)]
pub struct UpgradeArguments {
    /// Do not wait until the old workers have nothing to do any more; the same command later does the rest
    #[arg(long)]
    no_wait: bool,
}

const LOOKS_EVERY: Duration = Duration::from_secs(1);
/// Nodes hear a little later which worker is the newest: one must have nothing to do so many times in a row.
const LOOKS: u32 = 3;

pub fn run(arguments: &UpgradeArguments, settings: &SettingsArguments) -> anyhow::Result<()> {
    let section: ClusterSettings = settings.section()?;
    let unknown = "set cluster.worker_url: the port 0 in cluster.listen does not say where the new workers are";
    let url = section.known_url_of_worker().context(unknown)?;
    let restate = section.restate()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let new = take_over(&restate, &url).await?;
        if arguments.no_wait {
            return show(&restate, &new).await;
        }
        let mut stopping = StopSignals::new()?;
        tokio::select! {
            drained = drain(&restate, &new) => drained,
            () = stopping.wait() => print("stopped waiting; the same command goes on with it\n"),
        }
    })
}

/// What begins goes to the worker at this address from now on.
async fn take_over(restate: &RestateClient, url: &str) -> anyhow::Result<Deployment> {
    let unanswered = "cannot ask Restate (setting cluster.admin)";
    let newest = restate.newest_deployment().await.context(unanswered)?;
    if let Some(newest) = newest.filter(|newest| newest.is_at(url)) {
        print(&format!("{} has the rooms already\n", format_deployment(&newest)))?;
        return Ok(newest);
    }
    let new = restate.register(url).await.with_context(|| {
        format!(
            "cannot register {} (setting cluster.worker_url): a worker of the new build must run there",
            without_login(url)
        )
    })?;
    print(&format!("{} has the rooms from now on\n", format_deployment(&new)))?;
    Ok(new)
}

/// Removes each of the others once it has nothing to do any more.
async fn drain(restate: &RestateClient, new: &Deployment) -> anyhow::Result<()> {
    let (mut idle, mut told): (BTreeMap<String, u32>, _) = (BTreeMap::new(), String::new());
    loop {
        match others(restate, new).await {
            Ok(others) if others.is_empty() => {
                return print("no other worker is known: those of before can be stopped\n");
            }
            Ok(others) => {
                for (old, unfinished) in &others {
                    let looks = idle.entry(old.id.clone()).or_default();
                    *looks = if unfinished.is_empty() { *looks + 1 } else { 0 };
                    if *looks >= LOOKS && restate.remove_deployment(&old.id).await.is_ok() {
                        print(&format!("{} has nothing to do any more and is removed\n", format_deployment(old)))?;
                    }
                }
                let busy = others.iter().filter(|(_, unfinished)| !unfinished.is_empty());
                let now: String = busy.map(|(old, unfinished)| waiting(old, unfinished)).collect();
                if now != told {
                    print(&now)?;
                    told = now;
                }
            }
            // A node may be down meanwhile; another one answers.
            Err(error) => print(&format!("{}; retrying\n", harmless(&error.to_string())))?,
        }
        tokio::time::sleep(LOOKS_EVERY).await;
    }
}

async fn others(restate: &RestateClient, new: &Deployment) -> Result<Vec<(Deployment, Unfinished)>, RestateError> {
    let mut unfinished = restate.unfinished().await?;
    let others = restate.deployments().await?.into_iter().filter(|old| old.id != new.id);
    let with_work = |old: Deployment| {
        let work = unfinished.remove(&old.id).unwrap_or_default();
        (old, work)
    };
    Ok(others.map(with_work).collect())
}

async fn show(restate: &RestateClient, new: &Deployment) -> anyhow::Result<()> {
    let others = others(restate, new).await?;
    let told = others.iter().map(|(old, unfinished)| match unfinished.is_empty() {
        true => format!("{} has nothing to do any more\n", format_deployment(old)),
        false => waiting(old, unfinished),
    });
    print(&told.collect::<String>())
}

fn waiting(old: &Deployment, unfinished: &Unfinished) -> String {
    let parts: Vec<String> = unfinished.iter().map(|(status, count)| format!("{count} {}", harmless(status))).collect();
    format!("waiting for {}: {}\n", format_deployment(old), parts.join(", "))
}

fn format_deployment(deployment: &Deployment) -> String {
    format!("{} ({})", harmless(&deployment.shown_uri()), harmless(&deployment.id))
}
