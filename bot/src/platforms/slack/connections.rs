//! Keeps connections to Slack open: one that is about to be closed is replaced first, a lost one after a pause.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use tracing::{debug, info, warn};

use super::errors::ApiError;
use super::listen::SlackContext;
use super::socket::{ConnectionEnd, SlackConnection, open};
use super::translate::SlackIdentity;

/// Slack closes a connection soon after its warning; if it does not, we do.
const LINGERS: Duration = Duration::from_secs(60);
/// The pause if other clients use up the connections this app may have.
const CROWDED_FOR: Duration = Duration::from_secs(60);

/// Keeps one connection open until the platform stops.
pub async fn keep(context: Arc<SlackContext>, me: Arc<SlackIdentity>, slot: u32) {
    let mut pauses = context.slack.pace.pauses();
    while !context.stop.is_cancelled() {
        let opened = tokio::select! {
            opened = open(&context, &me) => opened,
            () = context.stop.cancelled() => return,
        };
        let mut line = match opened {
            Ok(line) => line,
            Err(error) if error.is_hopeless() => return context.give_up(&error.to_string()),
            Err(ApiError::Limited { after }) => {
                context.pause(after + pauses.after(None)).await;
                continue;
            }
            Err(error) => {
                let pause = pauses.after(None);
                warn!(slot, %error, ?pause, "cannot connect to Slack");
                context.pause(pause).await;
                continue;
            }
        };
        debug!(slot, "connected to Slack");
        let end = line.serve().await;
        let lived = line.lived();
        match end {
            ConnectionEnd::Stopped => return,
            ConnectionEnd::Hopeless(why) => return context.give_up(&why),
            ConnectionEnd::Replaced => {
                drop(line);
                info!(slot, "connecting to Slack with another token");
            }
            ConnectionEnd::Warned => {
                info!(slot, "replacing a connection to Slack before it is closed");
                context.tasks.spawn(drain(line));
                // A connection that was warned at once is no reason to open another at once.
                if lived.is_none_or(|lived| lived < context.slack.pace.pause_min) {
                    context.pause(pauses.after(lived)).await;
                }
            }
            ConnectionEnd::Crowded => {
                drop(line);
                warn!(
                    slot,
                    "other programs use up the connections of this Slack app: stop them, or set slack.connections lower"
                );
                context.pause(CROWDED_FOR + pauses.after(lived)).await;
            }
            ConnectionEnd::Lost(why) => {
                drop(line);
                let pause = pauses.after(lived);
                info!(slot, why, ?pause, "lost a connection to Slack");
                context.pause(pause).await;
            }
        }
    }
}

/// Events that still arrive on the old connection are handled while the new one opens.
async fn drain(mut line: SlackConnection) {
    let ended = timeout(LINGERS, line.serve()).await;
    debug!(?ended, "closed a replaced Slack connection");
}
