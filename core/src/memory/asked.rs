//! "Please forget what I said about …" in people's words, said to the bot: what is to be forgotten, if it is such a
//! request.
//!
//! A text is split into clauses; one of them has to be the request. In English the clause begins with it, apart from a
//! "please" and the like; in Japanese it ends with it. "Don't remember …" asks for the same. "Don't forget what I said" and
//! "I forgot" are no requests, and neither is one that names nothing to look for.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::words::{alike, is_kanji_word, normal, rarity, search_words, words};

/// What somebody wants the bot to forget of what they said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgetTopic {
    words: Vec<TopicWord>,
}

/// A request is short.
const CHARS_MAX: usize = 300;

/// What a message asks the bot to forget. `None` if it does not, or does not say what.
pub fn asked_to_forget(text: &str) -> Option<ForgetTopic> {
    if text.chars().count() > CHARS_MAX || text.contains("```") {
        return None;
    }
    let text = without_mentions(&normal(text));
    let clauses = clauses(&text);
    let polite = clauses.iter().flat_map(|clause| clause.text.split_whitespace()).any(|word| PLEASE.contains(&word));
    let topic = (0..clauses.len())
        .find_map(|at| japanese_topic(&clauses, at).or_else(|| english_topic(clauses[at].text, polite)))?;
    ForgetTopic::of(&topic)
}

/// Says how something is felt about, not what is meant.
static FEELINGS: LazyLock<Vec<String>> = LazyLock::new(|| {
    words("awful terrible horrible stupid silly embarrassing bad sad whole little weird dumb annoying")
});
/// Of a longer topic, one word in so many may be missing.
const MISSING: usize = 3;

impl ForgetTopic {
    /// `None` if there is no word to look for.
    fn of(topic: &str) -> Option<ForgetTopic> {
        let mut found = words(topic);
        let is_feeling = |word: &String| FEELINGS.contains(word);
        if !found.iter().all(is_feeling) {
            found.retain(|word| !is_feeling(word));
        }
        let mut words: Vec<TopicWord> = Vec::new();
        for word in found {
            let rarity = rarity(&word).unwrap_or(u8::MAX);
            let word = TopicWord { forms: forms(&word), word, rarity };
            if !words.contains(&word) {
                words.push(word);
            }
        }
        (!words.is_empty()).then_some(ForgetTopic { words })
    }

    /// Whether a text is about it: it has every word, in one of its forms; of three or more all but one in three, and the
    /// rarest.
    pub fn is_in(&self, text: &str) -> bool {
        let said: BTreeSet<String> = search_words(text).into_iter().collect();
        let is_said = |word: &TopicWord| word.forms.iter().any(|form| said.contains(form)) || word.is_within(&said);
        let rarest = self.words.iter().map(|word| word.rarity).max();
        let (found, missing): (Vec<&TopicWord>, Vec<&TopicWord>) = self.words.iter().partition(|word| is_said(word));
        let has_rarest = found.iter().any(|word| Some(word.rarity) == rarest);
        has_rarest && missing.len() <= self.words.len() / MISSING
    }
}

/// A word that is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TopicWord {
    word: String,
    /// The word, others that mean the same, and its reading.
    forms: Vec<String>,
    rarity: u8,
}

impl TopicWord {
    /// Whether a long word in kanji is there in another segmentation: all its pairs are.
    fn is_within(&self, said: &BTreeSet<String>) -> bool {
        let letters: Vec<char> = self.word.chars().collect();
        letters.len() > 2
            && is_kanji_word(&letters)
            && letters.windows(2).all(|pair| said.contains(&pair.iter().collect::<String>()))
    }
}

fn forms(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let is_pair =
        |form: &String| is_kanji_word(&letters) && form.chars().count() < letters.len() && word.contains(&**form);
    let mut forms = vec![word.to_owned()];
    forms.extend(alike(word).iter().cloned());
    forms.extend(search_words(word).into_iter().filter(|form| form != word && !is_pair(form)));
    forms
}

fn without_mentions(text: &str) -> String {
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
struct Clause<'a> {
    text: &'a str,
    sign: Option<char>,
}

