//! "Please forget what I said about …" in people's words, said to the bot: what is to be forgotten, if it is such a
//! request.
//!
//! A text is split into clauses; one of them has to be the request. In English the clause begins with it, apart from a
//! "please" and the like; in Japanese it ends with it. "Don't remember …" asks for the same. "Don't forget what I said" and
//! "I forgot" are no requests, and neither is one that names nothing to look for, that is quoted or to be translated, that is
//! taken back in the same message, or that asks for the opposite ("forget nothing I said about …").

mod clauses;
mod japanese;
mod meant;
mod topic;
mod unsaid;

use clauses::{clauses, without_mentions};
use japanese::japanese_topic;
use meant::{QUOTING, has_exception, is_meant};
pub use topic::ForgetTopic;
pub use unsaid::changes_to_unsay;

use super::words::normal;

/// A request is short.
const CHARS_MAX: usize = 300;

/// What a message looks as if it asks the bot to forget. `None` if it does not, or does not say what.
pub fn asked_to_forget(text: &str) -> Option<ForgetTopic> {
    read(text, None)
}

/// What a message asks the bot to forget that is called by these names: nobody else is asked.
pub fn asked_to_forget_by(text: &str, names: &[&str]) -> Option<ForgetTopic> {
    let names: Vec<String> = names.iter().map(|name| normal(name)).collect();
    read(text, Some(&names))
}

fn read(text: &str, names: Option<&[String]>) -> Option<ForgetTopic> {
    if text.chars().count() > CHARS_MAX || text.contains("```") {
        return None;
    }
    let text = without_mentions(&normal(text));
    let clauses = clauses(&text);
    let polite = clauses.iter().flat_map(|clause| clause.text.split_whitespace()).any(|word| PLEASE.contains(&word));
    let topic = |at: usize| {
        japanese_topic(&clauses, at)
            .or_else(|| english_topic(clauses[at].text, polite, names))
            .filter(|topic| !has_exception(topic))
    };
    let (at, topic) = (0..clauses.len()).find_map(|at| Some((at, topic(at)?)))?;
    is_meant(&text, &clauses, at).then(|| ForgetTopic::of(&topic)).flatten()
}

/// "Forgetting" only after "would you mind".
const VERBS: [&str; 7] = ["forget", "delete", "erase", "remove", "unlearn", "wipe", "forgetting"];
/// After a "not" they ask for the same.
const KEEPING_VERBS: [&str; 10] =
    ["remember", "memorize", "memorise", "store", "save", "record", "keep", "log", "remembering", "storing"];
const PLEASE: [&str; 4] = ["please", "pls", "plz", "kindly"];
/// What may be before the request.
const POLITE: [&str; 28] = [
    "please", "pls", "plz", "can", "could", "would", "will", "you", "hey", "hi", "hello", "ok", "okay", "so", "and",
    "also", "actually", "sorry", "now", "just", "kindly", "then", "want", "need", "to", "i", "i'd", "like",
];
/// Words that show that it is not such a request.
const ELSE: [&str; 31] = [
    "don't", "dont", "not", "never", "did", "didn't", "do", "does", "always", "can't", "cannot", "won't", "we", "they",
    "how", "why", "what", "when", "where", "who", "if", "should", "ever", "let's", "lets", "someone", "somebody",
    "anyone", "anybody", "he", "she",
];
const WISHES: [&str; 7] = ["can", "could", "would", "will", "want", "need", "like"];
const SAYINGS: [&str; 9] = ["said", "told", "mentioned", "wrote", "posted", "shared", "asked", "say", "typed"];
/// What may be before "said": all of what was said, and when. "Nothing", "never" and somebody else's name ask for something
/// else.
const BEFORE_SAID: [&str; 35] = [
    "what",
    "whatever",
    "everything",
    "anything",
    "all",
    "that",
    "which",
    "the",
    "this",
    "these",
    "those",
    "thing",
    "things",
    "stuff",
    "story",
    "part",
    "bit",
    "words",
    "message",
    "messages",
    "of",
    "i",
    "i've",
    "i'd",
    "have",
    "had",
    "just",
    "ever",
    "already",
    "once",
    "earlier",
    "yesterday",
    "before",
    "today",
    "recently",
];
/// What may follow a request.
const CLOSINGS: [&str; 8] = ["please", "pls", "plz", "now", "thanks", "ok", "okay", "lol"];

/// `polite`: the text contains a "please".
fn english_topic(clause: &str, polite: bool, names: Option<&[String]>) -> Option<String> {
    let mut words: Vec<&str> = clause.split_whitespace().filter(|word| !word.starts_with('@')).collect();
    while words.last().is_some_and(|last| CLOSINGS.contains(last)) {
        words.pop();
    }
    if let [.., "from", "your", "memory"] = words[..] {
        words.truncate(words.len() - 3);
    }
    if let Some(verb) = words.iter().position(|word| KEEPING_VERBS.contains(word)) {
        return is_not_to(&words[..verb], names).then(|| object_of(words[verb], &words[verb + 1..], false)).flatten();
    }
    let verb = words.iter().position(|word| VERBS.contains(word))?;
    let before = &words[..verb];
    if words[verb] == "forgetting" && before.last() != Some(&"mind") {
        return None;
    }
    is_order(before, names).then(|| object_of(words[verb], &words[verb + 1..], polite || is_asked(before))).flatten()
}

