//! Listens to Slack until it is told to stop, or until only a person can help.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::anyhow;
use serde_json::Value;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{error, info, warn};

use super::platform::Slack;
use super::read::{id, text};
use super::translate::Me;
use super::trouble::ApiError;
use super::{backfill, connections, inbox, posts, sync, tell};
use crate::platforms::backoff::ReconnectPauses;
use crate::ports::Commands;
use crate::runtime::Ears;
use crate::stores::StoreError;

/// How patient it is with the line.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// How often the line is tried when nothing is heard.
    pub ping_every: Duration,
    /// A line that is silent for so long is dead.
    pub silent_max: Duration,
    /// The longest pause after a line was lost: at first, and when nothing helps.
    pub pause_min: Duration,
    pub pause_max: Duration,
    /// A line that lived so long was a good one: the pauses are short again.
    pub good_after: Duration,
    /// Between two looks at everybody's names.
    pub sync_every: Duration,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace {
            ping_every: Duration::from_secs(10),
            silent_max: Duration::from_secs(45),
            pause_min: Duration::from_secs(1),
            pause_max: Duration::from_secs(60),
            good_after: Duration::from_secs(30),
            sync_every: Duration::from_secs(6 * 3600),
        }
    }
}

impl Pace {
    pub(super) fn pauses(&self) -> ReconnectPauses {
        ReconnectPauses::new(self.pause_min, self.pause_max, self.good_after)
    }
}

/// Slash commands that run at the same time.
const COMMANDS_MAX: usize = 16;

/// What every task of the platform needs.
pub struct Desk {
    pub slack: Arc<Slack>,
    pub ears: Ears,
    pub commands: Arc<dyn Commands>,
    /// The platform's own: cancelled with the program's, or when there is no hope.
    pub stop: CancellationToken,
    pub tasks: TaskTracker,
    /// Something was stored.
    pub arrived: Notify,
    /// The last line is gone.
    pub gone: Notify,
    /// The first line is open, or open again after there was none.
    pub back: Notify,
    pub lines: AtomicUsize,
    pub running: Arc<Semaphore>,
}

impl Desk {
    /// Only a person can help: the platform stops, the program goes on.
    pub fn give_up(&self, why: &str) {
        if !self.stop.is_cancelled() {
            error!("Slack: {why}; aizuchi goes on without Slack");
        }
        self.slack.api.give_up(why);
        self.stop.cancel();
    }

    pub fn line_opened(&self) {
        if self.lines.fetch_add(1, Ordering::SeqCst) == 0 {
            self.back.notify_one();
        }
    }

    pub fn line_closed(&self) {
        if self.lines.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.gone.notify_one();
        }
    }

    /// Waits, but not longer than the platform lives.
    pub async fn pause(&self, pause: Duration) {
        tokio::select! {
            () = tokio::time::sleep(pause) => (),
            () = self.stop.cancelled() => (),
        }
    }
}

impl Slack {
    /// Listens until `stop`. `Err` says what a person has to do before that can work; a Slack that can not be reached at
    /// the moment is waited for.
    pub async fn listen(
        self: &Arc<Slack>,
        ears: Ears,
        commands: Arc<dyn Commands>,
        stop: CancellationToken,
    ) -> anyhow::Result<JoinHandle<()>> {
        self.sweep().await?;
        let me = match self.me().await {
            Ok(me) => Some(me.clone()),
            Err(error) if error.is_hopeless() => {
                self.api.give_up(&error.to_string());
                return Err(anyhow!("Slack: {error}"));
            }
            Err(error) => {
                warn!(%error, "Slack is waited for");
                None
            }
        };
        let desk = Arc::new(Desk {
            slack: self.clone(),
            ears,
            commands,
            stop: stop.child_token(),
            tasks: TaskTracker::new(),
            arrived: Notify::new(),
            gone: Notify::new(),
            back: Notify::new(),
            lines: AtomicUsize::new(0),
            running: Arc::new(Semaphore::new(COMMANDS_MAX)),
        });
        Ok(tokio::spawn(live(desk, me)))
    }

    /// Lets go of what is too old to come again.
    pub(super) async fn sweep(&self) -> Result<(), StoreError> {
        let now = self.clock.now();
        inbox::sweep(&*self.stores.inbox, now).await?;
        posts::sweep(&*self.stores.posts, now).await
    }

    /// Learns who we are.
    pub(super) async fn introduce(&self) -> Result<Me, ApiError> {
        let answer: Value = self.api.call("auth.test", &[]).await?;
        let (Some(team), Some(user)) = (id(&answer, "team_id"), id(&answer, "user_id")) else {
            return Err(ApiError::NoAnswer("it does not say who we are".into()));
        };
        let workspace = text(&answer, "team").unwrap_or(team);
        info!(workspace, team, user, "is in a Slack workspace");
        let bot = id(&answer, "bot_id").map(str::to_owned);
        Ok(Me { team: team.to_owned(), user: user.to_owned(), bot, name: self.name.clone() })
    }
}

async fn live(desk: Arc<Desk>, me: Option<Me>) {
    let me = match me {
        Some(me) => Some(me),
        None => wait_for_introduction(&desk).await,
    };
    let Some(me) = me else { return };
    let me = Arc::new(me);
    spawn(&desk, &me, |desk, me| async move { tell::tell(&desk, &me).await });
    // Read before the first line opens: what comes through it must not hide the gap before it.
    let known = inbox::channels(&*desk.slack.stores.marks).await.unwrap_or_default();
    spawn(&desk, &me, |desk, me| async move { backfill::keep(&desk, &me, known).await });
    spawn(&desk, &me, |desk, _| async move { sync::keep(&desk).await });
    spawn(&desk, &me, |desk, _| async move {
        tokio::select! {
            why = desk.slack.api.given_up() => desk.give_up(&why),
            () = desk.stop.cancelled() => (),
        }
    });
    for slot in 0..desk.slack.settings.connections {
        spawn(&desk, &me, move |desk, me| async move { connections::keep(desk, me, slot).await });
    }
    desk.tasks.close();
    desk.tasks.wait().await;
}

fn spawn<F: Future<Output = ()> + Send + 'static>(
    desk: &Arc<Desk>,
    me: &Arc<Me>,
    task: impl FnOnce(Arc<Desk>, Arc<Me>) -> F,
) {
    desk.tasks.spawn(task(desk.clone(), me.clone()));
}

async fn wait_for_introduction(desk: &Desk) -> Option<Me> {
    let mut pauses = desk.slack.pace.pauses();
    while !desk.stop.is_cancelled() {
        desk.pause(pauses.after(None)).await;
        match desk.slack.me().await {
            Ok(me) => return Some(me.clone()),
            Err(error) if error.is_hopeless() => desk.give_up(&error.to_string()),
            Err(ApiError::Limited { after }) => desk.pause(after).await,
            Err(error) => warn!(%error, "Slack is waited for"),
        }
    }
    None
}
