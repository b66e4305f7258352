//! `aizuchi prompt`: what a model would see at a given point of recorded talk.

use aizuchi_core::effect::{Ask, Brief, Delivery, Failure, Kind, Lines, Transcript, TranscriptLine};
use aizuchi_core::input::Answer;
use aizuchi_core::judge::Question;
use aizuchi_core::settings::JudgeStyle;
use aizuchi_core::sim::{Oracle, Sim, StandIn};
use aizuchi_core::tools::ToolOffer;
use aizuchi_core::types::{CallId, Message, MessageId, Span, Time, Voice};
use aizuchi_core::{Engine, Input, Policies, Policy};
use aizuchi_formats::Event;
use anyhow::{Context as _, anyhow};
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::cli::show::{harmless, harmless_json, print_error};
use crate::config::{self, SettingsOverrides};
use crate::language::Language;
use crate::ports::{Prompt, PromptBuilder as _, Role};
use crate::prompts::Prompts;
use crate::sentences::sentence;

#[derive(Args)]
pub struct PromptArguments {
    /// What the model is asked
    #[arg(value_enum)]
    question: PromptKind,
    /// The recorded conversation, in any format that `aizuchi replay` reads; - is standard input
    #[arg(long, value_name = "FILE")]
    log: String,
    /// The message after which it is asked, by its id [default: the last one]
    #[arg(long, value_name = "MESSAGE-ID")]
    at: Option<String>,
    /// The language of the instructions, by its id such as en [default: that of the conversation]
    #[arg(long)]
    language: Option<String>,
    /// aizuchi, kotonoha, sphene or myao2
    #[arg(long)]
    preset: Option<String>,
    /// The settings file [default: aizuchi.toml, if there is one]
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
    /// Change a setting, such as bot.persona=…; can be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The name people call it by
    #[arg(long, value_name = "NAME")]
    bot_name: Option<String>,
    /// An id or name in the log that is the bot itself; can be repeated
    #[arg(long, value_name = "ID")]
    me: Vec<String>,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PromptKind {
    /// What state is the conversation in?
    State,
    /// Is it still the conversation it joined last?
    Same,
    /// Has the situation changed since?
    Changed,
    /// Should it join in?
    Judge,
    /// All of that at once
    Join,
    /// The answer to a person who addressed it
    Reply,
    /// An unasked contribution
    Contribute,
    /// A short acknowledgement
    Acknowledge,
}

/// A request to a model.
enum RecordedRequest {
    Ask(Box<Ask>),
    Write(Box<Brief>),
}

pub fn run(arguments: &PromptArguments) -> anyhow::Result<()> {
    let policies = policies(arguments)?;
    let options = aizuchi_formats::Options { me: arguments.me.clone(), ..aizuchi_formats::Options::default() };
    let log = aizuchi_formats::read(&arguments.log, &options, &mut |_| ())?;
    if let Some(bad) = log.bad.first() {
        print_error(&format!("{bad} ({} lines could not be read)", log.bad.len()));
    }
    let target = target(&log.events, arguments)?.clone();
    let policy = policies.for_room(target.place.room.as_str()).clone();
    let (asked, why_not) = record_request(policies, &log.events, &target, arguments.question);
    let is_asked = asked.is_some();
    if !is_asked {
        let why = why_not.unwrap_or_else(|| "the model is asked another question".into());
        let name = arguments.question.name();
        print_error(&format!("{name} would not be asked after {}: {why}", target.id));
        print_error("this is what a model would see if it were asked");
    }
    let request = asked.unwrap_or_else(|| made_up(&log.events, &target, &policy, arguments.question));
    let prompts = Prompts::new(policy.settings.prompts.folder.clone().into());
    let prompt = match &request {
        RecordedRequest::Ask(ask) => prompts.judge(ask, &policy),
        RecordedRequest::Write(brief) => prompts.write(brief, Vec::new(), &policy),
    };
    prompts.problems().iter().for_each(|problem| print_error(problem));
    let prompt = prompt.map_err(|problem| anyhow!("{problem}"))?;
    super::print(&if arguments.json {
        as_json(arguments.question, &request, &prompt, is_asked)
    } else {
        as_text(&prompt)
    })
}

fn policies(arguments: &PromptArguments) -> anyhow::Result<Policies> {
    let wishes = SettingsOverrides {
        file: arguments.config.clone(),
        preset: arguments.preset.clone(),
        bot_name: arguments.bot_name.clone(),
        assignments: arguments.set.clone(),
    };
    let environment = std::env::vars_os();
    let mut layers = config::layers(
        &wishes,
        environment.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
    )?;
    if let Some(language) = &arguments.language {
        layers.add_option("--language", "bot.language", language);
    }
    layers.suggest_for_replay();
    config::resolve(&layers)
}

fn target<'a>(events: &'a [Event], arguments: &PromptArguments) -> anyhow::Result<&'a Message> {
    let mut said = events.iter().rev().filter_map(message_of);
    match &arguments.at {
        Some(id) => said
            .find(|message| message.id.as_str() == id)
            .with_context(|| format!("there is no message {id} in {}", arguments.log)),
        None => {
            let last = said.find(|message| message.author.voice != Voice::Me);
            last.with_context(|| format!("no messages in {}", arguments.log))
        }
    }
}

