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
    }
    defaults: include_str!("default.toml"),
    check: check
}

fn check(cluster: &ClusterSettings, flat: &mut Flat) {
    let urls = [("cluster.ingress", &cluster.ingress), ("cluster.admin", &cluster.admin)];
    let optional = [("cluster.worker_url", &cluster.worker_url)].into_iter().filter(|(_, url)| !url.is_empty());
    for (key, url) in urls.into_iter().chain(optional) {
        if !is_url(url) {
            flat.misfit(key, "a URL, such as \"http://127.0.0.1:8080\"");
        }
    }
    if cluster.listen.parse::<std::net::SocketAddr>().is_err() {
        flat.misfit("cluster.listen", "an address and a port, such as \"127.0.0.1:9080\"");
    }
}

fn is_url(url: &str) -> bool {
    url::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
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
            ("cluster.admin=", "`cluster.admin`"),
            ("cluster.listen=localhost", "`cluster.listen`"),
            ("cluster.worker_url=ftp://a", "`cluster.worker_url`"),
        ] {
            let mut layers = config::new_layers();
            layers.add_assignment(assignment);
            let problems = layers.section::<ClusterSettings>().expect_err(assignment);
            assert!(problems.iter().any(|problem| problem.to_string().contains(key)), "{assignment}: {problems:?}");
        }
        assert_eq!(ClusterSettings::default().worker_url, "");
    }
}
