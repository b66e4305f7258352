//! The sentence of a decision: what it did, why, and what that was weighed by.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::gates::GATES;
use crate::likelihood::{Contribution, JoinModel, Reason, Values, because, contributions, reasons};
use crate::trace::{Cause, Outcome, Stage, Trace, Unheard};
use crate::types::{Addressed, Span, State};

impl Trace {
    /// One readable sentence: what it did and why.
    pub fn sentence(&self) -> String {
        let mut text = String::from(match self.outcome {
            Outcome::Ignored => "Ignored: ",
            Outcome::Silent => "Stayed silent: ",
            Outcome::Reacts => "Reacted: ",
            Outcome::Acknowledges => "Said a word: ",
            Outcome::Replies => "Answered: ",
        });
        self.write_cause(&mut text).expect("a string takes every text");
        if let (Some(p_join), None) = (self.p_join, self.addressed) {
            self.write_likelihood(&mut text, p_join).expect("a string takes every text");
        } else if let Some(score) = self.score.filter(|_| self.addressed.is_none()) {
            write!(text, " Score {score}").expect("a string takes every text");
            let given: Vec<String> =
                self.given().map(|(rule, points)| format!("{} {points:+}", rule.replace('_', " "))).collect();
            text.push_str(&if given.is_empty() { ".".into() } else { format!(" ({}).", given.join(", ")) });
        }
        if let Some(other) = &self.answered_with {
            write!(text, " The post that answers {other} answers this too.").expect("a string takes every text");
        }
        if let Some(response) = self.received {
            write!(text, " It was {}.", response.words()).expect("a string takes every text");
        }
        text
    }

    /// What was learnt says of this message, and what it was compared with.
    fn write_likelihood(&self, text: &mut String, p_join: f32) -> std::fmt::Result {
        write!(text, " A newcomer would join here with {}", percent(p_join))?;
        if let Some(bar) = self.bar {
            write!(text, " (threshold {}", percent(bar.threshold))?;
            if bar.worth != p_join {
                write!(text, ", counted as {}", percent(bar.worth))?;
            }
            match bar.welcome {
                less if less < 0.995 => write!(text, ", raised because it was less welcome here lately")?,
                more if more > 1.005 => write!(text, ", lowered because it was welcome here lately")?,
                _ => (),
            }
            text.push(')');
        }
        let joins = self.bar.is_some_and(|bar| bar.worth >= bar.threshold);
        let reasons =
            self.features.0.as_deref().map(|values| because(values, joins, JoinModel::built_in())).unwrap_or_default();
        if !reasons.is_empty() {
            write!(text, ": {}", reasons.join(", "))?;
        }
        write!(text, ".")
    }

    /// What each feature did to the likelihood, the strongest first; empty where nothing learnt is asked.
    pub fn contributions(&self) -> Vec<Contribution> {
        let told = |values: &Values| contributions(values, JoinModel::built_in());
        self.features.0.as_deref().map(told).unwrap_or_default()
    }

    /// The same in words, what belongs together taken together.
    pub fn reasons(&self) -> Vec<Reason> {
        self.features.0.as_deref().map(|values| reasons(values, JoinModel::built_in())).unwrap_or_default()
    }

