//! What was ordered for single rooms, kept beside the store as settings people can read: `rooms.toml`.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use aizuchi_core::settings::Layers;
use anyhow::Context as _;

use super::settings::SettingsArguments;
use crate::config;

const HEAD: &str = "# Presets that were chosen by order, one room each. aizuchi writes this file.\n";

pub fn path(folder: &Path) -> PathBuf {
    folder.join("rooms.toml")
}

/// The settings, with what was ordered for single rooms.
pub fn layers(arguments: &SettingsArguments) -> anyhow::Result<Layers> {
    let mut layers = arguments.layers()?;
    let folder = config::resolve(&layers)?.general().settings.store.folder.clone();
    add(&mut layers, Path::new(&folder))?;
    Ok(layers)
}

/// Adds it to the settings, if it is there.
pub fn add(layers: &mut Layers, folder: &Path) -> anyhow::Result<()> {
    let path = path(folder);
    match std::fs::read_to_string(&path) {
        Ok(text) => layers.add_file(&path.to_string_lossy(), &text),
        // A folder that can not be is told when it is taken.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => (),
        Err(error) => return Err(error).with_context(|| format!("can not read {}", path.display())),
    }
    Ok(())
}

/// Chooses a preset for a room. The file is complete or as it was.
pub fn choose(folder: &Path, room: &str, preset: &str) -> anyhow::Result<()> {
    let path = path(folder);
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let mut presets = read(&text);
    presets.insert(room.to_owned(), preset.to_owned());
    let aside = path.with_extension("new");
    std::fs::write(&aside, write(&presets)).with_context(|| format!("can not write {}", aside.display()))?;
    std::fs::rename(&aside, &path).with_context(|| format!("can not write {}", path.display()))
}

/// JSON's texts are texts of TOML too.
fn write(presets: &BTreeMap<String, String>) -> String {
    let quoted = |text: &str| serde_json::to_string(text).expect("a text is plain data");
    let rooms =
        presets.iter().map(|(room, preset)| format!("\n[channel.{}]\npreset = {}\n", quoted(room), quoted(preset)));
    HEAD.to_owned() + &rooms.collect::<String>()
}

fn read(text: &str) -> BTreeMap<String, String> {
    let mut presets = BTreeMap::new();
    let mut room: Option<String> = None;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("[channel.").and_then(|rest| rest.strip_suffix(']')) {
            room = serde_json::from_str(name).ok();
        } else if let (Some(of), Some(preset)) = (&room, line.strip_prefix("preset = ")) {
            presets.extend(serde_json::from_str(preset).ok().map(|preset| (of.clone(), preset)));
        }
    }
    presets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_chosen_holds_and_reads_as_settings() {
        let odd = "web:\"庭\" ]\n[x";
        let presets: BTreeMap<String, String> =
            [("web:lobby", "sphene"), (odd, "myao2")].map(|(room, preset)| (room.into(), preset.into())).into();
        let text = write(&presets);
        assert_eq!(read(&text), presets);
        let mut layers = config::new_layers();
        layers.add_file("rooms.toml", &text);
        let policies = layers.resolve(&|_| None).unwrap();
        assert!(policies.for_room("web:lobby").settings.address.name);
        assert_eq!(policies.for_room(odd).settings.response.min_wait_seconds, 300);
    }
}
