//! What an order to be quiet in English is told from, and what goes with it: answers to a question, occasions, reasons.

use super::english::is_in;

/// Whether the words can only be an order, and are no answer to a question such as "what do you hear?" or "shall I send it?".
pub(super) fn is_plain(proper: &[&str]) -> bool {
    const BEGIN: &str = "be being stay staying keep keeping remain remaining fall shut shush hush shh stfu stfup zip button pipe simmer \
        stop stopping quit quitting cease butt leave let hold bite knock_off give put turn you've you're your enough";
    const TALK: &str = "talk speak interrupt interrupt_us interfere chime butt jump weigh chat bother disturb";
    match proper {
        ["mute" | "quiet", "yourself" | "you" | "bot", ..] => true,
        ["be" | "keep" | "stay" | "remain", .., "mute"] => false,
        ["enough", rest @ ..] => rest.iter().any(|word| is_in(word, "you of from out talk talking chatter noise spam")),
        ["go", "away"] | ["mind", ..] | ["nobody" | "noone", ..] | ["no", "one", ..] => true,
        ["don't" | "dont" | "do" | "never" | "not", rest @ ..] => rest.iter().take(3).any(|word| is_in(word, TALK)),
        [first, ..] => is_in(first, BEGIN) || proper.contains(&"shut"),
        [] => false,
    }
}

/// "During the demo", "while I'm presenting".
pub(super) fn is_occasion(tail: &[&str]) -> bool {
    let speaks =
        |word: &&str| is_in(word, "i i'm im we we're were they they're he he's she she's the our my this people");
    match tail {
        ["during", _, ..] => true,
        ["while" | "when" | "whilst", rest @ ..] => {
            rest.len() > 1 && (rest.first().is_some_and(speaks) || rest.contains(&"is"))
        }
        _ => false,
    }
}

/// "Bob is presenting", "Alice wants to say something": a statement about anybody that may be the reason.
pub(super) fn tells_of_somebody(words: &[&str]) -> bool {
    const VERBS: &str = "is are was has have needs wants starts begins must will is_trying just started";
    let is_verb = |word: &&str| is_in(word, VERBS) || word.ends_with("'s") && word.len() > 3;
    let order = words
        .first()
        .is_none_or(|first| is_in(first, "is are was has have will let tell make be do did does can could"));
    !order && words.len() > 1 && words.iter().take(4).skip(1).any(is_verb)
        || !order && words.first().is_some_and(|first| first.ends_with("'s"))
}

pub(super) fn end_is_polite(tail: &[&str]) -> bool {
    tail.last().is_some_and(|last| is_in(last, "please pls plz"))
}
