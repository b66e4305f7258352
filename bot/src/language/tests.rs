//! What is compiled in can be said, and read by the page. The tidy test looks for keys that are missing.

use aizuchi_core::types::Span;

use super::*;

/// The page evaluates no more of Fluent than this.
#[test]
fn the_page_can_read_its_messages() {
    for language in Language::ALL {
        let messages = page_messages(language);
        assert!(messages["page-rooms"].is_string() && messages["percent"][0]["variants"].is_array(), "{messages}");
        assert!(messages.get("command-mute").is_none(), "what only the program says is not sent");
    }
}

#[test]
fn values_are_written_as_a_language_writes_them() {
    let japanese = Language::from_id("ja").expect("there is Japanese");
    let cases = [
        (LocalizedValue::Span(Span::seconds(45)), "45 s", "45秒"),
        (LocalizedValue::Span(Span::seconds(90)), "1 min 30 s", "1分30秒"),
        (LocalizedValue::Span(Span::seconds(600)), "10 min", "10分"),
        (LocalizedValue::Span(Span::seconds(3600)), "1 h", "1時間"),
        (LocalizedValue::Span(Span::seconds(7500)), "2 h 5 min", "2時間5分"),
        (LocalizedValue::Percent(39), "39 %", "39 %"),
        (LocalizedValue::Percent(0), "<1 %", "<1 %"),
        (LocalizedValue::Number(1_234_567), "1234567", "1234567"),
        (
            LocalizedValue::List(vec![message!("rule-question"), message!("rule-fading")]),
            "question, fading",
            "質問、先細り",
        ),
    ];
    for (value, in_english, in_japanese) in cases {
        assert_eq!((value.say(Language::ENGLISH).as_str(), value.say(japanese).as_str()), (in_english, in_japanese));
    }
    for seconds in [0, 59, 60, 61, 599, 600, 3599, 3600, 3660, 90_000] {
        let span = Span::seconds(seconds);
        assert_eq!(LocalizedValue::Span(span).say(Language::ENGLISH), span.to_string(), "as in logs");
    }
}

#[test]
fn numbers_choose_their_plural() {
    let said = |n| say!(Language::ENGLISH, "report-messages", n = LocalizedValue::Count(n));
    assert_eq!([0, 1, 2, 1_234_567].map(said), ["0 messages", "1 message", "2 messages", "1,234,567 messages"]);
}

/// Nobody sees marks around what is put into a sentence.
#[test]
fn arguments_are_put_in_as_they_are() {
    assert_eq!(say!(Language::ENGLISH, "cause-name", author = "alice { $x }"), "alice { $x } called its name.");
}

#[test]
fn what_no_language_has_is_its_key() {
    assert!(!Language::has("no-such-key") && Language::has("gate-mute.closed"));
    assert_eq!(Language::ENGLISH.text("no-such-key"), "no-such-key");
}
