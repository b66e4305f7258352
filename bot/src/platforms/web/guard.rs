//! Access to the web room: from this machine, or with the token; and not from another site through somebody's browser.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{AppendHeaders, IntoResponse as _, Response};
use cookie::{Cookie, SameSite};
use secrecy::{ExposeSecret as _, SecretString};
use subtle::ConstantTimeEq as _;
use tokio::net::TcpListener;
use tracing::warn;

use super::access::{CurrentAccess, WebAccess};
use super::guesses::{TokenCheck, TokenGuesses};
use super::limits::ClientAddress;
use super::session;
use super::settings::WebSettings;

/// The addresses it may listen on. `Err` says what is wrong with the setting.
pub fn addresses(address: &str, token: Option<&SecretString>) -> Result<Vec<SocketAddr>, String> {
    let found: Vec<SocketAddr> = match address.to_socket_addrs() {
        Ok(found) => found.collect(),
        Err(error) => {
            return Err(format!(
                "`web.address` must be an address of this machine with a port, such as \"127.0.0.1:4860\", got \
                 {address:?} ({error})"
            ));
        }
    };
    if token.is_none() && !found.iter().all(|address| address.ip().is_loopback()) {
        return Err(format!(
            "`web.address` must be an address that only this machine can reach, such as \"127.0.0.1:4860\", as long as web.token is \
             not set (AIZUCHI__WEB__TOKEN=…), got {address:?}"
        ));
    }
    Ok(found)
}

/// Opens the port, if that is allowed.
pub async fn bind(address: &str, token: Option<&SecretString>) -> anyhow::Result<TcpListener> {
    let found = addresses(address, token).map_err(anyhow::Error::msg)?;
    TcpListener::bind(&found[..]).await.with_context(|| {
        format!(
            "cannot listen on {address} (setting web.address): stop the program that uses it, or choose another port \
             with --set web.address=127.0.0.1:4861 (port 0 picks a free one)"
        )
    })
}

/// What is checked before anything is served.
#[derive(Clone)]
pub struct Guard {
    access: CurrentAccess,
    bound: IpAddr,
    guesses: Arc<TokenGuesses>,
    trust_proxy: bool,
}

const COOKIE: &str = "aizuchi_session";
/// Contained the token itself in earlier versions; the response makes browsers that still have it delete it.
const OLD_COOKIE: &str = "aizuchi_token";

enum AccessDecision {
    In,
    /// The token was right: a session begins, and the token is removed from the URL.
    Welcome,
    Refused(&'static str),
    /// Too many wrong tokens.
    Wait(Duration),
}

impl Guard {
    pub fn new(settings: &WebSettings, bound: IpAddr, access: CurrentAccess) -> Guard {
        Guard { access, bound, guesses: Arc::default(), trust_proxy: settings.trust_proxy }
    }

    fn check(&self, access: &WebAccess, request: &Request, has_session: bool) -> AccessDecision {
        let (headers, path) = (request.headers(), request.uri().path());
        if (path == "/ws" || path.starts_with("/api/")) && !is_same_origin(headers) {
            return AccessDecision::Refused("unexpected Origin header");
        }
        let Some(token) = &access.token else {
            let ours = host(headers).is_some_and(|host| self.is_own(host));
            return if ours { AccessDecision::In } else { AccessDecision::Refused("unexpected Host header") };
        };
        if has_session {
            return AccessDecision::In;
        }
        const REFUSED: AccessDecision =
            AccessDecision::Refused("open /?token=… with the token of the setting web.token");
        if !shows_token(request) {
            return REFUSED;
        }
        let (in_header, in_link) = (bearer(headers), asked_token(request));
        let is_token = |given: Option<&str>| given.is_some_and(|given| constant_time_eq(given, token.expose_secret()));
        let is_right = || is_token(in_header) || is_token(in_link.as_deref());
        match self.guesses.guess(self.address(request), is_right) {
            TokenCheck::Right if path == "/" && !is_token(in_header) => AccessDecision::Welcome,
            TokenCheck::Right => AccessDecision::In,
            TokenCheck::Wrong => REFUSED,
            TokenCheck::Wait(wait) => AccessDecision::Wait(wait),
        }
    }

    fn address(&self, request: &Request) -> ClientAddress {
        let peer = request.extensions().get::<IpAddr>().expect("the server adds it to every request");
        ClientAddress::of(*peer, request.headers(), self.trust_proxy)
    }

    /// Without a token, a page of another site must not reach us under its own host name that resolves to this machine.
    fn is_own(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or(rest),
            None => host.split(':').next().unwrap_or(host),
        };
        let is_address = |address: IpAddr| address.is_loopback() || address == self.bound;
        name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(is_address)
    }
}

/// Runs before every page. `/live` is open, since it reveals nothing; so is `/ready`, without its reasons.
pub async fn guard_request(State(guard): State<Guard>, mut request: Request, next: Next) -> Response {
    if request.uri().path() == "/live" {
        return next.run(request).await;
    }
    let access = guard.access.get();
    let has_session = access.has_session(request.headers()).await;
    request.extensions_mut().insert(access.clone());
    match guard.check(&access, &request, has_session) {
        AccessDecision::Refused(_) if request.uri().path() == "/ready" && !shows_token(&request) => {
            let status = next.run(request).await.status();
            (status, if status.is_success() { "ready\n" } else { "not ready\n" }).into_response()
        }
        AccessDecision::In => next.run(request).await,
        AccessDecision::Refused(why) => (StatusCode::FORBIDDEN, format!("{why}\n")).into_response(),
        AccessDecision::Wait(wait) => wait_first(wait),
        AccessDecision::Welcome => access.welcome(request.headers()).await,
    }
}