impl Clause<'_> {
    /// Whether the sentence continues after it.
    fn goes_on(&self) -> bool {
        matches!(self.sign, Some('、' | ','))
    }
}

/// Split at punctuation that ends a sentence or a part of one; "node.js" contains no end.
fn clauses(text: &str) -> Vec<Clause<'_>> {
    let mut clauses = Vec::new();
    let mut start = 0;
    for (at, sign) in text.char_indices().filter(|(_, c)| ".,!?;\n、。".contains(*c)) {
        let end = at + sign.len_utf8();
        let goes_on = sign == '.' && text[end..].chars().next().is_some_and(char::is_alphanumeric);
        if !goes_on {
            clauses.push(Clause { text: text[start..at].trim(), sign: Some(sign) });
            start = end;
        }
    }
    clauses.push(Clause { text: text[start..].trim(), sign: None });
    clauses
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
/// What may follow a request.
const CLOSINGS: [&str; 8] = ["please", "pls", "plz", "now", "thanks", "ok", "okay", "lol"];

/// `polite`: the text contains a "please".
fn english_topic(clause: &str, polite: bool) -> Option<String> {
    let mut words: Vec<&str> = clause.split_whitespace().filter(|word| !word.starts_with('@')).collect();
    while words.last().is_some_and(|last| CLOSINGS.contains(last)) {
        words.pop();
    }
    if let [.., "from", "your", "memory"] = words[..] {
        words.truncate(words.len() - 3);
    }
    if let Some(verb) = words.iter().position(|word| KEEPING_VERBS.contains(word)) {
        return is_not_to(&words[..verb]).then(|| object_of(words[verb], &words[verb + 1..], false)).flatten();
    }
    let verb = words.iter().position(|word| VERBS.contains(word))?;
    let before = &words[..verb];
    if words[verb] == "forgetting" && before.last() != Some(&"mind") {
        return None;
    }
    is_order(before).then(|| object_of(words[verb], &words[verb + 1..], polite || is_asked(before))).flatten()
}

/// Whether the words before the verb make it a request.
fn is_order(before: &[&str]) -> bool {
    let unknown = before.iter().filter(|word| !POLITE.contains(word)).count();
    let has = |list: &[&str]| before.iter().any(|word| list.contains(word));
    // "You forget what I said" and "I forget what I said" are statements, "I want to forget" is about oneself.
    let tells = before.last().is_some_and(|word| matches!(*word, "you" | "i" | "to")) && !has(&WISHES);
    let is_own = has(&["i", "i'd"]) && !has(&["you"]);
    unknown <= 1 && !tells && !is_own && !has(&ELSE)
}

/// "Can you", "I want you to": somebody is asked, rather than given permission.
fn is_asked(before: &[&str]) -> bool {
    before.windows(2).any(|pair| WISHES.contains(&pair[0]) && pair[1] == "you")
}

