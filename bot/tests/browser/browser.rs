//! A browser with a profile of its own, driven through its driver; it must not have complained when a test is over.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use aizuchi_test_servers::folder::Scratch;
use serde_json::{Value, json};
use thirtyfour::prelude::*;
use thirtyfour::{BrowserLogEntry, ChromeCapabilities};

use crate::page::Page;
use crate::room::Room;

const INSTALL: &str = "the browser tests need Chromium and its driver: apt-get install chromium chromium-driver, or set \
                       CHROMIUM and CHROMEDRIVER to where they are";

/// Gone with its windows when it is dropped.
pub struct Browser {
    pub driver: WebDriver,
    _process: Driver,
    _profile: Scratch,
}

impl Drop for Browser {
    /// Says goodbye without the help of the runtime, which does not run any more when a test has failed.
    fn drop(&mut self) {
        let (url, session) = (self.driver.server_url(), self.driver.session_id());
        let _ = self.driver.clone().leak();
        let host = format!("{}:{}", url.host_str().unwrap_or_default(), url.port().unwrap_or_default());
        if let Ok(mut stream) = TcpStream::connect(&host) {
            let _ = write!(stream, "DELETE /session/{session} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
            let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
            let _ = stream.read_to_end(&mut Vec::new());
        }
    }
}

struct Driver(Child);

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What is different about this browser.
#[derive(Clone, Copy)]
pub struct Wishes {
    pub language: &'static str,
    pub width: u32,
    pub height: u32,
    pub dark: bool,
    pub phone: bool,
}

pub const DESKTOP: Wishes = Wishes { language: "en-US", width: 1280, height: 800, dark: false, phone: false };
pub const PHONE: Wishes = Wishes { width: 390, height: 844, phone: true, ..DESKTOP };

impl Browser {
    pub async fn start(language: &str) -> Browser {
        aizuchi::tls::install_provider();
        let profile = Scratch::new("browser");
        let (process, port) = start_driver();
        let capabilities = capabilities(language, &profile).expect("capabilities are plain data");
        let driver = WebDriver::new(format!("http://127.0.0.1:{port}"), capabilities).await;
        let driver = driver.unwrap_or_else(|error| panic!("{error}\n{INSTALL}"));
        Browser { driver, _process: process, _profile: profile }
    }

    /// Somebody new in the first room, with a window of their own.
    pub async fn person(&self, room: &Room, name: &str, wishes: Wishes) -> Page<'_> {
        let page = self.page(room, wishes).await;
        page.open(name).await;
        page
    }

    /// A window of its own in which nothing is loaded yet.
    pub async fn page(&self, room: &Room, wishes: Wishes) -> Page<'_> {
        let window = self.driver.new_window().await.expect("a window can be opened");
        let page = Page::new(self, window, room);
        page.look_like(wishes).await;
        page
    }

    pub async fn devtools(&self, command: &str, params: Value) {
        let asked = self.driver.cdp().send_raw(command, params).await;
        asked.unwrap_or_else(|error| panic!("{command}: {error}"));
    }

    /// Fails if any window wrote an error to its console.
    pub async fn check_console(&self) {
        self.check_console_but(|_| false).await;
    }

    pub async fn check_console_but(&self, expected: impl Fn(&str) -> bool) {
        let log: Vec<BrowserLogEntry> = self.driver.browser_log().await.expect("the browser keeps a log");
        let bad: Vec<&str> = log
            .iter()
            .filter(|entry| entry.level == "SEVERE" || entry.level == "WARNING")
            .map(|entry| entry.message.as_str())
            .filter(|message| !message.ends_with(GIVEN_UP) && !expected(message))
            .collect();
        assert!(bad.is_empty(), "the console says:\n{}", bad.join("\n"));
    }
}

/// What a browser says when the page itself ends a connection that takes too long to open, before it tries again.
const GIVEN_UP: &str = "WebSocket is closed before the connection is established.";

/// How often the driver may lose its port.
const STARTS_MAX: usize = 20;

fn program(variable: &str, usual: &str) -> PathBuf {
    std::env::var_os(variable).map_or_else(|| usual.into(), PathBuf::from)
}

/// The driver picks a free port and may lose it to another program before it listens: then it ends, and another is started.
fn start_driver() -> (Driver, u16) {
    for _ in 0..STARTS_MAX {
        let mut command = Command::new(program("CHROMEDRIVER", "chromedriver"));
        command.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut driver = Driver(command.spawn().unwrap_or_else(|error| panic!("{error}: {INSTALL}")));
        let mut lines = BufReader::new(driver.0.stdout.take().expect("it was asked for")).lines();
        let port = lines.find_map(|line| {
            let line = line.ok()?;
            line.split_once("started successfully on port ")?.1.trim_end_matches('.').parse().ok()
        });
        if let Some(port) = port {
            // It may go on talking: somebody has to listen.
            std::thread::spawn(move || lines.for_each(drop));
            return (driver, port);
        }
    }
    panic!("the browser's driver ended {STARTS_MAX} times before it was listening");
}

fn capabilities(language: &str, profile: &Path) -> WebDriverResult<ChromeCapabilities> {
    let mut capabilities = DesiredCapabilities::chrome();
    if let Some(browser) = std::env::var_os("CHROMIUM") {
        capabilities.set_binary(&browser.to_string_lossy())?;
    }
    for argument in [
        "--headless=new",
        // Root, as in most containers, has no sandbox; the only pages it sees are our own.
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-background-timer-throttling",
        "--disable-backgrounding-occluded-windows",
        "--disable-renderer-backgrounding",
        "--disable-component-update",
        "--disable-sync",
        "--hide-scrollbars",
        "--no-first-run",
    ] {
        capabilities.add_arg(argument)?;
    }
    capabilities.add_arg(&format!("--lang={language}"))?;
    capabilities.add_arg(&format!("--user-data-dir={}", profile.display()))?;
    capabilities.add_experimental_option("prefs", json!({ "intl.accept_languages": language }))?;
    capabilities.as_mut().set("goog:loggingPrefs", json!({ "browser": "ALL" }))?;
    Ok(capabilities)
}
