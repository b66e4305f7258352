//! A server that follows another and can take its place.

use std::path::Path;

use super::{PASSWORD_IN_URL, PostgresServer, SUPERUSER, USER};
use crate::daemon::{private_folder, run};

impl PostgresServer {
    /// A hot standby of this server, on a port of its own. From then on this server acknowledges a commit when the standby has it.
    pub async fn start_standby(&self) -> PostgresServer {
        let target = format!("host={} port={} user={SUPERUSER}", self.socket_folder().display(), self.port);
        let standby = PostgresServer::start_with(self.options.clone(), |installation, data: &Path| {
            private_folder(data, installation.user);
            let mut backup = installation.server_command("pg_basebackup", None);
            backup.args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync", "--no-password"]);
            backup.args(["--dbname", &target]).arg("--pgdata").arg(data);
            run(backup).unwrap_or_else(|error| panic!("pg_basebackup failed: {error}"));
        })
        .await;
        self.psql("postgres", "alter system set synchronous_standby_names = '*'").await;
        self.psql("postgres", "select pg_reload_conf()").await;
        standby
    }

    /// Names this server and its standby.
    pub fn url_with(&self, standby: &PostgresServer, database: &str) -> String {
        let hosts = format!("127.0.0.1:{},127.0.0.1:{}", self.port, standby.port);
        format!("postgres://{USER}:{PASSWORD_IN_URL}@{hosts}/{database}")
    }

    /// Makes a standby the server that is written to. Returns when it is.
    pub async fn promote(&self) {
        assert_eq!(self.psql("postgres", "select pg_promote()").await, "t", "{}", self.log());
    }
}
