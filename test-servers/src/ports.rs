//! Addresses for programs that are stopped and started again: nobody else is given one of them meanwhile.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// No connection is ever given a port from here as its own end: those begin at 32768. Browsers refuse to open 10080 (amanda), and
/// no other one that is as high.
const FIRST_PORT: u16 = 11_000;
const BLOCKS: u16 = 500;
const BLOCK_PORTS: u16 = 40;

/// Ports of this process alone. It holds a lock on a file, which the kernel releases when the process ends, however it ends.
struct Block {
    number: u16,
    given: u16,
    _lock: File,
}

impl Block {
    /// The first that nobody has, from this one on.
    fn take(folder: &Path, from: u16) -> Block {
        std::fs::create_dir_all(folder).expect("a folder for the locks");
        // Of all users: tests that run as somebody else must not be given the same ports.
        let _ = std::fs::set_permissions(folder, PermissionsExt::from_mode(0o777));
        let numbers = (0..BLOCKS).map(|step| (from + step) % BLOCKS);
        let mut blocks = numbers.filter_map(|number| {
            // One of another user cannot be opened, and is that user's.
            let lock = File::options().create(true).append(true).open(folder.join(number.to_string())).ok()?;
            lock.try_lock().is_ok().then_some(Block { number, given: 0, _lock: lock })
        });
        blocks.next().expect("a block of ports is free")
    }

    fn next_port(&mut self) -> Option<u16> {
        let port = FIRST_PORT + self.number * BLOCK_PORTS + self.given;
        (self.given < BLOCK_PORTS).then(|| {
            self.given += 1;
            port
        })
    }
}

/// An address that stays ours while the program is down.
pub fn free_address() -> SocketAddr {
    static BLOCKS_TAKEN: Mutex<Vec<Block>> = Mutex::new(Vec::new());
    let mut taken = BLOCKS_TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let Some(port) = taken.last_mut().and_then(Block::next_port) else {
            let from = taken.last().map_or((std::process::id() % u32::from(BLOCKS)) as u16, |block| block.number);
            taken.push(Block::take(&std::env::temp_dir().join("aizuchi-ports"), from));
            continue;
        };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        // Somebody else may listen there who knows nothing of this.
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Scratch;

    /// As two processes do whose ids are the same but for a multiple of the number of blocks.
    #[test]
    fn two_who_begin_at_the_same_block_are_given_different_ports() {
        let folder = Scratch::new("ports");
        let (mut first, mut second) = (Block::take(&folder, 499), Block::take(&folder, 499));
        assert_eq!((first.number, second.number), (499, 0));
        let ports = |block: &mut Block| std::iter::from_fn(|| block.next_port()).collect::<Vec<_>>();
        let (of_first, of_second) = (ports(&mut first), ports(&mut second));
        assert_eq!((of_first.first(), of_first.last()), (Some(&30_960), Some(&30_999)));
        assert_eq!((of_second.first(), of_second.last()), (Some(&11_000), Some(&11_039)));
        drop(first);
        assert_eq!(Block::take(&folder, 499).number, 499, "it is free again");
    }

    #[test]
    fn no_address_is_given_twice() {
        let all: Vec<SocketAddr> = (0..3 * BLOCK_PORTS).map(|_| free_address()).collect();
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
    }
}
