//! Each platform: whether it is joined, and what it finds out about itself.

use std::future::Future;
use std::time::Duration;

use super::{DoctorContext, LiveChecks};
use crate::check::{Check, Running};
use crate::cli::join::somewhere;
use crate::platforms::{PLATFORMS, PlatformKind, PlatformSpec, Tokens, read_tokens, token_variables};

pub fn check(context: &DoctorContext<'_>, running: Running) -> Vec<Check> {
    PLATFORMS.iter().flat_map(|spec| check_one(spec, context, running)).collect()
}

fn check_one(spec: &PlatformSpec, context: &DoctorContext<'_>, running: Running) -> Vec<Check> {
    let (part, is_enabled) = (spec.name(), spec.is_enabled(context.layers));
    match spec.kind {
        PlatformKind::Served { examine } if is_enabled => examine(context.layers, running),
        PlatformKind::Served { .. } => vec![match somewhere(context.layers, context.environment) {
            Ok(()) => Check::ok(part, "disabled"),
            Err(nowhere) => {
                Check::fail(part, nowhere.to_string(), format!("set {part}.enabled = true, or one of these tokens"))
            }
        }],
        PlatformKind::Joined { .. } if !is_enabled => vec![Check::ok(part, "disabled")],
        PlatformKind::Joined { tokens: declared, examine, .. } => {
            let variables = token_variables(declared, context.layers);
            let tokens = match read_tokens(declared, context.layers, context.environment) {
                Tokens::All(tokens) => tokens,
                Tokens::None => {
                    return vec![Check::ok(part, format!("not joined: set {} to join", variables.join(" and ")))];
                }
                Tokens::OneMissing { variable, is } => {
                    return vec![Check::fail(part, format!("{variable} is missing"), format!("set it to {is}"))];
                }
            };
            for ((token, spec), variable) in tokens.iter().zip(declared).zip(&variables) {
                if let Err(what) = (spec.check)(token) {
                    return vec![Check::fail(part, what, format!("set {variable} again"))];
                }
            }
            if context.calls == LiveChecks::None {
                let told = match &variables[..] {
                    [] => "needs no token, not checked".to_owned(),
                    [variable] => format!("token in {variable}, not checked"),
                    several => format!("tokens in {}, not checked", several.join(" and ")),
                };
                return vec![Check::ok(part, told)];
            }
            wait_for(part, examine(context.layers, tokens)).unwrap_or_else(|check| vec![check])
        }
    }
}

/// The limit for all requests together; each request has its own, shorter one.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for a platform's answer, but not forever.
fn wait_for<T>(part: &'static str, asked: impl Future<Output = T>) -> Result<T, Check> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        Check::fail(
            part,
            format!("cannot start the async runtime: {error}"),
            "check the process limits of this machine",
        )
    })?;
    let answered = runtime.block_on(async { tokio::time::timeout(PATIENCE, asked).await });
    answered.map_err(|_| {
        Check::fail(part, format!("no answer within {} s", PATIENCE.as_secs()), "check the network, and try again")
    })
}
