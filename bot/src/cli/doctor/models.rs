//! The models that `run` would call: which one writes and which one judges, whether each has a key, and whether it answers.

use std::time::Duration;

use aizuchi_core::settings::Layers;
use aizuchi_core::{Policies, Policy};
use anyhow::Context as _;
use tokio::runtime::Runtime;

use super::{DoctorContext, LiveChecks};
use crate::check::{Check, Level};
use crate::cli::run::variable;
use crate::models::providers::{self, ModelAddress, PROVIDERS, Variables};
use crate::models::{self, LocalModel, OFFLINE, find_local_model, try_call};
use crate::ports::ModelReply;

const PART: &str = "model";

pub fn check(context: &DoctorContext<'_>) -> Vec<Check> {
    // If the program would not start, the other results are irrelevant.
    if let Err(error) = context.choice {
        let fix = "set the key, or choose another model with models.main and models.judge";
        return vec![Check::fail(PART, format!("{error:#}"), fix)];
    }
    let variables = Variables::read(context.policies, context.environment);
    let (mut checks, mut calls) = (Vec::new(), Vec::new());
    if let Some(local) = context.choice.as_ref().ok().and_then(|choice| choice.local.as_ref()) {
        checks.push(Check::ok(PART, format!("no key; using {local}")));
    }
    for asked in models_in_use(context.policies) {
        match check_settings(context, &asked, &variables) {
            ModelCheck::Done(check) => checks.push(check),
            ModelCheck::Reachable(address) => calls.push((asked, address)),
        }
    }
    checks.extend(match context.calls {
        LiveChecks::None => calls.iter().map(|(asked, address)| not_called(asked, address)).collect(),
        LiveChecks::Real => call(&calls, &variables),
    });
    // Some models are used only by long-term memory.
    let is_told = checks.iter().any(|check| check.level == Level::Fail);
    if let Some(error) = models::check(context.policies, context.environment).err().filter(|_| !is_told) {
        checks.push(Check::fail(PART, format!("{error:#}"), "set the key, or choose another model"));
    }
    checks
}

/// The local server that `run` would find on this machine.
pub fn find_local_server(layers: &Layers, calls: LiveChecks) -> Option<LocalModel> {
    match calls {
        // Invalid settings are reported by the settings check.
        LiveChecks::Real => new_runtime().ok()?.block_on(find_local_model(layers, &variable, None)).ok()?,
        LiveChecks::None => None,
    }
}

fn new_runtime() -> anyhow::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start the async runtime")
}

/// A model and what it is used for.
struct ModelUse<'a> {
    model: &'a str,
    policy: &'a Policy,
    writes: bool,
    judges: bool,
}

impl ModelUse<'_> {
    fn does(&self) -> &'static str {
        match (self.writes, self.judges) {
            (true, true) => "writes and judges",
            (true, false) => "writes",
            (false, true) => "judges",
            (false, false) => unreachable!("somebody asks it"),
        }
    }

    fn setting(&self) -> &'static str {
        if self.writes { "models.main" } else { "models.judge" }
    }
}

/// Each model once, those used in all rooms first.
fn models_in_use(policies: &Policies) -> Vec<ModelUse<'_>> {
    let mut all: Vec<ModelUse<'_>> = Vec::new();
    for policy in policies.all() {
        for (model, writes) in [(policy.settings.models.main.as_str(), true), (policy.judge_model(), false)] {
            match all.iter_mut().find(|asked| asked.model == model) {
                Some(asked) if writes => asked.writes = true,
                Some(asked) => asked.judges = true,
                None => all.push(ModelUse { model, policy, writes, judges: !writes }),
            }
        }
    }
    all
}

enum ModelCheck {
    Done(Check),
    Reachable(Box<ModelAddress>),
}

fn check_settings(context: &DoctorContext<'_>, asked: &ModelUse<'_>, variables: &Variables) -> ModelCheck {
    let (model, does) = (asked.model, asked.does());
    if model == OFFLINE {
        let chosen = ["models.main", "models.judge"].iter().any(|key| context.layers.sets_for_all(key));
        return ModelCheck::Done(match chosen {
            true => Check::ok(PART, format!("{model} {does}: built in, simple, needs no network")),
            false => {
                let keys: Vec<&str> = PROVIDERS.iter().filter(|row| row.needs_key).map(|row| row.keys[0]).collect();
                let fix =
                    format!("set an API key in {}, or choose a model with {}", keys.join(" or "), asked.setting());
                Check::warn(PART, format!("no model is connected, so the built-in one {does}"), fix)
            }
        });
    }
    match providers::find(model, &asked.policy.settings.providers, variables) {
        Ok(address) if address.key.is_missing() => {
            let told = format!("no API key for {model} ({does})");
            ModelCheck::Done(Check::fail(PART, told, format!("set {}", address.key.variable)))
        }
        Ok(address) => ModelCheck::Reachable(Box::new(address)),
        Err(what) => ModelCheck::Done(Check::fail(PART, what, format!("check {}", asked.setting()))),
    }
}

fn describe_address(address: &ModelAddress) -> String {
    match &address.key.secret {
        Some(_) => format!("key in {}", address.key.variable),
        None => "no key needed".to_owned(),
    }
}

fn not_called(asked: &ModelUse<'_>, address: &ModelAddress) -> Check {
    Check::ok(PART, format!("{} {}: {}, not called", asked.model, asked.does(), describe_address(address)))
}

/// The calls run concurrently, so that a slow model delays only itself.
fn call(calls: &[(ModelUse<'_>, Box<ModelAddress>)], variables: &Variables) -> Vec<Check> {
    let runtime = match new_runtime() {
        Ok(runtime) => runtime,
        Err(error) => return vec![Check::fail(PART, format!("{error:#}"), "check the process limits of this machine")],
    };
    runtime.block_on(async {
        let begin = |(asked, _): &(ModelUse<'_>, _)| tokio::spawn(try_call(asked.model, asked.policy, variables));
        let running: Vec<_> = calls.iter().map(begin).collect();
        let mut checks = Vec::new();
        for (task, (asked, address)) in running.into_iter().zip(calls) {
            let result = task.await.unwrap_or_else(|error| Err(error.to_string()));
            checks.push(check_answer(asked, address, result));
        }
        checks
    })
}

fn check_answer(asked: &ModelUse<'_>, address: &ModelAddress, result: Result<(ModelReply, Duration), String>) -> Check {
    let (model, does) = (asked.model, asked.does());
    let what = match result {
        Ok((_, took)) => {
            let told = format!("{model} {does}: {}, answered in {} ms", describe_address(address), took.as_millis());
            return Check::ok(PART, told);
        }
        Err(what) => what,
    };
    let ModelAddress { url, key, .. } = address;
    let fix = match key.secret {
        Some(_) => format!("check the key in {}, the model name in {} and the network", key.variable, asked.setting()),
        None => format!("check that {url} is running, and the model name in {}", asked.setting()),
    };
    Check::fail(PART, format!("{model} ({does}) did not answer: {what}"), fix)
}
