//! What the log says about a call: never the key, and what people say at TRACE only.

use std::io::Write;
use std::sync::{Arc, Mutex};

use aizuchi::runtime::Ledger;
use aizuchi_core::tools::ToolOffer;
use aizuchi_test_servers::models::{ModelServer, Step, openai_answer};
use serde_json::json;
use tracing_subscriber::filter::LevelFilter;

use super::minds::{Asker, KEY, policies};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A log that this thread writes until it is dropped.
fn logging(level: LevelFilter) -> (Log, tracing::subscriber::DefaultGuard) {
    // What no log of the process wants is not even looked at: another test that ends would switch this one's off.
    let _ = tracing_subscriber::fmt().with_max_level(LevelFilter::TRACE).with_writer(std::io::sink).try_init();
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(level).with_ansi(false).with_writer(move || writer.clone()).finish();
    (log, tracing::subscriber::set_default(subscriber))
}

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// Everything that is logged during an answer, a refusal and a busy provider.
async fn log_of_three_calls(level: LevelFilter) -> String {
    let (log, _logging) = logging(level);
    let echo = json!({"error": {"message": format!("the key {KEY} is not welcome")}});
    let server = ModelServer::start([
        Step::json(openai_answer("past the mill")),
        Step::status(401, &[], &echo),
        Step::status(503, &[("retry-after", "0")], &echo),
        Step::json(openai_answer("past the mill")),
    ])
    .await;
    let asker = Asker::new(server.port, "");
    let answers = [asker.write("openai/m", true).await, asker.judge("openai/m").await, asker.judge("openai/m").await];
    assert_eq!(answers.map(|answer| answer.is_ok()), [true, false, true]);
    log.text()
}

#[tokio::test]
async fn a_log_tells_of_calls_but_not_what_people_say() {
    let log = log_of_three_calls(LevelFilter::DEBUG).await;
    for told in
        ["answered", "retrying", "model gave no answer", "tokens_in=10", "model=\"openai/m\"", "question=\"judge\""]
    {
        assert!(log.contains(told), "{told:?} is not told: {log}");
    }
    for hidden in [KEY, "past the mill", "which way?"] {
        assert!(!log.contains(hidden), "{hidden:?} is logged: {log}");
    }
}

#[tokio::test]
async fn a_log_of_everything_has_the_words() {
    let log = log_of_three_calls(LevelFilter::TRACE).await;
    assert!(log.contains("past the mill"), "{log}");
}

#[tokio::test]
async fn a_model_that_takes_no_tools_is_told_once() {
    let (log, _logging) = logging(LevelFilter::WARN);
    let refused = Step::status(400, &[], json!({"error": {"message": "m does not support tools"}}));
    let answer = || Step::json(openai_answer("past the mill"));
    let server = ModelServer::start([refused, answer(), answer()]).await;
    let asker = Asker::new(server.port, "");
    for _ in 0..2 {
        assert!(asker.draft("openai/m", ToolOffer::All, Vec::new()).await.is_ok());
    }
    let told = log.text();
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(told.contains("asking the model without tools") && told.contains("m does not support tools"), "{told}");
}

#[test]
fn a_price_that_is_estimated_is_told_once_for_each_model() {
    let (log, _logging) = logging(LevelFilter::WARN);
    let policies = policies("[models]\nmain = \"openai/unheard-of\"\njudge = \"ollama/llama3.2\"");
    let ledger = Ledger::new(&[], &policies);
    ledger.set_policies(&policies);
    let told = log.text();
    assert_eq!(told.lines().count(), 1, "{told}");
    for part in
        ["WARN", "no listed price", "openai/unheard-of", "input=0.25", "output=2", "the most expensive of its provider"]
    {
        assert!(told.contains(part), "{part:?} is not told: {told}");
    }
}