/// "Please don't", "could you not", "I don't want you to": whether the words before a verb negate it as a request. "I don't",
/// "don't you" do not.
fn is_not_to(before: &[&str]) -> bool {
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
    let unknown = before.iter().filter(|word| !POLITE.contains(word)).count();
    let is_about_people = |word: &&str| matches!(*word, "i" | "you" | "i'd" | "but");
    unknown <= 1 && !before.iter().any(|word| ELSE.contains(word) || is_about_people(word))
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
    if let Some(said) = said.filter(|at| by_me(*at) && *at <= 6) {
        return about(said);
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

/// What a request may end with.
const JAPANESE_ENDS: &str = "\
    ください 下さい くださいね くださいませんか くれ くれる くれない くれます くれますか くれません くれませんか くれないかな くれよ くれると助かる \
    くれたら助かる くれたら助かります くれると嬉しい くれると嬉しいです くれたら嬉しい くれたら嬉しいです くださると助かります くださると嬉しいです \
    頂けると助かります くれると助かります ほしい 欲しい ほしいな ほしいです 欲しいです ほしいんだけど もらえる もらえます もらえますか もらえません もらえませんか もらえない \
    もらえないかな もらえると助かる もらえると助かります もらっていい もらっていいですか もらってもいい もらってもいいですか いただけますか いただけませんか 頂けますか \
    頂けませんか いただけると助かります ね よ いいよ ちょうだい ちょうだいね おいて おいてね おいてください おいてくれる おいてほしい お願い お願いします";
/// What is between the topic and the request.
const JAPANESE_LINKS: [&str; 5] = ["について", "に関して", "のこと", "の話", "の件"];
/// Who said it and when, after the link.
const JAPANESE_SAID: [&str; 7] =
    ["言ったこと", "話したこと", "書いたこと", "教えたこと", "言った話", "話した内容", "言った事"];
const JAPANESE_VERBS: [&str; 11] = [
    "忘れて",
    "忘れといて",
    "消して",
    "削除して",
    "覚えないで",
    "覚えておかないで",
    "記憶しないで",
    "記録しないで",
    "保存しないで",
    "なかったことにして",
    "無かったことにして",
];
/// Phrases that name nothing that could be looked for: "what I said just now", "me".
const JAPANESE_NO_TOPICS: &str = "\
    こ そ あ ど 今 いま さっき 先 先ほど 先程 昨日 今日 前 この前 以前 今まで さっきまで これまで 全部 すべて 全て 私 僕 俺 わたし 自分 あなた 君 今の さっきの 昨日の";

/// The topic of the request with which the clause at this index ends. It may be in the clause before: 「手術の話、忘れて」.
fn japanese_topic(clauses: &[Clause<'_>], at: usize) -> Option<String> {
    let clause = clauses[at].text;
    let found = JAPANESE_VERBS.iter().filter_map(|verb| Some((clause.rfind(verb)?, *verb)));
    let (verb_at, verb) = found.max_by_key(|(at, verb)| at + verb.len())?;
    let negated = verb.ends_with("ないで");
    let end = clause[verb_at + verb.len()..].trim_matches([' ', '\u{3000}', '~', '〜', '♪', 'ー']);
    let next = clauses.get(at + 1).map_or("", |next| next.text);
    // 「仕事は忘れて、飲もう」 says what to do first.
    let is_bare = end.is_empty() && (!clauses[at].goes_on() || next.starts_with("お願い") || next.starts_with("頼"));
    // 「覚えないでいいよ」 allows it.
    let is_end = JAPANESE_ENDS.split_whitespace().any(|known| known == end) && !(negated && end == "いいよ");
    if !is_bare && !is_end {
        return None;
    }
    let before = clause[..verb_at].trim_end();
    let before = match at.checked_sub(1).map(|before| &clauses[before]) {
        Some(earlier) if before.is_empty() && earlier.goes_on() => earlier.text,
        _ => before,
    };
    let topic = topic_before(before, verb, negated)?;
    let names_nothing = JAPANESE_NO_TOPICS.split_whitespace().any(|known| known == topic);
    (!names_nothing).then_some(topic)
}

/// What is to be forgotten, from the words before the verb.
fn topic_before(before: &str, verb: &str, negated: bool) -> Option<String> {
    let bare = before.strip_suffix(['は', 'を', 'も']).map(str::trim_end);
    let object = bare.unwrap_or(before);
    let (said, rest) = JAPANESE_SAID
        .iter()
        .find_map(|said| object.strip_suffix(said).map(|rest| (true, rest)))
        .unwrap_or((false, object));
    // "Delete" may refer to anything, not only to what was said.
    if !said && matches!(verb, "消して" | "削除して") {
        return None;
    }
    let link = JAPANESE_LINKS.iter().filter_map(|link| Some((rest.rfind(link)?, link.len()))).max();
    let Some((at, len)) = link else {
        // 「住所は覚えないで」: what is not to be remembered is named alone.
        return bare.filter(|_| negated && !said).map(str::to_owned);
    };
    let between = &rest[at + len..];
    let is_small = between.is_empty()
        || ["私が", "僕が", "俺が", "さっき", "昨日", "前に", "先ほど", "今日"]
            .iter()
            .any(|small| between.starts_with(small));
    (is_small && at > 0).then(|| rest[..at].to_owned())
}

#[cfg(test)]
mod tests;
