//! Forgets a person everywhere: a job that is stored first and completes whatever happens.
//!
//! 1. What is kept of them is looked up: their names, rooms, words, and the answers to them.
//! 2. That is written down, durably, as a job. Before this nothing has happened; after it the job ends, also after a crash. Where
//!    memory cannot be reached, or another person is being forgotten for too long, what the journal knows is written down and
//!    deleted, and memory is asked again until it answers. What the person says after that stays.
//! 3. Platforms let go of them first, so that nothing of them is heard again; then engines and journal, then memory.
//! 4. The job loses everything that says who it was, and copies of what was deleted leave the file.
//! 5. The old pages leave the log beside it, which a reader can delay; then the job itself goes.

use std::sync::Arc;
use std::time::Duration;

use aizuchi_core::memory::words::{DoubtfulName, NameCandidates, NameDoubt, NameFinder, bare_name};
use aizuchi_core::memory::{ChannelMemory, Fact, FactId, Filter, ForgetRequest, Person};
use aizuchi_core::types::PersonId;

use super::Keeper;
use super::jobs::StoredForgetJob;
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
    names: Vec<DoubtfulName>,
    /// Facts with names that others have too, of talk in which the person took part: nothing else knows that afterwards.
    facts: Vec<FactId>,
    at: tokio::time::Instant,
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
        let known = people.as_deref().unwrap_or_default();
        let LookedUp { request, mut doubtful, shared } = self.request(ids, confirmed, trail, known)?;
        let ids = request.ids.clone();
        let shared_facts = match people {
            Ok(_) => waiting.half().within(self.facts_by_shared(&ids, &doubtful)).await.flatten().unwrap_or_default(),
            Err(_) => Vec::new(),
        };
        let step = match people {
            Ok(_) => {
                // Names that nobody used need no question; without memory nobody can tell.
                let used = waiting.half().within(self.in_use(doubtful.clone(), platforms)).await.flatten();
                doubtful = used.unwrap_or(doubtful);
                JobStep::Delete(Box::new(request))
            }
            Err(_) => JobStep::DeleteHere(Box::new(request)),
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
        self.ask_about(ids, &doubtful, shared_facts);
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
        let people = self.memory.people(None).await?;
        let found = self.request(ids, confirmed, trail, &people)?;
        Ok(LookedUp { doubtful: self.in_use(found.doubtful, platforms).await?, ..found })
    }

    /// The same, of what the journal and memory know.
    fn request(
        &self,
        ids: Vec<PersonId>,
        confirmed: &[Box<str>],
        trail: PersonTrail,
        people: &[Person],
    ) -> Result<LookedUp, ForgetError> {
        let PersonTrail { names, mut rooms, answers, phrases, others, .. } = trail;
        let theirs = people.iter().filter(|person| ids.contains(&person.id));
        rooms.extend(theirs.flat_map(|person| person.rooms.clone()));
        let others = self.names_of_others(&ids, others, people);
        let NameCandidates { certain: mut names, mut doubtful } = self.called(&ids, names, &others, people);
        let mut shared: Vec<DoubtfulName> = Vec::new();
        for name in confirmed {
            let same = |form: &str| bare_name(form) == bare_name(name);
            if names.iter().any(|form| same(form)) {
                continue;
            }
            let known = doubtful.iter().find(|known| same(&known.name)).cloned();
            let known = known.or_else(|| self.asked_about(&ids, &same));
            let Some(known) = known else { return Err(ForgetError::NotTheirName(name.clone())) };
            doubtful.retain(|known| !same(&known.name));
            let known_name = known.name.clone();
            // Since they were asked, somebody else may have come by that name.
            let now = NameCandidates::sorted([&**name], others.iter().map(|name| &**name)).doubtful;
            let now = now.into_iter().find(|now| same(&now.name) && now.doubt.is_shared());
            match now.or(known.doubt.is_shared().then_some(known)) {
                Some(known) => shared.push(known),
                None => names.push(known_name),
            }
        }
        let shared_names = shared.iter().map(|known| known.name.clone()).collect();
        let (rooms, answers) = (rooms.into_iter().collect(), answers.into_iter().collect());
        let shared_facts = if shared.is_empty() { Vec::new() } else { self.asked_facts(&ids) };
        let request = ForgetRequest { ids, names, shared_names, shared_facts, rooms, answers, phrases };
        Ok(LookedUp { request, doubtful, shared })
    }

    async fn in_use(
        &self,
        mut doubtful: Vec<DoubtfulName>,
        platforms: &[Arc<dyn Platform>],
    ) -> Result<Vec<DoubtfulName>, StoreError> {
        let used = self.names_in_use(doubtful.iter().map(|known| known.name.clone()).collect(), platforms).await?;
        doubtful.retain(|known| used.contains(&known.name));
        Ok(doubtful)
    }

    /// Those of the names by which the bot spoke of somebody, or remembers something.
    async fn names_in_use(
        &self,
        names: Vec<Box<str>>,
        platforms: &[Arc<dyn Platform>],
    ) -> Result<Vec<Box<str>>, StoreError> {
        if names.is_empty() {
            return Ok(names);
        }
        let mut used = Journal::new(self.stores.clone()).names_it_used(names.clone(), platforms).await?;
        let facts = self.memory.facts(Filter::default()).await?;
        let people = self.memory.people(None).await?;
        let channels = self.channels_of(&people, &facts).await?;
        let remembered = || {
            let facts = facts.iter().flat_map(Fact::texts);
            let notes = people.iter().flat_map(Person::remarks).map(|remark| &*remark.text);
            facts.chain(notes).chain(channels.iter().flat_map(ChannelMemory::texts))
        };
        for name in names.into_iter().filter(|name| !used.contains(name)).collect::<Vec<_>>() {
            let looked = NameFinder::new([&name]);
            if remembered().any(|text| looked.are_in(text)) {
                used.push(name);
            }
        }
        Ok(used)
    }

    /// Remembers what a person was asked, for a limited time and only in RAM.
    fn ask_about(&self, ids: Vec<PersonId>, doubtful: &[DoubtfulName], facts: Vec<FactId>) {
        let mut asked = self.asked();
        asked.retain(|asked| asked.at.elapsed() < CONFIRMS_WITHIN);
        if doubtful.is_empty() {
            return;
        }
        asked.retain(|asked| asked.ids != ids);
        if asked.len() == CONFIRMING_MAX {
            asked.remove(0);
        }
        asked.push(OpenQuestion { ids, names: doubtful.to_vec(), facts, at: tokio::time::Instant::now() });
    }

    /// Who has the store may confirm any name, also one that the store has forgotten with the person.
    pub(super) fn ask_operator(&self, ids: &[PersonId], names: &[Box<str>]) {
        let doubtful = names.iter().cloned().map(|name| DoubtfulName { name, doubt: NameDoubt::Part });
        self.ask_about(ids.to_vec(), &doubtful.collect::<Vec<_>>(), Vec::new());
    }

    /// Facts of talk in which they took part, by their names that others have too.
    async fn facts_by_shared(&self, ids: &[PersonId], names: &[DoubtfulName]) -> Result<Vec<FactId>, StoreError> {
        let shared_names: Vec<Box<str>> =
            names.iter().filter(|known| known.doubt.is_shared()).map(|known| known.name.clone()).collect();
        if shared_names.is_empty() {
            return Ok(Vec::new());
        }
        let request = ForgetRequest { ids: ids.to_vec(), shared_names, ..ForgetRequest::default() };
        let facts = self.memory.facts(Filter::default()).await?;
        Ok(facts.iter().filter(|fact| request.has_shared_name(fact)).map(|fact| fact.id).collect())
    }

    fn asked_facts(&self, ids: &[PersonId]) -> Vec<FactId> {
        let asked = self.asked();
        asked.iter().filter(|asked| asked.ids == ids).flat_map(|asked| asked.facts.clone()).collect()
    }

    fn asked_about(&self, ids: &[PersonId], same: &dyn Fn(&str) -> bool) -> Option<DoubtfulName> {
        let asked = self.asked();
        let recent = asked.iter().filter(|asked| asked.ids == ids && asked.at.elapsed() < CONFIRMS_WITHIN);
        recent.flat_map(|asked| &asked.names).find(|known| same(&known.name)).cloned()
    }

    fn asked(&self) -> std::sync::MutexGuard<'_, Vec<OpenQuestion>> {
        self.asked.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
