//! Which database, and how it is reached.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::ConfigVerifierExt as _;
use secrecy::{ExposeSecret as _, SecretString};
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;
use url::form_urlencoded;

use super::error::{PgError, PgResult};
use crate::ports::BoxFuture;
use crate::stores::StoreError;
use crate::tls;

/// Where the password is looked for, the first first.
pub const PASSWORD_VARIABLES: [&str; 2] = ["AIZUCHI_STORE_PASSWORD", "PGPASSWORD"];
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// What is sent and not acknowledged for so long was lost with the connection.
const UNACKNOWLEDGED_FOR: Duration = Duration::from_secs(30);
const KEEPALIVE_AFTER: Duration = Duration::from_secs(15);

/// One server, or several of which one can be written to and the others are its standbys. Cheap to clone.
#[derive(Clone)]
pub struct PgTarget {
    servers: Arc<[Config]>,
    tls: MakeRustlsConnect,
    shown: Arc<str>,
}

type Driver = BoxFuture<'static, ()>;
type RawConnection = Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

#[cfg(feature = "cluster")]
pub type NotificationReceiver = tokio::sync::mpsc::UnboundedReceiver<tokio_postgres::Notification>;

impl PgTarget {
    /// Reads a URL such as `postgres://aizuchi@db.example.org/aizuchi?sslmode=require`. `Err` says what is wrong with it, without
    /// its password.
    pub fn new(url: &SecretString, variable: &dyn Fn(&str) -> Option<String>) -> Result<PgTarget, String> {
        let PgUrl { scheme, authority, path, query } = PgUrl::parse(url.expose_secret())?;
        let TlsOptions { mode, roots, others } = TlsOptions::take(query)?;
        let read = |authority: &str, others: &[(String, String)]| {
            let has_password = others.iter().any(|(key, _)| key == "password");
            // A space is %20 for the client, and no +.
            let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
            let others: Vec<String> = others.iter().map(|(key, value)| format!("{key}={}", encoded(value))).collect();
            let url = format!("{scheme}://{authority}{path}?{}", others.join("&"));
            url.parse::<Config>().map_err(|error| {
                if has_password {
                    // An & in the password would make an option of what follows it, and that would be named.
                    return format!("has options that cannot be read: {ENCODE_THE_PASSWORD}");
                }
                let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
                format!("{error}{cause}")
            })
        };
        let all = read(authority, &others)?;
        if all.get_hosts().iter().any(|host| matches!(host, Host::Tcp(name) if name.contains('@'))) {
            return Err(has_a_second_at());
        }
        if all.get_hosts().is_empty() {
            return Err("names no host: it must begin with postgres://USER@HOST/".into());
        }
        if all.get_dbname().is_none() {
            return Err("names no database: it must end with /NAME".into());
        }
        let user = authority.rsplit_once('@').map(|(user, _)| format!("{user}@")).unwrap_or_default();
        let others: Vec<_> = others.into_iter().filter(|(key, _)| !matches!(key.as_str(), "host" | "port")).collect();
        let mode = mode.unwrap_or_else(|| default_mode(&all));
        let server = |(index, host): (usize, &Host)| {
            let mut config = read(&user, &others)?;
            match host {
                Host::Tcp(name) => config.host(name),
                #[cfg(unix)]
                Host::Unix(folder) => config.host_path(folder),
            };
            config.port(port_of(&all, index));
            if config.get_password().is_none()
                && let Some(password) = PASSWORD_VARIABLES.iter().find_map(|name| variable(name))
            {
                config.password(password);
            }
            if all.get_hosts().len() > 1 {
                config.target_session_attrs(TargetSessionAttrs::ReadWrite);
            }
            config.ssl_mode(mode);
            config.connect_timeout(CONNECT_WITHIN);
            config.tcp_user_timeout(UNACKNOWLEDGED_FOR);
            config.keepalives_idle(KEEPALIVE_AFTER);
            Ok(config)
        };
        let servers: Result<_, String> = all.get_hosts().iter().enumerate().map(server).collect();
        let tls = MakeRustlsConnect::new(client_config(roots.as_deref())?);
        Ok(PgTarget { servers: servers?, tls, shown: format_target(&all).into() })
    }

