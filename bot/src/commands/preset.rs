//! How the bot behaves in a room.

use aizuchi_core::settings::PRESETS;
use tokio::sync::oneshot;

use super::parse::ArgumentValue;
use super::runner::{CommandCall, CommandError, CommandRunner, PresetRequest};
use super::spec::{ArgumentKind, ArgumentSpec, CommandEffect, CommandSpec, OfferedIn, Permission};
use crate::language::say;
use crate::ports::BoxFuture;

pub const COMMAND: CommandSpec = CommandSpec {
    name: "preset",
    argument: Some(ArgumentSpec {
        name: "name",
        kind: ArgumentKind::Choice(|| PRESETS.iter().map(|(name, _)| *name).collect()),
        required: true,
    }),
    permission: Permission::Managers,
    offered: OfferedIn::Everywhere,
    effect: CommandEffect::Run(run),
};

fn run<'a>(
    runner: &'a CommandRunner,
    call: CommandCall<'a>,
    name: Option<ArgumentValue>,
) -> BoxFuture<'a, Result<String, CommandError>> {
    Box::pin(async move {
        let preset = name.as_ref().and_then(ArgumentValue::word).unwrap_or_default().to_owned();
        let (done, answer) = oneshot::channel();
        let request = PresetRequest { room: call.place.room.as_str().to_owned(), preset: preset.clone(), done };
        runner.preset_requests.send(request).await.map_err(|_| CommandError::Gone)?;
        Ok(match answer.await.map_err(|_| CommandError::Gone)? {
            Ok(()) => say!(call.language(), "command-preset.done", preset = preset),
            Err(problem) => problem,
        })
    })
}
