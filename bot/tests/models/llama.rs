//! llama.cpp's own server: the OpenAI and the Anthropic format, and an answer that obeys a schema.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use aizuchi::ports::ModelClient as _;
use aizuchi_core::effect::Ask;
use aizuchi_core::judge::{Parsed, Question, parse};
use aizuchi_core::settings::JudgeStyle;
use aizuchi_test_servers::folder::Scratch;

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
