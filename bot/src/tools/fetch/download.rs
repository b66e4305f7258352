//! Downloads a URL, within the limits of the settings.

use std::error::Error as _;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use reqwest::{Client, Response, StatusCode, redirect};
use url::Url;

use super::address::{CheckedDns, Network, NotPublic};
use super::hosts::{AllowedUrls, HostPattern};
use super::page::ContentKind;
use super::settings::FetchSettings;
use crate::tls;

const ACCEPTED: &str = "text/html, application/xhtml+xml, text/plain, application/json, application/xml;q=0.9";
pub const USER_AGENT: &str = concat!("aizuchi/", env!("CARGO_PKG_VERSION"));

pub struct Downloader {
    client: Client,
    allowed: AllowedUrls,
    settings: FetchSettings,
}

/// The result, after all redirects.
pub struct Download {
    pub url: Url,
    pub kind: ContentKind,
    /// As the server named it.
    pub charset: Option<String>,
    pub body: BodyBytes,
}

pub struct BodyBytes {
    pub bytes: Vec<u8>,
    /// Whether there was more than may be read.
    pub is_cut: bool,
}

impl Downloader {
    /// `None` if the settings name no host, or if TLS is not available.
    pub fn new(settings: FetchSettings, network: Network) -> Option<Downloader> {
        let patterns: Vec<HostPattern> =
            settings.hosts.iter().filter_map(|host| HostPattern::parse(host).ok()).collect();
        if patterns.is_empty() {
            return None;
        }
        let allowed = AllowedUrls::new(patterns, settings.allow_http, network.rule);
        // Redirects are followed here, so that each is checked; a proxy would connect to addresses that nobody checks.
        let client = tls::client_builder()
            .redirect(redirect::Policy::none())
            .referer(false)
            .no_proxy()
            .dns_resolver(CheckedDns(network))
            .user_agent(USER_AGENT)
            .build()
            .inspect_err(|error| tracing::error!(%error, "reading pages is unavailable: cannot build an HTTP client"))
            .ok()?;
        Some(Downloader { client, allowed, settings })
    }

    pub fn allowed(&self) -> &AllowedUrls {
        &self.allowed
    }

    pub async fn download(&self, url: Url) -> Result<Download, String> {
        let seconds = self.settings.seconds_max;
        let host = url.host_str().unwrap_or_default().to_owned();
        let downloading = self.follow_redirects(url);
        match tokio::time::timeout(Duration::from_secs(seconds.into()), downloading).await {
            Ok(result) => result,
            Err(_) => Err(format!("{host} did not send the page within {seconds} s")),
        }
    }

    async fn follow_redirects(&self, mut url: Url) -> Result<Download, String> {
        let mut redirected_by: Option<Url> = None;
        for _ in 0..=self.settings.redirects_max {
            url.set_fragment(None);
            self.allowed.check(&url, redirected_by.as_ref()).map_err(|problem| match &redirected_by {
                Some(from) => format!("{} redirects elsewhere: {problem}", host_name(from)),
                None => problem,
            })?;
            let request = self.client.get(url.clone()).header(ACCEPT, ACCEPTED);
            let response = request.send().await.map_err(|error| connection_problem(&url, &error))?;
            match next_url(&url, &response)? {
                Some(next) => redirected_by = Some(std::mem::replace(&mut url, next)),
                None => return self.receive(url, response).await,
            }
        }
        Err(format!("{} redirects more than {} times", host_name(&url), self.settings.redirects_max))
    }

    async fn receive(&self, url: Url, response: Response) -> Result<Download, String> {
        let (host, status) = (host_name(&url), response.status());
        if status != StatusCode::OK {
            return Err(format!("{host} answered {status}"));
        }
        // If the client could decode it, it has done so and removed the header.
        if response.headers().get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
            return Err(format!("{host} sent a compressed page that cannot be read"));
        }
        let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let (kind, charset) = ContentKind::parse(content_type.unwrap_or_default())
            .ok_or_else(|| format!("{host} sent something else than HTML, plain text, JSON or XML"))?;
        let body = read_body(response, self.settings.bytes_max as usize).await;
        let body = body.map_err(|_| format!("the connection to {host} ended before the page did"))?;
        Ok(Download { url, kind, charset, body })
    }
}

/// The target of a redirect, if the response is one.
fn next_url(url: &Url, response: &Response) -> Result<Option<Url>, String> {
    let is_redirect = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let Some(location) = response.headers().get(LOCATION).filter(|_| is_redirect) else { return Ok(None) };
    let next = std::str::from_utf8(location.as_bytes()).ok().and_then(|location| url.join(location).ok());
    next.map(Some).ok_or_else(|| format!("{} redirects to something that is not a URL", host_name(url)))
}

/// Reads at most this many bytes, counted after decompression.
pub async fn read_body(mut response: Response, bytes_max: usize) -> reqwest::Result<BodyBytes> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        let space = bytes_max - bytes.len();
        bytes.extend_from_slice(&chunk[..chunk.len().min(space)]);
        if chunk.len() > space {
            return Ok(BodyBytes { bytes, is_cut: true });
        }
    }
    Ok(BodyBytes { bytes, is_cut: false })
}

/// Contains nothing that somebody outside wrote, since errors are not marked as outside content.
fn connection_problem(url: &Url, error: &reqwest::Error) -> String {
    let mut cause = error.source();
    while let Some(inner) = cause {
        if inner.is::<NotPublic>() {
            return format!("{}: {NotPublic}; only pages of the public internet can be read", host_name(url));
        }
        cause = inner.source();
    }
    let what = if error.is_connect() { "cannot be reached" } else { "does not answer as a web server should" };
    format!("{} {what}", host_name(url))
}

fn host_name(url: &Url) -> &str {
    url.host_str().unwrap_or_default()
}
