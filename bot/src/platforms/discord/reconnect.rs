//! Keeps one of the connections to the gateway open: whenever it ends, it reconnects after a pause.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::connection::{Connection, DisconnectReason};
use super::errors::close_reason;
use super::gateway::GatewayPlan;
use super::interaction::Interactions;
use super::listener::GatewayListener;
use super::platform::GatewayState;
use crate::platforms::backoff::ReconnectPauses;

/// How many events may wait to be handled.
const WAITING_MAX: usize = 4096;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How long it may take to hand on what was heard until the connection was closed.
const HANDS_ON_WITHIN: Duration = Duration::from_secs(5);
/// A connection that lasted this long counts as good.
const GOOD_AFTER: Duration = Duration::from_secs(60);

/// `Err` says why Discord refuses it permanently.
pub async fn keep_connected(
    plan: Arc<GatewayPlan>,
    number: u32,
    listener: GatewayListener,
    interactions: Interactions,
    stop: CancellationToken,
) -> Result<(), String> {
    let discord = listener.discord.clone();
    let (events, heard) = mpsc::channel(WAITING_MAX);
    let mut hearing = tokio::spawn(listener.run(heard));
    let mut pauses = ReconnectPauses::new(FIRST_PAUSE, LONGEST_PAUSE, GOOD_AFTER);
    let mut session = None;
    let ended = loop {
        let connection = Connection {
            discord: &discord,
            plan: &plan,
            number,
            interactions: &interactions,
            events: &events,
            stop: &stop,
            session: &mut session,
        };
        let (ending, lived) = connection.run().await;
        let (code, reason) = match ending {
            DisconnectReason::Stopped => break Ok(()),
            DisconnectReason::Dismissed { code, reason } => break Err(close_reason(code, &reason)),
            DisconnectReason::Lost { code, reason } => (code, reason),
        };
        discord.state.send_replace(GatewayState::Connecting);
        let pause = pauses.after(lived);
        let pause_ms = pause.as_millis() as u64;
        match lived {
            Some(_) => info!(shard = number, code, reason, pause_ms, "disconnected from Discord"),
            None => warn!(shard = number, code, reason, pause_ms, "cannot connect to Discord"),
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => (),
            () = stop.cancelled() => break Ok(()),
        }
    };
    drop(events);
    match timeout(HANDS_ON_WITHIN, &mut hearing).await {
        Ok(Ok(())) => (),
        Ok(Err(error)) => warn!(%error, "Discord listener failed"),
        // The next connection fetches it.
        Err(_) => hearing.abort(),
    }
    ended
}
