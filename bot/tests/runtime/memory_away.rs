//! Memory that is elsewhere, and cannot be reached for a while.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use aizuchi::keeper::{ForgetState, Keeper, OptOutState};
use aizuchi::memory::StoredLayers;
use aizuchi::ports::{BoxFuture, JournalEntry, Memory, MemoryStore, StoreBackend as _, WaitLimit};
use aizuchi::stores::{StoreError, StoreSettings};
use aizuchi_core::listen::Unheard;
use aizuchi_core::memory::{
    ChannelMemory, Fact, FactDraft, Filter, Marks, MemoryChange, Origin, Person, PersonExport, Query, Recalled, Tie,
};
use aizuchi_core::types::{MessageId, PersonId, Reply, RoomId, Visibility};
use aizuchi_core::{Input, Message, Policies, Trace};
use tokio_util::sync::CancellationToken;

use crate::made_up::{START, Scratch, policies, said};
use crate::remembering_life::{Parrot, RememberingLife, holds};

#[derive(Clone, Copy, PartialEq)]
enum Reached {
    Yes,
    /// Nobody listens there.
    Refused,
    /// Somebody listens and lets nobody in.
    Denied,
    /// Somebody listens and does not answer.
    Hangs,
    /// It takes longer than anybody waits, and the opt-out is not noted before.
    Slow,
    /// Who answered whom is counted, but the answer to that never arrives.
    Late,
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
                Reached::Yes | Reached::Late => work.await,
                Reached::Refused => Err(StoreError::Unavailable("Firestore: connection refused".into())),
                Reached::Denied => Err(StoreError::Failed("Firestore: no permission (PermissionDenied)".into())),
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
        let counts = changes.iter().any(|change| matches!(change, MemoryChange::Answered(_)));
        let (applied, reached) = (self.memory.apply(changes, policies), *self.reached.lock().unwrap());
        if reached == Reached::Late && counts {
            return Box::pin(async move {
                applied.await?;
                std::future::pending().await
            });
        }
        self.ask(applied)
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
async fn anyone_who_asks_to_be_forgotten_while_memory_is_away_is_forgotten_once_it_is_back() {
    for reached in [Reached::Refused, Reached::Denied, Reached::Hangs] {
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
async fn what_a_forgotten_person_says_while_memory_is_away_stays_and_what_they_said_before_is_gone_at_once() {
    let scratch = Scratch::new();
    let (life, away) = lived(&scratch).await;
    away.set(Reached::Hangs);
    life.says(2, "log:room", "id-mia", "my tuba is not").await;
    assert_eq!(life.forget_mia().await, ForgetState::Interrupted);
    assert!(!holds(&scratch, "tuba"), "memory does not answer, and what is here needs no answer");
    life.says(3, "log:room", "id-mia", "we rehearse at noon").await;
    away.set(Reached::Yes);
    ended(&life).await;
    assert_eq!(facts(&life).await, 0);
    life.runtime.stop().await;
    assert!(!holds(&scratch, "xylophone") && !holds(&scratch, "tuba"));
    assert!(holds(&scratch, "we rehearse at noon"), "they asked before they said it");
}

#[tokio::test]
async fn nobody_waits_until_others_are_forgotten_by_a_memory_that_hangs() {
    let scratch = Scratch::new();
    let (life, away) = lived(&scratch).await;
    life.says(2, "log:room", "id-jonas", "mine is a marimba").await;
    life.keeper.catch_up().await.unwrap();
    away.set(Reached::Hangs);
    let forget = async |who| {
        let who = vec![PersonId::new(who)];
        life.keeper.forget(who, &[], &life.runtime.engine, &life.platforms).await.unwrap().state
    };
    let begun = Instant::now();
    let states = tokio::join!(forget("id-mia"), forget("id-jonas"));
    assert_eq!(states, (ForgetState::Interrupted, ForgetState::Interrupted));
    assert!(begun.elapsed() < Duration::from_millis(1_900), "{:?}", begun.elapsed());
    assert_eq!(life.jobs().await, 2);
    away.set(Reached::Yes);
    ended(&life).await;
    assert_eq!(away.people(None).await, Ok(Vec::new()));
    life.runtime.stop().await;
    assert!(!holds(&scratch, "xylophone") && !holds(&scratch, "marimba"));
}

#[tokio::test]
async fn anyone_who_opts_out_while_memory_is_away_is_told_so_and_what_was_known_goes_once_it_is_back() {
    for reached in [Reached::Refused, Reached::Denied, Reached::Hangs, Reached::Slow] {
        let scratch = Scratch::new();
        let (life, away) = lived(&scratch).await;
        away.set(reached);
        assert_eq!(life.keeper.opt_out(&mia(), &life.platforms).await.unwrap().state, OptOutState::Noted);
        assert_eq!(life.jobs().await, 1);
        let opts_in = life.keeper.opt_in(&PersonId::new("id-jonas")).await;
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
async fn anyone_who_wants_to_be_remembered_again_before_memory_is_back_is_not_deleted() {
    let scratch = Scratch::new();
    let (life, away) = lived(&scratch).await;
    away.set(Reached::Slow);
    assert_eq!(life.keeper.opt_out(&mia(), &life.platforms).await.unwrap().state, OptOutState::Noted);
    away.set(Reached::Yes);
    assert_eq!(life.keeper.opt_in(&mia()).await, Ok(()));
    ended(&life).await;
    assert_eq!(facts(&life).await, 1);
    life.runtime.stop().await;
}

#[tokio::test]
async fn a_deletion_that_was_promised_is_not_called_off_by_a_wish_that_failed() {
    let scratch = Scratch::new();
    let (life, away) = lived(&scratch).await;
    away.set(Reached::Hangs);
    assert_eq!(life.keeper.opt_out(&mia(), &life.platforms).await.unwrap().state, OptOutState::Noted);
    assert!(life.keeper.opt_in(&mia()).await.is_err());
    away.set(Reached::Yes);
    ended(&life).await;
    assert_eq!(facts(&life).await, 0);
    assert!(away.people(Some(&mia())).await.unwrap().iter().any(|known| known.opted_out));
    life.runtime.stop().await;
}

#[tokio::test]
async fn who_stopped_waiting_for_a_slow_memory_does_not_have_answers_counted_twice() {
    let scratch = Scratch::new();
    let database = scratch.database();
    let memory = database.memory(StoredLayers::ALL);
    let away = Arc::new(Faraway { memory, reached: Mutex::new(Reached::Late), out: Mutex::default() });
    let keeper = Keeper::new(away.clone(), Arc::new(Parrot), database.clone(), policies(&["memory.people=true"]));
    let Input::Said(answer) = said("m2", START, "jonas", "who tunes it?") else { unreachable!() };
    let reply = Reply { to: Some(MessageId::new("m1")), to_me: false, to_person: None };
    let answer = Message { reply: Some(reply), ..answer };
    let talk = [said("m1", START, "mia", "my xylophone is tuned"), Input::Said(answer.clone())];
    let talk = talk.map(|input| JournalEntry::Input(START, input));
    database.stores().journal.append(0, &talk).await.unwrap();
    keeper.note_links(&[Trace::passed_over(&answer, Unheard::Empty)]);
    keeper.list(&[mia()], &[]).await.unwrap_err();
    away.set(Reached::Yes);
    keeper.catch_up().await.unwrap();
    let ties = away.ties(None, None).await.unwrap();
    assert_eq!(ties.iter().map(|tie| tie.answers).collect::<Vec<_>>(), [1]);
}

#[tokio::test]
async fn nobody_waits_for_memory_that_hangs() {
    let scratch = Scratch::new();
    let (life, away) = lived(&scratch).await;
    away.set(Reached::Hangs);
    let error = life.keeper.list(&[mia()], &life.platforms).await.unwrap_err();
    assert_eq!(error, StoreError::Unavailable("Firestore did not answer within 1 seconds".into()));
    assert!(life.keeper.opt_in(&PersonId::new("id-jonas")).await.is_err());
    life.runtime.stop().await;
}
