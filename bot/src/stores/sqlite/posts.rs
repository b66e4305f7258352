//! The ledger of posts in SQLite.

use std::collections::HashSet;

use aizuchi_core::types::Time;
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use super::{Database, StoreError};
use crate::ports::{BoxFuture, PostKey, PostLedger, PostProgress};

impl PostLedger for Database {
    fn begin<'a>(&'a self, post: PostKey<'a>, now: Time) -> BoxFuture<'a, Result<PostProgress, StoreError>> {
        let (platform, key) = owned(post);
        Box::pin(self.write(move |transaction| begin(transaction, &platform, &key, now)))
    }

    fn begin_again<'a>(
        &'a self,
        post: PostKey<'a>,
        before: Time,
        now: Time,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        let (platform, key) = owned(post);
        let note = "UPDATE post SET begun = ?4 WHERE platform = ?1 AND key = ?2 AND begun = ?3 AND id IS NULL";
        let note = move |transaction: &Transaction<'_>| {
            let times = (before.0 as i64, now.0 as i64);
            Ok(transaction.prepare_cached(note)?.execute(params![platform, key, times.0, times.1])? == 1)
        };
        Box::pin(self.write(note))
    }

    fn posted<'a>(&'a self, post: PostKey<'a>, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        let ((platform, key), id) = (owned(post), id.to_owned());
        let note = "UPDATE post SET id = ?3 WHERE platform = ?1 AND key = ?2 AND id IS NULL";
        let note = move |transaction: &Transaction<'_>| {
            transaction.prepare_cached(note)?.execute([&platform, &key, &id]).map(drop)
        };
        Box::pin(self.write(note))
    }

    fn withdraw<'a>(&'a self, post: PostKey<'a>) -> BoxFuture<'a, Result<(), StoreError>> {
        let (platform, key) = owned(post);
        let delete = "DELETE FROM post WHERE platform = ?1 AND key = ?2 AND id IS NULL";
        let delete = move |transaction: &Transaction<'_>| {
            transaction.prepare_cached(delete)?.execute([&platform, &key]).map(drop)
        };
        Box::pin(self.write(delete))
    }

    fn taken<'a>(&'a self, platform: &'a str, ids: &'a [String]) -> BoxFuture<'a, Result<HashSet<String>, StoreError>> {
        let (platform, ids) = (platform.to_owned(), serde_json::to_string(ids).expect("ids are plain data"));
        let find = move |connection: &Connection| {
            let find = "SELECT id FROM post WHERE platform = ?1 AND id IN (SELECT value FROM json_each(?2))";
            connection.prepare_cached(find)?.query_map([&platform, &ids], |row| row.get(0))?.collect()
        };
        Box::pin(self.read(find))
    }

    fn sweep<'a>(&'a self, platform: &'a str, before: Time) -> BoxFuture<'a, Result<(), StoreError>> {
        let platform = platform.to_owned();
        let delete = "DELETE FROM post WHERE platform = ?1 AND begun < ?2";
        let delete = move |transaction: &Transaction<'_>| {
            transaction.execute(delete, params![platform, before.0 as i64]).map(drop)
        };
        Box::pin(self.write(delete))
    }
}

fn owned(post: PostKey<'_>) -> (String, String) {
    (post.platform.to_owned(), post.key.to_owned())
}

fn begin(transaction: &Transaction<'_>, platform: &str, key: &str, now: Time) -> rusqlite::Result<PostProgress> {
    let query = "SELECT begun, id FROM post WHERE platform = ?1 AND key = ?2";
    let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<String>>(1)?));
    if let Some((begun, id)) = transaction.prepare_cached(query)?.query_row([platform, key], row).optional()? {
        return Ok(id.map_or(PostProgress::Begun(Time(begun as u64)), PostProgress::Posted));
    }
    let insert = "INSERT INTO post (platform, key, begun) VALUES (?1, ?2, ?3)";
    transaction.prepare_cached(insert)?.execute(params![platform, key, now.0 as i64])?;
    Ok(PostProgress::New)
}
