//! The pictures of the documents: the sample with an answered mention, beside it the story of an answer nobody asked it for;
//! and the report of a replay. `./dev screenshot` keeps them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use aizuchi_test_servers::folder::Scratch;
use serde_json::json;

use crate::browser::{Browser, DESKTOP};
use crate::room::Room;

/// Half a minute of talk, and some patience.
const PLAYS: Duration = Duration::from_secs(180);

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
    page.until_of("an answer that nobody asked for", &unasked, &[], PLAYS).await;
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
    keep_picture(&browser, "room.png").await;
    browser.check_console().await;
}

/// Where `SCREENSHOT` names a folder for it.
async fn keep_picture(browser: &Browser, name: &str) {
    if let Some(folder) = std::env::var_os("SCREENSHOT") {
        let path = PathBuf::from(folder).join(name);
        browser.driver.screenshot(&path).await.expect("a picture can be taken");
    }
}

#[tokio::test]
async fn the_report_of_a_made_up_talk_shows_the_threshold_of_the_talk_share() {
    let folder = Scratch::new("report");
    let (log, report) =
        (Path::new(env!("CARGO_MANIFEST_DIR")).join("../learn/talk/ja.jsonl"), folder.join("report.html"));
    let mut replay = Command::new(env!("CARGO_BIN_EXE_aizuchi"));
    replay.arg("replay").arg(log).args(["--judge", "yes", "--language", "en", "--report"]).arg(&report);
    let replayed = replay.current_dir(&folder).env_clear().output().expect("it can be started");
    assert!(replayed.status.success(), "{}", String::from_utf8_lossy(&replayed.stderr));

    let browser = Browser::start("en-US").await;
    let screen = json!({ "width": 1200, "height": 1600, "deviceScaleFactor": 1, "mobile": false });
    browser.devtools("Emulation.setDeviceMetricsOverride", screen).await;
    browser.driver.goto(format!("file://{}", report.display())).await.expect("the report can be loaded");
    let marks = "return [...document.querySelectorAll('#timeline .mark')].map(mark => mark.innerText)";
    let marks: Vec<String> = browser.driver.execute(marks, Vec::new()).await.and_then(|found| found.convert()).unwrap();
    assert!(marks.iter().any(|mark| mark.starts_with("needs ") && mark.ends_with('%')), "{marks:?}");
    assert!(!marks.iter().any(|mark| mark.starts_with("low")), "{marks:?}");
    keep_picture(&browser, "report.png").await;
    browser.check_console().await;
}
