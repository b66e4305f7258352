//! The clock and the zone it is read in.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::DoctorContext;
use crate::check::Check;

const PART: &str = "clock";

/// Before this program was written: a clock that was never set.
const EARLIEST: &str = "2025-01-01T00:00:00Z";

pub fn check(context: &DoctorContext<'_>) -> Vec<Check> {
    vec![check_clock(&Zoned::now(), &context.settings.bot.zone, context.settings.gates.quiet_hours.is_some())]
}

fn check_clock(now: &Zoned, zone: &str, quiet_hours: bool) -> Check {
    let earliest: Timestamp = EARLIEST.parse().expect("it is a time");
    let shown = now.strftime("%Y-%m-%d %H:%M:%S %Z");
    if now.timestamp() < earliest {
        return Check::fail(PART, format!("the clock shows {shown}"), "set the clock of this machine");
    }
    let here = now.time_zone().iana_name().filter(|name| *name != "Etc/Unknown");
    let differs = TimeZone::get(zone).is_ok_and(|zone| zone.to_offset(now.timestamp()) != now.offset());
    match here.filter(|_| zone == "UTC" && differs && quiet_hours) {
        Some(here) => Check::warn(
            PART,
            format!("{shown}; quiet hours are counted in UTC"),
            format!("set bot.zone = \"{here}\" if you mean the local time of this machine"),
        ),
        None => Check::ok(PART, format!("{shown}; days are counted in {zone}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Level;

    #[test]
    fn a_clock_that_was_never_set_and_hours_of_another_zone_are_told() {
        let at = |text: &str| text.parse::<Zoned>().unwrap();
        assert_eq!(check_clock(&at("1970-01-01T00:01:00+00:00[UTC]"), "UTC", false).level, Level::Fail);
        let tokyo = at("2026-04-07T12:00:00+09:00[Asia/Tokyo]");
        assert_eq!(check_clock(&tokyo, "UTC", false).level, Level::Ok);
        assert_eq!(check_clock(&tokyo, "Asia/Tokyo", true).level, Level::Ok);
        let warned = check_clock(&tokyo, "UTC", true);
        assert!(warned.level == Level::Warn && warned.fix.unwrap().contains("bot.zone = \"Asia/Tokyo\""));
    }
}
