//! What people do with messages beside writing them: edit, delete, react, reply, open threads; and how they write.

use serde_json::json;

use crate::browser::{Browser, DESKTOP};
use crate::room::Room;

#[tokio::test]
async fn everybody_sees_edits_deletions_and_reactions() {
    let (room, browser) = (Room::open(), Browser::start("en-US").await);
    let mia = browser.person(&room, "Mia", DESKTOP).await;
    let jonas = browser.person(&room, "Jonas", DESKTOP).await;
    mia.say("first wrods").await;
    mia.sees("first wrods").await;
    mia.tool("first wrods", "edit").await;
    mia.edit_to("first words").await;
    jonas.sees("first words").await;
    jonas.until("it is marked", "document.querySelector('[data-testid=edited]')").await;

    jonas.tool("first words", "react").await;
    jonas.click("pick").await;
    mia.until("sees the reaction", "document.querySelector('[data-testid=reaction]')?.title === 'Jonas'").await;
    jonas.click("reaction").await;
    mia.until("sees it taken back", "!document.querySelector('[data-testid=reaction]')").await;
    let own = "document.querySelectorAll('[data-testid=edit], [data-testid=delete]').length";
    assert_eq!(jonas.eval(own, &[]).await, 0, "others' words cannot be changed");

    mia.say("a slip of the tongue").await;
    jonas.sees("a slip of the tongue").await;
    mia.tool("a slip of the tongue", "delete").await;
    mia.click("delete-dialog-confirm").await;
    jonas.until("it is gone", "document.querySelectorAll('.message.deleted').length === 1").await;
    jonas.until("its words too", "!document.body.innerText.includes('slip of the tongue')").await;
    browser.check_console().await;
}

/// A message is drawn again when somebody reacts to it, and when it is decided about.
#[tokio::test]
async fn anyone_who_chooses_a_reaction_is_not_interrupted_by_those_of_others() {
    let (room, browser) = (Room::open(), Browser::start("en-US").await);
    let mia = browser.person(&room, "Mia", DESKTOP).await;
    let jonas = browser.person(&room, "Jonas", DESKTOP).await;
    mia.say("the cake is ready").await;
    jonas.sees("the cake is ready").await;
    jonas.tool("the cake is ready", "react").await;
    jonas.until("can choose", "document.activeElement?.dataset.testid === 'pick'").await;
    mia.tool("the cake is ready", "react").await;
    mia.click("pick").await;
    jonas.until("sees Mia's reaction", "document.querySelector('[data-testid=reaction]')?.title === 'Mia'").await;
    jonas.until("can still choose", "document.activeElement?.dataset.testid === 'pick'").await;
    jonas.click("pick").await;
    let both = "document.querySelector('[data-testid=reaction]')?.title === 'Mia, Jonas'";
    mia.until("sees both", both).await;
    jonas.until("has chosen", "!document.querySelector('[data-testid=picker]')").await;
    browser.check_console().await;
}

#[tokio::test]
async fn replies_quote_and_threads_unfold() {
    let (room, browser) = (Room::open(), Browser::start("en-US").await);
    let mia = browser.person(&room, "Mia", DESKTOP).await;
    let jonas = browser.person(&room, "Jonas", DESKTOP).await;
    mia.say("who brings the cake").await;
    jonas.sees("who brings the cake").await;
    jonas.tool("who brings the cake", "reply").await;
    jonas.say("I do").await;
    mia.sees("I do").await;
    mia.until(
        "sees the quote",
        "document.querySelector('[data-testid=quote]').innerText.includes('who brings the cake')",
    )
    .await;

    mia.tool("who brings the cake", "thread").await;
    mia.say_in_thread("chocolate, please").await;
    jonas.until("sees the thread", "document.querySelector('[data-testid=threadlink]')").await;
    jonas.click("threadlink").await;
    jonas.sees("chocolate, please").await;
    jonas.say_in_thread("of course").await;
    mia.sees("of course").await;
    let inside = "document.querySelectorAll('[data-testid=thread-view] [data-testid=message]').length === 2";
    mia.until("both replies stand in the thread", inside).await;

    mia.say_in_thread("@aizuchi do you like cake?").await;
    mia.until("it answers in the thread", "document.querySelector('[data-testid=thread-view] [data-voice=Me]')").await;
    browser.check_console().await;
}

