//! "I will stay silent because …" and "There is no need for me to speak." in English.

mod around;
mod words;

use self::around::*;
use self::words::*;
use super::phrase::{ANYBODY, Phrase, after, rests};

/// Nobody says these to a person.
const SURE: &[&Phrase] = &[
    &[WILL, MERELY, STAY, SILENT],
    &[WILL, MERELY, STAY, OUT_OF, THE, TALK],
    &[WILL, MERELY, QUIETLY],
    &[WILL, MERELY, &["not", "not to"], SPEAK],
    &[WILL, MERELY, &["refrain from", "avoid", "abstain from", "hold off on"], SPEAKING],
    &[WILL_NOT, MERELY, SPEAK],
    &[CHOOSE, &["not to", "if i don't", "if i didn't"], SPEAK],
    &[DO_NOT, NEED_TO, MERELY, SPEAK],
    &[&["i see", "i have"], &["no need to", "no reason to"], SPEAK],
    &[THERE_IS, NO_NEED_FOR_ME, SPEAK],
    &[THERE_IS_NOT, NEED_FOR_ME, SPEAK],
    &[&["i won't", "i will not", "i'll not", "i'm not", "i am not", "not"], &["", "be"], SPEAKING],
    &[&["there is", "there's", "i see", ""], &["no need for"], &["a", "any", "my"], &["", "further"], WORDS, FROM_ME],
    &[&["no"], &["", "further", "additional"], WORDS, FROM_ME, &["", "is", "seems", "are"], NEEDED, FROM_ME],
    &[
        &["i don't think", "i do not think", "i don't believe", "i do not believe"],
        &["a", "any", "my"],
        WORDS,
        FROM_ME,
        &["is"],
        NEEDED,
    ],
    &[&["a", "any"], WORDS, &["from me", "on my part"], &["is not", "isn't"], NEEDED],
    &[&["my"], WORDS, &["is not", "isn't", "is probably not", "was not", "wasn't"], NEEDED],
    &[
        &["i don't think", "i do not think", "i don't believe", "i do not believe"],
        &["this", "it", "that", "this conversation", "the conversation", "there"],
        &["needs", "requires", "calls for", "is a need for"],
        &["a", "any", "my", ""],
        WORDS,
        FROM_ME,
    ],
    &[
        &["this", "it", "this conversation", "the conversation", "this discussion", "this exchange", "this message"],
        &["does not", "doesn't"],
        &["", "really", "seem to"],
        &["need", "require", "call for"],
        &["a", "any", "my", ""],
        WORDS,
        FROM_ME,
    ],
    &[&["i am", "i'm", ""], MERELY, STAYING, SILENT],
    &[&["i am", "i'm", ""], MERELY, STAYING, OUT_OF, THE, TALK],
    &[&["i am", "i'm"], &["holding back", "holding off", "sitting this one out", "saying nothing"]],
    &[&["i"], &["stay", "remain", "keep"], SILENT],
    &[
        &["the best response", "the best answer", "the best thing"],
        &["", "here"],
        &["is"],
        &["no response", "silence", "to say nothing"],
    ],
    &[&["silence"], &["is", "seems", "feels"], &["best", "better", "the best response", "appropriate"]],
    &[
        &["speaking up", "speaking", "jumping in", "stepping in", "responding"],
        &["", "here", "now"],
        &["would"],
        &["", "only", "just"],
        &["interrupt", "disturb", "be an interruption"],
    ],
    &[&["i have", "i've", "i've got", "i really have", "there is", "there's", ""], &["nothing"], MORE, &["to say"]],
    &[&["i don't have", "i do not have", "there isn't", "there is not"], &["anything"], MORE, &["to say"]],
    &[&["i have", "i've", "i've got", "i really have"], &["nothing"], USEFUL, &["", "for me"], &["to"], ADD],
    &[&["i don't have", "i do not have"], &["anything"], USEFUL, &["", "for me"], &["to"], ADD],
    &[&["nothing"], &["", "more", "further", "else"], &["from me", "from my side"]],
];
/// Alone they are about the bot itself; with a reason they answer a person who asked whether to reply.
const ADVICE: &[&Phrase] = &[
    &[&["it is not", "it's not", "it isn't"], &["necessary to", "needed to"], SPEAK_UP],
    &[&["there is", "there's", "i see", ""], &["no need to", "no reason to"], SPEAK_UP],
];
/// What might be said to a person too.
const LIKELY: &[&Phrase] = &[
    &[
        &["i have", "i've", "i've got", "i really have", "there is", "there's", "there's really", "i see", ""],
        &["nothing"],
        USEFUL,
        &["", "for me"],
        &["to"],
        ADD,
    ],
    &[
        &[
            "i don't have",
            "i do not have",
            "there isn't",
            "there is not",
            "there doesn't seem to be",
            "there does not seem to be",
        ],
        &["anything"],
        USEFUL,
        &["", "for me"],
        &["to"],
        ADD,
    ],
    &[&[
        "nothing needs to be said",
        "nothing more needs to be said",
        "nothing i could say would help",
        "nothing i say would help",
    ]],
    &[
        &["i have", "i've", ""],
        &["no"],
        &["", "further", "more"],
        WORDS,
        &["", "to make", "to add", "to offer", "from me"],
    ],
    &[
        &["i can't", "i cannot", "i couldn't", "i could not"],
        &["", "really"],
        &["add anything", "contribute anything", "offer anything"],
    ],
    &[&["they", "you"], &["do not", "don't"], &["", "really"], &["need me", "need my input", "need my help"]],
    &[&["no action"], &["", "is"], NEEDED],
    &[
        &["i am", "i'm"],
        &["", "probably", "clearly"],
        &[
            "not needed",
            "not part of this",
            "not part of this conversation",
            "just listening",
            "only listening",
            "listening",
        ],
    ],
    &[
        WILL,
        MERELY,
        &["pass", "listen", "listen in", "keep listening", "wait and see", "observe", "watch", "stand by", "step back"],
    ],
    &[
        WILL,
        MERELY,
        &["leave"],
        &[
            "them to it",
            "you to it",
            "you two to it",
            "it to them",
            "this to them",
            "it to you",
            "it there",
            "it at that",
        ],
    ],
    &[WILL, MERELY, &["let"], &[ANYBODY], CARRY_ON],
];