    /// To be shown to people: without a password.
    pub fn display_name(&self) -> &str {
        &self.shown
    }

    /// Each of its servers alone.
    pub fn servers(&self) -> impl Iterator<Item = PgTarget> {
        self.servers.iter().map(|config| PgTarget {
            servers: [config.clone()].into(),
            tls: self.tls.clone(),
            shown: format_target(config).into(),
        })
    }

    /// To the first server that can be connected to; of several, one that can be written to.
    pub async fn connect(&self, purpose: &str) -> PgResult<(Client, Driver)> {
        let (client, connection) = self.open(purpose).await?;
        let drive = async move {
            // A pending query fails with the connection; an idle connection is noticed when it is next used.
            let _ = connection.await;
        };
        Ok((client, Box::pin(drive)))
    }

    /// The same with what others notify. The receiver ends with the connection.
    #[cfg(feature = "cluster")]
    pub async fn connect_listening(&self, purpose: &str) -> PgResult<(Client, Driver, NotificationReceiver)> {
        use futures_util::StreamExt as _;
        let (client, mut connection) = self.open(purpose).await?;
        let (tell, told) = tokio::sync::mpsc::unbounded_channel();
        let drive = async move {
            let mut messages = futures_util::stream::poll_fn(|context| connection.poll_message(context));
            while let Some(Ok(message)) = messages.next().await {
                if let tokio_postgres::AsyncMessage::Notification(notification) = message {
                    let _ = tell.send(notification);
                }
            }
        };
        Ok((client, Box::pin(drive), told))
    }

    async fn open(&self, purpose: &str) -> PgResult<(Client, RawConnection)> {
        let mut failed = None;
        for server in &*self.servers {
            let mut config = server.clone();
            config.application_name(purpose);
            match config.connect(self.tls.clone()).await {
                Ok(connected) => return Ok(connected),
                Err(error) => failed = Some(self.unreachable(error).or_else(failed)),
            }
        }
        Err(failed.expect("there is at least one server"))
    }

    fn unreachable(&self, error: tokio_postgres::Error) -> PgError {
        let told = |what: String| format!("cannot connect to {}: {what}", self.shown);
        match PgError::from(error) {
            PgError::Lost(what) => PgError::Lost(told(what)),
            PgError::Stale(what) => PgError::Stale(told(what)),
            PgError::Again(what) => PgError::Again(told(what)),
            PgError::Final(StoreError::Failed(what)) => PgError::Final(StoreError::Failed(told(what))),
            other @ PgError::Final(_) => other,
        }
    }
}

/// Across a network, nobody is to read along; on this machine there is nothing to protect, and servers as Debian installs them have
/// a certificate there that nobody can verify.
fn default_mode(config: &Config) -> SslMode {
    let is_here = |host: &Host| match host {
        Host::Tcp(name) => matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1"),
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    if config.get_hosts().iter().all(is_here) { SslMode::Disable } else { SslMode::Require }
}

const ENCODE_THE_PASSWORD: &str = "percent-encode the password (@ is %40, / is %2F, ? is %3F, & is %26), or put it into \
                                   AIZUCHI_STORE_PASSWORD";

/// A part of the password would be taken for the host, or for options, and shown.
fn has_a_second_at() -> String {
    format!("has an @ behind its host: {ENCODE_THE_PASSWORD}")
}

/// A URL in its parts. It may name several hosts, which other URLs do not, so that its own client has to read them.
struct PgUrl<'a> {
    scheme: &'a str,
    /// `USER:PASSWORD@HOST:PORT,HOST:PORT`
    authority: &'a str,
    path: &'a str,
    query: &'a str,
}

impl PgUrl<'_> {
    fn parse(text: &str) -> Result<PgUrl<'_>, String> {
        let is_name = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let (scheme, rest) = text
            .split_once("://")
            .filter(|(scheme, _)| is_name(scheme))
            .ok_or("invalid URL: it must begin with postgres://USER@HOST/DATABASE")?;
        if !matches!(scheme, "postgres" | "postgresql") {
            return Err(format!("must begin with postgres://, got {scheme}://"));
        }
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if authority.matches('@').count() > 1 || path.contains('@') || query.contains('@') {
            return Err(has_a_second_at());
        }
        Ok(PgUrl { scheme, authority, path, query })
    }
}

