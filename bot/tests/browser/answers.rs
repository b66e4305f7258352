//! When it speaks and when it does not, and that the page says why.

use crate::browser::{Browser, DESKTOP};
use crate::room::Room;

#[tokio::test]
async fn a_mention_is_answered_without_any_key() {
    let (room, browser) = (Room::open(), Browser::start("en-US").await);
    let mia = browser.person(&room, "Mia", DESKTOP).await;
    mia.until("says that it is offline", "document.querySelector('[data-testid=offline]')").await;
    mia.say("@aizuchi what can you do?").await;
    mia.sees("@aizuchi what can you do?").await;
    mia.hears_the_bot(1).await;
    mia.decided("@aizuchi what can you do?", "replies").await;
    assert!(mia.story("@aizuchi what can you do?").await.contains("Mia mentioned it."));
    browser.check_console().await;
}

/// Without a mouse: the first letters used to be lost, and with them the mention.
#[tokio::test]
async fn who_has_said_their_name_can_write_at_once() {
    let (room, browser) = (Room::open(), Browser::start("en-US").await);
    let mia = browser.page(&room, DESKTOP).await;
    mia.load().await;
    mia.type_keys("Mia\n").await;
    mia.is_connected().await;
    mia.type_keys("@aizuchi what do you think?\n").await;
    mia.sees("@aizuchi what do you think?").await;
    mia.hears_the_bot(1).await;
    browser.check_console().await;
}

#[tokio::test]
async fn two_people_see_the_same_answer() {
    let (room, browser) = (Room::open(), Browser::start("en-US").await);
    let mia = browser.person(&room, "Mia", DESKTOP).await;
    let jonas = browser.person(&room, "Jonas", DESKTOP).await;
    mia.say("the tomatoes look sad today").await;
    jonas.sees("the tomatoes look sad today").await;
    jonas.say("@aizuchi how cold may a night be for them?").await;
    for page in [&mia, &jonas] {
        page.sees("@aizuchi how cold may a night be for them?").await;
        page.hears_the_bot(1).await;
        page.decided("@aizuchi how cold may a night be for them?", "replies").await;
    }
    let answer = "document.querySelector('[data-voice=Me] [data-testid=text]').textContent";
    assert_eq!(mia.eval(answer, &[]).await, jonas.eval(answer, &[]).await);
    browser.check_console().await;
}

#[tokio::test]
async fn two_people_are_left_alone_and_can_see_why() {
    let (room, browser) = (Room::open(), Browser::start("en-US").await);
    let mia = browser.person(&room, "Mia", DESKTOP).await;
    let jonas = browser.person(&room, "Jonas", DESKTOP).await;
    let talk =
        [(&mia, "I left the book at your place"), (&jonas, "I will bring it on Friday"), (&mia, "lovely, thanks")];
    for (speaker, text) in talk {
        speaker.say(text).await;
        for page in [&mia, &jonas] {
            page.sees(text).await;
            page.decided(text, "silent").await;
        }
    }
    let story = mia.story("I will bring it on Friday").await;
    assert!(story.contains("Stayed silent"), "{story}");
    assert!(story.contains("chance that someone new would join here"), "{story}");
    assert_eq!(mia.bot_posts().await, 0);
    let fed =
        "document.querySelectorAll('[data-testid=decision][data-outcome=silent] [data-testid=reason]').length === 3";
    jonas.until("all decisions are listed with their reasons", fed).await;
    browser.check_console().await;
}

#[tokio::test]
async fn mute_silences_until_unmute() {
    let (room, browser) = (Room::open(), Browser::start("en-US").await);
    let mia = browser.person(&room, "Mia", DESKTOP).await;
    mia.say("/mute 1h").await;
    mia.until("the order is confirmed", "document.querySelector('[data-testid=notice]')").await;
    mia.until("the pane says so", "document.querySelector('[data-testid=muted]')").await;
    mia.say("@aizuchi are you there?").await;
    mia.decided("@aizuchi are you there?", "silent").await;
    assert!(mia.story("@aizuchi are you there?").await.contains("It is muted here."));
    mia.until("the gate is named", "document.querySelector('[data-gate=mute]')").await;
    assert_eq!(mia.bot_posts().await, 0);

    mia.say("/unmute").await;
    mia.until("it may speak again", "!document.querySelector('[data-testid=muted]')").await;
    mia.say("@aizuchi and now?").await;
    mia.hears_the_bot(1).await;
    mia.decided("@aizuchi and now?", "replies").await;
    browser.check_console().await;
}
