//! Opens the store to look into it, also while the program is running, and says what stands in the way.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use rusqlite::Connection;

use crate::cli::settings::SettingsArguments;
use crate::cli::show::complain;
use crate::keeper;
use crate::stores::{Database, Folder, Settled, StoreError, open_for_reading};

/// The folder that was named, or the one of the settings.
pub fn folder(named: Option<&str>, settings: &SettingsArguments) -> anyhow::Result<PathBuf> {
    match named {
        Some(folder) => Ok(folder.into()),
        None => Ok(settings.policies()?.general().settings.store.folder.clone().into()),
    }
}

pub fn open(folder: &Path) -> anyhow::Result<Connection> {
    let database = Folder::database_in(folder);
    if !database.exists() {
        bail!(
            "there is no store in {}: nothing was recorded there yet (aizuchi run records; setting store.folder says where)",
            folder.display()
        );
    }
    let connection = open_for_reading(&database).with_context(|| format!("can not open {}", database.display()))?;
    let is_ours = connection.table_exists(None, "journal").and_then(|journal| {
        let traces = connection.table_exists(None, "trace")?;
        Ok(journal && traces)
    });
    match is_ours {
        Ok(true) => Ok(connection),
        Ok(false) => bail!("{} is not a store of aizuchi", database.display()),
        Err(error) => Err(error).with_context(|| format!("can not read {}", database.display())),
    }
}

/// Has what was deleted leave the files; where something else reads them, `aizuchi run` does it.
pub async fn settle(database: &Database) -> Result<(), StoreError> {
    if database.settle().await? == Settled::StillRead {
        keeper::settle_later(database).await?;
        complain("something else is reading the store: old pages stay in the file until aizuchi runs again");
    }
    Ok(())
}

/// Rooms by their whole id, or by what follows the platform's name.
pub fn is_room(id: &str, asked: &str) -> bool {
    id == asked || id.split_once(':').is_some_and(|(_, name)| name == asked)
}

/// The id of the room that is meant.
pub fn find_room(connection: &Connection, asked: &str) -> anyhow::Result<String> {
    let rooms = rooms(connection)?;
    if rooms.iter().any(|room| room == asked) {
        return Ok(asked.to_owned());
    }
    let meant: Vec<&String> = rooms.iter().filter(|room| is_room(room, asked)).collect();
    match meant.as_slice() {
        [] => bail!("nothing was decided in a room {asked}; there are {}", listed(&rooms)),
        [room] => Ok(room.to_string()),
        several => bail!("{asked} may be any of {}", listed(several)),
    }
}

pub fn listed<T: AsRef<str>>(names: &[T]) -> String {
    const SHOWN: usize = 20;
    let mut shown: Vec<&str> = names.iter().take(SHOWN).map(AsRef::as_ref).collect();
    match names.len() {
        0 => shown.push("none"),
        all if all > SHOWN => shown.push("…"),
        _ => (),
    }
    shown.join(", ")
}

/// The rooms in which anything was decided. Goes from name to name, however many decisions lie between.
fn rooms(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut next = connection.prepare("SELECT min(room) FROM trace WHERE ?1 IS NULL OR room > ?1")?;
    let mut rooms: Vec<String> = Vec::new();
    while let Some(room) = next.query_row([rooms.last()], |row| row.get(0))? {
        rooms.push(room);
    }
    Ok(rooms)
}
