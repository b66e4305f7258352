//! The picture that opens the README: the sample with an answered mention, and beside it the story of an answer nobody
//! asked it for. `./dev screenshot` keeps it.

use std::path::Path;
use std::time::Duration;

use crate::browser::{Browser, DESKTOP};
use crate::room::Room;

/// Half a minute of talk, and some patience.
const PLAYS: Duration = Duration::from_secs(90);

#[tokio::test]
async fn an_answered_mention_and_the_story_of_an_unasked_answer() {
    let (room, browser) = (Room::open(), Browser::start("en-US").await);
    let page = browser.person(&room, "Robin", DESKTOP).await;
    page.click("sample-en").await;
    let answered = "[...document.querySelectorAll('[data-testid=message][data-outcome=replies]')]";
    let mentioned = format!("{answered}.some(message => message.querySelector('.mention.me'))");
    page.until_of("a mention is answered", &mentioned, &[], PLAYS).await;
    page.until("and seen", "document.querySelectorAll('[data-voice=Me]').length >= 2").await;

    let unasked = format!("{answered}.find(message => !message.querySelector('.mention.me'))");
    let asked = page.eval(&format!("{unasked}.querySelector('[data-testid=text]').textContent"), &[]).await;
    let story = page.story(asked.as_str().expect("it says something")).await;
    assert!(story.contains("The judge") && story.contains("question"), "{story}");
    let odds =
        page.eval("[...document.querySelectorAll('[data-testid=odds] li')].map(row => row.innerText)", &[]).await;
    let told = odds.to_string();
    assert!(told.contains("it calls on everybody") && told.contains('×') && !story.contains("No rule gave"), "{told}");
    page.eval("document.activeElement.blur()", &[]).await;
    browser.driver.action_chain().move_to(1, 1).perform().await.expect("the pointer can be moved");
    let still = "document.getAnimations().every(found => found.effect.getTiming().iterations === Infinity)";
    page.until("nothing moves", still).await;
    if let Some(path) = std::env::var_os("SCREENSHOT") {
        browser.driver.screenshot(Path::new(&path)).await.expect("a picture can be taken");
    }
    browser.check_console().await;
}
