//! Parses a model's answer. Models wrap JSON in prose and fences, change case, add fields; an answer that still does not
//! say yes or no is a failure, never a guess.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::phrases::trim;
use crate::settings::JudgeStyle;
use crate::types::{Kind, Question, Span, State};

#[derive(Clone, Debug, PartialEq)]
pub enum Parsed {
    State(State),
    Same(bool),
    Changed(bool),
    Verdict(Verdict),
}

/// A judge's decision with everything it said besides yes or no.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    pub respond: bool,
    pub reason: Box<str>,
    pub delay: Span,
    pub kind: Option<Kind>,
    pub confidence: Option<f64>,
    pub state: Option<State>,
    pub same: Option<bool>,
    pub changed: Option<bool>,
    /// The reaction it proposes, unchecked: any text.
    pub emoji: Option<Box<str>>,
    /// The number of the line it replies to, unchecked: any number; the first line is 1.
    pub quote: Option<u32>,
}

/// `Err` says what was wrong with the answer.
pub fn parse(style: JudgeStyle, question: Question, answer: &str) -> Result<Parsed, String> {
    match (question, style) {
        (Question::State, _) => Ok(Parsed::State(state_by_prefix(answer).unwrap_or(State::Active))),
        (Question::Same, _) => Ok(Parsed::Same(starts_with(answer, "SAME"))),
        (Question::Changed, _) => Ok(Parsed::Changed(starts_with(answer, "CHANGED"))),
        (Question::Judge, JudgeStyle::Ladder) => {
            Ok(Parsed::Verdict(Verdict { respond: starts_with(answer, "YES"), ..Verdict::default() }))
        }
        (Question::Judge, JudgeStyle::Delay) => {
            fields(answer, "should_respond").and_then(|f| f.verdict()).map(Parsed::Verdict)
        }
        (Question::Judge | Question::Join, _) => {
            fields(answer, "respond").and_then(|f| f.verdict()).map(Parsed::Verdict)
        }
    }
}

/// Upper case as in Python, where a letter may become several.
fn starts_with(answer: &str, word: &str) -> bool {
    trim(answer).to_uppercase().starts_with(word)
}

fn state_by_prefix(answer: &str) -> Option<State> {
    State::ALL.into_iter().find(|state| starts_with(answer, state.word()))
}

/// The answer's object, by field names without case and underscores: models write `shouldRespond` too.
struct Fields {
    fields: Map<String, Value>,
    decisive: &'static str,
}

