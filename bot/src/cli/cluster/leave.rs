//! `aizuchi cluster leave`: the database of a cluster becomes that of a single process.

use std::path::Path;

use anyhow::{Context as _, bail};

use super::live::GATEWAY;
use crate::cli::rooms::RoomPresets;
use crate::cli::settings::SettingsArguments;
use crate::cli::store::{CommandRuntime, until_silent, within};
use crate::cli::{harmless, print, store};
use crate::cluster::{ClusterSettings, hand_back};
use crate::ports::{ClusterMoves as _, RoomsOwner};
use crate::stores::postgres::LockHolder;
use crate::stores::{DataFolder, StoreSettings};

pub fn run(settings: &SettingsArguments) -> anyhow::Result<()> {
    let section: ClusterSettings = settings.section()?;
    let chosen: StoreSettings = settings.section()?;
    let (location, policies) = (store::location_of(&chosen)?, settings.policies()?);
    let restate = section.restate()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let runtime = CommandRuntime::new(runtime);
    let shown = location.display_name();
    let rooms = runtime.wait(async {
        let (database, _) = within(location.open_among_others()).await?;
        let held = within(database.lock_holders(&[GATEWAY])).await?;
        let gateway = held.into_iter().find(|holder| holder.name.is_some());
        if let Some(LockHolder { process, address, .. }) = gateway {
            bail!("a gateway still runs ({} from {}): stop it, and try again", harmless(&process), harmless(&address));
        }
        if !is_to_be_left(within(database.rooms_owner()).await?, &shown)? {
            return Ok(None);
        }
        // A single machine keeps these beside its store; nothing is handed back where it cannot.
        DataFolder::make(Path::new(&chosen.folder))?;
        for (room, preset) in within(database.room_presets()).await? {
            RoomPresets::File.choose(Path::new(&chosen.folder), &room, &preset).await?;
        }
        tokio::select! {
            rooms = hand_back(&restate, &*database, &policies) => rooms.map(Some),
            error = until_silent(&location) => Err(error).context("stopped; the same command goes on with it"),
        }
    })?;
    let Some(rooms) = rooms else {
        return print(&format!("the cluster on {shown} has been left already: `aizuchi run` goes on there\n"));
    };
    print(&format!(
        "{rooms} rooms are in {shown} now. Stop the workers; then `aizuchi run` goes on there. Restate still has the rooms as they were: give a \
         cluster that starts on this database again an empty one.\n"
    ))
}

/// `Err` says what would be overwritten.
fn is_to_be_left(owner: RoomsOwner, shown: &str) -> anyhow::Result<bool> {
    let what = match owner {
        RoomsOwner::Cluster => return Ok(true),
        RoomsOwner::JustLeft => return Ok(false),
        RoomsOwner::Disputed => format!(
            "a single process has recorded something in {shown} after the cluster did: to go on with that, copy it into another store \
             (`aizuchi store copy`) and start `aizuchi run` there"
        ),
        RoomsOwner::SingleSinceLeft => {
            format!(
                "a single process has recorded something in {shown} since the cluster was left: `aizuchi run` goes on there"
            )
        }
        RoomsOwner::Single => format!("there is no room of a cluster in {shown}: `aizuchi run` goes on there"),
    };
    bail!("{what}; nothing was changed")
}
