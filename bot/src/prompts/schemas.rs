//! The JSON schemas of answers, as `aizuchi_core::judge::parse` reads them.
//!
//! Strict by every provider's rules: all fields required, no additional ones, no unions, no bounds. An optional value has a
//! word of its own instead. The reason comes before the decision, so that a model thinks before it decides.

use aizuchi_core::effect::Digesting;
use aizuchi_core::judge::{Question, State};
use aizuchi_core::settings::JudgeStyle;
use serde_json::{Value, json};

use crate::ports::Schema;

/// The schema of the answer, if it is more than a word. `emoji` are the reactions it may use.
pub fn schema_of(question: Question, style: JudgeStyle, emoji: &[String]) -> Option<Schema> {
    match (question, style) {
        (Question::State | Question::Same | Question::Changed, _) | (Question::Judge, JudgeStyle::Ladder) => None,
        (Question::Judge, JudgeStyle::Delay) => Some(Schema { name: "judgement", schema: delay() }),
        (Question::Judge, JudgeStyle::Join | JudgeStyle::Respond | JudgeStyle::None) => {
            Some(Schema { name: "decision", schema: respond() })
        }
        (Question::Join, _) => Some(Schema { name: "join", schema: join(emoji) }),
    }
}

/// The schema of a summary or reflection.
pub fn schema_of_digest(what: Digesting) -> Schema {
    match what {
        Digesting::Summary => Schema { name: "notes", schema: summary() },
        Digesting::Reflection => Schema { name: "reflection", schema: reflection() },
    }
}

fn list_of(items: &Value) -> Value {
    json!({"type": "array", "items": items})
}

fn summary() -> Value {
    let text = json!({"type": "string"});
    object(&[("summary", text.clone()), ("mood", text.clone()), ("topic_keywords", list_of(&text))])
}

fn reflection() -> Value {
    let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
    let fact = object(&[
        ("content", text.clone()),
        ("keywords", list_of(&text)),
        ("messages", list_of(&number)),
        ("confidence", json!({"type": "number", "description": "0.0 to 1.0"})),
        ("shareable", json!({"type": "boolean"})),
        ("replaces", json!({"type": "integer", "description": "0 is none"})),
    ]);
    let person = object(&[
        ("person", text.clone()),
        ("tags", list_of(&text)),
        ("notes", list_of(&text)),
        ("last_talk", text.clone()),
    ]);
    object(&[("facts", list_of(&fact)), ("people", list_of(&person))])
}

fn object(properties: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = properties.iter().map(|(name, _)| *name).collect();
    let fields: serde_json::Map<String, Value> =
        properties.iter().map(|(name, form)| ((*name).to_owned(), form.clone())).collect();
    json!({"type": "object", "properties": fields, "required": names, "additionalProperties": false})
}

fn one_of(words: &[&str]) -> Value {
    json!({"type": "string", "enum": words})
}

fn respond() -> Value {
    object(&[("reason", json!({"type": "string"})), ("respond", json!({"type": "boolean"}))])
}

fn delay() -> Value {
    object(&[
        ("reason", json!({"type": "string"})),
        ("should_respond", json!({"type": "boolean"})),
        ("confidence", json!({"type": "number", "description": "0.0 to 1.0"})),
        ("delay_seconds", json!({"type": "integer", "description": "0 is now"})),
    ])
}

fn join(emoji: &[String]) -> Value {
    let emoji: Vec<&str> = emoji.iter().map(String::as_str).chain(["none"]).collect();
    object(&[
        ("state", one_of(&State::ALL.map(State::word))),
        ("changed", one_of(&["CHANGED", "UNCHANGED"])),
        ("reason", json!({"type": "string"})),
        ("respond", json!({"type": "boolean"})),
        ("kind", one_of(&["full", "acknowledgement", "reaction", "none"])),
        ("emoji", one_of(&emoji)),
        ("quote", json!({"type": "integer", "description": "0 is the message the question is about"})),
        ("delay_seconds", json!({"type": "integer", "description": "0 is now"})),
        ("confidence", json!({"type": "number", "description": "0.0 to 1.0"})),
    ])
}

#[cfg(test)]
mod tests {
    use aizuchi_core::judge::{Parsed, parse};

    use super::*;

    /// Every answer the form allows, as far as words go.
    fn samples(schema: &Value) -> Vec<Value> {
        let fields = schema["properties"].as_object().expect("an object");
        let mut all = vec![json!({})];
        for (name, form) in fields {
            let values: Vec<Value> = match form["type"].as_str().expect("a type") {
                "string" => form["enum"].as_array().cloned().unwrap_or_else(|| vec![json!("because")]),
                "boolean" => vec![json!(true), json!(false)],
                "integer" => vec![json!(0), json!(600)],
                _ => vec![json!(0.0), json!(1)],
            };
            let with = |answer: &Value, value: &Value| {
                let mut answer = answer.clone();
                answer[name] = value.clone();
                answer
            };
            all = all.iter().flat_map(|answer| values.iter().map(move |value| with(answer, value))).collect();
        }
        all
    }

    #[test]
    fn whatever_a_form_allows_is_understood() {
        for (question, style) in [
            (Question::Judge, JudgeStyle::Respond),
            (Question::Judge, JudgeStyle::Delay),
            (Question::Join, JudgeStyle::Join),
        ] {
            let schema = schema_of(question, style, &["👍".to_owned(), "🍵".to_owned()]).expect("it is JSON").schema;
            let required = schema["required"].as_array().expect("a list").len();
            assert_eq!(required, schema["properties"].as_object().expect("fields").len());
            assert_eq!(schema["additionalProperties"], json!(false));
            for answer in samples(&schema) {
                let parsed = parse(style, question, &answer.to_string());
                let Ok(Parsed::Verdict(verdict)) = parsed else { panic!("{answer}: {parsed:?}") };
                let said = answer.get("respond").or(answer.get("should_respond"));
                assert_eq!(Some(&json!(verdict.respond)), said, "{answer}");
            }
        }
        for question in [Question::State, Question::Same, Question::Changed, Question::Judge] {
            assert_eq!(schema_of(question, JudgeStyle::Ladder, &[]), None);
        }
    }
}
