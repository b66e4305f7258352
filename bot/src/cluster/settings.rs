//! The section `[cluster]` of the settings.

use aizuchi_core::settings::{Any, Flat};
use aizuchi_core::settings_section;

use crate::config;

settings_section! {
    "cluster": ClusterSettings {
        ingress: String = Any,
        admin: String = Any,
        listen: String = Any,
        worker_url: String = Any,
        health: String = Any,
    }
    defaults: include_str!("default.toml"),
    check: check
}

fn check(cluster: &ClusterSettings, flat: &mut Flat) {
    for (key, urls) in [("cluster.ingress", &cluster.ingress), ("cluster.admin", &cluster.admin)] {
        if urls_in(urls).next().is_none() || !urls_in(urls).all(is_url) {
            flat.misfit(key, "a URL, such as \"http://127.0.0.1:8080\", or several with commas between them");
        }
    }
    if !cluster.worker_url.is_empty() && !is_url(&cluster.worker_url) {
        flat.misfit("cluster.worker_url", "a URL, such as \"http://127.0.0.1:9080\"");
    }
    let is_address = |text: &str| text.parse::<std::net::SocketAddr>().is_ok();
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

fn is_url(url: &str) -> bool {
    url::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

impl ClusterSettings {
    /// Where Restate reaches the workers.
    pub fn url_of_worker(&self) -> String {
        match &*self.worker_url {
            "" => format!("http://{}", self.listen),
            url => url.to_owned(),
        }
    }
}

impl Default for ClusterSettings {
    fn default() -> ClusterSettings {
        config::new_layers().section().expect("the defaults are sound")
    }
}

#[cfg(test)]
mod tests {
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
