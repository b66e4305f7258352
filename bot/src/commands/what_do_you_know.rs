//! What is stored about the caller.

use std::fmt::Write as _;

use aizuchi_core::Time;
use aizuchi_core::memory::{ChannelMemory, Fact};
use aizuchi_core::types::RoomId;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::parse::ArgumentValue;
use super::runner::{CommandCall, CommandError, CommandRunner};
use super::spec::{CommandEffect, CommandForm, CommandSpec, OfferedIn, Permission};
use crate::journal::StoredAboutPerson;
use crate::keeper::{ListedTie, PersonList};
use crate::language::{Language, say};
use crate::ports::BoxFuture;

pub const COMMAND: CommandSpec = CommandSpec {
    name: "what-do-you-know",
    argument: None,
    permission: Permission::Anybody,
    offered: OfferedIn::Everywhere,
    effect: CommandEffect::Remember(run),
};

/// How many rooms are listed; the rest are counted.
const ROOMS_MAX: usize = 20;
/// How many ties are listed.
const TIES_MAX: usize = 20;
/// How many facts are listed.
const FACTS_MAX: usize = 30;

fn run<'a>(
    runner: &'a CommandRunner,
    call: CommandCall<'a>,
    _: Option<ArgumentValue>,
) -> BoxFuture<'a, Result<String, CommandError>> {
    Box::pin(async move {
        let (person, language) = (runner.engine.first_id(&call.caller.person), call.language());
        let known = format_known(&runner.traces.find_about(&person, call.place, &runner.platforms).await?, language);
        let Some(keeper) = &runner.keeper else { return Ok(known) };
        let list = keeper.list(&runner.engine.ids_of(&call.caller.person), &runner.platforms).await?;
        let remembered = format_remembered(&list, call.form, language);
        Ok(format!("{known}\n{remembered}"))
    })
}

fn format_known(known: &StoredAboutPerson, language: Language) -> String {
    let mut text = messages(known, language);
    for (room, messages) in known.rooms.iter().take(ROOMS_MAX) {
        write!(text, "\n- {}: {messages}", room_name(room)).expect("a string takes every text");
    }
    if let Some(more) = known.rooms.len().checked_sub(ROOMS_MAX).filter(|more| *more > 0) {
        write!(text, "\n- {}", say!(language, "known-more-rooms", more = more)).expect("a string takes every text");
    }
    let rest = say!(language, "known-rest", reactions = known.reactions, decisions = known.decisions);
    write!(text, "\n{rest}").expect("a string takes every text");
    text
}

/// What long-term memory has about a person.
fn format_remembered(about: &PersonList, form: CommandForm, language: Language) -> String {
    let mut text = String::new();
    let out = about.person.as_ref().is_some_and(|person| person.opted_out);
    if out {
        text += &say!(language, "remembered-opted-out", opt_in = form.write("opt-in"));
    } else if let Some(person) = &about.person {
        let (count, mentions) = (person.messages, person.mentions_of_me);
        text += &say!(language, "remembered-messages", count = count, mentions = mentions);
        for remark in person.tags.iter().chain(&person.topics).chain(&person.notes).chain(&person.talks) {
            write!(text, "\n- {}", remark.text).expect("a string takes every text");
        }
    }
    let beginning = text.len();
    list_ties(&mut text, &about.ties, language);
    list_facts(&mut text, &about.facts, language);
    if !about.said_by_others.is_empty() || !about.notes_on_others.is_empty() {
        text.push('\n');
        text += &language.text("remembered-by-others");
        list_facts(&mut text, &about.said_by_others, language);
        about.notes_on_others.iter().for_each(|remark| text += &format!("\n- {}", remark.text));
    }
    list_channels(&mut text, &about.channels, language);
    for perhaps in &about.perhaps {
        text.push('\n');
        let again = form.write(&format!("forget-me {}", perhaps.name));
        text += &say!(language, "remembered-perhaps", name = &*perhaps.name, again = again);
        list_facts(&mut text, &perhaps.facts, language);
        perhaps.notes.iter().for_each(|remark| text += &format!("\n- {}", remark.text));
        list_channels(&mut text, &perhaps.channels, language);
        if perhaps.elsewhere > 0 {
            write!(text, "\n- {}", say!(language, "remembered-perhaps-elsewhere", n = perhaps.elsewhere))
                .expect("a string takes every text");
        }
    }
    if about.elsewhere > 0 {
        text.push('\n');
        text += &say!(language, "remembered-elsewhere", n = about.elsewhere);
    }
    if out && text.len() == beginning {
        return text;
    }
    if text.is_empty() {
        text += &language.text("remembered-nothing");
    }
    text.push('\n');
    let forget_me = form.write("forget-me");
    text + &say!(language, "remembered-end", forget_me = forget_me)
}

