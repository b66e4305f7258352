//! The types of settings, how they are read from TOML, and the errors for invalid values.

use std::ops::RangeInclusive;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use toml::Value;

use crate::types::{Share, Zone};

/// A type a setting can have.
pub trait Setting: Sized {
    /// Whether the value must never be shown.
    const IS_SECRET: bool = false;

    /// `Err` says what is allowed.
    fn read(value: &Value) -> Result<Self, String>;

    /// Reads a secret, which is `None` if something other than a string was written. Only secret types have one.
    fn read_secret(_: Option<&SecretString>) -> Result<Self, String> {
        Err("a setting that is not secret".into())
    }
}

/// The allowed span of a numeric setting.
pub trait Bounds<T> {
    /// `Err` says what is allowed.
    fn check(&self, value: &T) -> Result<(), String>;

    /// Adds the bounds to what is allowed, if a value is not even of the type.
    fn narrow(&self, right: String) -> String {
        right
    }
}

/// "0–100"; with a negative number "-100 to 100", where a dash would read as another minus.
fn span<T: std::fmt::Display>(range: &RangeInclusive<T>) -> String {
    let (start, end) = (range.start().to_string(), range.end().to_string());
    if start.starts_with('-') { format!("{start} to {end}") } else { format!("{start}–{end}") }
}

impl<T: PartialOrd + std::fmt::Display> Bounds<T> for RangeInclusive<T> {
    fn check(&self, value: &T) -> Result<(), String> {
        if self.contains(value) { Ok(()) } else { Err(span(self)) }
    }

    fn narrow(&self, right: String) -> String {
        format!("{right}, {}", span(self))
    }
}

/// For settings that accept any value of their type.
pub struct Any;

impl<T> Bounds<T> for Any {
    fn check(&self, _: &T) -> Result<(), String> {
        Ok(())
    }
}

impl Setting for bool {
    fn read(value: &Value) -> Result<bool, String> {
        value.as_bool().ok_or_else(|| "true or false".into())
    }
}

macro_rules! whole_number {
    ($($type:ty),*) => {$(
        impl Setting for $type {
            fn read(value: &Value) -> Result<$type, String> {
                let number = value.as_integer().ok_or("a whole number")?;
                <$type>::try_from(number).map_err(|_| "a whole number".into())
            }
        }
    )*};
}
whole_number!(u32, u64, i16);

impl Setting for f64 {
    fn read(value: &Value) -> Result<f64, String> {
        let number = value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
        number.filter(|number| number.is_finite()).ok_or_else(|| "a number".into())
    }
}

impl Setting for String {
    fn read(value: &Value) -> Result<String, String> {
        value.as_str().map(str::to_owned).ok_or_else(|| "a text in quotes".into())
    }
}

impl Setting for SecretString {
    const IS_SECRET: bool = true;

    fn read(value: &Value) -> Result<SecretString, String> {
        String::read(value).map(SecretString::from)
    }

    fn read_secret(secret: Option<&SecretString>) -> Result<SecretString, String> {
        secret.cloned().ok_or_else(|| "a text in quotes".into())
    }
}

impl Setting for Vec<String> {
    fn read(value: &Value) -> Result<Vec<String>, String> {
        let texts =
            value.as_array().and_then(|items| items.iter().map(|item| item.as_str().map(str::to_owned)).collect());
        texts.ok_or_else(|| r#"a list of texts, such as ["one", "two"]"#.into())
    }
}

impl Setting for Vec<u32> {
    fn read(value: &Value) -> Result<Vec<u32>, String> {
        let numbers = value.as_array().and_then(|items| items.iter().map(|item| u32::read(item).ok()).collect());
        numbers.ok_or_else(|| "a list of whole numbers, such as [6, 31, 101]".into())
    }
}

/// A setting that is one of several words.
#[macro_export]
macro_rules! setting_choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$variant_doc])* $variant),+ }

        impl $crate::settings::Setting for $name {
            fn read(value: &$crate::settings::TomlValue) -> Result<$name, String> {
                match value.as_str() {
                    $(Some($text) => Ok($name::$variant),)+
                    _ => Err([$(concat!("\"", $text, "\"")),+].join(" or ")),
                }
            }
        }
    };
}

setting_choice!(
    #[derive(Serialize, Deserialize)]
    /// What becomes of the messages of other bots.
    OtherBots {
        Ignored = "ignored",
        /// In the buffer and in what a judge reads; never a reason to speak.
        Heard = "heard",
        /// Treated like people, within the loop guard.
        Answered = "answered",
    }
);
setting_choice!(
    #[derive(Serialize, Deserialize)]
    /// Which of its own posts it keeps in the buffer.
    OwnPosts {
        /// Answers nobody asked for.
        Unasked = "unasked",
        All = "all",
    }
);
setting_choice!(
    #[derive(Serialize, Deserialize)]
    /// How its name is recognised in a text.
    MatchStyle {
        /// Letter by letter, anywhere in the text.
        Substring = "substring",
        /// Whole words, whatever their case and width.
        Word = "word",
    }
);
setting_choice!(
    #[derive(Serialize, Deserialize)]
    /// How a model is asked.
    JudgeStyle {
        /// Nobody: points alone decide.
        None = "none",
        /// State, same conversation, changed, then yes or no.
        Ladder = "ladder",
        /// One JSON answer: respond and reason.
        Respond = "respond",
        /// One JSON answer with a delay.
        Delay = "delay",
        /// One JSON answer to everything at once.
        Join = "join",
    }
);

