//! Transcripts in short.

use serde_json::{Value, json};

/// When the talk begins.
pub const START: f64 = 1_700_000_000.0;

/// `after` is in seconds since the start.
pub fn said(after: f64, id: &str, author: &str, text: &str) -> String {
    with(json!({}), after, id, author, text)
}

/// The same with more fields, or other ones.
pub fn with(more: Value, after: f64, id: &str, author: &str, text: &str) -> String {
    let mut line = json!({"ts": START + after, "channel": "c", "id": id, "author": author, "text": text});
    for (key, value) in more.as_object().expect("fields") {
        line[key] = value.clone();
    }
    format!("{line}\n")
}

/// A decision in short: these fields, with spaces between.
pub fn shown(decision: &Value, fields: &[&str]) -> String {
    let field = |name: &&str| match &decision[*name] {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    fields.iter().map(field).collect::<Vec<_>>().join(" ")
}

/// What came of each message and how far it came, such as "m1 silent score".
pub fn outcomes(decisions: &[Value]) -> Vec<String> {
    decisions.iter().map(|decision| shown(decision, &["id", "outcome", "stage"])).collect()
}

pub fn reason(decision: &Value) -> &str {
    decision["reason"].as_str().expect("a reason is text")
}
