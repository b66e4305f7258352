//! `aizuchi mcp`: what the commands say, to a client that others wrote.

use std::process::Stdio;

use rmcp::model::CallToolRequestParams;
use rmcp::service::RunningService;
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use super::program::Folder;
use super::store::live;

const TALK: &str = include_str!("../../../samples/en.jsonl");
const SCRIPT: &str = include_str!("../../../samples/en.judge.jsonl");

struct Assistant {
    service: RunningService<RoleClient, ()>,
    child: Child,
}

impl Assistant {
    async fn start(folder: &Folder) -> Assistant {
        let mut command = Command::from(folder.command(["mcp"]));
        let pipes = command.env("TZ", "UTC").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.kill_on_drop(true).spawn().expect("it can be started");
        let pipes = (child.stdout.take().expect("a pipe"), child.stdin.take().expect("a pipe"));
        Assistant { service: ().serve(pipes).await.expect("it speaks MCP"), child }
    }

    /// Text, and whether it is an error.
    async fn call(&self, tool: &'static str, arguments: Value) -> (String, bool) {
        let arguments = arguments.as_object().expect("an object").clone();
        let result = self.service.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await;
        let result = result.expect("it answers");
        let text = result.content[0].as_text().expect("it is text").text.clone();
        (text, result.is_error == Some(true))
    }

    /// Ends with its input. What it wrote on standard error.
    async fn end(self) -> String {
        let Assistant { service, child } = self;
        service.cancel().await.expect("it can be closed");
        let output = child.wait_with_output().await.expect("it ends");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).expect("it writes UTF-8")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_assistant_is_told_what_the_commands_print() {
    let folder = tokio::task::spawn_blocking(|| {
        let folder = Folder::with("talk.jsonl", TALK);
        live(TALK, SCRIPT).keep_in(&folder);
        folder.write("secrets", "hush hush\n");
        folder
    });
    let folder = folder.await.unwrap();
    let printed = |line: &str| folder.run_in(&[("TZ", "UTC")], line).succeeded().out;
    let assistant = Assistant::start(&folder).await;
    let tools = assistant.service.list_all_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["why", "stats", "replay", "memory_search"]);
    let reads =
        |tool: &rmcp::model::Tool| tool.annotations.as_ref().is_some_and(|hints| hints.read_only_hint == Some(true));
    assert!(tools.iter().all(reads));
    for (tool, arguments, line) in [
        ("why", json!({"message": "6"}), "why 6"),
        ("why", json!({}), "why --last"),
        ("why", json!({"message": "6", "room": "garden"}), "why 6 --room garden"),
        ("stats", json!({}), "stats"),
        ("replay", json!({}), "replay --journal"),
        ("replay", json!({"set": ["score.low=90"]}), "replay --journal --set score.low=90"),
        ("replay", json!({"log": folder.path("talk.jsonl")}), "replay talk.jsonl"),
        ("memory_search", json!({"text": "tomatoes"}), "memory search tomatoes"),
    ] {
        assert_eq!(assistant.call(tool, arguments).await, (printed(line), false), "{line}");
    }
    for (tool, arguments, right) in [
        ("why", json!({"message": "nosuch"}), "nothing is known about a message nosuch"),
        ("why", json!({"id": "6"}), "the arguments do not fit: unknown field `id`, expected `message` or `room`"),
        ("replay", json!({"log": "-"}), "standard input is in use"),
        ("replay", json!({"log": folder.path("secrets")}), "`log` is not in a known log format"),
        ("replay", json!({"set": ["score.model_file=secrets"]}), "`score.model_file` cannot be set here"),
        ("replay", json!({"set": [" store.folder = /"]}), "cannot be set here"),
        ("replay", json!({"set": ["score.low=900"]}), "`score.low` must be 0–100, got 900"),
        ("memory_search", json!({}), "the arguments do not fit: missing field `text`"),
    ] {
        let (told, is_error) = assistant.call(tool, arguments).await;
        assert!(is_error && told.contains(right) && !told.contains("hush"), "{told}");
    }
    assert_eq!(assistant.end().await, "");
}

#[tokio::test]
async fn an_assistant_is_told_where_there_is_no_store() {
    let folder = Folder::new();
    let assistant = Assistant::start(&folder).await;
    for (tool, arguments) in
        [("why", json!({})), ("stats", json!({})), ("replay", json!({})), ("memory_search", json!({"text": "a"}))]
    {
        let (told, is_error) = assistant.call(tool, arguments).await;
        assert!(is_error && told.starts_with("there is no store in aizuchi-data: nothing has been recorded"), "{told}");
    }
    assert!(!folder.has("aizuchi-data"), "it looks and does not touch");
    assert!(assistant.end().await.starts_with("aizuchi: there is no store in aizuchi-data"));
}
