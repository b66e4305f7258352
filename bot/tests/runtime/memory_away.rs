//! Memory that is elsewhere, and cannot be reached for a while.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aizuchi::keeper::{ForgetState, OptOutState};
use aizuchi::memory::StoredLayers;
use aizuchi::ports::{BoxFuture, Memory, MemoryStore, StoreBackend as _, WaitLimit};
use aizuchi::stores::{StoreError, StoreSettings};
use aizuchi_core::Policies;
use aizuchi_core::memory::{
    ChannelMemory, Fact, FactDraft, Filter, Marks, MemoryChange, Origin, Person, PersonExport, Query, Recalled, Tie,
};
use aizuchi_core::types::{MessageId, PersonId, RoomId, Visibility};
use tokio_util::sync::CancellationToken;

use crate::made_up::{START, Scratch, policies};
use crate::remembering_life::{Parrot, RememberingLife};
use crate::remembers::holds;

#[derive(Clone, Copy, PartialEq)]
enum Reached {
    Yes,
    /// Nobody listens there.
    Refused,
    /// Somebody listens and does not answer.
    Hangs,
    /// It takes longer than anybody waits, and the opt-out is not noted before.
    Slow,
}

/// Who opted out is known at hand, as the program has it.
struct Faraway {
    memory: Arc<dyn MemoryStore>,
    reached: Mutex<Reached>,
    out: Mutex<BTreeSet<PersonId>>,
}

impl Faraway {
    fn set(&self, reached: Reached) {
        *self.reached.lock().unwrap() = reached;
    }

    fn ask<'a, T: Send + 'a>(
        &'a self,
        work: BoxFuture<'a, Result<T, StoreError>>,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        let reached = *self.reached.lock().unwrap();
        Box::pin(async move {
            match reached {
                Reached::Yes => work.await,
                Reached::Refused => Err(StoreError::Unavailable("Firestore: connection refused".into())),
                Reached::Hangs | Reached::Slow => std::future::pending().await,
            }
        })
    }
}

impl Memory for Faraway {
    fn apply<'a>(
        &'a self,
        changes: Vec<MemoryChange>,
        policies: &'a Policies,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        for change in &changes {
            if let MemoryChange::OptedOut { person, out: true } = change
                && *self.reached.lock().unwrap() != Reached::Slow
            {
                self.out.lock().unwrap().insert(person.clone());
            }
        }
        self.ask(self.memory.apply(changes, policies))
    }

    fn channel<'a>(&'a self, room: &'a RoomId) -> BoxFuture<'a, Result<(Option<ChannelMemory>, Marks), StoreError>> {
        self.ask(self.memory.channel(room))
    }

    fn recall<'a>(&'a self, query: Query, policies: &'a Policies) -> BoxFuture<'a, Result<Vec<Recalled>, StoreError>> {
        self.ask(self.memory.recall(query, policies))
    }

    fn facts<'a>(&'a self, filter: Filter) -> BoxFuture<'a, Result<Vec<Fact>, StoreError>> {
        self.ask(self.memory.facts(filter))
    }

    fn people<'a>(&'a self, who: Option<&'a PersonId>) -> BoxFuture<'a, Result<Vec<Person>, StoreError>> {
        if let Some(person) = who.filter(|person| self.out.lock().unwrap().contains(*person)) {
            return Box::pin(std::future::ready(Ok(vec![Person::opted_out(person.clone())])));
        }
        self.ask(self.memory.people(who))
    }

    fn ties<'a>(
        &'a self,
        room: Option<&'a RoomId>,
        person: Option<&'a PersonId>,
    ) -> BoxFuture<'a, Result<Vec<Tie>, StoreError>> {
        self.ask(self.memory.ties(room, person))
    }

    fn about<'a>(&'a self, person: &'a PersonId) -> BoxFuture<'a, Result<PersonExport, StoreError>> {
        self.ask(self.memory.about(person))
    }

    fn wait_limit(&self) -> Option<WaitLimit> {
        Some(WaitLimit { store: "Firestore", time: Duration::from_secs(1) })
    }
}

fn mia() -> PersonId {
    PersonId::new("id-mia")
}

