//! What is kept of the caller.

use std::fmt::Write as _;

use aizuchi_core::Time;
use aizuchi_core::memory::About;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::parse::Value;
use super::runner::{Call, CommandError, CommandRunner};
use super::spec::{CommandForm, CommandSpec, Effect, Offered, Permission, Text};
use crate::journal::Known;
use crate::language::Language;
use crate::ports::Doing;

pub const COMMAND: CommandSpec = CommandSpec {
    name: "what-do-you-know",
    name_ja: "何を知ってる",
    argument: None,
    help: Text::new("what is kept of you, told to you alone", "あなたについて保存しているもの（あなたにだけ見えます）"),
    example: Text::same("what-do-you-know"),
    manual: Text::new("what is kept of you: messages and decisions, and what it remembers: topics, notes, facts", "あなたについて保存しているもの：発言と判断の数、覚えている話題・メモ・事実"),
    permission: Permission::Anybody,
    offered: Offered::Everywhere,
    effect: Effect::Run(run),
};

/// Rooms named one by one; the rest are counted.
const ROOMS_MAX: usize = 20;
/// Facts told one by one.
const FACTS_MAX: usize = 30;

fn run<'a>(runner: &'a CommandRunner, call: Call<'a>, _: Option<Value>) -> Doing<'a, Result<String, CommandError>> {
    Box::pin(async move {
        let (person, language) = (runner.ears.first_id(&call.caller.person), call.language());
        let known = format_known(&runner.traces.known(&person, call.place).await?, language);
        let Some(keeper) = &runner.keeper else { return Ok(known) };
        let remembered = format_remembered(&keeper.about(&person).await?, call.form, language);
        Ok(format!("{known}\n{remembered}"))
    })
}

fn format_known(known: &Known, language: Language) -> String {
    let mut text = messages(known, language);
    for (room, messages) in known.rooms.iter().take(ROOMS_MAX) {
        let name = room.as_str().split_once(':').map_or(room.as_str(), |(_, name)| name);
        write!(text, "\n- {name}: {messages}").expect("a string takes every text");
    }
    if let Some(more) = known.rooms.len().checked_sub(ROOMS_MAX).filter(|more| *more > 0) {
        text.push_str(&language.choose(format!("\n- {more} more rooms"), format!("\n- ほか {more} ルーム")));
    }
    let (reactions, decisions) = (known.reactions, known.decisions);
    text.push('\n');
    text.push_str(&language.choose(
        format!(
            "Reactions: {reactions}. Decisions about your messages: {decisions}.\n\
             With them: your name, your edits, and what it answered. The last few messages of a quiet room may be \
             remembered for longer than the rest."
        ),
        format!(
            "リアクション：{reactions} 件。あなたの発言への判断：{decisions} 件。\n\
             それに伴うあなたの名前、編集の内容、aizuchi の返事も保存しています。静かなルームの最後の数件は、ほかより長く残る\
             ことがあります。"
        ),
    ));
    text
}

/// What long memory has of a person.
fn format_remembered(about: &About, form: CommandForm, language: Language) -> String {
    let mut text = String::new();
    if about.person.as_ref().is_some_and(|person| person.opted_out) {
        let opt_in = form.write("opt-in");
        return language.choose(
            format!("You asked not to be remembered ({opt_in} ends that)."),
            format!("あなたのことは覚えない設定です（{opt_in} で解除）。"),
        );
    }
    if let Some(person) = &about.person {
        let (count, mentions) = (person.messages, person.mentions_of_me);
        text += &language.choose(
            format!("Remembered of you: {count} messages, {mentions} of them to it."),
            format!("覚えていること：発言 {count} 件、うち呼びかけ {mentions} 件。"),
        );
        for remark in person.tags.iter().chain(&person.topics).chain(&person.notes).chain(&person.talks) {
            write!(text, "\n- {}", remark.text).expect("a string takes every text");
        }
    }
    for fact in about.facts.iter().take(FACTS_MAX) {
        write!(text, "\n- {}", fact.content).expect("a string takes every text");
    }
    if let Some(more) = about.facts.len().checked_sub(FACTS_MAX).filter(|more| *more > 0) {
        text.push_str(&language.choose(format!("\n- {more} more facts"), format!("\n- ほか {more} 件の事実")));
    }
    if text.is_empty() {
        text += language.choose("Nothing is remembered of you for long.", "長く覚えていることはありません。");
    }
    text.push('\n');
    let forget_me = form.write("forget-me");
    text + &language.choose(format!("{forget_me} ends all of that."), format!("{forget_me} ですべて忘れます。"))
}

fn messages(known: &Known, language: Language) -> String {
    let (messages, rooms) = (known.messages(), known.rooms.len());
    let Some(since) = known.since else {
        return language.choose("None of your messages is kept.", "あなたの発言は保存していません。").to_owned();
    };
    let since = day(since);
    language.choose(
        format!("Your messages that are kept: {messages}, since {since}, in rooms: {rooms}"),
        format!("保存しているあなたの発言：{since} 以降の {messages} 件、{rooms} ルーム"),
    )
}

fn day(at: Time) -> String {
    let time = i64::try_from(at.0).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
    time.map_or_else(String::new, |time| time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d").to_string())
}

#[cfg(test)]
mod tests {
    use aizuchi_core::types::RoomId;

    use super::*;

    #[test]
    fn whoever_was_never_heard_is_told_so() {
        let nothing = format_known(&Known::default(), Language::English);
        assert!(nothing.starts_with("None of your messages is kept.\nReactions: 0."), "{nothing}");
        let nothing = format_known(&Known::default(), Language::Japanese);
        assert!(nothing.starts_with("あなたの発言は保存していません。\n"), "{nothing}");
    }

    #[test]
    fn many_rooms_are_counted() {
        let rooms = (0..23).map(|n| (RoomId::new(format!("slack:{n:02}")), 2)).collect();
        let told = format_known(&Known { rooms, since: Some(Time(86_400_000)), ..Known::default() }, Language::English);
        assert!(told.starts_with("Your messages that are kept: 46, since 1970-01-0"), "{told}");
        assert!(told.contains("\n- 19: 2\n- 3 more rooms\n") && !told.contains("- 20: 2"), "{told}");
    }
}
