//! `aizuchi eval recall`: whether what answers a question is found by it.

use std::collections::BTreeMap;
use std::sync::Arc;

use aizuchi_core::memory::rank::{Collection, Document, Found, SearchQuestion, combined, cosine};
use aizuchi_core::settings::Ranking;
use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use serde_json::json;

use super::locomo::{self, EvalTurn, Sample};
use crate::cli::settings::{SettingsArguments, environment};
use crate::cli::show::{harmless, harmless_json};
use crate::meter::Meter;
use crate::models;
use crate::ports::Embedder;

#[derive(Args)]
pub struct RecallArguments {
    /// Conversations with questions and evidence, as JSON
    file: String,
    /// How many turns are recalled for a question
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    k: u32,
    /// How turns are ranked
    #[arg(long, value_enum, default_value_t = RankingName::Default)]
    ranking: RankingName,
    /// Also search by meaning: asks the model of models.embed for an embedding of every turn and question
    #[arg(long)]
    vectors: bool,
    /// Show the questions whose evidence was not all found
    #[arg(long)]
    misses: bool,
    /// Print one line of JSON instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RankingName {
    /// By words, rare ones weighted more; also by who said it and by neighbouring turns
    Default,
    /// Plain BM25 over the words of a turn
    Bm25,
    /// By the share of words in common
    Sphene,
}

impl From<RankingName> for Ranking {
    fn from(named: RankingName) -> Ranking {
        match named {
            RankingName::Default => Ranking::Default,
            RankingName::Bm25 => Ranking::Bm25,
            RankingName::Sphene => Ranking::Sphene,
        }
    }
}

/// Category 5 asks for what was never said.
const CATEGORIES: std::ops::RangeInclusive<u64> = 1..=4;

/// What the words of a picture, and of the date of a session, weigh beside those of the turn.
const PICTURE: f64 = 0.5;
const WHEN: f64 = 0.15;

#[derive(Default)]
struct Score {
    questions: u32,
    recall: f64,
}

impl Score {
    fn mean(&self) -> f64 {
        if self.questions == 0 { 0.0 } else { self.recall / f64::from(self.questions) }
    }
}

pub fn run(arguments: &RecallArguments) -> anyhow::Result<()> {
    let file = &arguments.file;
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?;
    let samples = locomo::read(&text).with_context(|| format!("cannot read {file}"))?;
    let mut by_category: BTreeMap<u64, Score> = BTreeMap::new();
    let mut missed = String::new();
    let embedder = arguments.vectors.then(|| embedder(&arguments.settings)).transpose()?;
    for sample in &samples {
        let vectors = embedder.as_deref().map(|embedder| Vectors::of(sample, embedder)).transpose()?;
        measure(sample, vectors.as_ref(), arguments, &mut by_category, &mut missed);
    }
    let mut all = Score::default();
    for score in by_category.values() {
        all.questions += score.questions;
        all.recall += score.recall;
    }
    if all.questions == 0 {
        bail!("{file} has no question of category 1 to 4 with evidence");
    }
    if arguments.json {
        let categories: serde_json::Map<String, serde_json::Value> = by_category
            .iter()
            .map(|(category, score)| {
                (category.to_string(), json!({"questions": score.questions, "recall": score.mean()}))
            })
            .collect();
        let ranking = arguments.ranking.to_possible_value().map(|value| value.get_name().to_owned());
        let line = json!({"ranking": ranking, "k": arguments.k, "vectors": arguments.vectors, "questions": all.questions, "recall": all.mean(),
            "categories": categories});
        return crate::cli::print(&format!("{}\n", harmless_json(&line)));
    }
    let line = |name: &str, score: &Score| {
        format!("{name:12} {:>6.1} %  of {} questions\n", score.mean() * 100.0, score.questions)
    };
    let mut told = missed;
    told += &format!("recall at {}\n", arguments.k);
    for (category, score) in &by_category {
        told += &line(&format!("category {category}"), score);
    }
    told += &line("all", &all);
    crate::cli::print(&told)
}

fn embedder(settings: &SettingsArguments) -> anyhow::Result<Arc<dyn Embedder>> {
    let variable = |name: &str| environment().find(|(known, _)| known == name).map(|(_, value)| value);
    models::embedder(&settings.policies()?, &variable).map_err(anyhow::Error::msg)
}

/// What turns and questions mean to a model.
struct Vectors {
    turns: Vec<Vec<f32>>,
    questions: Vec<Vec<f32>>,
}

impl Vectors {
    fn of(sample: &Sample, embedder: &dyn Embedder) -> anyhow::Result<Vectors> {
        let said = |turn: &EvalTurn| format!("{}: {} {}", turn.speaker, turn.text, turn.picture).trim().to_owned();
        let turns: Vec<String> = sample.turns.iter().map(said).collect();
        let questions: Vec<String> = sample.questions.iter().map(|question| question.text.clone()).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let meter = Meter::default();
            let turns = embedder.embed(&turns, &meter).await?;
            Ok(Vectors { turns, questions: embedder.embed(&questions, &meter).await? })
        })
    }

    /// Words and meaning together; the best by words is worth as much as the very same meaning.
    fn blend(&self, question: usize, found: &[Found]) -> Vec<Found> {
        let mut lexical = vec![0.0; self.turns.len()];
        let best = found.first().map_or(1.0, |found| found.score);
        found.iter().for_each(|found| lexical[found.document] = found.score / best);
        let score = |(document, lexical): (usize, f64)| {
            let cosine = cosine(&self.questions[question], &self.turns[document]);
            Found { document, score: combined(lexical, Some(cosine)) }
        };
        let mut blended: Vec<Found> = lexical.into_iter().enumerate().map(score).collect();
        blended.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.document.cmp(&b.document)));
        blended
    }
}

fn measure(
    sample: &Sample,
    vectors: Option<&Vectors>,
    arguments: &RecallArguments,
    scores: &mut BTreeMap<u64, Score>,
    missed: &mut String,
) {
    let ranking = Ranking::from(arguments.ranking);
    let document = |turn: &EvalTurn| match ranking {
        Ranking::Default => Document::new(&turn.text)
            .with(&turn.picture, PICTURE)
            .with(&turn.when, WHEN)
            .said_by(&turn.speaker)
            .in_talk(turn.session),
        Ranking::Bm25 | Ranking::Sphene => Document::new(&turn.text),
    };
    let collection = Collection::new(sample.turns.iter().map(document).collect());
    for (number, question) in sample.questions.iter().enumerate() {
        if question.evidence.is_empty() || !CATEGORIES.contains(&question.category) {
            continue;
        }
        let found = collection.search(&SearchQuestion::new(&question.text), ranking, &collection);
        let found = vectors.map_or_else(|| found.clone(), |vectors| vectors.blend(number, &found));
        let found: Vec<&str> =
            found.iter().take(arguments.k as usize).map(|found| &*sample.turns[found.document].id).collect();
        let hits = question.evidence.iter().filter(|id| found.contains(&id.as_str())).count();
        let score = scores.entry(question.category).or_default();
        score.questions += 1;
        score.recall += hits as f64 / question.evidence.len() as f64;
        if arguments.misses && hits < question.evidence.len() {
            let text = format!("{} ({}): {}", question.text, question.evidence.join(" "), found.join(" "));
            missed.push_str(&harmless(&text));
            missed.push('\n');
        }
    }
}
