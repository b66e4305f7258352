//! Removes what models put around an answer: thoughts, their own name, a role, quotes or a fence around the whole.

use std::borrow::Cow;

use crate::types::is_hidden;

/// Removes control characters, which no chat shows and a terminal interprets, and whatever is hidden: characters that change the
/// text direction, have no width or carry hidden text. Joiners, direction marks and variation selectors stay where scripts and
/// emoji need them: one of them, after something that is seen.
pub fn without_controls(text: &str) -> Cow<'_, str> {
    let is_control = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    if !text.contains(|c| is_control(c) || is_hidden(c)) {
        return Cow::Borrowed(text);
    }
    let (mut seen, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(c) = rest.chars().next() {
        if let Some(flag) = FLAGS.iter().find(|flag| rest.starts_with(**flag)) {
            seen.push_str(flag);
            rest = &rest[flag.len()..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        if !is_control(c) && (!is_hidden(c) || is_needed(c, seen.chars().next_back())) {
            seen.push(c);
        }
    }
    Cow::Owned(seen)
}

/// The only flags that are written with hidden letters: England, Scotland and Wales.
const FLAGS: [&str; 3] = [
    "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "🏴\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

/// Whether a hidden character changes how the text is drawn, after this one.
fn is_needed(c: char, before: Option<char>) -> bool {
    let follows_seen = before.is_some_and(|before| !is_hidden(before));
    match c {
        '\u{200e}' | '\u{200f}' | '\u{61c}' => before.is_none() || follows_seen,
        '\u{fe00}'..='\u{fe0f}' => before.is_some_and(|c| !c.is_ascii() && !is_hidden(c) || "0123456789#*".contains(c)),
        '\u{180b}'..='\u{180f}' | '\u{e0100}'..='\u{e01ef}' | '\u{200c}' => {
            follows_seen && before.is_some_and(|c| !c.is_ascii())
        }
        '\u{200d}' => before.is_some_and(|c| c == '\u{fe0f}' || !c.is_ascii() && !is_hidden(c)),
        _ => false,
    }
}

/// The answer itself. `names` are those the model was given as its own.
pub fn clean<'a>(text: &'a str, names: &[&str]) -> &'a str {
    let mut text = text.trim();
    // What is wrapped twice is unwrapped twice; nobody wraps more often.
    for _ in 0..4 {
        let before = text;
        text = without_thoughts(text).trim();
        text = without_label(text, names).trim();
        text = without_fence(text).trim();
        text = without_quotes(text).trim();
        if text == before {
            break;
        }
    }
    text
}

const THOUGHTS: [(&str, &str); 3] =
    [("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<reasoning>", "</reasoning>")];

/// Removes the thoughts before the answer. Truncated thoughts have no answer after them.
fn without_thoughts(text: &str) -> &str {
    for (opening, closing) in THOUGHTS {
        if starts_with(text, opening) {
            return find(text, closing).map_or("", |at| &text[at + closing.len()..]);
        }
        // Some servers drop the opening tag: then the closing tag is on a line of its own, before any code.
        let alone = |at: &usize| {
            let before = &text[..*at];
            let after = &text[at + closing.len()..];
            (before.is_empty() || before.ends_with('\n')) && (after.is_empty() || after.starts_with(['\n', '\r']))
        };
        if let Some(at) = find(text, closing).filter(alone).filter(|at| !text[..*at].contains("```")) {
            return &text[at + closing.len()..];
        }
    }
    text
}

fn starts_with(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

fn find(text: &str, word: &str) -> Option<usize> {
    text.char_indices().map(|(at, _)| at).find(|at| starts_with(&text[*at..], word))
}

/// What a model calls itself when it continues the transcript.
const ROLES: [&str; 2] = ["assistant", "アシスタント"];
/// How the transcript marks the bot's own lines.
const OWN_MARKS: [&str; 2] = ["(you)", "（あなた）"];

/// Removes `[7] name (you): ` before the answer.
fn without_label<'a>(text: &'a str, names: &[&str]) -> &'a str {
    let numbered = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let unnumbered = match numbered {
        Some((number, rest)) if number.bytes().all(|byte| byte.is_ascii_digit()) => rest.trim_start(),
        _ => text,
    };
    let Some((label, rest)) = unnumbered.split_once([':', '：']) else { return text };
    let label = label.trim().trim_matches(['*', '_', '<', '>', '[', ']', '`', '@']).trim();
    let label = OWN_MARKS.iter().find_map(|mark| label.strip_suffix(mark)).unwrap_or(label).trim();
    let is_own = names.iter().chain(&ROLES).any(|name| !name.is_empty() && label.to_lowercase() == name.to_lowercase());
    // `**name:** words`: the marks that were opened before the name end after the colon.
    if is_own { rest.trim_start_matches(['*', '_']) } else { text }
}

const FENCE: &str = "```";
/// Fence languages that are not code.
const PROSE: [&str; 5] = ["text", "txt", "markdown", "md", "plaintext"];

/// Removes a fence around the whole, unless it contains code.
fn without_fence(text: &str) -> &str {
    let inner = text.strip_prefix(FENCE).and_then(|rest| rest.strip_suffix(FENCE));
    let Some((language, body)) = inner.and_then(|inner| inner.split_once('\n')) else { return text };
    let language = language.trim().to_lowercase();
    let ends_as_prose = body.trim_end().ends_with(['。', '！', '？', '.', '!', '?', '…']);
    let is_prose = PROSE.contains(&language.as_str()) || (language.is_empty() && ends_as_prose);
    if is_prose && !body.contains(FENCE) { body } else { text }
}

const QUOTES: [(char, char); 5] = [('"', '"'), ('“', '”'), ('「', '」'), ('『', '』'), ('\'', '\'')];

