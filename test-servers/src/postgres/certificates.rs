//! A certificate authority that lives for one test, and a server certificate of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::daemon::{ServerUser, give, run, set_mode};

pub(super) struct Certificates {
    pub authority: PathBuf,
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl Certificates {
    /// For `localhost` and `127.0.0.1`.
    pub fn make(folder: &Path, user: Option<ServerUser>) -> Certificates {
        std::fs::create_dir_all(folder).expect("a folder for certificates");
        let file = |name: &str| folder.join(name);
        let (authority, certificate, key) = (file("authority.pem"), file("server.pem"), file("server.key"));
        let authority_key = file("authority.key");
        let new_key =
            ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
        let mut first = Command::new("openssl");
        first.args(new_key).args(["-subj", "/CN=aizuchi test authority"]);
        first.args(["-addext", "keyUsage=critical,keyCertSign,cRLSign"]);
        first.arg("-keyout").arg(&authority_key).arg("-out").arg(&authority);
        let mut second = Command::new("openssl");
        second.args(new_key).args(["-subj", "/CN=localhost"]);
        second.args([
            "-addext",
            "subjectAltName=DNS:localhost,IP:127.0.0.1",
            "-addext",
            "basicConstraints=critical,CA:FALSE",
        ]);
        second
            .args(["-addext", "extendedKeyUsage=serverAuth"])
            .arg("-CA")
            .arg(&authority)
            .arg("-CAkey")
            .arg(&authority_key);
        second.arg("-keyout").arg(&key).arg("-out").arg(&certificate);
        for command in [first, second] {
            run(command).unwrap_or_else(|error| panic!("openssl made no certificate: {error}"));
        }
        set_mode(&key, 0o600);
        give(&key, user);
        Certificates { authority, certificate, key }
    }
}
