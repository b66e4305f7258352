//! What effects lead to: each becomes a task that ends by putting exactly one input back.
//!
//! [`EffectRunner::run`] asks the ledger first, which may refuse a call because of the budget of all rooms: that is an input too. A model
//! call or a tool is a task whose handle is kept by its call id, so that `Effect::Abort` can stop it. An aborted task puts nothing
//! back, and the engine expects nothing. A task that panics puts a failure back (`or_failure`). Posts are never aborted, because
//! nobody could tell whether they are out; at a stop the shard waits for them.
//!
//! Results go through one channel to the shard, which records them before the engine handles them. Nothing here changes the state.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use aizuchi_core::effect::{Ask, Brief, Delivery, Effect, Failure, Post, Recall, Remember, Typing, Usage, Withdrawal};
use aizuchi_core::input::Answer;
use aizuchi_core::settings::Price;
use aizuchi_core::tools::ToolOrder;
use aizuchi_core::types::{CallId, Change, Place, RoomId};
use aizuchi_core::{Engine, Input, Policies, Time, Trace};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::RuntimeContext;
use super::deliver::{deliver, withdraw};
use super::failure::or_failure;
use super::languages::RoomLanguages;
use super::ledger::Ledger;
use crate::language::Language;
use crate::meter::Meter;
use crate::ports::Draft;
use crate::tools::clock::{format_time, zone_of, zoned};

pub struct EffectRunner {
    context: Arc<RuntimeContext>,
    pub policies: Arc<Policies>,
    answer: mpsc::UnboundedSender<Input>,
    /// Models being asked.
    calls: HashMap<CallId, AbortHandle>,
    /// Posts on their way.
    posts: HashSet<CallId>,
    languages: RoomLanguages,
    ledger: Arc<Ledger>,
}

/// Platforms show that somebody is writing for some seconds only.
const TYPING_AGAIN: Duration = Duration::from_secs(4);

impl EffectRunner {
    pub fn new(
        context: Arc<RuntimeContext>,
        policies: Arc<Policies>,
        answer: mpsc::UnboundedSender<Input>,
        ledger: Arc<Ledger>,
    ) -> EffectRunner {
        let (calls, posts, languages) = (HashMap::new(), HashSet::new(), RoomLanguages::default());
        EffectRunner { context, policies, answer, calls, posts, languages, ledger }
    }

    /// `seq` is the last record that was durable when this was wanted, at the time `now`.
    pub fn run(&mut self, engine: &Engine, now: Time, effect: Effect, seq: u64) {
        if let Some(refused) = self.ledger.refuse(engine, now, &effect) {
            let _ = self.answer.send(refused);
            return;
        }
        self.start(effect, seq);
    }

    /// The same for what the budget of all rooms allows.
    pub fn start(&mut self, effect: Effect, seq: u64) {
        match effect {
            Effect::Ask(ask) => self.ask(ask, seq),
            Effect::Write(brief) => self.write(brief, seq),
            Effect::Recall(recall) => self.recall(*recall, seq),
            Effect::Remember(remember) => self.remember(*remember, seq),
            Effect::RunTool(order) => self.run_tool(*order, seq),
            Effect::Deliver(delivery) => self.deliver(*delivery),
            Effect::Type(typing) => self.show_typing(*typing),
            Effect::Withdraw(withdrawal) => self.withdraw(*withdrawal),
            Effect::Abort(call) => {
                if let Some(task) = self.calls.remove(&call) {
                    task.abort();
                }
            }
            Effect::Trace(_) | Effect::Received(_) | Effect::Updated(_) => (),
        }
    }

    /// Puts an input behind the results of calls: it is recorded and handled with the next of them.
    pub fn tell(&self, input: Input) {
        let _ = self.answer.send(input);
    }

    /// The result of a call has come back.
    pub fn finish_call(&mut self, call: &CallId) {
        self.calls.remove(call);
        self.posts.remove(call);
    }

    pub fn is_posting(&self) -> bool {
        !self.posts.is_empty()
    }

    pub fn abort_calls(&mut self) {
        self.calls.drain().for_each(|(_, task)| task.abort());
    }

    /// Excuses are made in the language of the room.
    pub fn note_language(&mut self, room: &RoomId, text: &str) {
        self.languages.note_language(room, text);
    }

    /// The same where it is known.
    #[cfg(feature = "cluster")]
    pub fn set_language(&mut self, room: &RoomId, language: Language) {
        self.languages.set(room, language);
    }

    /// What was started goes on without it, and the calls are cancelled once this is dropped.
    #[cfg(feature = "cluster")]
    pub fn into_calls(self) -> RunningCalls {
        RunningCalls(self.calls.into_values().collect())
    }

    /// Counts what is looked up by its meaning for this room.
    fn meter(&self, room: &RoomId) -> Meter {
        let policy = self.policies.for_room(room.as_str());
        let model = policy.settings.embedding_model();
        Meter::at(model.map_or(Price::default(), |model| policy.price(&model)))
    }

