//! The web server: pages, the web socket, and health checks for a supervisor.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use aizuchi_core::types::Span;
use anyhow::Context as _;
use axum::extract::{State, WebSocketUpgrade};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, broadcast, watch as latest};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{info, warn};

use super::access::{CurrentAccess, WebAccess};
use super::guard::{self, Guard};
use super::limits::{ClientAddress, WebLimits};
use super::plain_connections::PlainConnections;
use super::platform::Web;
use super::words::PageError;
use super::{assets, memory, rooms, sample, socket, watch};
use crate::console::{keep_up, ready_text};
use crate::journal::Traces;
use crate::keeper::Keeper;
use crate::language::Language;
use crate::ports::{Commands, Platform};
use crate::runtime::{EngineEvent, EngineHandle};
use crate::stores::wait_until_available;

/// A request must be complete within this time, or the connection is closed: nobody occupies a slot by sending slowly.
const HEADERS_WITHIN: Duration = Duration::from_secs(5);
/// And no connection that is not a web socket lasts longer.
const CONNECTION_LIFE: Duration = Duration::from_secs(120);
/// How long requests in progress may take at shutdown.
const ENDS_WITHIN: Duration = Duration::from_secs(5);
/// Connections besides the web sockets: pages being loaded, and monitoring requests.
const OTHERS_MAX: usize = 256;
const REQUEST_BYTES_MAX: usize = 32 * 1024;
const READ_BYTES: usize = 16 * 1024;

const SAMPLES_KEPT: Span = Span::minutes(24 * 60);
const PEOPLE_KEPT: Span = Span::minutes(90 * 24 * 60);

/// Why a single process is not ready when its journal is not.
pub const STORE_FAILS: &str = "the store cannot be written; see the log";

/// What the web room needs to be open.
pub struct WebServices {
    pub engine: EngineHandle,
    pub traces: Traces,
    pub commands: Arc<dyn Commands>,
    /// Long-term memory, if it is enabled.
    pub keeper: Option<Arc<Keeper>>,
    pub events: broadcast::Receiver<EngineEvent>,
    pub metrics: PrometheusHandle,
    /// Whether what people say can be taken.
    pub ready: latest::Receiver<bool>,
    /// Why not, where it cannot.
    pub not_ready: &'static str,
    /// What an operator should know although it is ready; empty if there is nothing.
    pub alert: latest::Receiver<String>,
    /// The other platforms it has joined.
    pub beside: Vec<Arc<dyn Platform>>,
    pub stop: CancellationToken,
}

/// What every page needs.
pub struct WebContext {
    pub web: Arc<Web>,
    pub engine: EngineHandle,
    pub traces: Traces,
    pub commands: Arc<dyn Commands>,
    pub keeper: Option<Arc<Keeper>>,
    pub samples: Arc<Semaphore>,
    pub limits: Arc<WebLimits>,
    pub tasks: TaskTracker,
    pub stop: CancellationToken,
    seats: Arc<Semaphore>,
    metrics: PrometheusHandle,
    ready: latest::Receiver<bool>,
    not_ready: &'static str,
    alert: latest::Receiver<String>,
    beside: Vec<Arc<dyn Platform>>,
}

impl Web {
    /// Opens the port and serves until `stop`. The task ends when every page is disconnected.
    pub async fn listen(self: &Arc<Web>, with: WebServices) -> anyhow::Result<(SocketAddr, JoinHandle<()>)> {
        let WebServices { engine, traces, commands, keeper, events, metrics, ready, not_ready, alert, beside, stop } =
            with;
        let listener = guard::bind(&self.settings.address, self.settings.token()).await?;
        let address = listener.local_addr().context("a bound port has an address")?;
        wait_until_available(async || self.open_rooms().await).await?;
        let now = self.clock.now();
        let sweep = async || rooms::sweep(now - SAMPLES_KEPT, now - PEOPLE_KEPT).make(&*self.stores.web).await;
        wait_until_available(sweep).await?;
        let since = self.last_seq().await?;
        let access = wait_until_available(async || self.open_access(self.settings.token(), &stop).await).await?;
        let access = self.access.get_or_init(|| CurrentAccess::new(access, stop.clone())).clone();
        let guard = Guard::new(&self.settings, address.ip(), access);
        let context = Arc::new(WebContext {
            web: self.clone(),
            engine,
            traces,
            commands,
            keeper,
            samples: Arc::new(Semaphore::new(sample::AT_ONCE_MAX)),
            limits: WebLimits::new(&self.settings),
            tasks: TaskTracker::new(),
            stop,
            seats: Arc::new(Semaphore::new(self.settings.connections_max as usize)),
            metrics,
            ready,
            not_ready,
            alert,
            beside,
        });
        spawn("the web room", &context, |context| async move {
            context.web.hub.publish_changes(&*context.web.stores.web, since, &context.stop).await;
        });
        spawn("the web room's backlog", &context, |context| async move {
            context.web.backlog.deliver(&*context.web.stores.inbox, &context.engine, now, &context.stop).await;
        });
        spawn("the web room's view of decisions", &context, |context| watch::show_events(context, events));
        spawn("the metrics", &context, |context| async move {
            keep_up(|| context.metrics.run_upkeep(), &context.stop).await;
        });
        info!(%address, "web room listening");
        Ok((address, tokio::spawn(accept(listener, context, guard))))
    }
}

