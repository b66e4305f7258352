//! The tool `xivapi`: items, actions and quests of FINAL FANTASY XIV, from XIVAPI (version 2).

mod answer;
mod kind;
mod settings;
mod tool;

#[cfg(test)]
mod tests;

pub use settings::XivapiSettings;
pub use tool::Xivapi;
