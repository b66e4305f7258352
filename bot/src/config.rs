//! Settings from the file, the environment and the command line.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use aizuchi_core::Policies;
use aizuchi_core::settings::{
    self, FamilyRow, Flat, Layers, Problem, ProviderSettings, SamePeople, Section, SectionFamily, SectionRow, Settings,
    Shell, StoreName, WireFormat,
};
use aizuchi_core::types::{Time, Zone};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::cli::logs::LogSettings;
use crate::cluster::ClusterSettings;
use crate::language::Language;
use crate::learnt;
use crate::memory::MEMORY_STORES;
use crate::models::providers::row;
use crate::platforms::PLATFORMS;
use crate::schedule::ScheduleSettings;
use crate::stores::{FirestoreSettings, StoreSettings};
use crate::tools::fetch::FetchSettings;
use crate::tools::xivapi::XivapiSettings;

/// The sections that the engine does not use, each declared where it is used.
static SHELL: LazyLock<Shell> = LazyLock::new(|| {
    let stores = [SectionRow::of::<StoreSettings>(), SectionRow::of::<FirestoreSettings>()];
    let own = stores.into_iter().chain([SectionRow::of::<ClusterSettings>(), SectionRow::of::<LogSettings>()]);
    let tools = [SectionRow::of::<FetchSettings>(), SectionRow::of::<XivapiSettings>()];
    let sections = own.chain(PLATFORMS.iter().map(|spec| spec.section)).chain(tools).collect();
    Shell::new(sections, families(), vec![check_people])
});

#[cfg(feature = "mcp")]
fn families() -> Vec<FamilyRow> {
    vec![FamilyRow::of::<ScheduleSettings>(), FamilyRow::of::<crate::tools::mcp::McpSettings>()]
}

#[cfg(not(feature = "mcp"))]
fn families() -> Vec<FamilyRow> {
    vec![FamilyRow::of::<ScheduleSettings>()]
}

/// No settings yet; all sections are known.
pub fn new_layers() -> Layers {
    Layers::of_shell(&SHELL)
}

/// Every setting with its default and a sentence.
pub fn manual() -> &'static str {
    SHELL.manual()
}

/// People are on platforms that there are.
fn check_people(flat: &mut Flat) {
    const KEY: &str = "people.same";
    let mut platforms: Vec<&str> = PLATFORMS.iter().map(|spec| spec.name()).collect();
    platforms.sort_unstable();
    // A value that does not fit is reported where the engine reads it.
    let Some(people) = flat.peek::<SamePeople>(KEY) else { return };
    if let Err(right) = people.check_platforms(&platforms) {
        flat.misfit(KEY, &right);
    }
}

/// The settings file that is read if it is there and none is named.
const USUAL_FILE: &str = "aizuchi.toml";

/// Settings that cannot be used: every mistake, one a line.
#[derive(Debug)]
pub struct BadSettings(pub Vec<String>);

impl std::fmt::Display for BadSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for BadSettings {}

impl From<Vec<Problem>> for BadSettings {
    fn from(problems: Vec<Problem>) -> BadSettings {
        BadSettings(problems.iter().map(ToString::to_string).collect())
    }
}

