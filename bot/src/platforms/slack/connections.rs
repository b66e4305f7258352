//! Keeps lines to Slack open: a line that is about to be closed is replaced first, a lost one after a pause.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use tracing::{debug, info, warn};

use super::listen::Desk;
use super::socket::{End, Line, open};
use super::translate::Me;
use super::trouble::ApiError;

/// Slack closes a line soon after its warning; if it forgets, we do.
const LINGERS: Duration = Duration::from_secs(60);
/// When others use up the lines this app may have.
const CROWDED_FOR: Duration = Duration::from_secs(60);

/// Keeps one line open until the platform stops.
pub async fn keep(desk: Arc<Desk>, me: Arc<Me>, slot: u32) {
    let mut pauses = desk.slack.pace.pauses();
    while !desk.stop.is_cancelled() {
        let opened = tokio::select! {
            opened = open(&desk, &me) => opened,
            () = desk.stop.cancelled() => return,
        };
        let mut line = match opened {
            Ok(line) => line,
            Err(error) if error.is_hopeless() => return desk.give_up(&error.to_string()),
            Err(ApiError::Limited { after }) => {
                desk.pause(after + pauses.after(None)).await;
                continue;
            }
            Err(error) => {
                let pause = pauses.after(None);
                warn!(slot, %error, ?pause, "cannot connect to Slack");
                desk.pause(pause).await;
                continue;
            }
        };
        debug!(slot, "connected to Slack");
        let end = line.serve().await;
        let lived = line.lived();
        match end {
            End::Stopped => return,
            End::Hopeless(why) => return desk.give_up(&why),
            End::Warned => {
                info!(slot, "replacing a connection to Slack before it is closed");
                desk.tasks.spawn(linger(line));
                // One that was warned at once is no reason to open another at once.
                if lived.is_none_or(|lived| lived < desk.slack.pace.pause_min) {
                    desk.pause(pauses.after(lived)).await;
                }
            }
            End::Crowded => {
                drop(line);
                warn!(
                    slot,
                    "other programs use up the connections of this Slack app: stop them, or set slack.connections lower"
                );
                desk.pause(CROWDED_FOR + pauses.after(lived)).await;
            }
            End::Lost(why) => {
                drop(line);
                let pause = pauses.after(lived);
                info!(slot, why, ?pause, "lost a connection to Slack");
                desk.pause(pause).await;
            }
        }
    }
}

/// What still comes through the old line is heard, while the new one opens.
async fn linger(mut line: Line) {
    let ended = timeout(LINGERS, line.serve()).await;
    debug!(?ended, "left an old line to Slack");
}
