//! Workers as Restate knows them: each address is a deployment. What begins goes to the newest one, what has begun stays where it is.
//!
//! A deployment that is registered anew becomes the newest. So a worker that only starts again must not register: it would take the rooms
//! back from a newer build. It compares builds, and leaves alone what is known.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::OnceLock;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use xxhash_rust::xxh3::Xxh3;

use super::endpoints::{answers, without_login};
use super::ingress::{RestateClient, RestateError};

/// A worker, or several of one build behind one address.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Deployment {
    pub id: String,
    #[serde(default)]
    pub uri: String,
    #[serde(default)]
    metadata: BTreeMap<String, String>,
}

impl Deployment {
    /// The build of its workers, as far as they have said.
    pub fn build(&self) -> Option<&str> {
        self.metadata.get(BUILD).map(String::as_str)
    }

    /// Its address as it may be shown.
    pub fn shown_uri(&self) -> String {
        without_login(self.uri.trim_end_matches('/'))
    }

    pub fn is_at(&self, uri: &str) -> bool {
        self.uri.trim_end_matches('/') == uri.trim_end_matches('/')
    }
}

/// Invocations of a deployment that are not over, by what they do.
pub type Unfinished = BTreeMap<String, u64>;

/// How long a worker may take to say that it is there.
const WORKER_ANSWERS_WITHIN: Duration = Duration::from_secs(3);
/// Under which a deployment has its build.
const BUILD: &str = "aizuchi.build";
const UNFINISHED: &str = "SELECT pinned_deployment_id AS deployment, status, count(*) AS number FROM sys_invocation
    WHERE status <> 'completed' AND pinned_deployment_id IS NOT NULL GROUP BY 1, 2";

impl RestateClient {
    /// Makes a worker known that starts. One that is known already, of the same build, stays as it is.
    pub async fn introduce(&self, uri: &str) -> Result<Deployment, RestateError> {
        let known = self.deployments().await?.into_iter().find(|known| known.is_at(uri));
        match known.filter(|known| known.build() == Some(own_build())) {
            Some(known) => Ok(known),
            None => self.register(uri).await,
        }
    }

    /// Makes a worker known under its address, and has it get everything that begins. One that is known already is asked anew what it
    /// offers.
    pub async fn register(&self, uri: &str) -> Result<Deployment, RestateError> {
        let metadata = BTreeMap::from([(BUILD.to_owned(), own_build().to_owned())]);
        let asked = json!({"uri": uri, "force": true, "use_http_11": false, "metadata": metadata});
        let answer = self.admin.ask(|http, base| http.post(format!("{base}/deployments")).json(&asked)).await?;
        let answer: Value = read(&answer)?;
        let id = answer["id"].as_str().unwrap_or_default().to_owned();
        Ok(Deployment { id, uri: uri.to_owned(), metadata })
    }

    pub async fn deployments(&self) -> Result<Vec<Deployment>, RestateError> {
        let answer = self.admin.ask(|http, base| http.get(format!("{base}/deployments"))).await?;
        let mut answer: Value = read(&answer)?;
        serde_json::from_value(answer["deployments"].take()).map_err(|error| RestateError::Refused(error.to_string()))
    }

    /// Whether a worker answers at each of these addresses, as far as it can be reached from here.
    pub async fn ask_workers(&self, known: &[Deployment]) -> Vec<Result<(), RestateError>> {
        let ask = async |worker: &Deployment| {
            // What is not at an address of its own cannot be asked.
            if !worker.uri.starts_with("http") {
                return Ok(());
            }
            let url = format!("{}/health", worker.uri.trim_end_matches('/'));
            answers(self.to_workers.get(url).timeout(WORKER_ANSWERS_WITHIN)).await
        };
        futures_util::future::join_all(known.iter().map(ask)).await
    }

    /// The one that gets what begins; none if no worker was ever known.
    pub async fn newest_deployment(&self) -> Result<Option<Deployment>, RestateError> {
        let rows = self.query("SELECT deployment_id FROM sys_service WHERE name = 'Room'").await?;
        let id = rows.first().and_then(|row| row["deployment_id"].as_str());
        Ok(self.deployments().await?.into_iter().find(|known| Some(known.id.as_str()) == id))
    }

    /// Forgets a worker. What it has begun and not ended could never end then.
    pub async fn remove_deployment(&self, id: &str) -> Result<(), RestateError> {
        let removed = self.admin.ask(|http, base| http.delete(format!("{base}/deployments/{id}?force=true"))).await;
        match removed {
            // Somebody else was faster, or the answer to an attempt before was lost.
            Err(RestateError::Unavailable(told)) if told.starts_with("404") => Ok(()),
            removed => removed.map(drop),
        }
    }

    /// What each deployment has begun and not ended.
    pub async fn unfinished(&self) -> Result<BTreeMap<String, Unfinished>, RestateError> {
        let mut unfinished: BTreeMap<String, Unfinished> = BTreeMap::new();
        for row in self.query(UNFINISHED).await? {
            let text = |column: &str| row[column].as_str().unwrap_or_default().to_owned();
            let of_deployment = unfinished.entry(text("deployment")).or_default();
            of_deployment.insert(text("status"), row["number"].as_u64().unwrap_or_default());
        }
        Ok(unfinished)
    }
}

fn read(answer: &[u8]) -> Result<Value, RestateError> {
    serde_json::from_slice(answer).map_err(|error| RestateError::Refused(error.to_string()))
}

/// The same for the same program, on whatever machine: a hash of it.
fn own_build() -> &'static str {
    static BUILD: OnceLock<String> = OnceLock::new();
    BUILD.get_or_init(|| {
        let version = concat!(env!("CARGO_PKG_VERSION"), " ", env!("AIZUCHI_BUILD"));
        match hash_of_program() {
            Ok(hash) => format!("{version} {hash:016x}"),
            Err(error) => {
                tracing::debug!(%error, "cannot read the program");
                version.to_owned()
            }
        }
    })
}

fn hash_of_program() -> std::io::Result<u64> {
    let mut file = std::fs::File::open(std::env::current_exe()?)?;
    let (mut hash, mut bytes) = (Xxh3::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut bytes)? {
            0 => return Ok(hash.digest()),
            len => hash.update(&bytes[..len]),
        }
    }
}
