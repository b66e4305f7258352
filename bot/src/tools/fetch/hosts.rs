//! Which URLs may be read: the hosts that the settings name, and nothing that only looks like one.

use std::net::IpAddr;

use url::{Host, Url};

use super::address::{AddressRule, is_public};

const WEB_PORTS: [u16; 2] = [443, 80];
/// How many patterns an error lists.
const PATTERNS_SHOWN: usize = 20;

/// A host of the settings: `example.org`, `*.example.org`, `*`, each with or without a port.
#[derive(Clone, Debug, PartialEq)]
pub struct HostPattern {
    text: String,
    host: HostMatch,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq)]
enum HostMatch {
    Any,
    /// The subdomains of this domain.
    Below(String),
    Exactly(Host<String>),
}

impl HostPattern {
    /// `Err` says what is allowed.
    pub fn parse(text: &str) -> Result<HostPattern, String> {
        let wrong = || format!("{text:?} is not a host such as \"example.org\", \"*.example.org\" or \"*\"");
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) if !text.ends_with(']') => {
                (name, Some(port.parse::<u16>().ok().filter(|port| *port > 0).ok_or_else(wrong)?))
            }
            _ => (text, None),
        };
        let host = match name.strip_prefix("*.") {
            _ if name == "*" => HostMatch::Any,
            Some(domain) => match parse_host(domain).ok_or_else(wrong)? {
                Host::Domain(domain) => HostMatch::Below(domain),
                Host::Ipv4(_) | Host::Ipv6(_) => return Err(wrong()),
            },
            None => HostMatch::Exactly(parse_host(name).ok_or_else(wrong)?),
        };
        let pattern = HostPattern { text: text.to_owned(), host, port };
        match pattern.address() {
            Some(address) if !is_public(address) && port.is_none() => {
                Err(format!("{text:?} is not public, so it needs its port, such as \"{text}:8123\""))
            }
            _ => Ok(pattern),
        }
    }

    fn address(&self) -> Option<IpAddr> {
        match &self.host {
            HostMatch::Exactly(host) => address(host),
            HostMatch::Any | HostMatch::Below(_) => None,
        }
    }

    fn matches_host(&self, host: &Host<String>) -> bool {
        match (&self.host, host) {
            (HostMatch::Any, _) => true,
            (HostMatch::Below(domain), Host::Domain(name)) => {
                name.strip_suffix(domain.as_str()).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
            (HostMatch::Below(_), Host::Ipv4(_) | Host::Ipv6(_)) => false,
            (HostMatch::Exactly(known), host) => known == host,
        }
    }

    fn matches_port(&self, port: u16) -> bool {
        self.port.map_or(WEB_PORTS.contains(&port), |known| known == port)
    }

    /// Whether the settings name this exact address with this port, which allows it even if it is not public.
    fn names(&self, named: IpAddr, port: u16) -> bool {
        self.address() == Some(named) && self.port == Some(port)
    }
}

/// Without the trailing dot of a fully qualified name.
fn parse_host(text: &str) -> Option<Host<String>> {
    let host = Host::parse(text).ok()?;
    let Host::Domain(name) = host else { return Some(host) };
    let name = name.strip_suffix('.').unwrap_or(&name).to_owned();
    let is_sound = !name.is_empty() && name.split('.').all(|label| !label.is_empty() && !label.contains('*'));
    is_sound.then_some(Host::Domain(name))
}

fn address(host: &Host<String>) -> Option<IpAddr> {
    match host {
        Host::Ipv4(address) => Some((*address).into()),
        Host::Ipv6(address) => Some((*address).into()),
        Host::Domain(_) => None,
    }
}

/// What the settings allow.
pub struct AllowedUrls {
    patterns: Vec<HostPattern>,
    allow_http: bool,
    rule: AddressRule,
}

impl AllowedUrls {
    pub fn new(patterns: Vec<HostPattern>, allow_http: bool, rule: AddressRule) -> AllowedUrls {
        AllowedUrls { patterns, allow_http, rule }
    }

    /// As written in the settings.
    pub fn list(&self) -> String {
        let shown: Vec<&str> = self.patterns.iter().take(PATTERNS_SHOWN).map(|pattern| pattern.text.as_str()).collect();
        let further = if self.patterns.len() > PATTERNS_SHOWN { ", …" } else { "" };
        format!("{}{further}", shown.join(", "))
    }

    /// Whether this may be read, for a model or, with `redirected_by`, after a redirect. `Err` says what is allowed.
    pub fn check(&self, url: &Url, redirected_by: Option<&Url>) -> Result<(), String> {
        match url.scheme() {
            "https" => {}
            "http" if self.allow_http => {}
            "http" => return Err("http:// is not allowed here; use https://".into()),
            _ => return Err("only web pages can be read; the URL must begin with https://".into()),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("the URL must not hold a user name or password".into());
        }
        let host = host_of(url).ok_or("the URL needs a host, such as https://example.org/")?;
        let port = url.port_or_known_default().unwrap_or_default();
        let mut matching = self.patterns.iter().filter(|pattern| pattern.matches_host(&host)).peekable();
        if matching.peek().is_none() {
            return Err(format!("{host} is not among tools.fetch.hosts; allowed: {}", self.list()));
        }
        if !matching.any(|pattern| pattern.matches_port(port)) {
            return Err(format!("port {port} of {host} is not allowed; leave the port out of the URL"));
        }
        self.check_address(&host, port, redirected_by)
    }

    /// An IP address instead of a name: nothing is resolved for it, so it is checked here.
    fn check_address(&self, host: &Host<String>, port: u16, redirected_by: Option<&Url>) -> Result<(), String> {
        let Some(address) = address(host).filter(|address| !(self.rule)(*address)) else { return Ok(()) };
        let from_itself =
            |from: &Url| host_of(from).as_ref() == Some(host) && from.port_or_known_default() == Some(port);
        let is_named = self.patterns.iter().any(|pattern| pattern.names(address, port));
        if is_named && redirected_by.is_none_or(from_itself) {
            return Ok(());
        }
        Err(format!("{host} is not a public address; only pages of the public internet can be read"))
    }
}

fn host_of(url: &Url) -> Option<Host<String>> {
    match url.host()? {
        Host::Domain(name) => Some(Host::Domain(name.strip_suffix('.').unwrap_or(name).to_owned())),
        Host::Ipv4(address) => Some(Host::Ipv4(address)),
        Host::Ipv6(address) => Some(Host::Ipv6(address)),
    }
}
