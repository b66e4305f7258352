//! The section `[store]` of the settings.

use aizuchi_core::settings::{Any, Flat};
use aizuchi_core::settings_section;
use secrecy::{ExposeSecret as _, SecretString};

use crate::config;
use crate::lookalike::looks_empty;
use crate::stores::StoreLocation;

settings_section! {
    "store": StoreSettings {
        folder: String = Any,
        url: SecretString = Any,
        memory_url: SecretString = Any,
        keep_days: u32 = 1..=100_000,
        deleted_hours: u32 = 0..=1_000_000,
        snapshot_records: u32 = 1..=100_000_000,
    }
    defaults: include_str!("default.toml"),
    check: check
}

fn check(store: &StoreSettings, flat: &mut Flat) {
    if looks_empty(&store.folder) {
        flat.misfit("store.folder", "a folder, such as \"data\"");
    }
    if store.has_database()
        && let Err(what) = StoreLocation::of(store)
    {
        flat.complain("store.url", format!("`store.url` {what}"));
    }
    match StoreLocation::of_memory(store) {
        Err(what) => flat.complain("store.memory_url", format!("`store.memory_url` {what}")),
        Ok(Some(_)) if store.has_database() => flat.complain(
            "store.memory_url",
            "`store.memory_url` is for memory beside a file; with `store.url`, memory is in that database".to_owned(),
        ),
        Ok(_) => (),
    }
}

impl StoreSettings {
    /// Whether everything is in a database.
    pub fn has_database(&self) -> bool {
        !self.url.expose_secret().is_empty()
    }
}

impl Default for StoreSettings {
    fn default() -> StoreSettings {
        config::new_layers().section().expect("the defaults are sound")
    }
}
