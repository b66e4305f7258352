//! Judges by rules, in the format in which a model would answer.

use aizuchi_core::effect::{Ask, Transcript};
use aizuchi_core::judge::{Question, State};
use aizuchi_core::settings::JudgeStyle;
use serde_json::json;

use super::notice::{is_same, open_question, spoken_language, state};

/// The confidence of a rule.
const CONFIDENCE: f64 = 0.6;

pub fn judge(ask: &Ask) -> String {
    let talk = &ask.transcript;
    let now = talk.state.unwrap_or_else(|| state(&talk.lines));
    let (respond, rule) = verdict(talk, now);
    let reason = spoken_language(&talk.lines).text(rule);
    match (ask.question, ask.style) {
        (Question::State, _) => now.word().into(),
        (Question::Same, _) => same(talk).into(),
        (Question::Changed, _) => changed(talk).into(),
        (Question::Judge, JudgeStyle::Ladder) => if respond { "YES" } else { "NO" }.into(),
        (Question::Judge, JudgeStyle::Delay) => json!({
            "should_respond": respond, "reason": reason, "confidence": CONFIDENCE, "delay_seconds": 0
        })
        .to_string(),
        (Question::Judge, _) => json!({"respond": respond, "reason": reason}).to_string(),
        (Question::Join, _) => json!({
            "state": now.word(), "changed": changed(talk), "respond": respond, "kind": "full", "emoji": "none", "quote": 0,
            "delay_seconds": 0, "confidence": CONFIDENCE, "reason": reason
        })
        .to_string(),
    }
}

/// Whether to respond, and the key of the rule that says so.
fn verdict(talk: &Transcript, now: State) -> (bool, &'static str) {
    match now {
        State::Ending => (false, "offline-rule-ending"),
        State::Misunderstanding => (true, "offline-rule-misunderstanding"),
        State::Conflict => (true, "offline-rule-conflict"),
        State::Active if open_question(&talk.lines).is_some() => (true, "offline-rule-question"),
        State::Active => (false, "offline-rule-nothing"),
    }
}

/// Without an earlier talk there is nothing to compare with.
fn same(talk: &Transcript) -> &'static str {
    if !talk.earlier.is_empty() && is_same(&talk.earlier, &talk.lines) { "SAME" } else { "DIFFERENT" }
}

fn changed(talk: &Transcript) -> &'static str {
    let asked = open_question(&talk.lines).is_some();
    if asked || state(&talk.earlier) != state(&talk.lines) { "CHANGED" } else { "UNCHANGED" }
}

#[cfg(test)]
mod tests {
    use aizuchi_core::judge::{Parsed, parse};
    use aizuchi_core::types::{CallId, RoomId, Time};

    use super::super::notice::tests::talk;
    use super::*;

    fn ask(question: Question, style: JudgeStyle, said: &[(&str, &str)]) -> Ask {
        Ask {
            call: CallId { room: RoomId::new("r"), serial: 1 },
            at: Time(0),
            question,
            style,
            model: "offline".into(),
            tokens_max: 50,
            transcript: Transcript { lines: talk(said), ..Transcript::default() },
            telling: None,
            memories: aizuchi_core::memory::Memories::default(),
        }
    }

    const STYLES: [(Question, JudgeStyle); 4] = [
        (Question::Judge, JudgeStyle::Ladder),
        (Question::Judge, JudgeStyle::Respond),
        (Question::Judge, JudgeStyle::Delay),
        (Question::Join, JudgeStyle::Join),
    ];

    #[test]
    fn every_form_of_answer_is_understood_and_says_the_same() {
        for (said, expected) in [
            (&[("a", "hi"), ("b", "誰か教えて？")][..], true),
            (&[("a", "それは誤解です"), ("b", "え")], true),
            (&[("a", "lovely weather")], false),
            (&[("a", "thanks, bye")], false),
        ] {
            for (question, style) in STYLES {
                let answer = judge(&ask(question, style, said));
                let Parsed::Verdict(verdict) = parse(style, question, &answer).unwrap() else { panic!("{answer}") };
                assert_eq!(verdict.respond, expected, "{said:?} {style:?} {answer}");
                assert!(
                    style == JudgeStyle::Ladder
                        || ["offline rule: ", "オフラインの規則："].iter().any(|rule| verdict.reason.starts_with(rule))
                );
            }
        }
    }

    #[test]
    fn the_short_questions_are_answered_in_one_word() {
        let mut ask = ask(Question::Same, JudgeStyle::Ladder, &[("a", "one"), ("b", "two")]);
        assert_eq!(judge(&ask), "DIFFERENT");
        ask.transcript.earlier = talk(&[("a", "zero"), ("b", "one")]);
        assert_eq!(judge(&ask), "SAME");
        assert_eq!(judge(&Ask { question: Question::Changed, ..ask.clone() }), "UNCHANGED");
        ask.transcript.lines = talk(&[("a", "zero"), ("b", "anybody there?")]);
        assert_eq!(judge(&Ask { question: Question::Changed, ..ask.clone() }), "CHANGED");
        assert_eq!(judge(&Ask { question: Question::State, ..ask }), "ACTIVE");
    }
}
