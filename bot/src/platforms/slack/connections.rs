//! Keeps lines to Slack open: a line that is about to be closed is replaced first, a lost one after a pause.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};
use tracing::{debug, info, warn};

use super::listen::Desk;
use super::socket::{End, Line, open};
use super::translate::Me;
use super::trouble::ApiError;

/// A line that lived so long was a good one: the next is opened without a long pause.
const GOOD_AFTER: Duration = Duration::from_secs(30);
/// Slack closes a line soon after its warning; if it forgets, we do.
const LINGERS: Duration = Duration::from_secs(60);
/// When others use up the lines this app may have.
const CROWDED_FOR: Duration = Duration::from_secs(60);

/// Keeps one line open until the platform stops.
pub async fn keep(desk: Arc<Desk>, me: Arc<Me>, slot: u32) {
    let pace = desk.slack.pace;
    let mut pauses = pace.pauses();
    while !desk.stop.is_cancelled() {
        let opened = tokio::select! {
            opened = open(&desk, &me) => opened,
            () = desk.stop.cancelled() => return,
        };
        let pause = pauses.next().unwrap_or(pace.pause_max);
        let mut line = match opened {
            Ok(line) => line,
            Err(error) if error.is_hopeless() => return desk.give_up(&error.to_string()),
            Err(ApiError::Limited { after }) => {
                desk.pause(after + pause).await;
                continue;
            }
            Err(error) => {
                warn!(slot, %error, ?pause, "no line to Slack");
                desk.pause(pause).await;
                continue;
            }
        };
        let since = Instant::now();
        debug!(slot, "a line to Slack is open");
        match line.serve().await {
            End::Stopped => return,
            End::Hopeless(why) => return desk.give_up(&why),
            End::Warned => {
                info!(slot, "replaces a line to Slack before it is closed");
                desk.tasks.spawn(linger(line));
                if since.elapsed() < pace.pause_min {
                    desk.pause(pause).await;
                } else {
                    pauses = pace.pauses();
                }
            }
            End::Crowded => {
                drop(line);
                warn!(
                    slot,
                    "other programs use up the lines of this Slack app: stop them, or set slack.connections lower"
                );
                desk.pause(CROWDED_FOR + pause).await;
            }
            End::Lost(why) => {
                drop(line);
                if since.elapsed() >= GOOD_AFTER {
                    pauses = pace.pauses();
                }
                info!(slot, why, ?pause, "lost a line to Slack");
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
