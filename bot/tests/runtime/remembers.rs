//! Long memory in a life: summarised and reflected on from the journal, shown to the model that writes, and forgotten.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use aizuchi::keeper::{ForgetState, Keeper};
use aizuchi::memory::StoredLayers;
use aizuchi::ports::{BoxFuture, DigestRequest, ModelClient, StoreBackend as _};
use aizuchi::runtime::{Clock, RuntimeContext};
use aizuchi::stores::{Database, StoreSettings};
use aizuchi::tools::Toolset;
use aizuchi_core::effect::{Ask, Brief, Digesting, Failure, Usage};
use aizuchi_core::input::{Answer, Command};
use aizuchi_core::memory::{FactDraft, Filter, MemoryChange, Origin};
use aizuchi_core::types::{Change, MessageId, PersonId, Place, RoomId, Share, Span, Visibility};
use aizuchi_core::{Input, Message, Policies};
use tokio::sync::{broadcast, watch};

use crate::made_up::{Board, START, Scratch, policies, said};
use crate::remembering_life::holds;

/// Notes what it is shown and answers in the form that is wanted.
#[derive(Default)]
pub struct Noting {
    pub digests: Mutex<Vec<(Digesting, Vec<String>)>>,
    pub briefs: Mutex<Vec<Brief>>,
    /// What becomes of the next digests; then they succeed.
    failures: Mutex<u32>,
    /// How long it takes to read talk.
    reads_for: Mutex<Duration>,
    /// What it was shown as known when it thought talk over.
    pub known: Mutex<Vec<Vec<String>>>,
    /// What it writes, where that is not the usual.
    pub words: Mutex<Option<&'static str>>,
    /// What the judge was reminded of.
    pub reminded: Mutex<Vec<String>>,
}

fn answer(text: &str) -> BoxFuture<'static, Result<Answer, Failure>> {
    let answer = Answer { text: text.into(), usage: Usage::default() };
    Box::pin(async { Ok(answer) })
}

