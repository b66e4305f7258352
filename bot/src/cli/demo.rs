//! `aizuchi demo`: a sample conversation, decided message by message.

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use crate::config;
use crate::language::Language;
use crate::replay::{OwnInLog, Replay, Script, run as replay, table};
use aizuchi_core::settings::Layers;
use aizuchi_core::sim::StandIn;
use aizuchi_formats::Options;

#[derive(Args, Default)]
pub struct Arguments {
    /// The language of the conversation [default: that of the environment]
    #[arg(long, value_enum)]
    language: Option<Language>,
    /// aizuchi, kotonoha, sphene or myao2
    #[arg(long)]
    preset: Option<String>,
}

/// Name, talk and the judge's script.
fn sample(language: Language) -> (&'static str, &'static str, &'static str) {
    match language {
        Language::English => {
            ("sample (en)", include_str!("../../../samples/en.jsonl"), include_str!("../../../samples/en.judge.jsonl"))
        }
        Language::Japanese => {
            ("sample (ja)", include_str!("../../../samples/ja.jsonl"), include_str!("../../../samples/ja.judge.jsonl"))
        }
    }
}

impl ValueEnum for Language {
    fn value_variants<'a>() -> &'a [Language] {
        &Language::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.id()))
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let (name, talk, script) = sample(arguments.language.unwrap_or_else(Language::of_environment));
    // The sample shows the presets as they are, whatever settings lie about.
    let mut layers = Layers::default();
    if let Some(preset) = &arguments.preset {
        layers.add_option("--preset", "preset", preset);
    }
    layers.suggest_for_replay();
    let preset = layers.preset();
    let policies = config::resolve(&layers)?;
    let oracle = StandIn::new(false, Script::parse(script)?.0, &policies);
    let log = aizuchi_formats::read_text(
        name,
        talk.as_bytes(),
        &Options { strict: true, ..Options::default() },
        &mut |_| (),
    )?;
    let score = policies.general().settings.score.clone();
    let decided = replay(policies, oracle, log.events, OwnInLog::Ignored, &mut |_| ());
    let judge = "a script of the sample".to_owned();
    let replay = Replay {
        log: name.into(),
        preset,
        changes: Vec::new(),
        judge,
        bad_lines: 0,
        decided,
        low: score.low,
        high: score.high,
        remembered: None,
    };
    super::print(&table(&replay, true))?;
    super::print("\nYour own log: aizuchi replay LOG --report report.html    Every setting: aizuchi settings\n")
}
