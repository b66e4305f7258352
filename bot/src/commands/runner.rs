//! Runs commands: parses them, checks the permission, and carries them out.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use aizuchi_core::Input;
#[cfg(feature = "cluster")]
use aizuchi_core::Policies;
#[cfg(feature = "cluster")]
use aizuchi_core::settings::Layers;
use aizuchi_core::settings::Presets;
use aizuchi_core::types::{Place, RoomId};
use aizuchi_core::view::RoomView;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::answers;
use super::parse::{ArgumentValue, ParsedCommand, parse};
use super::spec::{CommandEffect, CommandForm, CommandSpec, Permission};
use crate::journal::Traces;
use crate::keeper::Keeper;
use crate::language::Language;
use crate::models::LocalModel;
#[cfg(feature = "cluster")]
use crate::models::OFFLINE;
use crate::ports::{BoxFuture, Caller, Commands, Platform};
use crate::runtime::{Clock, EngineHandle, ShuttingDown};
use crate::stores::StoreError;

/// How the bot introduces itself.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct BotInfo {
    pub name: String,
    /// The model that writes, as provider/model.
    pub model: String,
    pub judge: String,
    /// No model is called: answers are templates and say so.
    pub offline: bool,
    /// The server on this machine that is used because no key is set.
    pub local: Option<LocalModel>,
    /// The general preset, or that of the room in which it is shown.
    pub preset: String,
    #[serde(skip)]
    pub presets: Presets,
}

impl BotInfo {
    pub fn in_room(self, room: &str) -> BotInfo {
        BotInfo { preset: self.presets.for_room(room).to_owned(), ..self }
    }

    /// The same by settings that another process was given; `layers` has the presets.
    #[cfg(feature = "cluster")]
    pub fn under(self, policies: &Policies, layers: &Layers) -> BotInfo {
        let policy = policies.general();
        let (name, model) = (policy.settings.bot.name.clone(), policy.settings.models.main.clone());
        let judge = policy.judge_model().to_owned();
        let offline = model == OFFLINE && judge == OFFLINE;
        let local = self.local.filter(|local| local.full_name() == model);
        BotInfo { name, model, judge, offline, local, preset: layers.preset(), presets: layers.presets() }
    }
}

/// A request for another preset in a room; `done` gets the result.
#[derive(Debug)]
pub struct PresetRequest {
    pub room: String,
    pub preset: String,
    pub done: oneshot::Sender<Result<(), String>>,
}

/// What commands need to run.
pub struct CommandRunner {
    pub(super) engine: EngineHandle,
    pub(super) traces: Traces,
    pub(super) clock: Clock,
    bot: RwLock<BotInfo>,
    pub(super) preset_requests: mpsc::Sender<PresetRequest>,
    /// Long-term memory; without it, commands about it say so.
    pub(super) keeper: Option<Arc<Keeper>>,
    /// Other places where something about a person may be stored.
    pub(super) platforms: Vec<Arc<dyn Platform>>,
}

/// Who runs a command, and where.
#[derive(Clone, Copy, Debug)]
pub struct CommandCall<'a> {
    pub caller: &'a Caller,
    pub place: &'a Place,
    pub form: CommandForm,
}

impl CommandCall<'_> {
    pub fn language(&self) -> Language {
        self.caller.language
    }
}

/// How long somebody waits for a store that cannot be written.
const STORED_WITHIN: Duration = Duration::from_secs(5);

/// Why a command failed.
#[derive(Debug)]
pub enum CommandError {
    /// The program is stopping.
    Gone,
    Store(StoreError),
    /// The room cannot do anything: what it did last is not stored yet.
    Busy,
    /// It waits for the store, and will be done as soon as that can be written.
    Queued,
}

impl From<ShuttingDown> for CommandError {
    fn from(_: ShuttingDown) -> CommandError {
        CommandError::Gone
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> CommandError {
        CommandError::Store(error)
    }
}

impl CommandRunner {
    pub fn new(
        engine: EngineHandle,
        traces: Traces,
        clock: Clock,
        bot: BotInfo,
        preset_requests: mpsc::Sender<PresetRequest>,
    ) -> CommandRunner {
        let (bot, keeper, platforms) = (RwLock::new(bot), None, Vec::new());
        CommandRunner { engine, traces, clock, bot, preset_requests, keeper, platforms }
    }

    /// The same with these platforms.
    pub fn serving(self, platforms: Vec<Arc<dyn Platform>>) -> CommandRunner {
        CommandRunner { platforms, ..self }
    }

    /// The same with long-term memory.
    pub fn remembering(self, keeper: Arc<Keeper>, platforms: Vec<Arc<dyn Platform>>) -> CommandRunner {
        CommandRunner { keeper: Some(keeper), platforms, ..self }
    }

    /// From now on the bot has another name, or another model.
    pub fn introduce(&self, bot: BotInfo) {
        *self.bot.write().unwrap_or_else(PoisonError::into_inner) = bot;
    }

    pub(super) fn bot(&self) -> BotInfo {
        self.bot.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns when the input is durable.
    pub(super) async fn submit(&self, input: Input) -> Result<(), CommandError> {
        let queued = timeout(STORED_WITHIN, self.engine.enqueue(input)).await.map_err(|_| CommandError::Busy)??;
        Ok(timeout(STORED_WITHIN, queued.durable()).await.map_err(|_| CommandError::Queued)??)
    }

    pub(super) async fn view(&self, room: &RoomId) -> Result<Option<RoomView>, CommandError> {
        Ok(timeout(STORED_WITHIN, self.engine.view(room)).await.map_err(|_| CommandError::Busy)??)
    }

    async fn run_command(
        &self,
        spec: &CommandSpec,
        argument: Option<ArgumentValue>,
        call: CommandCall<'_>,
    ) -> Result<String, CommandError> {
        if spec.permission == Permission::Managers && !call.caller.manages {
            return Ok(call.language().text("command-for-managers"));
        }
        match spec.effect {
            CommandEffect::Engine { command, answer } => {
                let told = Input::Told(call.place.room.clone(), command(argument.as_ref()));
                self.submit(told).await?;
                Ok(answer(argument.as_ref(), call))
            }
            CommandEffect::Run(run) | CommandEffect::Remember(run) => run(self, call, argument).await,
            // The web room runs its own commands before it calls this.
            CommandEffect::Web(_) => Ok(answers::unknown(spec.name, call.form, call.language())),
        }
    }
}

impl Commands for CommandRunner {
    fn run<'a>(&'a self, text: &'a str, caller: &'a Caller, place: &'a Place) -> BoxFuture<'a, String> {
        let call = CommandCall { caller, place, form: CommandForm::of(&place.room) };
        Box::pin(async move {
            let done = match parse(text, call.form) {
                ParsedCommand::Command(spec, argument) => self.run_command(spec, argument, call).await,
                ParsedCommand::WrongArgument(spec) => Ok(answers::wrong_argument(spec, call.form, call.language())),
                ParsedCommand::Unknown(name) => Ok(answers::unknown(&name, call.form, call.language())),
            };
            match done {
                Ok(answer) => answer,
                Err(CommandError::Gone) => call.language().text("command-stopping"),
                Err(CommandError::Busy) => call.language().text("command-failed"),
                Err(CommandError::Queued) => call.language().text("command-queued"),
                Err(CommandError::Store(error)) => {
                    tracing::warn!(%error, "command failed");
                    let is_away = matches!(error, StoreError::Unavailable(_));
                    call.language().text(if is_away { "command-memory-away" } else { "command-failed" })
                }
            }
        })
    }
}
