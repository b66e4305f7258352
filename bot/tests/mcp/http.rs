//! Servers over HTTP that answer otherwise than they should.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};

use super::house::McpFixture;

/// A server that answers every request with this, and without end where `endless` is true. Its port.
fn answering(head: &'static str, endless: bool) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let port = listener.local_addr().expect("it has an address").port();
    let answer = move |mut stream: TcpStream| {
        let lines = BufReader::new(stream.try_clone().expect("a stream can be shared")).lines();
        lines.map_while(Result::ok).take_while(|line| !line.is_empty()).for_each(drop);
        let mut is_read = stream.write_all(head.as_bytes()).is_ok();
        let chunk = [b'x'; 64 * 1024];
        while endless && is_read {
            is_read = stream.write_all(&chunk).is_ok();
        }
    };
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || answer(stream));
        }
    });
    port
}

#[tokio::test]
async fn an_answer_without_end_a_refusal_and_a_redirect_are_told() {
    let ok = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: ";
    let (json, events) = (format!("{ok}application/json\r\n\r\n"), format!("{ok}text/event-stream\r\n\r\ndata: "));
    let (json, events): (&str, &str) = (json.leak(), events.leak());
    let refusal = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n";
    let redirect = "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n";
    let page = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/html\r\n\r\n<html>";
    let settings: String = [
        ("endless", answering(json, true)),
        ("events", answering(events, true)),
        ("page", answering(page, false)),
        ("redirect", answering(redirect, false)),
        ("refusal", answering(refusal, false)),
    ]
    .map(|(name, port)| format!("[mcp.{name}]\nurl = \"http://127.0.0.1:{port}/mcp\"\n"))
    .concat();
    let house = McpFixture::open(&settings).await;
    let told = house.servers.failures();
    let why = |name: &str| told.iter().find(|(server, _)| server == name).map_or("", |(_, why)| why.as_str());
    for (name, right) in [
        ("endless", "the answer is larger than 8 MB"),
        ("events", ""),
        ("page", "unexpected content type \"text/html\""),
        ("redirect", "HTTP 307 Temporary Redirect"),
        ("refusal", "HTTP 401 Unauthorized"),
    ] {
        assert!(!why(name).is_empty() && why(name).contains(right), "{name}: {told:?}");
    }
    house.close().await;
}
