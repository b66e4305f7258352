//! Long memory: whether its stores are ones that there are, and whether vectors can be made where they are wanted.

use super::Patient;
use crate::check::Check;
use crate::{memory, models};

const PART: &str = "memory";

/// Nothing, where all is well: there is little to tell.
pub fn check(patient: &Patient<'_>) -> Vec<Check> {
    let stores = memory::check(&patient.settings.memory).err();
    let vectors = models::wanted_embedder(patient.policies, patient.environment).err();
    let stores = stores.map(|what| Check::fail(PART, what, "set it to \"local\" or \"memory\""));
    let vectors = vectors.map(|what| Check::fail(PART, what, "check models.embed, or set memory.vectors = false"));
    stores.into_iter().chain(vectors).collect()
}
