//! `aizuchi demo`: a sample conversation, decided message by message.

use clap::Args;

use crate::config;
use crate::language::Language;
use crate::replay::{OwnPosts, Replay, Script, run as replay, table};
use aizuchi_core::settings::Layers;
use aizuchi_core::sim::StandIn;
use aizuchi_formats::Options;

#[derive(Args, Default)]
pub struct DemoArguments {
    /// The language of the conversation [default: that of the environment]
    #[arg(long, value_enum)]
    language: Option<Language>,
    /// aizuchi, kotonoha, sphene or myao2
    #[arg(long)]
    preset: Option<String>,
}

pub fn run(arguments: &DemoArguments) -> anyhow::Result<()> {
    let language = arguments.language.unwrap_or_else(Language::of_environment);
    let (name, talk) = (format!("sample ({})", language.id()), language.sample("jsonl"));
    // The sample shows the presets as they are, so settings files are ignored.
    let mut layers = Layers::default();
    if let Some(preset) = &arguments.preset {
        layers.add_option("--preset", "preset", preset);
    }
    layers.suggest_for_replay();
    let preset = layers.preset();
    let policies = config::resolve(&layers)?;
    let oracle = StandIn::new(false, Script::parse(language.sample("judge.jsonl"))?.0, &policies);
    let log = aizuchi_formats::read_text(
        &name,
        talk.as_bytes(),
        &Options { strict: true, ..Options::default() },
        &mut |_| (),
    )?;
    let score = policies.general().settings.score.clone();
    let decided = replay(policies, oracle, log.events, OwnPosts::Ignored, &mut |_| ());
    let judge = language.text("demo-judge");
    let replay = Replay {
        log: name,
        preset,
        changes: Vec::new(),
        judge,
        bad_lines: 0,
        decided,
        low: score.low,
        high: score.high,
        remembered: None,
        language,
    };
    super::print(&table(&replay, true, language))?;
    super::print(&format!("\n{}\n", language.text("demo-next")))
}
