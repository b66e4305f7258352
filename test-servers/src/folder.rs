//! Folders for tests.

use std::fs::File;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// A folder of its own for each test, removed in the end, also when the test fails. The folder is locked as long as this lives: what
/// was left behind by a process that was killed is not, and is removed later.
pub struct Scratch(pub PathBuf, Option<File>);

/// How often it is tried to remove a folder in which something still writes, such as a browser that is closing.
const TRIES_MAX: usize = 40;
const TRIES_EVERY: Duration = Duration::from_millis(50);
/// So old is nothing that is just being made.
const LEFT_BEHIND_AFTER: Duration = Duration::from_secs(6 * 3600);
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
        if number == 0 {
            remove_left_behind(folder, LEFT_BEHIND_AFTER);
        }
        let folder = folder.join(format!("aizuchi-{name}-{}-{number}", std::process::id()));
        // One of a test that was killed and had the same process id.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder for the test");
        let lock = lock(&folder);
        Scratch(folder, lock)
    }
}

/// Released by the kernel when the process ends, however it ends.
fn lock(folder: &Path) -> Option<File> {
    let file = File::open(folder).ok()?;
    file.try_lock().is_ok().then_some(file)
}

/// Folders of processes that ended before they could remove them.
fn remove_left_behind(folder: &Path, after: Duration) {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with("aizuchi-") || name.rsplit('-').take(2).any(|part| !is_number(part)) {
            continue;
        }
        let age = |changed: SystemTime| changed.elapsed().unwrap_or_default();
        let changed = entry.metadata().ok().filter(std::fs::Metadata::is_dir).and_then(|found| found.modified().ok());
        if changed.is_some_and(|changed| age(changed) >= after)
            && let Some(_lock) = lock(&entry.path())
        {
            let _ = std::fs::remove_dir_all(entry.path());
        }
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
                break;
            }
            std::thread::sleep(TRIES_EVERY);
        }
        drop(self.1.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_behind_is_removed_and_nothing_that_is_in_use() {
        let all = Scratch::new("left-behind");
        let used = Scratch::below(&all, "used");
        let left = ["aizuchi-x-1-0", "aizuchi-ports", "aizuchi-x-1-y", "other-1-0"].map(|name| all.join(name));
        left.iter().for_each(|folder| std::fs::create_dir(folder).unwrap());
        remove_left_behind(&all, Duration::from_secs(60));
        assert!(left.iter().all(|folder| folder.exists()), "it may just be made");
        remove_left_behind(&all, Duration::ZERO);
        let remain: Vec<bool> = left.iter().map(|folder| folder.exists()).collect();
        assert_eq!((remain, used.exists()), (vec![false, true, true, true], true));
    }

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