#[tokio::test]
async fn enter_sends_but_not_within_a_conversion() {
    let (room, browser) = (Room::open(), Browser::start("ja").await);
    let aoi = browser.person(&room, "あおい", DESKTOP).await;
    aoi.draft("にほんご").await;
    let enter = "document.querySelector('[data-testid=composer]').dispatchEvent(new KeyboardEvent('keydown', \
                 { key: 'Enter', bubbles: true, cancelable: true, ...arguments[0] }))";
    aoi.eval(enter, &[json!({ "isComposing": true })]).await;
    aoi.eval(enter, &[json!({ "keyCode": 229 })]).await;
    let draft = "document.querySelector('[data-testid=composer]').value";
    assert_eq!(aoi.eval(draft, &[]).await, "にほんご");
    aoi.eval(enter, &[json!({})]).await;
    aoi.sees("にほんご").await;
    assert_eq!(aoi.eval(draft, &[]).await, "");

    aoi.draft("@ai").await;
    aoi.click("suggestion").await;
    assert_eq!(aoi.eval(draft, &[]).await, "@aizuchi ");
    browser.check_console().await;
}

/// Words are text and nothing else.
#[tokio::test]
async fn markup_in_words_and_names_is_only_text() {
    let (room, browser) = (Room::open(), Browser::start("en-US").await);
    let eve = browser.person(&room, "<b onclick=x>Eve", DESKTOP).await;
    let text = "<img src=x onerror=alert(1)> </li><script>alert(2)</script>";
    eve.say(text).await;
    eve.sees(text).await;
    assert_eq!(
        eve.eval("document.querySelectorAll('#messages script, #messages b b, #messages img[onerror]').length", &[])
            .await,
        0
    );
    assert_eq!(eve.eval("document.querySelector('[data-testid=author]').textContent", &[]).await, "<b onclick=x>Eve");
    browser.check_console().await;
}

#[tokio::test]
async fn what_is_too_long_is_told_before_it_is_sent() {
    let (room, browser) = (Room::open(), Browser::start("en-US").await);
    let mia = browser.person(&room, "Mia", DESKTOP).await;
    let write = "(() => { const field = document.querySelector('[data-testid=composer]'); field.value = arguments[0]; \
                 field.dispatchEvent(new Event('input')); })()";
    mia.eval(write, &["a".repeat(8003).into()]).await;
    let told = "document.querySelector('[data-testid=too-long]:not([hidden])')?.textContent ?? ''";
    mia.until("says by how much", &format!("{told}.includes('by 3 characters')")).await;
    mia.until("cannot be sent", "document.querySelector('[data-testid=send]').disabled").await;
    mia.say("short enough").await;
    mia.sees("short enough").await;
    mia.until("no longer complains", &format!("{told} === ''")).await;
    browser.check_console().await;
}

#[tokio::test]
async fn what_ended_a_connection_is_not_sent_for_ever() {
    let (room, browser) = (Room::open(), Browser::start("en-US").await);
    let mia = browser.person(&room, "Mia", DESKTOP).await;
    let keep = "sessionStorage.setItem('outbox:lobby', JSON.stringify([\
                {do: 'say', key: 'large', text: 'x'.repeat(200000)}, {do: 'say', key: 'small', text: 'still here'}]))";
    mia.eval(keep, &[]).await;
    mia.eval("location.reload()", &[]).await;
    mia.sees("still here").await;
    mia.until("says what was not sent", "document.querySelector('[data-testid=failed]')").await;
    mia.is_connected().await;
    assert_eq!(mia.eval("sessionStorage.getItem('outbox:lobby')", &[]).await, "[]");
}
