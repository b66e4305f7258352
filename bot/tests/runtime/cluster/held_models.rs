//! Models that answer by script, each answer when the time for it has come: the test says when.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use aizuchi::ports::{BoxFuture, ModelClient};
use aizuchi_core::effect::{Ask, Brief, Failure};
use aizuchi_core::input::Answer;
use aizuchi_core::sim::{Oracle as _, ScriptLine, StandIn};
use aizuchi_core::types::{CallId, Span};
use aizuchi_core::{Policies, Time};
use tokio::sync::oneshot;

pub struct HeldModels {
    stand_in: Mutex<StandIn>,
    /// Answers that wait for their time.
    held: Mutex<Vec<HeldAnswer>>,
}

struct HeldAnswer {
    call: String,
    at: Time,
    release: oneshot::Sender<()>,
}

impl HeldModels {
    pub fn new(lines: Vec<ScriptLine>, policies: &Policies) -> Arc<HeldModels> {
        Arc::new(HeldModels { stand_in: Mutex::new(StandIn::new(false, lines, policies)), held: Mutex::default() })
    }

    /// The calls that wait for an answer.
    pub fn calls(&self) -> BTreeSet<String> {
        self.held.lock().unwrap().iter().map(|answer| answer.call.clone()).collect()
    }

    /// Only these are still made: the others were cancelled.
    pub fn keep(&self, calls: &BTreeSet<String>) {
        self.held.lock().unwrap().retain(|answer| calls.contains(&answer.call));
    }

    /// When the first of them is to come.
    pub fn next(&self) -> Option<Time> {
        self.held.lock().unwrap().iter().map(|answer| answer.at).min()
    }

    /// Lets the first of those come that are to come at this time.
    pub fn release(&self, at: Time) {
        let mut held = self.held.lock().unwrap();
        let first = held.iter().position(|answer| answer.at == at).expect("one waits for this time");
        let _ = held.remove(first).release.send(());
    }

    fn hold(
        &self,
        call: &CallId,
        asked_at: Time,
        (latency, answer): (Span, Result<Answer, Failure>),
    ) -> BoxFuture<'static, Result<Answer, Failure>> {
        let (release, released) = oneshot::channel();
        self.held.lock().unwrap().push(HeldAnswer { call: call.to_string(), at: asked_at + latency, release });
        Box::pin(async move {
            let _ = released.await;
            answer
        })
    }
}

impl ModelClient for HeldModels {
    fn judge(self: Arc<Self>, ask: Box<Ask>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        let answer = self.stand_in.lock().unwrap().judge(&ask);
        self.hold(&ask.call, ask.at, answer)
    }

    fn write(self: Arc<Self>, brief: Box<Brief>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        let answer = self.stand_in.lock().unwrap().write(&brief);
        self.hold(&brief.call, brief.at, answer)
    }
}
