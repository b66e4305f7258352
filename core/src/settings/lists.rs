//! Lists whose entries have a certain form.

use super::value::Bounds;

/// Names of tools, each possibly only a prefix.
pub(super) struct ToolPatterns;

impl Bounds<Vec<String>> for ToolPatterns {
    fn check(&self, patterns: &Vec<String>) -> Result<(), String> {
        let is_pattern = |pattern: &String| {
            let start = pattern.strip_suffix('*').unwrap_or(pattern);
            !pattern.trim().is_empty() && !start.contains(['*', '?'])
        };
        let right = r#"names of tools, a star only at their end, such as ["remind", "notes__*"]"#;
        if patterns.iter().all(is_pattern) { Ok(()) } else { Err(right.into()) }
    }
}

/// People by their ids, platform first.
pub(super) struct PersonIds;

impl Bounds<Vec<String>> for PersonIds {
    fn check(&self, ids: &Vec<String>) -> Result<(), String> {
        let is_id =
            |id: &String| id.split_once(':').is_some_and(|(platform, id)| !platform.is_empty() && !id.is_empty());
        let right = r#"ids of people with their platform, such as ["discord:1234", "slack:U0123"]"#;
        if ids.iter().all(is_id) { Ok(()) } else { Err(right.into()) }
    }
}
