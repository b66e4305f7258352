//! The program is killed and comes back: nothing is lost, nothing is there twice.

use crate::browser::{Browser, DESKTOP};
use crate::room::Room;

#[tokio::test]
async fn nothing_is_lost_and_nothing_comes_twice() {
    let (mut room, browser) = (Room::open(), Browser::start("en-US").await);
    let url = room.url();
    let mia = browser.person(&room, "Mia", DESKTOP).await;
    let jonas = browser.person(&room, "Jonas", DESKTOP).await;
    mia.say("before the cut").await;
    jonas.sees("before the cut").await;

    room.stop();
    for page in [&mia, &jonas] {
        page.until("says that the connection is gone", "!document.querySelector('[data-testid=banner]').hidden").await;
    }
    mia.say("written by Mia meanwhile").await;
    jonas.say("written by Jonas meanwhile").await;
    jonas.say("and a second one").await;
    jonas.draft("a draft").await;
    jonas.until("they wait", "document.querySelectorAll('[data-testid=unsent]').length === 2").await;

    room.start();
    assert_eq!(room.url(), url, "it comes back where it was");
    let texts = ["before the cut", "written by Mia meanwhile", "written by Jonas meanwhile", "and a second one"];
    for page in [&mia, &jonas] {
        page.is_connected().await;
        page.until("nothing waits any more", "document.querySelectorAll('[data-testid=unsent]').length === 0").await;
        page.until("the banner is gone", "document.querySelector('[data-testid=banner]').hidden").await;
        for text in texts {
            page.sees(text).await;
        }
    }
    let draft = "document.querySelector('[data-testid=composer]').value";
    assert_eq!(jonas.eval(draft, &[]).await, "a draft");

    // And again from the beginning: what is stored is what was seen.
    let late = browser.person(&room, "Lena", DESKTOP).await;
    for text in texts {
        late.sees(text).await;
    }
    mia.say("after the cut").await;
    for page in [&mia, &jonas, &late] {
        page.sees("after the cut").await;
    }
    // A browser always complains when nobody listens at the other end.
    browser.check_console_but(|message| message.contains("WebSocket connection to")).await;
}

/// A page gives up on a connection that is not opened within ten seconds, as on a busy machine, and tries again.
#[tokio::test]
async fn a_server_that_hangs_for_a_while_is_tried_again() {
    let (room, browser) = (Room::open(), Browser::start("en-US").await);
    let mia = browser.page(&room, DESKTOP).await;
    mia.load().await;
    room.hang();
    mia.introduce("Mia").await;
    mia.until("gives up", "!document.querySelector('[data-testid=banner]').hidden").await;
    room.go_on();
    mia.is_connected().await;
    mia.say("here I am").await;
    mia.sees("here I am").await;
    browser.check_console().await;
}
