//! Models behind LiteLLM's proxy, in the formats it translates. Preparing it takes minutes: only `./dev soak` does.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use aizuchi::models::providers::Variables;
use aizuchi::models::try_call;
use aizuchi::ports::RequestedCall;
use aizuchi_core::tools::{ToolAccess, ToolCall, ToolOffer, ToolOutcome, ToolOutput, ToolStep};
use aizuchi_core::types::Span;
use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::models::{ModelServer, SeenRequest, Step, openai_answer, openai_tool_call};
use serde_json::json;

use super::minds::{Asker, KEY, environment, policies, settings, text, told};
use super::tools::{calls, words};

/// The proxy with a folder of its own; killed when the test is over.
struct Proxy {
    port: u16,
    program: Child,
    folder: Scratch,
}

const CONFIG: &str = r#"
model_list:
  - model_name: gemini-2.0-flash
    litellm_params:
      model: gemini/gemini-2.0-flash
      api_key: none
      api_base: http://127.0.0.1:9
      mock_response: '{"respond": true, "delay_seconds": 0, "reason": "helps"}'
  - model_name: plain
    litellm_params:
      model: openai/plain
      api_key: none
      api_base: http://127.0.0.1:9
      mock_response: Left, past the mill.
  - model_name: busy
    litellm_params:
      model: openai/busy
      api_key: none
      api_base: http://127.0.0.1:9
      mock_response: litellm.RateLimitError
  - model_name: tools
    litellm_params:
      model: hosted_vllm/tools
      api_key: none
      api_base: http://127.0.0.1:UPSTREAM/v1
litellm_settings:
  num_retries: 0
  telemetry: false
general_settings:
  master_key: MASTER
"#;

/// How long a cold start may take, and how often is looked.
const STARTS_WITHIN: Duration = Duration::from_secs(180);
const LOOKS_EVERY: Duration = Duration::from_millis(500);

impl Proxy {
    /// With a model behind it that answers at this port.
    fn start(upstream: u16) -> Proxy {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/servers/litellm/bin/litellm");
        assert!(program.exists(), "{} is not there: `./dev soak` prepares it", program.display());
        let port = aizuchi_test_servers::ports::free_address().port();
        let folder = Scratch::new("litellm");
        let config = CONFIG.replace("MASTER", KEY).replace("UPSTREAM", &upstream.to_string());
        std::fs::write(folder.join("config.yaml"), config).unwrap();
        let program = Command::new(program)
            .args(["--config", "config.yaml", "--host", "127.0.0.1", "--port", &port.to_string()])
            .current_dir(&folder)
            .env("LITELLM_LOCAL_MODEL_COST_MAP", "True")
            .stdin(Stdio::null())
            .stdout(std::fs::File::create(folder.join("out")).unwrap())
            .stderr(std::fs::File::create(folder.join("err")).unwrap())
            .spawn()
            .expect("the proxy can be started");
        let mut proxy = Proxy { port, program, folder };
        proxy.wait();
        proxy
    }

    fn wait(&mut self) {
        let begun = std::time::Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let ended = self.program.try_wait().unwrap();
            let told = || std::fs::read_to_string(self.folder.join("err")).unwrap_or_default();
            assert!(ended.is_none() && begun.elapsed() < STARTS_WITHIN, "the proxy does not start: {}", told());
            std::thread::sleep(LOOKS_EVERY);
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// Asks for a tool, and repeats what came back.
fn looks_something_up(request: &SeenRequest) -> Step {
    // The proxy also asks whether the server is there.
    let Some(messages) = request.body["messages"].as_array() else { return Step::status(404, &[], "{}") };
    match messages.iter().find(|message| message["role"] == "tool") {
        Some(result) => {
            Step::json(openai_answer(&format!("It is {}.", result["content"].as_str().unwrap_or("nothing"))))
        }
        None => Step::json(openai_tool_call("recall", &json!({"query": "mill"}))),
    }
}

#[tokio::test]
#[ignore = "needs the proxy: run by `./dev soak`"]
async fn litellm_is_asked_in_three_formats() {
    let model = ModelServer::answering(looks_something_up).await;
    let proxy = Proxy::start(model.port);
    let asker = Asker::new(proxy.port, "[models]\nretries_max = 1\ntimeout_seconds = 30");

    let verdict = asker.judge("google/gemini-2.0-flash").await.unwrap();
    assert_eq!(&*verdict.text, r#"{"respond": true, "delay_seconds": 0, "reason": "helps"}"#);
    assert!(verdict.usage.tokens_in > 0 && verdict.usage.tokens_out > 0, "{verdict:?}");

    for model in ["google/plain", "openai/plain", "anthropic/plain"] {
        assert_eq!(text(asker.write(model, true).await), "Left, past the mill.", "{model}");
    }
    for name in ["openai/tools", "anthropic/tools", "google/tools"] {
        let asked = calls(asker.draft(name, ToolOffer::All, Vec::new()).await);
        assert_eq!(
            (asked.len(), &*asked[0].name, &*asked[0].arguments),
            (1, "recall", r#"{"query":"mill"}"#),
            "{name}"
        );
        let RequestedCall { id, name: tool, arguments, signatures } = asked[0].clone();
        let signatures = signatures.into_iter().map(Into::into).collect();
        let call = ToolCall {
            id: id.into(),
            name: tool.into(),
            arguments: arguments.into(),
            access: ToolAccess::Reads,
            signatures,
        };
        let outcome = Some(ToolOutcome::Returned(ToolOutput::own("left of the mill")));
        let step = ToolStep { call, round: 1, outcome, took: Span::ZERO, decided_by: None };
        let told = words(asker.draft(name, ToolOffer::All, vec![step]).await);
        assert!(told.starts_with("It is ") && told.contains("left of the mill"), "{name}: {told}");
    }
    let busy = told(asker.judge("openai/busy").await);
    assert!(busy.starts_with("rate limited by openai"), "{busy}");

    let stranger = |name: &str| environment(name).map(|_| "sk-another-key".to_owned());
    let policies = policies(&settings(proxy.port, ""));
    let variables = Variables::read(&policies, &stranger);
    for model in ["openai/plain", "google/plain", "anthropic/plain"] {
        // Without a database the proxy does not say that it is the key; what it says must not show it.
        let told = try_call(model, policies.general(), &variables).await.unwrap_err();
        assert!(told.contains("refused") && !told.contains("sk-another-key"), "{told}");
    }
}
