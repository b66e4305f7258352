//! The section `[cluster]` of the settings.

use std::net::SocketAddr;

use aizuchi_core::settings::{Any, Flat};
use aizuchi_core::settings_section;
use secrecy::{ExposeSecret as _, SecretString};

#[cfg(feature = "cluster")]
use super::ingress::{RestateClient, RestateError};
#[cfg(feature = "cluster")]
use super::nodes::RestateNodes;
use crate::config;

settings_section! {
    "cluster": ClusterSettings {
        /// These may have a password.
        ingress: SecretString = Any,
        admin: SecretString = Any,
        listen: String = Any,
        nodes: SecretString = Any,
        worker_url: String = Any,
        health: String = Any,
    }
    defaults: include_str!("default.toml"),
    check: check
}

fn check(cluster: &ClusterSettings, flat: &mut Flat) {
    let nodes = Some(("cluster.nodes", &cluster.nodes)).filter(|(_, urls)| !urls.expose_secret().trim().is_empty());
    for (key, urls) in
        [("cluster.ingress", &cluster.ingress), ("cluster.admin", &cluster.admin)].into_iter().chain(nodes)
    {
        if let Some(what) = mistake_in(urls.expose_secret()) {
            let right = "a URL, such as \"http://127.0.0.1:8080\", or several with commas between them";
            flat.complain(key, format!("`{key}` must be {right}; {what}"));
        }
    }
    if !cluster.worker_url.is_empty() && !is_url(&cluster.worker_url) {
        flat.misfit("cluster.worker_url", "a URL, such as \"http://127.0.0.1:9080\"");
    }
    let is_address = |text: &str| text.parse::<SocketAddr>().is_ok();
    if !is_address(&cluster.listen) {
        flat.misfit("cluster.listen", "an address and a port, such as \"127.0.0.1:9080\"");
    }
    if !cluster.health.is_empty() && !is_address(&cluster.health) {
        flat.misfit("cluster.health", "an address and a port, such as \"127.0.0.1:9081\", or nothing");
    }
}

/// The URLs of a setting that may have several, without a slash at their ends.
pub fn urls_in(urls: &str) -> impl Iterator<Item = &str> {
    urls.split(',').map(|url| url.trim().trim_end_matches('/')).filter(|url| !url.is_empty())
}

/// What is wrong with a setting that may have several, without repeating any of it.
fn mistake_in(urls: &str) -> Option<String> {
    let all: Vec<&str> = urls_in(urls).collect();
    let number = all.iter().position(|url| !is_base(url));
    let (url, which) = match number {
        None if all.is_empty() => return Some("it names none".into()),
        None => return None,
        Some(index) if all.len() == 1 => (all[index], "it".to_owned()),
        Some(index) => (all[index], format!("number {} of {}", index + 1, all.len())),
    };
    let begins = |scheme: &str| url.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme));
    Some(if !begins("http://") && !begins("https://") {
        format!("{which} does not begin with http:// or https://")
    } else if url.contains('@') {
        format!("{which} cannot be read: percent-encode its password (/ is %2F, ? is %3F, # is %23, a comma is %2C)")
    } else {
        format!("{which} cannot be read")
    })
}

/// Whether paths can follow it.
fn is_base(url: &str) -> bool {
    let is_whole = |url: url::Url| url.query().is_none() && url.fragment().is_none() && !url.path().contains('@');
    is_url(url) && url::Url::parse(url).is_ok_and(is_whole)
}

