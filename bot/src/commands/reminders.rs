//! Lists the reminders of a room, and cancels one.

use aizuchi_core::Input;
use aizuchi_core::input::Command;
use aizuchi_core::reminders::{Reminder, ReminderContent};
use jiff::tz::TimeZone;

use super::parse::ArgumentValue;
use super::runner::{CommandCall, CommandError, CommandRunner};
use super::spec::{ArgumentKind, ArgumentSpec, CommandEffect, CommandSpec, OfferedIn, Permission};
use crate::language::say;
use crate::lookalike::on_one_line;
use crate::ports::BoxFuture;
use crate::tools::clock::{format_time, zone_named, zoned};

pub const COMMAND: CommandSpec = CommandSpec {
    name: "reminders",
    argument: Some(ArgumentSpec { name: "cancel", kind: ArgumentKind::Number, required: false }),
    permission: Permission::Anybody,
    offered: OfferedIn::Everywhere,
    effect: CommandEffect::Run(run),
};

const TEXT_CHARS_MAX: usize = 120;

fn run<'a>(
    runner: &'a CommandRunner,
    call: CommandCall<'a>,
    number: Option<ArgumentValue>,
) -> BoxFuture<'a, Result<String, CommandError>> {
    Box::pin(async move {
        let view = runner.view(&call.place.room).await?;
        let reminders = view.as_ref().map(|view| &*view.reminders).unwrap_or_default();
        match number.and_then(|number| number.number()) {
            Some(number) => cancel(runner, call, reminders, number).await,
            None => Ok(list(call, reminders, view.as_ref().map_or("UTC", |view| &view.zone))),
        }
    })
}

fn list(call: CommandCall<'_>, reminders: &[Reminder], zone: &str) -> String {
    let language = call.language();
    if reminders.is_empty() {
        return language.text("command-reminders.none");
    }
    let zone = zone_named(zone).unwrap_or(TimeZone::UTC);
    let line = |reminder: &Reminder| {
        let (ReminderContent::Text(text) | ReminderContent::Prompt(text)) = &reminder.set.content;
        let text: String = on_one_line(text).chars().take(TEXT_CHARS_MAX).collect();
        let by = match (&reminder.asked, &reminder.set.schedule) {
            (Some(asked), _) => asked.name.to_string(),
            (None, schedule) => format!("schedule.{}", schedule.as_deref().unwrap_or_default()),
        };
        let due = format_time(&zoned(reminder.set.due, &zone));
        say!(language, "command-reminders.line", number = reminder.number, due = due, text = text, by = by)
    };
    let lines: Vec<String> = reminders.iter().map(line).collect();
    // Schedules cannot be cancelled here.
    let Some(first) = reminders.iter().find(|reminder| reminder.set.schedule.is_none()) else {
        return lines.join("\n");
    };
    let cancel = call.form.write(&format!("reminders {}", first.number));
    format!("{}\n{}", lines.join("\n"), say!(language, "command-reminders.how", cancel = cancel))
}

/// Only the person who asked for it, or a manager of the channel, may cancel it.
async fn cancel(
    runner: &CommandRunner,
    call: CommandCall<'_>,
    reminders: &[Reminder],
    number: u32,
) -> Result<String, CommandError> {
    let language = call.language();
    let Some(reminder) = reminders.iter().find(|reminder| reminder.number == number) else {
        return Ok(say!(language, "command-reminders.unknown", number = number));
    };
    if reminder.set.schedule.is_some() {
        return Ok(language.text("command-reminders.scheduled"));
    }
    let own = reminder.asked.as_ref().is_some_and(|asked| asked.person == call.caller.person);
    if !own && !call.caller.manages {
        return Ok(language.text("command-reminders.not-yours"));
    }
    runner.submit(Input::Told(call.place.room.clone(), Command::CancelReminder(number))).await?;
    Ok(say!(language, "command-reminders.done", number = number))
}
