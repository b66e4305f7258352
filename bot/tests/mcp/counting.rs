//! The server that counts what was carried out.

use aizuchi_core::tools::ToolAccess;
use aizuchi_test_servers::folder::Scratch;
use serde_json::json;

use super::house::{McpFixture, python, script};

#[tokio::test]
async fn what_is_counted_is_in_its_file() {
    let folder = Scratch::new("counting");
    let file = folder.join("count");
    let settings =
        format!("[mcp.count]\ncommand = [{:?}, {:?}]\nenv = [\"COUNT_FILE\"]", python(), script("counting_server.py"));
    let house = McpFixture::open_in(Scratch::new("mcp"), &settings, &[("COUNT_FILE", &file.to_string_lossy())]).await;
    assert_eq!((house.access("count_increment"), house.access("count_read")), (ToolAccess::Writes, ToolAccess::Reads));
    for key in ["one", "two", "one"] {
        assert_eq!(house.call("count_increment", json!({"key": key, "wait_ms": 1})).await.unwrap(), "counted");
    }
    assert_eq!(house.call("count_read", json!({})).await.unwrap(), "one\ntwo\none\n");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\ntwo\none\n");
    house.close().await;
}
