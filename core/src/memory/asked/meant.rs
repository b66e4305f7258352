//! Whether words that look like a request are meant as one: they are not quoted, reported or to be translated, and not taken
//! back.

use super::clauses::Clause;

/// Introduce the words of somebody else.
pub(super) const QUOTING: [&str; 36] = [
    "translate",
    "translated",
    "translating",
    "translation",
    "say",
    "says",
    "saying",
    "said",
    "tell",
    "tells",
    "telling",
    "told",
    "write",
    "writes",
    "writing",
    "wrote",
    "read",
    "reads",
    "spell",
    "type",
    "typed",
    "repeat",
    "recite",
    "quote",
    "quotes",
    "quoted",
    "pronounce",
    "rephrase",
    "paraphrase",
    "proofread",
    "example",
    "asked",
    "asks",
    "reply",
    "replied",
    "text",
];
/// Of these, those that ask for something to be done with words, also in a sentence of their own.
const WITH_WORDS: [&str; 10] =
    ["translate", "repeat", "recite", "quote", "pronounce", "rephrase", "paraphrase", "proofread", "example", "spell"];
const JAPANESE_QUOTING: [&str; 9] =
    ["訳し", "翻訳", "英訳", "和訳", "復唱", "繰り返", "言ってみて", "読み上げ", "例えば"];
/// At the end of a clause, they ask for what follows to be said. 「変なこと言って、ごめん」 does not.
const JAPANESE_ORDERS: [&str; 3] = ["言って", "書いて", "読んで"];
const ARE_QUOTES: [(char, char); 3] = [('「', '」'), ('『', '』'), ('“', '”')];

pub(super) fn is_meant(text: &str, clauses: &[Clause<'_>], at: usize) -> bool {
    let earlier = &clauses[..at];
    let introduces = |(index, clause): (usize, &Clause<'_>)| introduces_words(clause, index + 1 == at);
    let clause = clauses[at].text;
    !earlier.iter().enumerate().any(introduces)
        && !is_in_quotes(&text[..clauses[at].start])
        && !clause.starts_with(['"', '\'', '“', '「', '『'])
        && !takes_back(&clauses[at + 1..])
}

fn introduces_words(clause: &Clause<'_>, is_last: bool) -> bool {
    let words: Vec<&str> =
        clause.text.split_whitespace().map(|word| word.trim_matches(['"', '\'', '(', ')'])).collect();
    // "I said", "sorry for what I wrote" introduce nothing.
    let quotes =
        |list: &[&str]| (0..words.len()).any(|at| list.contains(&words[at]) && (at == 0 || words[at - 1] != "i"));
    let has = |list: &[&str]| list.iter().any(|word| clause.text.contains(word));
    let goes_on = matches!(clause.sign, Some(',' | ':' | ';' | '、'));
    let is_order = JAPANESE_ORDERS.iter().any(|order| clause.text.ends_with(order))
        && (clause.sign != Some('、') || clause.text.contains("語で"));
    // "Aizuchi: …" calls somebody, "I told Ken: …" and 「ケンの言葉：…」 do not.
    let calls = words.len() <= 1 && clause.text != "例" && !clause.text.contains(['の', 'が', 'は', 'を', 'で']);
    let reports = has(&["って言"]) || clause.text.replace("こと言", "").contains("と言");
    quotes(&WITH_WORDS)
        || has(&JAPANESE_QUOTING)
        || is_order
        || goes_on && (quotes(&QUOTING) || reports)
        || is_last && clause.sign == Some(':') && !calls
}

/// Whether a quotation was begun and not ended.
fn is_in_quotes(text: &str) -> bool {
    let count = |quote: char| text.matches(quote).count();
    count('"') % 2 == 1 || ARE_QUOTES.iter().any(|(begin, end)| count(*begin) > count(*end))
}

/// Take back what was asked for, in a clause after it.
const TAKING_BACK: [&str; 11] =
    ["kidding", "joking", "joke", "jk", "nvm", "nevermind", "keep", "undo", "psych", "except", "unless"];
const JAPANESE_TAKING_BACK: [&str; 11] = [
    "冗談",
    "なんて",
    "なんちゃって",
    "嘘",
    "うそ",
    "ウソ",
    "やっぱ",
    "忘れないで",
    "覚えておいて",
    "取り消",
    "待って",
];
const NOT: [&str; 7] = ["not", "no", "don't", "dont", "never", "nope", "stop"];
/// Say nothing about what was asked for.
const SMALL: [&str; 31] = [
    "please", "actually", "oh", "ok", "okay", "i", "hope", "really", "maybe", "or", "just", "wait", "sorry", "you",
    "should", "do", "it", "that", "think", "guess", "rather", "better", "well", "mind", "so", "but", "hm", "hmm",
    "forget", "on", "aizuchi",
];

fn takes_back(later: &[Clause<'_>]) -> bool {
    later.iter().any(|clause| {
        let words: Vec<&str> = clause.text.split_whitespace().collect();
        let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
        let is_refusal = has(&NOT) && words.iter().all(|word| NOT.contains(word) || SMALL.contains(word));
        let keeps = words.contains(&"remember") && !has(&NOT);
        has(&TAKING_BACK) || is_refusal || keeps || JAPANESE_TAKING_BACK.iter().any(|word| clause.text.contains(word))
    })
}

/// Make of a topic something that is to be kept, or of a request a joke.
const EXCEPTIONS: [&str; 16] = [
    "except",
    "excepting",
    "excluding",
    "besides",
    "but",
    "unless",
    "nothing",
    "neither",
    "none",
    "never",
    "jk",
    "nvm",
    "nevermind",
    "kidding",
    "joking",
    "without",
];

/// Whether the words of a topic say that it is not what is to be forgotten.
pub(super) fn has_exception(topic: &str) -> bool {
    let words: Vec<&str> = topic.split_whitespace().collect();
    let pairs = [["other", "than"], ["apart", "from"], ["or", "not"]];
    words.iter().any(|word| EXCEPTIONS.contains(word))
        || words.windows(2).any(|pair| pairs.iter().any(|except| pair == except))
}
