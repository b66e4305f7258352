//! What a server may do wrong, and what comes of it.

use aizuchi_core::tools::ToolAccess;
use aizuchi_test_servers::folder::Scratch;
use serde_json::{Value, json};

use super::house::{McpFixture, poll, python, script, within};

fn settings(mode: &str, more: &str) -> String {
    format!(
        "[mcp.odd]\ncommand = [{:?}, {:?}, \"{mode}\"]\nenv = [\"NOTES\"]\n{more}",
        python(),
        script("odd_server.py")
    )
}

async fn odd() -> McpFixture {
    McpFixture::open(&settings("odd", "")).await
}

#[tokio::test]
async fn every_tool_has_a_name_that_fits_and_is_called_by_its_own() {
    let house = odd().await;
    let names = house.names();
    let fits = |name: &String| {
        (1..=64).contains(&name.len()) && name.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-'))
    };
    assert!(names.iter().all(fits), "{names:?}");
    for (name, own) in [
        ("odd_______etc", "../../etc"),
        ("odd_get_time", "get time"),
        ("odd_get_time_2", "get_time"),
        ("odd_schemaless", "schemaless"),
    ] {
        assert_eq!(house.call(name, json!({"text": "hello"})).await.unwrap(), format!("{own}: hello"));
    }
    assert!(!names.contains(&"odd_huge".to_owned()), "a schema of 40 kB is refused: {names:?}");
    let echo = house.tool("odd_echo");
    let description = &echo.spec().description;
    assert!(description.starts_with("Says it again.[2Jxx") && description.chars().count() == 1000, "{description}");
    assert_eq!((house.access("odd_echo"), house.access("odd_die")), (ToolAccess::Reads, ToolAccess::Writes));
    assert_eq!(house.tool("odd_schemaless").spec().schema, json!({"type": "object", "properties": {}}));
    house.close().await;
}

