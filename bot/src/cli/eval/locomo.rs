//! Conversations with questions about them, in the LoCoMo format.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use serde::Deserialize;
use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    pub turns: Vec<EvalTurn>,
    pub questions: Vec<EvalQuestion>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalTurn {
    pub id: String,
    pub speaker: String,
    pub text: String,
    /// A description of the picture that came with it.
    pub picture: String,
    pub session: u32,
    /// When the session was, in words.
    pub when: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalQuestion {
    pub text: String,
    /// The turns that answer it, without duplicates.
    pub evidence: Vec<String>,
    pub category: u64,
}

#[derive(Deserialize)]
struct RawSample {
    conversation: BTreeMap<String, Value>,
    #[serde(default)]
    qa: Vec<RawQuestion>,
}

#[derive(Deserialize)]
struct RawTurn {
    speaker: String,
    dia_id: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    blip_caption: Option<String>,
    /// The search query the picture was found with.
    #[serde(default)]
    query: Option<String>,
}

#[derive(Deserialize)]
struct RawQuestion {
    question: String,
    #[serde(default)]
    evidence: Value,
    #[serde(default)]
    category: Value,
}

pub fn read(text: &str) -> anyhow::Result<Vec<Sample>> {
    let samples: Vec<RawSample> =
        serde_json::from_str(text).context("expected a list of conversations in the LoCoMo format")?;
    if samples.is_empty() {
        bail!("the file has no conversation");
    }
    samples
        .into_iter()
        .enumerate()
        .map(|(at, raw)| sample(raw).with_context(|| format!("conversation {}", at + 1)))
        .collect()
}

fn sample(raw: RawSample) -> anyhow::Result<Sample> {
    let mut sessions: Vec<(u32, Vec<RawTurn>)> = Vec::new();
    for (key, value) in &raw.conversation {
        let number = key.strip_prefix("session_").and_then(|number| number.parse().ok());
        if let Some(number) = number.filter(|_| value.is_array()) {
            let turns = serde_json::from_value(value.clone()).with_context(|| key.clone())?;
            sessions.push((number, turns));
        }
    }
    sessions.sort_by_key(|(number, _)| *number);
    let mut turns = Vec::new();
    for (session, said) in sessions {
        let when = raw.conversation.get(&format!("session_{session}_date_time")).and_then(Value::as_str).unwrap_or("");
        turns.extend(said.into_iter().map(|turn| EvalTurn {
            id: turn.dia_id,
            speaker: turn.speaker,
            text: turn.text.unwrap_or_default(),
            picture: [turn.blip_caption, turn.query].into_iter().flatten().collect::<Vec<_>>().join(" "),
            session,
            when: when.to_owned(),
        }));
    }
    if turns.is_empty() {
        bail!("the conversation has no session");
    }
    Ok(Sample { turns, questions: raw.qa.into_iter().map(question).collect() })
}

fn question(raw: RawQuestion) -> EvalQuestion {
    let listed: Vec<&str> = match &raw.evidence {
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
        Value::String(text) => vec![text],
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    };
    let mut evidence: Vec<String> = Vec::new();
    for id in listed.iter().flat_map(|text| text.split([';', ',', ' '])).filter_map(turn_id) {
        if !evidence.contains(&id) {
            evidence.push(id);
        }
    }
    let category = raw.category.as_u64().or_else(|| raw.category.as_str()?.parse().ok()).unwrap_or_default();
    EvalQuestion { text: raw.question, evidence, category }
}

/// Normalizes an id such as D1:03 to D1:3; anything else is skipped.
fn turn_id(text: &str) -> Option<String> {
    let (session, turn) = text.trim().trim_matches(['(', ')', '.']).strip_prefix('D')?.split_once(':')?;
    let (session, turn): (u32, u32) = (session.parse().ok()?, turn.parse().ok()?);
    Some(format!("D{session}:{turn}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_read_in_their_order_and_evidence_in_every_form() {
        let text = r#"[{"sample_id": "x", "conversation": {"speaker_a": "A", "session_10": [{"speaker": "A", "dia_id": "D10:1", "text": "late"}],
            "session_2_date_time": "1:00 pm on 8 May, 2023", "session_2": [{"speaker": "B", "dia_id": "D2:1", "blip_caption": "a cat", "query": "kitten", "img_url": []}],
            "session_3_date_time": "never"},
            "qa": [{"question": "q", "answer": 3, "evidence": ["D2:01; D10:1", "D2:1 D30:05", "D", "", 7], "category": 2}, {"question": "r", "category": "5"}]}]"#;
        let sample = read(text).unwrap().remove(0);
        assert_eq!(sample.turns.iter().map(|turn| turn.id.as_str()).collect::<Vec<_>>(), ["D2:1", "D10:1"]);
        assert_eq!(
            (sample.turns[0].picture.as_str(), sample.turns[0].when.as_str()),
            ("a cat kitten", "1:00 pm on 8 May, 2023")
        );
        assert_eq!(sample.questions[0].evidence, ["D2:1", "D10:1", "D30:5"]);
        assert_eq!((sample.questions[1].evidence.len(), sample.questions[1].category), (0, 5));
        for odd in ["", "{}", "[]", "[{}]", "[{\"conversation\": {}}]"] {
            assert!(read(odd).is_err(), "{odd}");
        }
    }
}
