//! Asks a model to summarize talk or to reflect on it, and stores the result.

use std::collections::BTreeSet;

use aizuchi_core::Policies;
use aizuchi_core::effect::{Digesting, Failure, Lines, Remember, TranscriptLine as Shown, Usage};
use aizuchi_core::memory::{
    self, ChannelMemory, ContextTurn, DigestLine, Fact, FactId, Filter, MESSAGES_MAX, MemoryChange, Origin,
    read_reflection, read_summary,
};
use aizuchi_core::types::{MessageId, PersonId, RoomId, Visibility, Voice};

use super::Keeper;
use super::lines::{RecordedMessage, TalkPart, read_talk};
use crate::ports::DigestRequest;
use crate::stores::StoreError;

/// The maximum number of messages read at once, and how much of the longest talk of a prompt they may take.
const MESSAGES_AT_ONCE: usize = 200;
/// More messages are read than used, since some may be left out.
const READ_AT_ONCE: usize = 2 * MESSAGES_AT_ONCE;
const SHARE_OF_TALK: f64 = 0.8;
const KNOWN_MAX: usize = 20;
const ACTIVE_MAX: usize = 20;

/// Whether there may be more to process.
enum Remaining {
    More,
    Nothing,
}

impl Keeper {
    /// Processes everything said in the room up to the record `seq` that was not processed before. Returns the cost.
    pub async fn remember(&self, remember: Remember, seq: u64) -> Result<Usage, Failure> {
        let policies = self.policies();
        let mut usage = Usage::default();
        for _ in 0..remember.calls_max {
            match self.remember_part(&remember, seq, &policies, &mut usage).await {
                Ok(Remaining::More) => (),
                Ok(Remaining::Nothing) => break,
                // What was paid counts even if the call failed.
                Err(Failure { what, usage: more }) => {
                    return Err(Failure { what, usage: more.map(|more| usage + more) });
                }
            }
        }
        Ok(usage)
    }

    /// Processes as much as a model can read at once. The cost is added to `usage` as soon as it is known.
    async fn remember_part(
        &self,
        remember: &Remember,
        seq: u64,
        policies: &Policies,
        usage: &mut Usage,
    ) -> Result<Remaining, Failure> {
        let room = &remember.call.room;
        let (channel, marks) = self.memory.channel(room).await.map_err(failed)?;
        let mark = match remember.what {
            Digesting::Summary => marks.summarized,
            Digesting::Reflection => marks.reflected,
        };
        let talk = self.talk(room, mark, seq, remember, policies).await.map_err(failed)?;
        let Some(last) = talk.last() else { return Ok(Remaining::Nothing) };
        let (up_to, at, visibility) = (last.seq, last.at, last.visibility);
        let origin = Origin { room: room.clone(), visibility };
        let known = match remember.what {
            Digesting::Summary => Vec::new(),
            Digesting::Reflection => self.find_known_facts(&origin, &talk).await.map_err(failed)?,
        };
        let known_ids: Vec<FactId> = known.iter().map(|fact| fact.id).collect();
        let digest = DigestRequest {
            call: remember.call.clone(),
            what: remember.what,
            model: remember.model.clone(),
            tokens_max: remember.tokens_max,
            lines: to_lines(&talk),
            summary: channel.clone().filter(|channel| memory::allowed(&channel.origin, &origin, false).is_some()),
            known,
        };
        let answer = self.models.clone().digest(Box::new(digest), policies.clone().into()).await?;
        *usage = *usage + Usage { calls: answer.usage.calls.max(1), ..answer.usage };
        let change = match remember.what {
            Digesting::Summary => {
                let summary = read_summary(&answer.text).map_err(Failure::unpaid)?;
                let (active, messages) = active_and_messages(channel.as_ref(), &talk);
                MemoryChange::Summarized(Box::new(ChannelMemory {
                    origin,
                    summary: summary.summary,
                    mood: summary.mood,
                    topics: summary.topics,
                    active,
                    at,
                    up_to,
                    messages,
                }))
            }
            Digesting::Reflection => {
                let lines: Vec<DigestLine> = talk.iter().map(line).collect();
                let mut found =
                    read_reflection(&answer.text, &lines, &known_ids, &origin, at).map_err(Failure::unpaid)?;
                if !policies.for_room(room.as_str()).settings.memory.profile_tags {
                    found.people.clear();
                }
                let turns: Vec<ContextTurn> = talk.iter().map(to_turn).collect();
                let facts = found.facts.into_iter().map(|draft| draft.within(&turns)).collect();
                MemoryChange::Reflected { origin, up_to, at, facts, people: found.people }
            }
        };
        // While the model read it, a message may have been deleted or a person forgotten: then nothing of it is stored, and
        // the rest is read again.
        let _still = self.counted.lock().await;
        if self.talk(room, mark, seq, remember, policies).await.map_err(failed)? != talk {
            return Err(Failure::unpaid("the messages changed while they were read"));
        }
        self.memory.apply(vec![change], policies).await.map_err(failed)?;
        Ok(Remaining::More)
    }

