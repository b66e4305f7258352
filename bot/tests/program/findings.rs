//! Promises that were not kept.

use std::collections::BTreeMap;
use std::fmt;

/// What was promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Broken {
    /// A message that was acknowledged is not there, or somebody was not shown it.
    Lost,
    /// Something is there or was said twice.
    Doubled,
    /// There is no decision about a message.
    Undecided,
    /// A person who called it has no answer.
    Unanswered,
    /// A mute did not hold.
    Unmuted,
    /// `/why` says something else than what was posted.
    Misreported,
    /// An answer has no end.
    Half,
    /// It ended by itself, or badly.
    Died,
}

impl Broken {
    pub const ALL: [Broken; 8] = [
        Broken::Lost,
        Broken::Doubled,
        Broken::Undecided,
        Broken::Unanswered,
        Broken::Unmuted,
        Broken::Misreported,
        Broken::Half,
        Broken::Died,
    ];
}

#[derive(Default)]
pub struct Findings(BTreeMap<Broken, Vec<String>>);

/// Stories of one kind that are shown.
const SHOWN_MAX: usize = 12;

impl Findings {
    pub fn add(&mut self, broken: Broken, story: String) {
        self.0.entry(broken).or_default().push(story);
    }

    pub fn count(&self, broken: Broken) -> usize {
        self.0.get(&broken).map_or(0, Vec::len)
    }

    pub fn assert_none(&self) {
        assert!(self.0.is_empty(), "{self}");
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (broken, stories) in &self.0 {
            writeln!(f, "{broken:?}: {}", stories.len())?;
            for story in stories.iter().take(SHOWN_MAX) {
                writeln!(f, "  {story}")?;
            }
        }
        Ok(())
    }
}