/// Mia said something, and it is remembered.
async fn lived(scratch: &Scratch) -> (RememberingLife, Arc<Faraway>) {
    let database = scratch.database();
    let (memory, reached) = (database.memory(StoredLayers::ALL), Mutex::new(Reached::Yes));
    let away = Arc::new(Faraway { memory, reached, out: Mutex::default() });
    let life =
        RememberingLife::with_memory(database, 1, StoreSettings::default(), Arc::new(Parrot), away.clone()).await;
    life.says(1, "log:room", "id-mia", "my xylophone is tuned").await;
    life.keeper.catch_up().await.unwrap();
    let draft = FactDraft {
        origin: Origin::new("log:room", Visibility::Public),
        content: "she tunes an instrument".into(),
        keywords: Vec::new(),
        people: vec![mia()],
        messages: vec![MessageId::new("m1")],
        context: Vec::new(),
        confidence: 0.8,
        shareable: true,
        at: START,
        replaces: None,
    };
    away.apply(vec![MemoryChange::Kept(Box::new(draft))], &policies(&[])).await.unwrap();
    (life, away)
}

/// Ends what was begun, as the running program does.
async fn ended(life: &RememberingLife) {
    let stop = CancellationToken::new();
    let ending = life.keeper.clone().end_forgetting(life.runtime.engine.clone(), life.platforms.clone(), stop.clone());
    let ending = tokio::spawn(ending);
    while life.jobs().await > 0 {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    stop.cancel();
    ending.await.unwrap();
}

async fn facts(life: &RememberingLife) -> usize {
    life.keeper.memory().facts(Filter::default()).await.unwrap().len()
}

#[tokio::test]
async fn whoever_asks_to_be_forgotten_while_memory_is_away_is_forgotten_once_it_is_back() {
    for reached in [Reached::Refused, Reached::Hangs] {
        let scratch = Scratch::new();
        let (life, away) = lived(&scratch).await;
        away.set(reached);
        assert_eq!(life.forget_mia().await, ForgetState::Interrupted);
        assert_eq!(life.jobs().await, 1, "it is written down");
        away.set(Reached::Yes);
        assert_eq!(facts(&life).await, 1);
        ended(&life).await;
        assert_eq!((facts(&life).await, life.keeper.memory().people(Some(&mia())).await), (0, Ok(Vec::new())));
        life.runtime.stop().await;
        assert!(!holds(&scratch, "xylophone"));
    }
}

#[tokio::test]
async fn whoever_opts_out_while_memory_is_away_is_told_so_and_what_was_known_goes_once_it_is_back() {
    for reached in [Reached::Refused, Reached::Hangs, Reached::Slow] {
        let scratch = Scratch::new();
        let (life, away) = lived(&scratch).await;
        away.set(reached);
        assert_eq!(life.keeper.opt_out(&mia(), true).await, Ok(OptOutState::Noted));
        assert_eq!(life.jobs().await, 1);
        let opts_in = life.keeper.opt_out(&PersonId::new("id-jonas"), false).await;
        assert!(opts_in.is_err(), "that is not so, and is not said");
        away.set(Reached::Yes);
        assert_eq!(facts(&life).await, 1);
        ended(&life).await;
        assert_eq!(facts(&life).await, 0);
        assert!(away.people(Some(&mia())).await.unwrap().iter().any(|known| known.opted_out));
        life.runtime.stop().await;
    }
}

#[tokio::test]
async fn whoever_wants_to_be_remembered_again_before_memory_is_back_is_not_deleted() {
    let scratch = Scratch::new();
    let (life, away) = lived(&scratch).await;
    away.set(Reached::Slow);
    assert_eq!(life.keeper.opt_out(&mia(), true).await, Ok(OptOutState::Noted));
    away.set(Reached::Yes);
    assert_eq!(life.keeper.opt_out(&mia(), false).await, Ok(OptOutState::Done));
    ended(&life).await;
    assert_eq!(facts(&life).await, 1);
    life.runtime.stop().await;
}

#[tokio::test]
async fn nobody_waits_for_memory_that_hangs() {
    let scratch = Scratch::new();
    let (life, away) = lived(&scratch).await;
    away.set(Reached::Hangs);
    let error = life.keeper.list(&[mia()], &life.platforms).await.unwrap_err();
    assert_eq!(error, StoreError::Unavailable("Firestore did not answer within 1 seconds".into()));
    assert!(life.keeper.opt_out(&PersonId::new("id-jonas"), false).await.is_err());
    life.runtime.stop().await;
}
