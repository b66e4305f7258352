//! The signals that stop the program.

#[cfg(unix)]
use anyhow::Context as _;

/// Ctrl-C, and the signals that supervisors send.
pub struct StopSignals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

impl StopSignals {
    #[cfg(unix)]
    pub fn new() -> anyhow::Result<StopSignals> {
        use tokio::signal::unix::{SignalKind, signal};
        let heard = "cannot listen for signals";
        Ok(StopSignals {
            terminate: signal(SignalKind::terminate()).context(heard)?,
            interrupt: signal(SignalKind::interrupt()).context(heard)?,
        })
    }

    #[cfg(unix)]
    pub async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => (),
            _ = self.interrupt.recv() => (),
        }
    }

    #[cfg(not(unix))]
    pub fn new() -> anyhow::Result<StopSignals> {
        Ok(StopSignals {})
    }

    #[cfg(not(unix))]
    pub async fn wait(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}
