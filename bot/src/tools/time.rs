//! The tool `time`: the current time in a zone, and the difference between two times.

use aizuchi_core::tools::{ToolAccess, ToolOutput};
use jiff::{SpanRound, Unit};
use serde_json::json;

use super::arguments::Arguments;
use super::clock::{format_time, read, zone_named, zone_of, zoned};
use crate::ports::{BoxFuture, Tool, ToolRequest, ToolSpec};

pub struct TimeTool(ToolSpec);

impl TimeTool {
    pub fn new() -> TimeTool {
        TimeTool(ToolSpec {
            name: "time".into(),
            description: "Tells the current date and time, converts a time to another time zone, and says how long it is from one time to another.".into(),
            schema: json!({
                "type": "object",
                "properties": {
                    "at": {"type": "string", "description": "A date or time such as 2026-04-07T09:00; now if left out"},
                    "zone": {"type": "string", "description": "Convert to this IANA time zone, such as Europe/Berlin; the group's own if left out"},
                    "until": {"type": "string", "description": "Also say how long it is from `at` until this date or time"},
                },
                "additionalProperties": false,
            }),
            access: ToolAccess::Reads,
        })
    }
}

impl Default for TimeTool {
    fn default() -> TimeTool {
        TimeTool::new()
    }
}

impl Tool for TimeTool {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn run<'a>(&'a self, request: ToolRequest<'a>) -> BoxFuture<'a, Result<ToolOutput, String>> {
        Box::pin(async move { tell(&request).map(ToolOutput::own) })
    }
}

fn tell(request: &ToolRequest<'_>) -> Result<String, String> {
    let arguments = Arguments::new(request.arguments, &["at", "zone", "until"])?;
    let here = zone_of(request.policy);
    let at = match arguments.text("at")? {
        Some(text) => read(text, &here)?,
        None => zoned(request.now, &here),
    };
    let mut told = format_time(&at);
    if let Some(name) = arguments.text("zone")? {
        let there = zone_named(name)
            .ok_or_else(|| format!("there is no time zone {name:?}: write Asia/Tokyo, UTC or +09:00"))?;
        told += &format!("\n{}", format_time(&at.with_time_zone(there)));
    }
    if let Some(text) = arguments.text("until")? {
        let until = read(text, &here)?;
        let span = at.until((Unit::Year, &until)).map_err(|error| error.to_string())?;
        let span = span.round(SpanRound::new().smallest(Unit::Minute).relative(&at).largest(Unit::Year));
        let span = span.map_err(|error| error.to_string())?;
        told += &format!("\nuntil {}: {span:#}", format_time(&until));
    }
    Ok(told)
}
