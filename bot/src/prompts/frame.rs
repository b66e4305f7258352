//! The frame around people's words.
//!
//! ```text
//! <talk>
//! [1] alice: how is the report coming along?
//! [2] bob: nearly done⏎only the figures are missing
//! [3] aizuchi (you): I can check the figures.
//! </talk>
//! ```
//!
//! One line is one message. Why this and not JSON: a small model reads it like any transcript, a Japanese one costs half
//! the tokens, and the guarantees hold without quoting:
//!
//! - a message has no line break in it ([`words`]), and every line of the frame begins with a number that we assign, so
//!   nobody can forge a line; a number in brackets or a role where a line inside a message could begin is changed
//!   ([`marks`]);
//! - a name has no colon, no bracket and nothing invisible in it, is short, and belongs to one speaker ([`label`]), so the
//!   first `: ` of a line always ends the name, and a mark in brackets after it is always ours;
//! - `<talk>` and the other tags, and the turn marks of models, cannot occur in words or names, so only we end a frame;
//! - all of this is decided by how a text looks, without invisible characters and with look-alikes folded into one;
//! - a line of `<memory>` begins with what it is (`fact:`, `person:`), so no fact passes for a profile;
//! - a message, and the talk as a whole, have a maximum length.
//!
//! The bot's own earlier words are marked lines of the talk, not turns of the model: what is in a turn of the model looks
//! like something it has agreed to, and an edited or deleted message must not leave such a thing behind.
//!
//! [`words`]: super::words
//! [`marks`]: super::marks
//! [`label`]: super::label

use aizuchi_core::Policy;
use aizuchi_core::effect::{Lines, TranscriptLine};
use aizuchi_core::judge::History;
use aizuchi_core::memory::{ChannelMemory, Fact, Frequency, KnownPair, KnownPerson, Memories};
use aizuchi_core::settings::JudgeStyle;
use aizuchi_core::types::{MessageId, PersonId, Voice};

use super::label::Labels;
use super::words::framed;
use crate::language::{Language, say};
use crate::sentences;

pub struct PromptFrame {
    language: Language,
    own_name: String,
    labels: Labels,
    message_chars: usize,
    talk_chars: usize,
    /// The number of the last line.
    lines: usize,
    /// The message of each line of the talk.
    numbers: Vec<(Box<str>, usize)>,
    text: String,
}

impl PromptFrame {
    pub fn new(policy: &Policy, language: Language) -> PromptFrame {
        let (bot, limits) = (&policy.settings.bot, &policy.settings.prompts);
        PromptFrame {
            language,
            own_name: bot.name.clone(),
            labels: Labels::new(language, std::iter::once(&bot.name).chain(&bot.aliases)),
            message_chars: limits.message_chars as usize,
            talk_chars: limits.talk_chars as usize,
            lines: 0,
            numbers: Vec::new(),
            text: String::new(),
        }
    }

    /// The talk that the bot joined last.
    pub fn add_earlier(&mut self, lines: &Lines) {
        self.block("earlier_talk", lines, &[]);
    }

    /// The talk; if it is too long, the lines of those who wrote the messages `about` are preferred.
    pub fn add_talk(&mut self, lines: &Lines, about: &[MessageId]) {
        self.numbers.clear();
        self.block("talk", lines, about);
    }

    fn block(&mut self, tag: &str, lines: &Lines, about: &[MessageId]) {
        let is_about = |line: &TranscriptLine<'_>| about.iter().any(|id| id.as_str() == line.id);
        // The engine gives no two speakers the same name.
        let askers: Vec<&str> = lines.iter().filter(is_about).map(|line| line.name).collect();
        let framed: Vec<(String, &str)> = lines
            .iter()
            .map(|line| {
                let (label, words) = (self.labels.of(line.name, line.voice), self.words(line.text));
                (format!("{label}: {words}"), line.id)
            })
            .collect();
        let of_askers: Vec<bool> = lines.iter().map(|line| askers.contains(&line.name)).collect();
        let lengths: Vec<usize> = framed.iter().map(|(line, _)| line.chars().count() + 8).collect();
        let shown = shown_lines(&lengths, &of_askers, self.talk_chars);
        let (mut body, mut left_out) = (String::new(), 0_usize);
        for ((line, id), shown) in framed.into_iter().zip(shown) {
            // A line that is left out keeps its number, because a model refers to lines of the transcript by number.
            self.lines += 1;
            if !shown {
                left_out += 1;
                continue;
            }
            if left_out > 0 {
                body += &format!("{}\n", say!(self.language, "prompt-left-out", n = left_out));
                left_out = 0;
            }
            self.numbers.push((id.into(), self.lines));
            body += &format!("[{}] {line}\n", self.lines);
        }
        self.push(tag, &body);
    }

    /// What the bot did here lately. The ladder gets it in the words of the original bot.
    pub fn add_history(&mut self, history: &History, style: JudgeStyle) {
        let excerpt = history.excerpt.lines().map(|line| match line.split_once(": ") {
            Some((name, words)) => {
                // The engine lets nobody else use the bot's exact name.
                let voice = if name == self.own_name { Voice::Me } else { Voice::Person };
                format!("{}: {}", self.labels.of(name, voice), framed_alone(words))
            }
            None => framed_alone(line),
        });
        let history = History { excerpt: excerpt.collect::<Vec<_>>().join("\n").into(), ..history.clone() };
        let text = match style {
            JudgeStyle::Ladder => history.text(),
            JudgeStyle::None | JudgeStyle::Respond | JudgeStyle::Delay | JudgeStyle::Join => say!(
                self.language,
                "prompt-history",
                minutes = history.minutes_since,
                count = history.within_half_an_hour,
                excerpt = &*history.excerpt,
            ),
        };
        self.push("history", &(text + "\n"));
    }

