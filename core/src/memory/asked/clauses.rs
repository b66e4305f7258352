//! The clauses of a text.

pub(super) fn without_mentions(text: &str) -> String {
    let mut rest = text.to_owned();
    while let Some(start) = rest.find("<@") {
        let Some(end) = rest[start..].find('>') else { break };
        rest.replace_range(start..=start + end, ", ");
    }
    // The name that is called is no part of the topic.
    let is_call = |word: &str| word.starts_with('@') && !word.contains(['、', '。', ',', '.']);
    match rest.split_once(char::is_whitespace) {
        Some((first, more)) if is_call(first) => more.to_owned(),
        Some(_) | None => rest,
    }
}

/// A part of a sentence, and the punctuation after it.
pub(super) struct Clause<'a> {
    pub text: &'a str,
    /// Where it begins.
    pub start: usize,
    pub sign: Option<char>,
}

impl Clause<'_> {
    /// Whether the sentence continues after it.
    pub(super) fn goes_on(&self) -> bool {
        matches!(self.sign, Some('、' | ','))
    }
}

/// Split at punctuation that ends a sentence or a part of one; "node.js" contains no end.
pub(super) fn clauses(text: &str) -> Vec<Clause<'_>> {
    let mut clauses = Vec::new();
    let mut start = 0;
    for (at, sign) in text.char_indices().filter(|(_, c)| ".,!?;:\n、。".contains(*c)) {
        let end = at + sign.len_utf8();
        let next = text[end..].chars().next();
        let goes_on = match sign {
            '.' => next.is_some_and(char::is_alphanumeric),
            // A time or an address.
            ':' => next.is_some_and(|next| next.is_ascii() && !next.is_whitespace()),
            _ => false,
        };
        if !goes_on {
            clauses.push(Clause { text: text[start..at].trim(), start, sign: Some(sign) });
            start = end;
        }
    }
    clauses.push(Clause { text: text[start..].trim(), start, sign: None });
    clauses
}
