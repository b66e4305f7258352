//! Forgets a person everywhere: a job that is stored first and completes whatever happens.
//!
//! 1. What is kept of them is looked up: their names, rooms, words, and the answers to them.
//! 2. That is written down, durably, as a job. Before this nothing has happened; after it the job ends, also after a crash. Where
//!    memory cannot be reached, or another person is being forgotten for too long, what the journal knows is written down and
//!    deleted, and memory is asked again until it answers. What the person says after that stays.
//! 3. Platforms let go of them first, so that nothing of them is heard again; then engines and journal, then memory.
//! 4. The job loses everything that says who it was, and copies of what was deleted leave the file.
//! 5. The old pages leave the log beside it, which a reader can delay; then the job itself goes.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use aizuchi_core::memory::words::{DoubtfulName, NameCandidates, NameDoubt, bare_name};
use aizuchi_core::memory::{FactId, Filter, ForgetRequest};
use aizuchi_core::types::{PersonId, RoomId};

use super::Keeper;
use super::jobs::StoredForgetJob;
use super::names::{KnownAs, Remembered};
use crate::journal::{Journal, PersonTrail};
use crate::ports::{JobStep, Platform};
use crate::runtime::{EngineHandle, ShuttingDown, StoringError};
use crate::stores::{FileCleanup, StoreError};

/// Why a person was not forgotten. Nothing was begun.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForgetError {
    #[error("aizuchi is stopping")]
    Gone,
    #[error("{0}")]
    Store(#[from] StoreError),
    /// This is not a known name of the person.
    #[error("{0} is not a known name of the person who asks")]
    NotTheirName(Box<str>),
}

impl From<StoringError> for ForgetError {
    fn from(error: StoringError) -> ForgetError {
        match error {
            StoringError::Gone(gone) => gone.into(),
            StoringError::Store(error) => error.into(),
        }
    }
}

impl From<ShuttingDown> for ForgetError {
    fn from(_: ShuttingDown) -> ForgetError {
        ForgetError::Gone
    }
}

/// The result of a request to be forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgetResult {
    pub state: ForgetState,
    /// Names that may be something else: what the bot said by these names is left until they say so.
    pub doubtful: Vec<DoubtfulName>,
    /// Names that they confirmed and that others have too: what rests on others' words alone is kept.
    pub shared: Vec<DoubtfulName>,
}

