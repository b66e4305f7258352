//! The ledger of posts in PostgreSQL.

use std::collections::HashSet;

use aizuchi_core::types::Time;

use super::PostgresDatabase;
use super::connection::{OwnedValue, PgConnection};
use super::text::{from_stored, to_stored};
use crate::ports::{BoxFuture, PostKey, PostLedger, PostProgress};
use crate::stores::StoreError;

impl PostLedger for PostgresDatabase {
    fn begin<'a>(&'a self, post: PostKey<'a>, now: Time) -> BoxFuture<'a, Result<PostProgress, StoreError>> {
        let (platform, key) = stored(post);
        let begin = move |connection: &PgConnection| {
            let query = "SELECT begun, id FROM post WHERE platform = $1 AND key = $2";
            if let Some(row) = connection.first(query, &[&platform, &key])? {
                let (begun, id): (i64, Option<String>) = (row.get(0), row.get(1));
                let begun = PostProgress::Begun(Time(begun.cast_unsigned()));
                return Ok(id.map_or(begun, |id| PostProgress::Posted(from_stored(id))));
            }
            let insert = "INSERT INTO post (platform, key, begun) VALUES ($1, $2, $3)";
            connection.execute(insert, &[&platform, &key, &(now.0 as i64)])?;
            Ok(PostProgress::New)
        };
        Box::pin(self.write(begin))
    }

    fn begin_again<'a>(
        &'a self,
        post: PostKey<'a>,
        before: Time,
        now: Time,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        let (platform, key) = stored(post);
        let note = "UPDATE post SET begun = $4 WHERE platform = $1 AND key = $2 AND begun = $3 AND id IS NULL";
        let note = move |connection: &PgConnection| {
            Ok(connection.execute(note, &[&platform, &key, &(before.0 as i64), &(now.0 as i64)])? == 1)
        };
        Box::pin(self.write(note))
    }

    fn has_others(&self) -> bool {
        self.is_shared()
    }

    fn posted<'a>(&'a self, post: PostKey<'a>, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        let ((platform, key), id) = (stored(post), to_stored(id).into_owned());
        let note = "UPDATE post SET id = $3 WHERE platform = $1 AND key = $2 AND id IS NULL";
        let values = move || vec![owned(&platform), owned(&key), owned(&id)];
        Box::pin(self.write(move |connection| connection.execute_later(note, values())))
    }

    fn withdraw<'a>(&'a self, post: PostKey<'a>) -> BoxFuture<'a, Result<(), StoreError>> {
        let (platform, key) = stored(post);
        let delete = "DELETE FROM post WHERE platform = $1 AND key = $2 AND id IS NULL";
        let values = move || vec![owned(&platform), owned(&key)];
        Box::pin(self.write(move |connection| connection.execute_later(delete, values())))
    }

    fn taken<'a>(&'a self, platform: &'a str, ids: &'a [String]) -> BoxFuture<'a, Result<HashSet<String>, StoreError>> {
        let platform = platform.to_owned();
        let ids: Vec<String> = ids.iter().map(|id| to_stored(id).into_owned()).collect();
        let find = move |connection: &PgConnection| {
            let find = "SELECT id FROM post WHERE platform = $1 AND id = ANY ($2)";
            Ok(connection.query(find, &[&platform, &ids])?.iter().map(|row| from_stored(row.get(0))).collect())
        };
        Box::pin(self.read(find))
    }

    fn sweep<'a>(&'a self, platform: &'a str, before: Time) -> BoxFuture<'a, Result<(), StoreError>> {
        let (platform, before) = (platform.to_owned(), before.0 as i64);
        let delete = "DELETE FROM post WHERE platform = $1 AND begun < $2";
        Box::pin(self.write(move |connection| connection.execute(delete, &[&platform, &before]).map(drop)))
    }
}

fn owned(text: &str) -> OwnedValue {
    Box::new(text.to_owned())
}

fn stored(post: PostKey<'_>) -> (String, String) {
    (post.platform.to_owned(), to_stored(post.key).into_owned())
}
