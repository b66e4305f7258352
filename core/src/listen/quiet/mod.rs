//! "Be quiet" and "you can talk again" in people's words: orders, whatever a model might make of them.
//!
//! A text is split into clauses. One of them has to be the request and nothing else, apart from a time ("for an hour"), a
//! "please" and the like; the tables beside this file contain the words. If it is said to the bot, the other clauses may
//! give a reason. Right after a post of the bot, where it may be meant for other people, every clause has to belong to the
//! request.

mod english;
mod english_date;
mod english_joined;
mod english_order;
mod english_span;
mod english_time;
mod japanese;
mod japanese_ability;
mod japanese_time;
mod misspelled;
mod other;
mod pattern;
mod somebody;
mod until_called;
mod when;

pub(super) use english::words;
pub(super) use pattern::{WordPattern, read as read_patterns};
pub(crate) use when::QuietTime;

use crate::types::Span;

/// The addressee of what may be a request for quiet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SaidTo {
    /// To the bot, by a mention, its name or a reply.
    Bot,
    /// Right after a post of the bot, to nobody in particular.
    NobodyAfterItsPost,
    /// The same after a post that asks something: "no sound", "read only" and 「送らないで」 answer it.
    NobodyAfterItsQuestion,
    /// To the bot, and only words that can mean nothing else count.
    BotPlainly,
}

impl SaidTo {
    fn is_bot(self) -> bool {
        matches!(self, SaidTo::Bot | SaidTo::BotPlainly)
    }

    fn takes_plain_words_only(self) -> bool {
        matches!(self, SaidTo::NobodyAfterItsQuestion | SaidTo::BotPlainly)
    }
}

/// An order is short, even if it gives a reason.
const CHARS_MAX: usize = 400;

/// More repetitions of a punctuation mark add nothing.
const SIGNS_MAX: usize = 3;

/// For how long the bot is asked to be quiet, if it is. `rest` is the text without its name or mention.
pub(crate) fn asked_to_be_quiet(rest: &str, said_to: SaidTo) -> Option<QuietTime> {
    let text = prepare(rest)?;
    if until_called::is_condition(&text) {
        return None;
    }
    if said_to.is_bot() && is_hush(&text) {
        return Some(QuietTime::Usual);
    }
    let heard = match has_kana(&text) {
        true => japanese::asked_to_be_quiet(&text, said_to),
        false => english::asked_to_be_quiet(&text, said_to),
    };
    let elsewhere = || !said_to.takes_plain_words_only() && other::is_request(&text);
    heard.or_else(|| elsewhere().then_some(QuietTime::Usual))
}

/// Whether a muted bot is allowed to talk again, in a message to it.
pub(crate) fn allowed_to_talk(rest: &str) -> bool {
    let Some(text) = prepare(rest) else { return false };
    if has_kana(&text) { japanese::allowed_to_talk(&text) } else { english::allowed_to_talk(&text) }
}

/// The same for a message to nobody in particular, while the bot is muted by words.
pub(crate) fn plainly_allowed_to_talk(rest: &str) -> bool {
    let Some(text) = prepare(rest) else { return false };
    if has_kana(&text) { japanese::plainly_allowed_to_talk(&text) } else { english::plainly_allowed_to_talk(&text) }
}

/// A finger on the lips and nothing else. Between people it may mean a secret.
fn is_hush(text: &str) -> bool {
    text.contains('🤫') && !text.contains(|c: char| c.is_alphanumeric() || c == '?' || LAUGHS.contains(c))
}

fn has_kana(text: &str) -> bool {
    text.chars().any(|c| matches!(c, 'ぁ'..='ゟ' | 'ァ'..='ヺ'))
        || ["静", "黙", "発言", "禁止"].iter().any(|word| text.contains(word)) && !text.is_ascii()
}