/// Removes quotes around the whole; two adjacent quotations are not one.
fn without_quotes(text: &str) -> &str {
    for (opening, closing) in QUOTES {
        let inner = text.strip_prefix(opening).and_then(|rest| rest.strip_suffix(closing));
        if let Some(inner) = inner.filter(|inner| !inner.contains([opening, closing])) {
            return inner;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::reply::is_silence;

    #[track_caller]
    fn leaves(text: &str, answer: &str) {
        assert_eq!(clean(text, &["aizuchi", "相槌"]), answer, "{text}");
    }

    #[test]
    fn thoughts_are_not_said() {
        leaves("<think>\nThey argue.\n</think>\n\nLet us breathe.", "Let us breathe.");
        leaves("<THINK>hm</THINK>はい", "はい");
        leaves("They argue, so\n</think>\nLet us breathe.", "Let us breathe.");
        leaves("<think>I never came to", "");
        leaves("<thinking>a</thinking><think>b</think>c", "c");
    }

    #[test]
    fn talk_about_thoughts_is_said() {
        for answer in [
            "Write `<think>` and `</think>` around it.",
            "It closes with </think> and goes on.",
            "```\n<think>\n```\nor\n</think>\nand so on",
        ] {
            leaves(answer, answer);
        }
    }

    #[test]
    fn its_own_name_is_known() {
        leaves("aizuchi: はい", "はい");
        leaves("相槌：そうですね", "そうですね");
        leaves("[12] aizuchi (you): yes", "yes");
        leaves("[3] aizuchi（あなた）: うん", "うん");
        leaves("**Aizuchi:** yes", "yes");
        leaves("<aizuchi>: yes", "yes");
        leaves("Assistant: \"yes\"", "yes");
    }

    #[test]
    fn control_characters_are_left_out() {
        assert_eq!(without_controls("a\0b\u{7}\u{1b}[31mc\u{9b}d\r\n\te"), "ab[31mcd\r\n\te");
        assert!(matches!(without_controls("平文\nplain"), Cow::Borrowed(_)));
    }

    #[test]
    fn what_turns_text_around_or_cannot_be_seen_is_left_out() {
        assert_eq!(without_controls("a\u{202e}b\u{202c} c\u{2066}d\u{2069} e\u{202a}f"), "ab cd ef");
        assert_eq!(without_controls("\u{feff}zero\u{200b}width \u{2060}joi\u{2063}ner"), "zerowidth joiner");
        for c in
            ['\u{ad}', '\u{34f}', '\u{3164}', '\u{115f}', '\u{e0061}', '\u{e007f}', '\u{fff9}', '\u{200d}', '\u{fe01}']
        {
            assert_eq!(without_controls(&format!("a{c}b")), "ab", "{c:?}");
        }
        assert_eq!(
            without_controls("❤\u{fe0f}\u{fe01}\u{fe02} 🏴\u{e0061}\u{e007f}"),
            "❤\u{fe0f} 🏴",
            "selectors can spell"
        );
        // Persian, Hindi, an emoji of four and flags need theirs, and marks put a bracket on its side.
        for kept in [
            "می\u{200c}خواهم",
            "क\u{94d}\u{200d}ष",
            "👩\u{200d}👩\u{200d}👧",
            "❤\u{fe0f}\u{200d}🔥",
            "1\u{fe0f}\u{20e3}",
            "葛\u{e0100}",
            "שלום\u{200f}!",
            "❤\u{fe0f}",
            FLAGS[1],
        ] {
            assert_eq!(without_controls(kept), kept);
        }
    }

    #[test]
    fn other_names_and_numbers_belong_to_the_answer() {
        for answer in ["mia: cover them", "Two ways: a or b", "[1] is the first, [2] the second: look", "10:30 works"] {
            leaves(answer, answer);
        }
    }

    #[test]
    fn what_is_wrapped_is_unwrapped_and_code_stays_code() {
        leaves("```\nIt is late.\n```", "It is late.");
        leaves("```markdown\n- one\n- two\n```", "- one\n- two");
        leaves("「そうですね」", "そうですね");
        leaves("aizuchi: \"“yes”\"", "yes");
        for answer in [
            "```rust\nfn main() {}\n```",
            "```\nls -la\n```",
            "\"one\" and \"two\"",
            "「一」と「二」",
            "```\na.\n```\nand\n```\nb.\n```",
            "It's",
            "\"",
        ] {
            leaves(answer, answer);
        }
    }

    fn pieces() -> impl Strategy<Value = String> {
        let known = proptest::sample::select(vec![
            "<think>",
            "</think>",
            "\n",
            "```",
            "\"",
            "「",
            "」",
            "aizuchi",
            ":",
            "：",
            "[1] ",
            "(you)",
            "SILENCE",
            "沈黙",
            "…",
            "（",
            "）",
            "*",
            "I will",
            " stay silent",
            " because",
            "発言しません",
            "、",
            "。",
            "今回は",
            " ",
            "İ",
        ]);
        let piece = prop_oneof![known.prop_map(str::to_owned), "\\PC{0,4}", any::<char>().prop_map(String::from)];
        proptest::collection::vec(piece, 0..10).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn whatever_a_model_says_what_is_left_of_it_is_part_of_it(text in pieces()) {
            let words = clean(&text, &["aizuchi"]);
            prop_assert!(text.contains(words));
            prop_assert_eq!(words, words.trim());
            // Silence to somebody who asked is silence to everybody.
            let is_silence = |addressed| is_silence(words, addressed, &|name| name == "mia");
            prop_assert!(!is_silence(true) || is_silence(false), "{words:?}");
        }
    }
}
