//! Who answers whom, learnt from decisions.
//!
//! For each message the engine finds the one it seems to answer, and the decision contains it. So nothing has to be
//! computed again, and no message waits for it: the loop only notes the ids of decisions as they become final, and the
//! keeper looks them up in the journal later. The journal has the speakers, the current text of the messages and who could
//! read them; what was deleted or forgotten since is not found, and adds nothing. Notes are not durable: a crash loses
//! those of the last second, and nothing counts twice: not either where it is not known whether a store has counted it.

use std::collections::{BTreeMap, VecDeque};

use aizuchi_core::memory::words::{normal, topics};
use aizuchi_core::memory::{
    Answered, CloseTo, KnownPair, MemoryChange, Origin, Pair, Tie, asked_to_forget, pairs_of_ties,
};
use aizuchi_core::trace::Outcome;
use aizuchi_core::types::{BOT_KEY, MessageId, PersonId, RoomId, Voice};
use aizuchi_core::{Input, Message, Policies, Time, Trace};
use futures_util::future::try_join_all;

use super::Keeper;
use super::lines::{RecordedMessage, TOPICS};
use super::pending::PendingChanges;
use super::watch::is_aside;
use crate::journal::read::look_up;
use crate::ports::Selection;
use crate::stores::StoreError;

/// The maximum number of noted decisions; more are not counted.
const WAITING_MAX: usize = 10_000;
/// How many are read at once.
const TOGETHER: usize = 64;
/// How many people's facts rank higher because they are close to the one who asks.
const CLOSE_MAX: usize = 5;
/// How many pairs a writer is shown, and how many words of each.
const PAIRS_TOLD: usize = 3;
const WORDS_TOLD: usize = 3;

/// What a decision says about who answers whom.
#[derive(Clone, Debug)]
pub(super) struct NotedLink {
    room: RoomId,
    message: MessageId,
    /// The message it seems to answer.
    guess: Option<MessageId>,
    to_me: bool,
    /// Whether the bot answered it.
    answered: bool,
}

/// The ties of the one who asks, as far as they are of use for an answer.
#[derive(Debug, Default)]
pub(super) struct AskersTies {
    pub close: Vec<CloseTo>,
    pub told: Vec<KnownPair>,
}

pub(super) type Messages = BTreeMap<(RoomId, MessageId), Message>;

impl Keeper {
    /// Notes decisions that have become final. This is cheap: they are read later.
    pub fn note_links(&self, decided: &[Trace]) {
        // A decision is reported once more when people's response to it is known.
        let made = decided.iter().filter(|trace| trace.received.is_none());
        let links = made.map(|trace| NotedLink {
            room: trace.place.room.clone(),
            message: trace.message.clone(),
            guess: trace.reply_to_guess.clone(),
            to_me: trace.addressed.is_some(),
            answered: matches!(trace.outcome, Outcome::Replies | Outcome::Acknowledges),
        });
        let mut noted = self.links();
        let free = WAITING_MAX.saturating_sub(noted.len());
        noted.extend(links.take(free));
    }

    /// Processes the noted decisions. Nothing is counted for a person while they are being forgotten.
    pub(super) async fn take_links(&self, policies: &Policies) -> Result<(), StoreError> {
        let _counted = self.counted.lock().await;
        loop {
            // A change goes on when nobody waits for it any longer: what it counts must not be found here again.
            let some = self.take_noted_links();
            if some.is_empty() {
                return Ok(());
            }
            if let Err(error) = self.count_links(&some, policies).await {
                // After any other error they may have been counted, or would fail again.
                if !matches!(error, StoreError::Failed(_)) {
                    let mut noted = self.links();
                    some.into_iter().rev().for_each(|link| noted.push_front(link));
                }
                return Err(error);
            }
        }
    }

    fn take_noted_links(&self) -> Vec<NotedLink> {
        let mut noted = self.links();
        let count = noted.len().min(TOGETHER);
        noted.drain(..count).collect()
    }

    async fn count_links(&self, links: &[NotedLink], policies: &Policies) -> Result<(), StoreError> {
        let changes = self.answers(links, policies).await?;
        if changes.is_empty() { Ok(()) } else { self.memory.apply(changes, policies).await }
    }

    async fn answers(&self, links: &[NotedLink], policies: &Policies) -> Result<Vec<MemoryChange>, StoreError> {
        let wanted = |link: &&NotedLink| {
            let memory = &policies.for_room(link.room.as_str()).settings.memory;
            memory.enabled && memory.people
        };
        let links: Vec<&NotedLink> = links.iter().filter(wanted).collect();
        let said = self.messages(links.iter().map(|link| (link.room.clone(), link.message.clone())).collect()).await?;
        let said_by_people = links.iter().filter_map(|link| {
            let message = said.get(&(link.room.clone(), link.message.clone()))?;
            // A message that not everybody in the room could read is no tie of the room, nor is a request to forget
            // something.
            let counts = !is_aside(message) && asked_to_forget(&message.text).is_none();
            (message.author.voice == Voice::Person && counts).then_some((*link, message))
        });
        let said_by_people: Vec<(&NotedLink, &Message)> = said_by_people.collect();
        let targets = said_by_people.iter().filter_map(|(link, message)| target(link, message));
        let targets = self.messages(targets.collect()).await?;
        let bot = &policies.general().settings.bot;
        let own: Vec<&str> = std::iter::once(&bot.name).chain(&bot.aliases).map(String::as_str).collect();
        let mut changes = Vec::new();
        for (link, message) in said_by_people {
            let target = target(link, message).and_then(|target| targets.get(&target));
            changes.extend(answer(link, message, target, &own));
            if link.answered {
                let (from, to) = (PersonId::new(BOT_KEY), message.author.id.clone());
                changes.push(answered(message, from, to, Vec::new()));
            }
        }
        Ok(changes.into_iter().map(|answered| MemoryChange::Answered(Box::new(self.dated(answered)))).collect())
    }

