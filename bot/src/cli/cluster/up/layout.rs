//! What a local cluster has where: ports and files. Chosen at the first start and kept, so that the next one finds the same.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    #[serde(skip)]
    pub folder: PathBuf,
    pub nodes: Vec<NodePorts>,
    pub worker: SocketAddr,
    pub web: SocketAddr,
    /// A database that exists; without one, the cluster has a server of its own.
    pub database: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodePorts {
    pub ingress: u16,
    pub admin: u16,
    pub node: u16,
}

impl NodePorts {
    pub fn ingress_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.ingress)
    }

    pub fn admin_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.admin)
    }
}

const NODES: u16 = 3;
/// Where the web room is if nobody else is there.
const WEB: u16 = 4860;
const FILE: &str = "cluster.json";
/// A path to a socket may have so many bytes.
const SOCKET_PATH_MAX: usize = 100;

impl Layout {
    /// That of the folder, or a new one.
    pub fn open(folder: &Path, nodes: Option<u16>, database: Option<&str>) -> anyhow::Result<Layout> {
        let what = || format!("cannot use the folder {}", folder.display());
        std::fs::create_dir_all(folder).with_context(what)?;
        let folder = folder.canonicalize().with_context(what)?;
        std::fs::create_dir_all(folder.join("logs")).with_context(what)?;
        let file = folder.join(FILE);
        if !file.exists() {
            let layout = Layout::new(folder, nodes.unwrap_or(NODES), database)?;
            std::fs::write(&file, serde_json::to_vec_pretty(&layout)?).with_context(what)?;
            return Ok(layout);
        }
        let written = std::fs::read(&file).with_context(what)?;
        let mut layout: Layout =
            serde_json::from_slice(&written).with_context(|| format!("cannot read {}", file.display()))?;
        layout.folder = folder;
        layout.check(nodes, database)?;
        Ok(layout)
    }

    fn new(folder: PathBuf, nodes: u16, database: Option<&str>) -> anyhow::Result<Layout> {
        // Held until all are chosen, so that no two are the same.
        let mut held = Vec::new();
        let mut port = || -> anyhow::Result<u16> {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port is free")?;
            let port = listener.local_addr().context("a bound port has an address")?.port();
            held.push(listener);
            Ok(port)
        };
        let mut all = Vec::new();
        for _ in 0..nodes {
            all.push(NodePorts { ingress: port()?, admin: port()?, node: port()? });
        }
        let web = if TcpListener::bind((Ipv4Addr::LOCALHOST, WEB)).is_ok() { WEB } else { port()? };
        let at = |port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let (worker, web) = (at(port()?), at(web));
        let layout = Layout { folder, nodes: all, worker, web, database: database.map(str::to_owned) };
        layout.check_socket()?;
        Ok(layout)
    }

    /// Whether it is what is asked for, and nobody uses it.
    fn check(&self, nodes: Option<u16>, database: Option<&str>) -> anyhow::Result<()> {
        let (folder, has) = (self.folder.display(), self.nodes.len());
        if let Some(nodes) = nodes.filter(|nodes| usize::from(*nodes) != has) {
            bail!("{folder} has a cluster of {has} nodes, not {nodes}: leave --nodes out, or choose another --folder");
        }
        if database.is_some() && database != self.database.as_deref() {
            bail!("{folder} has a cluster with another database: leave --database out, or choose another --folder");
        }
        self.check_socket()?;
        let of_nodes = self.nodes.iter().flat_map(|node| [node.ingress, node.admin, node.node]);
        for port in of_nodes.chain([self.worker.port(), self.web.port()]) {
            ensure!(
                TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok(),
                "port {port} is in use: stop the `aizuchi cluster up` that runs with {folder}, or whatever else has it"
            );
        }
        Ok(())
    }

    fn check_socket(&self) -> anyhow::Result<()> {
        let len = self.socket_folder().as_os_str().len();
        ensure!(
            self.database.is_some() || len <= SOCKET_PATH_MAX,
            "the path {} is too long for PostgreSQL's socket: choose a shorter --folder",
            self.folder.display()
        );
        Ok(())
    }

    pub fn ingress(&self) -> String {
        self.nodes.iter().map(NodePorts::ingress_url).collect::<Vec<_>>().join(",")
    }

    pub fn admin(&self) -> String {
        self.nodes.iter().map(NodePorts::admin_url).collect::<Vec<_>>().join(",")
    }

