//! The sample conversation shows a newcomer the whole cycle.

use std::time::Duration;

use serde_json::{Value, json};

use crate::browser::{Browser, DESKTOP, Wishes};
use crate::room::Room;

/// It plays for half a minute; whatever it leaves pending may take a while.
const PLAYS: Duration = Duration::from_secs(180);

#[tokio::test]
async fn it_runs_through_in_english() {
    runs_through("en", DESKTOP).await;
}

#[tokio::test]
async fn it_runs_through_in_japanese() {
    runs_through("ja", Wishes { language: "ja", ..DESKTOP }).await;
}

async fn runs_through(language: &str, wishes: Wishes) {
    let (room, browser) = (Room::open(), Browser::start(wishes.language).await);
    let page = browser.person(&room, "Robin", wishes).await;
    page.click(&format!("sample-{language}")).await;
    let moved =
        format!("document.querySelector('[data-testid=room-name]').textContent.startsWith('sample-{language}')");
    page.until("is in the room of the sample", &moved).await;
    let last = last_words(language);
    let said = "[...document.querySelectorAll('[data-testid=text]')].some(text => text.textContent === arguments[0])";
    page.until_of("the last line is spoken", said, &[json!(last)], PLAYS).await;
    page.hears_the_bot(1).await;
    let all = "[...document.querySelectorAll('[data-testid=message][data-voice=Person]')].every(message => \
               message.dataset.outcome && message.dataset.outcome !== 'pending')";
    page.until_of("everything is decided", all, &[], PLAYS).await;
    for outcome in ["silent", "replies"] {
        let some = format!("document.querySelector('[data-testid=decision][data-outcome={outcome}]')");
        page.until(&format!("some are {outcome}"), &some).await;
    }
    // Names and quoted words stay as they are: an English sentence has small words, a Japanese one kana.
    let reasons = |language: &str| {
        let words = if language == "ja" { "[ぁ-ん]" } else { r"\b(it|its|the|to|here|of)\b" };
        format!("[...document.querySelectorAll('[data-testid=reason]')].every(why => /{words}/.test(why.textContent))")
    };
    let other = if language == "ja" { "en" } else { "ja" };
    page.until("says why in the language of the browser", &reasons(language)).await;
    page.click("language").await;
    page.until("says why in the other language, without a reload", &reasons(other)).await;
    browser.check_console().await;
}

/// What is said last in the sample.
fn last_words(language: &str) -> String {
    let path = format!("{}/../samples/web.{language}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let line: Value = serde_json::from_str(text.lines().last().expect("it has lines")).expect("each is JSON");
    line["text"].as_str().expect("each says something").to_owned()
}
