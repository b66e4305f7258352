//! Reads JSON leniently: a field of the wrong type is reported, and does not end the file.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

/// The value of a field, one level deep; `T` is the type of an object in its place.
#[derive(Clone, Debug, Default)]
pub enum Field<'a, T = IgnoredAny> {
    /// Missing, or null.
    #[default]
    Absent,
    Text(Cow<'a, str>),
    Number(Number),
    Flag(bool),
    List(Vec<Field<'a, T>>),
    Object(T),
}

impl<'a, T> Field<'a, T> {
    /// Text, or a number as its text; empty counts as missing.
    pub fn text(self, name: &str) -> Result<Option<Cow<'a, str>>, String> {
        match self {
            Field::Absent => Ok(None),
            Field::Text(text) => Ok(Some(text).filter(|text| !text.is_empty())),
            Field::Number(number) => Ok(Some(number.to_string().into())),
            Field::Flag(_) | Field::List(_) | Field::Object(_) => {
                Err(format!("`{name}` must be text, got {}", self.describe()))
            }
        }
    }

    pub fn needed(self, name: &str) -> Result<Cow<'a, str>, String> {
        let empty = matches!(&self, Field::Text(text) if text.is_empty());
        self.text(name)?.ok_or_else(|| if empty { format!("`{name}` is empty") } else { format!("no `{name}`") })
    }

    /// What a person said, which may be empty.
    pub fn words(self, name: &str) -> Result<Option<Cow<'a, str>>, String> {
        if let Field::Text(text) = self { Ok(Some(text)) } else { self.text(name) }
    }

    pub fn flag(&self, name: &str) -> Result<bool, String> {
        match self {
            Field::Absent => Ok(false),
            Field::Flag(flag) => Ok(*flag),
            Field::Text(_) | Field::Number(_) | Field::List(_) | Field::Object(_) => {
                Err(format!("`{name}` must be true or false, got {}", self.describe()))
            }
        }
    }

    pub fn list(self, name: &str) -> Result<Vec<Field<'a, T>>, String> {
        match self {
            Field::Absent => Ok(Vec::new()),
            Field::List(list) => Ok(list),
            Field::Text(_) | Field::Number(_) | Field::Flag(_) | Field::Object(_) => {
                Err(format!("`{name}` must be a list, got {}", self.describe()))
            }
        }
    }

    pub fn object(self, name: &str) -> Result<T, String> {
        match self {
            Field::Absent => Err(format!("no `{name}`")),
            Field::Object(object) => Ok(object),
            Field::Text(_) | Field::Number(_) | Field::Flag(_) | Field::List(_) => {
                Err(format!("`{name}` must be an object, got {}", self.describe()))
            }
        }
    }

    /// Quoted for an error message.
    pub fn describe(&self) -> String {
        match self {
            Field::Absent => "missing".to_owned(),
            Field::Text(text) => quoted(text),
            Field::Number(number) => number.to_string(),
            Field::Flag(flag) => flag.to_string(),
            Field::List(_) => "a list".to_owned(),
            Field::Object(_) => "an object".to_owned(),
        }
    }
}

/// The maximum length of a quotation in an error message.
const QUOTED_CHARS_MAX: usize = 80;

/// In quotes, on one line, and truncated if it is long.
pub fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED_CHARS_MAX) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}…", &text[..end]),
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for Field<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FieldVisitor(PhantomData))
    }
}

struct FieldVisitor<'a, T>(PhantomData<Field<'a, T>>);

impl<'de: 'a, 'a, T: Deserialize<'de>> Visitor<'de> for FieldVisitor<'a, T> {
    type Value = Field<'a, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Field::Absent)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Field::Flag(flag))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Field::Number(number.into()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Field::Number(number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Number::from_f64(number).map_or(Field::Absent, Field::Number))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Field::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Field::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = seq.next_element()? {
            list.push(element);
        }
        Ok(Field::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Field::Object)
    }
}

/// Why a piece of text is not JSON. Only the column is given: a piece is on a line of its own, or has a number.
pub fn broken(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let problem = text.split_once(" at line ").map_or(text.as_str(), |(problem, _)| problem);
    format!("invalid JSON: {problem} at column {}", error.column())
}

