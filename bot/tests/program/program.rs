//! The program of this build, in a folder of its own.

pub use aizuchi_test_servers::program::{Home, PATIENCE, Program, eventually};

pub fn new_home(settings: &[&str]) -> Home {
    Home::new(env!("CARGO_BIN_EXE_aizuchi"), settings)
}
