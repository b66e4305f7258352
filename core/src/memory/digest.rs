//! Parses a model's summary, or the facts and notes of its reflection. Lenient with the form, strict with the sources.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::words::{normal, search_words};
use super::{EchoedMessage, FactDraft, FactId, Note, Origin};
use crate::types::{MessageId, PersonId, Time};

/// A line of the talk that the model was shown, numbered from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct DigestLine {
    pub message: MessageId,
    pub person: PersonId,
    pub name: Box<str>,
    pub text: Box<str>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    pub summary: Box<str>,
    pub mood: Box<str>,
    pub topics: Vec<Box<str>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reflection {
    pub facts: Vec<FactDraft>,
    pub people: Vec<Note>,
}

const SUMMARY_CHARS: usize = 1000;
const MOOD_CHARS: usize = 80;
const WORD_CHARS: usize = 40;
const WORDS_MAX: usize = 12;
const CONTENT_CHARS: usize = 300;
const FACTS_MAX: usize = 20;
const PEOPLE_MAX: usize = 20;
const NOTES_MAX: usize = 5;
const SHORT_WORD: usize = 3;
/// If the model does not say.
const CONFIDENCE: f64 = 0.5;

/// `Err` says what is wrong with the answer.
pub fn read_summary(answer: &str) -> Result<Summary, String> {
    let object = object(answer)?;
    let summary = text(&object, &["summary", "要約"], SUMMARY_CHARS).ok_or("there is no summary in it")?;
    let mood = text(&object, &["mood", "雰囲気"], MOOD_CHARS).unwrap_or_default();
    let topics = words(&object, &["topic_keywords", "topics", "keywords", "話題"]);
    Ok(Summary { summary, mood, topics })
}

/// Finds the sources of each fact among the lines that were shown; a fact without a source is dropped. `known` are the
/// facts that were shown as known and may be replaced.
pub fn read_reflection(
    answer: &str,
    lines: &[DigestLine],
    known: &[FactId],
    origin: &Origin,
    at: Time,
) -> Result<Reflection, String> {
    let object = object(answer)?;
    let list = |key: &str| object.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if !object.contains_key("facts") && !object.contains_key("people") {
        return Err("there are neither facts nor people in it".into());
    }
    let fact = |value: &Value| draft(value.as_object()?, lines, known, origin, at);
    let facts = list("facts").iter().filter_map(fact).take(FACTS_MAX).collect();
    let people = list("people").iter().filter_map(|value| note(value.as_object()?, lines)).take(PEOPLE_MAX).collect();
    Ok(Reflection { facts, people })
}

fn draft(
    value: &Map<String, Value>,
    lines: &[DigestLine],
    known: &[FactId],
    origin: &Origin,
    at: Time,
) -> Option<FactDraft> {
    let content = text(value, &["content", "fact", "text"], CONTENT_CHARS)?;
    let mut messages = named_messages(value, lines);
    if messages.is_empty() {
        messages.extend(most_like(&content, lines));
    }
    if messages.is_empty() {
        return None;
    }
    let mut people: Vec<PersonId> = named_people(value, lines);
    for line in lines.iter().filter(|line| messages.contains(&line.message)) {
        if !people.contains(&line.person) {
            people.push(line.person.clone());
        }
    }
    let confidence = match value.get("confidence") {
        Some(Value::Number(number)) => number.as_f64().unwrap_or(CONFIDENCE),
        Some(Value::String(text)) => text.trim().parse().unwrap_or(CONFIDENCE),
        _ => CONFIDENCE,
    };
    let replaces = value.get("replaces").and_then(number).map(FactId).filter(|id| known.contains(id));
    Some(FactDraft {
        origin: origin.clone(),
        content,
        keywords: words(value, &["keywords"]),
        people,
        messages,
        context: Vec::new(),
        confidence: if confidence.is_finite() { confidence.clamp(0.0, 1.0) } else { CONFIDENCE },
        shareable: value.get("shareable").is_some_and(|value| *value == Value::Bool(true)),
        at,
        replaces,
    })
}

fn note(value: &Map<String, Value>, lines: &[DigestLine]) -> Option<Note> {
    let named = ["person", "id", "name"].iter().find_map(|key| value.get(*key)?.as_str());
    let person = person_called(named?, lines)?;
    let own = || lines.iter().filter(|line| line.person == person).map(|line| line.message.clone());
    let mut messages = named_messages(value, lines);
    if messages.is_empty() {
        messages = own().collect();
    }
    let (tags, notes) = (words(value, &["tags"]), texts(value, &["notes", "note"], CONTENT_CHARS, NOTES_MAX));
    let last_talk = text(value, &["last_talk"], CONTENT_CHARS);
    let echoes = echoed(tags.iter().chain(&notes).chain(&last_talk).map(|text| &**text), lines);
    let note = Note { tags, notes, last_talk, person, messages, echoes };
    let says_something = !note.tags.is_empty() || !note.notes.is_empty() || note.last_talk.is_some();
    says_something.then_some(note)
}

