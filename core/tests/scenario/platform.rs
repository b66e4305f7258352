//! The world of a scenario: models by script, and a platform that keeps what was posted. Posts are p1, p2, … in order.

use aizuchi_core::effect::{Ask, Brief, Delivery, Excuse, Failure, Post};
use aizuchi_core::input::Answer;
use aizuchi_core::sim::{Oracle, ScriptLine, StandIn};
use aizuchi_core::types::{MessageId, Span};

use super::{clock, place};

pub struct Platform {
    script: Vec<ScriptLine>,
    models: StandIn,
    posted: Vec<Delivery>,
}

impl Platform {
    pub fn new(script: Vec<ScriptLine>, models: StandIn) -> Platform {
        Platform { script, models, posted: Vec::new() }
    }

    /// What people see, a line for each post or part of one.
    pub fn told(&self) -> Vec<String> {
        let told = |post: &Delivery| {
            let head = format!("{} {}", clock(post.at), place(&post.place));
            words(post).into_iter().map(move |words| format!("{head}{words}")).collect::<Vec<_>>()
        };
        self.posted.iter().flat_map(told).collect()
    }

    /// The first line of the script that fits everything the model is shown, the state and its own history included.
    fn line(&self, question: &str, shown: &str) -> Option<&ScriptLine> {
        let mut lines = self.script.iter().filter(|line| line.question == question);
        lines.find(|line| line.holds.as_ref().is_none_or(|holds| shown.contains(holds.as_str())))
    }

    /// The models, about to say what the script says here.
    fn models(&mut self, question: &str, shown: &str) -> &mut StandIn {
        let fitting = self.line(question, shown).cloned();
        self.models.lines = fitting.into_iter().map(|line| ScriptLine { holds: None, ..line }).collect();
        &mut self.models
    }
}

fn words(delivery: &Delivery) -> Vec<String> {
    match &delivery.post {
        Post::Reaction(emoji) => vec![format!("reacts {emoji} to {}", delivery.answering)],
        Post::Text(parts) => parts.iter().map(|part| format!("says {}", part.replace('\n', "\\n"))).collect(),
        Post::Reminder(post) => vec![format!("reminds of {}{}", post.text, if post.is_late { " (late)" } else { "" })],
        Post::Approval(request) => vec![format!("asks whether {} may run", request.tool)],
        Post::Excuse(Excuse::NoWords) => vec!["excuses itself: no words".into()],
        Post::Excuse(Excuse::TooMany) => vec!["excuses itself: too many called".into()],
        Post::Excuse(Excuse::BudgetSpent) => vec!["excuses itself: the budget is spent".into()],
    }
}

impl Oracle for Platform {
    fn judge(&mut self, ask: &Ask) -> (Span, Result<Answer, Failure>) {
        self.models(ask.question.id(), &ask.transcript.plain()).judge(ask)
    }

    fn write(&mut self, brief: &Brief) -> (Span, Result<Answer, Failure>) {
        self.models("write", &brief.transcript.plain()).write(brief)
    }

    /// The same call is the same post, however often it is sent.
    fn deliver(&mut self, delivery: &Delivery) -> (Span, Result<Vec<MessageId>, Failure>) {
        let line = self.line("deliver", &words(delivery).join("\n"));
        let latency = line.map_or(Span::ZERO, |line| line.latency);
        if let Some(Err(what)) = line.map(|line| &line.answer) {
            return (latency, Err(Failure::new(what.as_str())));
        }
        let known = self.posted.iter().position(|post| post.call == delivery.call);
        let number = known.unwrap_or_else(|| {
            self.posted.push(delivery.clone());
            self.posted.len() - 1
        });
        (latency, Ok(vec![MessageId::new(format!("p{}", number + 1))]))
    }
}
