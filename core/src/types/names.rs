//! Names of rooms, threads, messages and people: opaque text, compared whole, cheap to copy.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Arc<str>);

        impl $name {
            pub fn new(name: impl AsRef<str>) -> Self {
                Self(Arc::from(name.as_ref()))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name!(
    /// A channel, unique across platforms.
    RoomId
);
name!(
    /// A thread inside a room.
    ThreadId
);
name!(
    /// A message, unique within its room.
    MessageId
);
name!(
    /// A person or a bot, unique within its platform.
    PersonId
);

/// What the bot goes by among the people of a place. Nobody has this id.
pub const BOT_KEY: &str = "@me";

/// What both names begin with, in whole characters.
pub(crate) fn shared_start<'a>(one: &'a str, other: &str) -> &'a str {
    let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    &one[..one.floor_char_boundary(same)]
}

/// Hashes names fast and the same in every run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NameHasher(u64);

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }

    fn write_u8(&mut self, _: u8) {
        // The byte that ends a string: names are hashed alone, so it adds nothing.
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A map by name; its order means nothing and is never used.
pub(crate) type NameMap<K, V> = HashMap<K, V, BuildHasherDefault<NameHasher>>;

/// The same number for the same text in every build and on every machine: jitter and emoji are drawn from it.
pub fn stable_hash(seed: u64, text: &str) -> u64 {
    xxh3_64_with_seed(text.as_bytes(), seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_never_changes_between_versions() {
        assert_eq!(stable_hash(0, "m1"), 17648950212955296413);
        assert_ne!(stable_hash(1, "m1"), stable_hash(0, "m1"));
    }
}
