//! What a server refuses for a while, as a real one does it: each is waited out or told, nothing is lost and nothing is stored twice.

use aizuchi_core::{Input, Time};
use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::postgres::{PostgresOptions, PostgresServer};
use aizuchi_test_servers::program::eventually;

use super::{PgTarget, PostgresDatabase};
use crate::ports::{JournalEntry, JournalStore, Position};
use crate::stores::StoreError;

struct OutageStage {
    server: PostgresServer,
    name: String,
    folder: Scratch,
}

impl OutageStage {
    async fn new() -> OutageStage {
        let server = PostgresServer::start(PostgresOptions::default()).await;
        let name = server.empty_database().await;
        OutageStage { server, name, folder: Scratch::new("outage") }
    }

    async fn open(&self) -> PostgresDatabase {
        let target = PgTarget::new(&self.server.url(&self.name).into(), &|_| None).expect("a sound address");
        PostgresDatabase::open(target, self.folder.join("postgres")).await.expect("a database")
    }

    async fn psql(&self, statement: &str) -> String {
        self.server.psql(&self.name, statement).await
    }

    async fn until_logged(&self, words: &str) {
        eventually(words, async || self.server.log().contains(words).then_some(())).await;
    }

    /// Locks the journal from another session until the server has cancelled somebody for it; meanwhile something is appended.
    async fn append_while_locked(&self, database: &PostgresDatabase, cancelled: &str) -> Result<u64, StoreError> {
        let locked = "begin; lock table journal in access exclusive mode; select pg_sleep(3600)";
        let holder = self.server.try_psql(&self.name, locked);
        let others = async {
            let is_locked = "select count(*) from pg_locks where relation = 'journal'::regclass
                and mode = 'AccessExclusiveLock' and granted";
            eventually("it is locked", async || (self.psql(is_locked).await == "1").then_some(())).await;
            let release = async {
                self.until_logged(cancelled).await;
                let end = "select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep(3600)%'
                    and pid <> pg_backend_pid()";
                self.psql(end).await;
            };
            tokio::join!(append(database, 1), release).0
        };
        tokio::join!(holder, others).1
    }

    async fn count(&self) -> String {
        self.psql("select count(*) from journal").await
    }
}

async fn append(database: &PostgresDatabase, number: u64) -> Result<u64, StoreError> {
    let entry = [JournalEntry::Input(Time(number), Input::Tick)];
    JournalStore::append(database, 0, &entry).await.map(|appended| appended.seq)
}

#[tokio::test]
async fn a_statement_that_takes_too_long_for_the_role_is_tried_again() {
    let stage = OutageStage::new().await;
    stage.psql("alter role aizuchi set statement_timeout = '1s'").await;
    let database = stage.open().await;
    let done = stage.append_while_locked(&database, "canceling statement due to statement timeout").await;
    assert_eq!((done, stage.count().await.as_str()), (Ok(1), "1"));
}

#[tokio::test]
async fn a_lock_that_is_not_to_be_had_in_time_is_asked_for_again() {
    let stage = OutageStage::new().await;
    stage.psql("alter role aizuchi set lock_timeout = '1s'").await;
    let database = stage.open().await;
    let done = stage.append_while_locked(&database, "canceling statement due to lock timeout").await;
    assert_eq!((done, stage.count().await.as_str()), (Ok(1), "1"));
}

/// Another session waits for what this one has written, and has what it is about to write.
#[tokio::test]
async fn the_victim_of_a_deadlock_is_written_again() {
    let stage = OutageStage::new().await;
    let database = stage.open().await;
    let other = "set deadlock_timeout = '1h'; begin; update store_writer set batch = batch;
        do $$ begin
            while not exists (select 1 from pg_locks as l join pg_stat_activity as a using (pid)
                where not l.granted and a.application_name = 'aizuchi writer')
            loop perform pg_sleep(0.01); perform pg_stat_clear_snapshot(); end loop;
        end $$; update web_counter set seq = seq; rollback";
    let other = stage.server.try_psql(&stage.name, other);
    let own = async {
        let has_it =
            "select count(*) from pg_locks where relation = 'store_writer'::regclass and mode = 'RowExclusiveLock'";
        eventually("another one has written", async || (stage.psql(has_it).await == "1").then_some(())).await;
        let counted = database.write(|connection| connection.execute("UPDATE web_counter SET seq = seq + 1", &[]));
        counted.await
    };
    let (other, own) = tokio::join!(other, own);
    assert_eq!((other.as_deref(), own), (Ok(""), Ok(1)));
    assert!(stage.server.log().contains("deadlock detected"), "{}", stage.server.log());
    assert_eq!(stage.psql("select seq from web_counter").await, "1");
}

/// As under `serializable`: the server gives up a transaction that would have succeeded alone.
#[tokio::test]
async fn what_could_not_be_serialized_is_written_again() {
    let stage = OutageStage::new().await;
    let database = stage.open().await;
    stage
        .psql(
            "create sequence refusals; grant all on refusals to public;
            create function refuse() returns trigger language plpgsql as $$ begin
                if nextval('refusals') <= 3 then
                    raise 'could not serialize access' using errcode = 'serialization_failure';
                end if;
                return new;
            end $$;
            create trigger refuse before insert on journal for each row execute function refuse()",
        )
        .await;
    assert_eq!(append(&database, 1).await, Ok(1));
    assert_eq!(
        (stage.psql("select last_value from refusals").await.as_str(), stage.count().await.as_str()),
        ("4", "1")
    );
}

/// The file of a table is where every write finds the disk full.
#[tokio::test]
async fn a_full_disk_is_told_and_passes() {
    let stage = OutageStage::new().await;
    drop(stage.open().await);
    let file = stage.psql("select pg_relation_filepath('journal')").await;
    let file = stage.server.data_folder().join(file);
    // A program that has it open has the old one.
    stage.psql("checkpoint").await;
    let away = file.with_extension("away");
    std::fs::rename(&file, &away).expect("it is there");
    std::os::unix::fs::symlink("/dev/full", &file).expect("a link can be made");
    let database = stage.open().await;
    for number in 1..3 {
        let refused = append(&database, number).await;
        assert!(matches!(&refused, Err(StoreError::Full(what)) if what.contains("No space left")), "{refused:?}");
    }
    assert!(matches!(database.check().await, Err(StoreError::Unavailable(_))), "it cannot be written");
    std::fs::rename(&away, &file).expect("there is space again");
    let end = "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'aizuchi'";
    stage.psql(end).await;
    assert_eq!(append(&database, 3).await, Ok(1), "nothing of what was refused is there");
    eventually("it can be written", async || database.check().await.ok()).await;
    assert_eq!(database.locate(Position::Last).await, Ok(Some(1)));
}
