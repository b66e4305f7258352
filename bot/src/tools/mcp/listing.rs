//! The tools that a server lists, checked one by one: invalid ones are left out or corrected.

use aizuchi_core::tools::ToolAccess;
use rmcp::RoleClient;
use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult};
use rmcp::service::{Peer, ServiceError};
use serde_json::{Map, Value, json};

use super::clean::{cleaned, log_line};

/// The maximum number of tools of one server.
const TOOLS_MAX: usize = 128;
const PAGES_MAX: usize = 32;
const SCHEMA_BYTES_MAX: usize = 32 * 1024;
const DESCRIPTION_CHARS_MAX: usize = 1000;
/// A tool with a longer name is left out.
const NAME_BYTES_MAX: usize = 256;

/// A tool as its server defines it.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedTool {
    pub name: String,
    pub description: String,
    pub schema: Value,
    pub access: ToolAccess,
}

/// All tools of a server, and what was left out.
#[derive(Debug, Default, PartialEq)]
pub struct ToolListing {
    pub tools: Vec<ListedTool>,
    pub left_out: Vec<String>,
}

/// Lists a server's tools, page by page.
pub async fn list_tools(peer: &Peer<RoleClient>) -> Result<ToolListing, ServiceError> {
    let (mut listing, mut cursor) = (ToolListing::default(), None);
    for _ in 0..PAGES_MAX {
        let params = PaginatedRequestParams::default().with_cursor(cursor.take());
        let request =
            ListToolsRequest { method: Default::default(), params: Some(params), extensions: Default::default() };
        let page = match peer.send_request(ClientRequest::ListToolsRequest(request)).await? {
            ServerResult::ListToolsResult(page) => serde_json::to_value(page).unwrap_or_default(),
            // If one tool is invalid, the library cannot parse the page either.
            ServerResult::CustomResult(page) => page.0,
            _ => return Err(ServiceError::UnexpectedResponse),
        };
        let Some(tools) = page["tools"].as_array() else { return Err(ServiceError::UnexpectedResponse) };
        if !listing.add(tools) {
            return Ok(listing);
        }
        cursor = page["nextCursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            return Ok(listing);
        }
    }
    listing.left_out.push(format!("more than {PAGES_MAX} pages of tools"));
    Ok(listing)
}

impl ToolListing {
    /// Returns whether there is space for more.
    fn add(&mut self, tools: &[Value]) -> bool {
        for tool in tools {
            if self.tools.len() == TOOLS_MAX {
                self.left_out.push(format!("more than {TOOLS_MAX} tools"));
                return false;
            }
            match to_tool(tool) {
                Ok(tool) if self.tools.iter().any(|known| known.name == tool.name) => {
                    self.leave_out(format!("a second tool {}", log_line(&tool.name)));
                }
                Ok(tool) => self.tools.push(tool),
                Err(why) => self.leave_out(why),
            }
        }
        true
    }

    fn leave_out(&mut self, why: String) {
        const TOLD_MAX: usize = 16;
        if self.left_out.len() < TOLD_MAX {
            self.left_out.push(why);
        }
    }
}

fn to_tool(tool: &Value) -> Result<ListedTool, String> {
    let Some(name) = tool["name"].as_str().filter(|name| !name.is_empty()) else {
        return Err("a tool without a name".into());
    };
    if name.len() > NAME_BYTES_MAX {
        return Err(format!("the tool {}: its name has more than {NAME_BYTES_MAX} bytes", log_line(name)));
    }
    let schema = to_schema(&tool["inputSchema"]);
    let bytes = schema.to_string().len();
    if bytes > SCHEMA_BYTES_MAX {
        return Err(format!(
            "the tool {}: its schema has {} kB, more than {}",
            log_line(name),
            bytes.div_ceil(1024),
            SCHEMA_BYTES_MAX / 1024
        ));
    }
    let description = tool["description"].as_str().or(tool["title"].as_str()).unwrap_or_default();
    let access = match tool["annotations"]["readOnlyHint"] == true {
        true => ToolAccess::Reads,
        false => ToolAccess::Writes,
    };
    let description = cleaned(description, DESCRIPTION_CHARS_MAX).trim().to_owned();
    Ok(ListedTool { name: name.to_owned(), description, schema, access })
}

/// Providers require the schema of an object.
fn to_schema(schema: &Value) -> Value {
    let empty = || json!({"type": "object", "properties": {}});
    let Some(schema) = schema.as_object() else { return empty() };
    let has_type = |wanted: &Value| wanted == "object";
    match schema.get("type") {
        Some(given) if !has_type(given) => empty(),
        _ => {
            let mut whole: Map<String, Value> = schema.clone();
            whole.insert("type".into(), "object".into());
            if !whole.get("properties").is_some_and(Value::is_object) {
                whole.insert("properties".into(), json!({}));
            }
            Value::Object(whole)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_does_not_fit_spoils_no_other() {
        let mut listing = ToolListing::default();
        let long = "x".repeat(40_000);
        listing.add(&[
            json!({"name": "a", "description": "One\u{1b}[2J", "inputSchema": {"type": "object", "properties": {"x": {}}},
                   "annotations": {"readOnlyHint": true}}),
            json!({"name": "b", "inputSchema": "anything"}),
            json!({"name": "c", "inputSchema": {"type": "string"}, "annotations": {"readOnlyHint": "yes"}}),
            json!({"name": "d", "inputSchema": {"$schema": "x"}}),
            json!({"name": "big", "inputSchema": {"type": "object", "description": long}}),
            json!({"name": "a"}),
            json!({"description": "nameless"}),
            json!(3),
        ]);
        let names: Vec<(&str, ToolAccess)> = listing.tools.iter().map(|tool| (&*tool.name, tool.access)).collect();
        let writes = ToolAccess::Writes;
        assert_eq!(names, [("a", ToolAccess::Reads), ("b", writes), ("c", writes), ("d", writes)]);
        assert_eq!(listing.tools[0].description, "One[2J");
        let empty = json!({"type": "object", "properties": {}});
        assert_eq!((&listing.tools[1].schema, &listing.tools[2].schema), (&empty, &empty));
        assert_eq!(listing.tools[3].schema, json!({"$schema": "x", "type": "object", "properties": {}}));
        assert_eq!(
            listing.left_out,
            [
                "the tool big: its schema has 40 kB, more than 32",
                "a second tool a",
                "a tool without a name",
                "a tool without a name"
            ]
        );
    }

    #[test]
    fn a_server_cannot_list_without_end() {
        let mut listing = ToolListing::default();
        let tools: Vec<Value> = (0..200).map(|n| json!({"name": format!("tool{n}")})).collect();
        assert!(!listing.add(&tools));
        assert_eq!((listing.tools.len(), listing.left_out.as_slice()), (128, &["more than 128 tools".to_owned()][..]));
        let long = to_tool(&json!({"name": "a", "description": "あ".repeat(3000)})).unwrap();
        assert_eq!(long.description.chars().count(), 1000);
    }
}