/// A single value.
pub fn value<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<Field<'a, T>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "not UTF-8".to_owned())?;
    serde_json::from_str(text).map_err(|error| broken(&error))
}

/// The members of a list or an object, each still unparsed, so that a broken one does not affect the others.
pub struct Pieces<'t> {
    pub pieces: Vec<&'t [u8]>,
    /// Whether the end was found; a half-written file has none.
    pub closed: bool,
}

pub fn pieces(container: &[u8]) -> Pieces<'_> {
    let container = container.trim_ascii();
    let mut pieces = Vec::new();
    let (mut depth, mut start, mut closed) = (0_u32, 1, false);
    let (mut in_text, mut escaped) = (false, false);
    let mut end = container.len();
    for (index, byte) in container.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            _ if in_text => (),
            b'[' | b'{' => depth += 1,
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    (closed, end) = (true, index);
                    break;
                }
            }
            b',' if depth == 1 => {
                pieces.push(container[start..index].trim_ascii());
                start = index + 1;
            }
            _ => (),
        }
    }
    let last = container.get(start..end).unwrap_or_default().trim_ascii();
    if !last.is_empty() {
        pieces.push(last);
    }
    Pieces { pieces, closed }
}

/// A member of an object as its key and its value; escapes in keys are not resolved, and none of ours has any.
pub fn key_and_value(member: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = member.strip_prefix(b"\"")?;
    let end = rest.iter().position(|byte| *byte == b'"')?;
    let value = rest[end + 1..].trim_ascii_start().strip_prefix(b":")?;
    Some((&rest[..end], value.trim_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(json: &str) -> Field<'_> {
        value(json.as_bytes()).unwrap()
    }

    #[test]
    fn a_field_of_the_wrong_kind_says_what_would_be_right() {
        assert_eq!(field("[1]").needed("author").unwrap_err(), "`author` must be text, got a list");
        assert_eq!(field("null").needed("author").unwrap_err(), "no `author`");
        assert_eq!(field("\"\"").needed("author").unwrap_err(), "`author` is empty");
        assert_eq!(field("\"yes\"").flag("bot").unwrap_err(), "`bot` must be true or false, got \"yes\"");
        assert_eq!(field("{\"a\": 1}").list("mentions").unwrap_err(), "`mentions` must be a list, got an object");
    }

    #[test]
    fn numbers_are_taken_as_their_text() {
        assert_eq!(field("18446744073709551615").needed("id").unwrap(), "18446744073709551615");
        assert_eq!(field("-3").needed("id").unwrap(), "-3");
        assert_eq!(field("\"三\"").needed("id").unwrap(), "三");
    }

    #[test]
    fn a_long_quotation_is_cut_between_characters() {
        let quote = quoted(&"相槌".repeat(100));
        assert_eq!(quote.chars().count(), QUOTED_CHARS_MAX + 3);
        assert_eq!(quoted("a\n\u{1b}"), r#""a\n\u{1b}""#);
    }

    #[test]
    fn members_are_split_outside_of_texts_and_nested_lists() {
        let split = pieces(br#" [ {"a": [1, 2], "b": "x,]\"}"}, 2 , "\\" ] "#);
        assert!(split.closed);
        assert_eq!(split.pieces, [&br#"{"a": [1, 2], "b": "x,]\"}"}"#[..], b"2", br#""\\""#]);
        assert!(pieces(b"[]").pieces.is_empty());
        assert!(pieces(b"").pieces.is_empty());
        let cut = pieces(br#"[1, {"a": "#);
        assert_eq!((cut.closed, cut.pieces.len()), (false, 2));
    }

    #[test]
    fn depth_without_end_is_an_error_and_not_a_crash() {
        let deep = "[".repeat(1_000_000);
        assert!(value::<IgnoredAny>(deep.as_bytes()).unwrap_err().contains("recursion limit"));
        assert!(!pieces(deep.as_bytes()).closed);
        let within = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(value::<IgnoredAny>(within.as_bytes()).is_ok());
    }
}
