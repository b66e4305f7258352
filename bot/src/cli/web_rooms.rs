//! `aizuchi rooms`: lists the web rooms, and closes one without a browser.

use std::fmt::Write as _;

use aizuchi_core::types::RoomId;
use anyhow::{Context as _, bail, ensure};
use clap::{Args, Subcommand};

use super::settings::SettingsArguments;
use super::show::harmless;
use super::store::{self, HeldPart, HeldStore};
use super::when;
use crate::platforms::web::WebSettings;
use crate::platforms::web::rooms;
use crate::runtime::Clock;

#[derive(Args)]
pub struct RoomsArguments {
    #[command(subcommand)]
    command: RoomsCommand,
    /// The data folder [default: that of the settings]
    #[arg(long, value_name = "DIR", global = true)]
    folder: Option<String>,
    #[command(flatten)]
    settings: SettingsArguments,
}

#[derive(Subcommand)]
enum RoomsCommand {
    /// List the rooms with when each was opened and how many messages it has
    List,
    /// Close a room for everybody and delete all that was said in it
    ///
    /// What was remembered about it is forgotten too. Needs exclusive use of the data folder: while aizuchi is running, the
    /// person who opened the room uses its button or /close-room.
    Close {
        /// The name of the room, such as garden
        room: String,
    },
}

pub fn run(arguments: &RoomsArguments) -> anyhow::Result<()> {
    match &arguments.command {
        RoomsCommand::List => list(arguments),
        RoomsCommand::Close { room } => close(arguments, room.strip_prefix("web:").unwrap_or(room)),
    }
}

fn list(arguments: &RoomsArguments) -> anyhow::Result<()> {
    let location = store::location(arguments.folder.as_deref(), &arguments.settings)?;
    let opened = store::open(&location)?;
    let counted = opened.wait(opened.backend.platform_stores().web.count_messages());
    let counted = counted.with_context(|| format!("cannot read {}", location.display_name()))?;
    let mut text = String::from("opened            messages  room\n");
    for (room, messages) in counted.into_iter().filter(|(room, _)| rooms::is_listed(&room.name)) {
        let _ = writeln!(text, "{:16}  {messages:>8}  {}", when::day_and_clock(room.opened), harmless(&room.name));
    }
    super::print(&text)
}

fn close(arguments: &RoomsArguments, room: &str) -> anyhow::Result<()> {
    let location = store::location(arguments.folder.as_deref(), &arguments.settings)?;
    let own = arguments.settings.section::<WebSettings>()?.rooms;
    ensure!(!own.iter().any(|own| own == room), "{room} is listed in web.rooms: remove it there first");
    store::open(&location)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let closed = runtime.block_on(async {
        let held = HeldStore::open(&location, &arguments.settings, HeldPart::Everything).await;
        let held = held.context("nothing was changed")?;
        let close = rooms::close_unheard(room.to_owned(), Clock::Wall.now());
        let closed = close.make(&*held.backend.platform_stores().web).await?.is_ok();
        if closed {
            let keeper = held.keeper().await?;
            keeper.forget_room_at_rest(RoomId::new(format!("web:{room}"))).await?;
            held.settle().await?;
        }
        anyhow::Ok(closed)
    })?;
    if !closed {
        bail!("there is no web room {room}; `aizuchi rooms list` lists them");
    }
    super::print(&format!("closed {}\n", harmless(room)))
}
