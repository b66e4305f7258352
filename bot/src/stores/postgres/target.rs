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
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;
use url::Url;

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

/// Cheap to clone.
#[derive(Clone)]
pub struct PgTarget {
    config: Arc<Config>,
    tls: MakeRustlsConnect,
    shown: Arc<str>,
}

type Driver = BoxFuture<'static, ()>;

#[cfg(feature = "cluster")]
pub type NotificationReceiver = tokio::sync::mpsc::UnboundedReceiver<tokio_postgres::Notification>;

impl PgTarget {
    /// Reads a URL such as `postgres://aizuchi@db.example.org/aizuchi?sslmode=require`. `Err` says what is wrong with it, without
    /// its password.
    pub fn new(url: &SecretString, variable: &dyn Fn(&str) -> Option<String>) -> Result<PgTarget, String> {
        let mut url = Url::parse(url.expose_secret()).map_err(|error| format!("invalid URL: {error}"))?;
        if !matches!(url.scheme(), "postgres" | "postgresql") {
            return Err(format!("must begin with postgres://, got {}://", url.scheme()));
        }
        if url.path().contains('@') {
            // A part of the password would be taken for the host, and shown.
            return Err("has an @ behind its host: percent-encode the password (@ is %40, / is %2F), or put it into \
                        AIZUCHI_STORE_PASSWORD"
                .into());
        }
        let (mode, roots) = take_tls_options(&mut url)?;
        let shown = shown(&url);
        let mut config: Config = url.as_str().parse().map_err(|error: tokio_postgres::Error| {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
            format!("{error}{cause}")
        })?;
        if config.get_dbname().is_none() {
            return Err("names no database: it must end with /NAME".into());
        }
        if config.get_password().is_none()
            && let Some(password) = PASSWORD_VARIABLES.iter().find_map(|name| variable(name))
        {
            config.password(password);
        }
        config.ssl_mode(mode.unwrap_or_else(|| default_mode(&config)));
        config.connect_timeout(CONNECT_WITHIN);
        config.tcp_user_timeout(UNACKNOWLEDGED_FOR);
        config.keepalives_idle(KEEPALIVE_AFTER);
        let tls = MakeRustlsConnect::new(client_config(roots.as_deref())?);
        Ok(PgTarget { config: Arc::new(config), tls, shown: shown.into() })
    }

    /// To be shown to people: without a password.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    pub async fn connect(&self, purpose: &str) -> PgResult<(Client, Driver)> {
        let mut config = (*self.config).clone();
        config.application_name(purpose);
        let (client, connection) = config.connect(self.tls.clone()).await.map_err(|error| self.unreachable(error))?;
        let drive = async move {
            // Whoever waits for an answer is told; an idle connection is noticed when it is next used.
            let _ = connection.await;
        };
        Ok((client, Box::pin(drive)))
    }

    /// The same for one that is told of what others notify. The receiver ends with the connection.
    #[cfg(feature = "cluster")]
    pub async fn connect_listening(&self, purpose: &str) -> PgResult<(Client, Driver, NotificationReceiver)> {
        use futures_util::StreamExt as _;
        let mut config = (*self.config).clone();
        config.application_name(purpose);
        let connected = config.connect(self.tls.clone()).await;
        let (client, mut connection) = connected.map_err(|error| self.unreachable(error))?;
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

    fn unreachable(&self, error: tokio_postgres::Error) -> PgError {
        let told = |what: String| format!("cannot connect to {}: {what}", self.shown);
        match PgError::from(error) {
            PgError::Lost(what) => PgError::Lost(told(what)),
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

/// What the client itself does not know: `sslrootcert`, and the modes of libpq that verify. Here every certificate is verified.
fn take_tls_options(url: &mut Url) -> Result<(Option<SslMode>, Option<String>), String> {
    let (mut mode, mut roots, mut others) = (None, None, Vec::new());
    for (key, value) in url.query_pairs() {
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
    // A space is %20 for the client, and no +.
    let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let others: Vec<String> = others.iter().map(|(key, value)| format!("{key}={}", encoded(value))).collect();
    url.set_query(Some(others.join("&")).filter(|query| !query.is_empty()).as_deref());
    Ok((mode, roots))
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

fn shown(url: &Url) -> String {
    let user = Some(url.username()).filter(|user| !user.is_empty());
    let user = user.map(|user| format!("{user}@")).unwrap_or_default();
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("postgres://{user}{}{port}{}", url.host_str().unwrap_or_default(), url.path())
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
        assert_eq!(named.shown(), "postgres://mia@db.example.org:5433/talk");
        assert_eq!(named.config.get_password(), Some(&b"hunter2"[..]));
        assert_eq!(named.config.get_ssl_mode(), SslMode::Require);
        let unnamed = target("postgresql://mia@localhost/talk").unwrap();
        assert_eq!(unnamed.config.get_password(), Some(&b"from-outside"[..]));
        assert_eq!(unnamed.config.get_ssl_mode(), SslMode::Disable);
        assert_eq!(target("postgres://mia@10.0.0.7/talk").unwrap().config.get_ssl_mode(), SslMode::Require);
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
    fn a_password_among_the_options_is_read_as_it_was_meant() {
        let named = target("postgres://mia@localhost/talk?password=a%20b%40c%2Fd%25e&application_name=x").unwrap();
        assert_eq!(named.config.get_password(), Some(&b"a b@c/d%e"[..]));
    }
}
