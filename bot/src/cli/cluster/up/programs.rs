//! The programs a local cluster needs, and what to do where one is missing.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use rustix::process::geteuid;

/// Of the system; a program that refuses to run as root runs as another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemUser {
    pub uid: u32,
    pub gid: u32,
}

/// Where the programs of PostgreSQL are, and as whom they run.
pub struct Postgres {
    pub initdb: PathBuf,
    pub server: PathBuf,
    pub user: Option<SystemUser>,
}

pub fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| is_program(program))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Restate's server.
pub fn restate(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    let hint = "install it as https://docs.restate.dev says, or name it with --restate PROGRAM";
    match named {
        Some(named) if is_program(named) => {
            named.canonicalize().with_context(|| format!("cannot find {}", named.display()))
        }
        Some(named) => bail!("{} is not a program: {hint}", named.display()),
        None => in_path("restate-server").with_context(|| format!("restate-server is not in PATH: {hint}")),
    }
}

impl Postgres {
    pub fn find() -> anyhow::Result<Postgres> {
        let hint = "install it (Debian: apt-get install postgresql), or use a database that exists with --database URL";
        let folder = folder_of_programs().with_context(|| format!("PostgreSQL's initdb is not in PATH: {hint}"))?;
        let (initdb, server) = (folder.join("initdb"), folder.join("postgres"));
        if !is_program(&server) {
            bail!("there is no postgres beside {}: {hint}", initdb.display());
        }
        let user = if geteuid().is_root() { Some(user_postgres(&users())?) } else { None };
        Ok(Postgres { initdb, server, user })
    }
}

fn users() -> String {
    std::fs::read_to_string("/etc/passwd").unwrap_or_default()
}

fn user_postgres(users: &str) -> anyhow::Result<SystemUser> {
    let fields = |line: &str| -> Option<SystemUser> {
        let mut fields = line.strip_prefix("postgres:")?.split(':').skip(1);
        Some(SystemUser { uid: fields.next()?.parse().ok()?, gid: fields.next()?.parse().ok()? })
    };
    users.lines().find_map(fields).context(
        "PostgreSQL refuses to run as root, and there is no user postgres: run this as another user, add one \
         (useradd --system postgres), or use a database that exists with --database URL",
    )
}

/// In `PATH`, or where Debian has those of the newest version.
fn folder_of_programs() -> Option<PathBuf> {
    if let Some(initdb) = in_path("initdb") {
        return initdb.parent().map(Path::to_owned);
    }
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?.flatten().map(|entry| entry.path());
    let number = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    let installed = versions.filter(|version| is_program(&version.join("bin/initdb")));
    Some(installed.max_by_key(number)?.join("bin"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anyone_who_lacks_a_program_is_told_what_to_do() {
        let told = restate(Some(Path::new("/nowhere/restate-server"))).expect_err("it is not there").to_string();
        assert!(
            told.contains("/nowhere/restate-server is not a program") && told.contains("--restate PROGRAM"),
            "{told}"
        );
        let told = user_postgres("root:x:0:0:root:/root:/bin/sh\n").expect_err("there is none").to_string();
        assert!(told.contains("--database URL"), "{told}");
        let users = "root:x:0:0::/:/bin/sh\npostgres:x:105:113:PostgreSQL:/var/lib/postgresql:/bin/bash\n";
        assert_eq!(user_postgres(users).expect("there is one"), SystemUser { uid: 105, gid: 113 });
    }
}
