//! Tools that a model may use while it writes: the built-in ones, one file each, and those of other programs.

mod arguments;
pub mod clock;
pub mod fetch;
mod history;
#[cfg(feature = "mcp")]
pub mod mcp;
mod people;
mod recall;
mod remind;
mod time;
pub mod xivapi;

use std::sync::Arc;
use std::time::Duration;

use aizuchi_core::effect::{Brief, Failure};
use aizuchi_core::settings::{Layers, ToolSettings};
use aizuchi_core::tools::{ToolAccess, ToolCall, ToolOffer, ToolOrder, ToolOutput, ToolPermission, is_named};
use aizuchi_core::{Policies, Policy};
use serde_json::{Map, Value};

use self::fetch::{Fetch, FetchSettings};
use self::history::HistoryTool;
use self::people::PeopleTool;
use self::recall::RecallTool;
use self::remind::RemindTool;
use self::time::TimeTool;
use self::xivapi::{Xivapi, XivapiSettings};
use crate::config;
use crate::keeper::{Keeper, LookupScope};
use crate::ports::{RequestedCall, Tool, ToolRequest, ToolSource, ToolSpec};
use crate::stores::StoreError;

/// The built-in tools that need no settings.
fn built_in(keeper: Option<&Arc<Keeper>>) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = vec![Arc::new(TimeTool::new()), Arc::new(RemindTool::new())];
    if let Some(keeper) = keeper {
        tools.push(Arc::new(RecallTool::new(keeper.clone())));
        tools.push(Arc::new(HistoryTool::new(keeper.clone())));
        tools.push(Arc::new(PeopleTool::new(keeper.clone())));
    }
    tools
}

/// The tools that settings enable.
fn turned_on(layers: &Layers) -> anyhow::Result<Vec<Arc<dyn Tool>>> {
    let fetch = Fetch::new(config::section::<FetchSettings>(layers)?);
    let xivapi = Xivapi::new(config::section::<XivapiSettings>(layers)?);
    let tools = fetch.map(|tool| Arc::new(tool) as Arc<dyn Tool>).into_iter();
    Ok(tools.chain(xivapi.map(|tool| Arc::new(tool) as Arc<dyn Tool>)).collect())
}

/// The tools of the settings. Those that look something up need a keeper. Servers are started in the background.
pub fn open(layers: &Layers, keeper: Option<&Arc<Keeper>>) -> anyhow::Result<Toolset> {
    let mut own = built_in(keeper);
    own.extend(turned_on(layers)?);
    Ok(Toolset::new(own, sources(layers)?))
}

#[cfg(feature = "mcp")]
fn sources(layers: &Layers) -> anyhow::Result<Vec<Arc<dyn ToolSource>>> {
    let servers = config::family::<mcp::McpSettings>(layers)?;
    let environment: mcp::ServerEnvironment = Arc::new(|name| std::env::var(name).ok());
    Ok(if servers.is_empty() { Vec::new() } else { vec![mcp::McpServers::start(servers, &environment)] })
}

#[cfg(not(feature = "mcp"))]
fn sources(_: &Layers) -> anyhow::Result<Vec<Arc<dyn ToolSource>>> {
    Ok(Vec::new())
}

/// All tools of this program.
#[derive(Clone, Default)]
pub struct Toolset {
    built_in: Vec<Arc<dyn Tool>>,
    sources: Vec<Arc<dyn ToolSource>>,
}

impl Toolset {
    pub fn new(built_in: Vec<Arc<dyn Tool>>, sources: Vec<Arc<dyn ToolSource>>) -> Toolset {
        Toolset { built_in, sources }
    }

    /// Every tool available now: the built-in ones, then the others by name, so that the beginning of a prompt stays the
    /// same from call to call. Of two with the same name the first is used.
    pub fn all(&self) -> Vec<Arc<dyn Tool>> {
        let mut further: Vec<Arc<dyn Tool>> = self.sources.iter().flat_map(|source| source.tools()).collect();
        further.sort_by(|one, other| one.spec().name.cmp(&other.spec().name));
        let mut all: Vec<Arc<dyn Tool>> = Vec::new();
        for tool in self.built_in.iter().cloned().chain(further) {
            if all.iter().all(|known| known.spec().name != tool.spec().name) {
                all.push(tool);
            }
        }
        all
    }

