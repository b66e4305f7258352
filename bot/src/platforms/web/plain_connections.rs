//! The connections that are not web sockets, or not yet: pages being loaded, monitoring requests, and clients that open a
//! connection and never finish a request. Their number is limited, per address and in total; beyond that the oldest is
//! closed. So the next client is always served, even from an address that has reached its limit.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use super::limits::ClientAddress;

/// Per address: a browser opens six, and an untrusted proxy has one address for everybody.
const OF_ADDRESS_MAX: usize = 128;

pub struct PlainConnections {
    all_max: usize,
    open: Mutex<OpenConnections>,
}

#[derive(Default)]
struct OpenConnections {
    /// In order of arrival.
    connections: BTreeMap<u64, (ClientAddress, CancellationToken)>,
    next: u64,
}

impl PlainConnections {
    pub fn new(all_max: usize) -> Arc<PlainConnections> {
        Arc::new(PlainConnections { all_max, open: Mutex::default() })
    }

    /// Counts a connection until the returned value is dropped. The oldest of the same address is closed if it has too
    /// many; if there are too many in total, the oldest of the address that has most.
    pub fn add(self: &Arc<PlainConnections>, address: ClientAddress) -> PlainConnection {
        let mut open = self.open();
        let mut counts: HashMap<ClientAddress, usize> = HashMap::new();
        for (address, _) in open.connections.values() {
            *counts.entry(*address).or_default() += 1;
        }
        if counts.get(&address).is_some_and(|count| *count >= OF_ADDRESS_MAX) {
            open.close_oldest(address);
        } else if open.connections.len() >= self.all_max {
            let busiest = counts.into_iter().max_by_key(|(_, count)| *count);
            busiest.into_iter().for_each(|(address, _)| open.close_oldest(address));
        }
        let (number, closed) = (open.next, CancellationToken::new());
        open.next += 1;
        open.connections.insert(number, (address, closed.clone()));
        PlainConnection { all: self.clone(), number, closed }
    }

    fn open(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenConnections {
    fn close_oldest(&mut self, of: ClientAddress) {
        let oldest = self.connections.iter().find(|(_, (address, _))| *address == of).map(|(number, _)| *number);
        if let Some((_, closed)) = oldest.and_then(|number| self.connections.remove(&number)) {
            closed.cancel();
            metrics::counter!("aizuchi_web_crowded_out_total").increment(1);
        }
    }
}

pub struct PlainConnection {
    all: Arc<PlainConnections>,
    number: u64,
    /// Cancelled when it has to make space.
    pub closed: CancellationToken,
}

impl Drop for PlainConnection {
    fn drop(&mut self) {
        self.all.open().connections.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> ClientAddress {
        ClientAddress::new(text.parse().unwrap())
    }

    #[test]
    fn the_oldest_connection_of_the_largest_holder_makes_way() {
        let all = PlainConnections::new(OF_ADDRESS_MAX + 10);
        let (greedy, other, late) = (address("192.0.2.1"), address("192.0.2.2"), address("192.0.2.3"));
        let others: Vec<_> = (0..5).map(|_| all.add(other)).collect();
        let mut many: Vec<_> = (0..OF_ADDRESS_MAX + 3).map(|_| all.add(greedy)).collect();
        let closed = |some: &[PlainConnection]| some.iter().filter(|it| it.closed.is_cancelled()).count();
        assert_eq!((closed(&many), closed(&others)), (3, 0));
        assert!(many[..3].iter().all(|it| it.closed.is_cancelled()), "the oldest first");
        let lates: Vec<_> = (0..7).map(|_| all.add(late)).collect();
        assert_eq!((closed(&many), closed(&others), closed(&lates)), (5, 0, 0));
        many.clear();
        let again: Vec<_> = (0..OF_ADDRESS_MAX - 5).map(|_| all.add(greedy)).collect();
        assert_eq!((closed(&again), closed(&others)), (0, 0), "what has ended takes no place");
    }
}
