//! The program: arguments in, an exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    aizuchi::tls::install_provider();
    share_memory();
    outlive_file_limits();
    aizuchi::cli::main()
}

/// Limits the allocator to few arenas, and returns large blocks to the system at once. By default the C library would give
/// nearly every thread its own arena; and after a large block was freed, it would also allocate the next large ones from
/// the arenas, where small ones prevent their return: each snapshot would leave the program larger than before.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "there is no other way to say so from within, and it is before any thread is there")]
fn share_memory() {
    const POOLS: libc::c_int = 2;
    const LARGE_BYTES: libc::c_int = 256 * 1024;
    // SAFETY: both calls set parameters of the allocator, and no other thread runs yet.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, POOLS);
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BYTES);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn share_memory() {}

/// A file that may not grow further (`ulimit -f`) is handled like a full disk, instead of ending the program.
#[cfg(unix)]
#[expect(unsafe_code, reason = "signals are set from within by no other means, and it is before any thread is there")]
fn outlive_file_limits() {
    // SAFETY: the signal is ignored; no handler of ours runs.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

#[cfg(not(unix))]
fn outlive_file_limits() {}
