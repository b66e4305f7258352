//! What a start prepares before it is needed: long-term memory, and custom prompts.

use std::path::Path;

use aizuchi_core::Policy;
use aizuchi_core::learnt::ModelFile;

use super::{DoctorContext, LiveChecks};
use crate::check::Check;
use crate::memory;
use crate::models;
use crate::prompts::Prompts;

/// Whether memory stores that are separate from the main store can be used, and whether vectors can be made if they are
/// wanted.
pub fn check_memory(context: &DoctorContext<'_>) -> Vec<Check> {
    const PART: &str = "memory";
    let vectors = models::wanted_embedder(context.policies, context.environment).err();
    let vectors = vectors.map(|what| Check::fail(PART, what, "check models.embed, or set memory.vectors = false"));
    vectors.into_iter().chain(try_stores(context, PART)).collect()
}

/// Does what a start does.
fn try_stores(context: &DoctorContext<'_>, part: &'static str) -> Vec<Check> {
    if context.calls == LiveChecks::None {
        return Vec::new();
    }
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            return vec![Check::fail(part, format!("cannot start the async runtime: {error}"), "free some memory")];
        }
    };
    match runtime.block_on(memory::try_out(&context.settings.memory, context.layers)) {
        Ok(told) => told.into_iter().map(|told| Check::ok(part, told)).collect(),
        Err(what) => vec![Check::fail(part, what, "see the pages Stores and Memory in Firestore of the book")],
    }
}

/// Which model estimates whether somebody would join: the general one, and those of rooms that use another.
pub fn check_learnt(context: &DoctorContext<'_>) -> Vec<Check> {
    const PART: &str = "learnt";
    let told = |policy: &Policy| match (&policy.models.file, policy.settings.score.learned) {
        (_, false) => "no model is asked (score.learned = false)".to_owned(),
        (None, true) => "the built-in model".to_owned(),
        (Some(ModelFile { hash, date, .. }), true) => {
            format!("{} of {date}, hash {hash}", policy.settings.score.model_file)
        }
    };
    let mut all: Vec<String> = Vec::new();
    for one in context.policies.all().map(told) {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    vec![Check::ok(PART, all.join("; in some channels "))]
}

/// Whether custom prompts can be filled in as for a real question.
pub fn check_prompts(context: &DoctorContext<'_>) -> Vec<Check> {
    const PART: &str = "prompts";
    let folder = Path::new(&context.settings.prompts.folder);
    let prompts = Prompts::new(folder.to_owned());
    let own = prompts.try_all(context.policies.general());
    let fix = "fix the file, or remove it to use the built-in one";
    let problems: Vec<Check> = prompts.problems().into_iter().map(|problem| Check::fail(PART, problem, fix)).collect();
    match (own, problems.is_empty()) {
        (_, false) => problems,
        (0, true) => vec![Check::ok(PART, "the built-in ones")],
        (own, true) => vec![Check::ok(PART, format!("{own} of your own in {}", folder.display()))],
    }
}