fn spawn<F: Future<Output = ()> + Send + 'static>(
    name: &'static str,
    context: &Arc<WebContext>,
    task: impl FnOnce(Arc<WebContext>) -> F,
) {
    context.tasks.spawn(context.engine.clone().supervise(name, context.stop.clone(), task(context.clone())));
}

async fn accept(listener: TcpListener, context: Arc<WebContext>, guard: Guard) {
    let router = router(&context, guard);
    let connections = PlainConnections::new(context.web.settings.connections_max as usize + OTHERS_MAX);
    loop {
        let stream = tokio::select! {
            stream = listener.accept() => stream,
            () = context.stop.cancelled() => break,
        };
        match stream {
            Ok((stream, peer)) => {
                let (router, stop) = (router.clone().layer(Extension(peer.ip())), context.stop.clone());
                let counted = connections.add(ClientAddress::new(peer.ip()));
                context.tasks.spawn(async move {
                    counted.closed.run_until_cancelled(serve(stream, router, stop)).await;
                });
            }
            // Most likely no file descriptors are left: other connections need a moment to close.
            Err(error) => {
                warn!(%error, "cannot accept a connection");
                sleep(Duration::from_millis(100)).await;
            }
        }
    }
    drop(listener);
    context.tasks.close();
    if timeout(ENDS_WITHIN, context.tasks.wait()).await.is_err() {
        warn!(left = context.tasks.len(), "dropped connections that did not close");
    }
}

async fn serve(stream: TcpStream, router: Router, stop: CancellationToken) {
    // Frames are small and should be seen at once.
    let _ = stream.set_nodelay(true);
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEADERS_WITHIN).max_buf_size(REQUEST_BYTES_MAX);
    let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router)).with_upgrades();
    tokio::pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => return,
        () = sleep(CONNECTION_LIFE) => (),
        () = stop.cancelled() => (),
    }
    connection.as_mut().graceful_shutdown();
    let _ = timeout(ENDS_WITHIN, connection).await;
}

fn router(context: &Arc<WebContext>, guard: Guard) -> Router {
    Router::new()
        .route("/", get(assets::index))
        .route("/{*name}", get(assets::asset))
        .route("/locales.json", get(assets::languages))
        .route("/locales/{name}", get(assets::messages))
        .route("/ws", get(enter))
        .route("/api/memory/{room}", get(memory::room))
        .route("/api/memory/{room}/facts/{fact}", post(memory::change))
        .route("/live", get(|| async { "alive\n" }))
        .route("/ready", get(ready))
        .route("/metrics", get(measures))
        .layer(from_fn_with_state(guard, guard::guard_request))
        .layer(map_response(protect))
        .with_state(context.clone())
}

async fn enter(
    State(context): State<Arc<WebContext>>,
    Extension(peer): Extension<IpAddr>,
    Extension(access): Extension<Arc<WebAccess>>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    let accepted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    let language = Language::accepted(accepted.unwrap_or_default());
    let address = ClientAddress::of(peer, &headers, context.web.settings.trust_proxy);
    let tasks = context.tasks.clone();
    let Some(counted) = context.limits.connect(address) else {
        // A browser does not tell its page why a connection was refused, so the page gets a frame that says so.
        return upgrade.on_upgrade(move |socket| {
            tasks.track_future(socket::turn_away(socket, PageError::TooManyConnections, language))
        });
    };
    let Ok(seat) = context.seats.clone().try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "the room is full (setting web.connections_max)\n").into_response();
    };
    let bytes_max = socket::frame_bytes_max(context.web.settings.message_chars_max);
    let upgrade = upgrade.max_message_size(bytes_max).max_frame_size(bytes_max).read_buffer_size(READ_BYTES);
    upgrade.on_upgrade(move |socket| {
        tasks.track_future(async move {
            socket::serve(socket, context, language, address, &access.over).await;
            drop((seat, counted));
        })
    })
}

async fn ready(State(context): State<Arc<WebContext>>) -> Response {
    let store =
        timeout(ENDS_WITHIN, async { (context.web.stores.files.check().await, context.web.last_seq().await) }).await;
    let why = match (*context.ready.borrow(), store) {
        (true, Ok((Ok(()), Ok(_)))) => {
            let stopped: Vec<String> = context.beside.iter().filter_map(|platform| platform.stopped()).collect();
            return match stopped.is_empty() {
                true => ready_text(&context.alert.borrow()).into_response(),
                false => {
                    (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {}\n", stopped.join("; "))).into_response()
                }
            };
        }
        (false, _) => context.not_ready,
        (true, Ok((Err(_), _))) => STORE_FAILS,
        (true, _) => "the store does not answer",
    };
    (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {why}\n")).into_response()
}

async fn measures(State(context): State<Arc<WebContext>>) -> Response {
    context.metrics.run_upkeep();
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], context.metrics.render()).into_response()
}

/// Headers that forbid browsers unsafe uses of our pages.
async fn protect(mut response: Response) -> Response {
    const HEADERS: [(&str, &str); 4] = [
        ("content-security-policy", "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("x-frame-options", "DENY"),
    ];
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