/// The store of a layer of memory, such as "local". The shell knows which stores exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct StoreName(Box<str>);

impl StoreName {
    /// As it is written in the settings.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for StoreName {
    /// Earlier versions recorded it with a capital.
    fn from(text: String) -> StoreName {
        StoreName(text.to_ascii_lowercase().into())
    }
}

impl From<StoreName> for String {
    fn from(name: StoreName) -> String {
        name.0.into()
    }
}

impl Setting for StoreName {
    fn read(value: &Value) -> Result<StoreName, String> {
        let text = value.as_str().filter(|text| !text.is_empty()).ok_or(r#"the name of a store such as "local""#)?;
        Ok(StoreName(text.into()))
    }
}

setting_choice!(
    #[derive(Serialize, Deserialize)]
    /// How facts are looked for.
    Ranking {
        /// By words, the rarer the weightier.
        Default = "default",
        /// Plain BM25, to compare with.
        Bm25 = "bm25",
        /// By the share of words in common, as the original of the preset of this name has it.
        Sphene = "sphene",
    }
);

/// The language of its instructions and its own messages. The shell knows which exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum LanguageSetting {
    /// As the talk is.
    Auto,
    /// By its id, such as "en".
    Named(Box<str>),
}

impl From<String> for LanguageSetting {
    fn from(text: String) -> LanguageSetting {
        match text.as_str() {
            "auto" | "Auto" => LanguageSetting::Auto,
            // As earlier versions recorded them.
            "English" => LanguageSetting::Named("en".into()),
            "Japanese" => LanguageSetting::Named("ja".into()),
            id => LanguageSetting::Named(id.into()),
        }
    }
}

impl From<LanguageSetting> for String {
    fn from(language: LanguageSetting) -> String {
        match language {
            LanguageSetting::Auto => "auto".into(),
            LanguageSetting::Named(id) => id.into(),
        }
    }
}

impl Setting for LanguageSetting {
    fn read(value: &Value) -> Result<LanguageSetting, String> {
        let is_id = |text: &&str| (2..=8).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase());
        let text = value.as_str().filter(is_id).ok_or(r#""auto", or the id of a language such as "en""#)?;
        Ok(LanguageSetting::from(text.to_owned()))
    }
}

setting_choice!(
    #[derive(Serialize, Deserialize)]
    /// In which words a provider is spoken to.
    WireFormat {
        OpenAi = "openai",
        Anthropic = "anthropic",
        Google = "google",
        Ollama = "ollama",
    }
);

/// How models of a provider are called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderSettings {
    pub url: Option<String>,
    pub format: Option<WireFormat>,
    /// The environment variable that contains the key.
    pub key: Option<String>,
}

/// A part of the day, such as "23:00-07:00"; it may cross midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hours {
    pub from: u32,
    pub to: u32,
}

impl Hours {
    pub fn contains(self, minute_of_day: u32) -> bool {
        if self.from <= self.to {
            (self.from..self.to).contains(&minute_of_day)
        } else {
            minute_of_day >= self.from || minute_of_day < self.to
        }
    }
}

fn minute_of_day(text: &str) -> Option<u32> {
    let (hours, minutes) = text.trim().split_once(':')?;
    let (hours, minutes) = (hours.parse::<u32>().ok()?, minutes.parse::<u32>().ok()?);
    (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
}

impl Setting for Option<Hours> {
    fn read(value: &Value) -> Result<Option<Hours>, String> {
        let right = r#""" (none) or hours of the day such as "23:00-07:00""#;
        let text = value.as_str().ok_or(right)?.trim();
        if text.is_empty() {
            return Ok(None);
        }
        let (from, to) = text.split_once('-').ok_or(right)?;
        let hours = Hours { from: minute_of_day(from).ok_or(right)?, to: minute_of_day(to).ok_or(right)? };
        if hours.from == hours.to { Err(right.into()) } else { Ok(Some(hours)) }
    }
}

impl Setting for Option<Share> {
    fn read(value: &Value) -> Result<Option<Share>, String> {
        let right = r#""" (points and gates decide) or a share such as "3%""#;
        let text = value.as_str().ok_or(right)?.trim();
        if text.is_empty() { Ok(None) } else { Share::parse(text).map(Some).ok_or_else(|| right.into()) }
    }
}

/// "UTC" or a fixed offset such as "+09:00"; named zones are looked up by the shell.
pub(super) fn fixed_zone(text: &str) -> Option<Zone> {
    if matches!(text, "UTC" | "Z") {
        return Some(Zone::default());
    }
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    Some(Zone::fixed(sign * minute_of_day(rest)? as i32))
}

/// What a model costs, in dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    /// The price of input tokens from the provider's cache; `None` if it is the same as for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
}