/// What is known of a person who is to be forgotten.
pub(super) struct LookedUp {
    pub request: ForgetRequest,
    /// Names that they have not confirmed.
    pub doubtful: Vec<DoubtfulName>,
    /// Names that they confirmed and that others have too.
    pub shared: Vec<DoubtfulName>,
    /// Facts with names that others have too, of talk in which they took part.
    pub shared_facts: Vec<FactId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForgetState {
    Done,
    /// Everything is deleted; old pages leave the files once nobody reads them any more.
    StillRead,
    /// The job is stored, and continues in the background.
    Interrupted,
}

/// How long a person may confirm that a name is theirs.
const CONFIRMS_WITHIN: Duration = Duration::from_secs(3600);
const CONFIRMING_MAX: usize = 1_000;
/// Names that a person was asked about.
pub(super) struct OpenQuestion {
    ids: Vec<PersonId>,
    pub names: Vec<DoubtfulName>,
    /// The servers on which these names count: nothing else knows that afterwards.
    homes: Vec<Box<str>>,
    /// Facts with names that others have too, of talk in which the person took part: nothing else knows that afterwards.
    facts: Vec<FactId>,
    at: tokio::time::Instant,
}

impl OpenQuestion {
    pub(super) fn new(
        ids: Vec<PersonId>,
        doubtful: &[DoubtfulName],
        homes: Vec<Box<str>>,
        facts: Vec<FactId>,
    ) -> OpenQuestion {
        OpenQuestion { ids, names: doubtful.to_vec(), homes, facts, at: tokio::time::Instant::now() }
    }
}

impl Keeper {
    /// Forgets a person. `confirmed` are names that they confirmed as theirs, even if other people may use them too.
    pub async fn forget(
        &self,
        ids: Vec<PersonId>,
        confirmed: &[Box<str>],
        engine: &EngineHandle,
        platforms: &[Arc<dyn Platform>],
    ) -> Result<ForgetResult, ForgetError> {
        let waiting = self.waiting();
        let trail = Journal::new(self.stores.clone()).trail(&ids, platforms).await?;
        // The one before may be waiting for a memory that does not answer.
        let one = waiting.within(self.forgetting.lock()).await;
        // What is here goes at once, for which some time is left.
        let people = match &one {
            Ok(_) => waiting.half().within(self.memory.people(None)).await.flatten(),
            Err(error) => Err(error.clone()),
        };
        let (is_away, people) = (people.is_err(), people.unwrap_or_default());
        let facts = match is_away {
            false => waiting.half().within(self.memory.facts(Filter::default())).await.flatten().ok(),
            true => None,
        };
        let remembered = Remembered { people, facts };
        let LookedUp { request, mut doubtful, shared, shared_facts } =
            self.request(ids, confirmed, trail, &remembered, platforms).await?;
        let (ids, homes) = (request.ids.clone(), request.person_names().scope.all_homes());
        let step = match is_away {
            false => {
                // Names that nobody used need no question; without memory nobody can tell.
                let left = self.names_left(&request, doubtful.clone(), &remembered, platforms);
                doubtful = waiting.half().within(left).await.flatten().unwrap_or(doubtful);
                JobStep::Delete(Box::new(request))
            }
            true => JobStep::DeleteHere(Box::new(request)),
        };
        let job = StoredForgetJob::begin(step, &*self.stores.jobs).await?;
        let done = match one {
            Ok(_) => waiting.within(self.carry_out(job, engine, platforms)).await.map_err(ForgetError::from).flatten(),
            Err(error) => Err(error.into()),
        };
        let state = match done {
            Ok(FileCleanup::Done) => ForgetState::Done,
            Ok(FileCleanup::StillRead) => ForgetState::StillRead,
            Err(error) => {
                tracing::warn!(%error, "forgetting a person was interrupted; retrying");
                ForgetState::Interrupted
            }
        };
        if state != ForgetState::Done {
            self.unfinished.notify_one();
        }
        self.ask_about(OpenQuestion::new(ids, &doubtful, homes, shared_facts));
        Ok(ForgetResult { state, doubtful, shared })
    }

    /// What is kept of them, and which of their names may be somebody else's.
    pub(super) async fn look_up(
        &self,
        ids: Vec<PersonId>,
        confirmed: &[Box<str>],
        platforms: &[Arc<dyn Platform>],
    ) -> Result<LookedUp, ForgetError> {
        let trail = Journal::new(self.stores.clone()).trail(&ids, platforms).await?;
        let remembered = self.remembered().await?;
        let found = self.request(ids, confirmed, trail, &remembered, platforms).await?;
        let doubtful = self.names_left(&found.request, found.doubtful, &remembered, platforms).await?;
        Ok(LookedUp { doubtful, ..found })
    }

