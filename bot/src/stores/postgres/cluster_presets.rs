//! The presets that were chosen for single rooms of a cluster.

use std::collections::BTreeMap;

use super::PostgresDatabase;
use super::connection::PgConnection;
use super::text::{from_stored, to_stored};
use crate::stores::StoreError;

impl PostgresDatabase {
    /// The preset of each room for which one was chosen.
    pub async fn room_presets(&self) -> Result<BTreeMap<String, String>, StoreError> {
        let read = |connection: &PgConnection| {
            let rows = connection.query("SELECT room, preset FROM cluster_preset", &[])?;
            Ok(rows.iter().map(|row| (from_stored(row.get(0)), from_stored(row.get(1)))).collect())
        };
        self.read(read).await
    }

    pub async fn choose_preset(&self, room: &str, preset: &str) -> Result<(), StoreError> {
        let (room, preset) = (to_stored(room).into_owned(), to_stored(preset).into_owned());
        let upsert = "INSERT INTO cluster_preset (room, preset) VALUES ($1, $2)
            ON CONFLICT (room) DO UPDATE SET preset = excluded.preset";
        self.write(move |connection| connection.execute(upsert, &[&room, &preset]).map(drop)).await
    }

    /// Takes over what a process has in a file of its own, for rooms for which no process has chosen anything.
    pub async fn take_over_presets(&self, presets: BTreeMap<String, String>) -> Result<(), StoreError> {
        if presets.is_empty() {
            return Ok(());
        }
        let insert = "INSERT INTO cluster_preset (room, preset) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        let take_over = move |connection: &PgConnection| {
            presets.iter().try_for_each(|(room, preset)| {
                connection.execute(insert, &[&to_stored(room), &to_stored(preset)]).map(drop)
            })
        };
        self.write(take_over).await
    }
}
