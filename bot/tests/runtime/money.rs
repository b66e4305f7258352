//! What all rooms may spend together: counted over engines, kills and midnights, and never overrun.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aizuchi::keeper::Keeper;
use aizuchi::memory::StoredLayers;
use aizuchi::meter::{Meter, TokenCount};
use aizuchi::ports::{BoxFuture, DigestRequest, Embedder, ModelClient, ModelError, StoreBackend as _};
use aizuchi::runtime::{Clock, Runtime, RuntimeContext};
use aizuchi::stores::StoreSettings;
use aizuchi::tools::Toolset;
use aizuchi_core::effect::{Ask, Brief, Digesting, Failure, Usage};
use aizuchi_core::input::Answer;
use aizuchi_core::room::Cost;
use aizuchi_core::types::{Place, RoomId, Span};
use aizuchi_core::{Input, Message, Policies, Time};
use tokio::sync::{broadcast, watch};

use crate::made_up::{Board, EngineRun, START, Scratch, policies, said, saving_after};

/// A models that counts its calls and takes its time.
#[derive(Default)]
pub struct Counting {
    calls: AtomicU64,
    takes: Duration,
    /// What comes of digests, one after the other; then they succeed.
    digests: Mutex<Vec<Result<(), Failure>>>,
}

const BILL: Usage = Usage { calls: 1, prompt_chars: 0, tokens_in: 100, tokens_out: 10, micros: 50 };

impl Counting {
    pub fn taking(seconds: u64) -> Arc<Counting> {
        Arc::new(Counting { takes: Duration::from_secs(seconds), ..Counting::default() })
    }

    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    fn answer(&self, text: &'static str) -> BoxFuture<'static, Result<Answer, Failure>> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let takes = self.takes;
        Box::pin(async move {
            tokio::time::sleep(takes).await;
            Ok(Answer { text: text.into(), usage: BILL })
        })
    }
}

impl ModelClient for Counting {
    fn judge(self: Arc<Self>, _: Box<Ask>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        self.answer(r#"{"respond": false, "reason": "no"}"#)
    }

    fn write(self: Arc<Self>, _: Box<Brief>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        self.answer("Here I am.")
    }

    fn digest(
        self: Arc<Self>,
        digest: Box<DigestRequest>,
        _: Arc<Policies>,
    ) -> BoxFuture<'static, Result<Answer, Failure>> {
        let mut digests = self.digests.lock().unwrap();
        let failure = if digests.is_empty() { None } else { digests.remove(0).err() };
        if let Some(failure) = failure {
            self.calls.fetch_add(1, Ordering::Relaxed);
            return Box::pin(std::future::ready(Err(failure)));
        }
        self.answer(match digest.what {
            Digesting::Summary => r#"{"summary": "A picnic.", "mood": "cheerful", "topic_keywords": ["picnic"]}"#,
            Digesting::Reflection => {
                r#"{"facts": [{"content": "mia brings the xylophone", "keywords": ["xylophone"], "messages": [1], "confidence": 0.9, "shareable": true, "replaces": 0}], "people": []}"#
            }
        })
    }
}

/// Somebody calls it in one of many rooms.
pub fn calls_in(room: u64, id: &str, at: Time) -> Input {
    let Input::Said(message) = said(id, at, "mia", "are you there?") else { unreachable!() };
    Input::Said(Message { place: Place::room(format!("log:room{room}")), mentions_me: true, ..message })
}

pub fn excuses(board: &Board) -> usize {
    board.posts.lock().unwrap().iter().filter(|(_, text)| text.starts_with("Sorry, I've used up")).count()
}

