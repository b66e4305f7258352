//! Waits for what a platform answers, and not for ever.

use std::future::Future;
use std::time::Duration;

use crate::check::Check;

/// Each question has its own, shorter limit: this one is for all of them.
const PATIENCE: Duration = Duration::from_secs(60);

pub fn wait_for<T>(part: &'static str, asked: impl Future<Output = T>) -> Result<T, Check> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        Check::fail(part, format!("nothing can be asked: {error}"), "look at the limits of this machine")
    })?;
    let answered = runtime.block_on(async { tokio::time::timeout(PATIENCE, asked).await });
    answered.map_err(|_| {
        Check::fail(part, format!("no answer within {} s", PATIENCE.as_secs()), "look at the network, and try again")
    })
}
