//! `aizuchi doctor`: checks every part and says how to fix what is wrong.

mod budget;
mod clock;
#[cfg(feature = "mcp")]
mod mcp;
mod models;
mod platforms;
mod prepared;
mod settings;
mod store;

use std::fmt::Write as _;
use std::io::IsTerminal as _;

use aizuchi_core::settings::Settings;
use aizuchi_core::{Policies, settings::Layers};
use anyhow::bail;
use clap::Args;
use serde_json::json;

use crate::check::{Check, Level};
use crate::cli::logs::wants_colours;
use crate::cli::run::variable;
use crate::cli::settings::SettingsArguments;
use crate::cli::show::{harmless, harmless_json};
use crate::config;
use crate::models::{ModelChoice, choose};
use crate::stores::StoreSettings;

#[derive(Args)]
pub struct DoctorArguments {
    /// Call no model and no platform, and start no MCP server
    #[arg(long)]
    offline: bool,
    /// Print one line of JSON instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArguments,
}

/// Whether models and platforms are really called, which takes a moment and, for a model, costs a fraction of a cent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveChecks {
    Real,
    None,
}

pub fn run(arguments: &DoctorArguments) -> anyhow::Result<()> {
    let checks = checks(&arguments.settings, if arguments.offline { LiveChecks::None } else { LiveChecks::Real });
    let failed = checks.iter().filter(|check| check.level == Level::Fail).count();
    if arguments.json {
        super::print(&format!("{}\n", harmless_json(&json!({"ok": failed == 0, "checks": checks}))))?;
    } else {
        super::print(&render(&checks, LineStyle::of_terminal()))?;
    }
    match failed {
        0 => Ok(()),
        1 => bail!("one check failed"),
        more => bail!("{more} checks failed"),
    }
}

/// The input of every check.
pub struct DoctorContext<'a> {
    pub layers: &'a Layers,
    pub policies: &'a Policies,
    pub settings: &'a Settings,
    pub store: StoreSettings,
    /// The models that `run` would choose, or why it would not start.
    pub choice: &'a anyhow::Result<ModelChoice>,
    pub environment: &'a dyn Fn(&str) -> Option<String>,
    pub calls: LiveChecks,
}

fn checks(arguments: &SettingsArguments, calls: LiveChecks) -> Vec<Check> {
    let (mut checks, found) = settings::check(arguments);
    let Some((mut layers, policies)) = found else {
        checks.push(Check::warn("rest", "not checked", "everything else depends on the settings: fix them first"));
        return checks;
    };
    let local = models::find_local_server(&layers, calls);
    let choice = choose(&mut layers, &variable, local.as_ref());
    let policies = config::resolve(&layers).unwrap_or(policies);
    let context = DoctorContext {
        layers: &layers,
        policies: &policies,
        settings: &policies.general().settings,
        store: layers.section().unwrap_or_default(),
        choice: &choice,
        environment: &variable,
        calls,
    };
    let (of_store, is_running) = store::check(&context);
    checks.extend(of_store);
    checks.extend(models::check(&context));
    checks.extend(budget::check(&context));
    checks.extend(prepared::check_memory(&context));
    checks.extend(platforms::check(&context, is_running));
    #[cfg(feature = "mcp")]
    checks.extend(mcp::check(&context));
    checks.extend(prepared::check_prompts(&context));
    checks.extend(prepared::check_learnt(&context));
    checks.extend(clock::check(&context));
    checks
}

/// The prefix of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineStyle {
    Plain,
    Coloured,
}

impl LineStyle {
    fn of_terminal() -> LineStyle {
        if std::io::stdout().is_terminal() && wants_colours() { LineStyle::Coloured } else { LineStyle::Plain }
    }

    fn mark(self, level: Level) -> &'static str {
        match (self, level) {
            (LineStyle::Plain, Level::Ok) => "ok  ",
            (LineStyle::Plain, Level::Warn) => "warn",
            (LineStyle::Plain, Level::Fail) => "fail",
            (LineStyle::Coloured, Level::Ok) => "\u{1b}[32m✓\u{1b}[0m",
            (LineStyle::Coloured, Level::Warn) => "\u{1b}[33m!\u{1b}[0m",
            (LineStyle::Coloured, Level::Fail) => "\u{1b}[31m✗\u{1b}[0m",
        }
    }
}

fn render(checks: &[Check], look: LineStyle) -> String {
    let mut text = String::new();
    for Check { part, level, told, fix } in checks {
        let _ = write!(text, "{} {part:9} {}", look.mark(*level), harmless(told));
        if let Some(fix) = fix {
            let _ = write!(text, " — {}", harmless(fix));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_per_check_with_a_mark_for_people() {
        let checks = [
            Check::ok("clock", "12:00"),
            Check::warn("store", "near\nly full", "make room"),
            Check::fail("web", "taken", "take another"),
        ];
        assert_eq!(
            render(&checks, LineStyle::Plain),
            "ok   clock     12:00\nwarn store     near�ly full — make room\nfail web       taken — take another\n"
        );
        let coloured = render(&checks, LineStyle::Coloured);
        assert!(coloured.contains('✓') && coloured.contains("!") && coloured.contains('✗'));
    }
}
