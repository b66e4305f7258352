//! The arguments of a call as a model wrote them, with an error message for what does not fit.

use serde_json::{Map, Value};

pub struct Arguments<'a>(&'a Map<String, Value>);

impl<'a> Arguments<'a> {
    pub fn new(arguments: &'a Map<String, Value>, known: &[&str]) -> Result<Arguments<'a>, String> {
        match arguments.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => Err(format!("unknown argument `{key}`; there are {}", known.join(", "))),
            None => Ok(Arguments(arguments)),
        }
    }

    /// A text; `None` if it is missing, null or blank.
    pub fn text(&self, key: &str) -> Result<Option<&'a str>, String> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.trim()).filter(|text| !text.is_empty())),
            Some(other) => Err(format!("`{key}` must be a text, got {other}")),
        }
    }

    pub fn needed(&self, key: &str) -> Result<&'a str, String> {
        self.text(key)?.ok_or_else(|| format!("`{key}` is missing"))
    }

    /// An integer within these bounds; the default if it is missing.
    pub fn number(&self, key: &str, default: u64, bounds: std::ops::RangeInclusive<u64>) -> Result<u64, String> {
        let right = || format!("`{key}` must be a whole number, {}–{}", bounds.start(), bounds.end());
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(default),
            // Some models write every number as a string.
            Some(Value::String(text)) => {
                text.trim().parse().ok().filter(|number| bounds.contains(number)).ok_or_else(right)
            }
            Some(value) => value.as_u64().filter(|number| bounds.contains(number)).ok_or_else(right),
        }
    }
}
