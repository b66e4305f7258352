//! Who judges in a replay: always no, always yes, a script, the recorded answers, the built-in model, or the real models.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Instant;

use aizuchi_core::Policies;
use aizuchi_core::effect::{Ask, Brief, Delivery, Failure, Remember, Usage};
use aizuchi_core::input::Answer;
use aizuchi_core::sim::{Oracle, ScriptLine, StandIn};
use aizuchi_core::types::{MessageId, Span};
use anyhow::Context as _;
use serde::Deserialize;
use serde_json::Value;

use crate::models::offline;
use crate::ports::{BoxFuture, ModelClient};

/// `--judge`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judge {
    No,
    Yes,
    Offline,
    Live,
    Script(String),
    /// The recorded answers; only a journal has them.
    Recorded,
}

impl FromStr for Judge {
    type Err = String;

    fn from_str(text: &str) -> Result<Judge, String> {
        match text {
            "no" => Ok(Judge::No),
            "yes" => Ok(Judge::Yes),
            "offline" => Ok(Judge::Offline),
            "live" => Ok(Judge::Live),
            "recorded" => Ok(Judge::Recorded),
            _ => match text.strip_prefix("script:") {
                Some(file) if !file.is_empty() => Ok(Judge::Script(file.to_owned())),
                _ => Err("expected no, yes, offline, live or script:FILE; for a journal also recorded".into()),
            },
        }
    }
}

impl Judge {
    /// The oracle that answers. `models` creates the real models, and is only called if they are needed.
    pub fn oracle(
        &self,
        policies: &Policies,
        models: impl FnOnce() -> anyhow::Result<Arc<dyn ModelClient>>,
    ) -> anyhow::Result<ReplayOracle> {
        let script = match self {
            Judge::No | Judge::Yes | Judge::Offline | Judge::Live | Judge::Recorded => Script::default(),
            Judge::Script(file) => {
                let text = std::fs::read_to_string(file).with_context(|| format!("cannot read the script {file}"))?;
                Script::parse(&text).with_context(|| format!("the script {file}"))?
            }
        };
        let stand_in = StandIn::new(*self == Judge::Yes, script.0, policies);
        let source = match self {
            Judge::No | Judge::Yes | Judge::Script(_) | Judge::Recorded => ModelSource::Scripted,
            Judge::Offline => ModelSource::Offline(Box::new(policies.clone())),
            Judge::Live => ModelSource::Live(Box::new(LiveModels::new(models()?, policies)?)),
        };
        Ok(ReplayOracle { stand_in, source })
    }
}

/// The oracle of a replay: posts are always delivered at once, and models answer as requested.
pub struct ReplayOracle {
    stand_in: StandIn,
    source: ModelSource,
}

enum ModelSource {
    Scripted,
    Offline(Box<Policies>),
    Live(Box<LiveModels>),
}

impl Oracle for ReplayOracle {
    fn judge(&mut self, ask: &Ask) -> (Span, Result<Answer, Failure>) {
        match &self.source {
            ModelSource::Scripted => self.stand_in.judge(ask),
            ModelSource::Offline(_) => (Span::ZERO, Ok(offline::answer(offline::judge(ask), &ask.transcript))),
            ModelSource::Live(live) => live.wait(|models, policies| models.judge(Box::new(ask.clone()), policies)),
        }
    }

    fn write(&mut self, brief: &Brief) -> (Span, Result<Answer, Failure>) {
        match &self.source {
            ModelSource::Scripted => self.stand_in.write(brief),
            ModelSource::Offline(policies) => {
                let language = &policies.for_room(brief.call.room.as_str()).settings.bot.language;
                (Span::ZERO, Ok(offline::answer(offline::write(brief, language), &brief.transcript)))
            }
            ModelSource::Live(live) => live.wait(|models, policies| models.write(Box::new(brief.clone()), policies)),
        }
    }

    fn deliver(&mut self, delivery: &Delivery) -> (Span, Result<Vec<MessageId>, Failure>) {
        self.stand_in.deliver(delivery)
    }

    fn remember(&mut self, remember: &Remember) -> (Span, Result<Usage, Failure>) {
        self.stand_in.remember(remember)
    }
}

/// Real models: in virtual time an answer takes as long as it really took.
struct LiveModels {
    runtime: tokio::runtime::Runtime,
    models: Arc<dyn ModelClient>,
    policies: Arc<Policies>,
}

impl LiveModels {
    fn new(models: Arc<dyn ModelClient>, policies: &Policies) -> anyhow::Result<LiveModels> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(LiveModels { runtime, models, policies: Arc::new(policies.clone()) })
    }

    fn wait(
        &self,
        call: impl FnOnce(Arc<dyn ModelClient>, Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>>,
    ) -> (Span, Result<Answer, Failure>) {
        let begun = Instant::now();
        let answer = self.runtime.block_on(call(self.models.clone(), self.policies.clone()));
        (Span(begun.elapsed().as_millis() as u64), answer)
    }
}

/// JSON Lines `{"question", "match"?, "answer" | "error", "latency_ms"?}`; the first match wins, and a question without a
/// match is answered as by the judge that says no.
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

const QUESTIONS: [&str; 8] = ["state", "same", "changed", "judge", "join", "write", "deliver", "remember"];

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
        return Err(format!("`question` must be one of {}, got {:?}", QUESTIONS.join(", "), raw.question));
    }
    let text = |value: Value| if let Value::String(text) = value { text } else { value.to_string() };
    let answer = match (raw.answer, raw.error) {
        (Some(answer), None) => Ok(text(answer)),
        (None, Some(error)) => Err(text(error)),
        _ => return Err("expected either `answer` or `error`".into()),
    };
    if !(0.0..=1e12).contains(&raw.latency_ms) {
        return Err(format!("`latency_ms` must be a number of milliseconds, got {}", raw.latency_ms));
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
                .starts_with("line 2: `question` must be one of state, ")
        );
        assert!(told("{\"question\": \"judge\"}").contains("either `answer` or `error`"));
        assert!("maybe".parse::<Judge>().is_err());
    }
}