/// How many input tokens were read from the provider's cache, and how many were written to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheTokens {
    pub read: u64,
    pub written: u64,
}

impl Price {
    /// The factor for tokens that are written to the cache.
    const CACHE_WRITE_FACTOR: f64 = 1.25;

    /// Millionths of a dollar: dollars per million tokens are millionths per token.
    pub fn micros(self, tokens_in: u64, tokens_out: u64) -> u64 {
        self.micros_with_cache(tokens_in, CacheTokens::default(), tokens_out)
    }

    pub fn micros_with_cache(self, tokens_in: u64, cache: CacheTokens, tokens_out: u64) -> u64 {
        let read = cache.read.min(tokens_in);
        let written = cache.written.min(tokens_in - read);
        let input = self.input * ((tokens_in - read - written) as f64 + Price::CACHE_WRITE_FACTOR * written as f64);
        let cached = self.cached.unwrap_or(self.input) * read as f64;
        (input + cached + self.output * tokens_out as f64).ceil() as u64
    }
}

impl Setting for Price {
    fn read(value: &Value) -> Result<Price, String> {
        let right = "[dollars per million tokens in, out, and in from the provider's cache], such as [1.0, 5.0] or [1.0, 5.0, 0.1]";
        let number = |value: &Value| f64::read(value).ok().filter(|number| (0.0..=1_000_000.0).contains(number));
        let numbers: Option<Vec<f64>> = value.as_array().and_then(|values| values.iter().map(number).collect());
        match numbers.as_deref() {
            Some(&[input, output]) => Ok(Price { input, output, cached: None }),
            Some(&[input, output, cached]) => Ok(Price { input, output, cached: Some(cached) }),
            _ => Err(right.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A journal holds the settings of then.
    #[test]
    fn languages_are_read_as_earlier_versions_recorded_them() {
        let read = |text: &str| serde_json::from_str::<LanguageSetting>(text).expect("a language is a text");
        for (recorded, language) in
            [("Auto", LanguageSetting::Auto), ("English", "en".to_owned().into()), ("Japanese", "ja".to_owned().into())]
        {
            assert_eq!(read(&format!("{recorded:?}")), language);
            assert_eq!(read(&serde_json::to_string(&language).expect("it is plain data")), language);
        }
    }

    #[test]
    fn hours_may_cross_midnight() {
        let night = Option::<Hours>::read(&Value::from("23:00-07:00")).unwrap().unwrap();
        assert!(night.contains(23 * 60) && night.contains(0) && night.contains(7 * 60 - 1));
        assert!(!night.contains(7 * 60) && !night.contains(23 * 60 - 1));
    }

    #[test]
    fn odd_hours_and_zones_are_refused() {
        for odd in ["25:00-07:00", "23-7", "23:00", "07:00-07:00", "a:b-c:d"] {
            assert!(Option::<Hours>::read(&Value::from(odd)).is_err(), "{odd}");
        }
        assert_eq!(fixed_zone("+09:00"), Some(Zone::fixed(540)));
        assert_eq!(fixed_zone("-03:30"), Some(Zone::fixed(-210)));
        assert_eq!(fixed_zone("Asia/Tokyo"), None);
        assert_eq!(fixed_zone("é"), None);
    }

    #[test]
    fn a_price_counts_in_millionths() {
        let price = Price { input: 1.0, output: 5.0, cached: None };
        assert_eq!(price.micros(1000, 10), 1050);
        let cache = CacheTokens { read: 400, written: 400 };
        assert_eq!(price.micros_with_cache(1000, cache, 10), 1150, "what was at hand costs as much as the rest");
        let listed = Price { cached: Some(0.1), ..price };
        assert_eq!(listed.micros_with_cache(1000, cache, 10), 200 + 40 + 500 + 50);
        let odd = CacheTokens { read: 2000, written: 2000 };
        assert_eq!(listed.micros_with_cache(1000, odd, 0), 100, "no more than went in");
    }

    #[test]
    fn a_price_may_have_a_third_number() {
        let read = |text: &str| Price::read(&text.parse::<toml::Table>().expect("it is TOML")["p"]);
        assert_eq!(read("p = [1.0, 5]"), Ok(Price { input: 1.0, output: 5.0, cached: None }));
        assert_eq!(read("p = [1.0, 5.0, 0.1]"), Ok(Price { input: 1.0, output: 5.0, cached: Some(0.1) }));
        for odd in ["p = [1.0]", "p = [1.0, 5.0, 0.1, 2.0]", "p = [1.0, 5.0, -1.0]", "p = [1.0, \"5\"]", "p = 1.0"] {
            assert!(read(odd).is_err(), "{odd}");
        }
    }

    /// A journal holds the settings of then.
    #[test]
    fn a_price_is_read_as_earlier_versions_recorded_it() {
        let recorded = r#"{"input":1.0,"output":5.0}"#;
        let price = Price { input: 1.0, output: 5.0, cached: None };
        assert_eq!(serde_json::from_str::<Price>(recorded).expect("it is a price"), price);
        assert_eq!(serde_json::to_string(&price).expect("it is plain data"), recorded);
    }
}
