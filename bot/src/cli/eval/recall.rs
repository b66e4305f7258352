//! `aizuchi eval recall`: whether a question recalls the turns that answer it.

use std::collections::BTreeMap;
use std::sync::Arc;

use aizuchi_core::settings::Ranking;
use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use serde_json::json;

use super::locomo::{self, EvalQuestion, Sample};
use super::remembered::{EvalStore, RememberedTalk};
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
    /// Keep the turns in a real store, in a temporary folder, as `aizuchi run` would
    #[arg(long)]
    store: bool,
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

/// The questions of category 5 ask for something that was never said.
const CATEGORIES: std::ops::RangeInclusive<u64> = 1..=4;

/// What the questions of a category ask for.
fn kind(category: u64) -> &'static str {
    match category {
        1 => "several turns",
        2 => "time",
        3 => "open",
        4 => "one turn",
        _ => "other",
    }
}

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
        measure(sample, embedder.as_deref(), arguments, &mut by_category, &mut missed)?;
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
                let figures = json!({"kind": kind(*category), "questions": score.questions, "recall": score.mean()});
                (category.to_string(), figures)
            })
            .collect();
        let ranking = arguments.ranking.to_possible_value().map(|value| value.get_name().to_owned());
        let line = json!({"ranking": ranking, "k": arguments.k, "vectors": arguments.vectors,
            "store": arguments.store, "questions": all.questions, "recall": all.mean(),
            "categories": categories});
        return crate::cli::print(&format!("{}\n", harmless_json(&line)));
    }
    let line = |name: &str, score: &Score| {
        format!("{name:26} {:>6.1} %  of {} questions\n", score.mean() * 100.0, score.questions)
    };
    let mut told = missed;
    told += &format!("recall at {}\n", arguments.k);
    for (category, score) in &by_category {
        told += &line(&format!("category {category} ({})", kind(*category)), score);
    }
    told += &line("all", &all);
    crate::cli::print(&told)
}

fn embedder(settings: &SettingsArguments) -> anyhow::Result<Arc<dyn Embedder>> {
    let variable = |name: &str| environment().find(|(known, _)| known == name).map(|(_, value)| value);
    models::embedder(&settings.policies()?, &variable).map_err(anyhow::Error::msg)
}

fn measure(
    sample: &Sample,
    embedder: Option<&dyn Embedder>,
    arguments: &RecallArguments,
    scores: &mut BTreeMap<u64, Score>,
    missed: &mut String,
) -> anyhow::Result<()> {
    let counts = |question: &&EvalQuestion| !question.evidence.is_empty() && CATEGORIES.contains(&question.category);
    let questions: Vec<&EvalQuestion> = sample.questions.iter().filter(counts).collect();
    let store = if arguments.store { EvalStore::OnDisk } else { EvalStore::InMemory };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        let talk = RememberedTalk::new(sample, store, arguments.ranking.into(), embedder).await?;
        let mut vectors = vectors_of(&questions, embedder).await?.into_iter();
        for question in questions {
            let found = talk.ask(&question.text, vectors.next(), arguments.k as usize, Vec::new()).await?;
            let found: Vec<&str> =
                found.iter().flat_map(|recalled| &recalled.fact.messages).map(|message| message.as_str()).collect();
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
        Ok(())
    })
}

/// The embeddings of the questions; empty without an embedder.
async fn vectors_of(
    questions: &[&EvalQuestion],
    embedder: Option<&dyn Embedder>,
) -> anyhow::Result<Vec<(Box<str>, Vec<f32>)>> {
    let Some(embedder) = embedder else { return Ok(Vec::new()) };
    let texts: Vec<String> = questions.iter().map(|question| question.text.clone()).collect();
    let vectors = embedder.embed(&texts, &Meter::default()).await?;
    Ok(vectors.into_iter().map(|vector| (embedder.model().into(), vector)).collect())
}

#[cfg(test)]
mod tests {
    use aizuchi_core::memory::CloseTo;
    use aizuchi_core::types::PersonId;

    use super::*;

    const TALKS: [&str; 3] = [
        include_str!("../../../tests/cli/recall.json"),
        include_str!("../../../tests/cli/recall-second.json"),
        include_str!("../../../tests/cli/recall-unseen.json"),
    ];

    /// Recall over all questions of a talk, where everybody but the asker is as close to them as can be.
    async fn recall_for(sample: &Sample, talk: &RememberedTalk, k: usize, asker: Option<&str>) -> Score {
        let mut others: Vec<&str> = sample.turns.iter().map(|turn| turn.speaker.as_str()).collect();
        others.sort();
        others.dedup();
        others.retain(|person| asker.is_some_and(|asker| asker != *person));
        let close = others.iter().map(|person| CloseTo {
            person: PersonId::new(person),
            name: (*person).into(),
            closeness: 1.0,
        });
        let close: Vec<CloseTo> = close.collect();
        let mut score = Score::default();
        for question in sample.questions.iter().filter(|question| CATEGORIES.contains(&question.category)) {
            let found = talk.ask(&question.text, None, k, close.clone()).await.unwrap();
            let found: Vec<&str> =
                found.iter().flat_map(|recalled| &recalled.fact.messages).map(|message| message.as_str()).collect();
            let hits = question.evidence.iter().filter(|id| found.contains(&id.as_str())).count();
            score.questions += 1;
            score.recall += hits as f64 / question.evidence.len().max(1) as f64;
        }
        score
    }

    /// It decides between turns that fit alike: some answers take the place of others, and about as many are found.
    #[tokio::test]
    async fn that_somebody_is_close_to_the_asker_costs_no_answers() {
        let (mut without, mut with, mut questions) = ([0.0; 2], [0.0; 2], 0.0);
        for sample in TALKS.iter().flat_map(|text| locomo::read(text).unwrap()) {
            let talk = RememberedTalk::new(&sample, EvalStore::InMemory, Ranking::Default, None).await.unwrap();
            let mut askers: Vec<&str> = sample.turns.iter().map(|turn| turn.speaker.as_str()).collect();
            askers.sort();
            askers.dedup();
            for asker in &askers {
                for (at, k) in [3, 10].into_iter().enumerate() {
                    let plain = recall_for(&sample, &talk, k, None).await;
                    without[at] += plain.recall;
                    with[at] += recall_for(&sample, &talk, k, Some(asker)).await.recall;
                    questions += f64::from(plain.questions) / 2.0;
                }
            }
        }
        let told = format!("{with:?} of {without:?} with {questions} questions");
        assert!(with.iter().sum::<f64>() >= without.iter().sum::<f64>(), "{told}");
        assert!(without.iter().zip(&with).all(|(without, with)| with >= &(without - 0.005 * questions)), "{told}");
        assert_ne!(with, without, "it makes a difference");
    }
}
