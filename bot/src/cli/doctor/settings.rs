//! The settings: reports every mistake at once, each with its location.

use aizuchi_core::Policies;
use aizuchi_core::settings::Layers;

use crate::check::Check;
use crate::cli::logs::{self, LogSettings};
use crate::cli::rooms;
use crate::cli::settings::SettingsArguments;
use crate::config::{self, BadSettings};
use crate::platforms::web::WebSettings;
use crate::schedule::ScheduleSettings;

const PART: &str = "settings";
const FIX: &str = "`aizuchi settings` prints every setting with its meaning";
const RENAME: &str = "use the new name";

/// The mistakes, or the settings.
pub fn check(arguments: &SettingsArguments) -> (Vec<Check>, Option<(Layers, Policies)>) {
    let read = rooms::layers(arguments).and_then(|layers| Ok((config::resolve(&layers)?, layers)));
    let (policies, layers) = match read {
        Ok((policies, layers)) => (policies, layers),
        Err(error) => return (mistakes(&error), None),
    };
    let level = layers.section::<LogSettings>().map_or_else(|_| String::new(), |log| log.level);
    if let Err(what) = logs::filter(&level) {
        let mistake = layers.problem("log.level", &level, what).to_string();
        return (vec![Check::fail(PART, mistake, FIX)], Some((layers, policies)));
    }
    let file = config::file(arguments.config.as_deref());
    let from = file.unwrap_or_else(|| "no file, all defaults (aizuchi init writes one)".into());
    let told = format!("{from}; preset {}, bot name {}", layers.preset(), policies.general().settings.bot.name);
    let renamed = layers.renamed().iter().map(|renamed| Check::warn(PART, renamed.to_string(), RENAME));
    let checks = std::iter::once(Check::ok(PART, told)).chain(renamed).chain(schedules(&layers)).collect();
    (checks, Some((layers, policies)))
}

/// Schedules for rooms of the web that the settings do not have: somebody may have opened one, or the name is misspelt.
fn schedules(layers: &Layers) -> Vec<Check> {
    let (Ok(schedules), Ok(web)) = (config::family::<ScheduleSettings>(layers), config::section::<WebSettings>(layers))
    else {
        return Vec::new();
    };
    let unknown = schedules.iter().filter_map(|(name, schedule)| {
        let room = schedule.room.strip_prefix("web:")?;
        let is_known = web.rooms.iter().any(|known| known.to_lowercase() == room.to_lowercase());
        (!is_known).then(|| {
            let told = format!("[schedule.{name}] is for the room {:?}, which is not in web.rooms", schedule.room);
            Check::warn(PART, told, "check its name, or open it in the web room")
        })
    });
    unknown.collect()
}

fn mistakes(error: &anyhow::Error) -> Vec<Check> {
    match error.downcast_ref::<BadSettings>() {
        Some(BadSettings(mistakes)) => mistakes.iter().map(|mistake| Check::fail(PART, mistake, FIX)).collect(),
        None => vec![Check::fail(PART, format!("{error:#}"), FIX)],
    }
}
