//! What a line of an import must be: nothing is imported unless every line is right.

use std::io::{BufRead as _, BufReader};

use aizuchi_core::Time;
use aizuchi_core::memory::{ChannelMemory, ExportItem, Fact, Origin, Person, Tie};
use aizuchi_core::types::{BOT_KEY, PersonId, Span};
use anyhow::{Context as _, bail};

use crate::cli::show::harmless;

/// At most this many invalid lines are listed.
const LISTED_MAX: usize = 10;
/// Clocks differ.
const AHEAD_MAX: Span = Span::minutes(24 * 60);

/// The lines of a file that are wrong.
pub struct BadLines<'a> {
    file: &'a str,
    listed: Vec<String>,
    more: usize,
}

impl BadLines<'_> {
    pub fn add(&mut self, line: usize, why: &str) {
        match self.listed.len() < LISTED_MAX {
            true => self.listed.push(format!("{}:{line}: {why}", self.file)),
            false => self.more += 1,
        }
    }

    /// `Err` names them, if there are any.
    pub fn refuse(&self) -> anyhow::Result<()> {
        if self.listed.is_empty() {
            return Ok(());
        }
        let more = if self.more > 0 { format!("\n… and {} more lines", self.more) } else { String::new() };
        bail!("{}{more}\nnothing was imported", self.listed.join("\n"))
    }
}

/// The lines of an export that are right, with their numbers, and those that are not.
pub fn read_lines(file: &str, now: Time) -> anyhow::Result<(Vec<(usize, ExportItem)>, BadLines<'_>)> {
    let lines = std::fs::File::open(file).with_context(|| format!("cannot read {file}"))?;
    let (mut items, mut bad) = (Vec::new(), BadLines { file, listed: Vec::new(), more: 0 });
    for (at, line) in BufReader::new(lines).split(b'\n').enumerate() {
        let line = line.with_context(|| format!("cannot read {file}"))?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice::<ExportItem>(&line) {
            Ok(item) => match problem(&item, now) {
                None => items.push((at + 1, item)),
                Some(why) => bad.add(at + 1, &harmless(&why)),
            },
            Err(error) => bad.add(at + 1, &format!("expected a line of `aizuchi memory export`: {error}")),
        }
    }
    Ok((items, bad))
}

/// What is wrong with a line, and what would be right.
fn problem(item: &ExportItem, now: Time) -> Option<String> {
    match item {
        ExportItem::Fact(fact) => of_fact(fact, now),
        ExportItem::Person(person) => of_person(person, now),
        ExportItem::Channel(channel) => of_channel(channel, now),
        ExportItem::Tie(tie) => of_tie(tie, now),
    }
}

fn of_fact(fact: &Fact, now: Time) -> Option<String> {
    let texts =
        std::iter::once(("content", &*fact.content)).chain(fact.texts().map(|text| ("a keyword or wording", text)));
    let dates =
        [Some(("at", fact.at)), fact.used_at.map(|at| ("used_at", at)), fact.former.map(|of| ("since", of.since))];
    let is_share = (0.0..=1.0).contains(&fact.confidence);
    of_origin(&fact.origin)
        .or_else(|| of_texts(texts))
        .or_else(|| (!is_share).then(|| must_be("confidence", "0–1", &fact.confidence.to_string())))
        .or_else(|| of_dates(dates.into_iter().flatten(), now))
        .or_else(|| of_people(&fact.people))
        .or_else(|| fact.told_in.iter().find_map(|room| of_id("told_in", room.as_str())))
        .or_else(|| of_people(fact.context.iter().map(|turn| &turn.person)))
        .or_else(|| of_marks(fact.context.iter().flat_map(|turn| [&*turn.name, &*turn.text])))
}

