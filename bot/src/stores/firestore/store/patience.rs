//! How long Firestore is waited for, and how often it is asked again.

use std::time::{Duration, Instant};

use super::failure::{CallFailure, pauses};

/// How long each call may take (of one that answers in parts, each part), and until when it is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    pub call: Duration,
    pub reads: Duration,
    pub writes: Duration,
}

impl Patience {
    /// While people talk: a person who waits for an answer gets it without memory. What is to be written can wait longer.
    pub const CONVERSATION: Patience = Patience::seconds(4, 4, 12);
    /// A command line that somebody looks at.
    pub const COMMAND_LINE: Patience = Patience::seconds(10, 10, 10);
    /// A copy, which takes as long as it takes.
    pub const COPY: Patience = Patience::seconds(15, 30, 30);

    const fn seconds(call: u64, reads: u64, writes: u64) -> Patience {
        Patience {
            call: Duration::from_secs(call),
            reads: Duration::from_secs(reads),
            writes: Duration::from_secs(writes),
        }
    }
}

/// Attempts at the same thing, with pauses between them, until too much time has passed.
pub struct Attempts {
    pauses: backon::ExponentialBackoff,
    until: Instant,
}

impl Attempts {
    pub fn within(time: Duration) -> Attempts {
        Attempts { pauses: pauses(), until: Instant::now() + time }
    }

    /// How long to wait before another one. `None` if none would help.
    pub fn next_after(&mut self, failure: &CallFailure) -> Option<Duration> {
        let pause = self.pauses.next().filter(|_| failure.is_passing())?;
        (Instant::now() + pause < self.until).then_some(pause)
    }
}
