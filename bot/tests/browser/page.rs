//! One person at the page: writes, clicks and looks, and waits until something is to be seen.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use thirtyfour::WindowHandle;
use thirtyfour::prelude::*;

use crate::browser::{Browser, Wishes};
use crate::room::Room;

/// How long anything but a sample conversation may take.
pub const SOON: Duration = Duration::from_secs(90);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The messages with exactly this text, as a JavaScript expression over `arguments[0]`.
const SAYING: &str = "[...document.querySelectorAll('[data-testid=message]')].filter(message => \
                      message.querySelector(':scope > .line [data-testid=text]')?.textContent === arguments[0])";

pub struct Page<'a> {
    browser: &'a Browser,
    window: WindowHandle,
    url: String,
}

impl<'a> Page<'a> {
    pub fn new(browser: &'a Browser, window: WindowHandle, room: &Room) -> Page<'a> {
        Page { browser, window, url: room.url() }
    }

    async fn driver(&self) -> &WebDriver {
        self.browser.driver.switch_to_window(self.window.clone()).await.expect("the window is open");
        &self.browser.driver
    }

    pub async fn look_like(&self, wishes: Wishes) {
        self.driver().await;
        let Wishes { width, height, phone, .. } = wishes;
        let screen = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone });
        self.browser.devtools("Emulation.setDeviceMetricsOverride", screen).await;
        let scheme = if wishes.dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.browser.devtools("Emulation.setEmulatedMedia", media).await;
    }

    /// Opens the page and says who one is.
    pub async fn open(&self, name: &str) {
        self.load().await;
        self.introduce(name).await;
        self.is_connected().await;
    }

    /// Until it asks for a name.
    pub async fn load(&self) {
        self.go("").await;
        let field = "document.querySelector('[data-testid=name-dialog-field]')";
        self.until("asks for a name", &format!("{field}?.checkVisibility()")).await;
    }

    /// Asks to be let in.
    pub async fn introduce(&self, name: &str) {
        self.write_in("name-dialog-field", name).await;
        self.click("name-dialog-confirm").await;
    }

    /// Closes the window.
    pub async fn leave(self) {
        self.driver().await.close_window().await.expect("the window can be closed");
    }

    pub async fn is_connected(&self) {
        self.until("is connected", "document.body.dataset.connection === 'open'").await;
    }

    /// What a JavaScript expression gives.
    pub async fn eval(&self, expression: &str, arguments: &[Value]) -> Value {
        let driver = self.driver().await;
        let given = driver.execute(format!("return ({expression});"), arguments).await;
        given.unwrap_or_else(|error| panic!("{expression}: {error}")).json().clone()
    }

    pub async fn until(&self, what: &str, condition: &str) {
        self.until_of(what, condition, &[], SOON).await;
    }

    /// Looks again and again until the condition holds; tells what there was to be seen if it never does.
    pub async fn until_of(&self, what: &str, condition: &str, arguments: &[Value], within: Duration) {
        let end = Instant::now() + within;
        while self.eval(&format!("Boolean({condition})"), arguments).await != Value::Bool(true) {
            if Instant::now() > end {
                let seen = self.eval("document.body.innerText", &[]).await;
                panic!(
                    "never: {what}\n{condition} {arguments:?}\nThe page shows:\n{}",
                    seen.as_str().unwrap_or_default()
                );
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// The element an expression gives, as soon as the act succeeds with it: a page that moves may need a second try.
    async fn act(
        &self,
        what: &str,
        expression: &str,
        arguments: &[Value],
        act: impl AsyncFn(WebElement) -> WebDriverResult<()>,
    ) {
        let end = Instant::now() + SOON;
        loop {
            let driver = self.driver().await;
            let found = driver.execute(format!("return ({expression}) ?? null;"), arguments).await;
            let found = found.unwrap_or_else(|error| panic!("{expression}: {error}"));
            let done = match found.element() {
                Ok(element) => act(element).await,
                Err(error) => Err(error),
            };
            match done {
                Ok(()) => return,
                Err(error) if Instant::now() > end => panic!("cannot {what}: {error}"),
                Err(_) => tokio::time::sleep(LOOK_EVERY).await,
            }
        }
    }

    pub async fn click(&self, testid: &str) {
        let visible = "[...document.querySelectorAll(`[data-testid=\"${arguments[0]}\"]`)].find(found => found.checkVisibility())";
        self.act(&format!("click {testid}"), visible, &[json!(testid)], async |element| element.click().await).await;
    }

    pub async fn go(&self, path: &str) {
        self.driver().await.goto(format!("{}{path}", self.url)).await.expect("the page can be loaded");
    }

    pub async fn write_in(&self, testid: &str, text: &str) {
        let field = "document.querySelector(`[data-testid=\"${arguments[0]}\"]`)";
        let write = async |element: WebElement| {
            element.clear().await?;
            element.send_keys(text).await
        };
        self.act(&format!("write in {testid}"), field, &[json!(testid)], write).await;
    }

    /// Presses keys wherever the page has put the focus.
    pub async fn type_keys(&self, keys: &str) {
        let focused = self.driver().await.active_element().await.expect("something has the focus");
        focused.send_keys(keys).await.expect("it takes keys");
    }

    /// Writes without sending.
    pub async fn draft(&self, text: &str) {
        self.write_in("composer", text).await;
    }

    pub async fn say(&self, text: &str) {
        self.write_in("composer", &format!("{text}{}", Key::Enter.value())).await;
    }

    pub async fn say_in_thread(&self, text: &str) {
        self.write_in("thread-composer", &format!("{text}{}", Key::Enter.value())).await;
    }

    pub async fn edit_to(&self, text: &str) {
        self.write_in("edit-field", &format!("{text}{}", Key::Enter.value())).await;
    }

    /// Uses one of the tools of the message with this text.
    pub async fn tool(&self, text: &str, tool: &str) {
        let message = format!("{SAYING}[0]?.querySelector(':scope > .line')");
        let show = async |line: WebElement| line.find(By::Css("[data-testid=text]")).await?.click().await;
        self.act("touch the message", &message, &[json!(text)], show).await;
        let button = format!("{SAYING}[0]?.querySelector(`:scope > .line [data-testid=\"${{arguments[1]}}\"]`)");
        self.act(tool, &button, &[json!(text), json!(tool)], async |element| element.click().await).await;
    }

    /// Until the text is there once; it must never be there twice.
    pub async fn sees(&self, text: &str) {
        self.until_of(&format!("sees “{text}”"), &format!("{SAYING}.length > 0"), &[json!(text)], SOON).await;
        let count = self.eval(&format!("{SAYING}.length"), &[json!(text)]).await;
        assert_eq!(count, 1, "“{text}” is there {count} times");
    }

    /// The bot has spoken so often here.
    pub async fn hears_the_bot(&self, times: usize) {
        let condition = format!("document.querySelectorAll('[data-voice=Me]').length >= {times}");
        self.until(&format!("hears the bot {times} times"), &condition).await;
    }

    pub async fn bot_posts(&self) -> u64 {
        self.eval("document.querySelectorAll('[data-voice=Me]').length", &[]).await.as_u64().expect("a number")
    }

    /// Until it is decided what to do about the message: this.
    pub async fn decided(&self, text: &str, outcome: &str) {
        let condition = format!("{SAYING}[0]?.dataset.outcome === arguments[1]");
        self.until_of(&format!("“{text}” {outcome}"), &condition, &[json!(text), json!(outcome)], SOON).await;
    }

    /// Opens the story of the message, by its mark, and gives what it says.
    pub async fn story(&self, text: &str) -> String {
        let mark = format!("{SAYING}[0]?.querySelector(':scope > .line [data-testid=mark]')");
        self.act("open the story", &mark, &[json!(text)], async |element| element.click().await).await;
        self.until("the story is there", "document.querySelector('[data-testid=story] [data-testid=reason]')").await;
        let story = self.eval("document.querySelector('[data-testid=story]').innerText", &[]).await;
        story.as_str().expect("a text").to_owned()
    }
}
