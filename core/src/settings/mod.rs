//! Settings: text in, validated values out. Layers from the compiled-in default to the command line; the last one wins.

mod addresses;
mod blanks;
mod channels;
mod documents;
mod entries;
mod flat;
mod hints;
mod layers;
mod lists;
mod points;
mod pricing;
mod problem;
mod renamed;
mod same;
mod schema;
mod section;
mod shell_values;
mod sound;
mod value;
mod variables;

pub use addresses::is_url;
pub use channels::Presets;
pub(crate) use channels::of_room;
pub use flat::Flat;
pub use layers::Layers;
pub(crate) use layers::Resolved;
pub use points::Points;
pub(crate) use points::RULE_IDS;
pub use pricing::{PriceBasis, Pricing, is_own_network};
pub use problem::Problem;
pub use same::SamePeople;
pub use schema::Budget;
pub use schema::{MemorySettings, Settings, ToolSettings, keys};
pub use section::{FamilyRow, Section, SectionFamily, SectionKey, SectionRow, Shell};
pub use toml::Value as TomlValue;
pub use value::Hours;
pub use value::MatchStyle;
pub use value::OtherBots;
pub use value::OwnPosts;
pub use value::{
    Any, Bounds, CacheTokens, JudgeStyle, LanguageSetting, Price, ProviderSettings, Ranking, Setting, StoreName,
    WireFormat,
};
pub use variables::{VARIABLE_RIGHT, is_variable_name};

/// Every setting of the engine with its default and a sentence. The manual is the defaults: these, followed by those of the
/// shell, see [`Shell::manual`].
pub const DEFAULT: &str = include_str!("default.toml");

/// The presets as differences from the default.
pub const PRESETS: &[(&str, &str)] = &[
    ("aizuchi", ""),
    ("kotonoha", include_str!("../../../presets/kotonoha.toml")),
    ("sphene", include_str!("../../../presets/sphene.toml")),
    ("myao2", include_str!("../../../presets/myao2.toml")),
];
