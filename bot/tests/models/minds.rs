//! Models with the settings of a test, and questions to ask them.

use std::sync::Arc;

use aizuchi::models::Models;
use aizuchi::models::providers::{KnownProvider, PROVIDERS, version_path};
use aizuchi::ports::{
    BoxFuture, DigestRequest, Draft, ModelClient as _, Prompt, PromptBuilder, PromptTools, PromptTurn, Role, Schema,
    ToolSpec,
};
use aizuchi_core::effect::{Ask, Brief, Failure, Kind, Lines, Transcript, TranscriptLine};
use aizuchi_core::input::Answer;
use aizuchi_core::judge::Question;
use aizuchi_core::settings::{JudgeStyle, Layers};
use aizuchi_core::tools::{ToolAccess, ToolOffer, ToolStep};
use aizuchi_core::types::{CallId, Place, RoomId, Time, Voice};
use aizuchi_core::{Policies, Policy};
use serde_json::json;

/// The same few words whatever is asked, so that a request can be compared letter by letter.
pub struct FixedWording;

impl PromptBuilder for FixedWording {
    fn judge(&self, ask: &Ask, _: &Policy) -> Result<Prompt, String> {
        let one_word = matches!(ask.question, Question::State | Question::Same | Question::Changed);
        let schema = json!({
            "type": "object",
            "properties": {
                "respond": {"type": "boolean"},
                "delay_seconds": {"type": "integer", "minimum": 0, "maximum": 600},
                "reason": {"type": "string", "enum": ["helps", "does not help"]}
            },
            "required": ["respond", "delay_seconds", "reason"],
            "additionalProperties": false
        });
        Ok(Prompt {
            system: "Should you step in?".into(),
            turns: vec![PromptTurn { by: Role::User, text: ask.transcript.lines.plain() }],
            schema: (!one_word).then_some(Schema { name: "verdict", schema }),
            tools: PromptTools::default(),
        })
    }

    fn digest(&self, digest: &DigestRequest, _: &Policy) -> Result<Prompt, String> {
        let turns = vec![PromptTurn { by: Role::User, text: digest.lines.plain() }];
        Ok(Prompt { system: "Sum it up.".into(), turns, schema: None, tools: PromptTools::default() })
    }

    fn write(&self, brief: &Brief, tools: Vec<ToolSpec>, _: &Policy) -> Result<Prompt, String> {
        let turn = |line: TranscriptLine<'_>| match line.voice {
            Voice::Me => PromptTurn { by: Role::Assistant, text: line.text.into() },
            Voice::Person | Voice::Bot => PromptTurn { by: Role::User, text: format!("{}: {}", line.name, line.text) },
        };
        Ok(Prompt {
            system: "Write the answer.".into(),
            turns: brief.transcript.lines.iter().map(turn).collect(),
            schema: None,
            tools: PromptTools { shown: tools, may_call: brief.tools != ToolOffer::None, steps: brief.steps.clone() },
        })
    }
}

pub fn policies(settings: &str) -> Policies {
    let mut layers = Layers::default();
    layers.add_file("test.toml", settings);
    layers.resolve(&|_| None).expect("the settings of the test are right")
}

/// Every provider at this port, one more that speaks Ollama's own format, and further settings.
pub fn settings(port: u16, more: &str) -> String {
    let at =
        |row: &KnownProvider| format!("{}.url = \"http://127.0.0.1:{port}/{}\"\n", row.name, version_path(row.format));
    let known: String = PROVIDERS.iter().map(at).collect();
    format!("{more}\n[providers]\n{known}native.url = \"http://127.0.0.1:{port}/\"\nnative.format = \"ollama\"\n")
}

pub struct Asker {
    pub models: Arc<Models>,
    pub policies: Arc<Policies>,
}

pub const KEY: &str = "the-secret-key";

/// Keys are there for everybody.
pub fn environment(name: &str) -> Option<String> {
    PROVIDERS.iter().any(|row| row.keys.contains(&name)).then(|| KEY.to_owned())
}

impl Asker {
    pub fn new(port: u16, more: &str) -> Asker {
        let policies = policies(&settings(port, more));
        let models = Models::new(Arc::new(FixedWording), &policies, &environment).expect("every key is there");
        Asker { models: Arc::new(models), policies: Arc::new(policies) }
    }

    pub fn judge(&self, model: &str) -> BoxFuture<'static, Result<Answer, Failure>> {
        self.models.clone().judge(Box::new(ask(model)), self.policies.clone())
    }

    pub fn write(&self, model: &str, addressed: bool) -> BoxFuture<'static, Result<Answer, Failure>> {
        self.models.clone().write(Box::new(brief(model, addressed)), self.policies.clone())
    }

    /// An order for an answer with tools, after these steps.
    pub fn draft(
        &self,
        model: &str,
        offer: ToolOffer,
        steps: Vec<ToolStep>,
    ) -> BoxFuture<'static, Result<Draft, Failure>> {
        self.draft_with(model, offer, steps, tools())
    }

    pub fn draft_with(
        &self,
        model: &str,
        offer: ToolOffer,
        steps: Vec<ToolStep>,
        tools: Vec<ToolSpec>,
    ) -> BoxFuture<'static, Result<Draft, Failure>> {
        let brief = Brief { tools: offer, steps, ..brief(model, true) };
        self.models.clone().draft(Box::new(brief), tools, self.policies.clone())
    }
}

/// Two tools: one without arguments and one with.
pub fn tools() -> Vec<ToolSpec> {
    let spec = |name: &str, description: &str, schema| ToolSpec {
        name: name.into(),
        description: description.into(),
        schema,
        access: ToolAccess::Reads,
    };
    let nothing = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let query = json!({
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
        "additionalProperties": false
    });
    vec![spec("time", "The current time.", nothing), spec("recall", "What was said before.", query)]
}

pub fn lines() -> Lines {
    let said = [("ann", Voice::Person, "hello"), ("me", Voice::Me, "hi ann"), ("ann", Voice::Person, "which way?")];
    said.into_iter().map(|(name, voice, text)| TranscriptLine { id: "", name, voice, text }).collect()
}

pub fn ask(model: &str) -> Ask {
    Ask {
        call: CallId { room: RoomId::new("room"), serial: 1 },
        at: Time(0),
        question: Question::Judge,
        style: JudgeStyle::Respond,
        model: model.into(),
        tokens_max: 50,
        transcript: Transcript { lines: lines(), ..Transcript::default() },
        telling: None,
        memories: aizuchi_core::memory::Memories::default(),
    }
}

pub fn brief(model: &str, addressed: bool) -> Brief {
    Brief {
        call: CallId { room: RoomId::new("room"), serial: 2 },
        at: Time(0),
        place: Place { room: RoomId::new("room"), thread: None },
        kind: Kind::Full,
        model: model.into(),
        tokens_max: 300,
        answering: Vec::new(),
        addressed,
        transcript: Transcript { lines: lines(), ..Transcript::default() },
        memories: aizuchi_core::memory::Memories::default(),
        telling: None,
        tools: ToolOffer::None,
        steps: Vec::new(),
        errand: None,
    }
}

pub fn told(result: Result<Answer, Failure>) -> String {
    result.expect_err("there is no answer").what.into()
}

pub fn text(result: Result<Answer, Failure>) -> String {
    result.expect("there is an answer").text.into()
}
