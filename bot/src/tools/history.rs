//! The tool `history`: what was said in this room earlier, by words, people and time.

use std::sync::Arc;

use aizuchi_core::tools::{ToolAccess, ToolOutput};
use serde_json::json;

use super::arguments::Arguments;
use super::clock::{read, time_of, zone_of, zoned};
use super::{scope, store_failure};
use crate::keeper::{HistoryQuery, Keeper};
use crate::ports::{BoxFuture, Tool, ToolRequest, ToolSpec};

const COUNT: u64 = 20;
const COUNT_MAX: u64 = 50;

pub struct HistoryTool {
    keeper: Arc<Keeper>,
    spec: ToolSpec,
}

impl HistoryTool {
    pub fn new(keeper: Arc<Keeper>) -> HistoryTool {
        let spec = ToolSpec {
            name: "history".into(),
            description:
                "Finds earlier messages of this room: by words, by who wrote them, by time, or simply the latest ones."
                    .into(),
            schema: json!({
                "type": "object",
                "properties": {
                    "words": {"type": "string", "description": "Words that the messages have"},
                    "by": {"type": "string", "description": "The name of who wrote them"},
                    "since": {"type": "string", "description": "Not before this date or time, such as 2026-04-07 or 2026-04-07T09:00"},
                    "until": {"type": "string", "description": "Before this date or time"},
                    "count": {"type": "integer", "minimum": 1, "maximum": COUNT_MAX, "description": "How many messages at most"},
                },
                "additionalProperties": false,
            }),
            access: ToolAccess::Reads,
        };
        HistoryTool { keeper, spec }
    }
}

impl Tool for HistoryTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, request: ToolRequest<'a>) -> BoxFuture<'a, Result<ToolOutput, String>> {
        Box::pin(async move {
            let arguments = Arguments::new(request.arguments, &["words", "by", "since", "until", "count"])?;
            let zone = zone_of(request.policy);
            let time = |key| match arguments.text(key)? {
                Some(text) => read(text, &zone).map(|zoned| time_of(&zoned)),
                None => Ok(None),
            };
            let filter = HistoryQuery {
                words: arguments.text("words")?.unwrap_or_default().to_owned(),
                by: arguments.text("by")?.map(str::to_owned),
                since: time("since")?,
                until: time("until")?,
                count: arguments.number("count", COUNT, 1..=COUNT_MAX)? as usize,
            };
            let said =
                self.keeper.in_time(self.keeper.earlier_talk(scope(&request), &filter)).await.map_err(store_failure)?;
            if said.is_empty() {
                return Ok(ToolOutput::own("no such message was found"));
            }
            let lines = said.iter().map(|said| {
                let at = zoned(said.at, &zone).strftime("%Y-%m-%d %H:%M").to_string();
                format!("- {at} {}: {}", said.name, said.text.replace('\n', " "))
            });
            Ok(ToolOutput::own(lines.collect::<Vec<_>>().join("\n")))
        })
    }
}
