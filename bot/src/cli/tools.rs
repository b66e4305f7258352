//! `aizuchi tools`: lists the tools that a model may use, and runs one.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use aizuchi_core::Policies;
use aizuchi_core::settings::Layers;
use aizuchi_core::tools::{ToolAccess, ToolPermission};
use aizuchi_core::types::{MessageId, PersonId, Place, RoomId};
use anyhow::{Context as _, anyhow, bail};
use clap::{Args, Subcommand};
use serde_json::json;

use super::no_model::NoModel;
use super::settings::SettingsArguments;
use super::show::{harmless, harmless_json, print_error};
use super::{print, store};
use crate::config;
use crate::keeper::Keeper;
use crate::memory::MemoryUser;
use crate::ports::{ToolRequest, ToolSpec};
use crate::runtime::Clock;
use crate::tools::{self, Toolset};

#[derive(Args)]
pub struct ToolsArguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// What holds in this room, such as web:lobby
    #[arg(long, global = true, value_name = "ROOM", default_value = "web:lobby")]
    room: String,
    /// Print JSON Lines instead of text
    #[arg(long, global = true)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArguments,
}

#[derive(Subcommand)]
enum Action {
    /// Run a tool once and print what it returns
    ///
    /// What changes something really changes it; a reminder is only checked, because it is kept by the running program.
    Call {
        /// The name of the tool
        name: String,
        /// Its arguments as a JSON object, such as '{"zone": "Asia/Tokyo"}'
        #[arg(default_value = "{}")]
        arguments: String,
    },
}

/// Tools that are off by default, and the setting that turns each on.
const TURNED_ON_BY: [(&str, &str); 2] = [("fetch", "tools.fetch.hosts"), ("xivapi", "tools.xivapi.enabled")];

pub fn run(arguments: &ToolsArguments) -> anyhow::Result<()> {
    let layers = arguments.settings.layers()?;
    let policies = config::resolve(&layers)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let done = runtime.block_on(async {
        let toolset = open(&layers, &policies).await?;
        toolset.settled().await;
        toolset.problems().iter().for_each(|problem| print_error(problem));
        let told = match &arguments.action {
            None => Ok(list(&toolset, &policies, arguments)),
            Some(Action::Call { name, arguments: json }) => call(&toolset, &policies, arguments, name, json).await,
        };
        toolset.stop().await;
        print(&told?)
    });
    runtime.shutdown_timeout(Duration::from_secs(2));
    done
}

/// All tools of the settings. Those that look something up read the current store.
async fn open(layers: &Layers, policies: &Policies) -> anyhow::Result<Toolset> {
    let location = store::location_of(&config::section(layers)?)?;
    if !store::exists(&location) {
        print_error("nothing has been recorded yet: recall, history and people are left out");
        return tools::open(layers, None);
    }
    let opened = location.open_to_read().await;
    let backend = opened.with_context(|| format!("cannot open {}", location.notes().display()))?;
    location.check_complete(&*backend).await?;
    let memory = store::memory_of(&*backend, layers, policies, MemoryUser::CommandLine).await?;
    let keeper = Keeper::new(memory, Arc::new(NoModel), backend.stores(), policies.clone());
    tools::open(layers, Some(&Arc::new(keeper)))
}

fn list(toolset: &Toolset, policies: &Policies, arguments: &ToolsArguments) -> String {
    let settings = &policies.for_room(&arguments.room).settings.tools;
    let mut told = String::new();
    for tool in toolset.all() {
        let ToolSpec { name, description, schema, access } = tool.spec();
        let permission = match settings.permission(name, *access) {
            _ if !settings.enabled => "deny",
            ToolPermission::Allow => "allow",
            ToolPermission::Ask => "ask",
            ToolPermission::Deny => "deny",
        };
        let changes = *access == ToolAccess::Writes;
        if arguments.json {
            let line = json!({"name": name, "description": description, "schema": schema, "writes": changes, "permission": permission});
            let _ = writeln!(told, "{}", harmless_json(&line));
        } else {
            let access = if changes { "changes" } else { "reads" };
            let first = description.lines().next().unwrap_or_default();
            let _ = writeln!(told, "{:<24} {access:<8} {permission:<6} {}", harmless(name), harmless(first));
        }
    }
    toolset.unknown_in(settings).iter().for_each(|problem| print_error(problem));
    if !settings.enabled && !arguments.json {
        let _ = writeln!(told, "tools are turned off in {} (tools.enabled)", arguments.room);
    }
    told
}

async fn call(
    toolset: &Toolset,
    policies: &Policies,
    arguments: &ToolsArguments,
    name: &str,
    given: &str,
) -> anyhow::Result<String> {
    let Some(tool) = toolset.find(name) else {
        if let Some((_, key)) = TURNED_ON_BY.iter().find(|(turned_off, _)| *turned_off == name) {
            bail!("the tool {name} is turned off: set `{key}`");
        }
        let names: Vec<String> = toolset.all().iter().map(|tool| tool.spec().name.clone()).collect();
        bail!("there is no tool {name:?}; there are {}", store::join_names(&names));
    };
    let given = tools::arguments(given).map_err(|what| anyhow!(what))?;
    let place = Place { room: RoomId::new(arguments.room.as_str()), thread: None };
    let (asker, answering) = (PersonId::new("operator"), MessageId::new(""));
    let policy = policies.for_room(&arguments.room);
    let request = ToolRequest {
        arguments: &given,
        place: &place,
        asker: &asker,
        answering: &answering,
        now: Clock::Wall.now(),
        seq: i64::MAX as u64,
        policy,
    };
    let seconds = policy.settings.tools.seconds_max;
    let running = tokio::time::timeout(Duration::from_secs(seconds.into()), tool.run(request));
    let output = running.await.map_err(|_| anyhow!("no result within {seconds} s (tools.seconds_max)"))?;
    let output = output.map_err(|what| anyhow!("{}", harmless(&what)))?;
    if output.reminder.is_some() {
        print_error("this was a trial: no reminder is set outside of a room");
    }
    if arguments.json {
        return Ok(format!("{}\n", harmless_json(&json!({"text": output.text, "from_outside": output.from_outside}))));
    }
    Ok(output.text.lines().map(|line| format!("{}\n", harmless(line))).collect())
}
