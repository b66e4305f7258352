//! Presets chosen for single rooms. They are kept beside the store as a readable settings file, `rooms.toml`; the processes of a cluster
//! keep them in the database that they share.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use aizuchi_core::settings::{Layers, PRESETS};
use anyhow::Context as _;
use toml_edit::{DocumentMut, Item, Table};

use super::settings::SettingsArguments;
use crate::config;
use crate::stores::StoreSettings;
#[cfg(feature = "cluster")]
use crate::stores::postgres::PostgresDatabase;

/// The preset of each room for which one was chosen.
pub type ChosenPresets = BTreeMap<String, String>;

/// Where choices are kept.
#[derive(Clone)]
pub enum RoomPresets {
    /// In the file alone.
    File,
    /// In the database, where every process of a cluster finds them; they go before those of the file.
    #[cfg(feature = "cluster")]
    Shared(std::sync::Arc<PostgresDatabase>),
}

impl RoomPresets {
    /// Those that are not in the file.
    pub async fn shared(&self) -> anyhow::Result<ChosenPresets> {
        match self {
            RoomPresets::File => Ok(ChosenPresets::new()),
            #[cfg(feature = "cluster")]
            RoomPresets::Shared(database) => database.room_presets().await.context("cannot read the presets of rooms"),
        }
    }

    /// Sets the preset of a room.
    pub async fn choose(&self, folder: &Path, room: &str, preset: &str) -> anyhow::Result<()> {
        match self {
            RoomPresets::File => choose(folder, room, preset),
            #[cfg(feature = "cluster")]
            RoomPresets::Shared(database) => {
                database.choose_preset(room, preset).await.context("cannot keep the preset of the room")
            }
        }
    }
}

const HEAD: &str = "# Presets chosen with /preset, one room each. aizuchi writes this file.\n";

pub fn path(folder: &Path) -> PathBuf {
    folder.join("rooms.toml")
}

/// The settings, including those chosen for single rooms.
pub fn layers(arguments: &SettingsArguments) -> anyhow::Result<Layers> {
    let mut layers = arguments.layers()?;
    config::resolve(&layers)?;
    let StoreSettings { folder, .. } = config::section(&layers)?;
    add(&mut layers, Path::new(&folder))?;
    Ok(layers)
}

/// The same with the choices that processes share, and these.
pub async fn layers_with(
    arguments: &SettingsArguments,
    presets: &RoomPresets,
) -> anyhow::Result<(Layers, ChosenPresets)> {
    let (mut layers, shared) = (layers(arguments)?, presets.shared().await?);
    add_shared(&mut layers, &shared)?;
    Ok((layers, shared))
}

