//! The answers, and the defaults for questions that nobody answers.

use jiff::tz::TimeZone;

use crate::language::Language;
use crate::models::providers;

#[derive(Clone, Debug)]
pub struct InitAnswers {
    pub name: String,
    /// The id of a language, or "auto".
    pub language: &'static str,
    pub preset: &'static str,
    pub models: ModelAnswer,
    pub persona: String,
    pub group: String,
    /// The address the web room listens on; `None` means no web room.
    pub address: Option<String>,
    /// Seconds between two unasked contributions; `None` keeps the preset's value.
    pub interval_seconds: Option<u32>,
    pub zone: String,
}

/// Which model the bot uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelAnswer {
    /// The provider whose key is in the environment, otherwise the built-in model.
    AtStart,
    Chosen {
        main: String,
        judge: String,
    },
}

/// Follows the language of the talk.
pub const AUTO: &str = "auto";

pub const PRESETS: [&str; 4] = ["aizuchi", "kotonoha", "sphene", "myao2"];
pub const INTERVALS: [Option<u32>; 5] = [Some(1800), Some(300), Some(60), Some(0), None];

/// The index of the default choice: how much it talks is `talk` of the default preset, and the original bots have their own.
pub const USUAL_INTERVAL: usize = INTERVALS.len() - 1;
const USUAL_NAME: &str = "aizuchi";
pub const USUAL_ADDRESS: &str = "127.0.0.1:4860";

impl InitAnswers {
    pub fn usual(language: Language) -> InitAnswers {
        InitAnswers {
            name: USUAL_NAME.into(),
            language: if language == Language::ENGLISH { AUTO } else { language.id() },
            preset: PRESETS[0],
            models: ModelAnswer::AtStart,
            persona: String::new(),
            group: String::new(),
            address: Some(USUAL_ADDRESS.into()),
            interval_seconds: INTERVALS[USUAL_INTERVAL],
            zone: TimeZone::system().iana_name().filter(|name| *name != "Etc/Unknown").unwrap_or("UTC").to_owned(),
        }
    }

    /// How people of this language write the usual name too.
    pub fn written_otherwise(&self, language: Language) -> Option<&'static str> {
        (self.name == USUAL_NAME && language.id() == "ja").then_some("相槌")
    }

    /// The environment variables that must hold a key.
    pub fn keys(&self) -> Vec<&'static str> {
        let ModelAnswer::Chosen { main, judge } = &self.models else { return Vec::new() };
        let mut keys: Vec<&str> = [main, judge]
            .into_iter()
            .filter_map(|model| providers::row(providers::provider_of(model)?))
            .filter_map(|row| row.keys.first().copied().filter(|_| row.needs_key))
            .collect();
        keys.dedup();
        keys
    }

    /// Whether the web room is reachable from other machines, so that it must require a token.
    pub fn needs_token(&self) -> bool {
        self.address.as_deref().is_some_and(|address| !is_loopback(address))
    }
}

pub fn is_loopback(address: &str) -> bool {
    match address.parse::<std::net::SocketAddr>() {
        Ok(address) => address.ip().is_loopback(),
        Err(_) => address.rsplit_once(':').is_some_and(|(host, _)| host == "localhost"),
    }
}
