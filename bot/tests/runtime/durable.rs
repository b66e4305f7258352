//! Nothing leaves before it is durable: a model that is asked, or a platform that gets a post, finds the cause in the journal.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aizuchi::ports::{BoxFuture, ModelClient, Platform, PostError, PostRequest};
use aizuchi::runtime::{Clock, Runtime, RuntimeContext};
use aizuchi::stores::StoreSettings;
use aizuchi::tools::Toolset;
use aizuchi_core::effect::{Ask, Brief, Failure};
use aizuchi_core::input::Answer;
use aizuchi_core::types::{MessageId, Place, Span};
use aizuchi_core::{Input, Policies, Time};
use rusqlite::Connection;
use tokio::sync::{broadcast, watch};

use crate::made_up::{Board, START, Scratch, Scripted, line, policies, said};

/// Stands between the engine and the world, and has a connection of its own to the journal.
struct Witness {
    path: PathBuf,
    models: Arc<Scripted>,
    board: Board,
    /// What was asked for, and whether its cause was there.
    seen: Mutex<Vec<(&'static str, bool)>>,
}

impl Witness {
    /// Is there a record like this?
    fn look(&self, what: &'static str, causes: impl Fn(Time, &Input) -> bool) {
        let journal = Connection::open(&self.path).unwrap();
        let mut records = journal.prepare("SELECT at, body FROM journal").unwrap();
        let records = records.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))).unwrap();
        let is_cause = |(at, body): (i64, String)| causes(Time(at as u64), &serde_json::from_str(&body).unwrap());
        let found = records.map(Result::unwrap).any(is_cause);
        self.seen.lock().unwrap().push((what, found));
    }
}

fn is_said(input: &Input, id: &str) -> bool {
    matches!(input, Input::Said(message) if message.id.as_str() == id)
}

impl ModelClient for Witness {
    fn judge(self: Arc<Self>, ask: Box<Ask>, policies: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        let newest = ask.transcript.lines.iter().last().expect("it asks about something").id.to_owned();
        self.look("judge: what was said", |_, input| is_said(input, &newest));
        self.look("judge: that the wait is over", |at, input| matches!(input, Input::Tick) && at >= ask.at);
        self.models.clone().judge(ask, policies)
    }

    fn write(
        self: Arc<Self>,
        brief: Box<Brief>,
        policies: Arc<Policies>,
    ) -> BoxFuture<'static, Result<Answer, Failure>> {
        let answered = brief.answering.last().expect("it answers somebody").clone();
        self.look("write: what was said", |_, input| is_said(input, answered.as_str()));
        if !brief.addressed {
            self.look("write: the verdict", |_, input| matches!(input, Input::Judged(_, Ok(_))));
        }
        self.models.clone().write(brief, policies)
    }
}

impl Platform for Witness {
    fn name(&self) -> &'static str {
        "log"
    }

    fn post<'a>(&'a self, posting: PostRequest<'a>) -> BoxFuture<'a, Result<MessageId, PostError>> {
        let holds = |answer: &Answer| answer.text.contains(posting.text);
        self.look("post: the words", |_, input| matches!(input, Input::Written(_, Ok(answer)) if holds(answer)));
        self.board.post(posting)
    }

    fn react<'a>(
        &'a self,
        place: &'a Place,
        to: &'a MessageId,
        emoji: &'a str,
    ) -> BoxFuture<'a, Result<(), PostError>> {
        self.board.react(place, to, emoji)
    }

    fn typing<'a>(&'a self, place: &'a Place) -> BoxFuture<'a, ()> {
        self.board.typing(place)
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_leaves_before_its_cause_is_in_the_journal() {
    let scratch = Scratch::new();
    let policies = policies(&["preset=myao2", "address.name=true", "reply.part_chars=40"]);
    let yes = r#"{"should_respond": true, "reason": "asked", "delay_seconds": 0}"#;
    let long = "One sentence of some length here. Another sentence that follows it. And a third one to end with.";
    let models = Scripted::new(false, vec![line("judge", yes, 100), line("write", long, 100)], &policies);
    let (path, board) = (scratch.0.join("aizuchi.db"), Board::default());
    let witness = Arc::new(Witness { path, models, board, seen: Mutex::default() });
    let (clock, (events, _), (ready, _)) = (Clock::starting_at(START), broadcast::channel(100), watch::channel(true));
    let world = RuntimeContext {
        tools: Toolset::default(),
        clock,
        models: witness.clone(),
        platforms: vec![witness.clone()],
        keeper: None,
        events,
        ready,
        store: StoreSettings::default(),
    };
    let runtime = Runtime::start(scratch.database(), policies, Arc::new(world)).await.unwrap();
    runtime.engine.submit(said("m1", START, "mia", "does anybody know?")).await.unwrap();
    tokio::time::sleep(Duration::from_secs(600)).await;
    runtime.engine.submit(said("m2", START + Span::seconds(600), "mia", "aizuchi, do you?")).await.unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
    runtime.stop().await;
    let post = ("post: the words", true);
    let expected = [
        ("judge: what was said", true),
        ("judge: that the wait is over", true),
        ("write: what was said", true),
        ("write: the verdict", true),
        post,
        post,
        post,
        ("write: what was said", true),
        post,
        post,
        post,
    ];
    assert_eq!(*witness.seen.lock().unwrap(), expected);
}
