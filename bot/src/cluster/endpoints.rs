//! Several addresses of one service: a request goes to the one that answered last, and on to the next when that does not answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use reqwest::{Client, RequestBuilder, StatusCode};

use super::ingress::RestateError;
use super::settings::urls_in;

/// How long an answer may take. A server that has stopped without closing its connections is noticed by it.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);
/// The same where another address can be asked instead, for what is answered within milliseconds.
const ACCEPTS_WITHIN: Duration = Duration::from_secs(3);

/// Cheap to clone; all clones know which address answers.
#[derive(Clone)]
pub struct Endpoints {
    http: Client,
    urls: Arc<[String]>,
    /// Index of the address that answered last.
    current: Arc<AtomicUsize>,
}

impl Endpoints {
    /// `urls` is one URL, or several with commas between them.
    pub fn new(http: Client, urls: &str) -> Endpoints {
        Endpoints { http, urls: urls_in(urls).map(str::to_owned).collect(), current: Arc::default() }
    }

    /// Asks one address after the other, each once. `request` is given the URL that goes first; it may be sent more than once.
    pub async fn ask(&self, request: impl Fn(&Client, &str) -> RequestBuilder) -> Result<Vec<u8>, RestateError> {
        self.ask_within(ANSWERS_WITHIN, request).await
    }

    /// The same for what is answered as soon as it is durable.
    pub async fn hand_over(&self, request: impl Fn(&Client, &str) -> RequestBuilder) -> Result<Vec<u8>, RestateError> {
        let within = if self.urls.len() > 1 { ACCEPTS_WITHIN } else { ANSWERS_WITHIN };
        self.ask_within(within, request).await
    }

    /// Whether each of them answers a request for this path.
    pub async fn check_each(&self, path: &str) -> Vec<(String, Result<(), RestateError>)> {
        let check = async |url: &String| {
            let request = self.http.get(format!("{url}{path}")).timeout(ACCEPTS_WITHIN);
            (without_login(url), answer(request).await.map(drop))
        };
        futures_util::future::join_all(self.urls.iter().map(check)).await
    }

    async fn ask_within(
        &self,
        within: Duration,
        request: impl Fn(&Client, &str) -> RequestBuilder,
    ) -> Result<Vec<u8>, RestateError> {
        let mut failed = RestateError::Unavailable("no address is set".into());
        for _ in 0..self.urls.len() {
            let index = self.current.load(Ordering::Relaxed);
            match answer(request(&self.http, &self.urls[index]).timeout(within)).await {
                Err(error @ RestateError::Unavailable(_)) => failed = error,
                answered => return answered,
            }
            // Another call that failed at the same time may have moved on to the next one already.
            let next = (index + 1) % self.urls.len();
            let _ = self.current.compare_exchange(index, next, Ordering::Relaxed, Ordering::Relaxed);
        }
        Err(failed)
    }
}

/// A URL as it may be shown: name and password are nobody's business.
pub fn without_login(url: &str) -> String {
    let Ok(mut parsed) = url::Url::parse(url) else { return String::new() };
    if parsed.username().is_empty() && parsed.password().is_none() {
        return url.to_owned();
    }
    let _ = parsed.set_username("").and_then(|()| parsed.set_password(None));
    parsed.as_str().trim_end_matches('/').to_owned()
}

/// A text of others as it may be shown: addresses in it without name and password.
pub fn without_logins(text: &str) -> String {
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once("://") {
        shown.push_str(before);
        shown.push_str("://");
        let end = after.find(|letter: char| letter.is_whitespace() || "/?#\"\\<>".contains(letter));
        let login = after[..end.unwrap_or(after.len())].rfind('@');
        rest = login.map_or(after, |at| &after[at + 1..]);
    }
    shown + rest
}

/// Whether something answers there that is not only there for others.
pub async fn answers(request: RequestBuilder) -> Result<(), RestateError> {
    let response = request.send().await.map_err(|error| RestateError::Unavailable(cause(&error)))?;
    match response.status() {
        status if status.is_server_error() => Err(RestateError::Unavailable(status.to_string())),
        _ => Ok(()),
    }
}