/// What the client itself does not know: `sslrootcert`, and the modes of libpq that verify. Here every certificate is verified.
struct TlsOptions {
    mode: Option<SslMode>,
    roots: Option<String>,
    /// The rest of the query.
    others: Vec<(String, String)>,
}

impl TlsOptions {
    fn take(query: &str) -> Result<TlsOptions, String> {
        let (mut mode, mut roots, mut others) = (None, None, Vec::new());
        for (key, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*key {
                "sslmode" => {
                    mode = Some(match &*value {
                        "disable" => SslMode::Disable,
                        "allow" | "prefer" => SslMode::Prefer,
                        "require" | "verify-ca" | "verify-full" => SslMode::Require,
                        other => {
                            return Err(format!(
                                "sslmode must be disable, prefer, require, verify-ca or verify-full, got {other:?}"
                            ));
                        }
                    });
                }
                "sslrootcert" => roots = Some(value.into_owned()),
                _ => others.push((key.into_owned(), value.into_owned())),
            }
        }
        Ok(TlsOptions { mode, roots, others })
    }
}

fn client_config(roots: Option<&str>) -> Result<ClientConfig, String> {
    tls::install_provider();
    let Some(file) = roots else {
        return ClientConfig::with_platform_verifier().map_err(|error| format!("cannot set up TLS: {error}"));
    };
    let unreadable = |error: rustls::pki_types::pem::Error| format!("cannot read sslrootcert {file}: {error}");
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(Path::new(file)).map_err(unreadable)? {
        let added = store.add(certificate.map_err(unreadable)?);
        added.map_err(|error| format!("cannot use sslrootcert {file}: {error}"))?;
    }
    if store.is_empty() {
        return Err(format!("sslrootcert {file} has no certificate"));
    }
    Ok(ClientConfig::builder().with_root_certificates(store).with_no_client_auth())
}

const USUAL_PORT: u16 = 5432;

/// One port may be given for all hosts.
fn port_of(config: &Config, index: usize) -> u16 {
    let ports = config.get_ports();
    ports.get(index).or(ports.first()).copied().unwrap_or(USUAL_PORT)
}

