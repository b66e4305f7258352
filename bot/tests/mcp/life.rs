//! How servers end: none outlives the program.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::program::NO_LOCAL_SERVER;
use serde_json::json;

use super::house::{McpFixture, is_running, poll, python, script, within};

#[tokio::test]
async fn a_server_ends_when_its_input_does() {
    let settings = format!("[mcp.odd]\ncommand = [{:?}, {:?}]\nenv = [\"NOTES\"]", python(), script("odd_server.py"));
    let house = McpFixture::open(&settings).await;
    house.call("odd_echo", json!({})).await.unwrap();
    let pids = house.pids();
    assert!(pids.len() == 1 && is_running(pids[0]));
    let folder = house.close().await;
    assert!(!is_running(pids[0]));
    let notes = std::fs::read_to_string(folder.join("notes")).unwrap();
    assert!(notes.ends_with("end of input\n"), "it ended by itself: {notes}");
}

#[tokio::test]
async fn a_server_that_will_not_end_is_killed_with_its_children() {
    let settings = format!(
        "[mcp.odd]\ncommand = [{:?}, {:?}, \"stubborn\"]\nenv = [\"NOTES\"]",
        python(),
        script("odd_server.py")
    );
    let house = McpFixture::open(&settings).await;
    let pids = house.pids();
    assert!(pids.len() == 2 && pids.iter().all(|pid| is_running(*pid)), "{pids:?}");
    house.close().await;
    within(poll(|| !pids.iter().any(|pid| is_running(*pid)))).await;
}

/// A program that is killed closes nothing by itself; the system does.
#[tokio::test]
async fn no_server_outlives_a_program_that_is_killed() {
    let folder = Scratch::new("mcp");
    let notes = folder.join("notes");
    let settings = format!(
        "[mcp.odd]\ncommand = [{:?}, {:?}]\nenv = [\"NOTES\"]\n[web]\naddress = \"127.0.0.1:0\"\n",
        python(),
        script("odd_server.py")
    );
    std::fs::write(folder.join("aizuchi.toml"), settings).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_aizuchi"));
    command.args(["run", "--no-browser"]).current_dir(&folder).env("NOTES", &notes).env("AIZUCHI__LOG__LEVEL", "info");
    command.env(NO_LOCAL_SERVER.0, NO_LOCAL_SERVER.1).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut program = command.spawn().expect("it can be started");
    let lines = BufReader::new(program.stderr.take().expect("it was asked for")).lines().map_while(Result::ok);
    let is_started = |line: String| line.contains("MCP server odd: started, 21 tools");
    let is_started = tokio::task::spawn_blocking(move || lines.into_iter().any(is_started));
    let is_started = within(is_started).await.unwrap();
    assert!(program.try_wait().expect("it can be asked").is_none(), "it runs until it is killed");
    program.kill().expect("it can be killed");
    program.wait().expect("it ends");
    assert!(is_started, "it says that the server has started");
    let text = std::fs::read_to_string(&notes).expect("the server writes down that it is there");
    let pid = text.lines().find_map(|line| line.strip_prefix("pid ")?.parse().ok()).expect("its process id");
    within(poll(|| !is_running(pid))).await;
}

#[tokio::test]
async fn a_server_that_is_disabled_is_not_started() {
    let settings = format!(
        "[mcp.odd]\ncommand = [{:?}, {:?}]\nenv = [\"NOTES\"]\nenabled = false",
        python(),
        script("odd_server.py")
    );
    let house = McpFixture::open(&settings).await;
    assert!(house.names().is_empty() && house.servers.failures().is_empty());
    assert!(house.pids().is_empty());
    house.close().await;
}