fn plain_name(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn fields(answer: &str, decisive: &'static str) -> Result<Fields, String> {
    if trim(answer).is_empty() {
        return Err("an empty answer".into());
    }
    let wanted = plain_name(decisive);
    let found = objects(answer).into_iter().rfind(|object| object.keys().any(|key| plain_name(key) == wanted));
    let object = found.ok_or_else(|| format!("no JSON object with `{decisive}` in it"))?;
    let fields = object.into_iter().map(|(key, value)| (plain_name(&key), value)).collect();
    Ok(Fields { fields, decisive })
}

/// No model needs more space, or more attempts, to say yes or no.
const ANSWER_BYTES_MAX: usize = 32 * 1024;
const OBJECTS_MAX: usize = 64;

/// The objects in a text, in order; a list of one object counts as that object.
fn objects(answer: &str) -> Vec<Map<String, Value>> {
    let mut rest = &answer[..answer.floor_char_boundary(ANSWER_BYTES_MAX)];
    let mut found = Vec::new();
    for _ in 0..OBJECTS_MAX {
        let Some(start) = rest.find(['{', '[']) else { break };
        rest = &rest[start..];
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let length = match stream.next() {
            Some(Ok(Value::Object(object))) => {
                found.push(object);
                stream.byte_offset()
            }
            Some(Ok(Value::Array(mut list))) => {
                if let (1, Some(Value::Object(object))) = (list.len(), list.pop()) {
                    found.push(object);
                }
                stream.byte_offset()
            }
            _ => 1,
        };
        rest = &rest[length..];
    }
    found
}

impl Fields {
    fn get(&self, name: &str) -> Option<&Value> {
        self.fields.get(&plain_name(name)).filter(|value| !value.is_null())
    }

    fn wrong(name: &str, value: &Value) -> String {
        let shown: String = value.to_string().chars().take(40).collect();
        format!("`{name}` is {shown}")
    }

    fn truth(&self, name: &str) -> Result<Option<bool>, String> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let said = match value {
            Value::Bool(truth) => Some(*truth),
            Value::Number(number) if number.as_u64() == Some(1) => Some(true),
            Value::Number(number) if number.as_u64() == Some(0) => Some(false),
            Value::String(word) => match trim(word).to_lowercase().as_str() {
                "true" | "yes" => Some(true),
                "false" | "no" => Some(false),
                _ => None,
            },
            Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
        };
        said.map(Some).ok_or_else(|| Self::wrong(name, value))
    }

    /// One of two words, or a boolean.
    fn either(&self, name: &str, yes: &str, no: &str) -> Result<Option<bool>, String> {
        match self.get(name).and_then(Value::as_str) {
            Some(word) if trim(word).eq_ignore_ascii_case(yes) => Ok(Some(true)),
            Some(word) if trim(word).eq_ignore_ascii_case(no) => Ok(Some(false)),
            _ => self.truth(name),
        }
    }

    /// A number, also as a string.
    fn number(&self, name: &str) -> Result<Option<f64>, String> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let number = value.as_f64().or_else(|| trim(value.as_str()?).parse().ok());
        number.filter(|number| number.is_finite()).map(Some).ok_or_else(|| Self::wrong(name, value))
    }

    fn text(&self, name: &str) -> Box<str> {
        self.get(name).and_then(Value::as_str).unwrap_or_default().into()
    }

    fn delay(&self) -> Result<Span, String> {
        let seconds = self.number("delay_seconds")?.unwrap_or(0.0);
        if seconds < 0.0 || seconds.fract() != 0.0 {
            return Err(format!("`delay_seconds` is {seconds}"));
        }
        Ok(Span::seconds(seconds as u64))
    }

    fn kind(&self) -> Result<Option<Kind>, String> {
        let Some(value) = self.get("kind") else { return Ok(None) };
        match plain_name(value.as_str().unwrap_or_default()).as_str() {
            "reaction" | "react" | "reactonly" | "emoji" => Ok(Some(Kind::Reaction)),
            "acknowledgement" | "acknowledgment" | "acknowledge" | "ack" | "shortack" | "word" | "short" => {
                Ok(Some(Kind::Acknowledgement))
            }
            "full" | "answer" | "reply" | "fullresponse" => Ok(Some(Kind::Full)),
            "none" | "" => Ok(None),
            _ => Err(Self::wrong("kind", value)),
        }
    }

    fn state(&self) -> Result<Option<State>, String> {
        let Some(value) = self.get("state") else { return Ok(None) };
        let word = value.as_str().unwrap_or_default();
        state_by_prefix(word).map(Some).ok_or_else(|| Self::wrong("state", value))
    }

    /// Never a failure: without one it is drawn.
    fn emoji(&self) -> Option<Box<str>> {
        let said = trim(self.get("emoji")?.as_str()?);
        (!said.is_empty() && !said.eq_ignore_ascii_case("none")).then(|| said.into())
    }

    /// Never a failure either: without one it is the message that gave the reason.
    fn quote(&self) -> Option<u32> {
        let number = self.number("quote").ok().flatten()?;
        (number.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&number)).then_some(number as u32)
    }

    fn verdict(&self) -> Result<Verdict, String> {
        let respond = self.truth(self.decisive)?.ok_or_else(|| format!("`{}` is null", self.decisive))?;
        if !respond {
            // For a no, nothing else matters except the state that the judge saw.
            let state = self.state().ok().flatten();
            return Ok(Verdict { reason: self.text("reason"), state, ..Verdict::default() });
        }
        let confidence = self.number("confidence")?;
        if let Some(odd) = confidence.filter(|confidence| !(0.0..=1.0).contains(confidence)) {
            return Err(format!("`confidence` is {odd}"));
        }
        Ok(Verdict {
            respond,
            reason: self.text("reason"),
            delay: self.delay()?,
            kind: self.kind()?,
            confidence,
            state: self.state()?,
            same: self.either("same", "same", "different")?,
            changed: self.either("changed", "changed", "unchanged")?,
            emoji: self.emoji(),
            quote: self.quote(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delay_style(answer: &str) -> Result<Verdict, String> {
        verdict(JudgeStyle::Delay, Question::Judge, answer)
    }

    fn verdict(style: JudgeStyle, question: Question, answer: &str) -> Result<Verdict, String> {
        parse(style, question, answer).map(|parsed| match parsed {
            Parsed::Verdict(verdict) => verdict,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn one_word_answers_go_by_their_beginning() {
        let state = |answer| parse(JudgeStyle::Ladder, Question::State, answer).unwrap();
        assert_eq!(state("  ending."), Parsed::State(State::Ending));
        assert_eq!(state("Misunderstanding: they ..."), Parsed::State(State::Misunderstanding));
        assert_eq!(state("CONFLICT"), Parsed::State(State::Conflict));
        for other in ["", "active", "The state is ENDING", "終了"] {
            assert_eq!(state(other), Parsed::State(State::Active), "{other}");
        }
        let same = |answer| parse(JudgeStyle::Ladder, Question::Same, answer).unwrap();
        assert_eq!((same("same"), same("I think SAME")), (Parsed::Same(true), Parsed::Same(false)));
        let changed = |answer| parse(JudgeStyle::Ladder, Question::Changed, answer).unwrap();
        assert_eq!((changed("Changed."), changed("UNCHANGED")), (Parsed::Changed(true), Parsed::Changed(false)));
        let ladder = |answer| verdict(JudgeStyle::Ladder, Question::Judge, answer).unwrap().respond;
        assert!(ladder("Yes, because") && !ladder("no") && !ladder("") && !ladder("**YES**"));
    }

    #[test]
    fn json_is_found_in_every_wrapping() {
        for answer in [
            r#"{"should_respond": true, "reason": "r", "confidence": 0.9, "delay_seconds": 30}"#,
            "Sure! Here it is:\n```json\n{\"should_respond\": true, \"reason\": \"r\", \"delay_seconds\": 30.0}\n```\nBye {x}",
            r#"[{"should_respond": "Yes", "reason": "r", "delay_seconds": "30", "mood": {"a": [1]}}]"#,
            r#"{"ShouldRespond": true, "Reason": "r", "delaySeconds": 30}"#,
            r#"First I thought {"should_respond": false}, but: {"should_respond": true, "reason": "r", "delay_seconds": 30}"#,
        ] {
            let verdict = delay_style(answer).unwrap();
            assert_eq!((verdict.respond, &*verdict.reason, verdict.delay), (true, "r", Span::seconds(30)), "{answer}");
        }
    }

    #[test]
    fn what_says_neither_yes_nor_no_is_a_failure() {
        for answer in [
            "",
            "  ",
            "yes",
            "null",
            "[]",
            "{}",
            r#"{"respond": true}"#,
            r#"{"should_respond": null}"#,
            r#"{"should_respond": "maybe"}"#,
            r#"{"should_respond": 2}"#,
            r#"{"should_respond": true, "delay_seconds": -1}"#,
            r#"{"should_respond": true, "delay_seconds": 1.5}"#,
            r#"{"should_respond": true, "confidence": 1.5}"#,
            r#"{"should_respond": true, "delay_seconds": "soon"}"#,
            r#"{"should_respond": tru"#,
            r#"[{"should_respond": true}, {"should_respond": false}]"#,
        ] {
            assert!(delay_style(answer).is_err(), "{answer}");
        }
    }

    #[test]
    fn no_delay_and_null_mean_now() {
        for answer in [r#"{"should_respond": true}"#, r#"{"should_respond": true, "delay_seconds": null}"#] {
            assert_eq!(delay_style(answer).unwrap().delay, Span::ZERO);
        }
        assert!(!delay_style(r#"{"should_respond": false, "delay_seconds": -5}"#).unwrap().respond);
    }

    #[test]
    fn the_fused_question_answers_everything_at_once() {
        let answer = r#"{"state": "conflict", "same": "DIFFERENT", "changed": true, "respond": true, "kind": "ack", "delay_seconds": 0, "confidence": 1, "reason": "x"}"#;
        let verdict = verdict(JudgeStyle::Join, Question::Join, answer).unwrap();
        assert_eq!(verdict.state, Some(State::Conflict));
        assert_eq!(
            (verdict.same, verdict.changed, verdict.kind),
            (Some(false), Some(true), Some(Kind::Acknowledgement))
        );
    }

    #[test]
    fn an_odd_emoji_or_quote_does_not_spoil_a_verdict() {
        let said = |fields: &str| {
            let answer = format!(r#"{{"respond": true, "kind": "reaction", {fields}}}"#);
            let verdict = verdict(JudgeStyle::Join, Question::Join, &answer).unwrap();
            (verdict.emoji, verdict.quote)
        };
        assert_eq!(said(r#""emoji": " 👍 ", "quote": 3"#), (Some("👍".into()), Some(3)));
        assert_eq!(said(r#""emoji": "none", "quote": "[3]""#), (None, None));
        for odd in ["0", "-1", "1.5", "1e300", "null", "[2]", "\"x\""] {
            assert_eq!(said(&format!(r#""emoji": 7, "quote": {odd}"#)), (None, None), "{odd}");
        }
    }

    #[test]
    fn braces_without_end_take_no_time() {
        assert!(delay_style(&"{\"a\":".repeat(100_000)).is_err());
        assert!(delay_style(&"[".repeat(1_000_000)).is_err());
    }
}