fn message_of(event: &Event) -> Option<&Message> {
    if let Input::Said(message) = &event.input { Some(message) } else { None }
}

/// Replays the room up to the message, and then until nothing is pending. Before that message the judge declines and no
/// post arrives, so that the talk is that of the log; from it on the judge agrees.
fn record_request(
    policies: Policies,
    events: &[Event],
    target: &Message,
    wanted: PromptKind,
) -> (Option<RecordedRequest>, Option<String>) {
    let listener = PromptRecorder { stand_in: StandIn::new(false, Vec::new(), &policies), heard: Vec::new() };
    let mut sim = Sim::new(Engine::new(policies), listener);
    let mut clock = Time(0);
    for event in events.iter().filter(|event| event.input.room() == Some(&target.place.room)) {
        clock = clock.max(event.at);
        let is_target = message_of(event).is_some_and(|message| message.id == target.id);
        if is_target {
            sim.oracle.stand_in.agrees = true;
            sim.oracle.heard.clear();
            sim.traces.clear();
        }
        sim.feed(clock, event.input.clone());
        if is_target {
            break;
        }
    }
    sim.finish();
    let shows = |transcript: &Transcript| transcript.lines.iter().any(|line| line.id == target.id.as_str());
    let found = sim.oracle.heard.into_iter().find(|request| match request {
        RecordedRequest::Ask(ask) => wanted.question() == Some(ask.question) && shows(&ask.transcript),
        RecordedRequest::Write(brief) => {
            wanted.order() == Some((brief.kind, brief.addressed)) && shows(&brief.transcript)
        }
    });
    let silent = sim.traces.iter().rfind(|trace| trace.message == target.id && trace.asked.is_empty());
    (found, silent.map(|trace| sentence(trace, Language::ENGLISH)))
}

/// Records the requests it gets.
struct PromptRecorder {
    stand_in: StandIn,
    heard: Vec<RecordedRequest>,
}

impl Oracle for PromptRecorder {
    fn judge(&mut self, ask: &Ask) -> (Span, Result<Answer, Failure>) {
        self.heard.push(RecordedRequest::Ask(Box::new(ask.clone())));
        self.stand_in.judge(ask)
    }

    fn write(&mut self, brief: &Brief) -> (Span, Result<Answer, Failure>) {
        self.heard.push(RecordedRequest::Write(Box::new(brief.clone())));
        self.stand_in.write(brief)
    }

    fn deliver(&mut self, _: &Delivery) -> (Span, Result<Vec<MessageId>, Failure>) {
        (Span::ZERO, Err(Failure::new("nothing is posted here")))
    }
}

impl PromptKind {
    fn question(self) -> Option<Question> {
        match self {
            PromptKind::State => Some(Question::State),
            PromptKind::Same => Some(Question::Same),
            PromptKind::Changed => Some(Question::Changed),
            PromptKind::Judge => Some(Question::Judge),
            PromptKind::Join => Some(Question::Join),
            PromptKind::Reply | PromptKind::Contribute | PromptKind::Acknowledge => None,
        }
    }

