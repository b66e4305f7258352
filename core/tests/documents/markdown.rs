//! The little of Markdown that the checks need: lines in and out of code blocks, code spans, links, headings.

use std::collections::BTreeSet;

/// A line of a document.
pub struct MarkdownLine<'a> {
    pub number: usize,
    pub text: &'a str,
    /// What follows the opening fence of the block it is in: its language and, in a tutorial, a file.
    pub block: Option<&'a str>,
}

/// The lines of a document without the fences themselves.
pub fn lines(text: &str) -> Vec<MarkdownLine<'_>> {
    let mut found = Vec::new();
    let mut open: Option<(&str, &str)> = None;
    for (index, text) in text.lines().enumerate() {
        let trimmed = text.trim_start();
        let fence = &trimmed[..trimmed.len() - trimmed.trim_start_matches('`').len()];
        match open {
            Some((opened, _)) if trimmed.trim_end() == opened => open = None,
            Some((_, info)) => found.push(MarkdownLine { number: index + 1, text, block: Some(info) }),
            None if fence.len() >= 3 => open = Some((fence, trimmed[fence.len()..].trim())),
            None => found.push(MarkdownLine { number: index + 1, text, block: None }),
        }
    }
    found
}

/// What is in backticks in a line.
pub fn spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The targets of the links and pictures in a line.
pub fn targets(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(from) = rest.find("](") {
        rest = &rest[from + 2..];
        let Some(to) = rest.find(')') else { break };
        found.push(&rest[..to]);
        rest = &rest[to..];
    }
    found
}

/// The anchors that a document's headings have, as GitHub and mdBook make them.
pub fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in lines(text).into_iter().filter(|line| line.block.is_none()) {
        let title = line.text.trim_start_matches('#');
        if title.len() == line.text.len() || !title.starts_with(' ') {
            continue;
        }
        let title = title.trim().to_lowercase().replace(' ', "-");
        let anchor: String = title.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect();
        let mut unique = anchor.clone();
        let mut count = 1;
        while !found.insert(unique.clone()) {
            unique = format!("{anchor}-{count}");
            count += 1;
        }
    }
    found
}