/// The lines that share a word with one of these texts. Short words do not identify a source.
fn echoed<'a>(texts: impl Iterator<Item = &'a str>, lines: &[DigestLine]) -> Vec<EchoedMessage> {
    let tells = |word: &String| !word.is_ascii() || word.len() > SHORT_WORD;
    let noted: BTreeSet<String> = texts.flat_map(search_words).filter(tells).collect();
    let echoes = lines.iter().filter(|line| search_words(&line.text).iter().any(|word| noted.contains(word)));
    echoes.map(|line| EchoedMessage { message: line.message.clone(), person: line.person.clone() }).collect()
}

/// By id or by line number: 3, "3", "#3", "m17".
fn named_messages(value: &Map<String, Value>, lines: &[DigestLine]) -> Vec<MessageId> {
    let mut found: Vec<MessageId> = Vec::new();
    let named = ["messages", "sources", "lines"].iter().find_map(|key| value.get(*key));
    let single = named.map(std::slice::from_ref).unwrap_or_default();
    let named = named.and_then(Value::as_array).map_or(single, Vec::as_slice);
    for name in named {
        let by_id = name.as_str().and_then(|id| lines.iter().find(|line| line.message.as_str() == id));
        let by_number = || lines.get(usize::try_from(number(name)?).ok()?.checked_sub(1)?);
        if let Some(line) = by_id.or_else(by_number)
            && !found.contains(&line.message)
        {
            found.push(line.message.clone());
        }
    }
    found
}

fn named_people(value: &Map<String, Value>, lines: &[DigestLine]) -> Vec<PersonId> {
    let mut found = Vec::new();
    for name in value.get("people").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        if let Some(person) = person_called(name, lines).filter(|person| !found.contains(person)) {
            found.push(person);
        }
    }
    found
}

/// By id, or by a name that only one of them has.
fn person_called(name: &str, lines: &[DigestLine]) -> Option<PersonId> {
    if let Some(line) = lines.iter().find(|line| line.person.as_str() == name) {
        return Some(line.person.clone());
    }
    let name = normal(name.trim().trim_start_matches('@'));
    let mut called = lines.iter().filter(|line| normal(&line.name) == name).map(|line| &line.person);
    let first = called.next()?;
    called.all(|other| other == first).then(|| first.clone())
}

/// The line that shares most words with a text; `None` if no line shares any.
fn most_like(content: &str, lines: &[DigestLine]) -> Option<MessageId> {
    let content = search_words(content);
    let shared = |line: &DigestLine| search_words(&line.text).iter().filter(|word| content.contains(word)).count();
    let best = lines.iter().map(|line| (shared(line), line)).max_by_key(|(shared, _)| *shared)?;
    (best.0 > 0).then(|| best.1.message.clone())
}

/// The first JSON object in an answer, whatever is around it.
fn object(answer: &str) -> Result<Map<String, Value>, String> {
    for (start, _) in answer.match_indices('{').take(20) {
        let mut values = serde_json::Deserializer::from_str(&answer[start..]).into_iter::<Value>();
        if let Some(Ok(Value::Object(object))) = values.next() {
            return Ok(object);
        }
    }
    Err("there is no JSON object in it".into())
}

fn text(object: &Map<String, Value>, keys: &[&str], chars_max: usize) -> Option<Box<str>> {
    let text = keys.iter().find_map(|key| object.get(*key)?.as_str())?;
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: String = one_line.chars().filter(|c| !c.is_control()).take(chars_max).collect();
    (!text.trim().is_empty()).then(|| text.trim().into())
}

/// A list of texts, or one text that is split at commas.
fn texts(object: &Map<String, Value>, keys: &[&str], chars_max: usize, count: usize) -> Vec<Box<str>> {
    let Some(value) = keys.iter().find_map(|key| object.get(*key)) else { return Vec::new() };
    let parts: Vec<String> = match value {
        Value::Array(list) => list.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect(),
        Value::String(text) => vec![text.clone()],
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    };
    let mut found: Vec<Box<str>> = Vec::new();
    for part in parts {
        let one_line = part.split_whitespace().collect::<Vec<_>>().join(" ");
        let part: String = one_line.chars().filter(|c| !c.is_control()).take(chars_max).collect();
        if !part.is_empty() && found.len() < count && !found.iter().any(|known| **known == *part) {
            found.push(part.into());
        }
    }
    found
}

