//! The result of a check of the setup: what was found, how severe it is, and how to fix it.

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Ok,
    Warn,
    Fail,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The part of the program it is about.
    pub part: &'static str,
    pub level: Level,
    pub told: String,
    /// How to fix it.
    #[serde(rename = "mend")]
    pub fix: Option<String>,
}

impl Check {
    pub fn ok(part: &'static str, told: impl Into<String>) -> Check {
        Check { part, level: Level::Ok, told: told.into(), fix: None }
    }

    pub fn warn(part: &'static str, told: impl Into<String>, fix: impl Into<String>) -> Check {
        Check { part, level: Level::Warn, told: told.into(), fix: Some(fix.into()) }
    }

    pub fn fail(part: &'static str, told: impl Into<String>, fix: impl Into<String>) -> Check {
        Check { part, level: Level::Fail, told: told.into(), fix: Some(fix.into()) }
    }
}

/// Whether a program holds the data folder at this moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Running {
    Yes,
    No,
}
