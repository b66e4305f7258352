//! Checks for `doctor` that the web room's address is valid and free, and protected if it is reachable from other machines.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use aizuchi_core::settings::Layers;
use secrecy::{ExposeSecret as _, SecretString};

use super::settings::WebSettings;
use crate::check::{Check, Running};

const PART: &str = "web";
const TOKEN: &str = "AIZUCHI__WEB__TOKEN";
const TOKEN_CHARS_MIN: usize = 16;
const PATIENCE: Duration = Duration::from_secs(1);

pub fn examine(layers: &Layers, running: Running) -> Vec<Check> {
    // Invalid settings are reported by the settings check.
    let Ok(web) = layers.section::<WebSettings>() else { return Vec::new() };
    let addresses: Vec<SocketAddr> = match web.address.to_socket_addrs() {
        Ok(addresses) => addresses.collect(),
        Err(error) => {
            let fix = "set web.address to an address such as 127.0.0.1:4860";
            return vec![Check::fail(
                PART,
                format!(
                    "`web.address` must be an address of this machine with a port, got {:?} ({error})",
                    web.address
                ),
                fix,
            )];
        }
    };
    let mut checks = vec![listens(&web.address, &addresses, running)];
    if addresses.iter().any(|address| !address.ip().is_loopback()) {
        checks.push(guard(&web.address, web.token()));
    }
    checks
}

fn guard(address: &str, token: Option<&SecretString>) -> Check {
    match token.map_or(0, |token| token.expose_secret().chars().count()) {
        0 => Check::fail(
            PART,
            format!("{address} is reachable from other machines, and there is no token"),
            format!("set {TOKEN} to one, or set web.address to 127.0.0.1:4860"),
        ),
        few if few < TOKEN_CHARS_MIN => Check::warn(
            PART,
            format!("the token has only {few} characters and can be guessed"),
            format!("set {TOKEN} to a long random one"),
        ),
        _ => Check::ok(PART, "protected by a token"),
    }
}

fn listens(named: &str, addresses: &[SocketAddr], running: Running) -> Check {
    match TcpListener::bind(addresses) {
        Ok(_) => Check::ok(PART, format!("{named} is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => match running {
            Running::Yes => Check::ok(PART, format!("{named} is in use by the running aizuchi")),
            Running::No if addresses.iter().any(is_one_of_us) => Check::warn(
                PART,
                format!("{named} is in use by another aizuchi, with another data folder"),
                "stop it, or set another web.address",
            ),
            Running::No => Check::fail(
                PART,
                format!("{named} is in use by another program"),
                "stop it, or set another web.address",
            ),
        },
        Err(error) => Check::fail(
            PART,
            format!("cannot listen on {named}: {error}"),
            "set web.address to an address of this machine and a port above 1023",
        ),
    }
}

/// Whether another aizuchi answers `/live` there.
fn is_one_of_us(address: &SocketAddr) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect_timeout(address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.write_all(format!("GET /live HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes())?;
        let mut start = [0; 12];
        stream.read_exact(&mut start)?;
        Ok(String::from_utf8_lossy(&start).into_owned())
    };
    ask().is_ok_and(|start| start == "HTTP/1.1 200")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Level;

    #[test]
    fn what_is_open_to_others_needs_a_token_that_cannot_be_guessed() {
        assert_eq!(guard("0.0.0.0:80", None).level, Level::Fail);
        assert_eq!(guard("0.0.0.0:80", Some(&"hush".into())).level, Level::Warn);
        assert_eq!(guard("0.0.0.0:80", Some(&"x".repeat(16).into())).level, Level::Ok);
    }

    #[test]
    fn an_address_in_use_is_fine_if_it_is_us() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap();
        assert_eq!(listens("here", &[address], Running::Yes).level, Level::Ok);
        let answers = std::thread::spawn(move || {
            let (mut stream, _) = taken.accept().unwrap();
            let mut asked = [0; 9];
            stream.read_exact(&mut asked).unwrap();
            assert_eq!(&asked, b"GET /live");
            stream.write_all(b"HTTP/1.1 404 Not Found\r\n\r\n").unwrap();
            taken
        });
        assert_eq!(listens("here", &[address], Running::No).level, Level::Fail);
        drop(answers.join().unwrap());
        assert_eq!(listens("here", &[address], Running::No).level, Level::Ok);
    }
}
