//! Schedules of the settings: something is said in a room at the times of a cron pattern.
//!
//! The engine keeps the next time of each, beside the reminders that people asked for, and says it then; this module
//! computes the next time. So a time that passed while the program was down is not missed: it is said late.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use aizuchi_core::reminders::{NewReminder, ReminderContent};
use aizuchi_core::settings::{Any, Flat, SectionFamily};
use aizuchi_core::types::{Place, RoomId};
use aizuchi_core::{Input, Policies, Time};
use croner::Cron;
use jiff::tz::TimeZone;
use tokio_util::sync::CancellationToken;

use crate::runtime::{Clock, EngineHandle};
use crate::tools::clock::{time_of, zone_named, zone_of, zoned};

/// One section `[schedule.NAME]`.
#[derive(Clone, Debug)]
pub struct ScheduleSettings {
    pub room: String,
    pub pattern: Cron,
    pub content: ReminderContent,
    /// Defaults to the room's zone.
    pub zone: Option<String>,
}

impl SectionFamily for ScheduleSettings {
    const NAME: &'static str = "schedule";
    const FIELDS: &'static [&'static str] = &["room", "cron", "text", "prompt", "zone"];
    const DEFAULTS: &'static str = include_str!("schedule.default.toml");

    fn read(path: &str, flat: &mut Flat) -> Option<ScheduleSettings> {
        let key = |field: &str| format!("{path}.{field}");
        let any = Self::FIELDS.iter().map(|field| key(field)).find(|key| flat.has(key))?;
        for field in ["room", "cron"] {
            if !flat.has(&key(field)) {
                flat.complain(&any, format!("[{path}] has no `{field}`"));
                return None;
            }
        }
        let room: String = flat.read(&key("room"), &Any)?;
        if room.split_once(':').is_none_or(|(platform, id)| platform.is_empty() || id.is_empty()) {
            flat.misfit(&key("room"), "the full name of a room, such as \"web:lobby\" or \"discord:GUILD/CHANNEL\"");
            return None;
        }
        let cron: String = flat.read(&key("cron"), &Any)?;
        let has_five_fields = cron.split_whitespace().count() == 5;
        let Some(pattern) = cron.parse::<Cron>().ok().filter(|_| has_five_fields) else {
            flat.misfit(&key("cron"), "minute, hour, day, month and weekday, such as \"0 9 * * MON-FRI\"");
            return None;
        };
        // Such as the 30th of February.
        if pattern.find_next_occurrence(&zoned(Time(0), &TimeZone::UTC), false).is_err() {
            flat.misfit(&key("cron"), "a time that comes; this one never does");
            return None;
        }
        let content = match (flat.has(&key("text")), flat.has(&key("prompt"))) {
            (true, false) => ReminderContent::Text(flat.read::<String>(&key("text"), &Any)?.into()),
            (false, true) => ReminderContent::Prompt(flat.read::<String>(&key("prompt"), &Any)?.into()),
            _ => {
                flat.complain(&any, format!("[{path}] must have either `text` or `prompt`"));
                return None;
            }
        };
        let (ReminderContent::Text(words) | ReminderContent::Prompt(words)) = &content;
        if words.trim().is_empty() {
            flat.complain(&any, format!("[{path}] must say something: its `text` or `prompt` is empty"));
            return None;
        }
        let zone = if flat.has(&key("zone")) { Some(flat.read::<String>(&key("zone"), &Any)?) } else { None };
        if zone.as_deref().is_some_and(|zone| zone_named(zone).is_none()) {
            flat.misfit(&key("zone"), r#""UTC", an offset such as "+09:00", or a zone such as "Asia/Tokyo""#);
            return None;
        }
        Some(ScheduleSettings { room, pattern, content, zone })
    }
}

impl ScheduleSettings {
    /// The first time after `now`; `None` if there is none.
    pub fn next(&self, now: Time, policies: &Policies) -> Option<Time> {
        let own = self.zone.as_deref().and_then(zone_named);
        let zone = own.unwrap_or_else(|| zone_of(policies.for_room(&self.room)));
        let next = self.pattern.find_next_occurrence(&zoned(now, &zone), false).ok()?;
        time_of(&next)
    }
}

/// Re-evaluated this often, because the clock may have been set without notice.
const LOOK_AGAIN: Duration = Duration::from_secs(20);

