//! How much of the web room one address and one person may use: connections, new people, rooms, messages. Every limit is a
//! setting, and 0 means none. The tables drop entries that have been quiet for long enough to have their full limit again.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::HeaderMap;
use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use tokio::time::Instant;

use super::settings::WebSettings;

/// The maximum number of addresses or people in one table.
const KEYS_MAX: usize = 10_000;
/// The wait if a table is full of busy entries.
const FULL_FOR: Duration = Duration::from_secs(1);
/// How many typing notices are passed on: a page sends one every three seconds.
const TYPING_PER_SECOND: u32 = 1;

/// Where a client connects from. An IPv6 client owns all addresses of its /64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClientAddress(IpAddr);

impl ClientAddress {
    pub fn new(ip: IpAddr) -> ClientAddress {
        ClientAddress(match ip.to_canonical() {
            IpAddr::V4(ip) => IpAddr::V4(ip),
            IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & !u128::from(u64::MAX))),
        })
    }

    /// The address that a trusted proxy added last; the client may have written everything before it itself.
    pub fn of(peer: IpAddr, headers: &HeaderMap, trust_proxy: bool) -> ClientAddress {
        let told = || {
            let line = headers.get_all("x-forwarded-for").into_iter().next_back()?.to_str().ok()?;
            let last = line.rsplit(',').next()?.trim();
            last.parse().ok().or_else(|| last.parse::<SocketAddr>().ok().map(|address| address.ip()))
        };
        ClientAddress::new(trust_proxy.then(told).flatten().unwrap_or(peer))
    }
}

impl fmt::Display for ClientAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Tracks the usage of each address and each person.
pub struct WebLimits {
    connections_max: usize,
    connections: Mutex<HashMap<ClientAddress, usize>>,
    newcomers: RateTable<ClientAddress>,
    rooms_of_address: RateTable<ClientAddress>,
    rooms_of_person: RateTable<String>,
    messages: RateTable<String>,
    typing: RateTable<String>,
}

impl WebLimits {
    pub fn new(settings: &WebSettings) -> Arc<WebLimits> {
        let an_hour = |count: u32| NonZeroU32::new(count).map(Quota::per_hour);
        Arc::new(WebLimits {
            connections_max: settings.address_connections_max as usize,
            connections: Mutex::default(),
            newcomers: RateTable::new(an_hour(settings.address_people_per_hour)),
            rooms_of_address: RateTable::new(an_hour(settings.address_rooms_per_hour)),
            rooms_of_person: RateTable::new(an_hour(settings.person_rooms_per_hour)),
            messages: RateTable::new(a_second(settings.person_messages_per_second)),
            typing: RateTable::new(a_second(TYPING_PER_SECOND)),
        })
    }

    /// Counts a connection until the returned value is dropped; `None` if the address has reached its limit.
    pub fn connect(self: &Arc<WebLimits>, address: ClientAddress) -> Option<CountedConnection> {
        let mut connections = self.connections();
        let count = connections.entry(address).or_default();
        if self.connections_max > 0 && *count >= self.connections_max {
            return None;
        }
        *count += 1;
        Some(CountedConnection { limits: self.clone(), address })
    }

    /// Whether a new person may enter from there.
    pub fn may_come(&self, address: ClientAddress) -> bool {
        self.newcomers.check(&address).is_ok()
    }

    /// Whether one more room may be opened, by a person who may be new.
    pub fn may_open(&self, address: ClientAddress, person: Option<&str>) -> bool {
        self.rooms_of_address.check(&address).is_ok()
            && person.is_none_or(|person| self.rooms_of_person.check(&person.to_owned()).is_ok())
    }

    /// Whether one more typing notice of this person is passed on.
    pub fn may_type(&self, person: &str) -> bool {
        self.typing.check(&person.to_owned()).is_ok()
    }

    /// Returns when the person may send again, however many pages they have.
    pub async fn until_turn(&self, person: &str) {
        let person = person.to_owned();
        while let Err(wait) = self.messages.check(&person) {
            tokio::time::sleep(wait).await;
        }
    }

    fn connections(&self) -> MutexGuard<'_, HashMap<ClientAddress, usize>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Allows a burst of twice as many after a pause.
pub fn a_second(count: u32) -> Option<Quota> {
    let count = NonZeroU32::new(count)?;
    Some(Quota::per_second(count).allow_burst(count.saturating_mul(TWICE)))
}

const TWICE: NonZeroU32 = NonZeroU32::new(2).expect("two is not zero");

pub struct CountedConnection {
    limits: Arc<WebLimits>,
    address: ClientAddress,
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        let mut connections = self.limits.connections();
        if let Some(count) = connections.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                connections.remove(&self.address);
            }
        }
    }
}

/// Tokio's clock, which tests can pause.
#[derive(Clone)]
struct PausableClock(Instant);

impl Clock for PausableClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

/// A rate limit for each key, with a maximum number of keys.
pub struct RateTable<K: Hash + Eq + Clone> {
    limiter: Option<RateLimiter<K, HashMapStateStore<K>, PausableClock, NoOpMiddleware<Duration>>>,
    clock: PausableClock,
}

impl<K: Hash + Eq + Clone> RateTable<K> {
    /// Without a quota nothing is limited.
    pub fn new(quota: Option<Quota>) -> RateTable<K> {
        let clock = PausableClock(Instant::now());
        RateTable { limiter: quota.map(|quota| RateLimiter::hashmap_with_clock(quota, clock.clone())), clock }
    }

    /// Takes one, or returns how long to wait.
    pub fn check(&self, key: &K) -> Result<(), Duration> {
        let Some(limiter) = &self.limiter else { return Ok(()) };
        if limiter.len() >= KEYS_MAX {
            limiter.retain_recent();
            if limiter.len() >= KEYS_MAX {
                return Err(FULL_FOR);
            }
        }
        limiter.check_key(key).map_err(|not_until| not_until.wait_time_from(self.clock.now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> ClientAddress {
        ClientAddress::new(text.parse().unwrap())
    }

    #[test]
    fn an_ipv6_network_is_one_address() {
        assert_eq!(address("2001:db8:1:2::3"), address("2001:db8:1:2:ffff::9"));
        assert_ne!(address("2001:db8:1:2::3"), address("2001:db8:1:3::3"));
        assert_eq!(address("::ffff:192.0.2.1"), address("192.0.2.1"));
        assert_ne!(address("192.0.2.1"), address("192.0.2.2"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_passes_a_flood_waits_and_others_do_not() {
        let rates: RateTable<&str> = RateTable::new(a_second(10));
        let take = |key| rates.check(&key);
        assert_eq!((0..30).filter(|_| take("mallory").is_ok()).count(), 20);
        assert_eq!(take("mia"), Ok(()));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!((0..30).filter(|_| take("mallory").is_ok()).count(), 10);
        let none: RateTable<&str> = RateTable::new(a_second(0));
        assert!((0..1000).all(|_| none.check(&"anybody").is_ok()));
    }

    #[tokio::test(start_paused = true)]
    async fn the_table_is_bounded_and_forgets_the_quiet() {
        let rates: RateTable<usize> = RateTable::new(a_second(1));
        assert_eq!((0..3 * KEYS_MAX).filter(|key| rates.check(key).is_ok()).count(), KEYS_MAX);
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(rates.check(&(9 * KEYS_MAX)), Ok(()));
    }
}
