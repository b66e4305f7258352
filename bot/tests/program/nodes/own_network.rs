//! Runs a test once more in a process that has a network of its own.

use std::process::Command;

use aizuchi_test_servers::network::Network;

/// Set in the process that has one.
const HAS_ONE: &str = "AIZUCHI_OWN_NETWORK";

/// Runs `body` with a network where there can be one, in a process of its own, and without one otherwise. `name` is the path of the test
/// that calls it.
pub fn with_network<F: Future<Output = ()>>(name: &str, body: impl FnOnce(Option<Network>) -> F) {
    let has_one = std::env::var_os(HAS_ONE).is_some();
    let words = if has_one { Ok(Vec::new()) } else { Network::words() };
    let network = match words {
        Ok(words) if !has_one => return run_again(name, &words),
        Ok(_) => Some(Network::open()),
        Err(why) => {
            println!("NOTHING IS CUT OFF: there can be no network namespaces here: {why}");
            None
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(body(network));
}

fn run_again(name: &str, words: &[String]) {
    let program = std::env::current_exe().expect("it has a path");
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).arg(program).args(["--exact", name, "--nocapture"]).env(HAS_ONE, "1");
    let status = command.status().expect("it was tried before");
    assert!(status.success(), "see above");
}
