//! A text as it is looked through: its words with their weights, who said it, and where in a talk it stands.

use std::collections::BTreeMap;

use super::super::Fact;
use super::super::words::{normal, search_words};

#[derive(Clone, Debug, Default)]
pub struct Document {
    /// What each word weighs in it: how often it is there, in fields of different weight.
    pub(super) words: BTreeMap<String, f64>,
    /// Neighbouring words of the text itself.
    pub(super) pairs: Vec<(String, String)>,
    pub(super) length: f64,
    /// The names of its authors.
    pub(super) by: Vec<String>,
    /// The talk it belongs to: the documents before and after it with the same number are its neighbours.
    pub(super) talk: Option<u32>,
    pub(super) tells_time: bool,
    /// Has a number, in digits or in words.
    pub(super) counts: bool,
    /// Asks and says nothing.
    pub(super) only_asks: bool,
}

impl Document {
    pub fn new(text: &str) -> Document {
        let words = search_words(text);
        let mut document = Document {
            tells_time: tells_time(text),
            counts: counts(text),
            only_asks: only_asks(text),
            ..Document::default()
        };
        document.pairs = words.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
        document.length = words.len() as f64;
        words.into_iter().for_each(|word| *document.words.entry(word).or_default() += 1.0);
        document
    }

    /// Further words that it is found by, and what they weigh beside those of the text.
    pub fn with(mut self, text: &str, weight: f64) -> Document {
        for word in search_words(text) {
            *self.words.entry(word).or_default() += weight;
            self.length += weight;
        }
        self
    }

    pub fn said_by(mut self, name: &str) -> Document {
        self.by.push(normal(name));
        self
    }

    pub fn in_talk(mut self, talk: u32) -> Document {
        self.talk = Some(talk);
        self
    }
}

/// What the keywords of a fact weigh beside its sentence.
const KEYWORDS: f64 = 0.6;

impl From<&Fact> for Document {
    fn from(fact: &Fact) -> Document {
        Document::new(&fact.content).with(&fact.keywords.join(" "), KEYWORDS)
    }
}

/// Whether a text says when something is.
fn tells_time(text: &str) -> bool {
    let text = normal(text);
    let english = text.split(|c: char| !c.is_alphanumeric()).any(|word| TIME.contains(&word) || is_year(word));
    english || TIME_IN_JAPANESE.iter().any(|word| text.contains(word))
}

fn counts(text: &str) -> bool {
    let text = normal(text);
    text.contains(|c: char| c.is_ascii_digit())
        || text.split(|c: char| !c.is_alphanumeric()).any(|word| NUMBERS.contains(&word))
}

const NUMBERS: &[&str] = &[
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fifteen",
    "twenty", "thirty", "forty", "fifty", "sixty", "eighty", "hundred", "thousand", "once", "twice", "couple", "dozen",
    "few", "half",
];

/// Whether each of its sentences is a question.
fn only_asks(text: &str) -> bool {
    let mut asks = false;
    let mut says = false;
    let mut words = 0;
    for c in text.chars() {
        match c {
            '?' | '？' => (asks, words) = (true, 0),
            '.' | '!' | '。' | '！' => (says, words) = (says || words > 3, 0),
            ' ' | '、' => words += 1,
            _ => (),
        }
    }
    asks && !says && words <= 1
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && (word.starts_with("19") || word.starts_with("20")) && word.parse::<u16>().is_ok()
}

const TIME: &[&str] = &[
    "ago",
    "april",
    "august",
    "day",
    "days",
    "december",
    "february",
    "friday",
    "january",
    "july",
    "june",
    "last",
    "march",
    "may",
    "monday",
    "month",
    "months",
    "morning",
    "next",
    "november",
    "october",
    "recently",
    "saturday",
    "september",
    "since",
    "sunday",
    "thursday",
    "today",
    "tomorrow",
    "tonight",
    "tuesday",
    "wednesday",
    "week",
    "weekend",
    "weeks",
    "year",
    "years",
    "yesterday",
];

const TIME_IN_JAPANESE: &[&str] = &[
    "昨日",
    "今日",
    "明日",
    "一昨日",
    "先週",
    "今週",
    "来週",
    "先月",
    "今月",
    "来月",
    "去年",
    "今年",
    "来年",
    "曜",
    "日前",
    "週間",
    "ヶ月",
    "か月",
    "年前",
    "年後",
    "最近",
    "今朝",
    "昨夜",
    "今夜",
];
