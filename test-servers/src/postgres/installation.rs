//! Where the programs of PostgreSQL are, and as whom they run.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::PostgresVersion;
use crate::daemon::{ServerUser, command_on, run, set_mode};
use crate::folder::Scratch;
use crate::network::Machine;

pub(super) struct Installation {
    /// The folder with `postgres`, `initdb` and `psql`.
    programs: PathBuf,
    pub user: Option<ServerUser>,
    _copy: Option<Scratch>,
}

impl Installation {
    pub fn find(version: PostgresVersion) -> Installation {
        let programs = match version {
            PostgresVersion::Debian => newest_of_debian(),
            PostgresVersion::WithVector => of_the_wheel(),
        };
        let user = ServerUser::for_postgres();
        if user.is_none() || ServerUser::may_run(&programs.join("initdb")) {
            return Installation { programs, user, _copy: None };
        }
        let copy = copy_for_everybody(&programs);
        Installation { programs: copy.join("pgserver/pginstall/bin"), user, _copy: Some(copy) }
    }

    pub fn program(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }

    /// One that refuses to run as root.
    pub fn server_command(&self, name: &str, ends_with_test: Option<&str>) -> Command {
        self.server_command_on(&Machine::here(), name, ends_with_test)
    }

    pub fn server_command_on(&self, machine: &Machine, name: &str, ends_with_test: Option<&str>) -> Command {
        let mut command = command_on(machine, self.user, &self.program(name), ends_with_test);
        // The folder from which the tests run may be closed to the user of the server.
        command.current_dir("/");
        command
    }

    /// Such as `15.14`.
    pub fn version(&self) -> String {
        let mut command = Command::new(self.program("postgres"));
        command.arg("--version");
        let printed = run(command).unwrap_or_else(|error| panic!("{error}"));
        printed.split_whitespace().nth(2).unwrap_or("unknown").to_owned()
    }
}

/// Where the user of the server reaches them, such as when the project is below the home of root. In the folder for temporary files:
/// often nothing may be run from memory.
fn copy_for_everybody(programs: &Path) -> Scratch {
    let copy = Scratch::new("postgres-programs");
    set_mode(&copy, 0o755);
    let (mut copying, mut opening) = (Command::new("cp"), Command::new("chmod"));
    let packages = programs.ancestors().nth(3).expect("the wheel is in a folder of packages");
    // The programs look for their libraries in the folder beside.
    copying.arg("-a").arg(packages.join("pgserver")).arg(packages.join("pgserver.libs")).arg(copy.to_path_buf());
    opening.args(["-R", "a+rX"]).arg(copy.to_path_buf());
    for command in [copying, opening] {
        run(command).unwrap_or_else(|error| panic!("{error}"));
    }
    copy
}

/// The folder in which `./dev servers` prepares what the tests of stores start.
pub(crate) fn servers_folder() -> PathBuf {
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/servers");
    std::env::var_os("AIZUCHI_STORE_SERVERS").map_or_else(usual, PathBuf::from)
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn newest_of_debian() -> PathBuf {
    let folder = Path::new("/usr/lib/postgresql");
    let number = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let installed = entries(folder).filter(|version| version.join("bin/initdb").exists());
    let newest = installed.max_by_key(|version| number(version));
    newest.expect("PostgreSQL is not in /usr/lib/postgresql: `./dev servers` installs it").join("bin")
}

fn of_the_wheel() -> PathBuf {
    let folder = servers_folder().join("postgres/lib");
    let programs = |python: PathBuf| python.join("site-packages/pgserver/pginstall/bin");
    entries(&folder).map(programs).find(|programs| programs.join("initdb").exists()).unwrap_or_else(|| {
        panic!(
            "PostgreSQL with pgvector is not in {}: `./dev servers` prepares it, and `./dev test` does so by itself",
            folder.display()
        )
    })
}
