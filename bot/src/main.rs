//! The program: arguments in, an exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    aizuchi::tls::install_provider();
    share_memory();
    outlive_file_limits();
    aizuchi::cli::main()
}

/// Memory is taken from few pools, and what is large is given back at once. The C library would give nearly every thread a
/// pool of its own; and once something large was let go of, it would take the next large things from the pools as well, where
/// small ones keep their place from being given back: each snapshot would leave the program larger than the one before.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "there is no other way to say so from within, and it is before any thread is there")]
fn share_memory() {
    const POOLS: libc::c_int = 2;
    const LARGE_BYTES: libc::c_int = 256 * 1024;
    // SAFETY: both set numbers of the allocator, and no other thread runs yet.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, POOLS);
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BYTES);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn share_memory() {}

/// A file that may grow no further (`ulimit -f`) is handled as a full disk, instead of ending the program.
#[cfg(unix)]
#[expect(unsafe_code, reason = "signals are set from within by no other means, and it is before any thread is there")]
fn outlive_file_limits() {
    // SAFETY: the signal is ignored; no handler of ours runs.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

#[cfg(not(unix))]
fn outlive_file_limits() {}
