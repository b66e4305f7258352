//! Ids that nobody can guess.

use std::hash::{BuildHasher as _, RandomState};

/// 128 bits that only whoever is told them can know: a keyed hash (SipHash) under a key that the operating system
/// drew at random. Good enough to tell browser tabs apart; what guards the door is the token, not this.
pub fn secret() -> String {
    let state = RandomState::new();
    format!("{:016x}{:016x}", state.hash_one(0u8), state.hash_one(1u8))
}

/// A shorter one, to be seen by everybody.
pub fn public() -> String {
    format!("{:016x}", RandomState::new().hash_one(2u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_are_the_same() {
        let many: std::collections::BTreeSet<String> = (0..1000).map(|_| secret()).collect();
        assert_eq!(many.len(), 1000);
        assert!(many.iter().all(|id| id.len() == 32));
    }
}
