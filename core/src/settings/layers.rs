//! Layers of settings, each remembering where a value came from, so that a mistake is reported with file and line.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use toml::Value;
use toml::de::DeTable;

use super::entries::flatten;
use super::flat::{Entry, Flat, RawValue, value_like};
use super::hints::unknown_setting;
use super::problem::Problem;
use super::schema::{PROVIDER_KEYS, Settings, keys};
use super::section::{FamilyRow, SectionRow, Shell};
use super::value::fixed_zone;
use super::variables::names_variable;
use super::{DEFAULT, PRESETS, Presets, addresses, blanks, channels, documents, renamed, sound};
use crate::types::{Zone, is_invisible};

/// A key with its value, or a variable of an original bot that only counts under its preset.
#[derive(Clone, Debug)]
struct GivenValue {
    key: String,
    entry: Entry,
    document: Option<&'static documents::Name>,
}

impl GivenValue {
    fn new(key: impl Into<String>, entry: Entry) -> GivenValue {
        GivenValue { key: key.into(), entry, document: None }
    }
}

/// Settings as they were given, lowest first. Nothing is validated before `resolve`.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// Declares further sections, which the engine does not use.
    shell: Option<&'static Shell>,
    /// Above the preset, below everything that a person set.
    suggested: Vec<GivenValue>,
    general: Vec<GivenValue>,
    /// What `[channel."name"]` sets for one channel.
    channels: BTreeMap<String, Vec<GivenValue>>,
    /// Settings that were given by an earlier name.
    renamed: Vec<Problem>,
    pub(super) problems: Vec<Problem>,
}

impl Layers {
    /// Settings of the engine and of the shell.
    pub fn of_shell(shell: &'static Shell) -> Layers {
        Layers { shell: Some(shell), ..Layers::default() }
    }

