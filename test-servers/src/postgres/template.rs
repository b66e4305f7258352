//! A data folder that `initdb` made once, to be copied for each server: a tenth of the time.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::installation::{Installation, servers_folder};
use super::{PASSWORD, SUPERUSER, USER};
use crate::daemon::{private_folder, run};
use crate::folder::Scratch;

/// Raised when what is in a template changes.
const RECIPE: u32 = 1;

/// Copies the template of this installation; makes it first if there is none.
pub(super) fn copy_to(installation: &Installation, data: &Path) {
    copy(&template(installation), data);
}

fn template(installation: &Installation) -> PathBuf {
    let owner = installation.user.map_or_else(|| "own".to_owned(), |user| user.uid.to_string());
    let folder = servers_folder().join("postgres-templates");
    std::fs::create_dir_all(&folder).expect("a folder for templates");
    let finished = folder.join(format!("{}-{owner}-{RECIPE}", installation.version()));
    if !finished.exists() {
        // Tests run in several processes at once: one of them makes it, the others wait.
        let lock = File::create(folder.join("lock")).expect("a lock can be made");
        lock.lock().expect("a lock can be waited for");
        if !finished.exists() {
            make(installation, &folder, &finished);
        }
    }
    finished
}

fn make(installation: &Installation, folder: &Path, finished: &Path) {
    let scratch = Scratch::new("postgres-template");
    let data = scratch.join("data");
    private_folder(&data, installation.user);
    let mut initdb = installation.server_command("initdb", None);
    initdb.arg("-D").arg(&data).args(["-U", SUPERUSER, "--no-sync", "--no-instructions"]);
    initdb.args(["--locale=C.UTF-8", "--encoding=UTF8", "--auth-local=trust", "--auth-host=scram-sha-256"]);
    run(initdb).unwrap_or_else(|error| panic!("initdb failed: {error}"));
    let mut single = installation.server_command("postgres", None);
    single.args(["--single", "-j", "-F", "-D"]).arg(&data).arg("postgres");
    let role = format!("create role {USER} login password '{PASSWORD}';\n\n");
    let mut child = single.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it runs");
    child.stdin.take().expect("it was asked for").write_all(role.as_bytes()).expect("it reads");
    let done = child.wait_with_output().expect("it ends");
    let complaints = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success() && !complaints.contains("ERROR"), "no role {USER}: {complaints}");
    // Complete at once, or not there.
    let unfinished = folder.join("unfinished");
    let _ = std::fs::remove_dir_all(&unfinished);
    copy(&data, &unfinished);
    std::fs::rename(&unfinished, finished).expect("both are in one folder");
}

/// With owners and permissions.
fn copy(from: &Path, to: &Path) {
    let mut command = Command::new("cp");
    command.arg("-a").arg(from).arg(to);
    run(command).unwrap_or_else(|error| panic!("{error}"));
}
