//! Ids that cannot be guessed.

use ring::rand::{SecureRandom as _, SystemRandom};

/// A person's secret: a page that has it speaks as that person.
pub fn secret() -> String {
    random::<16>()
}

/// A shorter one that everybody may see.
pub fn public() -> String {
    random::<8>()
}

/// The id of a browser session.
pub fn session() -> String {
    random::<32>()
}

/// This many random bytes of the operating system, in hexadecimal.
fn random<const BYTES: usize>() -> String {
    let mut bytes = [0; BYTES];
    SystemRandom::new().fill(&mut bytes).expect("the operating system has random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
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
