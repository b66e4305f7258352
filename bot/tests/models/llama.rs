//! llama.cpp's own server: the OpenAI and the Anthropic format, an answer that obeys a schema, and calls of tools that do.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use aizuchi::ports::{Draft, ModelClient as _, RequestedCall, ToolSpec};
use aizuchi_core::effect::Ask;
use aizuchi_core::judge::{Parsed, Question, parse};
use aizuchi_core::settings::JudgeStyle;
use aizuchi_core::tools::{ToolAccess, ToolCall, ToolOffer, ToolOutcome, ToolOutput, ToolStep};
use aizuchi_core::types::Span;
use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::models::{ModelServer, Step};
use serde_json::{Value, json};

use super::minds::{Asker, ask, text};

/// A server of its own for each test; it ends when its standard input does.
struct Llama {
    port: u16,
    program: Child,
    _folder: Scratch,
}

fn python() -> PathBuf {
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/servers/venv");
    let folder = std::env::var_os("AIZUCHI_SERVERS").map_or_else(usual, PathBuf::from);
    let python = folder.join("bin/python");
    assert!(
        python.exists(),
        "{} is not there: `./dev servers` prepares it, and `./dev test` does so by itself",
        python.display()
    );
    python
}

impl Llama {
    fn start() -> Llama {
        let folder = Scratch::new("llama");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/llama.py");
        let mut program = Command::new(python())
            .arg(script)
            .arg(&*folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("python can be started");
        let output = BufReader::new(program.stdout.take().expect("it was asked for"));
        let port = |line: String| line.strip_prefix("ready ")?.parse().ok();
        let port = output.lines().map_while(Result::ok).find_map(port).expect("llama.cpp's server starts");
        Llama { port, program, _folder: folder }
    }
}

impl Drop for Llama {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

#[tokio::test]
async fn llama_cpp_is_asked_in_two_formats_and_obeys_a_schema() {
    let llama = Llama::start();
    let asker = Asker::new(llama.port, "");
    // It spells byte by byte.
    let ask = Ask { tokens_max: 400, ..ask("openai/tiny") };
    let answer = asker.models.clone().judge(Box::new(ask), asker.policies.clone()).await.unwrap();
    let parsed = parse(JudgeStyle::Respond, Question::Judge, &answer.text).unwrap_or_else(|told| panic!("{told}"));
    let Parsed::Verdict(verdict) = parsed else { panic!("{parsed:?}") };
    assert!(["helps", "does not help"].contains(&&*verdict.reason), "{answer:?}");
    assert!(answer.usage.tokens_in > 0 && answer.usage.tokens_out > 0);
    // Words at random, but words.
    for model in ["openai/tiny", "anthropic/tiny"] {
        let written = asker.write(model, true).await.unwrap();
        assert!(written.usage.tokens_in > 0 && written.usage.tokens_out > 0, "{model}");
        assert!(!text(Ok(written)).is_empty(), "{model}");
    }
}

/// The token of `[`, with which the model would begin words instead of a call.
const WORDS_TOKEN: u32 = 3 + b'[' as u32;

const OPENAI: &str = "openai/tiny";

fn lookup() -> ToolSpec {
    let schema = json!({
        "type": "object",
        "properties": {
            "topic": {"type": "string", "enum": ["mill", "road"]},
            "count": {"type": "integer", "minimum": 1, "maximum": 9}
        },
        "required": ["topic", "count"],
        "additionalProperties": false
    });
    ToolSpec { name: "lookup".into(), description: "Looks it up.".into(), schema, access: ToolAccess::Reads }
}

/// The request that our client makes, with a word that forces a call, and what the server makes of it.
async fn forced_calls(llama: &Llama, model: &str, steps: Vec<ToolStep>) -> Value {
    let recorder = ModelServer::start([Step::status(418, &[], "{}")]).await;
    let asker = Asker::new(recorder.port, "[models]\nretries_max = 0");
    let refused = asker.draft_with(model, ToolOffer::All, steps, vec![lookup()]).await;
    assert!(refused.is_err(), "{refused:?}");
    let asked = recorder.seen().remove(0);
    let mut body = asked.body;
    body["tool_choice"] = match model {
        OPENAI => json!("required"),
        _ => json!({"type": "any"}),
    };
    body["max_tokens"] = json!(1000);
    body["logit_bias"] = json!([[WORDS_TOKEN, false]]);
    let path = asked.line.strip_prefix("POST ").expect("it is posted");
    let client = aizuchi::tls::client_builder().build().expect("a client can be made");
    let answer = client.post(format!("http://127.0.0.1:{}{path}", llama.port)).json(&body).send().await.unwrap();
    let (status, answer) = (answer.status(), answer.text().await.unwrap());
    assert!(status.is_success(), "{model}: {answer}");
    serde_json::from_str(&answer).unwrap()
}

/// How long the prompt was that led to a reply.
fn tokens_read(reply: &Value) -> u64 {
    let usage = &reply["usage"];
    let counts =
        ["prompt_tokens", "input_tokens", "cache_read_input_tokens"].map(|key| usage[key].as_u64().unwrap_or(0));
    counts.iter().sum()
}

/// So often in a row it is noise that the server takes for something else.
const NOISE_MAX: usize = 10;

fn looked_up(call: RequestedCall) -> ToolStep {
    let RequestedCall { id, name, arguments, .. } = call;
    let call = ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
        access: ToolAccess::Reads,
        signatures: Vec::new(),
    };
    let outcome = Some(ToolOutcome::Returned(ToolOutput::own("<result>\nThe mill is on the left.\n</result>")));
    ToolStep { call, round: 1, outcome, took: Span::ZERO, decided_by: None }
}

#[tokio::test]
async fn llama_cpp_asks_for_tools_that_obey_their_schema_and_takes_what_came_of_them() {
    let llama = Llama::start();
    // In Anthropic's format the server leaves it to the model whether it calls a tool, and a model of random weights may not.
    for model in [OPENAI] {
        let reply = forced_calls(&llama, model, Vec::new()).await;
        let relay = ModelServer::start([Step::json(&reply)]).await;
        let draft = Asker::new(relay.port, "").draft_with(model, ToolOffer::All, Vec::new(), vec![lookup()]).await;
        let Ok(Draft::Calls(mut calls, usage)) = draft else { panic!("{model}: {draft:?} of {reply}") };
        assert!(usage.tokens_in > 0 && usage.tokens_out > 0, "{model}");
        // The last one may be cut off by the end of its tokens.
        if calls.len() > 1 {
            calls.pop();
        }
        for call in &calls {
            let arguments =
                aizuchi::tools::arguments(&call.arguments).unwrap_or_else(|told| panic!("{told}: {call:?}"));
            assert_eq!(call.name, "lookup", "{model}");
            assert!(["mill", "road"].contains(&arguments["topic"].as_str().unwrap()), "{call:?}");
            assert!((1..=9).contains(&arguments["count"].as_u64().unwrap()) && arguments.len() == 2, "{call:?}");
        }
        let steps: Vec<ToolStep> = calls.into_iter().map(looked_up).collect();
        let (before, after) = (tokens_read(&reply), tokens_read(&forced_calls(&llama, model, steps.clone()).await));
        assert!(after > before, "{model} reads what came of it: {before} {after}");
        let asker = Asker::new(llama.port, "[models]\nretries_max = 0");
        let answer = async || asker.draft_with(model, ToolOffer::None, steps.clone(), vec![lookup()]).await;
        let mut draft = answer().await;
        // What a model of random weights says may begin like a call of a tool that the server cannot read: it is asked again.
        for _ in 0..NOISE_MAX {
            match &draft {
                Err(failure) if failure.what.contains("does not match the expected") => draft = answer().await,
                _ => break,
            }
        }
        assert!(matches!(&draft, Ok(Draft::Words(answer)) if !answer.text.is_empty()), "{draft:?}");
    }
}
