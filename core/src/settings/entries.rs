//! A TOML document as single entries: the path of each, its value, and its position in the text.

use toml::Value;
use toml::de::{DeTable, DeValue};

/// Passes every entry below a table to `each`; `path` leads there.
pub(super) fn flatten(table: &DeTable<'_>, path: &mut Vec<String>, each: &mut dyn FnMut(&[String], Value, usize)) {
    for (key, value) in table {
        path.push(key.get_ref().to_string());
        match value.get_ref() {
            DeValue::Table(inner) if !inner.is_empty() || path.len() == 1 => flatten(inner, path, each),
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => each(path, plain(value.get_ref()), key.span().start),
        }
        path.pop();
    }
}

fn plain(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| Value::String(number.to_string()), Value::Integer),
        DeValue::Float(number) => {
            number.as_str().parse().map_or_else(|_| Value::String(number.as_str().to_owned()), Value::Float)
        }
        DeValue::Boolean(truth) => Value::Boolean(*truth),
        DeValue::Datetime(time) => Value::Datetime(*time),
        DeValue::Array(items) => Value::Array(items.iter().map(|item| plain(item.get_ref())).collect()),
        DeValue::Table(table) => {
            Value::Table(table.iter().map(|(key, value)| (key.get_ref().to_string(), plain(value.get_ref()))).collect())
        }
    }
}
