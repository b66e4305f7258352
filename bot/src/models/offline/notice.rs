//! What rules can notice in a talk: that it is ending, that it is going wrong, that a question is unanswered.

use aizuchi_core::effect::{Lines, TranscriptLine};
use aizuchi_core::judge::State;
use aizuchi_core::types::Voice;

use crate::language::Language;

const CLOSINGS: &[&str] = &[
    "thanks",
    "thank you",
    "bye",
    "good night",
    "see you",
    "gotta go",
    "that's all",
    "ありがとう",
    "おやすみ",
    "お疲れ",
    "おつかれ",
    "またね",
    "じゃあね",
    "失礼します",
    "以上です",
    "助かりました",
];

const MISUNDERSTANDINGS: &[&str] = &[
    "not what i meant",
    "not what i said",
    "misunderst",
    "misread",
    "you got me wrong",
    "that's not what",
    "i meant",
    "what do you mean",
    "誤解",
    "勘違い",
    "そういう意味じゃ",
    "そういう意味では",
    "そうじゃなくて",
    "話が噛み合",
    "話がかみ合",
    "どういう意味",
];

const CONFLICTS: &[&str] = &[
    "shut up",
    "you always",
    "you never",
    "your fault",
    "ridiculous",
    "nonsense",
    "idiot",
    "stupid",
    "how dare",
    "wtf",
    "ふざけ",
    "いい加減にし",
    "うるさい",
    "黙れ",
    "あなたのせい",
    "お前のせい",
    "馬鹿",
    "バカ",
    "ありえない",
    "喧嘩",
];

const CALLS: &[&str] = &[
    "anyone",
    "anybody",
    "somebody",
    "help",
    "how do i",
    "how can i",
    "any idea",
    "stuck",
    "誰か",
    "だれか",
    "教えて",
    "助けて",
    "困った",
    "困って",
    "わからない",
    "分からない",
    "どうすれば",
    "どうしたら",
    "知ってる人",
    "ご存じ",
];

/// Whole messages that answer nothing, without surrounding punctuation.
const FILLERS: &[&str] = &[
    "hm",
    "hmm",
    "hmmm",
    "mm",
    "lol",
    "haha",
    "heh",
    "oh",
    "ah",
    "wow",
    "ok",
    "okay",
    "same",
    "good question",
    "うん",
    "うーん",
    "んー",
    "へー",
    "へえ",
    "おお",
    "なるほど",
    "たしかに",
    "確かに",
    "それな",
    "草",
    "笑",
    "まじか",
];

/// How many messages are searched for the mood of the talk.
const MOOD_MESSAGES: usize = 4;

fn has_any(text: &str, words: &[&str]) -> bool {
    let text = text.to_lowercase();
    words.iter().any(|word| text.contains(word))
}

fn is_filler(text: &str) -> bool {
    let plain = text.trim_matches(|c: char| !c.is_alphanumeric() && c != 'ー').to_lowercase();
    let laughs = plain.chars().all(|c| matches!(c, 'w' | 'ｗ'));
    !is_question(text) && (laughs || FILLERS.contains(&plain.as_str()))
}

fn is_question(text: &str) -> bool {
    text.trim_end().ends_with(['?', '？'])
}

fn of_people(lines: &Lines) -> Vec<TranscriptLine<'_>> {
    lines.iter().filter(|line| line.voice == Voice::Person).collect()
}

/// The first state that matches, in order of precedence.
pub fn state(lines: &Lines) -> State {
    let people = of_people(lines);
    let recent = || people.iter().rev().take(MOOD_MESSAGES);
    if people.last().is_some_and(|last| has_any(last.text, CLOSINGS) && !is_question(last.text)) {
        State::Ending
    } else if recent().any(|line| has_any(line.text, MISUNDERSTANDINGS)) {
        State::Misunderstanding
    } else if recent().any(|line| has_any(line.text, CONFLICTS)) {
        State::Conflict
    } else {
        State::Active
    }
}

