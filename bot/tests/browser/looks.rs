//! On a phone, in the dark, in Japanese, with the keyboard alone: it fits, it is readable, it works.

use thirtyfour::prelude::*;

use crate::browser::{Browser, DESKTOP, PHONE, Wishes};
use crate::page::Page;
use crate::room::Room;

/// Everything in sight is within the width of the screen, by a pixel of rounding.
const FITS: &str = "document.documentElement.scrollWidth <= innerWidth && [...document.querySelectorAll('body *')]\
                    .filter(part => part.checkVisibility() && part.clientWidth && !part.closest('.unseen, .skip'))\
                    .every(part => part.getBoundingClientRect().right <= innerWidth + 1)";

async fn chat(page: &Page<'_>) {
    page.say("@aizuchi averyveryverylongwordwithoutanybreakthatcouldpushthepageoutofitsframe-averyveryverylongword?")
        .await;
    page.hears_the_bot(1).await;
}

#[tokio::test]
async fn a_phone_in_the_dark_shows_everything_without_scrolling_sideways() {
    let (room, browser) = (Room::open(), Browser::start("en-US").await);
    let page = browser.person(&room, "Mia", Wishes { dark: true, ..PHONE }).await;
    chat(&page).await;
    for width in [390, 320] {
        page.look_like(Wishes { width, dark: true, ..PHONE }).await;
        for pane in ["rooms", "talk", "reasoning"] {
            page.click(&format!("tab-{pane}")).await;
            page.until(&format!("{pane} fits into {width} pixels"), FITS).await;
        }
    }
    page.click("decision").await;
    page.until("the story opens", "document.querySelector('[data-testid=story]')").await;
    page.until("the story fits", FITS).await;
    let light = "(color => (color[0] * 3 + color[1] * 6 + color[2]) / 10)\
                 (getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number))";
    assert!(page.eval(light, &[]).await.as_f64().expect("a number") < 60.0, "it is dark");
    browser.check_console().await;
}

#[tokio::test]
async fn every_width_in_between_fits_too() {
    let (room, browser) = (Room::open(), Browser::start("ja").await);
    let page = browser.person(&room, "みお", Wishes { language: "ja", ..DESKTOP }).await;
    chat(&page).await;
    for width in [1920, 1280, 1024, 768, 700] {
        page.look_like(Wishes { width, ..DESKTOP }).await;
        page.until(&format!("fits into {width} pixels"), FITS).await;
    }
    browser.check_console().await;
}

#[tokio::test]
async fn language_and_theme_can_be_chosen_and_stay() {
    let (room, browser) = (Room::open(), Browser::start("en-US").await);
    let page = browser.person(&room, "Mia", DESKTOP).await;
    page.until("speaks English", "document.documentElement.lang === 'en'").await;
    page.click("language").await;
    page.until("speaks Japanese", "document.body.innerText.includes('発言の割合')").await;
    page.click("theme").await;
    page.until("is dark", "document.documentElement.dataset.theme === 'dark'").await;
    browser.driver.refresh().await.expect("it can be loaded again");
    page.is_connected().await;
    page.until(
        "still is",
        "document.documentElement.lang === 'ja' && document.documentElement.dataset.theme === 'dark'",
    )
    .await;
    page.until("still knows the name", "document.querySelector('[data-testid=my-name]').textContent === 'Mia'").await;
    browser.check_console().await;
}

#[tokio::test]
async fn the_keyboard_alone_will_do() {
    let (room, browser) = (Room::open(), Browser::start("en-US").await);
    let page = browser.person(&room, "Mia", DESKTOP).await;
    page.say("one").await;
    page.sees("one").await;
    page.say("two").await;
    page.sees("two").await;
    page.decided("one", "silent").await;
    let press =
        async |key: Key| browser.driver.action_chain().send_keys(key).perform().await.expect("keys can be pressed");
    let focused =
        |text: &str| format!("document.activeElement.querySelector('[data-testid=text]')?.textContent === '{text}'");
    press(Key::Up).await;
    page.until("is at the last message", &focused("two")).await;
    press(Key::Up).await;
    page.until("is at the one before", &focused("one")).await;
    press(Key::Enter).await;
    page.until("its story opens", "document.querySelector('[data-testid=story]')?.innerText.includes('one')").await;
    press(Key::Escape).await;
    page.until("is back in the field", "document.activeElement.dataset.testid === 'composer'").await;
    browser.check_console().await;
}
