//! Who judges in a replay: nobody, everybody's friend, a script, or the record itself.

use std::str::FromStr;

use aizuchi_core::Policies;
use aizuchi_core::sim::{ScriptLine, StandIn};
use aizuchi_core::types::Span;
use anyhow::Context as _;
use serde::Deserialize;
use serde_json::Value;

/// `--judge`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judge {
    No,
    Yes,
    Script(String),
    /// As it was answered when it was recorded; only a journal knows.
    Recorded,
}

impl FromStr for Judge {
    type Err = String;

    fn from_str(text: &str) -> Result<Judge, String> {
        match text {
            "no" => Ok(Judge::No),
            "yes" => Ok(Judge::Yes),
            "recorded" => Ok(Judge::Recorded),
            _ => match text.strip_prefix("script:") {
                Some(file) if !file.is_empty() => Ok(Judge::Script(file.to_owned())),
                _ => Err("expected no, yes or script:FILE; for a journal also recorded".into()),
            },
        }
    }
}

impl Judge {
    pub fn stand_in(&self, policies: &Policies) -> anyhow::Result<StandIn> {
        let script = match self {
            Judge::No | Judge::Yes | Judge::Recorded => Script::default(),
            Judge::Script(file) => {
                let text = std::fs::read_to_string(file).with_context(|| format!("can not read the script {file}"))?;
                Script::parse(&text).with_context(|| format!("the script {file}"))?
            }
        };
        Ok(StandIn::new(*self == Judge::Yes, script.0, policies))
    }
}

/// JSON Lines `{"question", "match"?, "answer" | "error", "latency_ms"?}`; the first match wins, and what matches
/// nothing is answered as by the judge that says no.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script(pub Vec<ScriptLine>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLine {
    question: String,
    #[serde(rename = "match")]
    holds: Option<String>,
    answer: Option<Value>,
    error: Option<Value>,
    #[serde(default)]
    latency_ms: f64,
}

const QUESTIONS: [&str; 7] = ["state", "same", "changed", "judge", "join", "write", "deliver"];

impl Script {
    pub fn parse(text: &str) -> anyhow::Result<Script> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let parse =
            |(number, line)| parse_line(line).map_err(|problem| anyhow::anyhow!("line {}: {problem}", number + 1));
        lines.map(parse).collect::<anyhow::Result<_>>().map(Script)
    }
}

fn parse_line(line: &str) -> Result<ScriptLine, String> {
    let raw: RawLine = serde_json::from_str(line).map_err(|error| error.to_string())?;
    if !QUESTIONS.contains(&raw.question.as_str()) {
        return Err(format!("`question` is {:?}; allowed is one of {}", raw.question, QUESTIONS.join(", ")));
    }
    let text = |value: Value| if let Value::String(text) = value { text } else { value.to_string() };
    let answer = match (raw.answer, raw.error) {
        (Some(answer), None) => Ok(text(answer)),
        (None, Some(error)) => Err(text(error)),
        _ => return Err("expected either `answer` or `error`".into()),
    };
    if !(0.0..=1e12).contains(&raw.latency_ms) {
        return Err(format!("`latency_ms` is {}; allowed is a number of milliseconds", raw.latency_ms));
    }
    Ok(ScriptLine { question: raw.question, holds: raw.holds, answer, latency: Span(raw.latency_ms as u64) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_answers_in_text_or_json_and_can_fail() {
        let script = Script::parse(
            "{\"question\": \"judge\", \"match\": \"誤解\", \"answer\": {\"respond\": true}, \"latency_ms\": 1500}\n\n{\"question\": \"state\", \"error\": true}",
        );
        let lines = script.unwrap().0;
        assert_eq!((lines[0].answer.as_deref(), lines[0].latency), (Ok("{\"respond\":true}"), Span(1500)));
        assert_eq!(lines[1].answer, Err("true".into()));
    }

    #[test]
    fn a_broken_script_is_told_with_its_line() {
        let told = |text: &str| Script::parse(text).unwrap_err().to_string();
        assert!(
            told("{\"question\": \"judge\", \"answer\": \"YES\"}\n{\"question\": \"juge\", \"answer\": \"\"}")
                .starts_with("line 2: `question` is \"juge\"")
        );
        assert!(told("{\"question\": \"judge\"}").contains("either `answer` or `error`"));
        assert!("maybe".parse::<Judge>().is_err());
    }
}
