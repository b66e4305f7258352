//! Prompts of one's own: whether they can be filled in as a question would.

use std::path::Path;

use super::Patient;
use crate::check::Check;
use crate::prompts::Prompts;

const PART: &str = "prompts";

pub fn check(patient: &Patient<'_>) -> Vec<Check> {
    let folder = Path::new(&patient.settings.prompts.folder);
    let prompts = Prompts::new(folder.to_owned());
    let own = prompts.try_all(patient.policies.general());
    let mend = "mend the file, or remove it to use the built-in one";
    let problems: Vec<Check> = prompts.problems().into_iter().map(|problem| Check::fail(PART, problem, mend)).collect();
    match (own, problems.is_empty()) {
        (_, false) => problems,
        (0, true) => vec![Check::ok(PART, "the built-in ones")],
        (own, true) => vec![Check::ok(PART, format!("{own} of your own in {}", folder.display()))],
    }
}
