//! Models behind LiteLLM's proxy, in the formats it translates. Preparing it takes minutes: only `./dev soak` does.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use aizuchi::models::providers::Variables;
use aizuchi::models::try_call;
use aizuchi_test_servers::folder::Scratch;

use super::minds::{Asker, KEY, environment, policies, settings, text, told};

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
    fn start() -> Proxy {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/servers/litellm/bin/litellm");
        assert!(program.exists(), "{} is not there: `./dev soak` prepares it", program.display());
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = Scratch::new("litellm");
        std::fs::write(folder.join("config.yaml"), CONFIG.replace("MASTER", KEY)).unwrap();
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

#[tokio::test]
#[ignore = "needs the proxy: run by `./dev soak`"]
async fn litellm_is_asked_in_three_formats() {
    let proxy = Proxy::start();
    let asker = Asker::new(proxy.port, "[models]\nretries_max = 1\ntimeout_seconds = 30");

    let verdict = asker.judge("google/gemini-2.0-flash").await.unwrap();
    assert_eq!(&*verdict.text, r#"{"respond": true, "delay_seconds": 0, "reason": "helps"}"#);
    assert!(verdict.usage.tokens_in > 0 && verdict.usage.tokens_out > 0, "{verdict:?}");

    for model in ["google/plain", "openai/plain", "anthropic/plain"] {
        assert_eq!(text(asker.write(model, true).await), "Left, past the mill.", "{model}");
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