/// Why there was no answer, without the address.
fn cause(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "it takes too long".into();
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

async fn answer(request: RequestBuilder) -> Result<Vec<u8>, RestateError> {
    let gone = |error: reqwest::Error| RestateError::Unavailable(cause(&error.without_url()));
    let response = request.send().await.map_err(gone)?;
    let status = response.status();
    let body = response.bytes().await.map_err(gone)?;
    if status.is_success() {
        return Ok(body.to_vec());
    }
    // It may repeat the address of a worker.
    let told = format!("{status}: {}", without_logins(&String::from_utf8_lossy(&body)));
    let passes = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::NOT_FOUND;
    Err(if passes { RestateError::Unavailable(told) } else { RestateError::Refused(told) })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;
    use crate::tls::client_builder;

    /// Answers every request with this status, or never; counts them.
    async fn server(status: Option<&'static str>) -> (String, Arc<AtomicU64>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let (url, asked) =
            (format!("http://{}", listener.local_addr().expect("it is bound")), Arc::<AtomicU64>::default());
        let count = asked.clone();
        tokio::spawn(async move {
            let mut open = Vec::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                let _ = stream.read(&mut [0; 1024]).await;
                count.fetch_add(1, Ordering::Relaxed);
                if let Some(status) = status {
                    let head = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok");
                    let _ = stream.write_all(head.as_bytes()).await;
                }
                open.push(stream);
            }
        });
        (url, asked)
    }

    async fn ask(endpoints: &Endpoints) -> Result<Vec<u8>, RestateError> {
        endpoints.ask_within(Duration::from_secs(3), |http, url| http.get(url)).await
    }

    #[tokio::test]
    async fn the_next_address_is_asked_when_one_does_not_answer_and_from_then_on_first() {
        let (silent, never) = server(None).await;
        let (broken, failing) = server(Some("503 Service Unavailable")).await;
        let (sound, answering) = server(Some("200 OK")).await;
        let closed = aizuchi_test_servers::ports::free_address();
        let urls = format!("http://{closed}, {silent},{broken}/ ,{sound}");
        let endpoints = Endpoints::new(client_builder().no_proxy().build().expect("a client"), &urls);
        for times in 1..=3 {
            assert_eq!(ask(&endpoints).await, Ok(b"ok".to_vec()));
            let count = |asked: &AtomicU64| asked.load(Ordering::Relaxed);
            assert_eq!((count(&never), count(&failing), count(&answering)), (1, 1, times));
        }
    }

    #[test]
    fn what_is_shown_of_an_address_has_no_password() {
        for (url, shown) in [
            ("http://10.0.0.1:8080", "http://10.0.0.1:8080"),
            ("https://me:secret@restate.example.org/x", "https://restate.example.org/x"),
            ("https://token@restate.example.org", "https://restate.example.org"),
            ("secret", ""),
        ] {
            assert_eq!(without_login(url), shown);
        }
    }

    #[test]
    fn what_others_say_of_addresses_has_no_password() {
        for (text, shown) in [
            ("503: no address here", "503: no address here"),
            (
                "error when calling 'http://u:WPW@127.0.0.1:29199/': refused",
                "error when calling 'http://127.0.0.1:29199/': refused",
            ),
            (
                r#"{"message":"http://me:a'b@[::1]:9080 and https://token@db"}"#,
                r#"{"message":"http://[::1]:9080 and https://db"}"#,
            ),
            ("http://a/x@y, http://u:p@w@b", "http://a/x@y, http://b"),
            ("mail me@example.org ://", "mail me@example.org ://"),
        ] {
            assert_eq!(without_logins(text), shown);
        }
    }

    #[tokio::test]
    async fn a_refusal_is_final_and_nobody_left_is_an_error() {
        let (refusing, _) = server(Some("400 Bad Request")).await;
        let (sound, answering) = server(Some("200 OK")).await;
        let client = || client_builder().no_proxy().build().expect("a client");
        let refused = ask(&Endpoints::new(client(), &format!("{refusing},{sound}"))).await;
        assert!(matches!(refused, Err(RestateError::Refused(_))), "{refused:?}");
        assert_eq!(answering.load(Ordering::Relaxed), 0);
        let (broken, failing) = server(Some("500 Oh")).await;
        let failed = ask(&Endpoints::new(client(), &format!("{broken},{broken}"))).await;
        assert!(matches!(failed, Err(RestateError::Unavailable(_))), "{failed:?}");
        assert_eq!(failing.load(Ordering::Relaxed), 2, "each is asked once");
    }
}
