//! The tool `people`: who is who in this room.

use std::sync::Arc;

use aizuchi_core::memory::KnownPerson;
use aizuchi_core::memory::words::normal;
use aizuchi_core::tools::{ToolAccess, ToolOutput};
use jiff::tz::TimeZone;
use serde_json::json;

use super::arguments::Arguments;
use super::clock::{zone_of, zoned};
use super::{scope, store_failure};
use crate::keeper::Keeper;
use crate::ports::{BoxFuture, Tool, ToolRequest, ToolSpec};

const PEOPLE_MAX: usize = 30;

pub struct PeopleTool {
    keeper: Arc<Keeper>,
    spec: ToolSpec,
}

impl PeopleTool {
    pub fn new(keeper: Arc<Keeper>) -> PeopleTool {
        let spec = ToolSpec {
            name: "people".into(),
            description: "Tells who the people of this room are: their names, when they last spoke here, and what you know of them.".into(),
            schema: json!({
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "Only people whose name has this in it"},
                },
                "additionalProperties": false,
            }),
            access: ToolAccess::Reads,
        };
        PeopleTool { keeper, spec }
    }
}

impl Tool for PeopleTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, request: ToolRequest<'a>) -> BoxFuture<'a, Result<ToolOutput, String>> {
        Box::pin(async move {
            let arguments = Arguments::new(request.arguments, &["name"])?;
            let name = arguments.text("name")?.map(normal);
            if !request.policy.settings.memory.enabled || !request.policy.settings.memory.profiles {
                return Err("no profiles of people are kept here".into());
            }
            let people = self.keeper.in_time(self.keeper.people_here(scope(&request))).await.map_err(store_failure)?;
            let is_meant =
                |person: &&KnownPerson| name.as_ref().is_none_or(|name| normal(&person.name).contains(name.as_str()));
            let zone = zone_of(request.policy);
            let lines: Vec<String> =
                people.iter().filter(is_meant).take(PEOPLE_MAX).map(|person| line(person, &zone)).collect();
            Ok(ToolOutput::own(if lines.is_empty() {
                "nobody of that name is known here".into()
            } else {
                lines.join("\n")
            }))
        })
    }
}

fn line(person: &KnownPerson, zone: &TimeZone) -> String {
    let seen = zoned(person.last_seen, zone).strftime("%Y-%m-%d %H:%M").to_string();
    let parts = [&person.tags, &person.topics, &person.notes].into_iter().filter(|words| !words.is_empty());
    let known: Vec<String> =
        parts.map(|words| words.join(", ")).chain(person.last_talk.as_deref().map(str::to_owned)).collect();
    let known = if known.is_empty() { String::new() } else { format!("; {}", known.join("; ")) };
    format!("- {}: last spoke {seen}, {} messages{known}", person.name, person.messages)
}
