//! What the code under test logs.

use std::sync::{Arc, Mutex};

use crate::program::eventually;

/// What is logged on this thread, as long as this lives.
pub struct Logs {
    text: Arc<Mutex<Vec<u8>>>,
    _guard: tracing::subscriber::DefaultGuard,
}

impl Logs {
    pub fn collect() -> Logs {
        let text = Arc::new(Mutex::new(Vec::new()));
        let page = text.clone();
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || Page(page.clone())).finish();
        Logs { text, _guard: tracing::subscriber::set_default(subscriber) }
    }

    /// The lines with these words.
    pub fn with(&self, words: &str) -> Vec<String> {
        let text = String::from_utf8(self.text.lock().unwrap().clone()).unwrap();
        text.lines().filter(|line| line.contains(words)).map(str::to_owned).collect()
    }

    /// Waits for a line with these words.
    pub async fn until(&self, words: &str) -> String {
        eventually(&format!("{words:?} is logged"), async || self.with(words).into_iter().next()).await
    }
}

struct Page(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Page {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