fn list_ties(text: &mut String, ties: &[ListedTie], language: Language) {
    if ties.is_empty() {
        return;
    }
    text.push('\n');
    *text += &language.text("remembered-ties");
    for tie in ties.iter().take(TIES_MAX) {
        let (answered, was_answered) = (tie.answered, tie.was_answered);
        let line = say!(language, "remembered-tie", with = &*tie.with, answered = answered, was = was_answered);
        let words = tie.words.join(&language.text("list-separator"));
        let words = if words.is_empty() { words } else { format!(": {words}") };
        write!(text, "\n- {}: {line}{words}", room_name(&tie.room)).expect("a string takes every text");
    }
    if let Some(more) = ties.len().checked_sub(TIES_MAX).filter(|more| *more > 0) {
        write!(text, "\n- {}", say!(language, "remembered-more-ties", more = more)).expect("a string takes every text");
    }
}

fn list_channels(text: &mut String, channels: &[ChannelMemory], language: Language) {
    if channels.is_empty() {
        return;
    }
    text.push('\n');
    *text += &language.text("remembered-channels");
    for channel in channels {
        let words =
            [&channel.summary, &channel.mood].into_iter().chain(&channel.topics).filter(|text| !text.is_empty());
        let words: Vec<&str> = words.map(|text| &**text).collect();
        write!(text, "\n- {}: {}", room_name(&channel.origin.room), words.join(&language.text("list-separator")))
            .expect("a string takes every text");
    }
}

fn room_name(room: &RoomId) -> &str {
    room.as_str().split_once(':').map_or(room.as_str(), |(_, name)| name)
}

fn list_facts(text: &mut String, facts: &[Fact], language: Language) {
    for fact in facts.iter().take(FACTS_MAX) {
        let former = fact.former.map(|_| language.text("fact-former") + " ").unwrap_or_default();
        write!(text, "\n- {former}{}", fact.content).expect("a string takes every text");
    }
    if let Some(more) = facts.len().checked_sub(FACTS_MAX).filter(|more| *more > 0) {
        write!(text, "\n- {}", say!(language, "remembered-more-facts", more = more))
            .expect("a string takes every text");
    }
}

fn messages(known: &StoredAboutPerson, language: Language) -> String {
    let (messages, rooms) = (known.messages(), known.rooms.len());
    let Some(since) = known.since else {
        return language.text("known-none");
    };
    say!(language, "known-messages", messages = messages, since = day(since), rooms = rooms)
}

fn day(at: Time) -> String {
    let time = i64::try_from(at.0).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
    time.map_or_else(String::new, |time| time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anyone_who_was_never_heard_is_told_so() {
        let nothing = format_known(&StoredAboutPerson::default(), Language::ENGLISH);
        assert!(nothing.starts_with("None of your messages is stored.\nReactions: 0."), "{nothing}");
        let nothing = format_known(&StoredAboutPerson::default(), Language::from_id("ja").unwrap());
        assert!(nothing.starts_with("あなたの発言は保存していません。\n"), "{nothing}");
    }

    #[test]
    fn many_rooms_are_counted() {
        let rooms = (0..23).map(|n| (RoomId::new(format!("slack:{n:02}")), 2)).collect();
        let told = format_known(
            &StoredAboutPerson { rooms, since: Some(Time(86_400_000)), ..StoredAboutPerson::default() },
            Language::ENGLISH,
        );
        assert!(told.starts_with("Your stored messages: 46, since 1970-01-0"), "{told}");
        assert!(told.contains("\n- 19: 2\n- 3 more rooms\n") && !told.contains("- 20: 2"), "{told}");
    }
}
