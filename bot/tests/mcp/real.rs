//! Servers that others wrote.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use aizuchi_core::tools::ToolAccess;
use aizuchi_test_servers::folder::Scratch;
use serde_json::{Value, json};

use super::house::{McpFixture, node_server, prepared, script};

#[tokio::test]
async fn the_time_server_converts_a_time() {
    let house = McpFixture::open(&format!("[mcp.time]\ncommand = [{:?}]", prepared("mcp/bin/mcp-server-time"))).await;
    assert_eq!(house.names(), ["time_get_current_time", "time_convert_time"]);
    assert_eq!(house.access("time_convert_time"), ToolAccess::Reads);
    let arguments = json!({"source_timezone": "Asia/Tokyo", "time": "16:30", "target_timezone": "UTC"});
    let told = house.call("time_convert_time", arguments).await.unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert!(told["target"]["datetime"].as_str().unwrap().contains("T07:30:00"), "{told}");
    let refused = house.call("time_convert_time", json!({"source_timezone": "Mars/Olympus"})).await;
    assert!(refused.is_err(), "{refused:?}");
    house.close().await;
}

#[tokio::test]
async fn the_git_server_reads_and_writes_a_repository() {
    let folder = Scratch::new("git");
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=Mia", "-c", "user.email=mia@example.org"];
        let done = Command::new("git").args(identity).args(arguments).current_dir(&folder).output();
        assert!(done.expect("git can be started").status.success(), "{arguments:?}");
    };
    git(&["init", "--quiet"]);
    std::fs::write(folder.join("tomatoes.txt"), "red\n").unwrap();
    git(&["add", "."]);
    git(&["commit", "--quiet", "--message", "Plant tomatoes"]);
    let path = folder.to_string_lossy().into_owned();
    let settings =
        format!("[mcp.git]\ncommand = [{:?}, \"--repository\", {path:?}]", prepared("mcp/bin/mcp-server-git"));
    let house = McpFixture::open(&settings).await;
    assert_eq!((house.access("git_git_log"), house.access("git_git_add")), (ToolAccess::Reads, ToolAccess::Writes));
    let told = house.call("git_git_log", json!({"repo_path": path, "max_count": 1})).await.unwrap();
    assert!(told.contains("Plant tomatoes"), "{told}");
    house.call("git_git_create_branch", json!({"repo_path": path, "branch_name": "peppers"})).await.unwrap();
    let branches = Command::new("git").arg("branch").current_dir(&folder).output().unwrap();
    assert!(String::from_utf8(branches.stdout).unwrap().contains("peppers"));
    let refused = house.call("git_git_log", json!({"repo_path": "/"})).await;
    assert!(refused.is_err(), "{refused:?}");
    house.close().await;
}

#[tokio::test]
async fn the_filesystem_server_keeps_to_its_folder() {
    let folder = Scratch::new("files");
    let path = folder.to_string_lossy().into_owned();
    let settings = format!("[mcp.files]\ncommand = [\"node\", {:?}, {path:?}]", node_server("filesystem"));
    let house = McpFixture::open(&settings).await;
    let file = format!("{path}/note.txt");
    assert_eq!(house.access("files_write_file"), ToolAccess::Writes);
    house.call("files_write_file", json!({"path": file, "content": "water the tomatoes"})).await.unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "water the tomatoes");
    assert_eq!(house.access("files_read_text_file"), ToolAccess::Reads);
    let read = house.call("files_read_text_file", json!({"path": file})).await.unwrap();
    assert!(read.contains("water the tomatoes"), "{read}");
    let refused = house.call("files_read_text_file", json!({"path": "/etc/passwd"})).await.unwrap_err();
    assert!(refused.contains("denied") || refused.contains("outside"), "{refused}");
    house.close().await;
}

#[tokio::test]
async fn the_memory_server_remembers_in_the_file_it_is_given() {
    let folder = Scratch::new("graph");
    let file = folder.join("graph.jsonl");
    let settings =
        format!("[mcp.graph]\ncommand = [\"node\", {:?}]\nenv = [\"MEMORY_FILE_PATH\"]", node_server("memory"));
    let variables = [("MEMORY_FILE_PATH", &*file.to_string_lossy())];
    let house = McpFixture::open_in(Scratch::new("mcp"), &settings, &variables).await;
    let mia = json!({"name": "Mia", "entityType": "person", "observations": ["grows tomatoes"]});
    house.call("graph_create_entities", json!({"entities": [mia]})).await.unwrap();
    let found = house.call("graph_search_nodes", json!({"query": "tomatoes"})).await.unwrap();
    assert!(found.contains("Mia"), "{found}");
    assert!(std::fs::read_to_string(&file).unwrap().contains("grows tomatoes"));
    house.close().await;
}

/// What the server with everything does, however it is reached.
async fn try_everything(house: &McpFixture) {
    let told = house.call("all_echo", json!({"message": "いろは"})).await.unwrap();
    assert!(told.contains("いろは"), "{told}");
    let sum = house.call("all_get-sum", json!({"a": 2, "b": 40})).await.unwrap();
    assert!(sum.contains("42"), "{sum}");
    let image = house.call("all_get-tiny-image", json!({})).await.unwrap();
    assert!(image.contains("[image image/png, "), "{image}");
    let weather = house.call("all_get-structured-content", json!({"location": "New York"})).await.unwrap();
    assert!(weather.contains("temperature"), "{weather}");
    let resource = json!({"resourceType": "Text", "resourceId": 1});
    let resource = house.call("all_get-resource-reference", resource).await.unwrap();
    assert!(resource.contains("Resource 1"), "{resource}");
    let links = house.call("all_get-resource-links", json!({"count": 2})).await.unwrap();
    assert!(links.contains("[link "), "{links}");
    let refused = house.call("all_get-sum", json!({"a": "two"})).await;
    assert!(refused.is_err(), "{refused:?}");
}

#[tokio::test]
async fn the_server_with_everything_is_understood() {
    let house = McpFixture::open(&format!("[mcp.all]\ncommand = [\"node\", {:?}]", node_server("everything"))).await;
    try_everything(&house).await;
    house.close().await;
}

/// The same over HTTP; ends when it is dropped.
struct HttpServer {
    child: Child,
    port: u16,
}

impl HttpServer {
    fn start(port: u16) -> HttpServer {
        let mut child = Command::new("node")
            .args(["--import", &script("loopback.mjs"), &node_server("everything"), "streamableHttp"])
            .env("PORT", port.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("node can be started");
        let output = BufReader::new(child.stdout.take().expect("it was asked for"));
        let port = |line: String| line.strip_prefix("ready ")?.parse().ok();
        let mut lines = output.lines().map_while(Result::ok);
        let port = lines.find_map(port).expect("it listens");
        // It ends if nobody reads what it prints.
        std::thread::spawn(move || lines.for_each(drop));
        HttpServer { child, port }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn the_server_with_everything_is_understood_over_http_and_reached_again_after_a_restart() {
    let server = HttpServer::start(0);
    let port = server.port;
    let house = McpFixture::open(&format!("[mcp.all]\nurl = \"http://127.0.0.1:{port}/mcp\"")).await;
    try_everything(&house).await;
    drop(server);
    let told = house.call("all_echo", json!({"message": "x"})).await.unwrap_err();
    assert!(told.contains("the MCP server all"), "{told}");
    house.until(|house| !house.servers.failures().is_empty()).await;
    let _server = HttpServer::start(port);
    house.until(|house| house.servers.failures().is_empty()).await;
    let told = house.call("all_echo", json!({"message": "again"})).await.unwrap();
    assert!(told.contains("again"), "{told}");
    house.close().await;
}