    /// What it speaks in a room where no model chooses the words.
    fn language_of(&self, room: &RoomId) -> Language {
        self.heard_language(room).unwrap_or_default()
    }

    /// None after a start where the settings name none, until somebody speaks.
    fn heard_language(&self, room: &RoomId) -> Option<Language> {
        let policy = self.policies.for_room(room.as_str());
        Language::set(&policy.settings.bot.language).or(self.languages.of(room))
    }

    fn language_for(&self, delivery: &Delivery) -> Language {
        let heard = self.heard_language(&delivery.place.room);
        match &delivery.post {
            Post::Reminder(reminder) => heard.unwrap_or_else(|| Language::of_text(&reminder.text)),
            Post::Text(_) | Post::Reaction(_) | Post::Excuse(_) | Post::Approval(_) => heard.unwrap_or_default(),
        }
    }

    fn ask(&mut self, mut ask: Box<Ask>, seq: u64) {
        let (call, answer) = (ask.call.clone(), self.answer.clone());
        let (policies, models, keeper) =
            (self.policies.clone(), self.context.models.clone(), self.context.keeper.clone());
        let (result_of, meter) = (call.clone(), self.meter(&call.room));
        let task = tokio::spawn(async move {
            let judging = async {
                match keeper {
                    Some(keeper) if !keeper.remind_judge(&mut ask, seq, &meter).await => Err(nothing_to_tell()),
                    Some(_) | None => models.judge(ask, policies).await,
                }
            };
            let verdict = or_failure("judge", judging).await;
            let _ = answer.send(Input::Judged(result_of, meter.added_to(verdict)));
        });
        self.calls.insert(call, task.abort_handle());
    }

    fn write(&mut self, mut brief: Box<Brief>, seq: u64) {
        let (call, place, answer) = (brief.call.clone(), brief.place.clone(), self.answer.clone());
        let (policies, models, memory) =
            (self.policies.clone(), self.context.models.clone(), self.context.keeper.clone());
        let meter = self.meter(&call.room);
        let language = self.language_of(&call.room);
        let toolset = self.context.tools.clone();
        let writing = async move {
            if let Some(keeper) = memory {
                if let Some(text) = keeper.obey(&brief, seq, language).await {
                    return Ok(Draft::Words(Answer { text: text.into(), usage: Usage::default() }));
                }
                if !keeper.remind(&mut brief, seq, &meter).await {
                    return meter.added_to(Err(nothing_to_tell())).map(Draft::Words);
                }
            }
            let tools = toolset.shown_to(&brief, policies.for_room(brief.call.room.as_str()));
            match models.draft(brief, tools, policies).await {
                Ok(Draft::Calls(calls, usage)) => Ok(Draft::Calls(calls, meter.usage_with(usage))),
                Ok(Draft::Words(answer)) => meter.added_to(Ok(answer)).map(Draft::Words),
                Err(failure) => meter.added_to(Err(failure)).map(Draft::Words),
            }
        };
        let (result_of, context, toolset) = (call.clone(), self.context.clone(), self.context.tools.clone());
        let task = tokio::spawn(async move {
            let draft = tokio::select! {
                draft = or_failure("write", writing) => draft,
                () = show_typing(&context, &place) => unreachable!("the typing indicator runs until it is stopped"),
            };
            let _ = answer.send(match draft {
                Ok(Draft::Words(answer)) => Input::Written(result_of, Ok(answer)),
                Ok(Draft::Calls(calls, usage)) => Input::ToolCalls(result_of, toolset.resolved(calls), usage),
                Err(failure) => Input::Written(result_of, Err(failure)),
            });
        });
        self.calls.insert(call, task.abort_handle());
    }

    /// Dropped, a call is cancelled; what it has changed by then stays changed.
    fn run_tool(&mut self, order: ToolOrder, seq: u64) {
        let (call, answer) = (order.call.clone(), self.answer.clone());
        let (context, policies) = (self.context.clone(), self.policies.clone());
        let task = tokio::spawn(async move {
            let running = async {
                tokio::select! {
                    result = context.tools.carry_out(&order, seq, &policies) => result,
                    () = show_typing(&context, &order.place) => unreachable!("the typing indicator runs until it is stopped"),
                }
            };
            let result = or_failure("tool", running).await;
            let outcome = if result.is_ok() { "returned" } else { "failed" };
            metrics::counter!("aizuchi_tool_calls_total", "tool" => order.tool.name.to_string(), "outcome" => outcome)
                .increment(1);
            let _ = answer.send(Input::ToolResult(order.call, result));
        });
        self.calls.insert(call, task.abort_handle());
    }

