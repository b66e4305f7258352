//! A message to people: a key of the language files with its arguments. It becomes text where a language is known.

use std::borrow::Cow;

use aizuchi_core::types::{MessageId, Share, Span};
use fluent_bundle::FluentArgs;
use fluent_bundle::types::{FluentNumber, FluentNumberOptions, FluentValue};
use serde::ser::{Serialize, Serializer};

use super::{Language, catalogue};

#[derive(Clone, Debug, PartialEq)]
pub struct LocalizedMessage {
    key: Cow<'static, str>,
    arguments: Vec<(Cow<'static, str>, LocalizedValue)>,
}

/// A typed argument: each language formats it in its own way.
#[derive(Clone, Debug, PartialEq)]
pub enum LocalizedValue {
    Text(String),
    /// Written with plain digits.
    Number(i64),
    /// Written in groups of three digits.
    Count(u64),
    Span(Span),
    /// Whole percents; zero means less than one.
    Percent(u32),
    /// A message of the room. The page shows its text, others its id.
    MessageId(MessageId),
    Said(Box<LocalizedMessage>),
    List(Vec<LocalizedMessage>),
}

/// A message by its key: `message!("cause-low", low = 20)`.
macro_rules! message {
    ($key:expr $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::language::LocalizedMessage::new($key)$(.with(stringify!($name), $value))*
    };
}
pub(crate) use message;

/// The same as text: `say!(language, "cause-low", low = 20)`.
macro_rules! say {
    ($language:expr, $key:expr $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::language::message!($key $(, $name = $value)*).say($language)
    };
}
pub(crate) use say;

impl LocalizedMessage {
    pub fn new(key: impl Into<Cow<'static, str>>) -> LocalizedMessage {
        LocalizedMessage { key: key.into(), arguments: Vec::new() }
    }

    pub fn with(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<LocalizedValue>) -> LocalizedMessage {
        self.arguments.push((name.into(), value.into()));
        self
    }

    pub fn key(&self) -> &str {
        &self.key
    }

    /// As text.
    pub fn say(&self, language: Language) -> String {
        let mut arguments = FluentArgs::new();
        for (name, value) in &self.arguments {
            arguments.set(name.clone(), value.to_fluent(language));
        }
        catalogue::format(language, &self.key, &arguments)
    }
}

impl LocalizedValue {
    /// Formatted alone, as text.
    pub fn say(&self, language: Language) -> String {
        match self.to_fluent(language) {
            FluentValue::String(text) => text.into_owned(),
            FluentValue::Number(number) => number.as_string().into_owned(),
            FluentValue::Custom(_) | FluentValue::None | FluentValue::Error => String::new(),
        }
    }

    fn to_fluent(&self, language: Language) -> FluentValue<'static> {
        match self {
            LocalizedValue::Text(text) => text.clone().into(),
            LocalizedValue::Number(number) => number_value(*number as f64, false),
            LocalizedValue::Count(count) => number_value(*count as f64, true),
            LocalizedValue::Span(span) => span_message(*span).say(language).into(),
            LocalizedValue::Percent(percent) => {
                say!(language, "percent", n = LocalizedValue::Count((*percent).into())).into()
            }
            LocalizedValue::MessageId(id) => id.as_str().to_owned().into(),
            LocalizedValue::Said(message) => message.say(language).into(),
            LocalizedValue::List(messages) => {
                let said: Vec<String> = messages.iter().map(|message| message.say(language)).collect();
                said.join(&language.text("list-separator")).into()
            }
        }
    }
}

/// Fluent compares a number with a literal such as `[0]` including its formatting, so `Count` is formatted like a literal.
fn number_value(value: f64, use_grouping: bool) -> FluentValue<'static> {
    let options = FluentNumberOptions { use_grouping, ..FluentNumberOptions::default() };
    FluentValue::Number(FluentNumber::new(value, options))
}

/// A duration as a person would say it. The page has the same in `bot/web/messages.js`.
fn span_message(span: Span) -> LocalizedMessage {
    let seconds = span.whole_seconds();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match (hours, minutes) {
        (0, 0) => message!("span-seconds", seconds = seconds),
        (0, _) if seconds.is_multiple_of(60) || minutes >= 10 => message!("span-minutes", minutes = minutes),
        (0, _) => message!("span-minutes-seconds", minutes = minutes, seconds = seconds % 60),
        (_, 0) => message!("span-hours", hours = hours),
        (_, _) => message!("span-hours-minutes", hours = hours, minutes = minutes),
    }
}

impl From<&str> for LocalizedValue {
    fn from(text: &str) -> LocalizedValue {
        LocalizedValue::Text(text.to_owned())
    }
}

impl From<String> for LocalizedValue {
    fn from(text: String) -> LocalizedValue {
        LocalizedValue::Text(text)
    }
}

impl From<u8> for LocalizedValue {
    fn from(number: u8) -> LocalizedValue {
        LocalizedValue::Number(number.into())
    }
}

impl From<u32> for LocalizedValue {
    fn from(number: u32) -> LocalizedValue {
        LocalizedValue::Number(number.into())
    }
}

impl From<u64> for LocalizedValue {
    fn from(number: u64) -> LocalizedValue {
        LocalizedValue::Number(number.try_into().unwrap_or(i64::MAX))
    }
}

impl From<usize> for LocalizedValue {
    fn from(number: usize) -> LocalizedValue {
        LocalizedValue::from(number as u64)
    }
}

impl From<Span> for LocalizedValue {
    fn from(span: Span) -> LocalizedValue {
        LocalizedValue::Span(span)
    }
}

impl From<Share> for LocalizedValue {
    fn from(share: Share) -> LocalizedValue {
        LocalizedValue::Text(share.to_string())
    }
}

impl From<&MessageId> for LocalizedValue {
    fn from(id: &MessageId) -> LocalizedValue {
        LocalizedValue::MessageId(id.clone())
    }
}

impl From<LocalizedMessage> for LocalizedValue {
    fn from(message: LocalizedMessage) -> LocalizedValue {
        LocalizedValue::Said(Box::new(message))
    }
}

impl From<Vec<LocalizedMessage>> for LocalizedValue {
    fn from(messages: Vec<LocalizedMessage>) -> LocalizedValue {
        LocalizedValue::List(messages)
    }
}

/// In the page's format: `["cause-low", {"low": 20}]`.
impl Serialize for LocalizedMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Arguments<'a>(&'a [(Cow<'static, str>, LocalizedValue)]);
        impl Serialize for Arguments<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
            }
        }
        (&*self.key, Arguments(&self.arguments)).serialize(serializer)
    }
}

/// Text and numbers as they are; other types as an object with a type tag.
impl Serialize for LocalizedValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            LocalizedValue::Text(text) => serializer.serialize_str(text),
            LocalizedValue::Number(number) => serializer.serialize_i64(*number),
            LocalizedValue::Count(count) => serializer.serialize_u64(*count),
            LocalizedValue::Span(span) => serializer.collect_map([("span", span.0)]),
            LocalizedValue::Percent(percent) => serializer.collect_map([("percent", percent)]),
            LocalizedValue::MessageId(id) => serializer.collect_map([("message", id.as_str())]),
            LocalizedValue::Said(message) => serializer.collect_map([("said", message)]),
            LocalizedValue::List(messages) => serializer.collect_map([("list", messages)]),
        }
    }
}
