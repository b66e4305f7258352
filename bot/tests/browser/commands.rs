//! Commands are offered while somebody types, as the server declares them.

use aizuchi::commands::{CommandForm, offers};
use aizuchi::language::Language;
use serde_json::json;

use crate::browser::{Browser, DESKTOP, PHONE};
use crate::room::Room;

/// What is offered now, a line each.
const OFFERED: &str = "[...document.querySelectorAll('[data-testid=suggestion]')]\
                       .map(item => [...item.children].map(part => part.textContent).join(' – '))";
const DRAFT: &str = "document.querySelector('[data-testid=composer]').value";
const PRESS: &str = "document.querySelector('[data-testid=composer]').dispatchEvent(new KeyboardEvent('keydown', \
                     { key: arguments[0], bubbles: true, cancelable: true }))";

#[tokio::test]
async fn the_composer_offers_every_command() {
    let room = Room::open();
    for (locale, language) in [("en-US", Language::ENGLISH), ("ja", Language::from_id("ja").unwrap())] {
        let browser = Browser::start(locale).await;
        let mia = browser.person(&room, "mia", if language == Language::ENGLISH { DESKTOP } else { PHONE }).await;
        mia.draft("/").await;
        let declared: Vec<String> = offers(CommandForm::Bare, language)
            .iter()
            .map(|offer| format!("/{} – {}", offer.usage, offer.help))
            .collect();
        assert_eq!(mia.eval(OFFERED, &[]).await, json!(declared));
        browser.check_console().await;
    }
}

#[tokio::test]
async fn a_command_is_completed_with_its_argument() {
    let (room, browser) = (Room::open(), Browser::start("en-US").await);
    let mia = browser.person(&room, "mia", DESKTOP).await;
    mia.draft("/what-do").await;
    mia.click("suggestion").await;
    assert_eq!(mia.eval(DRAFT, &[]).await, "/what-do-you-know");
    mia.draft("/mu").await;
    mia.eval(PRESS, &[json!("Enter")]).await;
    assert_eq!(mia.eval(DRAFT, &[]).await, "/mute ");
    assert_eq!(mia.eval(OFFERED, &[]).await, json!([]), "a duration can be anything");
    mia.draft("/chan").await;
    mia.eval(PRESS, &[json!("Enter")]).await;
    let choices: Vec<String> = ["on", "off"].iter().map(|choice| format!("/channel {choice} – ")).collect();
    assert_eq!(mia.eval(OFFERED, &[]).await, json!(choices));
    mia.eval(PRESS, &[json!("ArrowDown")]).await;
    mia.eval(PRESS, &[json!("Enter")]).await;
    assert_eq!(mia.eval(DRAFT, &[]).await, "/channel off");
    mia.eval(PRESS, &[json!("Enter")]).await;
    mia.until(
        "it is run",
        "document.querySelector('[data-testid=notice]')?.textContent.includes('no longer listening here')",
    )
    .await;
    browser.check_console().await;
}
