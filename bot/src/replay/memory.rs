//! The model calls of long-term memory in a replay: nothing is stored, and everything is counted.

use std::collections::HashMap;

use aizuchi_core::effect::{Ask, Brief, Delivery, Digesting, Failure, Remember, TranscriptLine, Usage};
use aizuchi_core::input::Answer;
use aizuchi_core::sim::Oracle;
use aizuchi_core::types::{MessageId, RoomId, Span, Time, Voice};
use aizuchi_core::{Input, Policies};
use aizuchi_formats::Event;

use crate::ports::{DigestRequest, PromptBuilder as _, bill};
use crate::prompts::Prompts;

/// The number of calls for long-term memory, and how much models would have read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryCounts {
    pub summaries: u64,
    pub reflections: u64,
    pub failed: u64,
    pub chars: u64,
}

impl MemoryCounts {
    pub fn calls(&self) -> u64 {
        self.summaries + self.reflections
    }
}

/// The oracle of a replay, with a memory that counts.
pub struct CountingMemory<O> {
    inner: O,
    prompts: Prompts,
    policies: Policies,
    /// What was said in each room.
    talk: HashMap<RoomId, Vec<ReplayedMessage>>,
    pub remembered: MemoryCounts,
}

struct ReplayedMessage {
    at: Time,
    id: MessageId,
    name: Box<str>,
    text: Box<str>,
}

impl<O> CountingMemory<O> {
    pub fn new(inner: O, policies: &Policies, events: &[Event]) -> CountingMemory<O> {
        let mut talk: HashMap<RoomId, Vec<ReplayedMessage>> = HashMap::new();
        for event in events {
            if let Input::Said(message) = &event.input
                && message.author.voice != Voice::Me
            {
                let said = ReplayedMessage {
                    at: event.at,
                    id: message.id.clone(),
                    name: message.author.name.clone(),
                    text: message.text.clone(),
                };
                talk.entry(message.place.room.clone()).or_default().push(said);
            }
        }
        let prompts = Prompts::new(policies.general().settings.prompts.folder.clone().into());
        CountingMemory { inner, prompts, policies: policies.clone(), talk, remembered: MemoryCounts::default() }
    }

    /// The length of the prompt that would have been sent.
    fn chars(&self, remember: &Remember) -> u64 {
        let room = &remember.call.room;
        let said = self.talk.get(room).map_or(&[][..], Vec::as_slice);
        let heard = said.partition_point(|said| said.at <= remember.at);
        let new = &said[heard.saturating_sub(remember.new as usize)..heard];
        let line = |said: &'_ ReplayedMessage| (said.id.clone(), said.name.clone(), said.text.clone());
        let lines: Vec<_> = new.iter().map(line).collect();
        let digest = DigestRequest {
            call: remember.call.clone(),
            what: remember.what,
            model: remember.model.clone(),
            tokens_max: remember.tokens_max,
            lines: lines
                .iter()
                .map(|(id, name, text)| TranscriptLine { id: id.as_str(), name, voice: Voice::Person, text })
                .collect(),
            summary: None,
            known: Vec::new(),
        };
        let prompt = self.prompts.digest(&digest, self.policies.for_room(room.as_str()));
        prompt.map_or(0, |prompt| prompt.chars())
    }
}

impl<O: Oracle> Oracle for &mut CountingMemory<O> {
    fn judge(&mut self, ask: &Ask) -> (Span, Result<Answer, Failure>) {
        self.inner.judge(ask)
    }

    fn judge_about(&mut self, ask: &Ask, message: &MessageId) -> (Span, Result<Answer, Failure>) {
        self.inner.judge_about(ask, message)
    }

    fn write(&mut self, brief: &Brief) -> (Span, Result<Answer, Failure>) {
        self.inner.write(brief)
    }

    fn deliver(&mut self, delivery: &Delivery) -> (Span, Result<Vec<MessageId>, Failure>) {
        self.inner.deliver(delivery)
    }

    fn remember(&mut self, remember: &Remember) -> (Span, Result<Usage, Failure>) {
        let (took, done) = self.inner.remember(remember);
        let chars = self.chars(remember);
        match remember.what {
            Digesting::Summary => self.remembered.summaries += 1,
            Digesting::Reflection => self.remembered.reflections += 1,
        }
        self.remembered.chars += chars;
        self.remembered.failed += u64::from(done.is_err());
        let price = self.policies.for_room(remember.call.room.as_str()).price(&remember.model);
        (took, done.map(|_| bill(chars, chars.div_ceil(3), u64::from(remember.tokens_max) / 2, price)))
    }
}
