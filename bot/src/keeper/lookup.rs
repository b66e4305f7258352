//! What a model looks up while it writes: facts, earlier talk and people, limited to what the room it writes in may know.

use aizuchi_core::memory::words::{normal, search_words};
use aizuchi_core::memory::{KnownPerson, Origin, Person, Query, Recalled};
use aizuchi_core::types::{MessageId, PersonId, RoomId, Time};
use aizuchi_core::{Input, Policy};

use super::Keeper;
use super::lines::{RecordedMessage, TalkPart, read_talk};
use super::ties::AskersTies;
use crate::meter::Meter;
use crate::ports::Position;
use crate::stores::StoreError;

/// How many records of the room are read back.
const RECORDS_MAX: u32 = 20_000;
const MESSAGES_MAX: usize = 5_000;

const PEOPLE_MAX: usize = 60;

/// Where something is looked up, and for whom.
#[derive(Clone, Copy)]
pub struct LookupScope<'a> {
    pub room: &'a RoomId,
    /// Who asked, and with which message: the answer is limited to what the readers of that message may know.
    pub asker: &'a PersonId,
    pub message: &'a MessageId,
    pub now: Time,
    /// The last record that counts.
    pub seq: u64,
    pub policy: &'a Policy,
}

/// Which part of earlier talk is looked for; every condition that is set must hold.
#[derive(Clone, Debug, Default)]
pub struct HistoryQuery {
    pub words: String,
    pub by: Option<String>,
    pub since: Option<Time>,
    pub until: Option<Time>,
    pub count: usize,
}

impl Keeper {
    /// Facts about a subject, best match first.
    pub async fn look_up_facts(
        &self,
        scope: LookupScope<'_>,
        text: &str,
        count: usize,
    ) -> Result<Vec<Recalled>, StoreError> {
        let (latest, pending) = self.latest_talk_and_pending(scope.room, scope.seq, MESSAGES_MAX).await?;
        let Some(reader) = reader(&latest, scope) else { return Ok(Vec::new()) };
        let (policies, meter) = (self.policies(), self.embedding_meter(scope.policy));
        let vector = self.meaning_of(text, &meter).await;
        if meter.usage().calls > 0
            && let Some(engine) = self.engine.get()
        {
            let _ = engine.submit(Input::Billed(scope.room.clone(), meter.usage())).await;
        }
        let speaker = Some(scope.asker.clone());
        let (text, at, close) = (text.to_owned(), scope.now, AskersTies::default().close);
        let facts = self.memory.recall(Query { text, speaker, reader, at, count, vector, close }, &policies).await?;
        Ok(pending.without_gone(facts))
    }

    fn embedding_meter(&self, policy: &Policy) -> Meter {
        let model = policy.settings.embedding_model();
        Meter::at(model.map(|model| policy.price(&model)).unwrap_or_default())
    }

    /// What was said here earlier, oldest first. If words are given, the messages that contain most of them.
    pub async fn earlier_talk(
        &self,
        scope: LookupScope<'_>,
        filter: &HistoryQuery,
    ) -> Result<Vec<RecordedMessage>, StoreError> {
        let journal = &*self.stores.journal;
        let before = journal.locate(Position::BeforeLast(Some(scope.room.clone()), RECORDS_MAX)).await?.unwrap_or(0);
        let part = TalkPart::Latest(MESSAGES_MAX);
        let mut said = read_talk(journal, scope.room, before as u64, scope.seq, part).await?.said;
        let by = filter.by.as_deref().map(normal);
        said.retain(|said| {
            said.id != *scope.message
                && !said.is_aside()
                && filter.since.is_none_or(|since| said.at >= since)
                && filter.until.is_none_or(|until| said.at < until)
                && by.as_ref().is_none_or(|by| normal(&said.name).contains(by.as_str()))
        });
        let mut said = self.without_opted_out(said).await?;
        let wanted = search_words(&filter.words);
        if !wanted.is_empty() {
            let score = |said: &RecordedMessage| {
                let has = search_words(&said.text);
                wanted.iter().filter(|word| has.contains(word)).count()
            };
            let mut scored: Vec<(usize, RecordedMessage)> =
                said.into_iter().map(|said| (score(&said), said)).filter(|(score, _)| *score > 0).collect();
            // Of equally good matches, the latest.
            scored.sort_by_key(|(score, said)| std::cmp::Reverse((*score, said.at)));
            said = scored.into_iter().map(|(_, said)| said).take(filter.count).collect();
            said.sort_by_key(|said| said.at);
        }
        let start = said.len().saturating_sub(filter.count);
        Ok(said.split_off(start))
    }

    /// Without the words of people who do not want to be remembered.
    async fn without_opted_out(&self, mut said: Vec<RecordedMessage>) -> Result<Vec<RecordedMessage>, StoreError> {
        let mut people: Vec<PersonId> = said.iter().map(|said| said.person.clone()).collect();
        people.sort();
        people.dedup();
        let out = self.memory.who_opted_out(&people).await?;
        said.retain(|said| !out.contains(&said.person));
        Ok(said)
    }

    /// People who speak here, as far as the reader may know them, latest first.
    pub async fn people_here(&self, scope: LookupScope<'_>) -> Result<Vec<KnownPerson>, StoreError> {
        let (latest, pending) = self.latest_talk_and_pending(scope.room, scope.seq, MESSAGES_MAX).await?;
        let Some(reader) = reader(&latest, scope) else { return Ok(Vec::new()) };
        let (_, marks) = self.memory.channel(scope.room).await?;
        let memory = &scope.policy.settings.memory;
        let mut seen: Vec<&PersonId> = Vec::new();
        let mut people = Vec::new();
        for said in latest.iter().rev().filter(|said| !said.is_aside()) {
            if seen.contains(&&said.person) {
                continue;
            }
            if seen.len() == PEOPLE_MAX {
                break;
            }
            seen.push(&said.person);
            let found = self.memory.people(Some(&said.person)).await?.pop();
            let mut person = found.unwrap_or_else(|| Person::new(said.person.clone(), said.at));
            if !person.opted_out {
                pending.complete(&mut person, scope.room, marks.heard, &latest);
                people.push(person.known_to(&reader, memory.across_rooms, &memory.familiarity));
            }
        }
        Ok(people)
    }
}

/// The audience of the message that asked, or of the last one if none did. `None` if the audience is unknown.
fn reader(latest: &[RecordedMessage], scope: LookupScope<'_>) -> Option<Origin> {
    let is_it = |said: &&RecordedMessage| scope.message.as_str().is_empty() || said.id == *scope.message;
    let asked = latest.iter().rfind(is_it)?;
    Some(Origin { room: scope.room.clone(), visibility: asked.visibility })
}