    fn sections(&self) -> &'static [SectionRow] {
        self.shell.map_or(&[], |shell| &shell.sections)
    }

    fn families(&self) -> &'static [FamilyRow] {
        self.shell.map_or(&[], |shell| &shell.families)
    }

    fn defaults(&self) -> &'static BTreeMap<String, Entry> {
        self.shell.map_or_else(engine_defaults, |shell| &shell.defaults)
    }

    fn is_secret(&self, key: &str) -> bool {
        self.sections().iter().flat_map(|row| row.keys).any(|known| known.is_secret && known.name == key)
    }

    /// From here on the value of a secret is never shown.
    fn entry(&self, key: &str, value: Value, source: Arc<str>, line: Option<usize>) -> Entry {
        let value = if self.is_secret(key) { RawValue::secret(value) } else { RawValue::Plain(value) };
        Entry { value, source, line }
    }

    /// A settings file.
    pub fn add_file(&mut self, name: &str, text: &str) {
        let source: Arc<str> = name.into();
        let line_of = |offset: usize| Some(text[..offset.min(text.len())].matches('\n').count() + 1);
        let table = match DeTable::parse(text) {
            Ok(table) => table,
            Err(error) => {
                let line = error.span().and_then(|span| line_of(span.start));
                return self.problems.push(Problem { source, line, message: error.message().to_owned() });
            }
        };
        let mut found = Vec::new();
        flatten(table.get_ref(), &mut Vec::new(), &mut |path, value, offset| {
            found.push((path.to_vec(), self.entry(&path.join("."), value, source.clone(), line_of(offset))));
        });
        self.problems.extend(renamed::given_twice(&found));
        for (path, entry) in found {
            self.add(path, entry);
        }
    }

    fn add(&mut self, path: Vec<String>, entry: Entry) {
        match path.split_first() {
            Some((first, [channel, rest @ ..])) if first == "channel" && !rest.is_empty() => {
                let given = self.given(rest.join("."), entry);
                self.channels.entry(channel.clone()).or_default().push(given);
            }
            _ => {
                let given = self.given(path.join("."), entry);
                self.general.push(given);
            }
        }
    }

    /// A value under the current name of its key.
    fn given(&mut self, key: String, entry: Entry) -> GivenValue {
        let Some(now) = renamed::current_name(&key) else { return GivenValue::new(key, entry) };
        let (source, line) = (entry.source.clone(), entry.line);
        self.renamed.push(Problem { source, line, message: renamed::notice(&key, now) });
        GivenValue::new(now, entry)
    }

    /// For each setting that was given by an earlier name, where that is and what it is called now.
    pub fn renamed(&self) -> &[Problem] {
        &self.renamed
    }

    /// An environment variable: `AIZUCHI__SECTION__KEY`, or one of an original bot. Others are ignored.
    pub fn add_variable(&mut self, name: &str, text: &str) {
        if let Some(key) = name.strip_prefix("AIZUCHI__") {
            let key = key.replace("__", ".").to_lowercase();
            self.add_text(&key, text, name);
        } else if let Some(known) = documents::find(name) {
            match known.convert(text) {
                Ok(value) => {
                    let entry = self.entry(known.key, value, name.into(), None);
                    self.general.push(GivenValue { document: Some(known), ..GivenValue::new(known.key, entry) });
                }
                Err(message) => self.problems.push(Problem { source: name.into(), line: None, message }),
            }
        }
    }

    /// `key=value` of the command line. The key is one of ours or a variable of an original bot.
    pub fn add_assignment(&mut self, assignment: &str) {
        let Some((key, text)) = assignment.split_once('=') else {
            let message = "expected key=value, such as gates.interval_seconds=300".into();
            // What follows a key that is spelt like this may be a secret.
            let key = assignment.split([':', '@', '/', ' ']).next().unwrap_or_default();
            return self.problems.push(Problem { source: format!("--set {key}").into(), line: None, message });
        };
        let (key, text) = (key.trim(), text.trim());
        if key.is_empty() {
            let message = "the key before = is missing; expected key=value, such as gates.interval_seconds=300".into();
            return self.problems.push(Problem { source: "--set".into(), line: None, message });
        }
        let now = renamed::current_name(key).unwrap_or(key);
        let is_known = documents::find(key).is_some() || self.defaults().contains_key(now);
        // A misspelt key may contain a secret, and so may one that should only name a variable.
        let is_shown = is_known && !self.is_secret(key) && !names_variable(key);
        let source = if is_shown { format!("--set {assignment}") } else { format!("--set {key}") };
        match documents::find(key) {
            Some(known) => match known.convert(text) {
                Ok(value) => {
                    let entry = self.entry(known.key, value, source.into(), None);
                    self.general.push(GivenValue::new(known.key, entry));
                }
                Err(message) => self.problems.push(Problem { source: source.into(), line: None, message }),
            },
            None => self.add_text(key, text, &source),
        }
    }

    fn add_text(&mut self, key: &str, text: &str, source: &str) {
        let now = renamed::current_name(key).unwrap_or(key);
        let value = value_like(self.defaults().get(now), text);
        let entry = self.entry(now, value, source.into(), None);
        let given = self.given(key.to_owned(), entry);
        self.general.push(given);
    }

    /// An option of the command line that stands for a setting.
    pub fn add_option(&mut self, option: &str, key: &str, value: &str) {
        let entry = self.entry(key, value.into(), format!("{option} {value}").into(), None);
        self.general.push(GivenValue::new(key, entry));
    }

    /// Sets a key unless a person does: above the preset, below file, environment and command line.
    fn suggest(&mut self, key: &str, value: Value) {
        let entry = self.entry(key, value, "built in".into(), None);
        self.suggested.push(GivenValue::new(key, entry));
    }

    /// In a replay every channel is listened to and the bot may speak unasked, unless the settings say otherwise.
    pub fn suggest_for_replay(&mut self) {
        self.suggest("listen.channels", vec!["*"].into());
        self.suggest("gates.unasked", true.into());
        self.suggest("memory.enabled", true.into());
        self.suggest_long_memory(false);
    }

    /// Whether talk is processed for long-term memory, unless the settings say otherwise.
    pub fn suggest_long_memory(&mut self, on: bool) {
        self.suggest("memory.channel_context", on.into());
        self.suggest("memory.reflection", on.into());
    }

    /// Whether a person has set this key.
    pub fn sets(&self, key: &str) -> bool {
        let of_channels = self.channels.values().flatten();
        self.general.iter().chain(of_channels).any(|given| given.key == key)
    }

    /// Whether a person has set this key for all channels.
    pub fn sets_for_all(&self, key: &str) -> bool {
        self.general.iter().any(|given| given.key == key)
    }

    /// A problem with a setting that was detected elsewhere, with the place where it was given this value.
    pub fn problem(&self, key: &str, value: &str, message: impl Into<String>) -> Problem {
        let given = self.channels.values().flatten().chain(self.general.iter().rev());
        let mut same_key = given.filter(|given| given.key == key);
        let entry = same_key.find(|given| given.entry.value.as_str() == Some(value)).map(|given| &given.entry);
        let source = entry.map_or_else(|| "default".into(), |entry| entry.source.clone());
        Problem { source, line: entry.and_then(|entry| entry.line), message: message.into() }
    }

    /// Uses another model unless a person has chosen one.
    pub fn suggest_model(&mut self, key: &str, model: &str) {
        self.suggest(key, model.into());
    }

    /// The requested preset, whether or not it exists.
    pub fn preset(&self) -> String {
        preset_in(&self.general).unwrap_or("aizuchi").to_owned()
    }

    /// The same for every room.
    pub fn presets(&self) -> Presets {
        let own = |(channel, given): (&String, &Vec<GivenValue>)| Some((channel.clone(), preset_in(given)?.to_owned()));
        let general = self.preset();
        // A channel with other settings of its own has the general preset, whatever its guild has.
        let of_all = self.channels.keys().map(|channel| (channel.clone(), general.clone()));
        let channels = of_all.chain(self.channels.iter().filter_map(own)).collect();
        Presets { general, channels }
    }

    /// The checked settings of all rooms. `zones` knows time zones by name.
    pub(crate) fn settings(&self, zones: &dyn Fn(&str) -> Option<Zone>) -> Result<Resolved, Vec<Problem>> {
        let mut problems = self.problems.clone();
        let general = self.resolve_for(&[], zones, &mut problems);
        if let Some(mut flat) = self.flat(&[], &mut Vec::new()) {
            self.sections().iter().for_each(|row| (row.check)(&mut flat));
            self.families().iter().for_each(|row| (row.check)(&mut flat));
            self.shell.iter().flat_map(|shell| &shell.checks).for_each(|check| check(&mut flat));
            problems.append(&mut flat.problems);
        }
        let mut channels = BTreeMap::new();
        for (channel, entries) in &self.channels {
            let (own, refused) = apart(entries, self.sections(), self.families());
            problems.extend(refused);
            if let Some(GivenValue { entry, .. }) = entries.first().filter(|_| is_invisible(channel)) {
                let message = r#"a channel without a name; expected [channel."ID OR NAME"]"#.into();
                problems.push(Problem { source: entry.source.clone(), line: entry.line, message });
            }
            if let Some(resolved) = self.resolve_for(&own, zones, &mut problems) {
                channels.insert(channel.clone(), resolved);
            }
        }
        let mut told = Vec::new();
        problems.retain(|problem| {
            !told.contains(problem) && {
                told.push(problem.clone());
                true
            }
        });
        match general {
            Some(general) if problems.is_empty() => Ok(Resolved { general, channels }),
            _ => Err(problems),
        }
    }

    fn resolve_for(
        &self,
        channel: &[GivenValue],
        zones: &dyn Fn(&str) -> Option<Zone>,
        problems: &mut Vec<Problem>,
    ) -> Option<(Settings, Zone)> {
        let mut flat = self.flat(channel, problems)?;
        let settings = Settings::read(&mut flat);
        let zone = settings.as_ref().and_then(|settings| check_together(settings, zones, &mut flat));
        problems.append(&mut flat.problems);
        settings.zip(zone)
    }

    /// The general settings as one table.
    pub(super) fn general_table(&self, problems: &mut Vec<Problem>) -> Option<Flat> {
        self.flat(&[], problems)
    }

    /// All layers as one table, with a problem for each unknown key.
    fn flat(&self, channel: &[GivenValue], problems: &mut Vec<Problem>) -> Option<Flat> {
        let given = || self.suggested.iter().chain(&self.general).chain(channel);
        let chosen = given().rfind(|given| given.key == "preset").map(|given| &given.entry);
        let name = chosen.map_or("aizuchi", |entry| entry.value.as_str().unwrap_or(""));
        let Some((preset, text)) = PRESETS.iter().find(|(preset, _)| *preset == name) else {
            let entry = chosen.expect("the default preset exists");
            let names: Vec<&str> = PRESETS.iter().map(|(name, _)| *name).collect();
            let message = format!("unknown preset {}; there are {}", entry.value, names.join(", "));
            problems.push(Problem { source: entry.source.clone(), line: entry.line, message });
            return None;
        };
        let mut flat = Flat { entries: self.defaults().clone(), problems: Vec::new() };
        for (key, entry) in parse_own(preset, text) {
            flat.entries.insert(key, entry);
        }
        let counts =
            |given: &&GivenValue| given.key != "preset" && given.document.is_none_or(|name| name.belongs_to(preset));
        for GivenValue { key, entry, .. } in given().filter(counts) {
            match self.known_key(key) {
                Ok(()) => drop(flat.entries.insert(key.clone(), entry.clone())),
                Err(message) => problems.push(Problem { source: entry.source.clone(), line: entry.line, message }),
            }
        }
        Some(flat)
    }

    fn known_key(&self, key: &str) -> Result<(), String> {
        let of_provider = |rest: &str| rest.rsplit_once('.').is_some_and(|(_, field)| PROVIDER_KEYS.contains(&field));
        let of_the_shell = || self.sections().iter().flat_map(|row| row.keys).map(|key| key.name.to_owned());
        let keys = || keys().chain(of_the_shell());
        if key.starts_with("prices.")
            || key.strip_prefix("providers.").is_some_and(of_provider)
            || self.families().iter().any(|family| family.has(key))
            || keys().any(|known| known == key)
        {
            return Ok(());
        }
        Err(unknown_setting(key, keys(), self.families()))
    }
}

