//! The numbers it keeps about itself, for Prometheus.

use std::sync::OnceLock;

use metrics::{Unit, describe_counter, describe_gauge};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

/// Collects from now on, and gives what was collected. The program has one collection, however often this is called.
pub fn install() -> PrometheusHandle {
    static INSTALLED: OnceLock<PrometheusHandle> = OnceLock::new();
    INSTALLED
        .get_or_init(|| {
            let recorder = PrometheusBuilder::new().build_recorder();
            let handle = recorder.handle();
            // Somebody else may collect already, such as a program that uses this one as a library: theirs stays.
            if metrics::set_global_recorder(recorder).is_ok() {
                describe();
            }
            handle
        })
        .clone()
}

fn describe() {
    describe_gauge!("aizuchi_web_pages", Unit::Count, "pages connected to the web room");
    describe_counter!("aizuchi_web_messages_total", Unit::Count, "messages said by people in the web room");
    describe_counter!("aizuchi_web_posts_total", Unit::Count, "posts of the bot in the web room");
    describe_gauge!("aizuchi_spent_today", Unit::Count, "calls, tokens and millionths of a dollar of all rooms today");
    describe_gauge!("aizuchi_budget_per_day", Unit::Count, "the same that all rooms may spend in a day; 0 is no limit");
    describe_counter!("aizuchi_calls_refused_total", Unit::Count, "calls that the budget over all rooms did not allow");
    describe_counter!("aizuchi_web_refused_total", Unit::Count, "things pages asked for that were refused");
}
