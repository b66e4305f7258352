//! Presets chosen for single rooms, kept beside the store as a readable settings file: `rooms.toml`.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use aizuchi_core::settings::Layers;
use anyhow::Context as _;
use toml_edit::{DocumentMut, Item, Table};

use super::settings::SettingsArguments;
use crate::config;
use crate::stores::StoreSettings;

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

/// Sets the preset of a room. The file is replaced atomically, and comments in it are kept.
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
    let channels = document.entry("channel").or_insert_with(implicit_table);
    let channels =
        channels.as_table_like_mut().context("`channel` must be a table, such as [channel.\"web:lobby\"]")?;
    let channel = channels.entry(room).or_insert_with(toml_edit::table);
    let channel = channel.as_table_like_mut().with_context(|| format!("`channel.{room:?}` must be a table"))?;
    channel.insert("preset", toml_edit::value(preset));
    Ok(head + &document.to_string())
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
}
