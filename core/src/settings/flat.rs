//! The layers merged into one table. A secret in it is never shown.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use secrecy::{ExposeSecret as _, SecretString};
use toml::Value;

use super::PRESETS;
use super::layers::DEFAULT_FILE;
use super::problem::Problem;
use super::value::{Bounds, Setting};

/// A value as it was written.
#[derive(Clone, Debug)]
pub(super) enum RawValue {
    Plain(Value),
    /// `None` if something other than a string was written.
    Secret(Option<SecretString>),
}

impl RawValue {
    pub(super) fn secret(value: Value) -> RawValue {
        RawValue::Secret(value.as_str().map(SecretString::from))
    }

    pub(super) fn plain(&self) -> Option<&Value> {
        match self {
            RawValue::Plain(value) => Some(value),
            RawValue::Secret(_) => None,
        }
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        self.plain().and_then(Value::as_str)
    }

    fn read<T: Setting>(&self) -> Result<T, String> {
        match self {
            RawValue::Plain(value) => T::read(value),
            RawValue::Secret(secret) => T::read_secret(secret.as_ref()),
        }
    }

    fn is_alike(&self, other: &RawValue) -> bool {
        let text = |written: &RawValue| match written {
            RawValue::Plain(value) => value.as_str().map(str::to_owned).map(SecretString::from),
            RawValue::Secret(secret) => secret.clone(),
        };
        match (self, other) {
            (RawValue::Plain(own), RawValue::Plain(other)) => own == other,
            _ => match (text(self), text(other)) {
                (Some(own), Some(other)) => own.expose_secret() == other.expose_secret(),
                _ => false,
            },
        }
    }
}

impl fmt::Display for RawValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RawValue::Plain(value) => write!(f, "{value}"),
            RawValue::Secret(_) => f.write_str("secret"),
        }
    }
}

/// One value and where it was written.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub value: RawValue,
    pub source: Arc<str>,
    pub line: Option<usize>,
}

/// Parses plain text as the type of the default.
pub(super) fn value_like(default: Option<&Entry>, text: &str) -> Value {
    match default.and_then(|entry| entry.value.plain()) {
        Some(Value::String(_)) => Value::String(text.to_owned()),
        Some(Value::Array(_)) if !text.starts_with('[') => {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            Value::Array(items.map(Value::from).collect())
        }
        _ => toml::from_str::<toml::Table>(&format!("value = {text}"))
            .ok()
            .filter(|table| table.len() == 1)
            .and_then(|mut table| table.remove("value"))
            .unwrap_or_else(|| Value::String(text.to_owned())),
    }
}

/// The layers merged into one table of full key to value, and the problems found.
#[derive(Clone, Debug, Default)]
pub struct Flat {
    pub(super) entries: BTreeMap<String, Entry>,
    pub(super) problems: Vec<Problem>,
}

impl Flat {
    /// The value of a key. An invalid one is reported as a problem.
    pub fn read<T: Setting>(&mut self, key: &str, bounds: &dyn Bounds<T>) -> Option<T> {
        let entry = self.entries.get(key)?;
        let read = entry.value.read::<T>().map_err(|right| bounds.narrow(right));
        let fitting = read.and_then(|value| bounds.check(&value).map(|()| value));
        fitting.map_err(|right| self.misfit(key, &right)).ok()
    }

    /// The value of a key, if it is valid. An invalid one is not reported.
    pub fn peek<T: Setting>(&self, key: &str) -> Option<T> {
        self.entries.get(key)?.value.read().ok()
    }

    /// Reports where a key was set, what it must be, and what it is; a secret is not shown.
    pub fn misfit(&mut self, key: &str, right: &str) {
        let entry = &self.entries[key];
        let Some(value) = entry.value.plain() else { return self.refuse(key, right) };
        let message = format!("`{key}` must be {right}, got {value}");
        self.problems.push(Problem { source: entry.source.clone(), line: entry.line, message });
    }

    /// The same without the value, which may contain a secret.
    pub fn refuse(&mut self, key: &str, right: &str) {
        let entry = &self.entries[key];
        let message = format!("`{key}` must be {right}");
        self.problems.push(Problem { source: entry.source.clone(), line: entry.line, message });
    }

    /// Reports a problem with a key that is set.
    pub fn complain(&mut self, key: &str, message: String) {
        let entry = &self.entries[key];
        self.problems.push(Problem { source: entry.source.clone(), line: entry.line, message });
    }

    /// Whether there is a value.
    pub fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// Whether the value is neither the default nor the preset's.
    pub(super) fn is_given(&self, key: &str) -> bool {
        let is_built_in = |source: &str| source == DEFAULT_FILE || PRESETS.iter().any(|(preset, _)| *preset == source);
        self.entries.get(key).is_some_and(|entry| !is_built_in(&entry.source))
    }

    /// Whether a person set this one and not the other.
    pub(super) fn is_to_blame(&self, key: &str, other: &str) -> bool {
        self.is_given(key) && !self.is_given(other)
    }

    pub(super) fn keys_below(&self, prefix: &str) -> Vec<String> {
        self.entries.keys().filter(|key| key.starts_with(prefix)).cloned().collect()
    }

    /// Whether a section, or one key, has the same values in both.
    pub(super) fn is_alike(&self, other: &Flat, name: &str) -> bool {
        let is_meant = |key: &str| key.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let all_in = |these: &Flat, those: &Flat| {
            let alike = |(key, entry): (&String, &Entry)| {
                those.entries.get(key).is_some_and(|other| entry.value.is_alike(&other.value))
            };
            these.entries.iter().filter(|(key, _)| is_meant(key)).all(alike)
        };
        all_in(self, other) && all_in(other, self)
    }
}