/// Calls it in every room at once.
async fn all_call(life: &EngineRun, rooms: std::ops::Range<u64>, at: Time) {
    for room in rooms {
        life.hear(calls_in(room, &format!("{}-{room}", at.0), at)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn many_rooms_at_once_do_not_overrun_what_all_may_spend() {
    let policies = policies(&["runtime.shards=3", "budget.total_calls_per_day=10"]);
    let (scratch, board, models) = (Scratch::new(), Arc::new(Board::default()), Counting::taking(5));
    let clock = Clock::starting_at(START);
    let life = EngineRun::start(scratch.database(), policies, models.clone(), board.clone(), clock).await;
    all_call(&life, 0..40, START).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!((models.calls(), excuses(&board)), (10, 30), "as many as may be, and a friendly line for the others");
    // Nothing is left, and in a room that knows this no model is asked any more.
    all_call(&life, 0..40, clock.now()).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!((models.calls(), excuses(&board)), (10, 70));
    assert_eq!(life.runtime.engine.total(&RoomId::new("any"), clock.now()).spent.calls, 10);
    // The day turns, here at midnight UTC.
    let midnight = Time((START.0 / 86_400_000 + 1) * 86_400_000);
    clock.sleep_until(Some(midnight)).await;
    assert_eq!(life.runtime.engine.total(&RoomId::new("any"), clock.now()).spent.calls, 0);
    all_call(&life, 0..5, clock.now()).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(models.calls(), 15);
    life.runtime.stop().await;
}

/// Lives for a while in a world of its own, and is gone from one instant to the next.
fn live(scratch: &Scratch, board: &Arc<Board>, models: &Arc<Counting>, shards: u32, from: Time, lives: Duration) {
    let world = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    world.block_on(async {
        let shards = format!("runtime.shards={shards}");
        let policies = policies(&[&shards, "budget.total_calls_per_day=10"]);
        let clock = Clock::starting_at(from);
        let (store, database) = (saving_after(7), scratch.database());
        let life = EngineRun::with_store(store, database, policies, models.clone(), board.clone(), clock).await;
        all_call(&life, 0..8, from).await;
        tokio::time::sleep(lives).await;
    });
    world.shutdown_timeout(Duration::from_secs(10));
}

#[test]
fn killed_again_and_again_it_still_knows_what_was_spent() {
    let (scratch, board, models) = (Scratch::new(), Arc::new(Board::default()), Counting::taking(5));
    // Killed while eight calls are in flight: they may have been paid for.
    live(&scratch, &board, &models, 1, START, Duration::from_secs(2));
    assert_eq!(models.calls(), 8);
    for (life, shards) in [3, 1, 4].into_iter().enumerate() {
        let from = START + Span::minutes(life as u64 + 1);
        live(&scratch, &board, &models, shards, from, Duration::from_secs(30));
    }
    assert_eq!(models.calls(), 10, "eight before the first kill, two after it, and none since");
    assert!(excuses(&board) > 0);
}

#[tokio::test(start_paused = true)]
async fn money_that_is_set_aside_for_others_counts_and_comes_back() {
    // An answer may cost more than it does: for two at a time there is enough, for three there is not.
    let settings =
        ["models.main=google/gemini-2.5-flash", "models.judge=offline", "budget.total_dollars_per_day=0.013"];
    let policies = policies(&settings);
    let (scratch, board, models) = (Scratch::new(), Arc::new(Board::default()), Counting::taking(5));
    let clock = Clock::starting_at(START);
    let life = EngineRun::start(scratch.database(), policies, models.clone(), board.clone(), clock).await;
    all_call(&life, 0..6, START).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let at_once = models.calls();
    assert!((1..6).contains(&at_once) && excuses(&board) as u64 == 6 - at_once, "{at_once} at once");
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(life.runtime.engine.total(&RoomId::new("any"), clock.now()).spent.micros, at_once * BILL.micros);
    // They were cheaper than they might have been: the people who were refused are answered now.
    life.hear(calls_in(5, "again", clock.now())).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(models.calls(), at_once + 1);
    life.runtime.stop().await;
}

/// One number for every text, and a call for every order.
struct Numbers(AtomicU64);

impl Embedder for Numbers {
    fn model(&self) -> &str {
        "google/text-embedding-004"
    }

    fn embed<'a>(&'a self, texts: &'a [String], meter: &'a Meter) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ModelError>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        meter.begin(7, 0).answered(TokenCount { tokens_in: Some(7), ..TokenCount::default() });
        Box::pin(std::future::ready(Ok(texts.iter().map(|_| vec![1.0, 0.0]).collect())))
    }
}

struct Remembering {
    runtime: Runtime,
    keeper: Arc<Keeper>,
    numbers: Arc<Numbers>,
    models: Arc<Counting>,
    clock: Clock,
}

impl Remembering {
    async fn start(scratch: &Scratch, models: Arc<Counting>, more: &[&str]) -> Remembering {
        let settings = ["memory.channel_context=true", "memory.reflection=true", "memory.summarize_messages=20"];
        let policies = policies(&[&settings, more].concat());
        let (database, clock) = (scratch.database(), Clock::starting_at(START));
        let memory = database.memory(StoredLayers::ALL);
        let numbers = Arc::new(Numbers(AtomicU64::new(0)));
        let keeper = Keeper::new(memory, models.clone(), database.clone(), policies.clone());
        let keeper = Arc::new(keeper.understanding(numbers.clone()));
        let world = RuntimeContext {
            tools: Toolset::default(),
            clock,
            models: models.clone(),
            keeper: Some(keeper.clone()),
            platforms: vec![Arc::new(Board::default())],
            events: broadcast::channel(16).0,
            ready: watch::channel(true).0,
            store: StoreSettings::default(),
        };
        let runtime = Runtime::start(database, policies, Arc::new(world)).await.expect("it starts");
        Remembering { runtime, keeper, numbers, models, clock }
    }

    async fn talk(&self, messages: u64) {
        for number in 0..messages {
            let heard = said(&format!("m{number}"), self.clock.now(), "mia", "I bring the xylophone");
            self.runtime.engine.submit(heard).await.expect("it listens");
        }
        a_moment().await;
    }

    async fn spent(&self) -> Cost {
        self.runtime.engine.view(&RoomId::new("log:room")).await.unwrap().expect("it was heard").spent
    }
}

async fn a_moment() {
    for _ in 0..50 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn every_call_of_a_digest_counts_those_that_fail_too() {
    let models = Arc::new(Counting::default());
    let billed = |usage| Err(Failure { what: "unreadable".into(), usage });
    *models.digests.lock().unwrap() = vec![billed(Some(BILL)), billed(Some(Usage::default()))];
    let (scratch, paid) = (Scratch::new(), |calls| Cost { calls, tokens: 110 * calls, micros: 50 * calls });
    let life = Remembering::start(&scratch, models, &["gates.unasked=false", "memory.reflection=false"]).await;
    life.talk(20).await;
    assert_eq!((life.models.calls(), life.spent().await), (1, paid(1)), "unreadable, and paid for");
    tokio::time::sleep(Duration::from_secs(70)).await;
    assert_eq!((life.models.calls(), life.spent().await), (2, paid(1)), "refused, and not paid for");
    tokio::time::sleep(Duration::from_secs(130)).await;
    assert_eq!((life.models.calls(), life.spent().await), (3, paid(2)));
    life.runtime.stop().await;

    // More than one call reads at once: each of them counts.
    let scratch = Scratch::new();
    let settings = ["gates.unasked=false", "memory.reflection=false", "memory.summarize_messages=450"];
    let life = Remembering::start(&scratch, Arc::new(Counting::default()), &settings).await;
    life.talk(450).await;
    assert!(life.models.calls() >= 3, "{} calls", life.models.calls());
    assert_eq!(life.spent().await, paid(life.models.calls()));
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_words_mean_is_paid_for_by_the_room_they_are_of() {
    let scratch = Scratch::new();
    let settings = ["gates.unasked=false", "memory.vectors=true", "memory.channel_context=false"];
    let life = Remembering::start(&scratch, Arc::new(Counting::default()), &settings).await;
    life.talk(20).await;
    tokio::time::sleep(Duration::from_secs(1800)).await;
    a_moment().await;
    let before = life.spent().await;
    assert_eq!((life.models.calls(), before.calls), (1, 1), "it was thought over");
    life.keeper.give_meaning(&life.runtime.engine).await.unwrap();
    a_moment().await;
    let after = life.spent().await;
    assert_eq!((life.numbers.0.load(Ordering::Relaxed), after.calls), (1, 2), "a fact was given a meaning");
    assert!(after.micros > before.micros && after.tokens > before.tokens, "{after:?}");
    // Who calls is answered from memory, which is looked through by meaning.
    let Input::Said(message) = said("call", life.clock.now(), "jonas", "who brings it?") else { unreachable!() };
    life.runtime.engine.submit(Input::Said(Message { mentions_me: true, ..message })).await.unwrap();
    a_moment().await;
    assert_eq!((life.models.calls(), life.numbers.0.load(Ordering::Relaxed)), (2, 2));
    let answered = life.spent().await;
    assert_eq!(
        (answered.calls, answered.tokens),
        (4, after.tokens + 110 + 7),
        "the answer, and what was looked up for it"
    );
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_room_that_has_spent_its_budget_asks_for_no_meaning() {
    let scratch = Scratch::new();
    let settings =
        ["gates.unasked=false", "memory.vectors=true", "memory.channel_context=false", "budget.calls_per_day=1"];
    let life = Remembering::start(&scratch, Arc::new(Counting::default()), &settings).await;
    life.talk(20).await;
    tokio::time::sleep(Duration::from_secs(1800)).await;
    a_moment().await;
    assert_eq!(life.models.calls(), 1, "it was thought over");
    life.keeper.give_meaning(&life.runtime.engine).await.unwrap();
    assert_eq!((life.numbers.0.load(Ordering::Relaxed), life.spent().await.calls), (0, 1));
    life.runtime.stop().await;
}
