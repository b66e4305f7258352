//! The tool `remind`: posts a reminder in this room at a later time. The engine keeps it.

use aizuchi_core::reminders::{NewReminder, ReminderContent};
use aizuchi_core::tools::{ToolAccess, ToolOutput};
use jiff::{Span, Zoned};
use serde_json::json;

use super::arguments::Arguments;
use super::clock::{format_time, read, time_of, zone_of, zoned};
use crate::lookalike::on_one_line;
use crate::ports::{BoxFuture, Tool, ToolRequest, ToolSpec};

/// After a longer time nobody remembers what a reminder was about.
const YEARS_MAX: i64 = 5;
const TEXT_CHARS_MAX: usize = 1_000;

pub struct RemindTool(ToolSpec);

impl RemindTool {
    pub fn new() -> RemindTool {
        RemindTool(ToolSpec {
            name: "remind".into(),
            description: "Sets a reminder: you will post its text in this room at that time. Use it when somebody asks to be reminded of something.".into(),
            schema: json!({
                "type": "object",
                "properties": {
                    "text": {"type": "string", "description": "What to say then, with the names of those it is for"},
                    "at": {"type": "string", "description": "The date and time in the group's time zone, such as 2026-04-07T09:00"},
                    "in": {"type": "string", "description": "Or how long from now, such as 10m, 2h 30m or 3d"},
                },
                "required": ["text"],
                "additionalProperties": false,
            }),
            access: ToolAccess::Writes,
        })
    }
}

impl Default for RemindTool {
    fn default() -> RemindTool {
        RemindTool::new()
    }
}

impl Tool for RemindTool {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn run<'a>(&'a self, request: ToolRequest<'a>) -> BoxFuture<'a, Result<ToolOutput, String>> {
        Box::pin(async move { set(&request) })
    }
}

fn set(request: &ToolRequest<'_>) -> Result<ToolOutput, String> {
    let arguments = Arguments::new(request.arguments, &["text", "at", "in"])?;
    // With lines of its own it could pass for several, of other people.
    let text = on_one_line(arguments.needed("text")?);
    if text.is_empty() {
        return Err("`text` is missing".into());
    }
    if text.chars().count() > TEXT_CHARS_MAX {
        return Err(format!("`text` must have at most {TEXT_CHARS_MAX} characters"));
    }
    let zone = zone_of(request.policy);
    let now = zoned(request.now, &zone);
    let (due, by_clock) = match (arguments.text("at")?, arguments.text("in")?) {
        (Some(at), None) => (read(at, &zone)?, true),
        (None, Some(span)) => (after(&now, span)?, false),
        _ => return Err("give either `at` or `in`".into()),
    };
    let due = check(&now, due)?;
    let set = time_of(&due).map(|due| NewReminder {
        due,
        by_clock,
        content: ReminderContent::Text(text.into()),
        schedule: None,
    });
    let reminder = set.ok_or("the time is too far away")?;
    let told = format!("the reminder is set for {}; it is now {}", format_time(&due), format_time(&now));
    Ok(ToolOutput { reminder: Some(Box::new(reminder)), ..ToolOutput::own(told) })
}

fn after(now: &Zoned, text: &str) -> Result<Zoned, String> {
    let right = || format!("{text:?} is not a duration: write 10m, 2h 30m or 3d");
    let span: Span = text.parse().map_err(|_| right())?;
    if span.is_negative() || span.is_zero() {
        return Err(right());
    }
    now.checked_add(span).map_err(|_| right())
}

fn check(now: &Zoned, due: Zoned) -> Result<Zoned, String> {
    let latest = now.checked_add(Span::new().years(YEARS_MAX)).unwrap_or_else(|_| now.clone());
    match () {
        () if due <= *now => Err(format!("{} is over: it is now {}", format_time(&due), format_time(now))),
        () if due > latest => Err(format!("a reminder may be at most {YEARS_MAX} years away")),
        () => Ok(due),
    }
}

#[cfg(test)]
mod tests {
    use aizuchi_core::Time;
    use aizuchi_core::types::{MessageId, PersonId, Place};

    use super::*;
    use crate::config;

    fn remind(arguments: serde_json::Value) -> Result<NewReminder, String> {
        let mut layers = config::new_layers();
        layers.add_assignment("bot.zone=Asia/Tokyo");
        let policies = config::resolve(&layers).unwrap();
        let (place, asker, answering) = (Place::room("web:lobby"), PersonId::new("mia"), MessageId::new("m1"));
        // 2026-04-07 12:00 in Tokyo.
        let now = Time(1_775_530_800_000);
        let (arguments, policy) = (arguments.as_object().unwrap(), policies.general());
        let (place, asker, answering) = (&place, &asker, &answering);
        let output = set(&ToolRequest { arguments, place, asker, answering, now, seq: 0, policy })?;
        Ok(*output.reminder.expect("it is set"))
    }

    #[test]
    fn times_are_those_of_the_room() {
        let at = remind(json!({"text": "water the plants", "at": "2026-04-08T09:00"})).unwrap();
        assert_eq!((at.due.0, at.by_clock), (1_775_530_800_000 + 21 * 3_600_000, true));
        let later = remind(json!({"text": "tea", "in": "1h 30m"})).unwrap();
        assert_eq!((later.due.0, later.by_clock), (1_775_530_800_000 + 5_400_000, false));
        let elsewhere = remind(json!({"text": "tea", "at": "2026-04-07T04:00Z"})).unwrap();
        assert_eq!(elsewhere.due.0, 1_775_530_800_000 + 3_600_000);
    }

    #[test]
    fn what_it_will_say_is_one_line_without_tricks() {
        let set =
            remind(json!({"text": "a\u{202e}dlrow\u{202c}\u{7}\u{1b}[31m red\n⏰ jonas: pay me", "in": "1h"})).unwrap();
        assert_eq!(set.content, ReminderContent::Text("adlrow [31m red ⏰ jonas: pay me".into()));
        assert!(remind(json!({"text": "\u{202e}\n", "in": "1h"})).unwrap_err().contains("`text` is missing"));
    }

    #[test]
    fn what_cannot_be_set_says_what_would_be_right() {
        for (arguments, told) in [
            (json!({"text": "x", "at": "2026-04-07T11:59"}), "is over"),
            (json!({"text": "x"}), "either `at` or `in`"),
            (json!({"text": "x", "at": "2026-04-08", "in": "1h"}), "either `at` or `in`"),
            (json!({"text": "x", "at": "soon"}), "not a time"),
            (json!({"text": "x", "in": "-1h"}), "not a duration"),
            (json!({"text": "x", "in": "100y"}), "at most 5 years"),
            (json!({"text": " ", "in": "1h"}), "`text` is missing"),
            (json!({"text": "x", "when": "1h"}), "unknown argument `when`"),
            (json!({"text": "x".repeat(1_001), "in": "1h"}), "at most 1000 characters"),
        ] {
            let refused = remind(arguments.clone()).unwrap_err();
            assert!(refused.contains(told), "{arguments}: {refused}");
        }
    }
}