/// Whether the words before the verb make it a request.
fn is_order(before: &[&str], names: Option<&[String]>) -> bool {
    let has = |list: &[&str]| before.iter().any(|word| list.contains(word));
    // "You forget what I said" and "I forget what I said" are statements, "I want to forget" is about oneself.
    let tells = before.last().is_some_and(|word| matches!(*word, "you" | "i" | "to")) && !has(&WISHES);
    let is_own = has(&["i", "i'd"]) && !has(&["you"]);
    are_polite(before, names) && !tells && !is_own && !has(&ELSE)
}

/// Whether there is nothing but politeness and the name of who is asked. If the names are not known, any one word may be it.
fn are_polite(before: &[&str], names: Option<&[String]>) -> bool {
    let mut unknown = before.iter().filter(|word| !POLITE.contains(word));
    let is_name = |word: &&&str| match names {
        Some(names) => names.iter().any(|name| name.split_whitespace().any(|part| part == **word)),
        None => !QUOTING.contains(*word) && word.starts_with(char::is_alphanumeric),
    };
    match names {
        Some(_) => unknown.all(|word| is_name(&word)),
        None => unknown.next().is_none_or(|word| is_name(&word)) && unknown.next().is_none(),
    }
}

/// "Can you", "I want you to": somebody is asked, rather than given permission.
fn is_asked(before: &[&str]) -> bool {
    before.windows(2).any(|pair| WISHES.contains(&pair[0]) && pair[1] == "you")
}

/// "Please don't", "could you not", "I don't want you to": whether the words before a verb negate it as a request. "I don't",
/// "don't you" do not.
fn is_not_to(before: &[&str], names: Option<&[String]>) -> bool {
    let before = match before {
        [rest @ .., "don't" | "dont"] | [rest @ .., "do", "not"] => rest,
        [rest @ .., "can" | "could" | "would", "you", "not"] => rest,
        [rest @ .., "can" | "could" | "would", "you", "please", "not"] => rest,
        [rest @ .., "i", "don't" | "dont", "want", "you", "to"]
        | [rest @ .., "i", "do", "not", "want", "you", "to"] => rest,
        [rest @ .., "i'd", "rather", "you", "didn't"] => rest,
        [rest @ .., "can" | "could" | "would", "you", "stop"] | [rest @ .., "stop"] => rest,
        _ => return false,
    };
    let is_about_people = |word: &&str| matches!(*word, "i" | "you" | "i'd" | "but");
    are_polite(before, names) && !before.iter().any(|word| ELSE.contains(word) || is_about_people(word))
}

/// What is to be forgotten, from the words after the verb. `asked`: it is a request even if it could be a figure of speech,
/// as "forget about the weather" is.
fn object_of(verb: &str, words: &[&str], asked: bool) -> Option<String> {
    let after = |from: usize| (from < words.len()).then(|| words[from..].join(" "));
    let about = |from: usize| {
        let found =
            words[from..].iter().position(|word| matches!(*word, "about" | "on" | "regarding" | "concerning" | "of"));
        found.and_then(|at| after(from + at + 1))
    };
    let said = words.iter().position(|word| SAYINGS.contains(word));
    let by_me = |at: usize| words[..at].iter().any(|word| matches!(*word, "i" | "i've" | "i'd"));
    if let Some(said) = said.filter(|at| by_me(*at)) {
        let names_all = words[..said].iter().all(|word| BEFORE_SAID.contains(word));
        return names_all.then(|| about(said)).flatten();
    }
    let of_thoughts = matches!(verb, "forget" | "forgetting" | "remember" | "remembering" | "memorize" | "memorise");
    match words {
        ["about", "my", ..] => after(2),
        // "Don't keep my seat" is about a seat.
        ["my", ..] if !matches!(verb, "keep" | "wipe") => after(1),
        ["everything" | "anything" | "all", "about", "my", ..] => after(3),
        ["everything" | "anything" | "all", "about", ..] if of_thoughts && asked => after(2),
        ["the" | "that" | "this", "thing" | "things" | "stuff" | "story" | "part" | "bit", "about", "my", ..] => {
            after(4)
        }
        ["that", "i" | "i'm" | "i've" | "i'd" | "i'll" | "my", ..] if of_thoughts => after(2),
        ["about", ..] if of_thoughts && asked => after(1),
        [
            what,
            "you",
            "know" | "remember" | "noted" | "learned" | "learnt" | "have",
            "about" | "of" | "on",
            "my",
            ..,
        ] if matches!(*what, "what" | "everything" | "all" | "whatever") => after(5),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
