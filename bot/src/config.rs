//! Settings from where they lie: the file, the environment, the command line.

use std::path::Path;

use aizuchi_core::Policies;
use aizuchi_core::settings::{Layers, Problem, WireFormat};
use aizuchi_core::types::{Time, Zone};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::models::providers::row;

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
    let told = |problems: Vec<Problem>| BadSettings(problems.iter().map(ToString::to_string).collect());
    let policies = layers.resolve(&zone).map_err(told)?;
    let unusable = unusable(layers, &policies);
    if unusable.is_empty() { Ok(policies) } else { Err(told(unusable).into()) }
}

/// What only shows outside of the settings: a folder that is not there, a provider that nobody knows.
fn unusable(layers: &Layers, policies: &Policies) -> Vec<Problem> {
    let mut problems = Vec::new();
    let folder = &policies.general().settings.prompts.folder;
    if layers.sets("prompts.folder") && !Path::new(folder).is_dir() {
        let message = format!("`prompts.folder` is {folder:?}; allowed is a folder that exists");
        problems.push(layers.problem("prompts.folder", folder, message));
    }
    for (name, provider) in policies.all().flat_map(|policy| &policy.settings.providers) {
        if provider.url.is_some() || row(name).is_some() {
            continue;
        }
        let (field, value) = match (provider.format, &provider.key) {
            (Some(format), _) => ("format", format_id(format)),
            (None, key) => ("key", key.as_deref().unwrap_or_default()),
        };
        let key = format!("providers.{name}.{field}");
        let message =
            format!("`{key}` is {value:?}, and the provider {name:?} has no address; set providers.{name}.url");
        let problem = layers.problem(&key, value, message);
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
    problems
}

fn format_id(format: WireFormat) -> &'static str {
    match format {
        WireFormat::OpenAi => "openai",
        WireFormat::Anthropic => "anthropic",
        WireFormat::Google => "google",
        WireFormat::Ollama => "ollama",
    }
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

    #[test]
    fn what_is_not_there_is_told_with_its_place() {
        let told = |text: &str| {
            let mut layers = Layers::default();
            layers.add_file("aizuchi.toml", text);
            resolve(&layers).map(drop).map_err(|error| error.to_string())
        };
        assert_eq!(
            told("[prompts]\nfolder = \"no-such-folder\"").unwrap_err(),
            "aizuchi.toml:2: `prompts.folder` is \"no-such-folder\"; allowed is a folder that exists"
        );
        assert_eq!(
            told("[providers.mine]\nformat = \"google\"").unwrap_err(),
            "aizuchi.toml:2: `providers.mine.format` is \"google\", and the provider \"mine\" has no address; set \
             providers.mine.url"
        );
        assert!(
            told("[providers.mine]\nkey = \"MY_KEY\"").unwrap_err().starts_with("aizuchi.toml:2: `providers.mine.key`")
        );
        told("[prompts]\nfolder = \".\"").unwrap();
        told("[providers.openai]\nformat = \"openai\"").unwrap();
        told("[providers.mine]\nformat = \"google\"\nurl = \"http://127.0.0.1:1/\"").unwrap();
    }
}
