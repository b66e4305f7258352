//! Serves Restate: connections without delay, and rooms and calls behind them.

use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::graceful::GracefulShutdown;
use restate_sdk::endpoint::Endpoint;
use restate_sdk::hyper::HyperEndpoint;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::calls::Calls;
use super::context::ClusterContext;
use super::room::RoomObject;

/// How long what is running may take to end; Restate has another worker, or this one later, do the rest.
const ENDS_WITHIN: Duration = Duration::from_secs(10);
/// How long to wait where no connection can be taken, such as when there are too many open files.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// Runs until `stop`.
pub async fn serve(listener: TcpListener, context: Arc<ClusterContext>, stop: CancellationToken) {
    let endpoint = Endpoint::builder().bind(RoomObject { context: context.clone() }).bind(Calls { context }).build();
    let (endpoint, open) = (HyperEndpoint::new(endpoint), GracefulShutdown::new());
    loop {
        let stream = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection of Restate");
                    tokio::time::sleep(ACCEPT_AGAIN).await;
                    continue;
                }
            },
        };
        // Small frames go back and forth: each must leave at once.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot turn off the delay of a connection");
        }
        let connection =
            http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), endpoint.clone());
        let connection = open.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection of Restate ended");
            }
        });
    }
    if tokio::time::timeout(ENDS_WITHIN, open.shutdown()).await.is_err() {
        tracing::warn!("stopping with unfinished work; another worker continues it");
    }
}