    fn write_cause(&self, text: &mut String) -> std::fmt::Result {
        match &self.cause {
            Cause::Unheard(Unheard::Itself) => write!(text, "its own message."),
            Cause::Unheard(Unheard::Empty) => write!(text, "an empty message."),
            Cause::Unheard(Unheard::Direct) => write!(text, "direct messages are switched off."),
            Cause::Unheard(Unheard::ChannelOff) => write!(text, "it does not listen in this channel."),
            Cause::Unheard(Unheard::OtherBot) => write!(text, "said by another bot."),
            Cause::Unheard(Unheard::BotNotAnswered) => write!(text, "said by another bot; heard, not answered."),
            Cause::Unheard(Unheard::Repeated) => write!(text, "this message was heard before."),
            Cause::Unheard(Unheard::Late) => write!(text, "it arrived late; remembered, not answered."),
            Cause::Unheard(Unheard::TooLate { late, limit, away: false }) => {
                write!(text, "it arrived {late} late, and {limit} are allowed; remembered, not answered.")
            }
            Cause::Unheard(Unheard::TooLate { late, limit, away: true }) => write!(
                text,
                "it was said {late} before it could be heard, and is answered within {limit}; remembered, not answered."
            ),
            Cause::Unheard(Unheard::Missed { late }) => {
                write!(text, "it was said {late} before it could be heard; remembered, not answered.")
            }
            Cause::Addressed(Addressed::Mention) => write!(text, "{} mentioned it.", self.author),
            Cause::Addressed(Addressed::Name) => write!(text, "{} called its name.", self.author),
            Cause::Addressed(Addressed::Reply) => write!(text, "{} replied to it.", self.author),
            Cause::ToldToBeQuiet(span) => write!(text, "{} told it to be quiet; muted for {span}.", self.author),
            Cause::Unlikely => write!(text, "too little reason to speak."),
            Cause::Likely => write!(text, "reason enough without asking."),
            Cause::Low { low } => write!(text, "too little reason to speak (at most {low})."),
            Cause::High { high } => write!(text, "reason enough without asking (at least {high})."),
            Cause::OverThreshold { threshold } => write!(text, "reason enough (at least {threshold})."),
            Cause::UnderThreshold { threshold } => write!(text, "too little reason to speak (below {threshold})."),
            Cause::Closed(closed) => match GATES.iter().find(|gate| Some(gate.id) == self.gate.as_deref()) {
                Some(gate) => write!(text, "{}.", gate.sentence(*closed)),
                None => write!(text, "held back."),
            },
            Cause::Ending => write!(text, "the conversation is ending."),
            Cause::Unchanged => write!(text, "nothing has changed since it last spoke here."),
            Cause::SaidNo { reason } if reason.is_empty() => write!(text, "the judge said no."),
            Cause::SaidNo { reason } => write!(text, "the judge said no: {}", closed(reason)),
            Cause::SaidYes { reason, delay, state } => {
                write!(text, "the judge said yes")?;
                if let Some(state) = state.filter(|state| *state != State::Active) {
                    write!(text, " ({})", state.word().to_lowercase())?;
                }
                if *delay > Span::ZERO {
                    write!(text, ", and to wait {delay}")?;
                }
                if reason.is_empty() { write!(text, ".") } else { write!(text, ": {}", closed(reason)) }
            }
            Cause::Failed { what } if self.stage == Stage::Judge => {
                write!(text, "the judge gave no usable answer ({what}).")
            }
            Cause::Failed { what } => write!(text, "its words could not be written or posted ({what})."),
            Cause::Excused { what } => write!(text, "{} asked, and it had to excuse itself ({what}).", self.author),
            Cause::CancelledBy(by) => write!(text, "somebody spoke first (cancelled by {by})."),
            Cause::SupersededBy(by) => write!(text, "{by} gave a better reason a moment later."),
            Cause::PartOf(by) => write!(text, "part of the talk around {by}, which is the better reason."),
            Cause::AnsweredBy(by) => write!(text, "somebody answered ({by})."),
            Cause::AnsweredInstead(by) => write!(text, "it was addressed in {by} and answers that."),
            Cause::TooMany => write!(text, "too many addressed it at once; it told them so together."),
            Cause::Deleted => write!(text, "the message was deleted."),
            Cause::Forgotten => write!(text, "the talk of this room was to be forgotten."),
            Cause::Stale { overdue } => write!(text, "it was overdue by {overdue} when the program started."),
            Cause::NothingToSay => write!(text, "it found nothing to say."),
            Cause::Repeated => write!(text, "it would have said nearly the same again."),
            Cause::Undecided => write!(text, "not decided yet."),
        }
    }
}

/// As people say it: whole percents, and what is less than half of one as that.
fn percent(share: f32) -> String {
    if share < 0.005 { "less than 1 %".into() } else { format!("{:.0} %", 100.0 * share) }
}

/// A judge's words as a sentence that has an end.
fn closed(reason: &str) -> Cow<'_, str> {
    let reason = reason.trim_end();
    if reason.ends_with(['.', '!', '?', '。', '！', '？', '…']) {
        reason.into()
    } else {
        format!("{reason}.").into()
    }
}
