//! Punctuation inside a time, which separates nothing: "until friday, 5pm", "for 1,5 hours", "for two (2) hours".

use super::english::words;
use super::english_time::is_time;

/// The text without them.
pub(super) fn joined(text: &str) -> String {
    join_times(&without_repeated_numbers(&with_points(text)))
}

/// "1,5" is "1.5", "1,000" is "1000".
fn with_points(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let digits_from = |at: usize| chars[at..].iter().take_while(|c| c.is_ascii_digit()).count();
    let mut plain = String::with_capacity(text.len());
    for (at, c) in chars.iter().enumerate() {
        let inside = *c == ',' && at > 0 && chars[at - 1].is_ascii_digit();
        match if inside { digits_from(at + 1) } else { 0 } {
            0 => plain.push(*c),
            3 => (),
            _ => plain.push('.'),
        }
    }
    plain
}

/// "Two (2) hours" is "two hours".
fn without_repeated_numbers(text: &str) -> String {
    let mut plain = text.to_owned();
    while let Some((start, end)) = plain.match_indices('(').find_map(|(start, _)| {
        let end = start + plain[start..].find(')')?;
        let is_number = end > start + 1 && plain[start + 1..end].chars().all(|c| c.is_ascii_digit());
        is_number.then_some((start, end))
    }) {
        plain.replace_range(start..=end, " ");
    }
    plain
}

/// Removes a comma if the words around it are one time.
fn join_times(text: &str) -> String {
    let mut plain = text.to_owned();
    for (at, _) in text.match_indices(',') {
        let before = words(&text[..at].replace(',', " "));
        let after = text[at + 1..].split(|c: char| ".!?,;\n…—–()*~".contains(c)).next().unwrap_or_default();
        let mut after = words(after);
        while after.last().is_some_and(|word| ["please", "thanks", "ok", "okay"].contains(&word.as_str())) {
            after.pop();
        }
        let start = before.iter().rposition(|word| ["until", "till", "til", "for"].contains(&word.as_str()));
        let Some(start) = start.filter(|_| !after.is_empty()) else { continue };
        let all: Vec<&str> = before[start..].iter().chain(&after).map(String::as_str).collect();
        if is_time(&all) {
            plain.replace_range(at..=at, " ");
        }
    }
    plain
}