    pub fn database_url(&self) -> String {
        let socket = self.socket_folder();
        let own = || {
            let socket = utf8_percent_encode(&socket.to_string_lossy(), NON_ALPHANUMERIC).to_string();
            format!("postgres://aizuchi@/postgres?host={socket}")
        };
        self.database.clone().unwrap_or_else(own)
    }

    pub fn postgres_folder(&self) -> PathBuf {
        self.folder.join("postgres")
    }

    pub fn socket_folder(&self) -> PathBuf {
        self.postgres_folder().join("socket")
    }

    pub fn node_folder(&self, number: usize) -> PathBuf {
        self.folder.join(format!("restate-{}", number + 1))
    }

    pub fn log_of(&self, name: &str) -> PathBuf {
        self.folder.join("logs").join(format!("{name}.log"))
    }

    pub fn settings_file(&self) -> PathBuf {
        self.folder.join("aizuchi.toml")
    }

    /// The settings of every process of it.
    fn settings(&self) -> [(&'static str, &'static str, String); 7] {
        let data = self.folder.join("data").to_string_lossy().into_owned();
        [
            ("store", "url", self.database_url()),
            ("store", "folder", data),
            ("cluster", "ingress", self.ingress()),
            ("cluster", "admin", self.admin()),
            ("cluster", "listen", self.worker.to_string()),
            ("cluster", "worker_url", format!("http://{}", self.worker)),
            ("web", "address", self.web.to_string()),
        ]
    }

    /// For the processes of it: others see command lines, and the URL of a database may have a password.
    pub fn variables(&self) -> Vec<(String, String)> {
        let name = |section: &str, key: &str| format!("AIZUCHI__{section}__{key}").to_uppercase();
        self.settings().map(|(section, key, value)| (name(section, key), value)).into()
    }

    /// For other commands, such as `aizuchi cluster status --config FILE`.
    pub fn write_settings(&self) -> anyhow::Result<()> {
        use std::os::unix::fs::OpenOptionsExt as _;
        let mut document = toml_edit::DocumentMut::new();
        for (section, key, value) in self.settings() {
            document[section].or_insert(toml_edit::table())[key] = toml_edit::value(value);
        }
        let file = self.settings_file();
        // The URL of a database may have a password.
        let mut options = std::fs::File::options();
        let opened = options.create(true).write(true).truncate(true).mode(0o600).open(&file);
        let written = opened.and_then(|mut file| std::io::Write::write_all(&mut file, document.to_string().as_bytes()));
        written.with_context(|| format!("cannot write {}", file.display()))
    }
}

#[cfg(test)]
mod tests {
    use aizuchi_test_servers::folder::Scratch;

    use super::*;

    #[test]
    fn a_second_start_finds_what_the_first_has_chosen_and_no_other() {
        let folder = Scratch::new("layout");
        let first = Layout::open(&folder, None, None).expect("a new one");
        assert_eq!(first.nodes.len(), 3);
        assert_eq!(Layout::open(&folder, Some(3), None).expect("the same"), first);
        let told = Layout::open(&folder, Some(1), None).expect_err("it has three").to_string();
        assert!(told.contains("a cluster of 3 nodes, not 1"), "{told}");
        let told = Layout::open(&folder, None, Some("postgres://db/a")).expect_err("it has its own").to_string();
        assert!(told.contains("another database"), "{told}");
        let _used = TcpListener::bind(first.worker).expect("it is free");
        let told = Layout::open(&folder, None, None).expect_err("it is in use").to_string();
        assert!(told.contains(&format!("port {} is in use", first.worker.port())), "{told}");
    }

    #[test]
    fn what_it_writes_are_settings() {
        let folder = Scratch::new("layout-settings");
        let layout = Layout::open(&folder, Some(2), None).expect("a new one");
        layout.write_settings().expect("it can be written");
        let written = std::fs::read_to_string(layout.settings_file()).expect("it was written");
        let layers =
            crate::config::layers(&crate::config::SettingsOverrides::default(), layout.variables().into_iter());
        let section: crate::cluster::ClusterSettings =
            layers.expect("they can be read").section().expect("they are sound");
        assert_eq!(section.ingress.split(',').count(), 2);
        assert!(written.contains(&format!("ingress = \"{}\"", section.ingress)), "{written}");
    }
}