fn is_url(url: &str) -> bool {
    url::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

impl ClusterSettings {
    /// A client of the server that they name.
    #[cfg(feature = "cluster")]
    pub fn restate(&self) -> Result<RestateClient, RestateError> {
        RestateClient::new(self.ingress.expose_secret(), self.admin.expose_secret())
    }

    /// Clients of the nodes themselves, if they are named.
    #[cfg(feature = "cluster")]
    pub fn nodes(&self) -> Result<RestateNodes, RestateError> {
        RestateNodes::new(self.nodes.expose_secret())
    }

    /// Where Restate reaches the workers; `listening` is where one of them listens.
    pub fn url_of_worker(&self, listening: SocketAddr) -> String {
        match &*self.worker_url {
            "" => format!("http://{listening}"),
            url => url.to_owned(),
        }
    }

    /// The same without one that listens. `None` where the system chose its port, and nobody else can know it.
    pub fn known_url_of_worker(&self) -> Option<String> {
        let listening: SocketAddr = self.listen.parse().ok()?;
        (listening.port() != 0 || !self.worker_url.is_empty()).then(|| self.url_of_worker(listening))
    }
}

impl Default for ClusterSettings {
    fn default() -> ClusterSettings {
        config::new_layers().section().expect("the defaults are sound")
    }
}

#[cfg(test)]
mod tests {
    use aizuchi_core::settings::Layers;

    use super::*;

    #[test]
    fn an_impossible_value_is_reported_with_its_key() {
        for (assignment, key) in [
            ("cluster.ingress=127.0.0.1:8080", "`cluster.ingress`"),
            ("cluster.ingress=http://a:1,,127.0.0.1:8080", "`cluster.ingress`"),
            ("cluster.admin=", "`cluster.admin`"),
            ("cluster.admin= , ", "`cluster.admin`"),
            ("cluster.listen=localhost", "`cluster.listen`"),
            ("cluster.worker_url=ftp://a", "`cluster.worker_url`"),
            ("cluster.health=9081", "`cluster.health`"),
        ] {
            let mut layers = config::new_layers();
            layers.add_assignment(assignment);
            let problems = layers.section::<ClusterSettings>().expect_err(assignment);
            assert!(problems.iter().any(|problem| problem.to_string().contains(key)), "{assignment}: {problems:?}");
        }
        assert_eq!(ClusterSettings::default().worker_url, "");
    }

    #[test]
    fn a_password_is_not_repeated_and_it_is_told_what_would_be_right() {
        let told = |layers: &Layers| {
            let problems = layers.section::<ClusterSettings>().expect_err("it is refused");
            problems.iter().map(|problem| problem.to_string()).collect::<Vec<_>>().join("\n")
        };
        for key in ["ingress", "admin"] {
            for (url, what) in [
                ("htps://u:EnvPw88@h:1", "it does not begin with http"),
                ("u:EnvPw88@h:1", "it does not begin with http"),
                ("http://a:1,htps://u:EnvPw88@h:1", "number 2 of 2 does not begin with http"),
                ("http://u:EnvPw88/x@h:1", "percent-encode its password"),
                ("http://u:88?EnvPw88@h:1", "percent-encode its password"),
                ("http://u:88#EnvPw88@h:1", "percent-encode its password"),
                ("http://u:88/EnvPw88@h:1", "percent-encode its password"),
                ("http://u:88,EnvPw88@h:1", "number 2 of 2 does not begin with http"),
                ("http://u:EnvPw88@h:99999", "percent-encode its password"),
                ("http://h:1/?EnvPw88", "it cannot be read"),
            ] {
                let ways: [&dyn Fn(&mut Layers); 3] = [
                    &|layers| layers.add_assignment(&format!("cluster.{key}={url}")),
                    &|layers| layers.add_variable(&format!("AIZUCHI__CLUSTER__{}", key.to_uppercase()), url),
                    &|layers| layers.add_file("aizuchi.toml", &format!("[cluster]\n{key} = \"{url}\"")),
                ];
                for add in ways {
                    let mut layers = config::new_layers();
                    add(&mut layers);
                    let told = told(&layers);
                    assert!(told.contains(&format!("`cluster.{key}` must be a URL")), "{url}: {told}");
                    assert!(told.contains(what) && !told.contains("EnvPw88"), "{url}: {told}");
                }
            }
            for value in ["[\"http://u:EnvPw88@h:1\"]", "88"] {
                let mut layers = config::new_layers();
                layers.add_file("aizuchi.toml", &format!("[cluster]\n{key} = {value}"));
                let told = told(&layers);
                assert!(told.contains(&format!("`cluster.{key}` must be a text in quotes")), "{told}");
                assert!(!told.contains("88"), "{told}");
            }
        }
        let mut layers = config::new_layers();
        layers.add_assignment("cluster.admin=http://u:EnvPw88@h:1");
        let section = layers.section::<ClusterSettings>().expect("it is sound");
        assert!(!format!("{section:?}").contains("EnvPw88"), "{section:?}");
        #[cfg(feature = "cluster")]
        section.restate().expect("there is a client");
    }

    #[test]
    fn workers_are_at_their_url_or_where_they_listen() {
        let settings = |listen: &str, worker_url: &str| ClusterSettings {
            listen: listen.into(),
            worker_url: worker_url.into(),
            ..ClusterSettings::default()
        };
        let known = |listen, worker_url| settings(listen, worker_url).known_url_of_worker();
        assert_eq!(known("10.0.0.5:9080", "").as_deref(), Some("http://10.0.0.5:9080"));
        assert_eq!(known("10.0.0.5:0", "http://workers:1").as_deref(), Some("http://workers:1"));
        assert_eq!(known("127.0.0.1:0", ""), None);
        let listening = "127.0.0.1:4711".parse().expect("an address");
        assert_eq!(settings("127.0.0.1:0", "").url_of_worker(listening), "http://127.0.0.1:4711");
    }

    #[test]
    fn one_address_or_several_can_be_named() {
        for (text, urls) in [
            ("http://a:1/", vec!["http://a:1"]),
            ("http://a:1, http://b:2/,https://c/x", vec!["http://a:1", "http://b:2", "https://c/x"]),
        ] {
            assert_eq!(urls_in(text).collect::<Vec<_>>(), urls);
            let mut layers = config::new_layers();
            layers.add_assignment(&format!("cluster.ingress={text}"));
            layers.section::<ClusterSettings>().expect(text);
        }
    }
}