/// Adds the file to the settings, if it exists.
pub fn add(layers: &mut Layers, folder: &Path) -> anyhow::Result<()> {
    let path = path(folder);
    match std::fs::read_to_string(&path) {
        Ok(text) => layers.add_file(&path.to_string_lossy(), &text),
        // An invalid folder is reported when it is opened.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => (),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
    Ok(())
}

/// Adds choices that are not in the file.
fn add_shared(layers: &mut Layers, presets: &ChosenPresets) -> anyhow::Result<()> {
    let mut document = DocumentMut::new();
    for (room, preset) in presets {
        // A program of another version may have chosen it.
        if PRESETS.iter().all(|(name, _)| name != preset) {
            tracing::warn!(room, preset, "unknown preset of a room; it has the general one");
            continue;
        }
        set_preset(&mut document, room, preset)?;
    }
    layers.add_file("the presets chosen with /preset", &document.to_string());
    Ok(())
}

/// The choices in the file.
#[cfg(feature = "cluster")]
pub fn in_file(folder: &Path) -> anyhow::Result<ChosenPresets> {
    let path = path(folder);
    match std::fs::read_to_string(&path) {
        Ok(text) => presets_in(&text).with_context(|| format!("cannot read {}", path.display())),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(ChosenPresets::new())
        }
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

#[cfg(feature = "cluster")]
fn presets_in(text: &str) -> anyhow::Result<ChosenPresets> {
    let document: DocumentMut = text.parse()?;
    let channels = document.get("channel").and_then(Item::as_table_like);
    let preset = |(room, own): (&str, &Item)| Some((room.to_owned(), own.get("preset")?.as_str()?.to_owned()));
    Ok(channels.into_iter().flat_map(|channels| channels.iter()).filter_map(preset).collect())
}

/// Sets the preset of a room in the file. It is replaced atomically, and comments in it are kept.
pub fn choose(folder: &Path, room: &str, preset: &str) -> anyhow::Result<()> {
    let path = path(folder);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => HEAD.to_owned(),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let text = with_preset(&text, room, preset).with_context(|| format!("cannot change {}", path.display()))?;
    let aside = path.with_extension("new");
    std::fs::write(&aside, text).with_context(|| format!("cannot write {}", aside.display()))?;
    std::fs::rename(&aside, &path).with_context(|| format!("cannot write {}", path.display()))
}

/// The text of the file with this preset set for this room.
fn with_preset(text: &str, room: &str, preset: &str) -> anyhow::Result<String> {
    let mut document: DocumentMut = text.parse()?;
    // Comments in a file without settings would otherwise end up after the new table.
    let head = if document.is_empty() { format!("{text}\n") } else { String::new() };
    if document.is_empty() {
        document = DocumentMut::new();
    }
    set_preset(&mut document, room, preset)?;
    Ok(head + &document.to_string())
}

fn set_preset(document: &mut DocumentMut, room: &str, preset: &str) -> anyhow::Result<()> {
    let channels = document.entry("channel").or_insert_with(implicit_table);
    let channels =
        channels.as_table_like_mut().context("`channel` must be a table, such as [channel.\"web:lobby\"]")?;
    let channel = channels.entry(room).or_insert_with(toml_edit::table);
    let channel = channel.as_table_like_mut().with_context(|| format!("`channel.{room:?}` must be a table"))?;
    channel.insert("preset", toml_edit::value(preset));
    Ok(())
}

/// A table that is written without a header of its own.
fn implicit_table() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn presets(text: &str, room: &str) -> (bool, u32) {
        let mut layers = config::new_layers();
        layers.add_file("rooms.toml", text);
        let policies = layers.resolve(&|_| None).unwrap();
        let settings = &policies.for_room(room).settings;
        (settings.address.name, settings.response.min_wait_seconds)
    }

    #[test]
    fn what_is_chosen_holds_and_reads_as_settings() {
        let odd = "web:\"庭\" ]\n[x";
        let text = with_preset(HEAD, "web:lobby", "sphene").unwrap();
        let text = with_preset(&text, odd, "sphene").unwrap();
        let text = with_preset(&text, odd, "myao2").unwrap();
        assert!(text.starts_with(HEAD), "{text}");
        assert!(presets(&text, "web:lobby").0);
        assert_eq!(presets(&text, odd).1, 300);
        assert_eq!(text.matches("preset").count() - HEAD.matches("preset").count(), 2, "{text}");
    }

    #[test]
    fn what_people_wrote_into_the_file_stays() {
        let own = "# mine\nchannel.\"web:den\" = { preset = \"myao2\" } # quiet\n";
        let text = with_preset(own, "web:den", "sphene").unwrap();
        assert!(text.contains("# mine") && text.contains("# quiet"), "{text}");
        assert!(presets(&text, "web:den").0);
        let error = with_preset("[channel", "web:den", "sphene").unwrap_err();
        assert!(error.to_string().contains("line 1"), "{error}");
        assert!(with_preset("channel = 1", "web:den", "sphene").is_err());
    }

    #[test]
    fn choices_that_processes_share_go_before_those_of_the_file() {
        let mut layers = config::new_layers();
        layers.add_file("rooms.toml", &with_preset(HEAD, "web:den", "sphene").unwrap());
        let chosen = [("web:den", "myao2"), ("web:\"庭\" ]", "kotonoha"), ("web:lobby", "of a later version")];
        let chosen = chosen.map(|(room, preset)| (room.to_owned(), preset.to_owned())).into();
        add_shared(&mut layers, &chosen).unwrap();
        let presets = layers.presets();
        let found = ["web:den", "web:\"庭\" ]", "web:lobby"].map(|room| presets.for_room(room));
        assert_eq!(found, ["myao2", "kotonoha", "aizuchi"]);
        layers.resolve(&|_| None).unwrap();
    }

    #[cfg(feature = "cluster")]
    #[test]
    fn the_choices_in_a_file_are_found() {
        let text = "bot.name = \"hana\"\nchannel.\"web:den\" = { preset = \"myao2\" }\n[channel.\"web:hall\"]\nbot.name = \"x\"\n";
        let found = presets_in(&with_preset(text, "web:lobby", "sphene").unwrap()).unwrap();
        let found: Vec<(&str, &str)> = found.iter().map(|(room, preset)| (room.as_str(), preset.as_str())).collect();
        assert_eq!(found, [("web:den", "myao2"), ("web:lobby", "sphene")]);
        assert!(presets_in("").unwrap().is_empty());
    }
}