impl ModelClient for Noting {
    fn judge(self: Arc<Self>, ask: Box<Ask>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        if ask.telling.is_none() {
            return answer(r#"{"respond": false, "reason": "no"}"#);
        }
        let facts = ask.memories.facts.iter().map(|recalled| recalled.fact.content.to_string());
        self.reminded.lock().unwrap().extend(facts);
        answer(r#"{"respond": true, "kind": "full", "reason": "they will be glad"}"#)
    }

    fn write(self: Arc<Self>, brief: Box<Brief>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        self.briefs.lock().unwrap().push(*brief);
        answer(self.words.lock().unwrap().unwrap_or("I remember."))
    }

    fn digest(
        self: Arc<Self>,
        digest: Box<DigestRequest>,
        _: Arc<Policies>,
    ) -> BoxFuture<'static, Result<Answer, Failure>> {
        let shown = digest.lines.iter().map(|line| line.id.to_owned()).collect();
        self.digests.lock().unwrap().push((digest.what, shown));
        if digest.what == Digesting::Reflection {
            let known = digest.known.iter().map(|fact| fact.content.to_string()).collect();
            self.known.lock().unwrap().push(known);
        }
        let mut failures = self.failures.lock().unwrap();
        if *failures > 0 {
            *failures -= 1;
            return Box::pin(async { Err(Failure::new("busy")) });
        }
        let reads_for = *self.reads_for.lock().unwrap();
        let answered = match digest.what {
            Digesting::Summary => {
                answer(r#"{"summary": "They plan a picnic.", "mood": "cheerful", "topic_keywords": ["picnic"]}"#)
            }
            Digesting::Reflection => answer(
                r#"{"facts": [{"content": "mia brings the xylophone to the picnic", "keywords": ["xylophone", "picnic"], "messages": [1], "confidence": 0.9, "shareable": true, "replaces": 0}], "people": []}"#,
            ),
        };
        Box::pin(async move {
            tokio::time::sleep(reads_for).await;
            answered.await
        })
    }
}

pub struct KeeperRun {
    pub runtime: aizuchi::runtime::Runtime,
    pub keeper: Arc<Keeper>,
    pub clock: Clock,
    pub models: Arc<Noting>,
    pub board: Arc<Board>,
}

fn remembering() -> Policies {
    policies(&["memory.channel_context=true", "memory.reflection=true", "memory.summarize_messages=20"])
}

impl KeeperRun {
    pub async fn start(database: Database, models: Arc<Noting>, clock: Clock) -> KeeperRun {
        KeeperRun::start_with(database, models, clock, remembering()).await
    }

    pub async fn start_with(database: Database, models: Arc<Noting>, clock: Clock, policies: Policies) -> KeeperRun {
        let memory = database.memory(StoredLayers::ALL);
        let keeper = Arc::new(Keeper::new(memory, models.clone(), database.clone(), policies.clone()));
        let board = Arc::new(Board::default());
        let world = RuntimeContext {
            tools: Toolset::default(),
            clock,
            models: models.clone(),
            keeper: Some(keeper.clone()),
            platforms: vec![board.clone()],
            events: broadcast::channel(16).0,
            ready: watch::channel(true).0,
            store: StoreSettings::default(),
        };
        let runtime = aizuchi::runtime::Runtime::start(database, policies, Arc::new(world)).await.expect("it starts");
        KeeperRun { runtime, keeper, clock, models, board }
    }

    pub async fn says(&self, number: u64, who: &str, text: &str) {
        self.runtime.engine.submit(said(&format!("m{number}"), self.clock.now(), who, text)).await.expect("it listens");
    }

    pub async fn calls(&self, number: u64, who: &str, text: &str) {
        let Input::Said(message) = said(&format!("m{number}"), self.clock.now(), who, text) else { unreachable!() };
        let message = Message { mentions_me: true, ..message };
        self.runtime.engine.submit(Input::Said(message)).await.expect("it listens");
    }

    pub fn digested(&self, what: Digesting) -> Vec<Vec<String>> {
        let digests = self.models.digests.lock().unwrap();
        digests.iter().filter(|(of, _)| *of == what).map(|(_, shown)| shown.clone()).collect()
    }
}

fn ids(numbers: std::ops::RangeInclusive<u64>) -> Vec<String> {
    numbers.map(|number| format!("m{number}")).collect()
}

fn room() -> RoomId {
    RoomId::new("log:room")
}

pub async fn minutes(minutes: u64) {
    tokio::time::sleep(Duration::from_secs(60 * minutes)).await;
}

/// Lets what was set off come to its end.
pub async fn a_moment() {
    for _ in 0..50 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn every_message_is_taken_in_once_also_over_a_restart() {
    let scratch = Scratch::new();
    let models = Arc::<Noting>::default();
    let clock = Clock::starting_at(START);
    let life = KeeperRun::start(scratch.database(), models.clone(), clock).await;
    for number in 1..=25 {
        life.says(number, ["mia", "jonas"][number as usize % 2], "shall we have a picnic?").await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    a_moment().await;
    assert_eq!(life.digested(Digesting::Summary), [ids(1..=20)]);
    life.runtime.stop().await;

    let life = KeeperRun::start(scratch.database(), models.clone(), clock).await;
    for number in 26..=40 {
        life.says(number, "lena", "I bring cake").await;
    }
    a_moment().await;
    assert_eq!(life.digested(Digesting::Summary), [ids(1..=20), ids(21..=40)]);
    minutes(30).await;
    a_moment().await;
    let thought_over: Vec<String> = life.digested(Digesting::Reflection).concat();
    assert_eq!(thought_over, ids(1..=40), "each once, in a lull");
    let (channel, _) = life.keeper.memory().channel(&room()).await.unwrap();
    let channel = channel.expect("it was summed up");
    assert_eq!((&*channel.summary, &*channel.mood), ("They plan a picnic.", "cheerful"));
    let names: Vec<&str> = channel.active.iter().map(|(_, name)| &**name).collect();
    assert_eq!(names, ["jonas", "mia", "lena"], "in the order of appearance");
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn after_a_failure_it_waits_and_loses_nothing() {
    let scratch = Scratch::new();
    let models = Arc::<Noting>::default();
    *models.failures.lock().unwrap() = 3;
    let life = KeeperRun::start(scratch.database(), models, Clock::starting_at(START)).await;
    for number in 1..=60 {
        life.says(number, "mia", "shall we have a picnic?").await;
    }
    a_moment().await;
    assert_eq!(life.models.digests.lock().unwrap().len(), 1, "one failure, and not another call with every message");
    minutes(9).await;
    a_moment().await;
    let summed_up = life.digested(Digesting::Summary);
    assert_eq!(summed_up.len(), 4, "after one, two and four minutes");
    assert_eq!(summed_up[3], ids(1..=60));
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn anyone_who_thinks_talk_over_is_shown_the_facts_most_like_it() {
    let scratch = Scratch::new();
    let life = KeeperRun::start(scratch.database(), Arc::default(), Clock::starting_at(START)).await;
    let keep = |content: String| {
        MemoryChange::Kept(Box::new(FactDraft {
            origin: Origin::new("log:room", Visibility::Public),
            content: content.into(),
            keywords: Vec::new(),
            people: Vec::new(),
            messages: Vec::new(),
            context: Vec::new(),
            confidence: 0.9,
            shareable: false,
            at: START,
            replaces: None,
        }))
    };
    let others = (1..=40).map(|number| keep(format!("book number {number} is on the shelf")));
    life.keeper.change([keep("The picnic is in the park".into())].into_iter().chain(others).collect()).await.unwrap();
    for number in 1..=20 {
        life.says(number, "mia", "the picnic is at the lake now").await;
    }
    minutes(30).await;
    a_moment().await;
    let known = life.models.known.lock().unwrap().concat();
    assert!(known.contains(&"The picnic is in the park".to_owned()), "what it corrects was not shown: {known:?}");
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn who_calls_is_answered_from_memory() {
    let scratch = Scratch::new();
    let life = KeeperRun::start(scratch.database(), Arc::default(), Clock::starting_at(START)).await;
    for number in 1..=20 {
        life.says(number, "mia", "I bring the xylophone to the picnic").await;
    }
    minutes(30).await;
    a_moment().await;
    life.keeper.catch_up().await.unwrap();
    life.calls(21, "jonas", "who brings the xylophone?").await;
    a_moment().await;
    let brief = life.models.briefs.lock().unwrap().last().cloned().expect("it writes");
    assert_eq!(brief.memories.channel.map(|channel| channel.summary), Some("They plan a picnic.".into()));
    assert_eq!(&*brief.memories.facts[0].fact.content, "mia brings the xylophone to the picnic");
    assert!(brief.memories.people.iter().any(|person| &*person.name == "jonas"), "{:?}", brief.memories.people);
    assert_eq!(life.board.posts.lock().unwrap().len(), 1);
    let facts = life.keeper.memory().facts(Filter { count: 10, ..Filter::default() }).await.unwrap();
    assert_eq!(facts[0].uses, 1, "what is used fades more slowly");

    let gone = Change { place: Place::room("log:room"), id: MessageId::new("m1"), at: life.clock.now(), text: None };
    life.runtime.engine.submit(Input::Changed(gone)).await.unwrap();
    life.keeper.catch_up().await.unwrap();
    let facts = life.keeper.memory().facts(Filter { count: 10, ..Filter::default() }).await.unwrap();
    assert!(facts.is_empty(), "it rested on that message alone: {facts:?}");
    life.runtime.stop().await;
}

/// Mia has a xylophone, and Jonas a marimba.
async fn life_with_mia(scratch: &Scratch) -> KeeperRun {
    let life = KeeperRun::start(scratch.database(), Arc::default(), Clock::starting_at(START)).await;
    for number in 1..=20 {
        life.says(number, "mia", "I bring the xylophone to the picnic").await;
    }
    for number in 21..=30 {
        life.says(number, "jonas", "good idea, I bring a marimba").await;
    }
    minutes(30).await;
    life.calls(31, "mia", "what about my xylophone?").await;
    a_moment().await;
    life.keeper.catch_up().await.unwrap();
    assert!(holds(scratch, "xylophone") && holds(scratch, "mia"));
    life
}

#[tokio::test(start_paused = true)]
async fn who_is_forgotten_by_a_command_is_in_no_file() {
    let scratch = Scratch::new();
    let life = life_with_mia(&scratch).await;
    life.runtime.stop().await;
    life.keeper.forget_at_rest(PersonId::new("mia"), &[], &[]).await.unwrap();
    assert!(!holds(&scratch, "xylophone") && !holds(&scratch, "\"mia\"") && holds(&scratch, "marimba"));
}

#[tokio::test(start_paused = true)]
async fn anyone_who_is_forgotten_is_in_no_file() {
    let scratch = Scratch::new();
    let life = life_with_mia(&scratch).await;
    let platforms = [life.board.clone() as Arc<dyn aizuchi::ports::Platform>];
    let forgotten =
        life.keeper.forget(vec![PersonId::new("mia")], &[], &life.runtime.engine, &platforms).await.unwrap();
    assert_eq!(forgotten.state, ForgetState::Done);
    assert!(!holds(&scratch, "xylophone"), "her words are still there");
    assert!(!holds(&scratch, "\"mia\""), "her name is still there");
    assert!(holds(&scratch, "marimba"), "what others said stays");
    life.says(32, "jonas", "and a drum").await;
    life.runtime.stop().await;

    let life =
        KeeperRun::start(scratch.database(), Arc::default(), Clock::starting_at(START + Span::minutes(40))).await;
    a_moment().await;
    assert!(!holds(&scratch, "xylophone"), "they do not come back with a start");
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_room_that_was_left_is_forgotten_and_one_it_came_back_to_is_not() {
    for comes_back in [false, true] {
        let scratch = Scratch::new();
        let life = KeeperRun::start(scratch.database(), Arc::default(), Clock::starting_at(START)).await;
        for number in 1..=20 {
            life.says(number, "mia", "I bring the xylophone to the picnic").await;
        }
        minutes(30).await;
        a_moment().await;
        life.runtime.engine.submit(Input::Told(room(), Command::Left)).await.unwrap();
        if comes_back {
            life.says(21, "mia", "hello again").await;
        }
        // What a start does not need any more may go.
        let (clock, models) = (life.clock, life.models.clone());
        life.runtime.stop().await;
        let life = KeeperRun::start(scratch.database(), models, clock).await;
        life.keeper.set_policies(&policies(&["memory.left_days=0"]));
        let stop = tokio_util::sync::CancellationToken::new();
        let (engine, clock) = (life.runtime.engine.clone(), life.runtime.retention_clock);
        let watching = tokio::spawn(life.keeper.clone().watch(engine, clock, stop.clone()));
        minutes(1).await;
        a_moment().await;
        let facts = life.keeper.memory().facts(Filter { count: 10, ..Filter::default() }).await.unwrap();
        assert_eq!((facts.len(), holds(&scratch, "xylophone")), (usize::from(comes_back), comes_back));
        stop.cancel();
        watching.await.unwrap();
        life.runtime.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_room_that_wakes_is_told_once_what_it_would_be_glad_of() {
    let scratch = Scratch::new();
    let life = KeeperRun::start(scratch.database(), Arc::default(), Clock::starting_at(START)).await;
    // It talks little, so that no message is reason enough in itself.
    let little = Input::Told(room(), Command::Talk(Share::parse("0.5%")));
    life.runtime.engine.submit(little).await.unwrap();
    for number in 1..=20 {
        life.says(number, "mia", "I bring the xylophone to the picnic").await;
    }
    minutes(180).await;
    a_moment().await;
    // Unrelated talk wakes it, and it mentions nothing.
    life.says(21, "jonas", "it rains again").await;
    minutes(180).await;
    assert!(life.models.reminded.lock().unwrap().is_empty());
    life.says(22, "jonas", "time to think of the picnic").await;
    minutes(5).await;
    a_moment().await;
    assert_eq!(*life.models.reminded.lock().unwrap(), ["mia brings the xylophone to the picnic"]);
    let told = life.models.briefs.lock().unwrap().last().cloned().expect("it writes");
    assert_eq!((told.addressed, told.memories.facts.len()), (false, 1));
    assert_eq!(life.board.posts.lock().unwrap().len(), 1);

    minutes(600).await;
    life.says(23, "lena", "the picnic is on Sunday").await;
    minutes(5).await;
    a_moment().await;
    assert_eq!(life.board.posts.lock().unwrap().len(), 1, "never twice in one room");
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn who_is_forgotten_while_a_model_reads_does_not_come_back() {
    let scratch = Scratch::new();
    let life = KeeperRun::start(scratch.database(), Arc::default(), Clock::starting_at(START)).await;
    *life.models.reads_for.lock().unwrap() = Duration::from_secs(60);
    for number in 1..=100 {
        life.says(number, "mia", "I bring the xylophone to the picnic").await;
    }
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(!life.models.digests.lock().unwrap().is_empty(), "a model is reading");
    life.keeper.forget(vec![PersonId::new("mia")], &[], &life.runtime.engine, &[]).await.unwrap();
    minutes(5).await;
    a_moment().await;
    assert!(!holds(&scratch, "xylophone"), "what was read in the meantime was kept");
    let facts = life.keeper.memory().facts(Filter { count: 10, ..Filter::default() }).await.unwrap();
    assert!(facts.is_empty(), "{facts:?}");
    life.runtime.stop().await;
}
