//! Settings from where they lie: the file, the environment, the command line.

use std::path::Path;

use aizuchi_core::Policies;
use aizuchi_core::settings::Layers;
use aizuchi_core::types::{Time, Zone};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The settings file that is read if it is there and none is named.
const USUAL_FILE: &str = "aizuchi.toml";

/// Settings that can not be used: every mistake, one a line.
#[derive(Debug)]
pub struct BadSettings(pub Vec<String>);

impl std::fmt::Display for BadSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for BadSettings {}

/// What the command line says about settings.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    pub file: Option<String>,
    pub preset: Option<String>,
    pub bot_name: Option<String>,
    pub assignments: Vec<String>,
}

/// The settings file that is read: the one that is named, or the usual one if it is there.
pub fn file(named: Option<&str>) -> Option<String> {
    named.map(str::to_owned).or_else(|| Path::new(USUAL_FILE).exists().then(|| USUAL_FILE.to_owned()))
}

/// File, then environment, then command line.
pub fn layers(wishes: &Wishes, environment: impl Iterator<Item = (String, String)>) -> anyhow::Result<Layers> {
    let mut layers = Layers::default();
    if let Some(file) = file(wishes.file.as_deref()) {
        let unreadable = |error| BadSettings(vec![format!("can not read the settings in {file}: {error}")]);
        let text = std::fs::read_to_string(&file).map_err(unreadable)?;
        layers.add_file(&file, &text);
    }
    let mut variables: Vec<(String, String)> = environment.collect();
    // Our own names have the last word over those of the documents; beyond that the order means nothing.
    variables.sort_by_key(|(name, _)| (name.starts_with("AIZUCHI__"), name.clone()));
    for (name, value) in variables {
        layers.add_variable(&name, &value);
    }
    if let Some(preset) = &wishes.preset {
        layers.add_option("--preset", "preset", preset);
    }
    if let Some(name) = &wishes.bot_name {
        layers.add_option("--bot-name", "bot.name", name);
    }
    for assignment in &wishes.assignments {
        layers.add_assignment(assignment);
    }
    Ok(layers)
}

pub fn resolve(layers: &Layers) -> anyhow::Result<Policies> {
    let told = |problems: Vec<aizuchi_core::settings::Problem>| {
        BadSettings(problems.iter().map(ToString::to_string).collect())
    };
    layers.resolve(&zone).map_err(|problems| told(problems).into())
}

/// A mistake in a setting that only who uses it can see, with the place where the value was given.
pub fn mistake(layers: &Layers, key: &str, value: &str, told: impl Into<String>) -> anyhow::Error {
    BadSettings(vec![layers.problem(key, value, told).to_string()]).into()
}

/// The years for which a zone's offsets are worked out: every log there is, and a while to come.
const YEARS: std::ops::RangeInclusive<i16> = 1970..=2100;

fn zone(name: &str) -> Option<Zone> {
    let zone = TimeZone::get(name).ok()?;
    let start = jiff::civil::date(*YEARS.start(), 1, 1).to_zoned(TimeZone::UTC).ok()?.timestamp();
    let end = jiff::civil::date(*YEARS.end(), 1, 1).to_zoned(TimeZone::UTC).ok()?.timestamp();
    let minutes = |at: Timestamp| zone.to_offset(at).seconds() / 60;
    let mut offsets = vec![(Time(0), minutes(start))];
    for change in zone.following(start).take_while(|change| change.timestamp() < end) {
        offsets.push((Time(change.timestamp().as_millisecond() as u64), change.offset().seconds() / 60));
    }
    Some(Zone { offsets })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_zones_know_their_summer() {
        let berlin = zone("Europe/Berlin").unwrap();
        let at = |text: &str| Time(text.parse::<Timestamp>().unwrap().as_millisecond() as u64);
        assert_eq!(berlin.minute_of_day(at("2024-07-01T00:00:00Z")), 120);
        assert_eq!(berlin.minute_of_day(at("2024-01-01T00:00:00Z")), 60);
        assert_eq!(zone("Asia/Tokyo").unwrap().minute_of_day(at("2024-01-01T00:00:00Z")), 540);
        assert!(zone("Mars/Olympus").is_none());
    }

    #[test]
    fn a_named_file_must_be_there_and_mistakes_are_told_with_it() {
        let missing = Wishes { file: Some("no-such-file.toml".into()), ..Wishes::default() };
        assert!(layers(&missing, std::iter::empty()).unwrap_err().to_string().contains("no-such-file.toml"));
        let odd = Wishes { assignments: vec!["score.low=300".into()], ..Wishes::default() };
        let problem = resolve(&layers(&odd, std::iter::empty()).unwrap()).unwrap_err();
        assert_eq!(problem.to_string(), "--set score.low=300: `score.low` is 300; allowed is 0 to 100");
    }
}
