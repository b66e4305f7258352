//! What a local cluster has where: ports and files. Chosen at the first start and kept, so that the next one finds the same.

use std::fs::{DirBuilder, File, Permissions};
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use rustix::process::geteuid;
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
    /// That of the folder, or a new one; with the web room where it is asked for, if it is.
    pub fn open(
        folder: &Path,
        nodes: Option<u16>,
        database: Option<&str>,
        web: Option<SocketAddr>,
    ) -> anyhow::Result<Layout> {
        let what = || format!("cannot use the folder {}", folder.display());
        // PostgreSQL refuses to run as root; the user as whom it runs then has to reach its own folder in this one.
        let mode = if database.is_none() && geteuid().is_root() { 0o711 } else { 0o700 };
        DirBuilder::new().recursive(true).mode(mode).create(folder).with_context(what)?;
        let folder = folder.canonicalize().with_context(what)?;
        std::fs::create_dir_all(folder.join("logs")).with_context(what)?;
        let file = folder.join(FILE);
        if !file.exists() {
            let mut layout = Layout::new(folder, nodes.unwrap_or(NODES), database)?;
            write_private(&file, &serde_json::to_vec_pretty(&layout)?).with_context(what)?;
            layout.web = web.unwrap_or(layout.web);
            layout.check_web()?;
            return Ok(layout);
        }
        let written = std::fs::read(&file).with_context(what)?;
        let mut layout: Layout =
            serde_json::from_slice(&written).with_context(|| format!("cannot read {}", file.display()))?;
        layout.folder = folder;
        layout.web = web.unwrap_or(layout.web);
        if layout.database.is_some() {
            // Earlier versions let everybody read it.
            std::fs::set_permissions(&file, Permissions::from_mode(0o600)).with_context(what)?;
        }
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
            let has = nodes_in_words(has);
            bail!("{folder} has a cluster of {has}, not {nodes}: leave --nodes out, or choose another --folder");
        }
        if database.is_some() && database != self.database.as_deref() {
            bail!("{folder} has a cluster with another database: leave --database out, or choose another --folder");
        }
        self.check_socket()?;
        let of_nodes = self.nodes.iter().flat_map(|node| [node.ingress, node.admin, node.node]);
        for port in of_nodes.chain([self.worker.port()]) {
            ensure!(
                TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok(),
                "port {port} is in use: stop the `aizuchi cluster up` that runs with {folder}, or whatever else has it"
            );
        }
        self.check_web()
    }

    /// Another program there would be taken for the web room.
    fn check_web(&self) -> anyhow::Result<()> {
        let (web, folder) = (self.web, self.folder.display());
        TcpListener::bind(web).map(drop).with_context(|| {
            format!(
                "the web room cannot be at {web} (setting web.address): stop the `aizuchi cluster up` that runs with {folder}, or whatever \
                 else has port {}",
                web.port()
            )
        })
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

    /// The nodes themselves.
    fn node_urls(&self) -> String {
        self.nodes.iter().map(|ports| format!("http://127.0.0.1:{}", ports.node)).collect::<Vec<_>>().join(",")
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
    fn settings(&self) -> [(&'static str, &'static str, String); 8] {
        let data = self.folder.join("data").to_string_lossy().into_owned();
        [
            ("store", "url", self.database_url()),
            ("store", "folder", data),
            ("cluster", "ingress", self.ingress()),
            ("cluster", "admin", self.admin()),
            ("cluster", "nodes", self.node_urls()),
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
        let mut document = toml_edit::DocumentMut::new();
        for (section, key, value) in self.settings() {
            document[section].or_insert(toml_edit::table())[key] = toml_edit::value(value);
        }
        let file = self.settings_file();
        let written = write_private(&file, document.to_string().as_bytes());
        written.with_context(|| format!("cannot write {}", file.display()))
    }
}

pub fn nodes_in_words(count: usize) -> String {
    if count == 1 { "1 node".into() } else { format!("{count} nodes") }
}

/// Only its owner may read the file: the URL of a database may have a password.
fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::options().create(true).write(true).truncate(true).mode(0o600).open(path)?;
    // It may have been there before.
    file.set_permissions(Permissions::from_mode(0o600))?;
    file.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use aizuchi_test_servers::folder::Scratch;
    use secrecy::ExposeSecret as _;

    use super::*;

    #[test]
    fn a_second_start_finds_what_the_first_has_chosen_and_no_other() {
        let folder = Scratch::new("layout");
        let first = Layout::open(&folder, None, None, None).expect("a new one");
        assert_eq!(first.nodes.len(), 3);
        assert_eq!(Layout::open(&folder, Some(3), None, None).expect("the same"), first);
        let told = Layout::open(&folder, Some(1), None, None).expect_err("it has three").to_string();
        assert!(told.contains("a cluster of 3 nodes, not 1"), "{told}");
        let told = Layout::open(&folder, None, Some("postgres://db/a"), None).expect_err("it has its own").to_string();
        assert!(told.contains("another database"), "{told}");
        let _used = TcpListener::bind(first.worker).expect("it is free");
        let told = Layout::open(&folder, None, None, None).expect_err("it is in use").to_string();
        assert!(told.contains(&format!("port {} is in use", first.worker.port())), "{told}");
    }

    /// Another program at the address of the settings was taken for the web room.
    #[test]
    fn the_address_of_the_web_room_that_is_asked_for_is_the_one_that_must_be_free() {
        let (scratch, taken) = (Scratch::new("layout-web"), TcpListener::bind("127.0.0.1:0").expect("a port is free"));
        let (folder, at) = (scratch.join("cluster"), taken.local_addr().expect("it is bound"));
        for _ in 0..2 {
            let told = Layout::open(&folder, Some(1), None, Some(at)).expect_err("it is in use").to_string();
            assert!(told.contains(&format!("cannot be at {at} (setting web.address)")), "{told}");
        }
        let own = Layout::open(&folder, None, None, None).expect("its own is free").web;
        let _own = TcpListener::bind(own).expect("it is free");
        drop(taken);
        assert_eq!(Layout::open(&folder, None, None, Some(at)).expect("nobody needs its own").web, at);
    }

    #[test]
    fn what_it_writes_are_settings() {
        let folder = Scratch::new("layout-settings");
        let layout = Layout::open(&folder, Some(2), None, None).expect("a new one");
        layout.write_settings().expect("it can be written");
        let written = std::fs::read_to_string(layout.settings_file()).expect("it was written");
        let layers =
            crate::config::layers(&crate::config::SettingsOverrides::default(), layout.variables().into_iter());
        let section: crate::cluster::ClusterSettings =
            layers.expect("they can be read").section().expect("they are sound");
        let ingress = section.ingress.expose_secret();
        assert_eq!(ingress.split(',').count(), 2);
        assert!(written.contains(&format!("ingress = \"{ingress}\"")), "{written}");
    }

    #[test]
    fn a_password_of_the_database_is_read_by_nobody_else() {
        let scratch = Scratch::new("layout-private");
        let folder = scratch.join("new").join("cluster");
        let mode = |path: &Path| path.metadata().expect("it is there").permissions().mode() & 0o777;
        let url = Some("postgres://mia:hunter2@db/a");
        let layout = Layout::open(&folder, Some(1), url, None).expect("a new one");
        layout.write_settings().expect("it can be written");
        let (file, settings) = (folder.join(FILE), layout.settings_file());
        assert_eq!((mode(&folder), mode(&file), mode(&settings)), (0o700, 0o600, 0o600));
        // As earlier versions left them.
        for path in [&file, &settings] {
            std::fs::set_permissions(path, Permissions::from_mode(0o644)).expect("it is ours");
        }
        Layout::open(&folder, None, None, None).expect("the same").write_settings().expect("it can be written");
        assert_eq!((mode(&file), mode(&settings)), (0o600, 0o600));
    }

    #[test]
    fn one_node_is_one() {
        assert_eq!([1, 3].map(nodes_in_words), ["1 node", "3 nodes"]);
    }
}