/// In lower case and of one width, with `"` around quotations; `None` for what cannot be an order.
pub(super) fn prepare(text: &str) -> Option<String> {
    let text = shorten_runs(text.trim());
    if text.is_empty() || text.chars().count() > CHARS_MAX || text.contains("```") || text.contains("://") {
        return None;
    }
    let narrow = |c: char| match c {
        '！'..='～' if c != '～' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        '’' | '‘' | 'ʼ' => '\'',
        '“' | '”' | '「' | '」' | '『' | '』' | '«' | '»' => '"',
        '\u{3000}' => ' ',
        '−' => '-',
        other => other,
    };
    Some(text.chars().map(narrow).collect::<String>().to_lowercase())
}

/// "Be quiet!!!!!!!!" with only some of the punctuation.
fn shorten_runs(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    let (mut last, mut run) = (None, 0);
    for c in text.chars() {
        run = if last == Some(c) { run + 1 } else { 1 };
        last = Some(c);
        if run <= SIGNS_MAX || c.is_alphanumeric() || c == '`' {
            short.push(c);
        }
    }
    short
}

/// A part of a text, and the punctuation that ends it.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextClause<'a> {
    pub(super) text: &'a str,
    asks: bool,
}

/// The clauses of a text, trimmed.
pub(super) fn clauses<'a>(text: &'a str, ends: &str) -> Vec<TextClause<'a>> {
    let mut clauses = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        // "1.5 hours" contains no end.
        let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        let parts = |at: usize, c: char| {
            ends.contains(c)
                && !(c == '.' && digit(rest[..at].chars().next_back()) && digit(rest[at + 1..].chars().next()))
        };
        let end = rest.char_indices().find(|(at, c)| parts(*at, *c)).map_or(rest.len(), |(at, _)| at);
        let signs = rest[end..].find(|c: char| !ends.contains(c) && !c.is_whitespace()).unwrap_or(rest.len() - end);
        let part = rest[..end].trim();
        if part.chars().any(|c| c.is_alphanumeric() || c == '"' || LAUGHS.contains(c)) {
            clauses.push(TextClause { text: part, asks: rest[end..end + signs].contains('?') });
        }
        rest = &rest[end + signs..];
    }
    clauses
}

/// Somebody who laughs does not mean it, or not the bot.
const LAUGHS: &str = "😂🤣😆😹😄😁";

/// The role of a clause in a text that may ask for quiet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClausePart {
    /// The request. `only_to_it`: people say it to each other too.
    Request {
        only_to_it: bool,
        /// Not to be taken for an answer to a question: "be quiet", not "no sound".
        plain: bool,
        time: QuietTime,
    },
    Time(QuietTime),
    /// A greeting, a "please".
    Beside,
    /// About the bot, or about the talk it disturbs.
    Complaint,
    /// Something else, which may be the reason.
    Reason,
    /// Something that shows that the words are not meant as an order.
    Veto,
}

/// The result of all clauses together.
fn together(parts: &[ClausePart], said_to: SaidTo) -> Option<QuietTime> {
    let complains = parts.contains(&ClausePart::Complaint);
    let mut request = None;
    let mut time = None;
    for part in parts {
        match part {
            ClausePart::Veto => return None,
            ClausePart::Reason if !said_to.is_bot() => return None,
            ClausePart::Request { only_to_it: true, .. } if !said_to.is_bot() && !complains => (),
            ClausePart::Request { plain: false, .. } if said_to.takes_plain_words_only() => (),
            ClausePart::Request { time, .. } => {
                request = request.filter(|known| *known != QuietTime::Usual).or(Some(*time));
            }
            ClausePart::Time(other) => time = Some(*other),
            ClausePart::Beside | ClausePart::Complaint | ClausePart::Reason => (),
        }
    }
    let request = request?;
    Some(match (request, time) {
        (QuietTime::Usual, Some(time)) => time,
        // "For an hour, thirty minutes": never for less than was asked.
        (QuietTime::For(span), Some(QuietTime::For(more))) if more < span => QuietTime::lasting(Span(span.0 + more.0)),
        (QuietTime::For(span), Some(QuietTime::For(longer))) => QuietTime::For(span.max(longer)),
        (request, _) => request,
    })
}

#[cfg(test)]
mod tests;
