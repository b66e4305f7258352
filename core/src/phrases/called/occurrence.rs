//! Where a name occurs in a text, and the clause around it.

use std::ops::Range;

use super::Writing;
use crate::phrases::finder::Finder;

/// A name and the sentence it is in.
#[derive(Debug)]
pub(super) struct Occurrence<'a> {
    /// The sentence before the name, and after it without the title that follows the name.
    pub(super) before: &'a str,
    pub(super) after: &'a str,
    /// Whether a title follows the name: 「さん」.
    pub(super) titled: bool,
    /// What the sentence ends with, if anything.
    pub(super) end: Option<char>,
    /// Whether the sentence before it asks who or which: the name alone may be the answer.
    pub(super) may_answer: bool,
    /// Whether the text has other sentences.
    pub(super) has_more: bool,
    pub(super) at_sign: bool,
    pub(super) quoted: bool,
}

const TITLES: [&str; 14] =
    ["さん", "くん", "ちゃん", "さま", "たん", "君", "様", "殿", "先生", "先輩", "-san", "-kun", "-chan", "-sama"];

/// How many of the first and of the last occurrences are checked: each is read with the sentence around it, which can be
/// the whole text.
const OCCURRENCES_MAX: usize = 16;

pub(super) fn occurrences<'a>(text: &'a str, names: &Finder) -> Vec<Occurrence<'a>> {
    let all: Vec<Range<usize>> = names.find_all(text).collect();
    let last = all.len().saturating_sub(OCCURRENCES_MAX).max(OCCURRENCES_MAX.min(all.len()));
    let some = all[..OCCURRENCES_MAX.min(all.len())].iter().chain(&all[last..]);
    let hidden = if all.is_empty() { Vec::new() } else { hidden(text) };
    let shown = |range: &&Range<usize>| !hidden.iter().any(|hidden| hidden.contains(&range.start));
    let found = some.filter(shown).filter(|range| !is_part_of_identifier(text, range));
    found.map(|range| occurrence(text, range)).collect()
}

fn occurrence<'a>(text: &'a str, range: &Range<usize>) -> Occurrence<'a> {
    let (head, tail) = (&text[..range.start], &text[range.end..]);
    let at_sign = head.ends_with(['@', '＠']);
    let start = head
        .char_indices()
        .rev()
        .find(|(at, c)| is_end(*c, &head[at + c.len_utf8()..]))
        .map_or(0, |(at, c)| at + c.len_utf8());
    let title = TITLES.iter().find(|title| tail.starts_with(**title));
    let rest = &tail[title.map_or(0, |title| title.len())..];
    let end = rest.char_indices().find(|(at, c)| is_end(*c, &rest[at + c.len_utf8()..]));
    let after = &rest[..end.map_or(rest.len(), |(at, _)| at)];
    let more = |text: &str| text.chars().any(char::is_alphanumeric);
    Occurrence {
        before: head[start..].trim(),
        after,
        titled: title.is_some(),
        end: end.map(|(_, c)| c),
        may_answer: asks_for_a_name(&head[..start]),
        has_more: more(&head[..start]) || end.is_some_and(|(at, _)| more(&rest[at..])),
        at_sign,
        quoted: is_quoted(text, range),
    }
}

/// "Who did that?", 「書いたの誰？」: the last sentence of a text asks for a name.
fn asks_for_a_name(text: &str) -> bool {
    let Some(asked) = text.trim_end().strip_suffix(['?', '？']) else { return false };
    let last = asked.rsplit(['.', '!', '?', '。', '！', '？', '\n']).next().unwrap_or_default().trim().to_lowercase();
    let begins = ["who ", "which ", "whose ", "what's the ", "what is the "].iter().any(|word| last.starts_with(word));
    begins || last == "who" || ["誰", "だれ", "名前", "どのボット"].iter().any(|word| last.contains(word))
}

impl Occurrence<'_> {
    /// The script around the name, that after it first.
    pub(super) fn writing(&self) -> Writing {
        let all = || self.before.chars().chain(self.after.chars());
        let next = self
            .after
            .chars()
            .find(|c| c.is_alphanumeric())
            .or_else(|| self.before.chars().rfind(|c| c.is_alphanumeric()));
        let kana = all().any(is_kana) || self.titled;
        match next {
            Some(c) if is_hangul(c) => Writing::Korean,
            Some(c) if is_kana(c) || (is_han(c) && kana) => Writing::Japanese,
            Some(c) if is_han(c) => Writing::Chinese,
            None if self.titled => Writing::Japanese,
            _ if kana => Writing::Japanese,
            _ if all().any(is_hangul) => Writing::Korean,
            _ => Writing::Latin,
        }
    }

    /// Punctuation on both sides separates the name from the rest of the sentence.
    pub(super) fn is_set_off(&self) -> bool {
        let before = self.before.chars().next_back();
        let after = self.after.trim_start().chars().next();
        before.is_none_or(|c| SEPARATORS.contains(c)) && after.is_none_or(|c| SEPARATORS.contains(c))
    }
}

