//! Slash commands, the same on every platform. No model is asked.

mod about;
pub mod answers;
mod forgotten;
mod order;

use std::sync::{Arc, PoisonError, RwLock};

use aizuchi_core::Input;
use aizuchi_core::input::Command;
use aizuchi_core::types::{MessageId, Place};
use tokio::sync::{mpsc, oneshot};

use crate::journal::Traces;
use crate::keeper::{Keeper, NotForgotten};
use crate::language::Language;
use crate::ports::{Caller, Commands, Doing, Platform};
use crate::runtime::{Clock, Ears, Gone};
use crate::stores::StoreError;
pub use order::{CommandForm, Order, ROWS, Row, order};

/// How it introduces itself.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Bot {
    pub name: String,
    /// The model that writes, as provider/model.
    pub model: String,
    pub judge: String,
    /// No model is asked: answers are templates and say so.
    pub offline: bool,
    pub preset: String,
}

/// A request for another preset in a room; `done` tells what came of it.
#[derive(Debug)]
pub struct PresetRequest {
    pub room: String,
    pub preset: String,
    pub done: oneshot::Sender<Result<(), String>>,
}

/// Runs commands.
pub struct CommandRunner {
    ears: Ears,
    traces: Traces,
    clock: Clock,
    bot: RwLock<Bot>,
    preset_requests: mpsc::Sender<PresetRequest>,
    /// What is remembered for long, and where else something of a person may be kept.
    keeper: Option<Arc<Keeper>>,
    platforms: Vec<Arc<dyn Platform>>,
}

/// Why a command failed.
enum Why {
    Gone,
    Store(StoreError),
}

impl From<Gone> for Why {
    fn from(_: Gone) -> Why {
        Why::Gone
    }
}

impl From<StoreError> for Why {
    fn from(error: StoreError) -> Why {
        Why::Store(error)
    }
}

impl CommandRunner {
    pub fn new(
        ears: Ears,
        traces: Traces,
        clock: Clock,
        bot: Bot,
        preset_requests: mpsc::Sender<PresetRequest>,
    ) -> CommandRunner {
        CommandRunner {
            ears,
            traces,
            clock,
            bot: RwLock::new(bot),
            preset_requests,
            keeper: None,
            platforms: Vec::new(),
        }
    }

    /// The same for one who has a long memory.
    pub fn remembering(self, keeper: Arc<Keeper>, platforms: Vec<Arc<dyn Platform>>) -> CommandRunner {
        CommandRunner { keeper: Some(keeper), platforms, ..self }
    }

    /// From now on it goes by another name, or answers with another model.
    pub fn introduce(&self, bot: Bot) {
        *self.bot.write().unwrap_or_else(PoisonError::into_inner) = bot;
    }

    fn bot(&self) -> Bot {
        self.bot.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn carry_out(&self, order: Order, by: &Caller, place: &Place) -> Result<String, Why> {
        let (room, language) = (&place.room, by.language);
        let form = CommandForm::of(room);
        let told = |command: Command| self.ears.hear(Input::Told(room.clone(), command));
        Ok(match order {
            Order::Mute(span) => {
                told(Command::Mute(span)).await?;
                answers::muted(span, form, language)
            }
            Order::Unmute => {
                told(Command::Unmute).await?;
                answers::unmuted(language).into()
            }
            Order::Talk(share) => {
                told(Command::Talk(share)).await?;
                answers::talks(share, language)
            }
            Order::Channel(on) => {
                told(Command::Listen(on)).await?;
                answers::listens(on, language).into()
            }
            Order::Reset => {
                told(Command::Reset).await?;
                answers::forgot(language).into()
            }
            Order::Preset(preset) => self.change_preset(room.as_str(), preset, language).await?,
            Order::Why(message) => {
                let trace = match message {
                    Some(message) => self.traces.find(room, &MessageId::new(message)).await?,
                    None => self.traces.last(room).await?,
                };
                trace.map_or_else(|| answers::no_decision(language).into(), |trace| answers::why(&trace, language))
            }
            Order::Status => {
                let view = self.ears.look(room).await?;
                let now = self.clock.now();
                let (total, jump) = (self.ears.total(room, now), self.clock.last_jump());
                answers::status(view.as_ref(), &total, &self.bot(), now, form, jump, language)
            }
            Order::WhatDoYouKnow => {
                let person = self.ears.first_id(&by.person);
                let known = about::known(&self.traces.known(&person, place).await?, language);
                match &self.keeper {
                    Some(keeper) => {
                        format!("{known}\n{}", about::remembered(&keeper.about(&person).await?, form, language))
                    }
                    None => known,
                }
            }
            Order::ExportMe => match &self.keeper {
                Some(keeper) => about::exported(&keeper.about(&self.ears.first_id(&by.person)).await?),
                None => answers::no_memory(language).into(),
            },
            Order::ForgetMe(names) => match &self.keeper {
                Some(keeper) => self.forget(keeper.clone(), by, names, form).await?,
                None => answers::no_memory(language).into(),
            },
            Order::OptOut(out) => match &self.keeper {
                Some(keeper) => {
                    keeper.opt_out(&self.ears.first_id(&by.person), out).await?;
                    answers::opted_out(out, language).into()
                }
                None => answers::no_memory(language).into(),
            },
            Order::Help => answers::help(form, language),
            Order::Unclear(row) => answers::unclear(row, form, language),
            Order::Unknown(name) => answers::unknown(&name, form, language),
        })
    }

    /// Goes on when the person who asked has gone.
    async fn forget(
        &self,
        keeper: Arc<Keeper>,
        by: &Caller,
        names: Vec<Box<str>>,
        form: CommandForm,
    ) -> Result<String, Why> {
        let ids = self.ears.ids_of(&by.person);
        let (ears, platforms) = (self.ears.clone(), self.platforms.clone());
        let forgetting = tokio::spawn(async move { keeper.forget(ids, &names, &ears, &platforms).await });
        match forgetting.await.map_err(|_| Why::Gone)? {
            Ok(done) => Ok(forgotten::forgotten(&done, form, by.language)),
            Err(NotForgotten::NotTheirName(name)) => Ok(forgotten::not_your_name(&name, by.language)),
            Err(NotForgotten::Gone) => Err(Why::Gone),
            Err(NotForgotten::Store(error)) => Err(Why::Store(error)),
        }
    }

    async fn change_preset(&self, room: &str, preset: String, language: Language) -> Result<String, Why> {
        let (done, answer) = oneshot::channel();
        let request = PresetRequest { room: room.to_owned(), preset: preset.clone(), done };
        self.preset_requests.send(request).await.map_err(|_| Why::Gone)?;
        Ok(match answer.await.map_err(|_| Why::Gone)? {
            Ok(()) => answers::preset(&preset, language),
            Err(problem) => problem,
        })
    }
}

impl Commands for CommandRunner {
    fn run<'a>(&'a self, order: &'a str, by: &'a Caller, place: &'a Place) -> Doing<'a, String> {
        let language = by.language;
        Box::pin(async move {
            let order = order::order(order);
            if order.needs_manager() && !by.manages {
                return answers::for_managers(language).to_owned();
            }
            match self.carry_out(order, by, place).await {
                Ok(answer) => answer,
                Err(Why::Gone) => answers::stopping(language).to_owned(),
                Err(Why::Store(error)) => {
                    tracing::warn!(%error, "a command failed");
                    answers::trouble(language).to_owned()
                }
            }
        })
    }
}
