//! Whatever a model says is a verdict that can be acted on, or a failure with words for it.
#![no_main]

use aizuchi_core::judge::{JudgeLadder, LadderFindings, Parsed, Question, State, Verdict, parse};
use aizuchi_core::settings::JudgeStyle;
use libfuzzer_sys::fuzz_target;

const STYLES: [JudgeStyle; 5] =
    [JudgeStyle::None, JudgeStyle::Ladder, JudgeStyle::Respond, JudgeStyle::Delay, JudgeStyle::Join];
const QUESTIONS: [Question; 5] = [Question::State, Question::Same, Question::Changed, Question::Judge, Question::Join];

fuzz_target!(|answer: &str| {
    for style in STYLES {
        for question in QUESTIONS {
            check(style, question, answer);
        }
    }
});

fn check(style: JudgeStyle, question: Question, answer: &str) {
    let parsed = parse(style, question, answer);
    match (&parsed, question) {
        (Ok(Parsed::State(_)), Question::State)
        | (Ok(Parsed::Same(_)), Question::Same)
        | (Ok(Parsed::Changed(_)), Question::Changed) => (),
        (Ok(Parsed::Verdict(verdict)), Question::Judge | Question::Join) => check_verdict(verdict),
        (Err(wrong), Question::Judge | Question::Join) => aizuchi_fuzz::assert_one_line(wrong),
        other => panic!("{style:?}, {other:?}"),
    }
    for (intervened, state) in [(false, None), (true, Some(State::Conflict))] {
        let _ = JudgeLadder { style, question, known: LadderFindings { intervened, state } }.next(parsed.clone().ok());
    }
}

fn check_verdict(verdict: &Verdict) {
    if verdict.respond {
        assert!(verdict.confidence.is_none_or(|confidence| (0.0..=1.0).contains(&confidence)), "{verdict:?}");
    } else {
        let nothing_else = Verdict { reason: verdict.reason.clone(), state: verdict.state, ..Verdict::default() };
        assert_eq!(*verdict, nothing_else);
    }
}