/// What the command line says about settings.
#[derive(Clone, Default)]
pub struct SettingsOverrides {
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
pub fn layers(
    wishes: &SettingsOverrides,
    environment: impl Iterator<Item = (String, String)>,
) -> anyhow::Result<Layers> {
    let mut layers = new_layers();
    if let Some(file) = file(wishes.file.as_deref()) {
        let unreadable = |error| BadSettings(vec![format!("cannot read the settings in {file}: {error}")]);
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
    let policies = layers.resolve(&zone).map_err(BadSettings::from)?;
    let mut unusable = unusable(layers, &policies);
    let mut models = Vec::new();
    for file in policies.model_files() {
        match learnt::read(file) {
            Ok(read) => models.push((file.to_owned(), read)),
            Err(problem) => {
                let message = format!("`score.model_file` must be a file that `aizuchi learn` wrote: {problem}");
                unusable.push(layers.problem("score.model_file", file, message));
            }
        }
    }
    if unusable.is_empty() { Ok(policies.with_models(models)) } else { Err(BadSettings::from(unusable).into()) }
}

/// What only shows outside of the settings: a folder that does not exist, a provider that is not known.
fn unusable(layers: &Layers, policies: &Policies) -> Vec<Problem> {
    let mut problems: Vec<Problem> = unusable_folder(layers, policies).into_iter().collect();
    for policy in policies.all() {
        let of_one = unknown_language(layers, &policy.settings)
            .into_iter()
            .chain(unknown_stores(layers, &policy.settings))
            .chain(unknown_providers(layers, &policy.settings));
        for problem in of_one {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
    }
    problems
}

fn unusable_folder(layers: &Layers, policies: &Policies) -> Option<Problem> {
    let folder = &policies.general().settings.prompts.folder;
    // The usual folder need not be there, also where somebody writes its name down.
    if new_layers().sets_alike(layers, "prompts.folder") || Path::new(folder).is_dir() {
        return None;
    }
    let message = format!("`prompts.folder` must be a folder that exists, got {folder:?}");
    Some(layers.problem("prompts.folder", folder, message))
}

fn unknown_language(layers: &Layers, settings: &Settings) -> Option<Problem> {
    let set = &settings.bot.language;
    let settings::LanguageSetting::Named(id) = set else { return None };
    if Language::set(set).is_some() {
        return None;
    }
    let allowed = Language::ALL.map(|language| format!("{:?}", language.id())).join(" or ");
    let message = format!("`bot.language` must be \"auto\" or {allowed}, got {id:?}");
    Some(layers.problem("bot.language", id, message))
}

fn unknown_stores(layers: &Layers, settings: &Settings) -> Vec<Problem> {
    let memory = &settings.memory;
    let chosen = [
        ("memory.channel_context_store", &memory.channel_context_store),
        ("memory.profiles_store", &memory.profiles_store),
        ("memory.facts_store", &memory.facts_store),
    ];
    let is_known = |name: &StoreName| MEMORY_STORES.iter().any(|spec| spec.name == name.as_str());
    let allowed: Vec<String> = MEMORY_STORES.iter().map(|spec| format!("{:?}", spec.name)).collect();
    let problem = |(key, name): (&str, &StoreName)| {
        let message = format!("`{key}` must be {}, got {:?}", allowed.join(" or "), name.as_str());
        layers.problem(key, name.as_str(), message)
    };
    let unknown = chosen.into_iter().filter(|(_, name)| !is_known(name)).map(problem);
    let missing = |(key, name): (&str, &StoreName)| {
        let spec = MEMORY_STORES.iter().find(|spec| spec.name == name.as_str())?;
        let message =
            format!("`{key}` must be a store that is set up, got {:?}: {}", spec.name, (spec.missing)(layers)?);
        Some(layers.problem(key, name.as_str(), message))
    };
    unknown.chain(chosen.into_iter().filter_map(missing)).collect()
}

fn unknown_providers(layers: &Layers, settings: &Settings) -> Vec<Problem> {
    let unknown = settings.providers.iter().filter(|(name, provider)| provider.url.is_none() && row(name).is_none());
    let problem = |(name, provider): (&String, &ProviderSettings)| {
        let (field, value) = match (provider.format, &provider.key) {
            (Some(format), _) => ("format", format_id(format)),
            (None, key) => ("key", key.as_deref().unwrap_or_default()),
        };
        let key = format!("providers.{name}.{field}");
        let message = format!("`{key}` is {value:?}, but the provider {name:?} has no URL; set providers.{name}.url");
        layers.problem(&key, value, message)
    };
    unknown.map(problem).collect()
}

fn format_id(format: WireFormat) -> &'static str {
    match format {
        WireFormat::OpenAi => "openai",
        WireFormat::Anthropic => "anthropic",
        WireFormat::Google => "google",
        WireFormat::Ollama => "ollama",
    }
}

/// A section of the shell.
pub fn section<S: Section>(layers: &Layers) -> anyhow::Result<S> {
    Ok(layers.section().map_err(BadSettings::from)?)
}

/// All sections of a family of the shell, by name.
pub fn family<F: SectionFamily>(layers: &Layers) -> anyhow::Result<BTreeMap<String, F>> {
    Ok(layers.family().map_err(BadSettings::from)?)
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
    use std::collections::BTreeSet;

    use secrecy::ExposeSecret as _;

    use super::*;
    use crate::platforms::discord::DiscordSettings;
    use crate::platforms::slack::SlackSettings;
    use crate::platforms::web::WebSettings;

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
    fn a_language_that_is_not_there_is_refused_with_those_that_are() {
        for text in ["[bot]\nlanguage = \"xx\"\n", "[channel.\"web:lobby\".bot]\nlanguage = \"xx\"\n"] {
            let told = refusal(text);
            assert!(told.contains("`bot.language` must be \"auto\" or \"en\" or "), "{told}");
            assert!(told.ends_with(", got \"xx\""), "{told}");
        }
        let told = refusal("[bot]\nlanguage = \"English\"\n");
        assert!(told.contains("the id of a language such as \"en\""), "{told}");
    }

    fn refusal(text: &str) -> String {
        let mut layers = new_layers();
        layers.add_file("aizuchi.toml", text);
        resolve(&layers).map(|_| ()).expect_err("refused").to_string()
    }

    #[test]
    fn every_setting_is_in_the_defaults() {
        let (mut section, mut written) = (String::new(), BTreeSet::new());
        let mut before = "";
        for line in manual().lines() {
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                section = format!("{name}.");
            } else if let Some((key, _)) = line.split_once(" = ").filter(|_| !line.starts_with('#')) {
                assert!(before.starts_with("# ") || section == "prices.", "{section}{key} has no sentence");
                written.insert(format!("{section}{key}"));
            }
            before = line;
        }
        written.retain(|key| !key.starts_with("prices."));
        let of_the_shell = SHELL.sections().iter().flat_map(|row| row.keys).map(|key| key.name.to_owned());
        assert_eq!(written, aizuchi_core::settings::keys().chain(of_the_shell).collect());
    }

    #[test]
    fn a_person_is_on_platforms_that_there_are() {
        assert_eq!(
            refusal("[people]\nsame = [\"discord:1 = web:a\", \"foo:1 = bar:2\"]"),
            "aizuchi.toml:2: `people.same` must be a list of ids of one person, such as [\"discord:80351110224678912 = \
             slack:T0123/U0456\"] (the platform of \"foo:1\" in \"foo:1 = bar:2\" must be discord, slack or web), got \
             [\"discord:1 = web:a\", \"foo:1 = bar:2\"]"
        );
        assert_eq!(refusal("[people]\nsame = [\"foo:1\"]").lines().count(), 1);
    }

    #[test]
    fn nothing_shows_a_secret() {
        let mut layers = new_layers();
        layers.add_file("aizuchi.toml", "[web]\ntoken = \"hush-file\"");
        layers.add_variable("AIZUCHI__WEB__TOKEN", "hush-variable");
        layers.add_assignment("web.token=hush-option");
        let policies = resolve(&layers).unwrap();
        let web: WebSettings = section(&layers).unwrap();
        assert_eq!(web.token().unwrap().expose_secret(), "hush-option");
        let (log, discord): (LogSettings, DiscordSettings) = (section(&layers).unwrap(), section(&layers).unwrap());
        let slack: SlackSettings = section(&layers).unwrap();
        let shown = format!("{layers:?} {policies:?} {:?} {web:?} {log:?} {discord:?} {slack:?}", policies.stated());
        assert!(shown.contains("REDACTED") && !shown.contains("hush"), "{shown}");
        assert!(!serde_json::to_string(&policies.stated()).unwrap().contains("hush"));
    }

    #[test]
    fn a_store_that_does_not_exist_is_named_with_those_that_do() {
        assert_eq!(
            refusal("[memory]\nfacts_store = \"cellar\""),
            "aizuchi.toml:2: `memory.facts_store` must be \"local\" or \"memory\" or \"sqlite\" or \"postgres\" or \"firestore\", \
             got \"cellar\""
        );
    }

    #[test]
    fn a_secret_that_does_not_fit_is_not_shown() {
        assert_eq!(refusal("[web]\ntoken = 918273"), "aizuchi.toml:2: `web.token` must be a text in quotes");
    }

    /// A journal holds what rooms are decided by: it is the same whatever the shell's settings are.
    #[test]
    fn what_a_journal_holds_does_not_depend_on_the_shell() {
        let stated = |assignment: &str| {
            let mut layers = new_layers();
            layers.add_assignment(assignment);
            resolve(&layers).unwrap().stated()
        };
        let usual = stated("web.enabled=true");
        for other in
            ["web.enabled=false", "discord.shards=4", "slack.connections=2", "log.level=debug", "store.keep_days=3"]
        {
            assert_eq!(stated(other), usual, "{other}");
        }
        assert_ne!(stated("score.low=3"), usual);
    }

    #[test]
    fn a_section_is_alike_or_not_whatever_it_holds() {
        let with = |assignments: &[&str]| {
            let mut layers = new_layers();
            assignments.iter().for_each(|assignment| layers.add_assignment(assignment));
            layers
        };
        let usual = with(&[]);
        assert!(usual.sets_alike(&with(&["web.token=", "web.enabled=true"]), "web"));
        assert!(!usual.sets_alike(&with(&["web.token=a"]), "web"));
        assert!(!with(&["web.token=b"]).sets_alike(&with(&["web.token=a"]), "web"));
        assert!(!usual.sets_alike(&with(&["prompts.folder=x"]), "prompts.folder"));
        assert!(usual.sets_alike(&with(&["prompts.talk_chars=300"]), "prompts.folder"));
    }

    #[test]
    fn a_section_of_the_shell_is_not_set_for_one_channel() {
        for (section, line) in [
            ("web", "rooms = [\"a\"]"),
            ("log", "level = \"debug\""),
            ("store", "keep_days = 3"),
            ("discord", "enabled = false"),
            ("slack", "enabled = false"),
        ] {
            let told = refusal(&format!("[channel.\"a\".gates]\nunasked = true\n[channel.\"a\".{section}]\n{line}"));
            assert!(told.starts_with(&format!("aizuchi.toml:4: `{section}.")), "{told}");
            assert!(told.contains(&format!("set it in [{section}]. Allowed for a channel are `preset`")), "{told}");
            assert!(told.contains("bot, budget, effect, gates") && told.lines().count() == 1, "{told}");
        }
        assert!(refusal("[channel.\"a\".web]").starts_with("aizuchi.toml:1: `web` holds for all channels together"));
    }

    #[test]
    fn what_does_not_fit_a_section_of_the_shell_is_told_with_its_place() {
        assert_eq!(
            refusal("[discord]\nbackfill_mesages = 3"),
            "aizuchi.toml:2: unknown setting `discord.backfill_mesages`; did you mean `discord.backfill_messages`?"
        );
        assert_eq!(refusal("[slack]\nconnections = 11"), "aizuchi.toml:2: `slack.connections` must be 1–10, got 11");
        assert_eq!(
            refusal("[log]\nformat = \"loud\""),
            "aizuchi.toml:2: `log.format` must be \"auto\" or \"human\" or \"json\", got \"loud\""
        );
        assert_eq!(refusal("[slack]\nconnections = 11\n[score]\nlow = 300").lines().count(), 2);
    }

    #[test]
    fn a_room_that_nobody_can_enter_is_refused() {
        for odd in ["a b", "", "\\u001b[31m", "sample-1", "a\\tb"] {
            let told = refusal(&format!("[web]\nrooms = [\"lobby\", \"{odd}\"]"));
            assert!(told.starts_with("aizuchi.toml:2: `web.rooms` must be names of 1–40 letters"), "{told}");
            assert!(told.contains(", got [\"lobby\", ") && !told.contains('\u{1b}'), "{told}");
        }
        let none = refusal("[web]\nrooms = []");
        assert!(none.starts_with("aizuchi.toml:2: `web.rooms` must be at least one room"), "{none}");
        let mut fine = new_layers();
        fine.add_file("aizuchi.toml", "[web]\nrooms = [\"lobby\", \"お茶の間\", \"b-2_c\"]");
        assert!(resolve(&fine).is_ok());
    }

    #[test]
    fn a_room_is_there_once_and_data_has_a_folder() {
        for (section, key, odd) in [("web", "rooms", r#"["lobby", "LOBBY"]"#), ("store", "folder", r#""""#)] {
            let told = refusal(&format!("[{section}]\n{key} = {odd}"));
            assert!(told.starts_with(&format!("aizuchi.toml:2: `{section}.{key}` must be ")), "{told}");
        }
    }

    #[test]
    fn a_token_where_a_variable_is_to_be_named_is_refused_and_not_shown() {
        let keys =
            ["discord.token_variable", "slack.bot_token_variable", "slack.app_token_variable", "providers.x.key"];
        for (key, odd) in keys.iter().flat_map(|key| ["sk-hush", "xoxb-hush", "hush", " hush"].map(|odd| (key, odd))) {
            let (section, name) = key.rsplit_once('.').unwrap();
            let in_file = refusal(&format!("[{section}]\n{name} = \"{odd}\""));
            assert!(in_file.starts_with(&format!("aizuchi.toml:2: `{key}` must be the name of an ")), "{in_file}");
            let mut layers = new_layers();
            layers.add_assignment(&format!("{key}={odd}"));
            let on_line = resolve(&layers).map(drop).unwrap_err().to_string();
            assert!(on_line.starts_with(&format!("--set {key}: `{key}` must be the name of an ")), "{on_line}");
            assert!(!in_file.contains("hush") && !on_line.contains("hush"), "{in_file} {on_line}");
        }
        for key in &keys[..3] {
            let (section, name) = key.split_once('.').unwrap();
            assert!(refusal(&format!("[{section}]\n{name} = \"\"")).contains(key));
        }
    }

    #[test]
    fn what_is_no_url_is_refused() {
        for (section, key) in [("discord", "api_url"), ("discord", "gateway_url"), ("slack", "api_url")] {
            let told = refusal(&format!("[{section}]\n{key} = \"nonsense\""));
            let start = format!("aizuchi.toml:2: `{section}.{key}` must be \"\", or a URL such as ");
            assert!(told.starts_with(&start) && told.ends_with(", got \"nonsense\""), "{told}");
        }
    }

    #[test]
    fn a_named_file_must_be_there_and_mistakes_are_told_with_it() {
        let missing = SettingsOverrides { file: Some("no-such-file.toml".into()), ..SettingsOverrides::default() };
        assert!(layers(&missing, std::iter::empty()).unwrap_err().to_string().contains("no-such-file.toml"));
        let odd = SettingsOverrides { assignments: vec!["score.low=300".into()], ..SettingsOverrides::default() };
        let problem = resolve(&layers(&odd, std::iter::empty()).unwrap()).unwrap_err();
        assert_eq!(problem.to_string(), "--set score.low=300: `score.low` must be 0–100, got 300");
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
            "aizuchi.toml:2: `prompts.folder` must be a folder that exists, got \"no-such-folder\""
        );
        assert_eq!(
            told("[providers.mine]\nformat = \"google\"").unwrap_err(),
            "aizuchi.toml:2: `providers.mine.format` is \"google\", but the provider \"mine\" has no URL; set \
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