fn format_target(config: &Config) -> String {
    let host = |(index, host): (usize, &Host)| {
        let name = match host {
            Host::Tcp(name) if name.contains(':') => format!("[{name}]"),
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(folder) => folder.display().to_string(),
        };
        match port_of(config, index) {
            USUAL_PORT => name,
            port => format!("{name}:{port}"),
        }
    };
    let hosts: Vec<String> = config.get_hosts().iter().enumerate().map(host).collect();
    let user = config.get_user().map(|user| format!("{user}@")).unwrap_or_default();
    format!("postgres://{user}{}/{}", hosts.join(","), config.get_dbname().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str) -> Result<PgTarget, String> {
        PgTarget::new(&SecretString::from(url), &|name| (name == "PGPASSWORD").then(|| "from-outside".into()))
    }

    #[test]
    fn a_password_is_never_shown_and_comes_from_the_environment() {
        let named = target("postgres://mia:hunter2@db.example.org:5433/talk?sslmode=verify-full").unwrap();
        assert_eq!(named.display_name(), "postgres://mia@db.example.org:5433/talk");
        assert_eq!(named.servers[0].get_password(), Some(&b"hunter2"[..]));
        assert_eq!(named.servers[0].get_ssl_mode(), SslMode::Require);
        let unnamed = target("postgresql://mia@localhost/talk").unwrap();
        assert_eq!(unnamed.servers[0].get_password(), Some(&b"from-outside"[..]));
        assert_eq!(unnamed.servers[0].get_ssl_mode(), SslMode::Disable);
        assert_eq!(target("postgres://mia@10.0.0.7/talk").unwrap().servers[0].get_ssl_mode(), SslMode::Require);
    }

    #[test]
    fn what_is_wrong_with_a_url_is_told() {
        let told = |url: &str| target(url).err().unwrap();
        assert_eq!(told("mysql://db/talk"), "must begin with postgres://, got mysql://");
        assert_eq!(told("postgres://mia@db.example.org"), "names no database: it must end with /NAME");
        assert!(told("postgres://db/talk?sslmode=perhaps").starts_with("sslmode must be disable, prefer"));
        assert!(
            told("postgres://db/talk?sslrootcert=/nowhere.pem").starts_with("cannot read sslrootcert /nowhere.pem")
        );
        assert!(told("talk").starts_with("invalid URL"));
        let half = told("postgres://mia:S3cr3t p@ss/w%rd@127.0.0.1/talk");
        assert!(half.contains("percent-encode the password") && !half.contains("ss/w"), "{half}");
    }

    #[test]
    fn a_password_that_is_not_encoded_is_refused_without_repeating_any_of_it() {
        for hosts in ["127.0.0.1:5432", "one.example.org:5433,two.example.org"] {
            for password in
                ["pa@Geheim", "pa@@Geheim", "@Geheim", "pa?Geheim", "pa/Geheim", "pa/?Geheim", "pa?a=b&Geheim"]
            {
                let told = target(&format!("postgres://mia:{password}@{hosts}/talk")).err().expect(password);
                assert!(told.contains("percent-encode the password"), "{password}: {told}");
                assert!(!told.contains("Geheim") && !told.contains("pa@"), "{password}: {told}");
            }
            // What ends no part of a URL before its path needs no encoding.
            let odd = target(&format!("postgres://mia:pa#Geheim:7@{hosts}/talk")).expect("it can be read");
            assert_eq!(odd.servers[0].get_password(), Some(&b"pa#Geheim:7"[..]));
            assert!(!odd.display_name().contains("Geheim"), "{}", odd.display_name());
            let encoded = target(&format!("postgres://mia%40work:pa%40%2F%3F@{hosts}/talk")).expect("it is encoded");
            assert_eq!(encoded.servers[0].get_user(), Some("mia@work"));
            assert_eq!(encoded.servers[0].get_password(), Some(&b"pa@/?"[..]));
            assert!(encoded.display_name().starts_with("postgres://mia@work@"), "{}", encoded.display_name());
        }
        for odd in [
            "postgres://mia:pa%40Geheim%40127.0.0.1/talk",
            "postgres://mia@one%40Geheim/talk",
            "postgres://mia@localhost/talk?password=pa@Geheim",
            "postgres://mia@localhost/talk?password=pa&Geheim",
            "postgres:mia:Geheim://@localhost/talk",
        ] {
            let told = target(odd).err().expect(odd);
            assert!(!told.contains("Geheim"), "{odd}: {told}");
        }
    }

    #[test]
    fn several_hosts_and_sockets_can_be_named() {
        let several = target("postgres://mia:x@one.example.org:5433,two.example.org/talk").unwrap();
        assert_eq!(several.display_name(), "postgres://mia@one.example.org:5433,two.example.org/talk");
        let servers: Vec<PgTarget> = several.servers().collect();
        let each: Vec<&str> = servers.iter().map(|server| server.display_name()).collect();
        assert_eq!(each, ["postgres://mia@one.example.org:5433/talk", "postgres://mia@two.example.org/talk"]);
        assert!(several.servers.iter().all(|server| server.get_ssl_mode() == SslMode::Require));
        assert_eq!(several.servers[1].get_password(), Some(&b"x"[..]));
        let socket = target("postgres://mia:x@/talk?host=/run/postgresql").unwrap();
        assert_eq!(socket.display_name(), "postgres://mia@/run/postgresql/talk");
        assert_eq!(socket.servers[0].get_ssl_mode(), SslMode::Disable);
        assert!(target("postgres:///talk").err().unwrap().starts_with("names no host"));
    }

    #[test]
    fn a_password_among_the_options_is_read_as_it_was_meant() {
        let named = target("postgres://mia@localhost/talk?password=a%20b%40c%2Fd%25e&application_name=x").unwrap();
        assert_eq!(named.servers[0].get_password(), Some(&b"a b@c/d%e"[..]));
    }
}
