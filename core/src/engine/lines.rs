//! The talk as a model reads it.

use std::borrow::Cow;
use std::cmp::Reverse;

use super::exchange;
use super::turn::Turn;
use crate::effect::{Lines, Transcript, TranscriptLine};
use crate::room::{ExchangedText, HeardMessage};
use crate::types::{MessageId, Time, Voice};

/// People whose latest lines are always included, and how many of them.
struct Askers<'a> {
    messages: &'a [MessageId],
    lines_max: u32,
}

const NOBODY: Askers<'_> = Askers { messages: &[], lines_max: 0 };

/// The last messages of this place as a model reads them.
pub(super) fn transcript(turn: &Turn<'_>, messages: u32) -> Transcript {
    Transcript { lines: lines(turn, messages), ..Transcript::default() }
}

/// The same for a judge, including the latest lines of the author of the message that is judged.
pub(super) fn transcript_about(turn: &Turn<'_>, messages: u32, about: Option<&MessageId>) -> Transcript {
    let lines_max = turn.policy.settings.judge.asker_messages;
    let askers = Askers { messages: about.map(std::slice::from_ref).unwrap_or_default(), lines_max };
    let lines = as_lines(turn, entries(turn, &recent_lines(turn, messages, &askers)));
    Transcript { lines, ..Transcript::default() }
}

pub(super) fn lines(turn: &Turn<'_>, messages: u32) -> Lines {
    as_lines(turn, entries(turn, &recent_lines(turn, messages, &NOBODY)))
}

/// The same for a writer: including the latest lines of those who are answered, the messages that are answered even if much
/// was said since, and the parts of their exchange with the bot that the buffer does not contain.
pub(super) fn lines_to_answer(turn: &Turn<'_>, answering: &[MessageId], addressed: bool) -> Lines {
    let reply = &turn.policy.settings.reply;
    let askers = Askers { messages: answering, lines_max: reply.asker_messages };
    let mut recent = recent_lines(turn, reply.window_messages, &askers);
    for id in answering.iter().rev() {
        if !recent.iter().any(|heard| heard.has_id(id.as_str())) {
            recent.extend(turn.place().buffer.get_by_id(id.as_str()));
        }
    }
    recent.sort_by_key(|heard| Reverse(heard.index()));
    let mut entries = entries(turn, &recent);
    add_exchanges(turn, answering, addressed, &mut entries);
    as_lines(turn, entries)
}

/// A line before equal names are made distinct.
struct LineEntry<'a> {
    at: Time,
    id: Cow<'a, str>,
    voice: Voice,
    person: u64,
    name: &'a str,
    text: &'a str,
}

/// `recent` is newest first, the result oldest first.
fn entries<'a>(turn: &'a Turn<'_>, recent: &[HeardMessage<'a>]) -> Vec<LineEntry<'a>> {
    let speakers = &turn.room.speakers;
    let entry = |heard: &HeardMessage<'a>| LineEntry {
        at: heard.at,
        id: heard.id(),
        voice: heard.voice(),
        person: speakers.key_at(heard.speaker),
        name: speakers.name(heard.speaker),
        text: heard.text(),
    };
    recent.iter().rev().map(entry).collect()
}

/// Adds the messages that are answered, the earlier turns of their authors, and the bot's answers to other questions that
/// are shown.
fn add_exchanges<'a>(turn: &'a Turn<'_>, answering: &[MessageId], addressed: bool, entries: &mut Vec<LineEntry<'a>>) {
    let Some(bot) = turn.place().bot.as_deref() else { return };
    let (now, life) = (turn.now, exchange::life(turn));
    let asking = persons(turn, answering);
    for exchange in bot.exchanges.iter() {
        let question = &exchange.question;
        let is_answered = answering.contains(&question.id);
        let earlier = exchange.answer.as_ref().filter(|_| now.since(question.at) < life);
        let is_shown =
            |said: &ExchangedText, entries: &[LineEntry<'_>]| entries.iter().any(|line| line.id == said.id.as_str());
        let shown = is_shown(question, entries);
        if !(shown || is_answered || (addressed && earlier.is_some() && asking.contains(&exchange.person))) {
            continue;
        }
        let entry = |said: &'a ExchangedText, voice| {
            let (person, name) = (exchange.person, &*exchange.name);
            LineEntry { at: said.at, id: said.id.as_str().into(), voice, person, name, text: &said.text }
        };
        if !shown {
            insert_by_time(entries, entry(question, Voice::Person));
        }
        if let Some(answer) = earlier.filter(|answer| !is_shown(answer, entries)) {
            insert_by_time(entries, entry(answer, Voice::Me));
        }
    }
}

fn insert_by_time<'a>(entries: &mut Vec<LineEntry<'a>>, entry: LineEntry<'a>) {
    let index = entries.iter().rposition(|earlier| earlier.at <= entry.at).map_or(0, |before| before + 1);
    entries.insert(index, entry);
}

