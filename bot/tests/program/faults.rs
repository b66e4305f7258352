//! What a machine does to a program: a clock that jumps, a disk that is full.
#![cfg(target_os = "linux")]

use std::path::PathBuf;
use std::time::SystemTime;

use crate::clock::FakeClock;
use crate::disk::limit_files;
use crate::program::{Home, Program};

/// The clock the program sees, so many seconds ahead of the true one.
pub struct Clock {
    fake: FakeClock,
    ahead_seconds: i64,
}

impl Clock {
    pub fn of(home: &mut Home) -> Clock {
        Clock { fake: FakeClock::of(home), ahead_seconds: 0 }
    }

    pub fn set(&mut self, ahead_seconds: i64) {
        self.ahead_seconds = ahead_seconds;
        self.fake.is_ahead_by(ahead_seconds);
    }

    /// In milliseconds since 1970.
    pub fn now(&self) -> u64 {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("it is past 1970");
        (now.as_millis() as u64).saturating_add_signed(self.ahead_seconds * 1000)
    }
}

/// A disk that has no room left, or has some again.
pub enum Disk {
    /// Files of the program may not grow. Works for everybody, wherever the folder is.
    Limits,
    /// The folder is on a disk of its own, which is filled.
    Own { ballast: PathBuf },
}

/// Files that exist may not be changed beyond their first bytes either.
const BYTES_MAX: &str = "4096";

impl Disk {
    /// What CAMPAIGN_DISK says: whether temporary files are on a disk that may be filled.
    pub fn of(home: &mut Home) -> Disk {
        home.before = None;
        match std::env::var_os("CAMPAIGN_DISK") {
            Some(_) => Disk::Own { ballast: home.folder().join("ballast") },
            None => Disk::Limits,
        }
    }

    /// The next start finds it full.
    pub fn fill_before_start(&self, home: &mut Home) {
        match self {
            // In blocks of 512 bytes.
            Disk::Limits => home.before = Some("ulimit -S -f 8".into()),
            Disk::Own { ballast } => write_ballast(ballast),
        }
    }

    pub fn fill(&self, program: &Program) {
        match self {
            Disk::Limits => limit_files(program, BYTES_MAX),
            Disk::Own { ballast } => write_ballast(ballast),
        }
    }

    /// Room again, for a program that may have ended meanwhile, and for the next one.
    pub fn free(&self, home: &mut Home, program: &mut Program) {
        match self {
            Disk::Limits => {
                home.before = None;
                if program.has_ended().is_none() {
                    limit_files(program, "unlimited");
                }
            }
            Disk::Own { ballast } => std::fs::remove_file(ballast).expect("it was filled"),
        }
    }
}

fn write_ballast(path: &PathBuf) {
    use std::io::Write as _;
    let mut file = std::fs::File::create(path).expect("a file without content has room");
    for bytes in [1 << 20, 4096, 1] {
        while file.write_all(&vec![7; bytes]).is_ok() {}
    }
}
