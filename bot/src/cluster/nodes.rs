//! Asks the nodes of Restate themselves about the partitions on them. What the admin port answers in SQL knows nothing of partitions; each
//! node has it in its metrics.

use std::time::Duration;

use super::endpoints::without_login;
use super::ingress::RestateError;
use super::settings::urls_in;
use crate::tls::client_builder;

/// A node that does not answer for so long is as good as gone.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);

pub struct RestateNodes {
    http: reqwest::Client,
    urls: Vec<String>,
}

/// What a node knows of partitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodePartitions {
    pub name: String,
    /// How many there are in all.
    pub all: u64,
    /// How many this node leads.
    pub led: u64,
    /// How many records of its log the partition that is furthest behind has not applied.
    pub lag: u64,
    /// Partitions of which the node does not know how far behind they are.
    pub unknown: u64,
}

impl RestateNodes {
    pub fn new(urls: &str) -> Result<RestateNodes, RestateError> {
        let http = client_builder().no_proxy().timeout(ANSWERS_WITHIN).build();
        let http = http.map_err(|error| RestateError::Unavailable(error.to_string()))?;
        Ok(RestateNodes { http, urls: urls_in(urls).map(str::to_owned).collect() })
    }

    /// The partitions of each node, or why it does not say.
    pub async fn partitions(&self) -> Vec<(String, Result<NodePartitions, RestateError>)> {
        let ask = async |url: &String| (without_login(url), self.ask(url).await);
        futures_util::future::join_all(self.urls.iter().map(ask)).await
    }

    async fn ask(&self, url: &str) -> Result<NodePartitions, RestateError> {
        let unavailable = |error: reqwest::Error| RestateError::Unavailable(error.without_url().to_string());
        let answer = self.http.get(format!("{url}/metrics")).send().await.map_err(unavailable)?;
        if !answer.status().is_success() {
            return Err(RestateError::Refused(answer.status().to_string()));
        }
        let text = answer.text().await.map_err(unavailable)?;
        NodePartitions::read(&text).ok_or_else(|| RestateError::Refused("no metrics of a node".into()))
    }
}

impl NodePartitions {
    /// `None` if these are not the metrics of a node.
    fn read(metrics: &str) -> Option<NodePartitions> {
        let mut found = NodePartitions::default();
        for line in metrics.lines().filter(|line| !line.starts_with('#')) {
            let Some((name, value)) = line.rsplit_once(' ') else { continue };
            let (name, labels) = name.split_once('{').unwrap_or((name, ""));
            let value = value.parse::<f64>().map_or(0, |value| value as u64);
            match name {
                "restate_num_partitions" => {
                    found.all = value;
                    found.name = label(labels, "node_name")?.to_owned();
                }
                "restate_num_active_partition_leaders" => found.led = value,
                "restate_partition_num_unknown_applied_lsn_lag" => found.unknown = value,
                "restate_partition_applied_lsn_lag" => found.lag = found.lag.max(value),
                _ => (),
            }
        }
        (!found.name.is_empty()).then_some(found)
    }
}

fn label<'a>(labels: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = labels.split_once(&format!("{name}=\""))?;
    rest.split_once('"').map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_metrics_of_a_node_are_read() {
        let told = "# HELP restate_num_partitions Total number of partitions in the partition table\n\
            restate_num_partitions{cluster_name=\"aizuchi\",node_name=\"restate-1\"} 24\n\
            restate_num_active_partition_leaders{cluster_name=\"aizuchi\",node_name=\"restate-1\"} 9\n\
            restate_partition_applied_lsn_lag{node_name=\"restate-1\",quantile=\"0.5\"} 0\n\
            restate_partition_applied_lsn_lag{node_name=\"restate-1\",quantile=\"1.0\"} 17\n\
            restate_partition_num_unknown_applied_lsn_lag{node_name=\"restate-1\"} 2\n";
        let partitions = NodePartitions { name: "restate-1".into(), all: 24, led: 9, lag: 17, unknown: 2 };
        assert_eq!(NodePartitions::read(told), Some(partitions));
        assert_eq!(NodePartitions::read("aizuchi_inputs_total 3\n"), None);
    }
}
