//! What `init` prints after it has written the file.

use std::fmt::Write as _;

use super::answers::InitAnswers;
use crate::language::{Language, say};

/// What to do next.
pub fn next_steps(language: Language, path: &str, answers: &InitAnswers) -> String {
    let mut text = String::new();
    let secrets = answers.keys().into_iter().chain(answers.needs_token().then_some("AIZUCHI__WEB__TOKEN"));
    let exports = secrets.map(|name| format!("  export {name}=…\n")).collect::<String>();
    let config = if path == super::USUAL_FILE { String::new() } else { format!(" --config {path}") };
    let _ = write!(text, "\n{}\n{exports}", say!(language, "init-written", path = path));
    let _ = writeln!(text, "  aizuchi doctor{config}   # {}", language.text("init-next-doctor"));
    let _ = writeln!(text, "  aizuchi run{config}      # {}", language.text("init-next-run"));
    text
}
