//! The program's metrics, for Prometheus.

use std::sync::OnceLock;
use std::time::Duration;

use metrics::{Unit, describe_counter, describe_gauge};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tokio_util::sync::CancellationToken;

/// How often histograms are aggregated: until then each value is kept.
const SUM_UP_EVERY: Duration = Duration::from_secs(5);

/// Starts to collect, and returns the handle. The program has one recorder, however often this is called.
pub fn install() -> PrometheusHandle {
    static INSTALLED: OnceLock<PrometheusHandle> = OnceLock::new();
    INSTALLED
        .get_or_init(|| {
            let recorder = PrometheusBuilder::new().build_recorder();
            let handle = recorder.handle();
            // A program that uses this one as a library may already have installed a recorder, which stays.
            if metrics::set_global_recorder(recorder).is_ok() {
                describe();
            }
            handle
        })
        .clone()
}

/// Aggregates what was measured, periodically, until shutdown: the metrics may never be requested.
pub async fn keep_up(sum_up: impl Fn(), stop: &CancellationToken) {
    while stop.run_until_cancelled(tokio::time::sleep(SUM_UP_EVERY)).await.is_some() {
        sum_up();
    }
}

fn describe() {
    describe_gauge!("aizuchi_web_pages", Unit::Count, "pages connected to the web room");
    describe_counter!("aizuchi_web_messages_total", Unit::Count, "messages said by people in the web room");
    describe_counter!("aizuchi_web_posts_total", Unit::Count, "posts of the bot in the web room");
    describe_gauge!("aizuchi_spent_today", Unit::Count, "calls, tokens and millionths of a dollar of all rooms today");
    describe_gauge!("aizuchi_budget_per_day", Unit::Count, "the same that all rooms may spend in a day; 0 is no limit");
    describe_counter!("aizuchi_calls_refused_total", Unit::Count, "calls that the budget over all rooms did not allow");
    describe_gauge!("aizuchi_cluster_stuck", Unit::Count, "rooms and calls of a cluster that keep failing");
    describe_gauge!(
        "aizuchi_cluster_set_aside",
        Unit::Count,
        "inputs that rooms of a cluster could not handle, in the last hour"
    );
    describe_gauge!(
        "aizuchi_cluster_restate_silent",
        Unit::Count,
        "1 while Restate does not answer; the other numbers of a cluster are those of before then"
    );
    describe_gauge!("aizuchi_cluster_silent_workers", Unit::Count, "workers of a cluster that do not answer");
    describe_counter!("aizuchi_web_refused_total", Unit::Count, "things pages asked for that were refused");
    describe_counter!(
        "aizuchi_web_crowded_out_total",
        Unit::Count,
        "connections closed because one address had too many"
    );
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn times_are_summed_up_though_nobody_asks() {
        let (stop, summed_up) = (CancellationToken::new(), Cell::new(0));
        let keeping_up = keep_up(|| summed_up.set(summed_up.get() + 1), &stop);
        let minute = async {
            tokio::time::sleep(Duration::from_secs(61)).await;
            stop.cancel();
        };
        tokio::join!(keeping_up, minute);
        assert_eq!(summed_up.get(), 12);
    }
}
