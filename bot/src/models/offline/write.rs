//! Answers from templates. They count and repeat what was said, claim to know nothing, and say that they are templates.

use std::collections::BTreeMap;

use aizuchi_core::effect::{Brief, Kind, Lines, TranscriptLine};
use aizuchi_core::judge::State;
use aizuchi_core::memory::Fact;
use aizuchi_core::memory::words::{alike, search_words};
use aizuchi_core::settings;
use aizuchi_core::types::{Time, Voice, stable_hash};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::examples::example_answer;
use super::notice::{open_question, spoken_language, state};
use crate::language::{Language, say};

const NODS: [&str; 3] = ["offline-nod-1", "offline-nod-2", "offline-nod-3"];

pub fn write(brief: &Brief, wish: &settings::LanguageSetting) -> String {
    let language = Language::set(wish).unwrap_or_else(|| spoken_language(&brief.transcript.lines));
    match brief.kind {
        Kind::Reaction | Kind::Acknowledgement => {
            language.text(NODS[stable_hash(0, &brief.call.to_string()) as usize % NODS.len()])
        }
        Kind::Full => match find_question(brief).and_then(|said| example_answer(&brief.place.room, said)) {
            Some(example) => say!(language, "offline-example", text = example),
            None => {
                let remembered = remembered(brief, language);
                say!(language, "offline-answer", text = remembered.unwrap_or_else(|| answer(brief, language)))
            }
        },
    }
}

/// The question to answer: one to the bot, or one to everybody.
fn find_question(brief: &Brief) -> Option<&str> {
    let open = || open_question(&brief.transcript.lines).map(|line| line.text);
    if brief.addressed { find_answered(brief).map(|line| line.text) } else { open() }
}

/// A memory that fits the question, or the fact that the bot is to mention unasked.
fn remembered(brief: &Brief, language: Language) -> Option<String> {
    let facts = brief.memories.facts.iter().map(|recalled| &recalled.fact);
    let fact = match brief.telling {
        Some(told) => facts.clone().find(|fact| fact.id == told)?,
        None => {
            let asked = search_words(find_question(brief)?);
            let fitting: Vec<&Fact> = facts.filter(|fact| fits(&asked, fact)).collect();
            // A former fact is mentioned only if no current one is known.
            fitting.iter().copied().find(|fact| fact.former.is_none()).or_else(|| fitting.first().copied())?
        }
    };
    let content = quoted(&fact.content);
    let content = content.trim_end_matches(['.', '。']);
    let key = if fact.former.is_some() { "offline-remembered-former" } else { "offline-remembered" };
    let told = say!(language, "offline-told", month = month_of(fact.at, language));
    Some(say!(language, key, fact = content, told = told))
}

const MONTHS: [&str; 12] = [
    "month-1", "month-2", "month-3", "month-4", "month-5", "month-6", "month-7", "month-8", "month-9", "month-10",
    "month-11", "month-12",
];

/// The name of the month in which something was said.
fn month_of(at: Time, language: Language) -> String {
    let time = i64::try_from(at.0).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
    let month = time.map_or(1, |time| time.to_zoned(TimeZone::system()).month().unsigned_abs());
    language.text(MONTHS[usize::from(month) - 1])
}

/// Whether a fact has at least half of the words of the question.
fn fits(asked: &[String], fact: &Fact) -> bool {
    let known = search_words(&format!("{} {}", fact.content, fact.keywords.join(" ")));
    let has = |word: &&String| known.contains(word) || alike(word).iter().any(|other| known.contains(other));
    let found = asked.iter().filter(has).count();
    found > 0 && 2 * found >= asked.len()
}

/// The message to answer, or the newest one of a person.
fn find_answered(brief: &Brief) -> Option<TranscriptLine<'_>> {
    let lines = &brief.transcript.lines;
    let named = brief.answering.last().and_then(|id| lines.iter().find(|line| line.id == id.as_str()));
    named.or_else(|| lines.iter().filter(|line| line.voice == Voice::Person).last())
}

const QUOTED_CHARS_MAX: usize = 80;

/// A short quote on one line.
fn quoted(text: &str) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: String = one_line.chars().take(QUOTED_CHARS_MAX).collect();
    if shown.len() < one_line.len() { format!("{shown}…") } else { shown }
}

/// How much each speaker said, in descending order.
fn speakers(lines: &Lines) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for line in lines.iter().filter(|line| line.voice == Voice::Person) {
        *counts.entry(line.name).or_default() += 1;
    }
    let mut counts: Vec<(String, usize)> = counts.into_iter().map(|(name, count)| (quoted(name), count)).collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

fn answer(brief: &Brief, language: Language) -> String {
    let lines = &brief.transcript.lines;
    let Some(line) = find_answered(brief) else { return language.text("offline-here") };
    let (name, words) = (quoted(line.name), quoted(line.text));
    if !brief.addressed {
        return match (state(lines), open_question(lines)) {
            (State::Misunderstanding, _) => language.text("offline-misunderstanding"),
            (State::Conflict, _) => language.text("offline-conflict"),
            (_, Some(asked)) => {
                say!(language, "offline-asked", name = quoted(asked.name), words = quoted(asked.text))
            }
            (State::Ending | State::Active, None) => say!(language, "offline-listening", name = name, words = words),
        };
    }
    let people = speakers(lines);
    let listed: Vec<String> = people.iter().map(|(name, count)| format!("{name} {count}")).collect();
    let count: usize = people.iter().map(|(_, count)| count).sum();
    let people = listed.join(&language.text("list-separator"));
    say!(language, "offline-heard", name = name, words = words, count = count, people = people)
}