    /// By the date of one answer, what was learnt before fades: a date that is years ahead must not.
    fn dated(&self, answered: Answered) -> Answered {
        let clock = *self.clock.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let at = clock.map_or(answered.at, |clock| clock.believed(answered.at));
        Answered { at, ..answered }
    }

    /// Messages in their current text, without deleted ones.
    pub(super) async fn messages(&self, ids: Vec<(RoomId, MessageId)>) -> Result<Messages, StoreError> {
        let mut found = Messages::new();
        if ids.is_empty() {
            return Ok(found);
        }
        look_up(&*self.stores.index, &Selection::Messages(ids), |record| {
            if let Input::Said(message) = record.input {
                let key = (message.place.room.clone(), message.id.clone());
                found.entry(key).or_insert(message);
            } else if let Input::Changed(change) = record.input {
                let key = (change.place.room, change.id);
                if let Some(text) = change.text {
                    found.entry(key).and_modify(|message| message.text = text);
                } else {
                    found.remove(&key);
                }
            }
        })
        .await?;
        Ok(found)
    }

    /// The ties of the one who asks, as far as the reader may know them: who is close to them, and whom of those present
    /// they often answer.
    pub(super) async fn ties_of_asker(
        &self,
        asker: &PersonId,
        reader: (&Origin, bool),
        at: Time,
        (talk, pending): (&[&RecordedMessage], &PendingChanges),
    ) -> Result<AskersTies, StoreError> {
        let mut ties = self.memory.ties(None, Some(asker)).await?;
        ties.retain(|tie| tie.is_known_to(reader.0, reader.1));
        pending.take_from_ties(&mut ties);
        let pairs = pairs_of_ties(&ties, at);
        let name_here = |person: &PersonId| {
            let here = talk.iter().rev().find(|said| said.voice == Voice::Person && said.person == *person);
            here.map(|said| said.name.clone())
        };
        let Some(name) = name_here(asker) else { return Ok(AskersTies::default()) };
        let told = pairs.iter().filter_map(|pair| {
            let other = pair.other_than(asker);
            let other = if other.as_str() == BOT_KEY { None } else { Some(name_here(other)?) };
            let words = pair.words.iter().take(WORDS_TOLD).cloned().collect();
            Some(KnownPair { name: name.clone(), other, frequency: pair.frequency()?, words })
        });
        let told = told.take(PAIRS_TOLD).collect();
        let is_close = |pair: &&Pair| pair.frequency().is_some() && pair.other_than(asker).as_str() != BOT_KEY;
        let close = pairs.iter().filter(is_close).take(CLOSE_MAX).map(async |pair| {
            let person = pair.other_than(asker).clone();
            let known = self.memory.people(Some(&person)).await?;
            let name = known.first().and_then(|person| person.names.first().cloned()).unwrap_or_default();
            Ok::<_, StoreError>(CloseTo { person, name, closeness: pair.closeness() })
        });
        Ok(AskersTies { close: try_join_all(close).await?, told })
    }

    fn links(&self) -> std::sync::MutexGuard<'_, VecDeque<NotedLink>> {
        self.links.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// The message that this one answers: by the platform's own link, or else by the engine's guess.
fn target(link: &NotedLink, message: &Message) -> Option<(RoomId, MessageId)> {
    let by_link = message.reply.as_ref().and_then(|reply| reply.to.clone());
    let guess = || link.guess.clone().filter(|guess| *guess != message.id && !link.to_me);
    Some((message.place.room.clone(), by_link.or_else(guess)?))
}

fn answer(link: &NotedLink, message: &Message, target: Option<&Message>, own_names: &[&str]) -> Option<Answered> {
    let is_to_bot = message.reply.as_ref().is_some_and(|reply| reply.to_me) || link.to_me;
    let target = target.filter(|target| !is_aside(target));
    let to = match target.map(|target| (target.author.voice, &target.author.id)) {
        Some((Voice::Person, person)) => person.clone(),
        Some((Voice::Me, _)) => PersonId::new(BOT_KEY),
        Some((Voice::Bot, _)) => return None,
        None if is_to_bot => PersonId::new(BOT_KEY),
        None => return None,
    };
    let target = target.filter(|target| target.author.voice == Voice::Person);
    // The name of the person addressed is not a subject.
    let names = [Some(message), target].into_iter().flatten().map(|said| &*said.author.name);
    let names: Vec<String> = names.chain(own_names.iter().copied()).map(normal).collect();
    let is_name = |word: &str| names.iter().any(|name| name.split_whitespace().any(|part| part == word));
    let words = [Some(message), target].into_iter().flatten().flat_map(|said| {
        let words = topics(&said.text, TOPICS).into_iter();
        words.map(|word| (word, said.id.clone()))
    });
    let words = words.filter(|(word, _)| !is_name(word)).collect();
    Some(answered(message, message.author.id.clone(), to, words))
}

fn answered(message: &Message, from: PersonId, to: PersonId, words: Vec<(Box<str>, MessageId)>) -> Answered {
    let origin = Origin { room: message.place.room.clone(), visibility: message.visibility };
    Answered { origin, from, to, at: message.at, words }
}

impl PendingChanges {
    /// Removes the words of messages that were just deleted from these ties.
    pub(super) fn take_from_ties(&self, ties: &mut [Tie]) {
        for tie in ties {
            for gone in &self.0 {
                tie.apply(gone);
            }
        }
    }
}