    /// New messages, as many as fit. However far memory is behind, no more are held than are read at once.
    async fn talk(
        &self,
        room: &RoomId,
        mark: u64,
        seq: u64,
        remember: &Remember,
        policies: &Policies,
    ) -> Result<Vec<RecordedMessage>, StoreError> {
        let part =
            if mark == 0 { TalkPart::Latest(remember.new.max(1) as usize) } else { TalkPart::First(READ_AT_ONCE) };
        let mut after = mark;
        loop {
            let read = read_talk(&*self.stores.journal, room, after, seq, part).await?;
            let talk = self.wanted(read.said, room, policies).await?;
            match read.read_to {
                // All of these were left out; the following ones may not be.
                Some(next) if talk.is_empty() => after = next,
                Some(_) | None => return Ok(talk),
            }
        }
    }

    /// As many messages as fit, without those of people who opted out and those that not all readers of the room could
    /// read.
    async fn wanted(
        &self,
        mut talk: Vec<RecordedMessage>,
        room: &RoomId,
        policies: &Policies,
    ) -> Result<Vec<RecordedMessage>, StoreError> {
        let public = talk.iter().any(|said| said.visibility == Visibility::Public);
        let people: BTreeSet<&PersonId> = talk.iter().map(|said| &said.person).collect();
        let people: Vec<PersonId> = people.into_iter().cloned().collect();
        let unwanted = self.memory.who_opted_out(&people).await?;
        talk.retain(|said| {
            let by_all = !public || said.visibility == Visibility::Public;
            // A request to forget something must not itself be remembered.
            let is_request = memory::asked_to_forget(&said.text).is_some();
            !unwanted.contains(&said.person) && !said.is_aside() && by_all && !is_request
        });
        let prompts = &policies.for_room(room.as_str()).settings.prompts;
        let mut chars = (f64::from(prompts.talk_chars) * SHARE_OF_TALK) as usize;
        let mut fits = |said: &RecordedMessage| {
            let length = said.name.chars().count() + said.text.chars().count().min(prompts.message_chars as usize) + 12;
            let fits = length <= chars;
            chars = chars.saturating_sub(length);
            fits
        };
        let count = talk.iter().take(MESSAGES_AT_ONCE).take_while(|said| fits(said)).count().max(1);
        talk.truncate(count);
        Ok(talk)
    }

    /// The facts of the room that are most similar to the talk: it may repeat or correct them.
    async fn find_known_facts(&self, origin: &Origin, talk: &[RecordedMessage]) -> Result<Vec<Fact>, StoreError> {
        let mut facts = self.memory.facts(Filter { room: Some(origin.room.clone()), ..Filter::default() }).await?;
        facts.retain(|fact| fact.former.is_none() && memory::allowed(&fact.origin, origin, false).is_some());
        Ok(memory::most_like(facts, talk.iter().map(|said| &*said.text), KNOWN_MAX))
    }
}

fn to_lines(talk: &[RecordedMessage]) -> Lines {
    talk.iter()
        .map(|said| Shown { id: said.id.as_str(), name: &said.name, voice: said.voice, text: &said.text })
        .collect()
}

fn line(said: &RecordedMessage) -> DigestLine {
    DigestLine {
        message: said.id.clone(),
        person: said.person.clone(),
        name: said.name.clone(),
        text: said.text.clone(),
    }
}

fn to_turn(said: &RecordedMessage) -> ContextTurn {
    ContextTurn {
        message: said.id.clone(),
        person: said.person.clone(),
        name: said.name.clone(),
        at: said.at,
        offset: 0,
        text: said.text.clone(),
    }
}

/// In order of appearance, those of the previous summary first; includes everybody the summary rests on.
type ActivePeople = Vec<(PersonId, Box<str>)>;

fn active_and_messages(before: Option<&ChannelMemory>, talk: &[RecordedMessage]) -> (ActivePeople, Vec<MessageId>) {
    let mut active: ActivePeople = Vec::new();
    for said in talk.iter().filter(|said| said.voice == Voice::Person) {
        if active.iter().all(|(person, _)| *person != said.person) && active.len() < ACTIVE_MAX {
            active.push((said.person.clone(), said.name.clone()));
        }
    }
    let earlier = before.map_or(&[][..], |before| &before.messages);
    let mut messages: Vec<MessageId> = earlier.iter().cloned().chain(talk.iter().map(|said| said.id.clone())).collect();
    messages.drain(..messages.len().saturating_sub(MESSAGES_MAX));
    (active, messages)
}

fn failed(error: StoreError) -> Failure {
    Failure::unpaid(error.to_string())
}
