//! A fact as it is searched: its words with their weights, its authors, and its context.

use super::super::words::normal;
use super::terms::{KINDS, offset};

/// Borrows from the [`super::terms`] of a fact.
#[derive(Clone, Debug, Default)]
pub struct Document<'a> {
    pub(super) text: Text<'a>,
    /// The names of its authors.
    pub(super) by: Vec<&'a str>,
    /// The messages around it.
    pub(super) beside: Vec<NearbyMessage<'a>>,
    pub(super) tells_time: bool,
    pub(super) has_number: bool,
    pub(super) asks_only: bool,
    /// Whether the sentence is not the message itself: then a name in it is somebody it is about.
    pub(super) retold: bool,
}

/// A message around a fact.
#[derive(Clone, Debug)]
pub(super) struct NearbyMessage<'a> {
    pub(super) offset: i8,
    pub(super) asks: bool,
    pub(super) text: Text<'a>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Text<'a> {
    /// The weight of each word: how often it occurs, in parts of different weight. Sorted.
    words: Vec<(&'a str, f64)>,
    /// In order, without keywords and the like.
    pub(super) sequence: Vec<&'a str>,
    pub(super) length: f64,
}

/// The weight of a fact's keywords, and of its source messages, relative to its sentence.
const KEYWORDS: f64 = 0.5;
const OWN_TURNS: f64 = 0.5;

impl<'a> Document<'a> {
    pub fn new(terms: &'a str) -> Document<'a> {
        let mut document = Document::default();
        for line in terms.lines() {
            let (label, words) = line.split_once(' ').unwrap_or((line, ""));
            match label.as_bytes().first() {
                Some(b'c') => {
                    document.text.sequence = words.split(' ').collect();
                    document.text.add(words, 1.0);
                }
                Some(b'k') => document.text.add(words, KEYWORDS),
                Some(b'o') => {
                    document.retold = true;
                    document.text.add(words, OWN_TURNS);
                }
                Some(b'n') => document.by.push(&line[1..]),
                Some(b'f') => {
                    let [time, number, asks] = KINDS.map(|kind| label[1..].contains(kind));
                    (document.tells_time, document.has_number, document.asks_only) = (time, number, asks);
                }
                _ => {
                    let mut text = Text { sequence: words.split(' ').collect(), ..Text::default() };
                    text.add(words, 1.0);
                    text.settle();
                    let beside = offset(label).map(|(offset, asks)| NearbyMessage { offset, asks, text });
                    document.beside.extend(beside);
                }
            }
        }
        document.text.settle();
        document.retold |= document.by.is_empty();
        document
    }

    /// Whether it is about somebody with this name: a name in a message itself may just be its addressee.
    pub fn speaks_of(&self, name: &[String]) -> bool {
        self.retold && !name.is_empty() && name.iter().all(|word| self.text.weight(word) > 0.0)
    }
}

impl<'a> Text<'a> {
    fn add(&mut self, words: &'a str, weight: f64) {
        for word in words.split(' ') {
            self.words.push((word, weight));
            self.length += weight;
        }
    }

    fn settle(&mut self) {
        self.words.sort_unstable_by(|a, b| a.0.cmp(b.0));
        self.words.dedup_by(|same, first| {
            let is_same = same.0 == first.0;
            if is_same {
                first.1 += same.1;
            }
            is_same
        });
    }

    /// The weight of a word here; 0 if it is missing.
    pub(super) fn weight(&self, word: &str) -> f64 {
        self.words.binary_search_by(|(known, _)| (*known).cmp(word)).map_or(0.0, |at| self.words[at].1)
    }

    /// The words that begin with this.
    pub(super) fn beginning_with(&self, root: &str) -> impl Iterator<Item = (&'a str, f64)> {
        let from = self.words.partition_point(|(word, _)| *word < root);
        self.words[from..].iter().take_while(move |(word, _)| word.starts_with(root)).copied()
    }
}

/// Whether a text says when something is.
pub(super) fn tells_time(text: &str) -> bool {
    let text = normal(text);
    let english = text.split(|c: char| !c.is_alphanumeric()).any(|word| TIME.contains(&word) || is_year(word));
    english || TIME_IN_JAPANESE.iter().any(|word| text.contains(word))
}

/// Whether a text has a number, in digits or in words.
pub(super) fn has_number(text: &str) -> bool {
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
pub(super) fn asks_only(text: &str) -> bool {
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