/// The checked settings of all rooms: the general ones, and those of the channels that have their own.
pub(crate) struct Resolved {
    pub(crate) general: (Settings, Zone),
    pub(crate) channels: BTreeMap<String, (Settings, Zone)>,
}

/// The settings that one channel may have of its own, and the problems with the others.
fn apart(
    entries: &[GivenValue],
    of_the_shell: &[SectionRow],
    families: &[FamilyRow],
) -> (Vec<GivenValue>, Vec<Problem>) {
    let (mut own, mut refused) = (Vec::new(), Vec::new());
    for given in entries {
        match channels::refusal(&given.key, of_the_shell, families) {
            Some(message) => {
                refused.push(Problem { source: given.entry.source.clone(), line: given.entry.line, message })
            }
            None => own.push(given.clone()),
        }
    }
    (own, refused)
}

/// Checks that involve several settings.
fn check_together(settings: &Settings, zones: &dyn Fn(&str) -> Option<Zone>, flat: &mut Flat) -> Option<Zone> {
    blanks::check(settings, flat);
    sound::check(settings, flat);
    addresses::check(settings, flat);
    let zone = fixed_zone(&settings.bot.zone).or_else(|| zones(&settings.bot.zone));
    if zone.is_none() {
        flat.misfit("bot.zone", r#""UTC", an offset such as "+09:00", or a zone such as "Asia/Tokyo""#);
    }
    zone
}

pub(super) const DEFAULT_FILE: &str = "aizuchi.default.toml";

/// The defaults of the engine alone, read once.
fn engine_defaults() -> &'static BTreeMap<String, Entry> {
    static DEFAULTS: LazyLock<BTreeMap<String, Entry>> =
        LazyLock::new(|| parse_own(DEFAULT_FILE, DEFAULT).into_iter().collect());
    &DEFAULTS
}