    /// What is remembered of the channel, its people and earlier talk.
    pub fn add_memories(&mut self, memories: &Memories) {
        let mut lines: Vec<(&str, String)> = Vec::new();
        if let Some(channel) = &memories.channel {
            let notes = self.format_notes(channel);
            lines.extend(notes.lines().map(|line| ("prompt-memory-channel", line.to_owned())));
        }
        for person in &memories.people {
            lines.push(("prompt-memory-person", self.format_person(person)));
        }
        for pair in &memories.pairs {
            lines.push(("prompt-memory-pair", self.format_pair(pair)));
        }
        for recalled in &memories.facts {
            let former = recalled.fact.former.map(|_| self.language.text("fact-former") + " ").unwrap_or_default();
            lines.push(("prompt-memory-fact", former + &framed_alone(&recalled.fact.content)));
        }
        // Each line begins with its kind: no data can be there.
        let line = |(kind, text): (&str, String)| format!("- {}: {text}\n", self.language.text(kind));
        let body: String = lines.into_iter().map(line).collect();
        if !body.is_empty() {
            self.push("memory", &body);
        }
    }

    /// The bot's notes on the channel so far.
    pub fn add_notes(&mut self, channel: &ChannelMemory) {
        let body = self.format_notes(channel);
        if !body.is_empty() {
            self.push("notes", &body);
        }
    }

    /// The facts that are known already, by number.
    pub fn add_known(&mut self, facts: &[Fact]) {
        let line = |fact: &Fact| format!("({}) {}\n", fact.id, framed_alone(&fact.content));
        let body: String = facts.iter().map(line).collect();
        self.push("known", &body);
    }

    fn format_notes(&mut self, channel: &ChannelMemory) -> String {
        let label = |(id, name): &(PersonId, Box<str>)| (id.clone(), self.labels.of(name, Voice::Person).into());
        let channel = ChannelMemory { active: channel.active.iter().map(label).collect(), ..channel.clone() };
        sentences::format_channel(&channel, self.language).lines().map(|line| framed_alone(line) + "\n").collect()
    }

    fn format_person(&mut self, person: &KnownPerson) -> String {
        let label = self.labels.of(&person.name, Voice::Person);
        let familiar = self.language.text(&format!("familiarity-{}", person.familiarity.id()));
        let comma = self.language.text("list-separator");
        let join = |words: &[Box<str>]| words.join(&comma);
        let parts = [familiar, join(&person.tags), join(&person.topics), join(&person.notes)];
        let parts = parts.into_iter().chain(person.last_talk.as_deref().map(str::to_owned));
        let told: Vec<String> = parts.map(|part| framed_alone(&part)).filter(|part| !part.is_empty()).collect();
        format!("{label}: {}", told.join("; "))
    }

    /// Who answers whom: names are those of the talk, and words are sanitized like those of a message.
    fn format_pair(&mut self, pair: &KnownPair) -> String {
        let name = self.labels.of(&pair.name, Voice::Person);
        let other = pair.other.as_deref().map(|other| self.labels.of(other, Voice::Person));
        let told = match (other, pair.frequency) {
            (Some(other), Frequency::Often) => say!(self.language, "prompt-pair-often", name = name, other = other),
            (Some(other), Frequency::Sometimes) => say!(self.language, "prompt-pair-some", name = name, other = other),
            (None, Frequency::Often) => say!(self.language, "prompt-pair-me-often", name = name),
            (None, Frequency::Sometimes) => say!(self.language, "prompt-pair-me-some", name = name),
        };
        let words: Vec<String> =
            pair.words.iter().map(|word| framed_alone(word)).filter(|word| !word.is_empty()).collect();
        let words = words.join(&self.language.text("list-separator"));
        let about = if words.is_empty() { words } else { say!(self.language, "prompt-pair-words", words = words) };
        format!("{told}{about}")
    }

    fn push(&mut self, tag: &str, body: &str) {
        self.text += &format!("<{tag}>\n{body}</{tag}>\n\n");
    }

    fn words(&self, text: &str) -> String {
        framed(text, self.message_chars, |left| say!(self.language, "prompt-cut", n = left))
    }

    /// The numbers of these messages, such as `[3], [5]`.
    pub fn numbers_of(&self, messages: &[MessageId]) -> String {
        let number = |id: &MessageId| self.numbers.iter().rfind(|(known, _)| **known == *id.as_str());
        let found: Vec<String> = messages.iter().filter_map(number).map(|(_, number)| format!("[{number}]")).collect();
        found.join(", ")
    }

    /// Everything framed so far, followed by the question.
    pub fn with_question(self, question: &str) -> String {
        format!("{}{}", self.text, question.trim())
    }
}

/// Which lines are shown if there is room for this many characters: the newest ones without a gap, and in preference to
/// older ones those of the people who ask.
fn shown_lines(lengths: &[usize], of_askers: &[bool], chars_max: usize) -> Vec<bool> {
    let mut shown = vec![false; lengths.len()];
    // The newest message is always shown: it is what the question is about.
    let Some(newest) = shown.last_mut() else { return shown };
    *newest = true;
    let mut room = chars_max.saturating_sub(*lengths.last().expect("there is a newest line"));
    for asking in [true, false] {
        for index in (0..lengths.len()).rev().filter(|index| of_askers[*index] == asking) {
            if shown[index] {
                continue;
            }
            if lengths[index] > room {
                break;
            }
            room -= lengths[index];
            shown[index] = true;
        }
    }
    shown
}

pub fn framed_alone(words: &str) -> String {
    framed(words, usize::MAX, |_| String::new())
}
