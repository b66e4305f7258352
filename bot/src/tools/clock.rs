//! Times as a model writes and reads them, in the room's time zone unless it names another.

use aizuchi_core::{Policy, Time};
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Zoned};

/// The zone of the settings.
pub fn zone_of(policy: &Policy) -> TimeZone {
    zone_named(&policy.settings.bot.zone).unwrap_or(TimeZone::UTC)
}

/// "UTC", an offset such as "+09:00", or a zone such as "Asia/Tokyo".
pub fn zone_named(name: &str) -> Option<TimeZone> {
    if matches!(name, "UTC" | "Z") {
        return Some(TimeZone::UTC);
    }
    if let Some((hours, minutes)) = name.strip_prefix(['+', '-']).and_then(|rest| rest.split_once(':')) {
        let seconds = hours.parse::<i32>().ok()? * 3600 + minutes.parse::<i32>().ok()? * 60;
        let seconds = if name.starts_with('-') { -seconds } else { seconds };
        return Offset::from_seconds(seconds).ok().map(TimeZone::fixed);
    }
    TimeZone::get(name).ok()
}

pub fn zoned(at: Time, zone: &TimeZone) -> Zoned {
    let stamp = i64::try_from(at.0).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
    stamp.unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(zone.clone())
}

pub fn time_of(zoned: &Zoned) -> Option<Time> {
    u64::try_from(zoned.timestamp().as_millisecond()).ok().map(Time)
}

/// Such as "Tue 2026-04-07 12:02 (Asia/Tokyo)".
pub fn format_time(at: &Zoned) -> String {
    let zone = at.time_zone().iana_name().map_or_else(|| at.offset().to_string(), str::to_owned);
    format!("{} ({zone})", at.strftime("%a %Y-%m-%d %H:%M"))
}

/// A date, or a date and a time with or without an offset. Without one it is in this zone.
pub fn read(text: &str, zone: &TimeZone) -> Result<Zoned, String> {
    let text = text.trim();
    if let Ok(stamp) = text.parse::<Timestamp>() {
        return Ok(stamp.to_zoned(zone.clone()));
    }
    let local: Result<DateTime, _> = text.parse();
    local
        .and_then(|local| local.to_zoned(zone.clone()))
        .map_err(|_| format!("{text:?} is not a time: write 2026-04-07, 2026-04-07T09:00 or 2026-04-07T09:00+09:00"))
}
