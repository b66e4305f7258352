//! Folders for tests.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// A folder of its own for each test, removed in the end.
pub struct Scratch(pub PathBuf);

impl Scratch {
    /// `name` is for whoever finds it after a test was killed.
    pub fn new(name: &str) -> Scratch {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("aizuchi-{name}-{}-{number}", std::process::id()));
        // One of a test that was killed and had the same process id.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder for the test");
        Scratch(folder)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
