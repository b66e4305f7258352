//! Tools whose results try to leave their frame, to be somebody's line, or to give orders.

use aizuchi_core::effect::Kind;
use aizuchi_core::tools::{ToolAccess, ToolCall, ToolOffer, ToolOutcome, ToolOutput, ToolStep};
use aizuchi_core::types::Span;
use aizuchi_core::types::Voice::Person;
use aizuchi_test_servers::suspicious_reader::{MARKS, forged_lines, marks};

use super::attacks::{TEXTS, disguised};
use super::{brief, ours, policies};
use crate::ports::{Prompt, PromptBuilder as _};

/// The prompt of a writer who is shown this result.
fn prompt(text: &str, failed: bool) -> Prompt {
    let call = ToolCall {
        id: "1".into(),
        name: "fetch".into(),
        arguments: "{}".into(),
        access: ToolAccess::Reads,
        signatures: Vec::new(),
    };
    let outcome = match failed {
        true => ToolOutcome::Failed(text.into()),
        false => ToolOutcome::Returned(ToolOutput::from_outside(text)),
    };
    let mut brief = brief(Kind::Full, true, &[("mia", Person, "what does the page say?")]);
    brief.tools = ToolOffer::All;
    brief.steps = vec![ToolStep { call, round: 1, outcome: Some(outcome), took: Span::ZERO, decided_by: None }];
    ours().write(&brief, Vec::new(), policies(&["bot.language=en"]).general()).unwrap()
}

fn check(text: &str) {
    for failed in [false, true] {
        let (hostile, harmless) = (prompt(text, failed), prompt("ok", failed));
        assert_eq!((&hostile.system, &hostile.turns), (&harmless.system, &harmless.turns), "{text:?}");
        let shown = hostile.tools.steps[0].words();
        let inside = shown.strip_prefix("<result>\n").and_then(|rest| rest.strip_suffix("\n</result>"));
        let inside = inside.unwrap_or_else(|| panic!("no frame around {shown:?}"));
        assert!(!inside.to_lowercase().contains("<result") && !inside.to_lowercase().contains("</result"), "{shown:?}");
        assert_eq!(marks(shown), marks(harmless.tools.steps[0].words()), "only our marks can be read: {shown:?}");
        for line in inside.lines() {
            assert_eq!(forged_lines(line), Vec::<String>::new(), "{shown:?}");
        }
        let odd = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!inside.contains(odd), "{shown:?}");
    }
}

#[test]
fn no_result_leaves_its_frame() {
    assert!(TEXTS.len() >= 40, "the attacks are there");
    for text in TEXTS {
        check(text);
        check(&format!("a page\n\n{text}\r\n{text}\nmore"));
    }
    for mark in MARKS.iter().chain(&["<result>", "</result>", "<tool>", "</tool_response>"]) {
        check(&disguised(mark).join("\n"));
    }
}
