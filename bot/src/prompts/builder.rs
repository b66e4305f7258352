//! Builds the prompt for a question or an answer.

use std::path::PathBuf;

use aizuchi_core::Policy;
use aizuchi_core::effect::{Ask, Brief, Digesting, Kind, Transcript};
use aizuchi_core::judge::Question;
use aizuchi_core::settings::JudgeStyle;
use aizuchi_core::tools::{ToolOffer, ToolOutcome, ToolOutput, ToolStep};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Value;
use minijinja::{Environment, UndefinedBehavior, context};

use super::built_in::{NAMES, PARTS, built_in, halves};
use super::folder::PromptFolder;
use super::frame::{PromptFrame, framed_alone};
use super::language::language_for;
use super::schemas::{schema_of, schema_of_digest};
use super::words::is_line_break;
use crate::language::Language;
use crate::ports::{DigestRequest, Prompt, PromptBuilder, PromptTools, PromptTurn, Role, ToolSpec};

/// The built-in prompts, each replaced by the user's own if there is one.
pub struct Prompts {
    folder: PromptFolder,
}

impl Prompts {
    /// With the user's own prompts from this folder, `<folder>/<en|ja>/<name>.md`; an empty path means none.
    pub fn new(folder: PathBuf) -> Prompts {
        let prompts = Prompts { folder: PromptFolder::new(folder) };
        prompts.folder.look_for_strangers();
        prompts
    }

    /// Problems of the user's prompts that were not reported before.
    pub fn problems(&self) -> Vec<String> {
        self.folder.problems()
    }

    /// Fills in every prompt of the user's own as for a real question, so that `problems` reports what is wrong with them.
    /// Returns how many there are.
    pub fn try_all(&self, policy: &Policy) -> usize {
        let because = "it asks a question".into();
        let (answering, errand) = ("1".into(), "say hello".into());
        let asking = QuestionContext {
            answering,
            because,
            telling: true,
            has_tools: true,
            errand,
            ..QuestionContext::default()
        };
        let mut own = 0;
        for language in Language::ALL {
            for name in NAMES {
                own += usize::from(self.folder.text(language, name).is_some());
                if !PARTS.contains(name) {
                    self.text(language, name, policy, &asking)
                        .expect("ours take the place of those that cannot be filled");
                }
            }
        }
        own
    }

    fn prompt(
        &self,
        name: &'static str,
        policy: &Policy,
        transcript: &Transcript,
        fill: impl FnOnce(&mut PromptFrame) -> QuestionContext,
    ) -> Result<Prompt, String> {
        self.folder.look_for_strangers();
        let language = language_for(policy, transcript);
        let mut frame = PromptFrame::new(policy, language);
        let asking = fill(&mut frame);
        let (system, question) = self.text(language, name, policy, &asking)?;
        let turns = vec![PromptTurn { by: Role::User, text: frame.with_question(&question) }];
        Ok(Prompt { system, turns, schema: None, tools: PromptTools::default() })
    }

    /// Instructions and question, from the user's file or, if that is unusable, from the built-in one.
    fn text(
        &self,
        language: Language,
        name: &'static str,
        policy: &Policy,
        asking: &QuestionContext,
    ) -> Result<(String, String), String> {
        let settings = &policy.settings;
        let bare = context! {
            name => &settings.bot.name,
            persona => settings.bot.persona.trim(),
            group => settings.bot.group.trim(),
        };
        let part = |part| self.filled(language, part, |source, file| fill(file, source, &bare));
        let (persona, group, frame, memory) = (part("persona")?, part("group")?, part("frame")?, part("memory")?);
        let tools = if asking.has_tools { part("tools")? } else { String::new() };
        let stable = context! {
            name => &settings.bot.name,
            persona,
            group,
            frame,
            memory,
            tools,
            quiet_seconds => settings.response.min_wait_seconds,
            delay_max => settings.response.max_delay_seconds,
            emoji => settings.kinds.emoji.join(" "),
        };
        let asked = context! {
            state => asking.state,
            answering => &asking.answering,
            because => &asking.because,
            telling => asking.telling,
            errand => &asking.errand,
            ..stable.clone()
        };
        self.filled(language, name, |source, file| {
            let (system, question) = halves(source);
            let system = fill(file, &system, &stable)?;
            if system.is_empty() {
                return Err(format!("{file}: the prompt has no instructions"));
            }
            Ok((system, fill(file, &question, &asked)?))
        })
    }

    fn filled<T>(
        &self,
        language: Language,
        name: &'static str,
        fill: impl Fn(&str, &str) -> Result<T, String>,
    ) -> Result<T, String> {
        if let (Some(text), Some(path)) = (self.folder.text(language, name), self.folder.path(language, name)) {
            match fill(&text, &path.display().to_string()) {
                Ok(filled) => return Ok(filled),
                Err(problem) => self.folder.give_up(language, name, format!("{problem}; the built-in prompt is used")),
            }
        }
        let file = format!("built-in {}/{name}.md", language.id());
        fill(built_in(language, name).expect("prompts are named by the table"), &file)
    }
}

/// What a question contains beside the frame.
#[derive(Default)]
struct QuestionContext {
    state: &'static str,
    answering: String,
    because: String,
    /// Whether the bot has a fact to mention unasked.
    telling: bool,
    has_tools: bool,
    /// The task of a schedule.
    errand: String,
}

