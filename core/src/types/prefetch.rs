//! Fetches what will be needed soon from memory, before anything is computed with it.
//!
//! Most rooms are in no cache when somebody speaks there. If each piece of memory is asked for when it is needed, the processor
//! waits for one after the other; if nothing depends on them, it fetches ten or more at a time. So one byte of each line of
//! the cache is read first, and what was read is put together into a number that nobody uses.

use std::hint::black_box;

/// Bytes that come into the cache together.
const CACHE_LINE: usize = 64;

/// Reads a little of each cache line of a list; `byte` reads something of an item.
#[inline]
pub(crate) fn prefetch<T>(list: &[T], byte: impl Fn(&T) -> u8) {
    let step = (CACHE_LINE / size_of::<T>().max(1)).max(1);
    black_box(list.iter().step_by(step).chain(list.last()).fold(0, |all, item| all ^ byte(item)));
}