    /// Waits until tools of other programs are available, or have failed.
    pub async fn settled(&self) {
        for source in &self.sources {
            source.settled().await;
        }
    }

    /// Why some of them are missing.
    pub fn problems(&self) -> Vec<String> {
        self.sources.iter().flat_map(|source| source.problems()).collect()
    }

    /// Names in these settings that no tool has.
    pub fn unknown_in(&self, settings: &ToolSettings) -> Vec<String> {
        let all = self.all();
        let lists = [("allow", &settings.allow), ("ask", &settings.ask), ("deny", &settings.deny)];
        let named = lists.into_iter().flat_map(|(list, patterns)| patterns.iter().map(move |pattern| (list, pattern)));
        let is_unknown = |pattern: &str| !all.iter().any(|tool| is_named(pattern, &tool.spec().name));
        let unknown = named.filter(|(_, pattern)| is_unknown(pattern));
        unknown.map(|(list, pattern)| format!("`tools.{list}` names {pattern:?}, but there is no such tool")).collect()
    }

    /// Stops what was started for them.
    pub async fn stop(&self) {
        for source in &self.sources {
            source.stop().await;
        }
    }

    pub fn find(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.all().into_iter().find(|tool| tool.spec().name == name)
    }

    /// The tools that a writing model is shown: those it may use here at all.
    pub fn offered(&self, offer: ToolOffer, policy: &Policy) -> Vec<ToolSpec> {
        let is_offered = |spec: &ToolSpec| match offer {
            ToolOffer::None => false,
            ToolOffer::Reading => spec.access == ToolAccess::Reads,
            ToolOffer::All => true,
        };
        let is_allowed =
            |spec: &ToolSpec| policy.settings.tools.permission(&spec.name, spec.access) != ToolPermission::Deny;
        let specs = self.all().into_iter().map(|tool| tool.spec().clone());
        let mut specs: Vec<ToolSpec> = specs.filter(|spec| is_offered(spec) && is_allowed(spec)).collect();
        // Readers come first, so that a prompt with only those begins like one with all of them.
        specs.sort_by_key(|spec| spec.access == ToolAccess::Writes);
        specs
    }

    /// The requested calls, with the access each of them needs.
    pub fn resolved(&self, calls: Vec<RequestedCall>) -> Vec<ToolCall> {
        let resolve = |call: RequestedCall| {
            let spec_access = self.find(&call.name).map(|tool| tool.spec().access);
            let access = spec_access.filter(|_| arguments(&call.arguments).is_ok()).unwrap_or(ToolAccess::Invalid);
            let RequestedCall { id, name, arguments, signatures } = call;
            let signatures = signatures.into_iter().map(Into::into).collect();
            ToolCall { id: id.into(), name: name.into(), arguments: arguments.into(), access, signatures }
        };
        calls.into_iter().map(resolve).collect()
    }

    /// The tools that the writer of an answer sees. Once it has used some, it sees the same to the end: the provider needs
    /// their definitions, and its cache still matches the beginning of the prompt.
    pub fn shown_to(&self, brief: &Brief, policy: &Policy) -> Vec<ToolSpec> {
        match (brief.tools, brief.addressed) {
            (ToolOffer::None, _) if brief.steps.is_empty() => Vec::new(),
            (ToolOffer::None, true) => self.offered(ToolOffer::All, policy),
            (ToolOffer::None, false) => self.offered(ToolOffer::Reading, policy),
            (offer, _) => self.offered(offer, policy),
        }
    }

    /// Runs a call with a timeout, and truncates a long result.
    pub async fn carry_out(&self, order: &ToolOrder, seq: u64, policies: &Policies) -> Result<ToolOutput, Failure> {
        let arguments = arguments(&order.tool.arguments).map_err(Failure::unpaid)?;
        let request = ToolRequest {
            arguments: &arguments,
            place: &order.place,
            asker: &order.asker,
            answering: &order.answering,
            now: order.at,
            seq,
            policy: policies.for_room(order.place.room.as_str()),
        };
        let running = self.run(&order.tool.name, request);
        let output = match tokio::time::timeout(Duration::from_millis(order.timeout.0), running).await {
            Ok(result) => result.map_err(Failure::unpaid)?,
            Err(_) => return Err(Failure::unpaid(format!("no result within {} s", order.timeout.0.div_ceil(1000)))),
        };
        Ok(ToolOutput { text: shortened(&output.text, order.result_chars as usize), ..output })
    }

