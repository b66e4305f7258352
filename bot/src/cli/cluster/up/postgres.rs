//! A PostgreSQL server for a local cluster. It listens on a socket of its own only, to which nobody else has access.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};

use super::children::{ChildSpec, EndBy};
use super::layout::Layout;
use super::programs::{Postgres, SystemUser};

/// Makes its data folder where there is none.
pub fn prepare(programs: &Postgres, layout: &Layout) -> anyhow::Result<()> {
    let folder = layout.postgres_folder();
    for folder in [&folder, &layout.socket_folder()] {
        private_folder(folder, programs.user)?;
    }
    let log = layout.log_of("postgres");
    std::fs::File::options().create(true).append(true).open(&log).with_context(|| log.display().to_string())?;
    give(&log, programs.user)?;
    let data = folder.join("data");
    if data.join("PG_VERSION").exists() {
        return Ok(());
    }
    let mut command = Command::new(&programs.initdb);
    command.arg("-D").arg(&data).args(["-U", "aizuchi", "--no-instructions", "--auth=trust"]);
    command.args(["--encoding=UTF8", "--locale=C"]).current_dir("/");
    if let Some(SystemUser { uid, gid }) = programs.user {
        command.uid(uid).gid(gid);
    }
    let done = command.output().with_context(|| format!("cannot start {}", programs.initdb.display()))?;
    ensure!(
        done.status.success(),
        "initdb cannot make {}: {}{}",
        data.display(),
        String::from_utf8_lossy(&done.stderr).trim_end(),
        if programs.user.is_some() { "\n(as root it runs as user postgres, who must reach this folder)" } else { "" }
    );
    Ok(())
}

pub fn spec(programs: &Postgres, layout: &Layout) -> ChildSpec {
    let mut arguments = vec!["-D".to_owned(), layout.postgres_folder().join("data").display().to_string()];
    arguments.extend(["-k".to_owned(), layout.socket_folder().display().to_string()]);
    arguments.extend(["-c".to_owned(), "listen_addresses=".to_owned()]);
    ChildSpec {
        name: "postgres".into(),
        program: programs.server.clone(),
        arguments,
        variables: Vec::new(),
        end_by: EndBy::Interrupt,
        user: programs.user,
        log: layout.log_of("postgres"),
        folder: Some("/".into()),
    }
}

/// The eighth line of its lock file says so.
pub fn is_ready(layout: &Layout) -> bool {
    let lock = std::fs::read_to_string(layout.postgres_folder().join("data/postmaster.pid")).unwrap_or_default();
    lock.lines().nth(7).is_some_and(|state| state.trim() == "ready")
}

fn private_folder(folder: &Path, user: Option<SystemUser>) -> anyhow::Result<()> {
    let what = || format!("cannot make the folder {}", folder.display());
    std::fs::create_dir_all(folder).with_context(what)?;
    std::fs::set_permissions(folder, PermissionsExt::from_mode(0o700)).with_context(what)?;
    give(folder, user)
}

fn give(path: &Path, user: Option<SystemUser>) -> anyhow::Result<()> {
    let Some(SystemUser { uid, gid }) = user else { return Ok(()) };
    std::os::unix::fs::chown(path, Some(uid), Some(gid))
        .with_context(|| format!("cannot give {} to user postgres", path.display()))
}