#[tokio::test]
async fn a_result_is_text_whatever_it_is() {
    let house = odd().await;
    assert_eq!(house.call("odd_controls", json!({})).await.unwrap(), "a[2Jb\nc");
    assert_eq!(house.call("odd_image", json!({})).await.unwrap(), "[image image/png, 12 kB]");
    assert_eq!(house.call("odd_structured", json!({})).await.unwrap(), r#"{"degrees":21}"#);
    assert_eq!(house.call("odd_fail", json!({})).await.unwrap_err(), "no such file");
    assert_eq!(house.call("odd_refuse", json!({})).await.unwrap_err(), "not \\u{1b}this way");
    assert_eq!(house.call("odd_garbage", json!({})).await.unwrap(), "after garbage");
    assert!(house.call("odd_nonsense", json!({})).await.is_err());
    assert_eq!(house.call("odd_complain", json!({})).await.unwrap(), "complained");
    assert_eq!(house.pids().len(), 1, "none of this ended it");
    house.close().await;
}

#[tokio::test]
async fn an_answer_that_is_too_large_fails_at_once_and_the_next_is_heard() {
    let house = odd().await;
    let cut = house.call("odd_big", json!({"megabytes": 2})).await.unwrap();
    assert_eq!(cut.len(), 200_000);
    let told = house.call("odd_big", json!({"megabytes": 10})).await.unwrap_err();
    assert_eq!(told, "the answer is larger than 8 MB");
    assert_eq!(house.call("odd_echo", json!({"text": "still here"})).await.unwrap(), "echo: still here");
    assert_eq!(house.pids().len(), 1);
    house.close().await;
}

#[tokio::test]
async fn nothing_but_what_is_named_reaches_a_server() {
    let mut variables = vec![("PATH", ""), ("LANG", "C.UTF-8"), ("TZ", "Asia/Tokyo"), ("SECRET_TOKEN", "hush")];
    let path = std::env::var("PATH").unwrap();
    variables[0].1 = &path;
    variables.push(("OPENAI_API_KEY", "hush"));
    let house = McpFixture::open_in(Scratch::new("mcp"), &settings("odd", ""), &variables).await;
    let told = house.call("odd_environment", json!({})).await.unwrap();
    let seen: serde_json::Map<String, Value> = serde_json::from_str(&told).unwrap();
    for name in ["PATH", "LANG", "TZ", "NOTES"] {
        assert!(seen.contains_key(name), "{told}");
    }
    // Python adds one of its own.
    let allowed = ["PATH", "HOME", "LANG", "TZ", "NOTES", "LC_CTYPE"];
    assert!(seen.keys().all(|name| allowed.contains(&name.as_str())) && !told.contains("hush"), "{told}");
    house.close().await;
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_is_started_again() {
    let house = odd().await;
    let told = house.call("odd_die", json!({})).await.unwrap_err();
    assert!(
        told.starts_with("the MCP server odd failed during the call, which may or may not have taken effect"),
        "{told}"
    );
    // What is offered stays while it is started again, and a call meanwhile says what is the matter.
    house.until(|house| !house.servers.failures().is_empty()).await;
    assert_eq!(house.servers.failures(), [("odd".to_owned(), "exited with status 3".to_owned())]);
    let told = house.call("odd_echo", json!({})).await.unwrap_err();
    assert_eq!(told, "the MCP server odd is not running: exited with status 3");
    house.until(|house| house.servers.failures().is_empty()).await;
    assert_eq!(house.call("odd_echo", json!({"text": "again"})).await.unwrap(), "echo: again");
    assert_eq!(house.pids().len(), 2);
    house.close().await;
}

#[tokio::test]
async fn a_list_that_changes_is_followed() {
    let house = odd().await;
    let has_grown = |house: &McpFixture| house.names().contains(&"odd_grown".to_owned());
    assert!(!has_grown(&house));
    house.call("odd_grow", json!({})).await.unwrap();
    house.until(has_grown).await;
    assert_eq!(house.call("odd_grown", json!({})).await.unwrap(), "grown: ");
    house.call("odd_shrink", json!({})).await.unwrap();
    house.until(|house| !has_grown(house)).await;
    house.close().await;
}

#[tokio::test]
async fn a_call_that_hangs_is_given_up_and_the_server_is_told() {
    let house = McpFixture::open(&settings("odd", "timeout_seconds = 3")).await;
    let told = house.call("odd_hang", json!({})).await.unwrap_err();
    assert_eq!(told, "the MCP server odd gave no result within 3 s");
    house.until_noted("cancelled").await;
    assert_eq!(house.call("odd_echo", json!({"text": "still here"})).await.unwrap(), "echo: still here");
    house.close().await;
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled() {
    let house = odd().await;
    let (tool, dropping) = (house.tool("odd_hang"), house.until_noted("hangs"));
    tokio::select! {
        told = house.call_of(tool, json!({})) => panic!("it hangs: {told:?}"),
        () = dropping => (),
    }
    house.until_noted("cancelled").await;
    house.close().await;
}

#[tokio::test]
async fn a_server_that_floods_is_disconnected_and_started_again() {
    for tool in ["odd_flood", "odd_pings"] {
        let house = odd().await;
        assert!(house.call(tool, json!({})).await.is_err());
        house.until(|house| !house.servers.failures().is_empty()).await;
        let (_, why) = house.servers.failures().remove(0);
        assert_eq!(why, "sent more than 1000 messages in 10 s");
        house.until(|house| house.servers.failures().is_empty()).await;
        assert_eq!(house.call("odd_echo", json!({"text": "again"})).await.unwrap(), "echo: again");
        house.close().await;
    }
}

#[tokio::test]
async fn a_server_that_cannot_start_says_why() {
    let house = McpFixture::open(&format!(
        "{}\n[mcp.absent]\ncommand = \"/nowhere/server\"\n[mcp.elsewhere]\nurl = \"http://127.0.0.1:1/mcp\"\n\
         token_variable = \"UNSET_TOKEN\"",
        settings("broken", "")
    ))
    .await;
    let told = house.servers.failures();
    assert_eq!(
        told,
        [
            ("absent".to_owned(), "cannot start /nowhere/server: there is no such program".to_owned()),
            ("elsewhere".to_owned(), "UNSET_TOKEN is not set".to_owned()),
            ("odd".to_owned(), "exited with status 1: cannot find\\u{1b}[31m my settings".to_owned()),
        ]
    );
    assert!(house.names().is_empty());
    house.close().await;
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up() {
    let house = McpFixture::open(&settings("silent", "timeout_seconds = 2")).await;
    assert_eq!(house.servers.failures(), [("odd".to_owned(), "no answer within 2 s".to_owned())]);
    let pids = house.pids();
    house.close().await;
    within(poll(|| pids.iter().all(|pid| !super::house::is_running(*pid)))).await;
}