/// Punctuation between parts of a sentence.
pub(super) const SEPARATORS: &str = ",、，:：—–-~〜～";

/// "0.3", "v2": a version of a program with this name.
pub(super) fn begins_with_version(text: &str) -> bool {
    let text = text.trim_start();
    let (marked, rest) = text.strip_prefix(['v', 'V']).map_or((false, text), |rest| (true, rest));
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let minor = rest[digits..].strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    digits > 0 && (marked || minor)
}

/// What follows the first sentence of a text.
pub(crate) fn after_first_sentence(text: &str) -> &str {
    let end = text.char_indices().find(|(at, c)| is_end(*c, &text[at + c.len_utf8()..]));
    end.map_or("", |(at, c)| &text[at + c.len_utf8()..])
}

/// Whether a sentence ends with this character, followed by `rest`.
fn is_end(c: char, rest: &str) -> bool {
    match c {
        '.' => rest.chars().next().is_none_or(|next| next.is_whitespace() || next == '.'),
        '!' | '?' | ';' | '。' | '！' | '？' | '；' | '…' | '\n' => true,
        _ => is_pictogram(c),
    }
}

fn is_pictogram(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

pub(super) fn is_kana(c: char) -> bool {
    matches!(c, 'ぁ'..='ゟ' | 'ァ'..='ヺ')
}

fn is_han(c: char) -> bool {
    matches!(c, '一'..='鿿' | '㐀'..='䶿' | '々')
}

fn is_hangul(c: char) -> bool {
    matches!(c, '가'..='힣' | 'ㄱ'..='ㆎ')
}

/// Code, URLs and quoted lines.
fn hidden(text: &str) -> Vec<Range<usize>> {
    let mut hidden = Vec::new();
    for fence in ["```", "`"] {
        let mut from = 0;
        while let Some(open) = text[from..].find(fence).map(|at| from + at) {
            let inner = open + fence.len();
            let close = text[inner..].find(fence).map(|at| inner + at + fence.len());
            let Some(close) = close.or((fence.len() == 3).then_some(text.len())) else { break };
            hidden.push(open..close);
            from = close;
        }
    }
    let offset = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    let spanned = |part: &str| offset(part)..offset(part) + part.len();
    hidden.extend(text.lines().filter(|line| line.trim_start().starts_with(['>', '＞'])).map(spanned));
    let is_address =
        |word: &&str| word.contains("://") || word.starts_with("www.") || word.contains("@") && word.contains('.');
    hidden.extend(text.split(|c: char| c.is_whitespace() || is_kana(c) || is_han(c)).filter(is_address).map(spanned));
    hidden
}

/// `aizuchi-core`, `aizuchi.toml`, `/etc/aizuchi`, `#aizuchi`, `aizuchi::run`.
fn is_part_of_identifier(text: &str, range: &Range<usize>) -> bool {
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    let (mut before, mut after) = (text[..range.start].chars().rev(), text[range.end..].chars());
    let behind = match before.next() {
        Some('/' | '\\' | '#' | '$' | '=' | '_') => true,
        Some('.' | '-' | ':') => joins(before.next()),
        _ => false,
    };
    let ahead = match after.next() {
        Some('/' | '\\' | '=' | '_') => true,
        Some('.' | '-') => joins(after.next()) && !TITLES.iter().any(|title| text[range.end..].starts_with(title)),
        Some(':') => after.next() == Some(':'),
        _ => false,
    };
    behind || ahead
}

/// Inside quotation marks. Japanese ones and straight ones may contain everything that somebody says to the bot.
fn is_quoted(text: &str, range: &Range<usize>) -> bool {
    const PAIRS: [(char, char); 4] = [('「', '」'), ('『', '』'), ('“', '”'), ('«', '»')];
    let (head, tail) = (&text[..range.start], &text[range.end..]);
    let opened = |open: char, close: char| head.rfind(open).is_some_and(|at| !head[at..].contains(close));
    let around = |open: char, close: char| {
        let all = text.trim().strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        let is_speech = matches!(open, '「' | '『') && all.is_some_and(|all| !all.contains([open, close]));
        !is_speech && opened(open, close) && tail.contains(close)
    };
    let straight = head.matches('"').count() % 2 == 1 && tail.contains('"') && !text.trim().starts_with('"');
    let word = text.trim_start().starts_with('"')
        && head.matches('"').count() == 1
        && tail.trim_end().trim_end_matches('"').contains('"');
    PAIRS.iter().any(|(open, close)| around(*open, *close)) || straight || word
}

/// `@bob` anywhere, as people write it on a platform without mentions.
pub(super) fn mentions_another(text: &str, names: &Finder) -> bool {
    let starts = |(at, _): (usize, &str)| {
        let rest = &text[at + 1..];
        let fresh = text[..at].chars().next_back().is_none_or(|c| !c.is_ascii_alphanumeric());
        let is_own = || names.find(rest).is_some_and(|name| name.start == 0);
        fresh && rest.starts_with(char::is_alphanumeric) && !is_own()
    };
    text.match_indices('@').any(starts)
}