    fn recall(&mut self, recall: Recall, seq: u64) {
        let (call, answer, keeper) = (recall.call.clone(), self.answer.clone(), self.context.keeper.clone());
        let (result_of, meter) = (call.clone(), self.meter(&call.room));
        let task = tokio::spawn(async move {
            let finding = async {
                match keeper {
                    Some(keeper) => Ok(keeper.find_to_tell(&recall, seq, &meter).await),
                    None => Ok(None),
                }
            };
            let found = or_failure("recall", finding).await.unwrap_or_default();
            let _ = answer.send(Input::Recalled(result_of, found, meter.usage()));
        });
        self.calls.insert(call, task.abort_handle());
    }

    fn remember(&mut self, remember: Remember, seq: u64) {
        let (call, answer) = (remember.call.clone(), self.answer.clone());
        let Some(keeper) = self.context.keeper.clone() else {
            let _ = answer.send(Input::Remembered(call, Ok(Usage::default())));
            return;
        };
        let result_of = call.clone();
        let task = tokio::spawn(async move {
            let done = or_failure("memory update", keeper.remember(remember, seq)).await;
            if let Err(Failure { what, .. }) = &done {
                tracing::warn!(call = %result_of, what = &**what, "memory update failed");
            }
            let _ = answer.send(Input::Remembered(result_of, done));
        });
        self.calls.insert(call, task.abort_handle());
    }

    fn retries_max(&self, room: &RoomId) -> u32 {
        self.policies.for_room(room.as_str()).settings.runtime.post_retries_max
    }

    /// Platforms show it for longer than any post waits.
    fn show_typing(&self, typing: Typing) {
        let context = self.context.clone();
        tokio::spawn(async move {
            if let Some(platform) = context.platform(typing.place.room.as_str()) {
                platform.typing(&typing.place).await;
            }
        });
    }

    /// Takes back posts whose reason is gone. Where the platform cannot, they stay.
    fn withdraw(&mut self, withdrawal: Withdrawal) {
        let (context, answer) = (self.context.clone(), self.answer.clone());
        let retries_max = self.retries_max(&withdrawal.place.room);
        tokio::spawn(async move {
            for post in withdraw(&context, &withdrawal, retries_max).await {
                let (place, at) = (withdrawal.place.clone(), withdrawal.at);
                let _ = answer.send(Input::Changed(Change { place, id: post, at, text: None }));
            }
        });
    }

    /// When a reminder was to be said, in the time zone of its room.
    fn due_in_words(&self, delivery: &Delivery) -> String {
        let Post::Reminder(reminder) = &delivery.post else { return String::new() };
        let policy = self.policies.for_room(delivery.place.room.as_str());
        format_time(&zoned(reminder.due, &zone_of(policy)))
    }

    /// A post is never cancelled: nobody could tell whether it is out already.
    fn deliver(&mut self, delivery: Delivery) {
        let (context, answer) = (self.context.clone(), self.answer.clone());
        let retries_max = self.retries_max(&delivery.place.room);
        let language = self.language_for(&delivery);
        self.posts.insert(delivery.call.clone());
        let due = self.due_in_words(&delivery);
        tokio::spawn(async move {
            let done = or_failure("post", deliver(&context, &delivery, (language, &due), retries_max)).await;
            if let (Ok(_), Some(fact), Some(keeper)) = (&done, delivery.telling, &context.keeper) {
                keeper.was_told(fact, &delivery.place, delivery.at).await;
            }
            let _ = answer.send(Input::Delivered(delivery.call, done));
        });
    }
}

/// Models being asked and tools that run, cancelled with this.
#[cfg(feature = "cluster")]
pub struct RunningCalls(Vec<AbortHandle>);

#[cfg(feature = "cluster")]
impl Drop for RunningCalls {
    fn drop(&mut self) {
        self.0.iter().for_each(AbortHandle::abort);
    }
}

/// Counts what was decided, and lets memory know who answered whom.
pub fn note_decisions(context: &RuntimeContext, decided: &[Trace]) {
    for trace in decided {
        if let Some(response) = trace.received {
            metrics::counter!("aizuchi_received_total", "response" => response.words()).increment(1);
            continue;
        }
        let outcome = trace.outcome.name();
        tracing::debug!(room = %trace.place.room, message = %trace.message, outcome, "decided");
        metrics::counter!("aizuchi_decisions_total", "outcome" => outcome).increment(1);
    }
    if let Some(keeper) = &context.keeper {
        keeper.note_links(decided);
    }
}

/// Between finding something and telling it, it was forgotten.
fn nothing_to_tell() -> Failure {
    Failure::unpaid("there is nothing to tell any more")
}

/// Never ends.
async fn show_typing(context: &RuntimeContext, place: &Place) {
    loop {
        if let Some(platform) = context.platform(place.room.as_str()) {
            platform.typing(place).await;
        }
        tokio::time::sleep(TYPING_AGAIN).await;
    }
}
