//! A model's server that gives everybody the same answer, or keeps them waiting.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

pub const OPENAI_ANSWER: &str = r#"{"id": "x", "object": "chat.completion", "model": "m", "choices": [{"index": 0,
    "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}]}"#;

/// Status and body; none is silence until the other side leaves.
type Answer = Option<(&'static str, String)>;

pub struct Server {
    pub port: u16,
    thread: JoinHandle<Vec<String>>,
}

impl Server {
    pub fn start(answer: impl Fn() -> Answer + Send + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
        let port = listener.local_addr().expect("it is bound").port();
        let thread = std::thread::spawn(move || {
            let mut asked = Vec::new();
            for connection in listener.incoming() {
                let mut connection = connection.expect("somebody called");
                let request = read(&mut connection);
                if request == STOP {
                    break;
                }
                asked.push(request);
                match answer() {
                    None => _ = connection.read_to_end(&mut Vec::new()),
                    Some((status, body)) => {
                        let head = "Content-Type: application/json\r\nConnection: close";
                        let length = body.len();
                        let text = format!("HTTP/1.1 {status}\r\n{head}\r\nContent-Length: {length}\r\n\r\n{body}");
                        connection.write_all(text.as_bytes()).expect("the other side listens");
                    }
                }
            }
            asked
        });
        Server { port, thread }
    }

    /// The requests there were.
    pub fn stop(self) -> Vec<String> {
        let mut connection = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        connection.write_all(STOP.as_bytes()).expect("it reads");
        drop(connection);
        self.thread.join().expect("it did not panic")
    }
}

const STOP: &str = "STOP\r\n\r\n";

/// Head and body of a request, or as much as there is.
fn read(connection: &mut TcpStream) -> String {
    let (mut request, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&request).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let told =
                head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
            if body.len() >= told.unwrap_or(0_usize) {
                return text;
            }
        }
        match connection.read(&mut piece) {
            Ok(0) | Err(_) => return text,
            Ok(length) => request.extend(&piece[..length]),
        }
    }
}
