//! Removes what is around a word for silence: code marks, quotes, a name or a label, emoji, repetition, JSON.

use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;

use crate::types::is_unseen;

/// What a model writes before an answer that is empty.
const LABELS: [&str; 10] = ["response", "answer", "reply", "message", "output", "返信", "返答", "回答", "応答", "発言"];
const FENCE: &str = "```";

/// The words themselves, of normal width, without what is around them.
pub(super) fn unwrap(text: &str, is_name: &dyn Fn(&str) -> bool) -> String {
    let plain: String = text.nfkc().filter(|c| c.is_whitespace() || !is_unseen(*c)).collect();
    let mut words = plain.trim();
    // What is wrapped twice is unwrapped twice; nobody wraps more often.
    for _ in 0..4 {
        let before = words;
        words = without_label(without_mention(without_code(words)), is_name);
        words = words.strip_prefix('>').filter(|rest| !rest.contains('\n')).unwrap_or(words).trim();
        if words == before {
            break;
        }
    }
    words.to_owned()
}

fn without_code(text: &str) -> &str {
    let fenced = text.strip_prefix(FENCE).and_then(|rest| rest.strip_suffix(FENCE));
    if let Some(inner) = fenced.filter(|inner| !inner.contains(FENCE)) {
        let is_language = |line: &str| !line.contains(char::is_whitespace);
        return inner.split_once('\n').filter(|(line, _)| is_language(line)).map_or(inner, |(_, body)| body).trim();
    }
    let inner = text.trim_matches('`');
    if text.starts_with('`') && text.ends_with('`') && !inner.contains('`') { inner.trim() } else { text }
}

/// Without `@mia` or `<@U123>` before the words.
fn without_mention(text: &str) -> &str {
    if !text.starts_with('@') && !text.starts_with("<@") {
        return text;
    }
    text.split_once([' ', '\n']).map_or(text, |(_, rest)| rest.trim())
}

fn without_label<'a>(text: &'a str, is_name: &dyn Fn(&str) -> bool) -> &'a str {
    let Some((label, rest)) = text.split_once(':') else { return text };
    let label = label.trim_matches(['*', '_', '@', ' ', '[', ']', '<', '>']);
    let is_label = LABELS.contains(&label.to_lowercase().as_str()) || is_name(label);
    // `**mia:** words`: the marks that were opened before the name end after the colon.
    if is_label { rest.trim_start_matches(['*', '_']).trim() } else { text }
}

/// The single word that the whole text repeats.
pub(super) fn repeated(words: &str) -> Option<&str> {
    let mut all = words.split(' ').map(|word| word.trim_end_matches(['.', ',', '!']));
    let first = all.next()?;
    let mut others = 0;
    all.all(|word| {
        others += 1;
        word == first
    })
    .then_some(first)
    .filter(|_| others > 0)
}

/// Without emoji around it.
pub(super) fn without_emoji(words: &str) -> &str {
    words.trim_matches(|c: char| c == ' ' || (c >= '\u{2190}' && !c.is_alphanumeric()))
}

/// The fields of an object that would contain an answer, or the decision to give one.
const ANSWERS: [&str; 6] = ["reply", "response", "answer", "message", "text", "content"];
const DECISIONS: [&str; 4] = ["action", "decision", "respond", "speak"];

/// Whether it is a JSON object without an answer: `{"reply": null}`, `{"action": "silent"}`.
pub(super) fn is_empty_object(text: &str, is_nothing: impl Fn(&str) -> bool) -> bool {
    if !text.starts_with('{') {
        return false;
    }
    let Ok(Value::Object(fields)) = serde_json::from_str(text) else { return false };
    let mut known = fields.iter().filter(|(name, _)| {
        let name = name.to_lowercase();
        ANSWERS.contains(&name.as_str()) || DECISIONS.contains(&name.as_str())
    });
    let is_empty = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.trim().is_empty() || is_nothing(text),
        Value::Bool(true) | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    };
    known.clone().next().is_some() && known.all(|(_, value)| is_empty(value))
}
