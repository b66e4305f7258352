//! Wrong tokens, counted by address: each one makes the address wait longer, and guesses in the meantime are not checked.
//! Other addresses and existing sessions are not affected.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tracing::warn;

use super::limits::ClientAddress;

/// How many wrong tokens are free: people mistype, and old links are opened again.
const FREE: u32 = 5;
/// The first wait; every further wrong token doubles it.
const FIRST_WAIT: Duration = Duration::from_secs(15);
const WAIT_MAX: Duration = Duration::from_secs(15 * 60);
/// An address is forgotten after it was quiet for this long.
const KEPT_FOR: Duration = Duration::from_secs(60 * 60);
/// How many addresses are tracked; beyond that the quietest is forgotten.
const ADDRESSES_MAX: usize = 10_000;

/// The result of checking a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenCheck {
    Right,
    Wrong,
    /// It was not checked.
    Wait(Duration),
}

#[derive(Default)]
pub struct TokenGuesses(Mutex<HashMap<ClientAddress, FailedGuesses>>);

struct FailedGuesses {
    count: u32,
    last: Instant,
    wait_until: Instant,
}

impl TokenGuesses {
    /// Checks a token, unless its sender has to wait.
    pub fn guess(&self, address: ClientAddress, is_right: impl FnOnce() -> bool) -> TokenCheck {
        // Locked during the check, so that of several concurrent guesses each is counted before the next is checked.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let wait = known.get(&address).map_or(Duration::ZERO, |wrong| wrong.wait_until.duration_since(now));
        if !wait.is_zero() {
            return TokenCheck::Wait(wait);
        }
        if is_right() {
            return TokenCheck::Right;
        }
        make_room(&mut known, now);
        let wrong = known.entry(address).or_insert(FailedGuesses { count: 0, last: now, wait_until: now });
        wrong.count = if now - wrong.last >= KEPT_FOR { 1 } else { wrong.count.saturating_add(1) };
        wrong.last = now;
        if wrong.count >= FREE {
            let wait = FIRST_WAIT.saturating_mul(1 << (wrong.count - FREE).min(16)).min(WAIT_MAX);
            wrong.wait_until = now + wait;
            warn!(%address, count = wrong.count, wait_seconds = wait.as_secs(), "too many wrong tokens");
        }
        TokenCheck::Wrong
    }
}

fn make_room(known: &mut HashMap<ClientAddress, FailedGuesses>, now: Instant) {
    if known.len() < ADDRESSES_MAX {
        return;
    }
    known.retain(|_, wrong| now - wrong.last < KEPT_FOR);
    if known.len() >= ADDRESSES_MAX
        && let Some(quietest) = known.iter().min_by_key(|(_, wrong)| wrong.last).map(|(address, _)| *address)
    {
        known.remove(&quietest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> ClientAddress {
        ClientAddress::new(text.parse().unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn waits_grow_and_end() {
        let (guesses, from) = (TokenGuesses::default(), address("192.0.2.1"));
        for _ in 0..FREE {
            assert_eq!(guesses.guess(from, || false), TokenCheck::Wrong);
        }
        for seconds in [15, 30, 60, 120, 240, 480, 900, 900, 900] {
            let wait = Duration::from_secs(seconds);
            assert_eq!(guesses.guess(from, || panic!("it is not looked at")), TokenCheck::Wait(wait));
            assert_eq!(guesses.guess(address("192.0.2.2"), || true), TokenCheck::Right);
            tokio::time::advance(wait).await;
            assert_eq!(guesses.guess(from, || false), TokenCheck::Wrong);
        }
        tokio::time::advance(WAIT_MAX).await;
        assert_eq!(guesses.guess(from, || true), TokenCheck::Right);
        tokio::time::advance(KEPT_FOR).await;
        assert_eq!((0..FREE).filter(|_| guesses.guess(from, || false) == TokenCheck::Wrong).count(), FREE as usize);
    }

    #[tokio::test(start_paused = true)]
    async fn only_so_many_addresses_are_known() {
        let guesses = TokenGuesses::default();
        for n in 0..ADDRESSES_MAX as u32 + 100 {
            assert_eq!(guesses.guess(address(&format!("10.{}.{}.1", n / 250, n % 250)), || false), TokenCheck::Wrong);
        }
        assert_eq!(guesses.0.lock().unwrap().len(), ADDRESSES_MAX);
    }
}
