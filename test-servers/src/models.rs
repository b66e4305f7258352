//! A scripted model server that records its requests. It implements HTTP by hand, so that it can break off.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};

/// The response to one request.
pub enum Step {
    Answer {
        status: u16,
        headers: &'static [(&'static str, &'static str)],
        body: String,
    },
    /// Half of the body, and the connection is closed.
    Cut(String),
    /// Nothing at all, until the other side leaves.
    Silence,
    /// The same as an answer, once the other end of this says so.
    Held(oneshot::Receiver<()>, String),
}

impl Step {
    pub fn json(body: impl ToString) -> Step {
        Step::status(200, &[], body)
    }

    pub fn status(status: u16, headers: &'static [(&'static str, &'static str)], body: impl ToString) -> Step {
        Step::Answer { status, headers, body: body.to_string() }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct SeenRequest {
    /// Method and path.
    pub line: String,
    pub headers: BTreeMap<String, String>,
    pub body: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerEvent {
    Asked,
    /// The client disconnected before an answer.
    Left,
}

type ReplyFunction = dyn Fn(&SeenRequest) -> Step + Send + Sync;

/// Where the answer to one request comes from.
enum StepSource {
    Script(Step),
    Reply(Arc<ReplyFunction>),
}

pub struct ModelServer {
    pub port: u16,
    seen: Arc<Mutex<Vec<SeenRequest>>>,
    happened: mpsc::UnboundedReceiver<ServerEvent>,
    task: tokio::task::JoinHandle<()>,
}

impl ModelServer {
    /// Answers one request after the other by script; further ones get 404.
    pub async fn start(steps: impl IntoIterator<Item = Step>) -> ModelServer {
        let steps: Mutex<VecDeque<Step>> = Mutex::new(steps.into_iter().collect());
        let next = move || steps.lock().unwrap().pop_front().unwrap_or_else(|| Step::status(404, &[], "{}"));
        ModelServer::serving(move || StepSource::Script(next())).await
    }

    /// Answers every request according to its content.
    pub async fn answering(reply: impl Fn(&SeenRequest) -> Step + Send + Sync + 'static) -> ModelServer {
        let reply: Arc<ReplyFunction> = Arc::new(reply);
        ModelServer::serving(move || StepSource::Reply(reply.clone())).await
    }

    async fn serving(mut source: impl FnMut() -> StepSource + Send + 'static) -> ModelServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (tell, happened) = mpsc::unbounded_channel();
        let memory = seen.clone();
        let task = tokio::spawn(async move {
            // Dropped with the task, and with it every connection that is still open.
            let mut serving = tokio::task::JoinSet::new();
            while let Ok((connection, _)) = listener.accept().await {
                serving.spawn(serve(connection, source(), memory.clone(), tell.clone()));
            }
        });
        ModelServer { port, seen, happened, task }
    }

    pub fn seen(&self) -> Vec<SeenRequest> {
        self.seen.lock().unwrap().clone()
    }

    pub async fn next(&mut self) -> ServerEvent {
        self.happened.recv().await.expect("the server runs")
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// An answer in the OpenAI format.
pub fn openai_answer(text: &str) -> String {
    json!({
        "id": "x", "object": "chat.completion", "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}
    })
    .to_string()
}

/// A tool call in the OpenAI format.
pub fn openai_tool_call(name: &str, arguments: &Value) -> String {
    let call =
        json!({"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments.to_string()}});
    json!({
        "id": "x", "object": "chat.completion", "model": "m",
        "choices": [{"index": 0, "finish_reason": "tool_calls",
            "message": {"role": "assistant", "content": null, "tool_calls": [call]}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}
    })
    .to_string()
}

async fn serve(
    mut connection: TcpStream,
    source: StepSource,
    seen: Arc<Mutex<Vec<SeenRequest>>>,
    tell: mpsc::UnboundedSender<ServerEvent>,
) {
    let Some(request) = read(&mut connection).await else { return };
    let step = match source {
        StepSource::Script(step) => step,
        StepSource::Reply(reply) => reply(&request),
    };
    seen.lock().unwrap().push(request);
    let _ = tell.send(ServerEvent::Asked);
    match step {
        Step::Answer { status, headers, body } => answer(&mut connection, status, headers, &body, body.len()).await,
        Step::Cut(body) => answer(&mut connection, 200, &[], &body[..body.len() / 2], body.len()).await,
        Step::Held(go, body) => {
            let _ = go.await;
            answer(&mut connection, 200, &[], &body, body.len()).await;
        }
        Step::Silence => {
            let mut rest = Vec::new();
            let _ = connection.read_to_end(&mut rest).await;
            let _ = tell.send(ServerEvent::Left);
        }
    }
}

async fn read(connection: &mut TcpStream) -> Option<SeenRequest> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if connection.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let text = String::from_utf8(bytes[..head].to_vec()).ok()?;
    let mut lines = text.lines();
    let line = lines.next()?.trim_end_matches(" HTTP/1.1").to_owned();
    let header = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()));
    let headers: BTreeMap<String, String> = lines.filter_map(header).collect();
    let length: usize = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = bytes.split_off(head + 4);
    while body.len() < length {
        if connection.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    Some(SeenRequest { line, headers, body: serde_json::from_slice(&body).unwrap_or_default() })
}

async fn answer(connection: &mut TcpStream, status: u16, headers: &[(&str, &str)], body: &str, length: usize) {
    let mut head = format!("HTTP/1.1 {status} x\r\ncontent-length: {length}\r\nconnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "content-type") {
        head.push_str("content-type: application/json\r\n");
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    // The client may have disconnected.
    let _ = connection.write_all(format!("{head}\r\n{body}").as_bytes()).await;
    let _ = connection.shutdown().await;
}
