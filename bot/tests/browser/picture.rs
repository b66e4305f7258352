//! The picture that opens the README: a talk with an answered mention, and beside it why. `./dev screenshot` keeps it.

use std::path::Path;

use crate::browser::{Browser, DESKTOP};
use crate::room::Room;

const ASKED: &str = "@aizuchi how cold may a night get before they are lost?";

#[tokio::test]
async fn a_talk_with_an_answered_mention_and_its_story() {
    let (room, browser) = (Room::open(), Browser::start("en-US").await);
    let mia = browser.person(&room, "Mia", DESKTOP).await;
    let jonas = browser.person(&room, "Jonas", DESKTOP).await;
    let talk = [
        (&mia, "the tomatoes on the balcony look sad today"),
        (&jonas, "mine too, it was a cold night"),
        (&mia, "did you cover them?"),
        (&jonas, "no, I thought April was safe"),
        (&mia, "never trust April"),
    ];
    for (speaker, text) in talk {
        speaker.say(text).await;
        mia.sees(text).await;
        mia.decided(text, "silent").await;
        jonas.sees(text).await;
    }
    jonas.say(ASKED).await;
    mia.hears_the_bot(1).await;
    mia.decided(ASKED, "replies").await;
    assert!(mia.story("no, I thought April was safe").await.contains("two people"));
    mia.until(
        "nothing moves",
        "document.getAnimations().every(found => found.effect.getTiming().iterations === Infinity)",
    )
    .await;
    if let Some(path) = std::env::var_os("SCREENSHOT") {
        browser.driver.screenshot(Path::new(&path)).await.expect("a picture can be taken");
    }
    browser.check_console().await;
}
