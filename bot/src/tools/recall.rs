//! The tool `recall`: what is remembered, limited to what those in the room may know.

use std::sync::Arc;

use aizuchi_core::tools::{ToolAccess, ToolOutput};
use serde_json::json;

use super::arguments::Arguments;
use super::clock::{zone_of, zoned};
use super::{scope, store_failure};
use crate::keeper::Keeper;
use crate::ports::{BoxFuture, Tool, ToolRequest, ToolSpec};

const COUNT: u64 = 8;
const COUNT_MAX: u64 = 20;

pub struct RecallTool {
    keeper: Arc<Keeper>,
    spec: ToolSpec,
}

impl RecallTool {
    pub fn new(keeper: Arc<Keeper>) -> RecallTool {
        let spec = ToolSpec {
            name: "recall".into(),
            description: "Searches your long-term memory for what people told you before: facts about them, their plans, and what the group decided.".into(),
            schema: json!({
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "What to look for, in the words people would have used"},
                    "count": {"type": "integer", "minimum": 1, "maximum": COUNT_MAX, "description": "How many facts at most"},
                },
                "required": ["query"],
                "additionalProperties": false,
            }),
            access: ToolAccess::Reads,
        };
        RecallTool { keeper, spec }
    }
}

impl Tool for RecallTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, request: ToolRequest<'a>) -> BoxFuture<'a, Result<ToolOutput, String>> {
        Box::pin(async move {
            let arguments = Arguments::new(request.arguments, &["query", "count"])?;
            let (query, count) = (arguments.needed("query")?, arguments.number("count", COUNT, 1..=COUNT_MAX)?);
            if !request.policy.settings.memory.enabled {
                return Err("long-term memory is turned off here".into());
            }
            let found = self
                .keeper
                .in_time(self.keeper.look_up_facts(scope(&request), query, count as usize))
                .await
                .map_err(store_failure)?;
            if found.is_empty() {
                return Ok(ToolOutput::own("nothing is remembered about this"));
            }
            let zone = zone_of(request.policy);
            let lines = found.iter().map(|recalled| {
                let fact = &recalled.fact;
                let former = if fact.former.is_some() { "no longer true: " } else { "" };
                format!("- {}: {former}{}", zoned(fact.at, &zone).strftime("%Y-%m-%d"), fact.content)
            });
            Ok(ToolOutput::own(lines.collect::<Vec<_>>().join("\n")))
        })
    }
}
