//! Machines on a network of their own, each of which can be cut off without anybody being told.
//!
//! A machine is a network namespace of the kernel, joined to the others by a bridge. One that is taken off the bridge sends and hears
//! nothing; connections stay as they are on both sides, as if a switch in between had lost its power. All addresses are loopback
//! addresses (127.7.0.0/24, which the kernel routes here), so that nothing of it can reach any other network.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::daemon::{Daemon, command_as, find_program, run};
use crate::folder::Scratch;
use crate::program::PATIENCE;

const BRIDGE: &str = "az-bridge";
const NETWORK: [u8; 3] = [127, 7, 0];
const LOOKS_EVERY: Duration = Duration::from_millis(5);

/// Loopback addresses beyond 127.0.0.0/16 are reached through other devices.
const PREPARE: &str = "echo 1 >/proc/sys/net/ipv4/conf/all/route_localnet && ip link set lo up && \
    { ip addr del 127.0.0.1/8 dev lo; ip addr add 127.0.0.1/16 dev lo; }";

/// Somewhere a program can run.
pub struct Machine {
    ip: Ipv4Addr,
    link: Option<Link>,
}

/// What joins a machine to the others.
struct Link {
    /// Its end at the bridge.
    name: String,
    /// Keeps the namespace.
    holder: Mutex<Daemon>,
    id: u32,
}

impl Machine {
    /// The one on which the test runs; it cannot be cut off.
    pub fn here() -> Arc<Machine> {
        Arc::new(Machine { ip: Ipv4Addr::LOCALHOST, link: None })
    }

    pub fn ip(&self) -> IpAddr {
        self.ip.into()
    }

    /// Words before those of a program that runs there.
    pub fn words(&self) -> Vec<PathBuf> {
        let Some(link) = &self.link else { return Vec::new() };
        let nsenter = find_program("nsenter").expect("nsenter comes with unshare");
        vec![nsenter, format!("--net=/proc/{}/ns/net", link.id).into()]
    }

    /// Whether it can be cut off.
    pub fn has_link(&self) -> bool {
        self.link.is_some()
    }

    /// Nothing leaves it or reaches it from now on.
    pub fn cut_off(&self) {
        let link = self.link.as_ref().expect("this machine can be cut off");
        ip(&["link", "set", &link.name, "nomaster"]);
    }

    pub fn join(&self) {
        let link = self.link.as_ref().expect("this machine can be cut off");
        ip(&["link", "set", &link.name, "master", BRIDGE]);
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if let Some(link) = &self.link {
            link.holder.lock().unwrap_or_else(std::sync::PoisonError::into_inner).kill();
        }
    }
}

/// The network of a process that was started with [`Network::words`].
pub struct Network {
    folder: Scratch,
    count: AtomicU8,
}

impl Network {
    /// Words before those of a program that is to have a network of its own. `Err` says why there can be none.
    pub fn words() -> Result<Vec<String>, String> {
        let mut words = vec![program("unshare")?.display().to_string(), "--net".into()];
        program("nsenter")?;
        program("ip")?;
        if !rustix::process::geteuid().is_root() {
            words.extend(["--map-current-user".into(), "--keep-caps".into()]);
        }
        let mut trying = Command::new(&words[0]);
        trying.args(&words[1..]).args(["sh", "-c", &format!("{PREPARE} && ip link add {BRIDGE} type bridge")]);
        run(trying)?;
        Ok(words)
    }

    /// Makes the bridge.
    pub fn open() -> Network {
        shell(&[], PREPARE);
        ip(&["link", "add", BRIDGE, "type", "bridge"]);
        ip(&["addr", "add", &format!("{}/24", Network::host()), "dev", BRIDGE]);
        ip(&["link", "set", BRIDGE, "up"]);
        Network { folder: Scratch::new("network"), count: AtomicU8::new(1) }
    }

    /// Where machines reach what listens in the process of the test.
    pub fn host() -> IpAddr {
        address(1).into()
    }

    /// One more machine.
    pub fn machine(&self) -> Arc<Machine> {
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let (at, name) = (address(number), format!("az{number}"));
        let unshare = program("unshare").expect("the network was made with it");
        let mut command = command_as(None, &unshare, Some("KILL"));
        command.args(["--net", "sleep", "infinity"]);
        let holder = Daemon::start(command, &self.folder.join("holders"));
        let id = holder.id();
        until_it_has_its_own(id);
        let machine = Machine { ip: at, link: Some(Link { name: name.clone(), holder: Mutex::new(holder), id }) };
        ip(&["link", "add", &name, "type", "veth", "peer", "name", "eth0", "netns", &id.to_string()]);
        ip(&["link", "set", &name, "master", BRIDGE, "up"]);
        shell(&machine.words(), &format!("{PREPARE} && ip addr add {at}/24 dev eth0 && ip link set eth0 up"));
        Arc::new(machine)
    }
}

fn address(number: u8) -> Ipv4Addr {
    let [a, b, c] = NETWORK;
    Ipv4Addr::new(a, b, c, number)
}

fn program(name: &str) -> Result<PathBuf, String> {
    find_program(name).ok_or_else(|| format!("{name} is missing (Debian's packages util-linux and iproute2 have it)"))
}

fn ip(words: &[&str]) {
    let mut command = Command::new(program("ip").unwrap_or_else(|error| panic!("{error}")));
    command.args(words);
    run(command).unwrap_or_else(|error| panic!("{error}"));
}

fn shell(before: &[PathBuf], script: &str) {
    let words = before.iter().map(PathBuf::as_path).chain([Path::new("sh"), Path::new("-c"), Path::new(script)]);
    let words: Vec<&Path> = words.collect();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]);
    run(command).unwrap_or_else(|error| panic!("{error}"));
}

/// The namespace is there a little later than its process.
fn until_it_has_its_own(id: u32) {
    let namespace = |of: &str| std::fs::read_link(format!("/proc/{of}/ns/net"));
    let (own, until) = (namespace("self").expect("it has one"), Instant::now() + PATIENCE);
    while namespace(&id.to_string()).is_ok_and(|its| its == own) {
        assert!(Instant::now() < until, "a namespace is made within a moment");
        std::thread::sleep(LOOKS_EVERY);
    }
}