fn of_person(person: &Person, now: Time) -> Option<String> {
    let remarks = || person.remarks();
    let texts = remarks().map(|remark| ("the text of a remark", &*remark.text));
    let dates = [("first_seen", person.first_seen), ("last_seen", person.last_seen)];
    of_people([&person.id])
        .or_else(|| of_marks(person.names.iter().map(|name| &**name)))
        .or_else(|| of_texts(texts))
        .or_else(|| person.rooms.iter().find_map(|room| of_id("rooms", room.as_str())))
        .or_else(|| remarks().find_map(|remark| of_origin(&remark.origin)))
        .or_else(|| of_dates(dates.into_iter().chain(remarks().map(|remark| ("at", remark.at))), now))
}

fn of_channel(channel: &ChannelMemory, now: Time) -> Option<String> {
    let texts = [&*channel.summary, &*channel.mood].into_iter().chain(channel.topics.iter().map(|topic| &**topic));
    of_origin(&channel.origin)
        .or_else(|| of_marks(texts.chain(channel.active.iter().map(|(_, name)| &**name))))
        .or_else(|| of_people(channel.active.iter().map(|(person, _)| person)))
        .or_else(|| of_dates([("at", channel.at)], now))
}

fn of_tie(tie: &Tie, now: Time) -> Option<String> {
    let weights = std::iter::once(tie.weight).chain(tie.words.iter().map(|word| word.weight));
    of_origin(&tie.origin)
        .or_else(|| of_people([&tie.from, &tie.to]))
        .or_else(|| (tie.from == tie.to).then(|| must_be("to", "somebody else than from", tie.to.as_str())))
        .or_else(|| of_texts(tie.words.iter().map(|word| ("a word", &*word.word))))
        .or_else(|| weights.into_iter().find_map(|weight| of_weight(weight, tie.answers)))
        .or_else(|| of_dates([("last", tie.last)], now))
}

/// No answer and no word weighs more than one for each answer; of a word, both messages count.
fn of_weight(weight: f64, answers: u64) -> Option<String> {
    let is_right = weight.is_finite() && weight >= 0.0;
    let (most, is_less) = (2 * answers, weight <= 2.0 * answers as f64);
    match (is_right, is_less) {
        (true, true) => None,
        (true, false) => {
            Some(must_be("weight", &format!("at most {most}, with {answers} answers"), &weight.to_string()))
        }
        (false, _) => Some(must_be("weight", "a number from 0", &weight.to_string())),
    }
}

fn of_origin(origin: &Origin) -> Option<String> {
    of_id("room", origin.room.as_str())
}

fn of_people<'a>(people: impl IntoIterator<Item = &'a PersonId>) -> Option<String> {
    let mut people = people.into_iter().filter(|person| person.as_str() != BOT_KEY);
    people.find_map(|person| of_id("the id of a person", person.as_str()))
}

/// Rooms and people are named by their platform first.
fn of_id(what: &str, id: &str) -> Option<String> {
    let named = id.split_once(':').is_some_and(|(platform, own)| {
        !platform.is_empty() && platform.bytes().all(|byte| byte.is_ascii_lowercase()) && !own.trim().is_empty()
    });
    let is_right = named && !id.chars().any(char::is_control);
    (!is_right).then(|| must_be(what, "PLATFORM:NAME, such as web:lobby or discord:1/2", &format!("{id:?}")))
}

fn of_texts<'a>(texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Option<String> {
    texts.into_iter().find_map(|(what, text)| match text.trim().is_empty() {
        true => Some(must_be(what, "a text that is not empty", &format!("{text:?}"))),
        false => of_marks([text]),
    })
}

fn of_marks<'a>(texts: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let is_odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    let odd = texts.into_iter().find_map(|text| text.chars().find(|c| is_odd(*c)))?;
    Some(must_be("a text", "without control characters", &format!("{odd:?}")))
}

fn of_dates<'a>(dates: impl IntoIterator<Item = (&'a str, Time)>, now: Time) -> Option<String> {
    let (what, at) = dates.into_iter().find(|(_, at)| *at > now + AHEAD_MAX)?;
    let right = format!("at most now, which is {}, in milliseconds since 1970", now.0);
    Some(must_be(what, &right, &at.0.to_string()))
}

fn must_be(what: &str, right: &str, got: &str) -> String {
    format!("{what} must be {right}, got {got}")
}