/// A question or a call for help to everybody that nobody else has answered with more than "hmm".
pub fn open_question(lines: &Lines) -> Option<TranscriptLine<'_>> {
    let talk: Vec<TranscriptLine<'_>> = lines.iter().collect();
    let mut newest =
        talk.iter().rev().skip_while(|line| line.voice == Voice::Person && is_filler(line.text)).peekable();
    let last = newest.peek().copied().filter(|line| line.voice == Voice::Person)?;
    let mut by_the_same = newest.take_while(|line| line.voice == Voice::Person && line.name == last.name).copied();
    let asked = by_the_same.find(|line| is_question(line.text) || has_any(line.text, CALLS))?;
    let others = talk.iter().map(|line| line.name).filter(|name| *name != last.name && !name.is_empty());
    let to_somebody = asked.text.trim_start().starts_with('@') || { others }.any(|name| names(asked.text, name));
    (!to_somebody).then_some(asked)
}

/// Whether a text contains a name: as a separate word if the adjacent letters are Latin, otherwise anywhere.
fn names(text: &str, name: &str) -> bool {
    let (text, name) = (text.to_lowercase(), name.to_lowercase());
    let goes_on = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let is_word = |(start, found): (usize, &str)| {
        let (before, after) = (text[..start].chars().next_back(), text[start + found.len()..].chars().next());
        let (first, last) = (found.chars().next(), found.chars().next_back());
        !(goes_on(before) && goes_on(first) || goes_on(last) && goes_on(after))
    };
    text.match_indices(&name).any(is_word)
}

/// Whether two stretches of talk are the same conversation: they share words, or most of the people.
pub fn is_same(earlier: &Lines, now: &Lines) -> bool {
    let shared = now.iter().any(|line| earlier.iter().any(|old| old.id == line.id && !line.id.is_empty()));
    let speakers = |lines: &Lines| -> std::collections::BTreeSet<String> {
        of_people(lines).iter().map(|line| line.name.to_owned()).collect()
    };
    let (before, after) = (speakers(earlier), speakers(now));
    shared || 2 * before.intersection(&after).count() > before.len().max(after.len())
}

/// The language people speak in the room.
pub fn spoken_language(lines: &Lines) -> Language {
    let heard = lines.iter().filter(|line| line.voice != Voice::Me);
    heard.into_iter().find_map(|line| line.text.chars().find_map(Language::of_letter)).unwrap_or_default()
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn talk(said: &[(&str, &str)]) -> Lines {
        let voice = |name: &str| if name == "me" { Voice::Me } else { Voice::Person };
        said.iter().map(|(name, text)| TranscriptLine { id: "", name, voice: voice(name), text }).collect()
    }

    #[test]
    fn a_question_to_everybody_is_open_until_somebody_else_speaks() {
        let open = |said: &[(&str, &str)]| open_question(&talk(said)).map(|line| line.text.to_owned());
        assert_eq!(
            open(&[("an", "hi"), ("b", "does anybody know a plumber?")]).unwrap(),
            "does anybody know a plumber?"
        );
        assert_eq!(open(&[("b", "誰か詳しい人いますか？"), ("b", "うーん")]).unwrap(), "誰か詳しい人いますか？");
        assert_eq!(open(&[("b", "who has the key?"), ("a", "hmm..."), ("c", "👀")]).unwrap(), "who has the key?");
        assert_eq!(open(&[("b", "who has the key?"), ("a", "me")]), None);
        assert_eq!(open(&[("anna", "ok"), ("b", "anna, do you have it?")]), None);
        assert_eq!(open(&[("葵", "うん"), ("b", "葵さん、いますか？")]), None);
        assert_eq!(open(&[("b", "@carl got it?")]), None);
        assert_eq!(open(&[("b", "who knows?"), ("me", "I do not")]), None);
        assert_eq!(open(&[]), None);
    }

    #[test]
    fn the_mood_is_told_by_its_words() {
        assert_eq!(state(&talk(&[("a", "thanks, good night")])), State::Ending);
        assert_eq!(state(&talk(&[("a", "それは誤解だよ"), ("b", "え")])), State::Misunderstanding);
        assert_eq!(state(&talk(&[("a", "お前のせいだろ"), ("b", "は？")])), State::Conflict);
        assert_eq!(state(&talk(&[("a", "thanks, but who has the key?")])), State::Active);
        assert_eq!(state(&Lines::default()), State::Active);
    }
}
