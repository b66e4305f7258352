//! Who is being forgotten, written down: from before anything is deleted until nothing is left.

use aizuchi_core::memory::ForgetRequest;
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use crate::stores::{Database, StoreError};

/// A person who is being forgotten.
#[derive(Debug)]
pub struct Job {
    pub id: i64,
    /// What is to be done next.
    pub step: JobStep,
}

#[derive(Debug)]
pub enum JobStep {
    /// Everything of them is to be deleted.
    Delete(Box<ForgetRequest>),
    /// Nothing says any more who it was; the file is to be written anew.
    Rewrite,
    /// Old pages have to leave the log beside the file.
    Settle,
}

impl JobStep {
    fn body(&self) -> Option<String> {
        match self {
            JobStep::Delete(request) => Some(serde_json::to_string(request).expect("a request is plain data")),
            JobStep::Rewrite => Some(String::new()),
            JobStep::Settle => None,
        }
    }
}

/// Notes what is to be done; when this returns it is durable.
pub async fn begin(database: &Database, step: JobStep) -> Result<Job, StoreError> {
    let body = step.body();
    let insert = move |transaction: &Transaction<'_>| {
        transaction.execute("INSERT INTO forgetting (body) VALUES (?1)", [body])?;
        Ok(transaction.last_insert_rowid())
    };
    Ok(Job { id: database.write(insert).await?, step })
}

/// Notes that something was deleted whose old pages have to leave the files.
pub async fn settle_later(database: &Database) -> Result<(), StoreError> {
    begin(database, JobStep::Settle).await.map(drop)
}

/// The oldest that has not ended, after this one.
pub async fn next(database: &Database, after: i64) -> Result<Option<Job>, StoreError> {
    let read = move |connection: &Connection| {
        let query = "SELECT id, body FROM forgetting WHERE id > ?1 ORDER BY id LIMIT 1";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<String>>(1)?));
        connection.prepare_cached(query)?.query_row([after], row).optional()
    };
    let Some((id, body)) = database.read(read).await? else { return Ok(None) };
    let unreadable = |error| StoreError::Failed(format!("cannot read who is to be forgotten: {error}"));
    let step = match body.as_deref() {
        None => JobStep::Settle,
        Some("") => JobStep::Rewrite,
        Some(body) => JobStep::Delete(Box::new(serde_json::from_str(body).map_err(unreadable)?)),
    };
    Ok(Some(Job { id, step }))
}

impl Job {
    pub async fn go_on_with(&mut self, step: JobStep, database: &Database) -> Result<(), StoreError> {
        let (id, body) = (self.id, step.body());
        let update = move |transaction: &Transaction<'_>| {
            transaction.execute("UPDATE forgetting SET body = ?2 WHERE id = ?1", params![id, body]).map(drop)
        };
        database.write(update).await?;
        self.step = step;
        Ok(())
    }

    pub async fn end(self, database: &Database) -> Result<(), StoreError> {
        let delete = move |transaction: &Transaction<'_>| {
            transaction.execute("DELETE FROM forgetting WHERE id = ?1", [self.id]).map(drop)
        };
        database.write(delete).await
    }
}