fn words(object: &Map<String, Value>, keys: &[&str]) -> Vec<Box<str>> {
    match keys.iter().find_map(|key| object.get(*key)) {
        Some(Value::String(text)) => {
            let list = text.split([',', '、', '，']).map(|part| Value::String(part.to_owned())).collect();
            let object = Map::from_iter([("words".to_owned(), Value::Array(list))]);
            texts(&object, &["words"], WORD_CHARS, WORDS_MAX)
        }
        _ => texts(object, keys, WORD_CHARS, WORDS_MAX),
    }
}

fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.trim().trim_start_matches(['#', 'F', 'f', 'L', 'l']).parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Visibility;

    fn lines() -> Vec<DigestLine> {
        let line = |(at, name, text): (usize, &str, &str)| DigestLine {
            message: MessageId::new(format!("m{at}")),
            person: PersonId::new(format!("web:{name}")),
            name: name.into(),
            text: text.into(),
        };
        [(1, "ann", "the door code is 4711 now"), (2, "bob", "thanks"), (3, "bob", "I moved to Osaka")].map(line).into()
    }

    fn reflected(answer: &str) -> Result<Reflection, String> {
        let origin = Origin::new("web:lobby", Visibility::Public);
        read_reflection(answer, &lines(), &[FactId(7)], &origin, Time(9))
    }

    #[test]
    fn a_summary_is_read_whatever_stands_around_it() {
        let answer = "Sure!\n```json\n{\"summary\": \"Two people\\nmeet.\", \"mood\": \"calm\", \"topic_keywords\": \"tea, 本、x\"}\n```";
        let summary = read_summary(answer).unwrap();
        assert_eq!((&*summary.summary, &*summary.mood), ("Two people meet.", "calm"));
        assert_eq!(summary.topics, ["tea".into(), "本".into(), "x".into()]);
        let long = format!("{{\"summary\": \"{}\"}}", "あ".repeat(9000));
        assert_eq!(read_summary(&long).unwrap().summary.chars().count(), SUMMARY_CHARS);
        for odd in ["", "no", "{", "[]", "{\"mood\": \"x\"}", "{\"summary\": \"  \"}", "{\"summary\": 7}"] {
            assert!(read_summary(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn facts_rest_on_messages_and_their_authors() {
        let answer = r##"{"facts": [
            {"content": "The door code is 4711", "keywords": ["door", "code"], "messages": ["#1"], "confidence": 3, "replaces": "F7"},
            {"content": "Bob lives in Osaka", "people": ["ann"], "messages": ["m3", 99], "shareable": true, "replaces": 8},
            {"content": "Somebody moved to Osaka", "confidence": "0.7"},
            {"content": "Nothing of this was said"}, {"keywords": []}, 7], "people": []}"##;
        let facts = reflected(answer).unwrap().facts;
        assert_eq!(facts.len(), 3);
        assert_eq!((facts[0].messages[0].as_str(), facts[0].confidence), ("m1", 1.0));
        assert_eq!((facts[0].people[0].as_str(), facts[0].replaces), ("web:ann", Some(FactId(7))));
        assert_eq!(facts[1].people, [PersonId::new("web:ann"), PersonId::new("web:bob")]);
        assert_eq!((facts[1].shareable, facts[1].replaces), (true, None));
        assert_eq!((facts[2].messages[0].as_str(), facts[2].confidence), ("m3", 0.7));
    }

    #[test]
    fn notes_are_about_who_was_there() {
        let answer = r#"{"people": [{"name": "@Bob", "tags": ["mover"], "notes": "likes Osaka", "last_talk": "moving"},
            {"name": "carol", "tags": ["ghost"]}, {"name": "ann"}]}"#;
        let people = reflected(answer).unwrap().people;
        assert_eq!(people.len(), 1);
        assert_eq!((people[0].person.as_str(), people[0].messages.len()), ("web:bob", 2));
        assert_eq!(people[0].notes, ["likes Osaka".into()]);
        assert!(!people[0].echoes.is_empty(), "Osaka was spoken of: {:?}", people[0]);
        for odd in ["", "{\"fact\": 1}", "I could not."] {
            assert!(reflected(odd).is_err(), "{odd}");
        }
        assert_eq!(reflected("{\"facts\": []}"), Ok(Reflection::default()));
    }

    proptest::proptest! {
        #[test]
        fn whatever_a_model_says_is_read_or_refused(
            text in ".*",
            shaped in r#"\{"facts": \[\{"content": "[^"\\]{0,400}", "messages": \[[0-9]{1,25}, "m[0-9]"\], "replaces": "F[0-9]{1,25}"\}\]\}"#,
        ) {
            for answer in [&text, &shaped] {
                let _ = read_summary(answer);
                for fact in reflected(answer).map(|reflection| reflection.facts).unwrap_or_default() {
                    assert!(!fact.messages.is_empty() && !fact.people.is_empty());
                    assert!(fact.content.chars().count() <= CONTENT_CHARS && !fact.content.contains('\n'));
                }
            }
        }
    }
}
