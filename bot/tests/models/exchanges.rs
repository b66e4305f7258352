//! Recorded exchanges, one a file: what goes out letter by letter, and what is made of what comes back.

use std::collections::BTreeMap;
use std::path::Path;

use aizuchi::models::providers::{PROVIDERS, row};
use aizuchi::ports::{Draft, RequestedCall};
use aizuchi_core::effect::{Failure, Usage};
use aizuchi_core::input::Answer;
use aizuchi_core::settings::CacheTokens;
use aizuchi_core::tools::{ToolAccess, ToolCall, ToolOffer, ToolOutcome, ToolOutput, ToolStep};
use aizuchi_core::types::Span;
use aizuchi_test_servers::models::{ModelServer, Step};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::minds::Asker;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exchange {
    model: String,
    task: String,
    /// Tools that were used for the answer before.
    #[serde(default)]
    steps: Vec<RecordedStep>,
    request: Request,
    response: Value,
    answer: Outcome,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedStep {
    round: u32,
    id: Box<str>,
    name: Box<str>,
    arguments: Box<str>,
    #[serde(default)]
    signatures: Vec<Box<str>>,
    result: Box<str>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    line: String,
    headers: Map<String, Value>,
    body: Value,
}

/// What is made of the response: a text, calls of tools, or a failure.
#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
struct Outcome {
    text: Option<String>,
    calls: Vec<RecordedCall>,
    failure: Option<String>,
    prompt_chars: u64,
    tokens_in: u64,
    /// Of those, what the provider had at hand and what it keeps; the price tells that they were counted.
    tokens_cached: u64,
    tokens_written: u64,
    tokens_out: u64,
    micros: u64,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct RecordedCall {
    id: String,
    name: String,
    arguments: String,
    #[serde(default)]
    signatures: Vec<String>,
}

impl RecordedStep {
    fn step(&self) -> ToolStep {
        let RecordedStep { round, id, name, arguments, signatures, result } = self;
        let call = ToolCall {
            id: id.clone(),
            name: name.clone(),
            arguments: arguments.clone(),
            access: ToolAccess::Reads,
            signatures: signatures.clone(),
        };
        let outcome = Some(ToolOutcome::Returned(ToolOutput::own(result.clone())));
        ToolStep { call, round: *round, outcome, took: Span::ZERO, decided_by: None }
    }
}

impl Outcome {
    fn of(result: Result<Draft, Failure>) -> Outcome {
        let outcome = match &result {
            Ok(Draft::Words(answer)) => Outcome { text: Some(answer.text.to_string()), ..Outcome::default() },
            Ok(Draft::Calls(calls, _)) => {
                let calls = calls.iter().cloned();
                let call = |RequestedCall { id, name, arguments, signatures }| RecordedCall {
                    id,
                    name,
                    arguments,
                    signatures,
                };
                Outcome { calls: calls.map(call).collect(), ..Outcome::default() }
            }
            Err(failure) => Outcome { failure: Some(failure.what.to_string()), ..Outcome::default() },
        };
        let usage = match result {
            Ok(Draft::Words(Answer { usage, .. }) | Draft::Calls(_, usage)) => usage,
            Err(failure) => failure.usage.expect("it is known what it cost"),
        };
        let Usage { prompt_chars, tokens_in, tokens_out, micros, .. } = usage;
        Outcome { prompt_chars, tokens_in, tokens_out, micros, ..outcome }
    }
}

fn recorded() -> Vec<(String, Exchange)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/exchanges");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read = |file: std::path::PathBuf| {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let exchange = serde_json::from_str(&std::fs::read_to_string(&file).unwrap());
        (name.clone(), exchange.unwrap_or_else(|error| panic!("{name}: {error}")))
    };
    files.into_iter().map(read).collect()
}

#[tokio::test]
async fn every_exchange_goes_as_it_was_recorded() {
    let recorded = recorded();
    assert!(recorded.len() >= 23, "the exchanges are there");
    let mut failed = Vec::new();
    for (name, exchange) in recorded {
        let playing = tokio::spawn({
            let name = name.clone();
            async move { play(&name, exchange).await }
        });
        if playing.await.is_err() {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}

/// A provider without recordings of its own is tested with those of its format.
#[tokio::test]
async fn every_provider_is_asked_in_its_format() {
    let of = |exchange: &Exchange| row(exchange.model.split('/').next().unwrap());
    for provider in PROVIDERS {
        let own = recorded().iter().any(|(_, exchange)| of(exchange).is_some_and(|row| row.name == provider.name));
        if own {
            continue;
        }
        let fits = |exchange: &Exchange| of(exchange).is_some_and(|row| row.format == provider.format);
        let alike: Vec<_> = recorded().into_iter().filter(|(_, exchange)| fits(exchange)).collect();
        assert!(!alike.is_empty(), "{} speaks a format that nobody has recorded", provider.name);
        for (name, mut exchange) in alike {
            let (_, model) = exchange.model.split_once('/').unwrap();
            exchange.model = format!("{}/{model}", provider.name);
            let asker = Asker::new(9, "");
            let price = asker.policies.general().price(&exchange.model);
            let Outcome { tokens_in, tokens_cached, tokens_written, tokens_out, .. } = exchange.answer;
            let cache = CacheTokens { read: tokens_cached, written: tokens_written };
            exchange.answer.micros = price.micros_with_cache(tokens_in, cache, tokens_out);
            play(&format!("{name} at {}", provider.name), exchange).await;
        }
    }
}

async fn play(name: &str, exchange: Exchange) {
    let server = ModelServer::start([Step::json(&exchange.response)]).await;
    let asker = Asker::new(server.port, "[models]\nretries_max = 0");
    let steps = exchange.steps.iter().map(RecordedStep::step).collect();
    let result = match exchange.task.as_str() {
        "judge" => asker.judge(&exchange.model).await.map(Draft::Words),
        "write" => asker.write(&exchange.model, true).await.map(Draft::Words),
        "write-with-tools" => asker.draft(&exchange.model, ToolOffer::All, steps).await,
        "write-after-tools" => asker.draft(&exchange.model, ToolOffer::None, steps).await,
        other => panic!("{name}: the task {other}"),
    };
    let seen = server.seen().remove(0);
    assert_eq!(seen.line, exchange.request.line, "{name}");
    let wanted: Vec<&str> = exchange.request.headers.keys().map(String::as_str).collect();
    let wanted_headers: Vec<_> =
        exchange.request.headers.iter().map(|(n, v)| (n.as_str(), v.as_str().unwrap())).collect();
    assert_eq!(named(&seen.headers, &wanted).into_iter().collect::<Vec<_>>(), wanted_headers, "{name}");
    assert!(seen.body == exchange.request.body, "{name}: asked was {:#}", seen.body);
    let got = Outcome::of(result);
    let Outcome { tokens_cached, tokens_written, .. } = exchange.answer;
    assert_eq!(Outcome { tokens_cached, tokens_written, ..got }, exchange.answer, "{name}");
}

/// The headers of a request that a test is about.
fn named<'a>(headers: &'a BTreeMap<String, String>, names: &[&str]) -> BTreeMap<&'a str, &'a str> {
    headers.iter().filter(|(name, _)| names.contains(&name.as_str())).map(|(n, v)| (n.as_str(), v.as_str())).collect()
}
