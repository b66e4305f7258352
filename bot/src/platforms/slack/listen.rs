//! Listens to Slack until shutdown, or until only a person can help.

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

use super::errors::ApiError;
use super::platform::Slack;
use super::read::{id, text};
use super::translate::SlackIdentity;
use super::{backfill, connections, forward, inbox, posts, sync};
use crate::platforms::backoff::ReconnectPauses;
use crate::ports::Commands;
use crate::runtime::EngineHandle;
use crate::stores::StoreError;

/// Timeouts and intervals of the connection.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionPace {
    /// How often the connection is pinged when nothing arrives.
    pub ping_every: Duration,
    /// A connection that is silent for this long is dead.
    pub silent_max: Duration,
    /// The longest pause after a lost connection: the first time, and when nothing helps.
    pub pause_min: Duration,
    pub pause_max: Duration,
    /// A connection that lasted this long was a good one: the pauses are short again.
    pub good_after: Duration,
    /// Between two syncs of everybody's names.
    pub sync_every: Duration,
    /// A post leaves within this time after it was begun, or not at all: another process may post it then.
    pub posts_within: Duration,
}

/// See [`ConnectionPace::posts_within`].
pub(super) const POSTS_WITHIN: Duration = Duration::from_secs(2);

impl Default for ConnectionPace {
    fn default() -> ConnectionPace {
        ConnectionPace {
            ping_every: Duration::from_secs(10),
            silent_max: Duration::from_secs(45),
            pause_min: Duration::from_secs(1),
            pause_max: Duration::from_secs(60),
            good_after: Duration::from_secs(30),
            sync_every: Duration::from_secs(6 * 3600),
            posts_within: POSTS_WITHIN,
        }
    }
}

impl ConnectionPace {
    pub(super) fn pauses(&self) -> ReconnectPauses {
        ReconnectPauses::new(self.pause_min, self.pause_max, self.good_after)
    }
}

/// How many slash commands run concurrently.
const COMMANDS_MAX: usize = 16;

/// What every task of the platform needs.
pub struct SlackContext {
    pub slack: Arc<Slack>,
    pub engine: EngineHandle,
    pub commands: Arc<dyn Commands>,
    /// The platform's own token: cancelled with the program's, or when the platform gives up.
    pub stop: CancellationToken,
    pub tasks: TaskTracker,
    /// Notified when an arrival was stored.
    pub arrived: Notify,
    /// Notified when the last connection is lost.
    pub gone: Notify,
    /// Notified when the first connection is open, or open again after there was none.
    pub back: Notify,
    pub lines: AtomicUsize,
    pub running: Arc<Semaphore>,
}

impl SlackContext {
    /// Only a person can help: the platform stops, the program continues.
    pub fn give_up(&self, why: &str) {
        if !self.stop.is_cancelled() {
            error!("Slack: {why}; continuing without Slack");
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

    /// Waits, but not longer than the platform runs.
    pub async fn pause(&self, pause: Duration) {
        tokio::select! {
            () = tokio::time::sleep(pause) => (),
            () = self.stop.cancelled() => (),
        }
    }
}

impl Slack {
    /// Listens until `stop`. `Err` says what a person has to do first; if Slack cannot be reached at the moment, it waits.
    pub async fn listen(
        self: &Arc<Slack>,
        engine: EngineHandle,
        commands: Arc<dyn Commands>,
        stop: CancellationToken,
    ) -> anyhow::Result<JoinHandle<()>> {
        self.sweep().await?;
        let me = match self.me().await {
            Ok(me) => Some(me),
            Err(error) if error.is_hopeless() => {
                self.api.give_up(&error.to_string());
                return Err(anyhow!("Slack: {error}"));
            }
            Err(error) => {
                warn!(%error, "cannot reach Slack; retrying");
                None
            }
        };
        let context = Arc::new(SlackContext {
            slack: self.clone(),
            engine,
            commands,
            stop: stop.child_token(),
            tasks: TaskTracker::new(),
            arrived: Notify::new(),
            gone: Notify::new(),
            back: Notify::new(),
            lines: AtomicUsize::new(0),
            running: Arc::new(Semaphore::new(COMMANDS_MAX)),
        });
        Ok(tokio::spawn(live(context, me)))
    }

    /// Deletes entries that are too old to arrive again.
    pub(super) async fn sweep(&self) -> Result<(), StoreError> {
        let now = self.clock.now();
        inbox::sweep(&*self.stores.inbox, now).await?;
        posts::sweep(&*self.stores.posts, now).await
    }

    /// Fetches the bot's own identity.
    pub(super) async fn introduce(&self) -> Result<SlackIdentity, ApiError> {
        let answer: Value = self.api.call("auth.test", &[]).await?;
        let (Some(team), Some(user)) = (id(&answer, "team_id"), id(&answer, "user_id")) else {
            return Err(ApiError::NoAnswer("auth.test returned no user id".into()));
        };
        let workspace = text(&answer, "team").unwrap_or(team);
        info!(workspace, team, user, "joined a Slack workspace");
        let bot = id(&answer, "bot_id").map(str::to_owned);
        Ok(SlackIdentity { team: team.to_owned(), user: user.to_owned(), bot, name: self.name.clone() })
    }
}

async fn live(context: Arc<SlackContext>, me: Option<Arc<SlackIdentity>>) {
    let me = match me {
        Some(me) => Some(me),
        None => wait_for_introduction(&context).await,
    };
    let Some(me) = me else { return };
    spawn(&context, &me, |context, me| async move { forward::forward_arrivals(&context, &me).await });
    // Read before the first connection opens, so that new events do not hide the gap before them.
    let known = backfill::heard_channels(&context).await;
    spawn(&context, &me, |context, me| async move { backfill::keep(&context, &me, known).await });
    spawn(&context, &me, |context, _| async move { sync::keep(&context).await });
    spawn(&context, &me, |context, _| async move {
        tokio::select! {
            why = context.slack.api.given_up() => context.give_up(&why),
            () = context.stop.cancelled() => (),
        }
    });
    for slot in 0..context.slack.settings.connections {
        spawn(&context, &me, move |context, me| async move { connections::keep(context, me, slot).await });
    }
    context.tasks.close();
    context.tasks.wait().await;
}

fn spawn<F: Future<Output = ()> + Send + 'static>(
    context: &Arc<SlackContext>,
    me: &Arc<SlackIdentity>,
    task: impl FnOnce(Arc<SlackContext>, Arc<SlackIdentity>) -> F,
) {
    context.tasks.spawn(task(context.clone(), me.clone()));
}

async fn wait_for_introduction(context: &SlackContext) -> Option<Arc<SlackIdentity>> {
    let mut pauses = context.slack.pace.pauses();
    while !context.stop.is_cancelled() {
        context.pause(pauses.after(None)).await;
        match context.slack.me().await {
            Ok(me) => return Some(me),
            Err(error) if error.is_hopeless() => context.give_up(&error.to_string()),
            Err(ApiError::Limited { after }) => context.pause(after).await,
            Err(error) => warn!(%error, "cannot reach Slack; retrying"),
        }
    }
    None
}
