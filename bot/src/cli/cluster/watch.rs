//! What a process of a cluster does beside its work: it shows pages what other processes did, keeps memory up to date, and reports
//! what is stuck.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use aizuchi_core::types::{MessageId, RoomId};
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

use crate::cli::{harmless, store};
use crate::cluster::{RestateClient, RestateError, STUCK_MAX};
use crate::journal::Traces;
use crate::keeper::Keeper;
use crate::platforms::web::Web;
use crate::ports::ClusterStore;
use crate::runtime::{EngineEvent, EngineHandle};
use crate::stores::postgres::{ProcessNotice, RoomNotice};

/// How often memory takes in who answered whom.
const TAKES_EVERY: Duration = Duration::from_secs(2);

/// Who answered whom is known to the worker that decided it.
pub async fn take_noted(keeper: Arc<Keeper>, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(TAKES_EVERY) => (),
        }
        if let Err(error) = keeper.take_noted().await {
            tracing::warn!(%error, "memory update failed; retrying");
        }
    }
}

/// How often it is checked whether a room cannot go on.
const LOOKS_EVERY: Duration = Duration::from_secs(5);
/// What starts again within seconds alerts nobody: a worker, or Restate, must not answer so many times in a row.
const SILENT_LOOKS: u32 = 2;

/// What was set aside alerts for so long: it is over, and an operator who comes later finds it in the list.
const SET_ASIDE_ALERTS: Duration = Duration::from_secs(60 * 60);

/// Rooms and calls that keep failing, inputs that were set aside, and workers that do not answer raise an alert: in the log, in the
/// metrics, and in `alert`, which `/ready` shows.
pub async fn watch_trouble(
    restate: RestateClient,
    store: Arc<dyn ClusterStore>,
    alert: watch::Sender<String>,
    until: CancellationToken,
) {
    let mut before = Trouble::default();
    loop {
        let (of_restate, set_aside) =
            tokio::join!(before.look_again(&restate), store.count_set_aside(SET_ASIDE_ALERTS));
        let mut now = of_restate.unwrap_or_else(|error| {
            tracing::debug!(%error, "cannot look for rooms that are stuck");
            before.without_restate()
        });
        // While PostgreSQL is away, as many as before.
        now.set_aside = set_aside.unwrap_or(before.set_aside);
        now.log(&before);
        metrics::gauge!("aizuchi_cluster_restate_silent").set(f64::from(u8::from(now.restate_is_silent())));
        metrics::gauge!("aizuchi_cluster_stuck").set(now.stuck as f64);
        metrics::gauge!("aizuchi_cluster_set_aside").set(now.set_aside as f64);
        metrics::gauge!("aizuchi_cluster_silent_workers").set(now.silent().count() as f64);
        alert.send_replace(now.alert());
        before = now;
        tokio::select! {
            () = until.cancelled() => return,
            () = tokio::time::sleep(LOOKS_EVERY) => (),
        }
    }
}

/// What an operator should know.
#[derive(Clone, Default)]
struct Trouble {
    /// Rooms and calls that keep failing.
    stuck: usize,
    /// Inputs that were set aside lately.
    set_aside: u64,
    /// The addresses of workers that did not answer, and how often in a row.
    unanswered: BTreeMap<String, u32>,
    /// How often in a row Restate could not tell any of it.
    untold: u32,
}

impl Trouble {
    /// `self` is what was found the time before.
    async fn look_again(&self, restate: &RestateClient) -> Result<Trouble, RestateError> {
        let stuck = restate.stuck().await?.iter().filter(|invocation| invocation.needs_help()).count();
        let workers = restate.deployments().await?;
        let answered = restate.ask_workers(&workers).await;
        let silent = workers.iter().zip(answered).filter(|(_, answered)| answered.is_err());
        let unanswered = silent.map(|(worker, _)| {
            let url = harmless(&worker.shown_uri());
            let looks = self.unanswered.get(&url).copied().unwrap_or_default();
            (url, looks.saturating_add(1))
        });
        Ok(Trouble { stuck, unanswered: unanswered.collect(), ..Trouble::default() })
    }

    /// The same as the time before, as far as is known.
    fn without_restate(&self) -> Trouble {
        Trouble { untold: self.untold.saturating_add(1), ..self.clone() }
    }

    fn restate_is_silent(&self) -> bool {
        self.untold >= SILENT_LOOKS
    }

    /// The workers that do not answer.
    fn silent(&self) -> impl Iterator<Item = &str> {
        self.unanswered.iter().filter(|(_, looks)| **looks >= SILENT_LOOKS).map(|(url, _)| url.as_str())
    }

