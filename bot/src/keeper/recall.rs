//! Recalls what may help before an answer is written, limited to what its readers may know.

use aizuchi_core::effect::Brief;
use aizuchi_core::memory::{ChannelMemory, Memories, MemoryChange, Origin, Person, Query, Recalled, allowed, narrower};
use aizuchi_core::types::{PersonId, RoomId, Visibility, Voice};
use aizuchi_core::{Policies, Time};

use futures_util::future::try_join_all;
use tokio::try_join;

use super::Keeper;
use super::lines::{RecordedMessage, TalkPart, read_talk};
use super::pending::PendingChanges;
use super::ties::AskersTies;
use crate::meter::Meter;
use crate::ports::{JournalStore, Position, WaitDeadline};
use crate::stores::StoreError;

/// The maximum number of people recalled: those who spoke last.
const PEOPLE_MAX: usize = 5;
/// In how many records of the room a message is looked for, and in how many the lines of a brief: a conversation may be one
/// of several.
const LATEST: usize = 200;
const LATEST_FOR_LINES: usize = 40;

impl Keeper {
    /// Fills in what is remembered; `meter` counts the cost. If memory fails, the answer is written without it. `false` if it
    /// was to mention a fact that may no longer be mentioned.
    pub async fn remind(&self, brief: &mut Brief, seq: u64, meter: &Meter) -> bool {
        let waiting = self.waiting();
        self.recollect(brief, seq, meter, waiting).await;
        let reminded = waiting.within(async { Ok(self.remind_writer(brief, seq, meter).await) }).await.flatten();
        reminded.unwrap_or(false)
    }

    async fn recollect(&self, brief: &mut Brief, seq: u64, meter: &Meter, waiting: WaitDeadline) {
        match waiting.within(self.memories(brief, seq, &self.policies(), meter)).await.flatten() {
            Ok(memories) => brief.memories = memories,
            Err(error) => tracing::warn!(%error, room = %brief.place.room, "cannot read memory; answering without it"),
        }
    }

    async fn memories(
        &self,
        brief: &Brief,
        seq: u64,
        policies: &Policies,
        meter: &Meter,
    ) -> Result<Memories, StoreError> {
        let policy = policies.for_room(brief.place.room.as_str());
        let memory = &policy.settings.memory;
        if !memory.enabled {
            return Ok(Memories::default());
        }
        let room = &brief.place.room;
        // Read before memory, so that nothing is missed that memory processes meanwhile.
        let count = (LATEST_FOR_LINES + 2 * brief.transcript.lines.len()).min(LATEST);
        let (latest, pending) = self.latest_talk_and_pending(room, seq, count).await?;
        let shown: Vec<&str> = brief.transcript.lines.iter().map(|line| line.id).collect();
        let talk: Vec<&RecordedMessage> = latest.iter().filter(|said| shown.contains(&said.id.as_str())).collect();
        // If no messages are known, the audience is unknown.
        let Some(visibility) = talk.iter().map(|said| said.visibility).reduce(wider) else {
            return Ok(Memories::default());
        };
        let reader = Origin { room: room.clone(), visibility };
        let across = memory.across_rooms;
        let people = if memory.profiles { latest_people(&talk) } else { Vec::new() };
        let asks: Vec<&&RecordedMessage> = talk.iter().filter(|said| brief.answering.contains(&said.id)).collect();
        let speaker = asks.last().map(|said| said.person.clone());
        let text = asks.iter().map(|said| &*said.text).collect::<Vec<_>>().join("\n");
        let ties = match &speaker {
            Some(asker) if memory.people => {
                self.ties_of_asker(asker, (&reader, across), brief.at, (&talk, &pending)).await?
            }
            _ => AskersTies::default(),
        };
        let recall = async {
            if text.is_empty() {
                return Ok(Vec::new());
            }
            let (count, vector) = (memory.recall_facts as usize, self.meaning_of(&text, meter).await);
            let (text, reader, close) = (text.clone(), reader.clone(), ties.close);
            self.memory.recall(Query { text, speaker, reader, at: brief.at, count, vector, close }, policies).await
        };
        let known = try_join_all(people.iter().map(|person| self.memory.people(Some(person))));
        let ((channel, marks), known, facts) = try_join!(self.memory.channel(room), known, recall)?;
        let mut memories = Memories { facts: pending.without_gone(facts), pairs: ties.told, ..Memories::default() };
        if memory.channel_context {
            let may = |channel: &ChannelMemory| allowed(&channel.origin, &reader, across).is_some();
            memories.channel = channel.filter(|channel| pending.leaves(channel) && may(channel));
        }
        for (id, mut known) in people.into_iter().zip(known) {
            // The person who asks has just spoken, and memory may not know them yet.
            let mut person = known.pop().unwrap_or_else(|| Person::new(id, brief.at));
            if !person.opted_out {
                pending.complete(&mut person, room, marks.heard, &latest);
                memories.people.push(person.known_to(&reader, across, &memory.familiarity));
            }
        }
        self.note_use(&memories.facts, brief.at);
        Ok(memories)
    }

    /// Notes that facts were used, since used facts fade more slowly. Nothing waits for this.
    fn note_use(&self, recalled: &[Recalled], at: Time) {
        let facts: Vec<_> = recalled.iter().map(|recalled| recalled.fact.id).collect();
        if facts.is_empty() {
            return;
        }
        let (memory, policies) = (self.memory.clone(), self.policies());
        tokio::spawn(async move {
            if let Err(error) = memory.apply(vec![MemoryChange::Used { facts, at }], &policies).await {
                tracing::warn!(%error, "cannot store which facts were used");
            }
        });
    }

    /// What was recently said in a room, up to the record `seq`.
    pub(super) async fn latest_talk(&self, room: &RoomId, seq: u64) -> Result<Vec<RecordedMessage>, StoreError> {
        latest_talk(&*self.stores.journal, room, seq, LATEST).await
    }

    /// The same, including what memory has not processed yet.
    pub(super) async fn latest_talk_and_pending(
        &self,
        room: &RoomId,
        seq: u64,
        count: usize,
    ) -> Result<(Vec<RecordedMessage>, PendingChanges), StoreError> {
        let latest = latest_talk(&*self.stores.journal, room, seq, count).await?;
        Ok((latest, PendingChanges::read(&self.stores).await?))
    }
}

async fn latest_talk(
    journal: &dyn JournalStore,
    room: &RoomId,
    seq: u64,
    count: usize,
) -> Result<Vec<RecordedMessage>, StoreError> {
    let after = journal.locate(Position::BeforeLast(Some(room.clone()), count as u32)).await?.unwrap_or(0);
    Ok(read_talk(journal, room, after as u64, seq, TalkPart::Latest(count)).await?.said)
}

fn wider(a: Visibility, b: Visibility) -> Visibility {
    if narrower(a, b) == a { b } else { a }
}

fn latest_people(talk: &[&RecordedMessage]) -> Vec<PersonId> {
    let mut people: Vec<PersonId> = Vec::new();
    for said in talk.iter().rev().filter(|said| said.voice == Voice::Person) {
        if !people.contains(&said.person) && people.len() < PEOPLE_MAX {
            people.push(said.person.clone());
        }
    }
    people
}
