//! The program: arguments in, an exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    share_memory();
    aizuchi::cli::main()
}

/// Memory is taken from few pools. The C library would give nearly every thread one of its own and let go of none: with
/// threads that take turns at large work, each of them grows to what the largest needed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "there is no other way to say so from within, and it is before any thread is there")]
fn share_memory() {
    const POOLS: libc::c_int = 2;
    // SAFETY: it sets a number of the allocator, and no other thread runs yet.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, POOLS) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn share_memory() {}