/// In brackets or asterisks, where it describes its own action.
const STAGED: &[&Phrase] = &[
    &[
        &["stays", "remains", "keeps", "is", "sits", "staying", "remaining", "keeping"],
        &["", "very"],
        &["silent", "quiet"],
    ],
    &[&["does not", "doesn't", "chooses not to", "decides not to", "will not"], SPEAK],
    &[
        &["", "quietly", "silently"],
        &[
            "listens",
            "listening",
            "observing",
            "watching",
            "watches",
            "observes",
            "says nothing",
            "nods and says nothing",
        ],
        &["", "quietly", "silently"],
    ],
    &[
        &["no"],
        &["message", "response", "reply", "answer", "output", "comment"],
        &["sent", "given", "posted", "provided", "generated"],
    ],
];

/// A stage direction without words.
pub(super) fn is_staged_silence(words: &str) -> bool {
    fits(STAGED, words)
}

/// Every sentence says that nothing is to be said, or is about the talk, and at least one is of the first kind.
pub(super) fn says_so(words: &str, likely_counts: bool) -> bool {
    let turns = || TURNS.iter().any(|turn| words.match_indices(turn).any(|(at, _)| is_word(words, at, turn.len())));
    if words.contains(['?', '`']) || words.contains("://") || turns() {
        return false;
    }
    if is_bare_advice(words) {
        return true;
    }
    let sentences = words.replace(" - ", ".");
    let sentences = sentences.split(['.', '!', ';', ':', '–', '—', '(', ')']).map(str::trim);
    let mut says_so = false;
    for sentence in sentences.filter(|sentence| !sentence.is_empty()) {
        let is_empty = is_empty(sentence, likely_counts);
        if !is_empty && !is_about_the_talk(sentence) {
            return false;
        }
        says_so |= is_empty;
    }
    says_so
}

fn is_empty(sentence: &str, likely_counts: bool) -> bool {
    let plain = sentence.replace(',', "");
    let is_empty = |words: &str| {
        let words = without_openings(words);
        fits(SURE, words) || (likely_counts && (fits(LIKELY, words) || fits(ADVICE, words)))
    };
    if is_empty(&plain) {
        return true;
    }
    // "They are fine, so …", "Since nobody asked me, …", "…, they are fine".
    let gives_reason = |part: &str| REASONS.iter().any(|word| after(part, word).is_some()) || is_about_the_talk(part);
    let reasoned = |(one, other): (&str, &str)| {
        (gives_reason(one) && is_empty(&other.replace(',', "")))
            || (is_empty(&one.replace(',', "")) && gives_reason(other))
    };
    let parts = |mark: &'static str| sentence.match_indices(mark).map(move |(at, _)| at);
    [", so ", " so ", ", and ", ", "]
        .into_iter()
        .any(|mark| parts(mark).any(|at| reasoned((&sentence[..at], &sentence[at + mark.len()..]))))
}

fn fits(phrases: &[&Phrase], words: &str) -> bool {
    rests_of(phrases, words).any(|rest| is_tail(rest, true) && !is_about_others(words, rest))
}

/// Without a reason.
fn is_bare_advice(words: &str) -> bool {
    let words = words.replace(',', "");
    let words = without_openings(&words);
    rests_of(ADVICE, words).any(|rest| is_tail(rest, false) && !is_about_others(words, rest))
}

fn rests_of<'a>(phrases: &[&Phrase], words: &'a str) -> impl Iterator<Item = &'a str> {
    phrases.iter().flat_map(move |phrase| rests(phrase, words))
}

/// "No need to reply to them": if it is not about the bot itself, it is said to a person about others.
fn is_about_others(words: &str, rest: &str) -> bool {
    let head = &words[..words.len() - rest.len()];
    let is_itself = |word: &str| ["i", "me", "my", "mine", "myself"].contains(&word) || word.starts_with("i'");
    !head.split(' ').any(is_itself) && rest.starts_with("to them")
}

fn is_word(words: &str, at: usize, length: usize) -> bool {
    let letter = |c: char| c.is_alphanumeric() || c == '\'';
    !words[..at].ends_with(letter) && !words[at + length..].starts_with(letter)
}

fn without_openings(mut words: &str) -> &str {
    // Each is removed at most once.
    for _ in OPENINGS {
        match OPENINGS.iter().find_map(|opening| after(words, opening)) {
            Some(rest) => words = rest,
            None => break,
        }
    }
    words
}

fn is_tail(rest: &str, reasons_count: bool) -> bool {
    let is_reason = |reason: &&str| after(rest, reason).is_some();
    rest.is_empty()
        || (reasons_count && REASONS.iter().any(is_reason))
        || TAILS.iter().filter_map(|tail| after(rest, tail)).any(|rest| is_tail(rest, reasons_count))
}

/// A sentence with figures contains news.
fn is_about_the_talk(sentence: &str) -> bool {
    !sentence.contains(|c: char| c.is_ascii_digit()) && sentence.split([' ', ',']).any(|word| ABOUT.contains(&word))
}