pub(super) fn parse_own(name: &str, text: &str) -> Vec<(String, Entry)> {
    let mut layers = Layers::default();
    layers.add_file(name, text);
    assert!(layers.problems.is_empty(), "the compiled-in settings parse: {:?}", layers.problems);
    layers.general.into_iter().map(|given| (given.key, given.entry)).collect()
}

fn preset_in(given: &[GivenValue]) -> Option<&str> {
    given.iter().rfind(|given| given.key == "preset").and_then(|given| given.entry.value.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policies;

    fn resolve(layers: &Layers) -> Result<Policies, String> {
        layers
            .resolve(&|_| None)
            .map_err(|problems| problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n"))
    }

    fn file(text: &str) -> Result<Policies, String> {
        let mut layers = Layers::default();
        layers.add_file("aizuchi.toml", text);
        resolve(&layers)
    }

    fn refusal(text: &str) -> String {
        file(text).map(|_| ()).expect_err("refused")
    }

    #[test]
    fn the_defaults_and_every_preset_are_sound() {
        for (preset, _) in PRESETS {
            file(&format!("preset = \"{preset}\"")).unwrap();
        }
    }

    #[test]
    fn an_unknown_key_names_its_line_and_the_nearest() {
        assert_eq!(
            refusal("[bot]\nname = \"あい\"\n\n[gates]\nintervall_seconds = 3"),
            "aizuchi.toml:5: unknown setting `gates.intervall_seconds`; did you mean `gates.interval_seconds`?"
        );
    }

    #[test]
    fn a_section_is_told_from_a_setting() {
        assert_eq!(
            refusal("[gats]\nx = 1"),
            "aizuchi.toml:2: unknown setting `gats.x`; did you mean the section [gates]?"
        );
        let told = refusal("gates = 3");
        assert!(told.starts_with("aizuchi.toml:1: `gates` is a section of settings, such as `gates."), "{told}");
    }

    #[test]
    fn a_hint_is_right_or_left_out() {
        for (text, hint) in [
            (
                "[providers.x]\nnosuch = 1",
                "unknown setting `providers.x.nosuch`; a provider has `url`, `format`, `key`",
            ),
            ("[channel]\nlobby = 1", "unknown setting `channel.lobby`; the settings of one channel are in sections"),
            ("[channel.lobby]", "such as [channel.\"lobby\".gates]"),
            ("zzz = 1", "unknown setting `zzz`; `aizuchi settings` lists all of them"),
        ] {
            let told = refusal(text);
            assert!(told.contains(hint) && !told.contains("did you mean"), "{told}");
        }
    }

    #[test]
    fn what_holds_for_all_channels_together_is_not_set_for_one() {
        assert_eq!(
            refusal("[channel.\"a\".budget]\ncalls_per_day = 3\ntotal_calls_per_day = 3"),
            "aizuchi.toml:3: `budget.total_calls_per_day` holds for all channels together and cannot be set for one of \
             them; set it in [budget]"
        );
        for (section, line) in
            [("prices", "\"openai/gpt-5\" = [1.0, 2.0]"), ("people", "same = [\"discord:1 = web:x\"]")]
        {
            let told = refusal(&format!("[channel.\"a\".gates]\nunasked = true\n[channel.\"a\".{section}]\n{line}"));
            assert!(told.starts_with(&format!("aizuchi.toml:4: `{section}.")), "{told}");
            assert!(told.contains(&format!("set it in [{section}]. Allowed for a channel are `preset`")), "{told}");
            assert!(told.contains("bot, budget, effect, gates") && told.lines().count() == 1, "{told}");
        }
    }

    #[test]
    fn an_impossible_value_says_what_is_allowed() {
        assert_eq!(refusal("[score]\nlow = 300"), "aizuchi.toml:2: `score.low` must be 0–100, got 300");
        assert_eq!(
            refusal("[listen]\nother_bots = \"loved\""),
            "aizuchi.toml:2: `listen.other_bots` must be \"ignored\" or \"heard\" or \"answered\", got \"loved\""
        );
        assert_eq!(
            refusal("[score]\nhigh = 10\nlow = 20"),
            "aizuchi.toml:3: `score.low` must be at most `score.high` (10), got 20"
        );
        assert_eq!(
            refusal("[points]\nquestion = 500"),
            "aizuchi.toml:2: `points.question` must be -100 to 100, got 500"
        );
        assert!(
            refusal("[people]\nsame = [\"discord:1\"]")
                .starts_with("aizuchi.toml:2: `people.same` must be a list of ids of one person, such as [")
        );
        assert!(refusal("preset = \"shpene\"").contains("unknown preset \"shpene\"; there are aizuchi, kotonoha"));
        assert!(refusal("[score\nlow = 1").starts_with("aizuchi.toml:1: "));
    }

    #[test]
    fn text_that_nobody_sees_is_refused() {
        for (section, key, odd) in [
            ("bot", "name", r#"" \u200B""#),
            ("bot", "aliases", r#"["aiz", " "]"#),
            ("bot", "aliases", r#"[""]"#),
            ("score", "keywords", r#"[" "]"#),
            ("listen", "channels", r#"[""]"#),
        ] {
            let told = refusal(&format!("[{section}]\n{key} = {odd}"));
            assert!(told.starts_with(&format!("aizuchi.toml:2: `{section}.{key}` must be ")), "{told}");
            assert!(told.contains(", got "), "{told}");
        }
    }

    #[test]
    fn a_setting_that_makes_no_sense_is_refused() {
        for (section, line, right) in [
            ("listen", "channels_off = [\" \"]", "ids or names of channels, or \"*\""),
            ("kinds", "emoji = [\"👍\", \"not an emoji\"]", "emoji such as"),
            ("kinds", "emoji = [\"いいね\"]", "emoji such as"),
            ("kinds", "emoji = [\"\"]", "emoji such as"),
            ("models", "main = \"\"", "a model such as"),
            (
                "memory",
                "familiarity = [31, 6, 101]",
                "numbers in ascending order such as [6, 31, 101], got [31, 6, 101]",
            ),
            ("score", "low = -1", "a whole number, 0–100, got -1"),
            ("score", "low = 3.5", "a whole number, 0–100, got 3.5"),
            ("bot", "seed = -1", "a whole number, 0–9223372036854775807, got -1"),
            ("response", "min_wait_seconds = 300", "at most `response.max_wait_seconds` (90), got 300"),
            ("score", "high = 10", "at least `score.low` (20), got 10"),
            ("listen", "conversations = false", "true if `score.learned` is true, got false"),
            ("response", "max_wait_seconds = 2", "0, or at least `response.min_wait_seconds` (4), got 2"),
        ] {
            let told = refusal(&format!("[{section}]\n{line}"));
            let key = line.split(' ').next().unwrap();
            assert!(told.starts_with(&format!("aizuchi.toml:2: `{section}.{key}` must be {right}")), "{line}: {told}");
        }
        let told = refusal("[channel.\"\".gates]\nunasked = true");
        assert!(told.starts_with("aizuchi.toml:2: a channel without a name"), "{told}");
        for fine in [
            "[bot]\naliases = [\"あい\", \"ai\"]\n[kinds]\nemoji = [\"👨‍👩‍👧\", \"1️⃣\", \"🇯🇵\", \"ℹ️\", \"🅰️\", \"㊗️\", \"❤️\"]",
            "[response]\nmin_wait_seconds = 300\nmax_wait_seconds = 0",
            "[listen]\nchannels = []",
        ] {
            file(fine).unwrap();
        }
    }

    #[test]
    fn what_is_no_url_is_refused() {
        let told = refusal("[providers.mine]\nurl = \"nonsense\"");
        assert!(told.starts_with("aizuchi.toml:2: `providers.mine.url` must be a URL"), "{told}");
        assert!(told.ends_with("got \"nonsense\""), "{told}");
    }

    #[test]
    fn what_may_be_a_secret_is_not_repeated() {
        for assignment in [
            "providers.mine.url=http://u:hush@a/",
            "providers.mine.url=http://a/?key=hush",
            "providers.mine.key=sk-hush",
            "providers.mine.key=hush",
            "web.tokn=hush",
        ] {
            let mut layers = Layers::default();
            layers.add_assignment(assignment);
            let told = resolve(&layers).map(|_| ()).unwrap_err();
            let key = assignment.split('=').next().unwrap();
            assert!(told.contains(key) && !told.contains("hush"), "{told}");
        }
    }

    #[test]
    fn what_has_no_value_may_hold_a_secret_too() {
        for assignment in ["store.url:postgres://u:hush@h/x", "store.url postgres://u:hush@h/x"] {
            let mut layers = Layers::default();
            layers.add_assignment(assignment);
            let told = resolve(&layers).map(|_| ()).unwrap_err();
            assert!(told.starts_with("--set store.url: expected key=value") && !told.contains("hush"), "{told}");
        }
    }

    #[test]
    fn what_is_found_out_elsewhere_is_told_with_its_place() {
        let mut layers = Layers::default();
        layers.add_file("aizuchi.toml", "[models]\nmain = \"a/b\"\n[channel.\"x\".models]\nmain = \"c/d\"");
        layers.add_assignment("models.judge=e/f");
        let told = |key: &str, value: &str| layers.problem(key, value, "odd").to_string();
        assert_eq!(told("models.main", "a/b"), "aizuchi.toml:2: odd");
        assert_eq!(told("models.main", "c/d"), "aizuchi.toml:4: odd");
        assert_eq!(told("models.judge", "e/f"), "--set models.judge=e/f: odd");
        assert_eq!(told("models.reflect", ""), "default: odd");
    }

    #[test]
    fn a_mistake_is_one_line_whatever_it_holds() {
        let mut layers = Layers::default();
        layers.add_assignment("score.lwo=1\n2");
        layers.add_file("f", "[bot]\nzone = \"Ma\\nrs\"");
        let told = resolve(&layers).map(|_| ()).unwrap_err();
        assert_eq!(told.lines().count(), 2, "{told}");
    }

    #[test]
    fn every_mistake_is_told_at_once() {
        assert_eq!(refusal("[score]\nlow = 300\nhihg = 4\n[bot]\nzone = \"Mars\"").lines().count(), 2);
    }

    #[test]
    fn the_command_line_wins_over_the_environment_over_the_file() {
        let mut layers = Layers::default();
        layers.add_file("aizuchi.toml", "preset = \"sphene\"\n[score]\nlow = 1\nhigh = 70\nthreshold = 3");
        layers.add_variable("AIZUCHI__SCORE__LOW", "5");
        layers.add_variable("AIZUCHI__SCORE__THRESHOLD", "6");
        layers.add_variable("PATH", "/bin");
        layers.add_assignment("score.low=9");
        let policies = resolve(&layers).unwrap();
        let score = &policies.general().settings.score;
        assert_eq!((score.low, score.high, score.threshold), (9, 70, 6));
    }

    #[test]
    fn what_is_suggested_gives_way_to_what_anybody_says() {
        let mut layers = Layers::default();
        layers.add_file("aizuchi.toml", "preset = \"sphene\"");
        layers.suggest("memory.enabled", true.into());
        layers.suggest("gates.unasked", true.into());
        layers.add_variable("MEMORY_ENABLED", "false");
        let policies = resolve(&layers).unwrap();
        assert!(!policies.general().settings.memory.enabled && policies.general().settings.gates.unasked);
    }

    #[test]
    fn the_documents_names_work_under_their_preset() {
        let with = |preset: &str| {
            let mut layers = Layers::default();
            layers.add_file("f", &format!("preset = \"{preset}\""));
            layers.add_variable("JUDGE_KEYWORDS", "Rust, 猫 ,");
            layers.add_variable("EAVESDROP_MIN_INTERVENTION_INTERVAL_MINUTES", "7");
            let policies = resolve(&layers).unwrap();
            let settings = &policies.general().settings;
            (settings.score.keywords.clone(), settings.gates.interval_seconds)
        };
        assert_eq!(with("sphene"), (vec!["Rust".into(), "猫".into()], 0));
        assert_eq!(with("kotonoha"), (vec![], 420));
        assert_eq!(with("aizuchi"), (vec!["Rust".into(), "猫".into()], 420));
    }

    #[test]
    fn a_setting_may_be_given_by_its_earlier_name() {
        let mut layers = Layers::default();
        layers.add_file(
            "aizuchi.toml",
            "preset = \"sphene\"\n[listen]\nstrands = true\n[channel.\"c1\".listen]\nstrands = false",
        );
        let policies = resolve(&layers).unwrap();
        let told_apart = |room| policies.for_room(room).settings.listen.conversations;
        assert!(told_apart("c2") && !told_apart("c1"));
        let mut told: Vec<String> = layers.renamed().iter().map(ToString::to_string).collect();
        told.sort();
        let notice = "`listen.strands` is called `listen.conversations` now; the earlier name still works";
        assert_eq!(told, [format!("aizuchi.toml:3: {notice}"), format!("aizuchi.toml:5: {notice}")]);

        let mut layers = Layers::default();
        layers.add_variable("AIZUCHI__LISTEN__STRANDS", "false");
        layers.add_assignment("score.learned=false");
        layers.add_assignment("listen.strands=true");
        assert!(resolve(&layers).unwrap().general().settings.listen.conversations);
        let told: Vec<String> = layers.renamed().iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [format!("AIZUCHI__LISTEN__STRANDS: {notice}"), format!("--set listen.strands=true: {notice}"),]
        );
    }

    #[test]
    fn a_setting_by_both_its_names_is_refused() {
        for keys in ["strands = true\nconversations = false", "conversations = false\nstrands = true"] {
            let line = keys.lines().position(|line| line.starts_with("strands")).unwrap() + 2;
            let told = "`listen.strands` is the earlier name of `listen.conversations`, and both are set; remove it";
            assert!(refusal(&format!("[listen]\n{keys}")).contains(&format!("aizuchi.toml:{line}: {told}")));
            let of_channel = refusal(&format!("[channel.\"c1\".listen]\n{keys}"));
            assert!(of_channel.contains(&format!("aizuchi.toml:{line}: {told}")), "{of_channel}");
        }
        let apart = "preset = \"sphene\"\n[listen]\nconversations = true\n[channel.\"c1\".listen]\nstrands = false";
        assert!(file(apart).is_ok());
    }

    #[test]
    fn a_channel_has_its_own_policy_and_its_own_preset() {
        let policies =
            file("[channel.\"general\"]\npreset = \"sphene\"\n[channel.\"general\".score]\nlow = 3").unwrap();
        assert_eq!(policies.for_room("general").settings.score.low, 3);
        assert_eq!(policies.for_room("general").settings.score.cooldown_seconds, 120);
        assert_ne!(policies.for_room("other").settings.score.low, 3);
        let mut layers = Layers::default();
        layers.add_file(
            "f",
            "preset = \"myao2\"\n[channel.\"discord:7\"]\npreset = \"sphene\"\n[channel.\"8\".score]\nlow = 3",
        );
        let presets =
            ["discord:7/1", "discord:7/8", "discord:9/1"].map(|room| layers.presets().for_room(room).to_owned());
        assert_eq!(presets, ["sphene", "myao2", "myao2"]);
        assert!(
            refusal("[channel.\"general\".score]\nlwo = 3").starts_with("aizuchi.toml:2: unknown setting `score.lwo`")
        );
    }

    #[test]
    fn texts_on_the_command_line_need_no_quotes() {
        let mut layers = Layers::default();
        for assignment in [
            "bot.name=相槌",
            "score.keywords=a,b",
            "kinds.emoji=[\"🍵\"]",
            "JUDGE_SCORE_THRESHOLD=40",
            "gates.unasked=false",
        ] {
            layers.add_assignment(assignment);
        }
        let policies = resolve(&layers).unwrap();
        let settings = &policies.general().settings;
        assert_eq!((settings.bot.name.as_str(), settings.score.keywords.len()), ("相槌", 2));
        assert_eq!((settings.kinds.emoji.as_slice(), settings.score.threshold), (&["🍵".to_owned()][..], 40));
        assert!(!settings.gates.unasked);
    }

    #[test]
    fn a_section_of_the_shell_is_unknown_until_somebody_declares_it() {
        let told = refusal("[web]\nenabled = true");
        assert!(told.starts_with("aizuchi.toml:2: unknown setting `web.enabled`; "), "{told}");
    }
}