    /// The size of the answer, and whether somebody asked for it.
    fn order(self) -> Option<(Kind, bool)> {
        match self {
            PromptKind::Reply => Some((Kind::Full, true)),
            PromptKind::Contribute => Some((Kind::Full, false)),
            PromptKind::Acknowledge => Some((Kind::Acknowledgement, false)),
            PromptKind::State | PromptKind::Same | PromptKind::Changed | PromptKind::Judge | PromptKind::Join => None,
        }
    }

    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// Builds the request from the talk alone.
fn made_up(events: &[Event], target: &Message, policy: &Policy, wanted: PromptKind) -> RecordedRequest {
    let talk = talk(events, target);
    match (wanted.question(), wanted.order()) {
        (Some(question), _) => RecordedRequest::Ask(Box::new(made_up_question(&talk, target, policy, question))),
        (None, order) => {
            let (kind, addressed) = order.expect("what is no question is an order");
            RecordedRequest::Write(Box::new(made_up_order(&talk, target, policy, kind, addressed)))
        }
    }
}

fn made_up_order(talk: &[Message], target: &Message, policy: &Policy, kind: Kind, addressed: bool) -> Brief {
    let reply = &policy.settings.reply;
    let start = talk.len().saturating_sub(reply.window_messages as usize);
    Brief {
        call: no_call(target),
        at: target.at,
        place: target.place.clone(),
        kind,
        model: policy.settings.models.main.as_str().into(),
        tokens_max: if kind == Kind::Full { reply.tokens_full } else { reply.tokens_acknowledge },
        answering: vec![target.id.clone()],
        addressed,
        transcript: Transcript { lines: lines(&talk[start..], policy), ..Transcript::default() },
        memories: aizuchi_core::memory::Memories::default(),
        telling: None,
        tools: ToolOffer::None,
        steps: Vec::new(),
        errand: None,
    }
}

fn made_up_question(talk: &[Message], target: &Message, policy: &Policy, question: Question) -> Ask {
    let judge = &policy.settings.judge;
    let compares = matches!(question, Question::Same | Question::Changed);
    let window = if compares { judge.history_messages } else { judge.window_messages } as usize;
    let start = talk.len().saturating_sub(window);
    let before = if compares { &talk[start.saturating_sub(window)..start] } else { &[] };
    let style = match (question, judge.style) {
        (Question::Join, _) => JudgeStyle::Join,
        (Question::State | Question::Same | Question::Changed, _) => JudgeStyle::Ladder,
        (Question::Judge, JudgeStyle::Join | JudgeStyle::None) => JudgeStyle::Respond,
        (Question::Judge, style) => style,
    };
    Ask {
        call: no_call(target),
        at: target.at,
        question,
        style,
        model: policy.judge_model().into(),
        tokens_max: question.tokens_max(&policy.settings),
        transcript: Transcript {
            lines: lines(&talk[start..], policy),
            earlier: lines(before, policy),
            ..Transcript::default()
        },
        telling: None,
        memories: aizuchi_core::memory::Memories::default(),
    }
}

fn no_call(target: &Message) -> CallId {
    CallId { room: target.place.room.clone(), serial: 0 }
}

fn lines(talk: &[Message], policy: &Policy) -> Lines {
    let mut lines = Lines::default();
    for message in talk {
        let voice = message.author.voice;
        let name = if voice == Voice::Me { policy.settings.bot.name.as_str() } else { &message.author.name };
        lines.push(TranscriptLine { id: message.id.as_str(), name, voice, text: &message.text });
    }
    lines
}

/// What was said in the place up to the message, with edits and deletions applied.
fn talk(events: &[Event], target: &Message) -> Vec<Message> {
    let mut talk: Vec<Message> = Vec::new();
    for event in events {
        if let Input::Said(message) = &event.input
            && message.place == target.place
        {
            talk.push(message.clone());
            if message.id == target.id {
                break;
            }
        }
        if let Input::Changed(change) = &event.input
            && change.place == target.place
        {
            match &change.text {
                Some(text) => {
                    talk.iter_mut().filter(|said| said.id == change.id).for_each(|said| said.text = text.clone())
                }
                None => talk.retain(|said| said.id != change.id),
            }
        }
    }
    talk
}

fn as_text(prompt: &Prompt) -> String {
    let mut text = String::new();
    let mut section = |title: &str, body: &str| {
        text += &format!("── {title} ──\n");
        body.lines().for_each(|line| text += &format!("{}\n", harmless(line)));
        text += "\n";
    };
    section("system", &prompt.system);
    prompt.turns.iter().for_each(|turn| section(role_name(turn.by), &turn.text));
    if let Some(schema) = &prompt.schema {
        section(&format!("schema {}", schema.name), &format!("{:#}", schema.schema));
    }
    text
}

fn role_name(by: Role) -> &'static str {
    match by {
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

fn as_json(wanted: PromptKind, request: &RecordedRequest, prompt: &Prompt, is_asked: bool) -> String {
    let (model, tokens_max) = match request {
        RecordedRequest::Ask(ask) => (&ask.model, ask.tokens_max),
        RecordedRequest::Write(brief) => (&brief.model, brief.tokens_max),
    };
    let turns: Vec<_> = prompt.turns.iter().map(|turn| json!({"by": role_name(turn.by), "text": turn.text})).collect();
    let shown = json!({
        "question": wanted.name(),
        "asked": is_asked,
        "model": model,
        "tokens_max": tokens_max,
        "prompt_chars": prompt.chars(),
        "system": prompt.system,
        "turns": turns,
        "schema": prompt.schema.as_ref().map(|schema| json!({"name": schema.name, "schema": schema.schema})),
    });
    format!("{}\n", harmless_json(&shown))
}
