//! Reminders and schedules: they are kept, and posted when they are due and the bot may speak.
//!
//! A room's reminders are checked with its main place. While the room is muted, in quiet hours, or while the bot is busy
//! answering there, a due one waits, and is tried again every minute.

use super::turn::Turn;
use super::{alarm, outbox, write};
use crate::effect::{Delivery, Post};
use crate::reminders::{LATE, NewReminder, Reminder, ReminderAsker, ReminderContent, ReminderPost};
use crate::room::{Pending, PendingDelivery, Phase};
use crate::trace::{Cause, Trace};
use crate::types::{Addressed, Author, Kind, Message, MessageId, PersonId, Place, Visibility, Voice};

/// Keeps a reminder that somebody asked for in this place; `Err` says why it is refused.
pub(super) fn remind(turn: &mut Turn<'_>, reminder: NewReminder, asked: ReminderAsker) -> Result<(), String> {
    let most = turn.policy.settings.tools.reminders_max as usize;
    let reminders = turn.room.reminders.get_or_insert_default();
    if reminders.asked_for() >= most {
        return Err(format!("there are {most} reminders in this room already; /reminders lists and cancels them"));
    }
    reminders.add(turn.now, turn.thread.clone(), reminder, Some(asked));
    look_later(turn);
    Ok(())
}

/// The next time of a schedule is known.
pub(super) fn handle_scheduled(turn: &mut Turn<'_>, place: &Place, reminder: NewReminder) {
    let now = turn.now;
    turn.room.reminders.get_or_insert_default().add(now, place.thread.clone(), reminder, None);
    look_later(turn);
}

/// After a restart the schedules are submitted again; what became due meanwhile is still to be posted.
pub(super) fn resume(turn: &mut Turn<'_>) {
    let now = turn.now;
    if let Some(reminders) = &mut turn.room.reminders {
        reminders.list.retain(|reminder| reminder.set.schedule.is_none() || reminder.set.due <= now);
        fire(turn);
        alarm::set_alarm(turn);
    }
}

fn look_later(turn: &mut Turn<'_>) {
    let thread = turn.thread.take();
    alarm::set_alarm(turn);
    turn.thread = thread;
}

/// Posts what is due, if the bot may speak.
pub(super) fn fire(turn: &mut Turn<'_>) {
    let now = turn.now;
    let Some(reminders) = turn.room.reminders.as_mut() else { return };
    let (due, later) = std::mem::take(&mut reminders.list).into_iter().partition(|reminder| reminder.set.due <= now);
    reminders.list = later;
    let due: Vec<Reminder> = due;
    let mut waits = Vec::new();
    for reminder in due {
        let thread = reminder.thread.clone().filter(|thread| turn.room.place(Some(thread)).is_some());
        turn.thread = thread;
        if let Some(reminder) = say(turn, reminder) {
            waits.push(reminder);
        }
    }
    turn.thread = None;
    if let Some(reminders) = turn.room.reminders.as_mut() {
        reminders.list.splice(0..0, waits);
    }
}

/// Returns it if it has to wait.
fn say(turn: &mut Turn<'_>, reminder: Reminder) -> Option<Reminder> {
    if turn.room.off || turn.room.is_muted(turn.now) || is_quiet_hour(turn) || is_occupied(turn, &reminder.set.content)
    {
        return Some(reminder);
    }
    let message = occasion(turn, &reminder);
    match &reminder.set.content {
        ReminderContent::Text(text) => post(turn, &reminder, text.clone()),
        ReminderContent::Prompt(prompt) => {
            let late = turn.now.since(reminder.set.due);
            let prompt = match late >= LATE {
                true => format!("{prompt}\n(This is late: it was due {} minutes ago. Say so.)", late.0 / 60_000).into(),
                false => prompt.clone(),
            };
            have_written(turn, &message, prompt);
        }
    }
    None
}

/// Applies even if people who address the bot are answered in these hours: nobody asked for it just now.
fn is_quiet_hour(turn: &Turn<'_>) -> bool {
    let hours = turn.policy.settings.gates.quiet_hours;
    hours.is_some_and(|hours| hours.contains(turn.policy.zone.minute_of_day(turn.now)))
}

/// Whether it would have to wait for an answer. It waits as a reminder and not as a post, since whatever stops an answer, such
/// as a mute, drops the posts behind it, and a reminder must not be lost.
fn is_occupied(turn: &Turn<'_>, content: &ReminderContent) -> bool {
    turn.place().bot.as_ref().is_some_and(|bot| match content {
        ReminderContent::Text(_) => bot.is_mid_answer(),
        ReminderContent::Prompt(_) => bot.is_busy(),
    })
}

/// The moment as a message, since decisions are about messages.
fn occasion(turn: &Turn<'_>, reminder: &Reminder) -> Message {
    let name = reminder.set.schedule.clone().unwrap_or_default();
    Message {
        id: MessageId::new(format!("schedule:{name}@{}", reminder.set.due.0)),
        place: turn.place_id(),
        at: turn.now,
        author: Author { id: PersonId::new(format!("schedule:{name}")), name, voice: Voice::Person },
        text: "".into(),
        reply: None,
        mentions: Vec::new(),
        mentions_me: false,
        visibility: Visibility::Public,
        backfilled: false,
        heard: None,
    }
}

fn post(turn: &mut Turn<'_>, reminder: &Reminder, text: Box<str>) {
    let asked = reminder.asked.as_ref();
    let is_late = turn.now.since(reminder.set.due) >= LATE;
    let asked_by = asked.map(|asked| asked.name.clone());
    let post = ReminderPost { text: text.clone(), asked_by, due: reminder.set.due, is_late };
    let answering = asked.map_or_else(|| MessageId::new(""), |asked| asked.message.clone());
    // Its thread may be one that was let go.
    let place = Place { room: turn.room.id.clone(), thread: reminder.thread.clone() };
    let delivery = Delivery { place, ..turn.new_delivery(Post::Reminder(post), answering) };
    outbox::send(turn, PendingDelivery::new(delivery, Some(text)));
}

/// A model writes what a schedule asks for, as it would write to a person who addressed the bot.
fn have_written(turn: &mut Turn<'_>, message: &Message, prompt: Box<str>) {
    let mut trace = Box::new(Trace::undecided(message, message.author.name.clone()));
    trace.cause = Cause::Scheduled;
    let pending = Pending {
        addressed: Some(Addressed::Turn),
        errand: Some(prompt),
        ..Pending::new(trace, Kind::Full, turn.now, Phase::Holding { due: turn.now })
    };
    write::write(turn, Box::new(pending));
}