    pub async fn run(&self, name: &str, request: ToolRequest<'_>) -> Result<ToolOutput, String> {
        match self.find(name) {
            Some(tool) => tool.run(request).await,
            None => Err(format!("there is no tool {name:?} any more")),
        }
    }
}

fn shortened(text: &str, chars_max: usize) -> Box<str> {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => {
            let left_out = text[end..].chars().count();
            format!("{}\n… {left_out} more characters were left out", &text[..end]).into()
        }
        None => text.into(),
    }
}

/// The arguments of a call; missing ones are an empty object.
pub fn arguments(json: &str) -> Result<Map<String, Value>, String> {
    if json.trim().is_empty() {
        return Ok(Map::new());
    }
    serde_json::from_str(json).map_err(|error| format!("the arguments must be a JSON object: {error}"))
}

/// The scope of a lookup by this call.
fn scope<'a>(request: &ToolRequest<'a>) -> LookupScope<'a> {
    LookupScope {
        room: &request.place.room,
        asker: request.asker,
        message: request.answering,
        now: request.now,
        seq: request.seq,
        policy: request.policy,
    }
}

fn store_failure(error: StoreError) -> String {
    format!("the store cannot be read at the moment: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::BoxFuture;

    struct Named(ToolSpec);

    impl Tool for Named {
        fn spec(&self) -> &ToolSpec {
            &self.0
        }

        fn run<'a>(&'a self, _: ToolRequest<'a>) -> BoxFuture<'a, Result<ToolOutput, String>> {
            Box::pin(std::future::ready(Err("nothing runs here".into())))
        }
    }

    fn named(name: &str, access: ToolAccess) -> Arc<dyn Tool> {
        let schema = serde_json::json!({"type": "object"});
        Arc::new(Named(ToolSpec { name: name.into(), description: name.into(), schema, access }))
    }

    /// Offers its tools in another order each time.
    struct Shuffled(std::sync::Mutex<Vec<Arc<dyn Tool>>>);

    impl ToolSource for Shuffled {
        fn tools(&self) -> Vec<Arc<dyn Tool>> {
            let mut tools = self.0.lock().unwrap();
            tools.rotate_left(1);
            tools.clone()
        }

        fn settled(&self) -> BoxFuture<'_, ()> {
            Box::pin(std::future::ready(()))
        }

        fn stop(&self) -> BoxFuture<'_, ()> {
            Box::pin(std::future::ready(()))
        }
    }

    #[test]
    fn prompts_begin_alike_from_call_to_call() {
        let further = [("x_add", ToolAccess::Writes), ("x_list", ToolAccess::Reads), ("a_find", ToolAccess::Reads)];
        let source = Shuffled(std::sync::Mutex::new(further.map(|(name, access)| named(name, access)).to_vec()));
        let own = vec![named("remind", ToolAccess::Writes), named("time", ToolAccess::Reads)];
        let (tools, policies) = (Toolset::new(own, vec![Arc::new(source)]), Policies::preset("aizuchi").unwrap());
        for _ in 0..4 {
            let names = |offer| {
                let specs = tools.offered(offer, policies.general());
                specs.into_iter().map(|spec| spec.name).collect::<Vec<_>>()
            };
            assert_eq!(names(ToolOffer::Reading), ["time", "a_find", "x_list"]);
            assert_eq!(names(ToolOffer::All), ["time", "a_find", "x_list", "remind", "x_add"]);
        }
    }

    #[test]
    fn names_in_the_settings_that_no_tool_has_are_told() {
        let tools = Toolset::new(vec![named("notes__add", ToolAccess::Writes)], Vec::new());
        let (allow, deny) = (vec!["notes__*".into(), "note*".into()], vec!["notes".into(), "x_*".into()]);
        let settings = ToolSettings { allow, deny, ..ToolSettings::default() };
        let told = [
            "`tools.deny` names \"notes\", but there is no such tool",
            "`tools.deny` names \"x_*\", but there is no such tool",
        ];
        assert_eq!(tools.unknown_in(&settings), told);
    }
}