/// Sends the next time of each schedule to the engine, until shutdown. `policies` returns those that hold now.
pub async fn run(
    schedules: BTreeMap<String, ScheduleSettings>,
    policies: impl Fn() -> Arc<Policies>,
    engine: EngineHandle,
    clock: Clock,
    stop: CancellationToken,
) {
    let mut told: HashMap<&str, Time> = HashMap::new();
    if schedules.is_empty() {
        // Ending before the program does would count as a failure.
        return stop.cancelled().await;
    }
    while !stop.is_cancelled() {
        let (now, policies) = (clock.now(), policies());
        let mut pause = LOOK_AGAIN;
        for (name, schedule) in &schedules {
            let Some(due) = schedule.next(now, &policies) else { continue };
            if told.get(name.as_str()) != Some(&due) {
                let place = Place { room: RoomId::new(schedule.room.as_str()), thread: None };
                let (content, schedule) = (schedule.content.clone(), Some(name.as_str().into()));
                let reminder = NewReminder { due, by_clock: true, content, schedule };
                if engine.submit(Input::Scheduled(place, Box::new(reminder))).await.is_err() {
                    return;
                }
                told.insert(name, due);
            }
            pause = pause.min(Duration::from_millis(due.since(now).0 + 1));
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => (),
            () = stop.cancelled() => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;

    fn schedules(text: &str) -> Result<BTreeMap<String, ScheduleSettings>, String> {
        let mut layers = config::new_layers();
        layers.add_file("aizuchi.toml", text);
        config::resolve(&layers).map_err(|error| error.to_string())?;
        config::family(&layers).map_err(|error| error.to_string())
    }

    #[test]
    fn the_next_time_is_in_the_zone_of_the_schedule() {
        let text = "[schedule.standup]\nroom = \"web:lobby\"\ncron = \"0 9 * * MON-FRI\"\ntext = \"Stand-up!\"\nzone = \"Asia/Tokyo\"";
        let found = schedules(text).unwrap();
        let policies = config::resolve(&config::new_layers()).unwrap();
        // Saturday 2026-04-11, noon UTC: the next is Monday, nine in Tokyo, midnight UTC.
        let next = found["standup"].next(Time(1_775_908_800_000), &policies);
        assert_eq!(next, Some(Time(1_776_038_400_000)));
    }

    /// The zone of a room was that of the start for ever.
    #[tokio::test(start_paused = true)]
    async fn the_next_time_follows_the_settings() {
        let text = "[schedule.standup]\nroom = \"web:lobby\"\ncron = \"0 9 * * *\"\ntext = \"Stand-up!\"";
        let (inbox, mut heard) = tokio::sync::mpsc::channel(1);
        let (report, _failures) = tokio::sync::mpsc::unbounded_channel();
        let (engine, stop) = (EngineHandle::new(vec![inbox], report), CancellationToken::new());
        let zones = std::sync::Mutex::new(["UTC", "Asia/Tokyo"].into_iter().cycle());
        let policies = move || {
            let mut layers = config::new_layers();
            layers.add_assignment(&format!("bot.zone={}", zones.lock().unwrap().next().unwrap()));
            Arc::new(config::resolve(&layers).unwrap())
        };
        let noon = Clock::standing_at(Time(1_775_908_800_000));
        tokio::spawn(run(schedules(text).unwrap(), policies, engine, noon, stop.clone()));
        let mut times = Vec::new();
        while times.len() < 3 {
            let Some(crate::runtime::ShardRequest::Input(Input::Scheduled(_, reminder), done)) = heard.recv().await
            else {
                panic!("it is scheduled");
            };
            times.push(reminder.due.0);
            assert!(done.send(()));
        }
        assert_eq!(times, [1_775_984_400_000, 1_775_952_000_000, 1_775_984_400_000]);
        stop.cancel();
    }

    #[test]
    fn mistakes_say_where_and_what_would_be_right() {
        for (text, told) in [
            ("[schedule.a]\ncron = \"0 9 * * *\"\ntext = \"x\"", "aizuchi.toml:2: [schedule.a] has no `room`"),
            ("[schedule.a]\nroom = \"web:a\"\ntext = \"x\"", "aizuchi.toml:2: [schedule.a] has no `cron`"),
            ("[schedule.a]\nroom = \"web:a\"\ncron = \"0 9 * * *\"", "must have either `text` or `prompt`"),
            (
                "[schedule.a]\nroom = \"lobby\"\ncron = \"0 9 * * *\"\ntext = \"x\"",
                "`schedule.a.room` must be the full name",
            ),
            (
                "[schedule.a]\nroom = \"web:a\"\ncron = \"* * * * * *\"\ntext = \"x\"",
                "`schedule.a.cron` must be minute, hour, day, month and weekday",
            ),
            ("[schedule.a]\nroom = \"web:a\"\ncron = \"0 9 * * *\"\ntext = \" \"", "its `text` or `prompt` is empty"),
            ("[schedule.a]\nroom = \"web:a\"\ncron = \"9 o'clock\"\ntext = \"x\"", "`schedule.a.cron` must be minute"),
            (
                "[schedule.a]\nroom = \"web:a\"\ncron = \"0 9 30 FEB *\"\ntext = \"x\"",
                "`schedule.a.cron` must be a time that comes; this one never does",
            ),
            (
                "[schedule.a]\nroom = \"web:a\"\ncron = \"0 9 * * *\"\ntext = \"x\"\nzone = \"Mars\"",
                "`schedule.a.zone` must be",
            ),
            (
                "[schedule.a]\nwhen = \"x\"",
                "unknown setting `schedule.a.when`; a section [schedule.NAME] has `room`, `cron`",
            ),
        ] {
            let refused = schedules(text).unwrap_err();
            assert!(refused.contains(told), "{text}: {refused}");
        }
    }
}