    /// The same, of what the journal and memory know.
    async fn request(
        &self,
        ids: Vec<PersonId>,
        confirmed: &[Box<str>],
        trail: PersonTrail,
        remembered: &Remembered,
        platforms: &[Arc<dyn Platform>],
    ) -> Result<LookedUp, ForgetError> {
        let KnownAs { candidates, others, scope } = self.known_as(&ids, remembered, platforms).await?;
        let NameCandidates { certain: mut names, mut doubtful } = candidates;
        let (mut confirmed_names, mut homes): (Vec<Box<str>>, Vec<Box<str>>) = (Vec::new(), Vec::new());
        let mut shared: Vec<DoubtfulName> = Vec::new();
        for name in confirmed {
            let same = |form: &str| bare_name(form) == bare_name(name);
            if let Some(form) = names.iter().find(|form| same(form)) {
                confirmed_names.push(form.clone());
                continue;
            }
            let known = doubtful.iter().find(|known| same(&known.name)).cloned();
            let asked = self.asked_about(&ids, &same);
            homes.extend(asked.iter().flat_map(|(_, homes)| homes.clone()));
            let Some(known) = known.or(asked.map(|(known, _)| known)) else {
                return Err(ForgetError::NotTheirName(name.clone()));
            };
            doubtful.retain(|known| !same(&known.name));
            let known_name = known.name.clone();
            // Since they were asked, somebody else may have come by that name.
            let now = NameCandidates::sorted([&**name], others.iter().map(|name| &**name)).doubtful;
            let now = now.into_iter().find(|now| same(&now.name) && now.doubt.is_shared());
            match now.or(known.doubt.is_shared().then_some(known)) {
                Some(known) => shared.push(known),
                None => confirmed_names.push(known_name),
            }
        }
        names.retain(|name| !confirmed_names.contains(name));
        let shared_names = shared.iter().map(|known| known.name.clone()).collect();
        let PersonTrail { rooms, answers, phrases, .. } = trail;
        let rooms: BTreeSet<RoomId> = rooms.into_iter().chain(scope.rooms).collect();
        let shared_facts = if shared.is_empty() { Vec::new() } else { self.asked_facts(&ids) };
        let request = ForgetRequest {
            ids,
            names,
            confirmed_names,
            homes,
            shared_names,
            shared_facts,
            rooms: rooms.into_iter().collect(),
            answers: answers.into_iter().collect(),
            phrases,
        };
        let shared_facts = facts_by_shared(&request.ids, &doubtful, remembered);
        Ok(LookedUp { request, doubtful, shared, shared_facts })
    }

    /// Remembers what a person was asked, for a limited time and only in RAM.
    pub(super) fn ask_about(&self, question: OpenQuestion) {
        let mut asked = self.asked();
        asked.retain(|asked| asked.at.elapsed() < CONFIRMS_WITHIN);
        if question.names.is_empty() {
            return;
        }
        asked.retain(|asked| asked.ids != question.ids);
        if asked.len() == CONFIRMING_MAX {
            asked.remove(0);
        }
        asked.push(question);
    }

    /// Who has the store may confirm any name, also one that the store has forgotten with the person.
    pub(super) fn ask_operator(&self, ids: &[PersonId], names: &[Box<str>]) {
        let doubtful = names.iter().cloned().map(|name| DoubtfulName { name, doubt: NameDoubt::Part });
        let platforms = ids.iter().filter_map(|id| id.as_str().split_once(':'));
        let homes = platforms.map(|(platform, _)| format!("{platform}:").into()).collect();
        self.ask_about(OpenQuestion::new(ids.to_vec(), &doubtful.collect::<Vec<_>>(), homes, Vec::new()));
    }

    fn asked_facts(&self, ids: &[PersonId]) -> Vec<FactId> {
        let asked = self.asked();
        asked.iter().filter(|asked| asked.ids == ids).flat_map(|asked| asked.facts.clone()).collect()
    }

    /// What they were asked about a name, and the servers on which it counts.
    fn asked_about(&self, ids: &[PersonId], same: &dyn Fn(&str) -> bool) -> Option<(DoubtfulName, Vec<Box<str>>)> {
        let asked = self.asked();
        let mut recent = asked.iter().filter(|asked| asked.ids == ids && asked.at.elapsed() < CONFIRMS_WITHIN);
        recent.find_map(|asked| {
            let known = asked.names.iter().find(|known| same(&known.name))?;
            Some((known.clone(), asked.homes.clone()))
        })
    }

    fn asked(&self) -> std::sync::MutexGuard<'_, Vec<OpenQuestion>> {
        self.asked.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Facts of talk in which they took part, by their names that others have too.
pub(super) fn facts_by_shared(ids: &[PersonId], names: &[DoubtfulName], remembered: &Remembered) -> Vec<FactId> {
    let shared_names: Vec<Box<str>> =
        names.iter().filter(|known| known.doubt.is_shared()).map(|known| known.name.clone()).collect();
    if shared_names.is_empty() {
        return Vec::new();
    }
    let request = ForgetRequest { ids: ids.to_vec(), shared_names, ..ForgetRequest::default() };
    let facts = remembered.facts.iter().flatten();
    facts.filter(|fact| request.has_shared_name(fact)).map(|fact| fact.id).collect()
}
