//! "I will stay silent because …" in English.

/// Who speaks, or nobody ("staying silent because …").
const SUBJECTS: &[&str] = &[
    "i will",
    "i'll",
    "i am going to",
    "i'm going to",
    "i choose to",
    "i chose to",
    "i decided to",
    "i have decided to",
    "i've decided to",
    "i prefer to",
    "i'd prefer to",
    "i should",
    "i would",
    "i'd",
    "i'd rather",
    "i would rather",
    "i think i will",
    "i think i'll",
    "i think i should",
    "i'd better",
    "it is best to",
    "it's best to",
    "it is better to",
    "it's better to",
    "best to",
    "better to",
];
const QUIETLY: &[&str] = &[
    "stay silent",
    "remain silent",
    "keep silent",
    "be silent",
    "stay quiet",
    "remain quiet",
    "keep quiet",
    "stay out of this",
    "stay out of it",
    "sit this one out",
    "say nothing",
    "not say anything",
    "not respond",
    "not reply",
    "not intervene",
    "not step in",
    "not speak",
    "refrain from responding",
    "refrain from commenting",
    "refrain from replying",
];
const WHOLE: &[&str] = &[
    "i won't respond",
    "i don't need to respond",
    "i do not need to respond",
    "i don't think i should respond",
    "i won't reply",
    "i won't intervene",
    "i won't step in",
    "i won't say anything",
    "i am staying silent",
    "i'm staying silent",
    "i am remaining silent",
    "i'm remaining silent",
    "i stay silent",
    "i remain silent",
    "staying silent",
    "remaining silent",
    "no response needed",
    "no response is needed",
    "no response is necessary",
    "no response required",
    "no response is required",
    "no reply needed",
    "no reply is needed",
    "no intervention needed",
    "no intervention is needed",
    "no need to respond",
    "no need to reply",
    "no need to intervene",
    "there is no need to respond",
    "there's no need to respond",
    "there is no need for me to respond",
    "there is no need to intervene",
    "silence is best here",
];
/// What a person might be told too.
const WHOLE_UNASKED: &[&str] = &[
    "i have nothing to add",
    "i have nothing to say",
    "i've nothing to add",
    "i have nothing more to add",
    "i don't have anything to add",
    "i do not have anything to add",
    "i have nothing useful to add",
    "there is nothing to add",
    "there's nothing to add",
    "there is nothing for me to add",
    "nothing to add",
    "nothing to say",
];
/// How the sentence may go on if it is about staying silent and not about something else.
const REASONS: &[&str] = &[
    " because",
    " since",
    " as ",
    " so that",
    " for now",
    " for the moment",
    " here",
    " in this",
    " right now",
    " at this",
    " at the moment",
    " this time",
    " now",
    " and let",
    " and listen",
    " to this message",
    " to this conversation",
    " to the conversation",
    " to that",
    " unless",
    " until",
    ",",
    ".",
    ";",
    ":",
    " -",
    " –",
    " —",
    " (",
];
/// Behind these comes what is said after all.
const TURNS: &[&str] = &["but ", "however", "though", "except", "?", "here is", "here's"];

pub fn says_so(words: &str, likely_counts: bool) -> bool {
    let tail = SUBJECTS
        .iter()
        .filter_map(|subject| words.strip_prefix(subject)?.strip_prefix(' '))
        .map(|rest| rest.strip_prefix("just ").or_else(|| rest.strip_prefix("simply ")).unwrap_or(rest))
        .find_map(|rest| QUIETLY.iter().find_map(|quietly| rest.strip_prefix(quietly)))
        .or_else(|| WHOLE.iter().find_map(|whole| words.strip_prefix(whole)))
        .or_else(|| WHOLE_UNASKED.iter().filter(|_| likely_counts).find_map(|whole| words.strip_prefix(whole)));
    tail.is_some_and(|tail| {
        (tail.is_empty() || REASONS.iter().any(|reason| tail.starts_with(reason)))
            && !TURNS.iter().any(|turn| tail.contains(turn))
    })
}
