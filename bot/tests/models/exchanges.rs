//! Recorded exchanges, one a file: what goes out letter by letter, and what is made of what comes back.

use std::collections::BTreeMap;
use std::path::Path;

use aizuchi::models::providers::{PROVIDERS, row};
use aizuchi_test_servers::models::{ModelServer, Step};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::minds::Asker;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exchange {
    model: String,
    task: String,
    request: Request,
    response: Value,
    answer: Answer,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    line: String,
    headers: Map<String, Value>,
    body: Value,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Answer {
    text: String,
    prompt_chars: u64,
    tokens_in: u64,
    tokens_out: u64,
    micros: u64,
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
    assert!(recorded.len() >= 7, "the exchanges are there");
    for (name, exchange) in recorded {
        play(&name, exchange).await;
    }
}

/// Whoever has no recording of their own is asked, and understood, as the others of the same format.
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
            exchange.answer.micros = price.micros(exchange.answer.tokens_in, exchange.answer.tokens_out);
            play(&format!("{name} at {}", provider.name), exchange).await;
        }
    }
}

async fn play(name: &str, exchange: Exchange) {
    let server = ModelServer::start([Step::json(&exchange.response)]).await;
    let asker = Asker::new(server.port, "");
    let answer = match exchange.task.as_str() {
        "judge" => asker.judge(&exchange.model).await,
        "write" => asker.write(&exchange.model, true).await,
        other => panic!("{name}: the task {other}"),
    };
    let answer = answer.unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
    let seen = server.seen().remove(0);
    assert_eq!(seen.line, exchange.request.line, "{name}");
    let wanted: Vec<&str> = exchange.request.headers.keys().map(String::as_str).collect();
    let wanted_headers: Vec<_> =
        exchange.request.headers.iter().map(|(n, v)| (n.as_str(), v.as_str().unwrap())).collect();
    assert_eq!(named(&seen.headers, &wanted).into_iter().collect::<Vec<_>>(), wanted_headers, "{name}");
    assert!(seen.body == exchange.request.body, "{name}: asked was {:#}", seen.body);
    let got = Answer {
        text: answer.text.into(),
        prompt_chars: answer.usage.prompt_chars,
        tokens_in: answer.usage.tokens_in,
        tokens_out: answer.usage.tokens_out,
        micros: answer.usage.micros,
    };
    assert_eq!(got, exchange.answer, "{name}");
}

/// The headers of a request that a test is about.
fn named<'a>(headers: &'a BTreeMap<String, String>, names: &[&str]) -> BTreeMap<&'a str, &'a str> {
    headers.iter().filter(|(name, _)| names.contains(&name.as_str())).map(|(n, v)| (n.as_str(), v.as_str())).collect()
}