/// The authors of these messages, if they are still known.
fn persons(turn: &Turn<'_>, messages: &[MessageId]) -> Vec<u64> {
    let place = turn.place();
    let mut persons: Vec<u64> = Vec::new();
    for id in messages {
        let heard = place.buffer.get_by_id(id.as_str()).map(|heard| turn.room.speakers.key_at(heard.speaker));
        let asked = || place.bot.as_ref()?.exchanges.of_question(id).map(|exchange| exchange.person);
        if let Some(person) = heard.or_else(asked).filter(|person| !persons.contains(person)) {
            persons.push(person);
        }
    }
    persons
}

fn as_lines(turn: &Turn<'_>, entries: Vec<LineEntry<'_>>) -> Lines {
    let bytes = entries.iter().map(|entry| entry.id.len() + entry.text.len() + 16).sum();
    let mut lines = Lines::with_capacity(entries.len(), bytes);
    let mut names: Vec<(u64, String)> = Vec::new();
    for LineEntry { id, voice, person, name, text, .. } in entries {
        let own_name = turn.policy.settings.bot.name.as_str();
        let name = if voice == Voice::Me { own_name } else { name_among(own_name, person, name, &mut names) };
        lines.push(TranscriptLine { id: &id, name, voice, text });
    }
    lines
}

/// The newest lines, newest first: those of the conversation, and the latest of the askers, whatever conversation those
/// were assigned to.
fn recent_lines<'a>(turn: &'a Turn<'_>, messages: u32, askers: &Askers<'_>) -> Vec<HeardMessage<'a>> {
    let recent = conversation_lines(turn, messages);
    let mut theirs = latest_of(turn, askers);
    theirs.truncate(messages as usize);
    let is_theirs = |heard: &HeardMessage<'_>| theirs.iter().any(|own| own.index() == heard.index());
    let others = recent.into_iter().filter(|heard| !is_theirs(heard)).take(messages as usize - theirs.len());
    let mut all: Vec<HeardMessage<'_>> = others.collect();
    all.append(&mut theirs);
    all.sort_by_key(|heard| Reverse(heard.index()));
    all
}

/// The latest lines of the authors of these messages, newest first; the more authors, the fewer lines of each.
fn latest_of<'a>(turn: &'a Turn<'_>, askers: &Askers<'_>) -> Vec<HeardMessage<'a>> {
    if askers.lines_max == 0 || askers.messages.is_empty() {
        return Vec::new();
    }
    let persons = persons(turn, askers.messages);
    let each = (askers.lines_max as usize / persons.len().max(1)).max(1);
    let mut left: Vec<(u64, usize)> = persons.into_iter().map(|person| (person, each)).collect();
    let mut take = |heard: &HeardMessage<'_>| {
        let person = turn.room.speakers.key_at(heard.speaker);
        let theirs = left.iter_mut().find(|(known, left)| *known == person && *left > 0);
        theirs.map(|(_, left)| *left -= 1).is_some()
    };
    turn.place().readable(turn.policy, turn.now).filter(|heard| take(heard)).collect()
}

/// The newest lines of this conversation, newest first; if it is short, with what was said beside it.
fn conversation_lines<'a>(turn: &'a Turn<'_>, messages: u32) -> Vec<HeardMessage<'a>> {
    let place = turn.place();
    let readable = || place.readable(turn.policy, turn.now);
    if turn.conversation.is_none() {
        return readable().take(messages as usize).collect();
    }
    let context = turn.policy.settings.judge.context_messages.min(messages) as usize;
    let is_inside = |heard: &HeardMessage<'_>| heard.conversation == turn.conversation;
    let inside = readable().filter(is_inside).take(messages as usize).count();
    let (mut left, mut beside) = (inside, context.saturating_sub(inside));
    let mut take = |heard: &HeardMessage<'_>| {
        let room = if is_inside(heard) { &mut left } else { &mut beside };
        let fits = *room > 0;
        *room = room.saturating_sub(1);
        fits
    };
    readable().filter(|heard| take(heard)).collect()
}

/// A distinct name for a speaker: of two people with the same name the second gets a number, and so does a person with the
/// bot's name, so that nobody can speak in another's name.
fn name_among<'b>(own_name: &str, person: u64, name: &str, names: &'b mut Vec<(u64, String)>) -> &'b str {
    let index = names.iter().position(|(known, _)| *known == person).unwrap_or_else(|| {
        let taken = |wanted: &str| wanted == own_name || names.iter().any(|(_, known)| known == wanted);
        let counted = (2..).map(|nth| format!("{name} #{nth}"));
        let free = std::iter::once(name.to_owned()).chain(counted).find(|wanted| !taken(wanted));
        names.push((person, free.expect("there are more numbers than names")));
        names.len() - 1
    });
    &names[index].1
}

#[cfg(test)]
mod tests;