fn shows_token(request: &Request) -> bool {
    bearer(request.headers()).is_some() || asked_token(request).is_some()
}

fn wait_first(wait: Duration) -> Response {
    let seconds = wait.as_secs() + 1;
    let why = format!("too many wrong tokens from your address; try again in {seconds} s\n");
    (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, seconds.to_string())], why).into_response()
}

impl WebAccess {
    /// Whether a browser has shown the token before.
    async fn has_session(&self, headers: &HeaderMap) -> bool {
        let Some(sessions) = &self.sessions else { return false };
        let ids: Vec<String> = cookies(headers, COOKIE).collect();
        for id in ids {
            if sessions.knows(&id).await {
                return true;
            }
        }
        false
    }

    async fn welcome(&self, headers: &HeaderMap) -> Response {
        let begun = match &self.sessions {
            Some(sessions) => sessions.begin().await,
            None => return StatusCode::FORBIDDEN.into_response(),
        };
        let id = match begun {
            Ok(id) => id,
            Err(error) => {
                warn!(%error, "cannot store a web session");
                let why = "the store cannot be written; see the log\n";
                return (StatusCode::SERVICE_UNAVAILABLE, why).into_response();
            }
        };
        // Only the sender of this header is affected by it, so it can be trusted.
        let https = headers.get("x-forwarded-proto").is_some_and(|scheme| scheme.as_bytes() == b"https");
        let cookie = Cookie::build((COOKIE, id))
            .path("/")
            .http_only(true)
            .same_site(SameSite::Strict)
            .secure(https)
            .max_age(cookie::time::Duration::seconds(session::KEPT_FOR.whole_seconds() as i64));
        let old = || Cookie::build(OLD_COOKIE).path("/").removal();
        let old = cookies(headers, OLD_COOKIE).next().map(|_| old());
        let set = std::iter::once(cookie).chain(old).map(|cookie| (header::SET_COOKIE, cookie.to_string()));
        let set: Vec<_> = set.collect();
        (StatusCode::SEE_OTHER, AppendHeaders(set), [(header::LOCATION, "/")]).into_response()
    }
}

/// Browsers always send the origin of a web socket; other programs need not.
fn is_same_origin(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    let origin = origin.to_str().unwrap_or_default();
    let from = origin.split_once("://").map(|(_, from)| from);
    from.is_some_and(|from| host(headers).is_some_and(|host| host.eq_ignore_ascii_case(from)))
}

fn host(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::HOST)?.to_str().ok()
}

/// The values of a cookie; a browser may send several with the same name.
fn cookies<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = String> {
    let lines = headers.get_all(header::COOKIE).into_iter().filter_map(|line| line.to_str().ok());
    let cookies = lines.flat_map(Cookie::split_parse).flatten();
    cookies.filter(move |cookie| cookie.name() == name).map(|cookie| cookie.value().to_owned())
}

/// The token as programs send it.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
}

fn asked_token(request: &Request) -> Option<String> {
    let given: axum::extract::Query<Vec<(String, String)>> = axum::extract::Query::try_from_uri(request.uri()).ok()?;
    given.0.into_iter().find(|(name, _)| name == "token").map(|(_, token)| token)
}

/// Takes the same time for a wrong guess as for a nearly right one.
fn constant_time_eq(given: &str, wanted: &str) -> bool {
    given.as_bytes().ct_eq(wanted.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use tokio_util::sync::CancellationToken;

    use super::*;

    #[test]
    fn a_token_is_the_same_or_not() {
        assert!(constant_time_eq("secret", "secret"));
        for wrong in ["", "secre", "secrets", "Secret", "secre\0"] {
            assert!(!constant_time_eq(wrong, "secret"), "{wrong}");
        }
    }

    #[test]
    fn only_names_of_this_machine() {
        let settings = crate::config::new_layers().section().unwrap();
        let access = WebAccess { token: None, sessions: None, over: CancellationToken::new() };
        let access = CurrentAccess::new(access, CancellationToken::new());
        let guard = Guard::new(&settings, "127.0.0.1".parse().unwrap(), access);
        for own in ["localhost", "LOCALHOST:4860", "127.0.0.1:4860", "[::1]:4860", "127.0.0.2"] {
            assert!(guard.is_own(own), "{own}");
        }
        for other in ["example.org", "localhost.example.org", "127.0.0.1.example.org", "", "[::2]", "10.0.0.1"] {
            assert!(!guard.is_own(other), "{other}");
        }
    }

    #[tokio::test]
    async fn the_door_opens_only_where_it_may() {
        let refused = bind("0.0.0.0:0", None).await.unwrap_err().to_string();
        assert!(refused.contains("web.token"), "{refused}");
        assert!(bind("0.0.0.0:0", Some(&"secret".into())).await.is_ok());
        let first = bind("127.0.0.1:0", None).await.unwrap();
        let taken = bind(&first.local_addr().unwrap().to_string(), None).await.unwrap_err();
        assert!(taken.to_string().contains("web.address"), "{taken}");
        let odd = bind("nowhere", None).await.unwrap_err().to_string();
        assert!(odd.contains("web.address"), "{odd}");
    }
}
