//! Health checks and metrics of a process without a web room: `/live`, `/ready` and `/metrics` on an address of their own.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::console::{keep_up, ready_text};
use crate::ports::{Position, Stores};

/// How long the store may take to answer.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);

pub struct HealthChecks {
    pub stores: Stores,
    /// What an operator should know; empty if there is nothing.
    pub alert: watch::Receiver<String>,
    pub metrics: PrometheusHandle,
}

/// Runs until `stop`.
pub async fn serve_health(listener: TcpListener, checks: HealthChecks, stop: CancellationToken) {
    let checks = Arc::new(checks);
    let router = Router::new()
        .route("/live", get(|| async { "alive\n" }))
        .route("/ready", get(ready))
        .route("/metrics", get(measures))
        .with_state(checks.clone());
    let until = stop.clone();
    let serving = axum::serve(listener, router).with_graceful_shutdown(async move { until.cancelled().await });
    tokio::select! {
        served = serving => if let Err(error) = served {
            tracing::error!(%error, "health checks are not served any more");
        },
        () = keep_up(|| checks.metrics.run_upkeep(), &stop) => (),
    }
}

async fn ready(State(checks): State<Arc<HealthChecks>>) -> Response {
    let asked = async {
        checks.stores.files.check().await?;
        // Whether it could be written to last does not say that it answers now.
        checks.stores.journal.locate(Position::Last).await
    };
    match tokio::time::timeout(ANSWERS_WITHIN, asked).await {
        Ok(Ok(_)) => ready_text(&checks.alert.borrow()).into_response(),
        Ok(Err(_)) => {
            (StatusCode::SERVICE_UNAVAILABLE, "not ready: the store cannot be written; see the log\n").into_response()
        }
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "not ready: the store does not answer\n").into_response(),
    }
}

async fn measures(State(checks): State<Arc<HealthChecks>>) -> Response {
    checks.metrics.run_upkeep();
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], checks.metrics.render()).into_response()
}
