//! Folders for tests.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A folder of its own for each test, removed in the end, also when the test fails.
pub struct Scratch(pub PathBuf);

/// How often it is tried to remove a folder in which something still writes, such as a browser that is closing.
const TRIES_MAX: usize = 40;
const TRIES_EVERY: Duration = Duration::from_millis(50);
/// A container often has much less.
const MEMORY_BYTES_MIN: u64 = 2 << 30;

impl Scratch {
    /// `name` helps to identify it after a test was killed.
    pub fn new(name: &str) -> Scratch {
        Scratch::below(&std::env::temp_dir(), name)
    }

    /// In memory where there is plenty of it, for many files that need not survive the machine: a busy disk takes seconds for them.
    pub fn in_memory(name: &str) -> Scratch {
        let memory = Path::new("/dev/shm");
        let free_bytes = rustix::fs::statvfs(memory).map_or(0, |disk| disk.f_bavail * disk.f_frsize);
        let folder = if free_bytes >= MEMORY_BYTES_MIN { memory.to_owned() } else { std::env::temp_dir() };
        Scratch::below(&folder, name)
    }

    fn below(folder: &Path, name: &str) -> Scratch {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = folder.join(format!("aizuchi-{name}-{}-{number}", std::process::id()));
        // One of a test that was killed and had the same process id.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder for the test");
        Scratch(folder)
    }
}

impl Deref for Scratch {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for Scratch {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        for _ in 0..TRIES_MAX {
            if std::fs::remove_dir_all(&self.0).is_ok() || !self.0.exists() {
                return;
            }
            std::thread::sleep(TRIES_EVERY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_gone_after_a_test_that_fails() {
        let scratch = Scratch::new("fails");
        let path = scratch.to_path_buf();
        std::fs::create_dir(path.join("within")).unwrap();
        let failed = std::thread::spawn(move || {
            let _scratch = scratch;
            panic!("as a test does");
        });
        assert!(failed.join().is_err() && !path.exists());
    }
}