impl PromptBuilder for Prompts {
    fn judge(&self, ask: &Ask, policy: &Policy) -> Result<Prompt, String> {
        let transcript = &ask.transcript;
        let prompt = self.prompt(name_of(ask.question, ask.style), policy, transcript, |frame| {
            if !transcript.earlier.is_empty() {
                frame.add_earlier(&transcript.earlier);
            }
            frame.add_memories(&ask.memories);
            let about = transcript.about.as_ref();
            let message = about.map(|about| std::slice::from_ref(&about.message)).unwrap_or_default();
            frame.add_talk(&transcript.lines, message);
            if let Some(history) = &transcript.history {
                frame.add_history(history, ask.style);
            }
            QuestionContext {
                state: transcript.state.map_or("", |state| state.word()),
                answering: frame.numbers_of(message),
                because: about.map(|about| about.because.to_string()).unwrap_or_default(),
                telling: ask.telling.is_some(),
                ..QuestionContext::default()
            }
        })?;
        Ok(Prompt { schema: schema_of(ask.question, ask.style, &policy.settings.kinds.emoji), ..prompt })
    }

    fn write(&self, brief: &Brief, tools: Vec<ToolSpec>, policy: &Policy) -> Result<Prompt, String> {
        let name = match (brief.kind, brief.addressed) {
            _ if brief.errand.is_some() => "errand",
            (Kind::Acknowledgement | Kind::Reaction, _) => "acknowledge",
            (Kind::Full, true) => "reply",
            (Kind::Full, false) => "contribute",
        };
        let has_tools = !tools.is_empty();
        let prompt = self.prompt(name, policy, &brief.transcript, |frame| {
            frame.add_memories(&brief.memories);
            frame.add_talk(&brief.transcript.lines, &brief.answering);
            let answering = frame.numbers_of(&brief.answering);
            let errand = brief.errand.as_deref().unwrap_or_default().to_owned();
            let telling = brief.telling.is_some();
            QuestionContext { answering, telling, has_tools, errand, ..QuestionContext::default() }
        })?;
        let may_call = brief.tools != ToolOffer::None;
        let steps = brief.steps.iter().map(framed_step).collect();
        Ok(Prompt { tools: PromptTools { shown: tools, may_call, steps }, ..prompt })
    }

    fn digest(&self, digest: &DigestRequest, policy: &Policy) -> Result<Prompt, String> {
        let transcript = Transcript { lines: digest.lines.clone(), ..Transcript::default() };
        let prompt = self.prompt(digest_name(digest.what), policy, &transcript, |frame| {
            if let Some(summary) = &digest.summary {
                frame.add_notes(summary);
            }
            if !digest.known.is_empty() {
                frame.add_known(&digest.known);
            }
            frame.add_talk(&digest.lines, &[]);
            QuestionContext::default()
        })?;
        Ok(Prompt { schema: Some(schema_of_digest(digest.what)), ..prompt })
    }
}

/// The output of a tool is data, as people's words are.
fn framed_step(step: &ToolStep) -> ToolStep {
    let outcome = match &step.outcome {
        Some(ToolOutcome::Returned(output)) => {
            Some(ToolOutcome::Returned(ToolOutput { text: framed_result(&output.text), ..output.clone() }))
        }
        Some(ToolOutcome::Failed(what)) => Some(ToolOutcome::Failed(framed_result(what))),
        other => other.clone(),
    };
    ToolStep { outcome, ..step.clone() }
}

pub fn framed_result(text: &str) -> Box<str> {
    let lines: Vec<String> = text.split(is_line_break).map(framed_alone).collect();
    format!("<result>\n{}\n</result>", lines.join("\n").trim_end()).into()
}

fn digest_name(what: Digesting) -> &'static str {
    match what {
        Digesting::Summary => "summarize",
        Digesting::Reflection => "reflect",
    }
}

fn name_of(question: Question, style: JudgeStyle) -> &'static str {
    match (question, style) {
        (Question::State, _) => "state",
        (Question::Same, _) => "same",
        (Question::Changed, _) => "changed",
        (Question::Join, _) => "join",
        (Question::Judge, JudgeStyle::Ladder) => "judge_ladder",
        (Question::Judge, JudgeStyle::Delay) => "judge_delay",
        (Question::Judge, JudgeStyle::Respond | JudgeStyle::Join | JudgeStyle::None) => "judge_respond",
    }
}

/// Fills in a template; `Err` names the file, the line and the problem.
fn fill(file: &str, source: &str, values: &Value) -> Result<String, String> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.expect("the usual syntax is valid"));
    // A template with an endless loop is an error, not a reason to hang.
    environment.set_fuel(Some(100_000));
    let filled = environment.render_named_str(file, source, values);
    let text = filled.map_err(|error| {
        let line = error.line().map_or_else(String::new, |line| format!(":{line}"));
        let detail = error.detail().map_or_else(String::new, |detail| format!(" ({detail})"));
        format!("{file}{line}: {}{detail}", error.kind())
    })?;
    Ok(without_gaps(&text))
}

/// At most one empty line in a row, since an empty setting would leave a gap.
fn without_gaps(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.trim().lines() {
        if !(line.trim().is_empty() && lines.last().is_some_and(|last| last.trim().is_empty())) {
            lines.push(line.trim_end());
        }
    }
    lines.join("\n")
}
