//! The prompts that are compiled in: one folder in `prompts/` per language, and one list of names.

use crate::language::Language;

/// Every prompt by its name; those in the first line are parts of the others.
pub const NAMES: &[&str] = &[
    "persona",
    "group",
    "frame",
    "memory",
    "tools",
    "state",
    "same",
    "changed",
    "judge_ladder",
    "judge_respond",
    "judge_delay",
    "join",
    "reply",
    "contribute",
    "errand",
    "acknowledge",
    "summarize",
    "reflect",
];

/// Falls back to English if a language has no prompts of its own.
pub(super) fn built_in(language: Language, name: &str) -> Option<&'static str> {
    language.prompt(name).or_else(|| Language::ENGLISH.prompt(name))
}

/// Prompts that are only used as parts of others.
pub(super) const PARTS: &[&str] = &["persona", "group", "frame", "memory", "tools"];

/// The line between the instructions and the question.
const BETWEEN: &str = "---";

/// The instructions and the question of a prompt. Line numbers are preserved, so that an error names the right one.
pub(super) fn halves(source: &str) -> (String, String) {
    let lines: Vec<&str> = source.lines().collect();
    let Some(between) = lines.iter().rposition(|line| line.trim_end() == BETWEEN) else {
        return (source.to_owned(), String::new());
    };
    let question = "\n".repeat(between + 1) + &lines[between + 1..].join("\n");
    (lines[..between].join("\n"), question)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_every_prompt_and_every_question() {
        for name in NAMES {
            let asks = Language::ALL.map(|language| {
                let (system, question) = halves(built_in(language, name).expect("it is in the table"));
                assert!(!system.trim().is_empty(), "{name}");
                !question.trim().is_empty()
            });
            assert_eq!(asks, [!PARTS.contains(name); Language::ALL.len()], "{name}");
        }
        assert_eq!(built_in(Language::ENGLISH, "jion"), None);
    }

    #[test]
    fn files_and_table_agree() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../prompts");
        for folder in std::fs::read_dir(root).unwrap() {
            let files = std::fs::read_dir(folder.unwrap().path()).unwrap();
            let mut found: Vec<String> =
                files.map(|file| file.unwrap().file_name().to_string_lossy().replace(".md", "")).collect();
            found.sort();
            let mut listed: Vec<&str> = NAMES.to_vec();
            listed.sort_unstable();
            assert_eq!(found, listed);
        }
    }

    #[test]
    fn a_question_keeps_its_line() {
        assert_eq!(halves("a\nb\n---\nc"), ("a\nb".into(), "\n\n\nc".into()));
        assert_eq!(halves("a\n---\nb\n---\nc").0, "a\n---\nb");
        assert_eq!(halves("only").1, "");
    }
}
