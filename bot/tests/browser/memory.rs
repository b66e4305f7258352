//! What it remembers, as people see it: notes, people and facts, to be corrected and forgotten; and a person forgotten whole.

use crate::browser::{Browser, DESKTOP};
use crate::room::Room;

const SOON: &[&str] = &["memory.summarize_messages=6", "memory.reflection_messages_max=6"];

const TALK: [&str; 6] = [
    "the picnic is on Sunday",
    "remember that the basket is in the quiffle cupboard",
    "who brings the cake?",
    "note that Jonas brings the cake",
    "and lemonade please",
    "see you at the lake",
];

#[tokio::test]
async fn what_it_remembers_is_shown_corrected_and_forgotten() {
    let (room, browser) = (Room::open_with(SOON), Browser::start("en-US").await);
    let mia = browser.person(&room, "Mia", DESKTOP).await;
    for text in TALK {
        mia.say(text).await;
        mia.sees(text).await;
    }
    let facts = "document.querySelectorAll('[data-testid=memory-fact]').length";
    let first = "document.querySelector('[data-testid=memory-content]')?.textContent";
    mia.click("memory").await;
    // It thinks the talk over in its own time: the page is looked at again until it has.
    let end = std::time::Instant::now() + crate::page::SOON;
    loop {
        mia.until("the page is filled", "document.querySelector('#facts > li')").await;
        if mia.eval(facts, &[]).await == 2 || std::time::Instant::now() > end {
            break;
        }
        mia.go("memory.html#lobby").await;
        mia.eval("location.reload()", &[]).await;
    }
    mia.until("two facts", &format!("{facts} === 2")).await;
    mia.until("the notes", "document.querySelector('[data-testid=memory-summary]')?.textContent.includes('Mia')").await;
    mia.until("who is known", "document.querySelector('[data-testid=memory-people]').textContent.includes('Mia')")
        .await;

    mia.click("memory-edit").await;
    mia.write_in("memory-field", "the basket is in the hall").await;
    mia.click("memory-save").await;
    mia.until("the new words", "[...document.querySelectorAll('[data-testid=memory-content]')].some(found => found.textContent === 'the basket is in the hall')").await;
    mia.click("memory-pin").await;
    mia.until("it is pinned", "document.querySelector('[data-testid=memory-fact] .tag')").await;
    let before = mia.eval(first, &[]).await;
    mia.click("memory-forget").await;
    mia.click("memory-forget-yes").await;
    mia.until("one is left", &format!("{facts} === 1")).await;
    assert_ne!(mia.eval(first, &[]).await, before);
    browser.check_console().await;
}

#[tokio::test]
async fn who_answers_whom_is_shown_as_a_table() {
    let (room, browser) = (Room::open(), Browser::start("en-US").await);
    let mia = browser.person(&room, "Mia", DESKTOP).await;
    mia.say("@aizuchi do you like lemonade?").await;
    mia.hears_the_bot(1).await;
    mia.click("memory").await;
    let row = "document.querySelector('[data-testid=memory-pair]')?.textContent";
    // What was decided is counted in its own time: the page is looked at again until it is.
    let end = std::time::Instant::now() + crate::page::SOON;
    while mia.eval(row, &[]).await.is_null() && std::time::Instant::now() < end {
        mia.go("memory.html#lobby").await;
        mia.eval("location.reload()", &[]).await;
        mia.until("the page is filled", "document.querySelector('#pairs > *')").await;
    }
    for words in ["aizuchi and Mia", "aizuchi 1×, Mia 1×", "lemonade"] {
        mia.until("who answered whom", &format!("{row}.includes('{words}')")).await;
    }
    let headings = "[...document.querySelectorAll('#pairs th[scope=col]')].map(found => found.textContent).join()";
    mia.until("the headings", &format!("{headings} === 'Who,How often,About,Last'")).await;
    browser.check_console().await;
}

#[tokio::test]
async fn anyone_who_says_forget_me_is_forgotten() {
    let (room, browser) = (Room::open_with(SOON), Browser::start("en-US").await);
    let quinella = browser.person(&room, "Quinella", DESKTOP).await;
    let jonas = browser.person(&room, "Jonas", DESKTOP).await;
    for text in TALK {
        quinella.say(text).await;
        jonas.sees(text).await;
    }
    quinella.say("@aizuchi do you know the quiffle?").await;
    jonas.hears_the_bot(1).await;
    jonas.say("a marimba for the band").await;
    quinella.sees("a marimba for the band").await;
    assert!(room.keeps("quiffle") && room.keeps("Quinella"));

    quinella.say("/forget-me").await;
    quinella.until("sees that it is done", "document.body.innerText.includes('You are forgotten')").await;
    jonas.until("sees no word of hers", "!document.body.innerText.includes('quiffle')").await;
    assert!(!room.keeps("quiffle"), "her words are still in a file");
    assert!(!room.keeps("Quinella"), "her name is still in a file");
    assert!(room.keeps("marimba"), "what others said stays");
    jonas.sees("a marimba for the band").await;
    browser.check_console().await;
}
