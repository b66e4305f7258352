//! A room is closed for everybody in it, and a person who is refused by a limit learns why, in both languages.

use crate::browser::{Browser, DESKTOP, Wishes};
use crate::page::Page;
use crate::room::Room;

async fn open_room(page: &Page<'_>, name: &str) {
    page.click("open-room").await;
    page.write_in("room-dialog-field", name).await;
    page.click("room-dialog-confirm").await;
}

async fn is_in(page: &Page<'_>, room: &str) {
    let condition = format!("document.querySelector('[data-testid=room-name]').textContent === '{room}'");
    page.until(&format!("is in {room}"), &condition).await;
    page.is_connected().await;
}

fn shows(text: &str) -> String {
    format!("document.body.innerText.includes('{text}')")
}

fn lists(room: &str) -> String {
    format!("document.querySelector('[data-testid=room][data-room=\"{room}\"]')")
}

#[tokio::test]
async fn a_room_is_closed_for_everybody_after_a_question() {
    let (room, browser) = (Room::open(), Browser::start("en-US").await);
    let mia = browser.person(&room, "Mia", DESKTOP).await;
    mia.until("the first room has no such button", "document.querySelector('[data-testid=close-room]').hidden").await;
    open_room(&mia, "garden").await;
    is_in(&mia, "garden").await;
    mia.say("the roses are red").await;
    mia.sees("the roses are red").await;
    let jonas = browser.person(&room, "Jonas", DESKTOP).await;
    jonas.go("#/garden").await;
    is_in(&jonas, "garden").await;
    jonas.sees("the roses are red").await;
    mia.click("close-room").await;
    mia.until("is asked", &shows("Close #garden for everybody?")).await;
    mia.click("close-dialog-confirm").await;
    for page in [&mia, &jonas] {
        is_in(page, "lobby").await;
        page.until("is notified", &shows("#garden was closed.")).await;
        page.until("the room is gone from the list", &format!("!{}", lists("garden"))).await;
    }
    open_room(&jonas, "garden").await;
    is_in(&jonas, "garden").await;
    jonas.until("it is empty", "!document.querySelector('[data-testid=message]')").await;
    browser.check_console().await;
}

#[tokio::test]
async fn closing_speaks_japanese_too() {
    let (room, browser) = (Room::open(), Browser::start("ja").await);
    let mio = browser.person(&room, "みお", Wishes { language: "ja", ..DESKTOP }).await;
    open_room(&mio, "庭").await;
    is_in(&mio, "庭").await;
    mio.say("/close-room").await;
    mio.until("sees how", &shows("実行するには：/close-room 庭")).await;
    mio.click("close-room").await;
    mio.until("is asked", &shows("#庭 を全員に対して閉じますか？")).await;
    mio.click("close-dialog-confirm").await;
    is_in(&mio, "lobby").await;
    mio.until("is notified", &shows("#庭 は閉じられました。")).await;
    browser.check_console().await;
}

#[tokio::test]
async fn anyone_who_opens_too_many_rooms_is_told_so_and_stays() {
    for (language, why) in [("en-US", "Too many rooms were opened"), ("ja", "開かれたルームが多すぎます")]
    {
        let room = Room::open_with(&["web.person_rooms_per_hour=1"]);
        let browser = Browser::start(language).await;
        let page = browser.person(&room, "Mia", Wishes { language, ..DESKTOP }).await;
        open_room(&page, "garden").await;
        is_in(&page, "garden").await;
        open_room(&page, "attic").await;
        page.until("sees why", &shows(why)).await;
        is_in(&page, "lobby").await;
        page.until("there is no such room", &format!("!{}", lists("attic"))).await;
        page.say("still here").await;
        page.sees("still here").await;
        browser.check_console().await;
    }
}

#[tokio::test]
async fn a_page_too_many_says_why_it_waits_and_comes_in_later() {
    for (language, why) in
        [("en-US", "Too many pages are open from your address."), ("ja", "同じアドレスからの接続が多すぎます。")]
    {
        let room = Room::open_with(&["web.address_connections_max=1"]);
        let browser = Browser::start(language).await;
        let mia = browser.person(&room, "Mia", Wishes { language, ..DESKTOP }).await;
        let jonas = browser.page(&room, Wishes { language, ..DESKTOP }).await;
        jonas.load().await;
        jonas.introduce("Jonas").await;
        let banner = "document.querySelector('[data-testid=banner]')";
        jonas.until("the banner says why", &format!("!{banner}.hidden && {banner}.innerText.includes('{why}')")).await;
        mia.leave().await;
        jonas.is_connected().await;
        browser.check_console().await;
    }
}

#[tokio::test]
async fn a_room_written_in_another_case_is_the_one_that_is_there() {
    let (room, browser) = (Room::open(), Browser::start("en-US").await);
    let mia = browser.person(&room, "Mia", DESKTOP).await;
    mia.say("good morning").await;
    mia.sees("good morning").await;
    open_room(&mia, "garden").await;
    is_in(&mia, "garden").await;
    open_room(&mia, "ＬＯＢＢＹ").await;
    is_in(&mia, "lobby").await;
    mia.sees("good morning").await;
    mia.until("is listed once", &format!("{} && !{}", lists("lobby"), lists("ＬＯＢＢＹ"))).await;
    mia.until("is in the address", "location.hash === '#/lobby'").await;
    mia.say("still the same room").await;
    mia.sees("still the same room").await;
    browser.check_console().await;
}
