//! Formats XIVAPI's answers as text.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::kind::{FieldLabel, LookupKind};

const DESCRIPTION_CHARS_MAX: usize = 1_500;

/// One row of a sheet. Fields that are not requested are missing.
#[derive(Deserialize)]
pub struct SheetRow {
    row_id: u64,
    fields: Map<String, Value>,
    #[serde(default)]
    transient: Map<String, Value>,
}

#[derive(Deserialize)]
pub struct SearchAnswer {
    pub results: Vec<SheetRow>,
    /// Whether there are more than requested.
    #[serde(default)]
    pub next: Option<Value>,
}

impl SheetRow {
    pub fn name(&self) -> String {
        text(&self.fields, "Name").unwrap_or_default()
    }

    /// The game keeps rows that were never used.
    pub fn is_empty(&self) -> bool {
        self.name().is_empty()
    }

    /// Name and id, the known fields, and the description.
    pub fn words(&self, kind: LookupKind) -> String {
        let known = kind.labels().iter().filter_map(|FieldLabel { field, words }| {
            let value = text(&self.fields, field)?;
            Some(words.replace("{}", &value))
        });
        let mut words = format!("{} ({} {})", self.name(), kind.name(), self.row_id);
        for (index, known) in known.enumerate() {
            words.push_str(if index == 0 { ": " } else { "; " });
            words.push_str(&known);
        }
        let description = text(&self.fields, "Description").or_else(|| text(&self.transient, "Description"));
        if let Some(description) = description {
            let description: String = description.chars().take(DESCRIPTION_CHARS_MAX).collect();
            words.extend(
                description.lines().filter(|line| !line.trim().is_empty()).map(|line| format!("\n  {}", line.trim())),
            );
        }
        words
    }
}

/// A field, through relations (`ItemUICategory.Name`). `None` for values without information: empty text, zero, false.
fn text(fields: &Map<String, Value>, path: &str) -> Option<String> {
    let value = match path.split_once('.') {
        Some((relation, field)) => fields.get(relation)?.get("fields")?.get(field)?,
        None => fields.get(path)?,
    };
    let text = match value {
        Value::String(text) => text.chars().filter(|c| is_letter_for_people(*c)).collect::<String>().trim().to_owned(),
        Value::Number(number) if number.as_f64().is_some_and(|number| number > 0.0) => amount(path, number),
        Value::Bool(true) => "yes".to_owned(),
        Value::Number(_) | Value::Bool(false) | Value::Null | Value::Array(_) | Value::Object(_) => String::new(),
    };
    (!text.is_empty()).then_some(text)
}

/// `Cast100ms` and similar fields count tenths of a second.
fn amount(path: &str, number: &serde_json::Number) -> String {
    match number.as_f64() {
        Some(tenths) if path.ends_with("100ms") => format!("{} s", tenths / 10.0),
        _ => number.to_string(),
    }
}

/// The game uses private-use characters for its own icons.
fn is_letter_for_people(c: char) -> bool {
    (!c.is_control() || c == '\n') && !matches!(c, '\u{e000}'..='\u{f8ff}')
}