#[cfg(test)]
mod tests {
    use aizuchi_core::effect::Transcript;
    use aizuchi_core::memory::{Allowed, FactDraft, FactId, Former, Origin, Recalled};
    use aizuchi_core::types::{CallId, Place, RoomId, Visibility};

    use super::super::notice::tests::talk;
    use super::*;

    fn brief(kind: Kind, addressed: bool, said: &[(&str, &str)]) -> Brief {
        Brief {
            call: CallId { room: RoomId::new("r"), serial: 1 },
            at: Time(0),
            place: Place { room: RoomId::new("r"), thread: None },
            kind,
            model: "offline".into(),
            tokens_max: 100,
            answering: Vec::new(),
            addressed,
            transcript: Transcript { lines: talk(said), ..Transcript::default() },
            memories: aizuchi_core::memory::Memories::default(),
            telling: None,
            tools: Default::default(),
            steps: Vec::new(),
            errand: None,
        }
    }

    #[test]
    fn it_says_whom_it_answers_what_it_heard_and_that_it_is_offline() {
        let asked = brief(Kind::Full, true, &[("mia", "hello"), ("jonas", "aizuchi, how cold\nwill it be?")]);
        assert_eq!(
            write(&asked, &settings::LanguageSetting::Auto),
            "jonas, I heard you: “aizuchi, how cold will it be?”. I cannot think about it without a model. What I have in mind here: 2 messages (jonas 1, mia 1). (offline: no model is connected)"
        );
        let asked = brief(Kind::Full, true, &[("葵", "相槌、明日は寒い？")]);
        let answer = write(&asked, &settings::LanguageSetting::Auto);
        assert!(
            answer.starts_with("葵さん、「相槌、明日は寒い？」") && answer.ends_with("（オフライン：モデル未接続）"),
            "{answer}"
        );
        assert!(write(&asked, &settings::LanguageSetting::Named("en".into())).starts_with("葵, I heard you"));
    }

    fn recalled(id: u64, content: &str) -> Recalled {
        let draft = FactDraft {
            origin: Origin::new("r", Visibility::Public),
            content: content.into(),
            keywords: Vec::new(),
            people: Vec::new(),
            messages: Vec::new(),
            context: Vec::new(),
            confidence: 0.9,
            shareable: true,
            // In the middle of May, wherever this runs.
            at: Time(1_778_846_400_000),
            replaces: None,
        };
        Recalled { fact: draft.keep(FactId(id)), score: 1.0, strength: 0.9, allowed: Allowed::SameRoom }
    }

    #[test]
    fn it_answers_from_memory_where_a_fact_fits() {
        let asks = |said: &str, facts: &[&str]| {
            let mut asked = brief(Kind::Full, true, &[("mia", said)]);
            asked.memories.facts = (1..).zip(facts).map(|(id, content)| recalled(id, content)).collect();
            write(&asked, &settings::LanguageSetting::Auto)
        };
        assert_eq!(
            asks("aizuchi, where does Ken live?", &["Ken lives in Tokyo"]),
            "Ken lives in Tokyo (told in May). (offline: no model is connected)"
        );
        let answer = asks("相槌、田中さんはどこに住んでいる？", &["田中さんは東京に住んでいる。"]);
        assert!(answer.starts_with("田中さんは東京に住んでいる（5月に聞きました）。"), "{answer}");
        let other = asks("aizuchi, what is the capital of France?", &["Ken lives in Tokyo"]);
        assert!(other.starts_with("mia, I heard you"), "{other}");
    }

    #[test]
    fn what_no_longer_holds_is_told_as_that() {
        let mut asked = brief(Kind::Full, true, &[("mia", "aizuchi, where does Ken live?")]);
        let mut former = recalled(1, "Ken lives in Tokyo");
        former.fact.former = Some(Former { by: FactId(2), since: Time(0) });
        asked.memories.facts = vec![former.clone(), recalled(2, "Ken lives in Osaka")];
        assert!(write(&asked, &settings::LanguageSetting::Auto).starts_with("Ken lives in Osaka (told in May)."));
        asked.memories.facts = vec![former];
        let answer = write(&asked, &settings::LanguageSetting::Auto);
        assert!(answer.starts_with("No longer: Ken lives in Tokyo (told in May)."), "{answer}");
    }

    #[test]
    fn unasked_it_only_points_at_what_rules_can_see() {
        let told = |said: &[(&str, &str)]| write(&brief(Kind::Full, false, said), &settings::LanguageSetting::Auto);
        assert!(told(&[("bob", "anybody seen my key?")]).starts_with("bob asked: “anybody seen my key?”. Nobody has"));
        assert!(told(&[("bob", "それは誤解です")]).starts_with("もしかすると"));
        assert!(told(&[]).starts_with("I am here."));
    }

    #[test]
    fn a_nod_is_a_word_or_two_and_always_the_same() {
        let nod =
            write(&brief(Kind::Acknowledgement, false, &[("a", "so I said no")]), &settings::LanguageSetting::Auto);
        let nods = |language: Language| NODS.map(|key| language.text(key));
        assert!(nods(Language::ENGLISH).contains(&nod));
        assert_eq!(
            nod,
            write(
                &brief(Kind::Acknowledgement, false, &[("a", "other words")]),
                &settings::LanguageSetting::Named("en".into())
            )
        );
        let nod = write(&brief(Kind::Acknowledgement, false, &[("a", "雨だ")]), &settings::LanguageSetting::Auto);
        assert!(nods(Language::from_id("ja").unwrap()).contains(&nod));
    }
}