    fn log(&self, before: &Trouble) {
        if self.restate_is_silent() && !before.restate_is_silent() {
            tracing::error!("Restate does not answer (setting cluster.admin)");
        }
        if self.stuck > before.stuck {
            tracing::error!(stuck = self.stuck, "rooms keep failing: see `aizuchi cluster rooms --stuck`");
        }
        if self.set_aside > before.set_aside {
            tracing::error!(inputs = self.set_aside, "inputs were set aside: see `aizuchi cluster rooms --stuck`");
        }
        for url in self.silent().filter(|url| !before.silent().any(|known| known == *url)) {
            tracing::error!(url, "a worker does not answer: see `aizuchi cluster status`");
        }
    }

    fn alert(&self) -> String {
        if self.restate_is_silent() {
            let restate = "Restate does not answer (setting cluster.admin)".to_owned();
            return [restate].into_iter().chain(set_aside_alert(self.set_aside)).collect::<Vec<_>>().join("; ");
        }
        let silent: Vec<&str> = self.silent().collect();
        let addresses = || store::join_names(&silent);
        let silent = match silent.len() {
            0 => None,
            1 => Some(format!("1 worker does not answer: {}", addresses())),
            count => Some(format!("{count} workers do not answer: {}", addresses())),
        };
        let alerts: Vec<String> =
            [stuck_alert(self.stuck), set_aside_alert(self.set_aside), silent].into_iter().flatten().collect();
        alerts.join("; ")
    }
}

fn stuck_alert(stuck: usize) -> Option<String> {
    Some(match stuck {
        0 => return None,
        1 => "1 room or call keeps failing: see `aizuchi cluster rooms --stuck`".into(),
        STUCK_MAX.. => format!("at least {stuck} rooms or calls keep failing: see `aizuchi cluster rooms --stuck`"),
        _ => format!("{stuck} rooms or calls keep failing: see `aizuchi cluster rooms --stuck`"),
    })
}

fn set_aside_alert(inputs: u64) -> Option<String> {
    Some(match inputs {
        0 => return None,
        1 => "1 input was set aside in the last hour: see `aizuchi cluster rooms --stuck`".into(),
        _ => format!("{inputs} inputs were set aside in the last hour: see `aizuchi cluster rooms --stuck`"),
    })
}

/// Ends with the session.
pub async fn show_notices(
    mut notices: broadcast::Receiver<ProcessNotice>,
    web: &Web,
    events: &broadcast::Sender<EngineEvent>,
    traces: &Traces,
    engine: &EngineHandle,
) {
    loop {
        let shown = match notices.recv().await {
            Ok(ProcessNotice::Room(RoomNotice { room, decided })) => {
                web.wake();
                if room.as_str().starts_with("web:") {
                    show_room(room, decided, events, traces, engine).await;
                }
                continue;
            }
            Ok(ProcessNotice::Page(notice)) => web.show_notice(notice).await,
            Ok(ProcessNotice::Missed) | Err(broadcast::error::RecvError::Lagged(_)) => {
                web.wake();
                web.show_rooms().await
            }
            Err(broadcast::error::RecvError::Closed) => return,
        };
        if let Err(error) = shown {
            tracing::debug!(%error, "cannot pass a notice of another process on to the pages");
        }
    }
}

async fn show_room(
    room: RoomId,
    decided: Vec<MessageId>,
    events: &broadcast::Sender<EngineEvent>,
    traces: &Traces,
    engine: &EngineHandle,
) {
    match traces.of(&room, decided).await {
        Ok(found) => {
            for trace in found {
                let _ = events.send(EngineEvent::Decided(Arc::new(trace)));
            }
        }
        Err(error) => tracing::debug!(%error, "cannot read decisions for the pages"),
    }
    if let Ok(Some(view)) = engine.view(&room).await {
        let _ = events.send(EngineEvent::Changed(room, Arc::new(view)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It has happened, whether Restate answers now or not.
    #[test]
    fn what_was_set_aside_is_told_beside_the_rest() {
        let trouble = Trouble { stuck: 1, set_aside: 2, ..Trouble::default() };
        let told = trouble.alert();
        assert!(
            told.contains("keeps failing") && told.contains("; 2 inputs were set aside in the last hour"),
            "{told}"
        );
        let told = trouble.without_restate().without_restate().alert();
        assert!(told.starts_with("Restate does not answer") && told.contains("; 2 inputs were set aside"), "{told}");
        let told = Trouble { set_aside: 1, ..Trouble::default() }.alert();
        assert!(told.starts_with("1 input was set aside"), "{told}");
    }

    #[test]
    fn restate_that_fails_once_alerts_nobody() {
        let stuck = Trouble { stuck: 1, ..Trouble::default() };
        let once = stuck.without_restate();
        assert!(once.alert().starts_with("1 room or call keeps failing"), "{}", once.alert());
        let twice = once.without_restate();
        assert!(twice.alert().starts_with("Restate does not answer"), "{}", twice.alert());
    }
}
