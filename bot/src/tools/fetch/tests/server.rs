//! Servers on loopback: one that answers, one that nobody may reach.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What a server sends for a path.
pub enum Reply {
    Whole(Vec<u8>),
    /// The second part again and again, for as long as somebody reads.
    Endless(Vec<u8>, Vec<u8>),
    /// It takes the request and says nothing.
    Silent,
}

pub struct Server {
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub async fn start(reply: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Server {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (reply, requests) = (Arc::new(reply), Arc::new(Mutex::new(Vec::new())));
        let (seen, reply) = (requests.clone(), reply);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, reply.clone(), seen.clone()));
            }
        });
        Server { address, requests }
    }

    /// What was asked for so far, with all headers.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn answer(mut stream: TcpStream, reply: Arc<impl Fn(&str) -> Reply>, seen: Arc<Mutex<Vec<String>>>) {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read(&mut buffer).await {
            Ok(count) if count > 0 => request.extend_from_slice(&buffer[..count]),
            _ => return,
        }
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let target = request.split(' ').nth(1).unwrap_or_default().to_owned();
    seen.lock().unwrap().push(request);
    match reply(&target) {
        Reply::Whole(bytes) => {
            let _ = stream.write_all(&bytes).await;
        }
        Reply::Endless(head, again) => {
            let _ = stream.write_all(&head).await;
            while stream.write_all(&again).await.is_ok() {}
        }
        Reply::Silent => {
            let _ = stream.read(&mut buffer).await;
        }
    }
    let _ = stream.shutdown().await;
}

pub fn response(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

pub fn page(content_type: &str, body: impl AsRef<[u8]>) -> Reply {
    Reply::Whole(response("200 OK", &format!("Content-Type: {content_type}\r\n"), body))
}

pub fn redirect(location: &str) -> Reply {
    Reply::Whole(response("302 Found", &format!("Location: {location}\r\n"), ""))
}

/// A server that nobody may reach.
pub struct Forbidden(TcpListener);

impl Forbidden {
    /// Bound to an address of its own.
    pub fn start(address: &str) -> Forbidden {
        Forbidden::try_start(address).expect("an address of loopback")
    }

    /// None where there is no such address.
    pub fn try_start(address: &str) -> Option<Forbidden> {
        let listener = TcpListener::bind(address).ok()?;
        listener.set_nonblocking(true).unwrap();
        Some(Forbidden(listener))
    }

    pub fn address(&self) -> SocketAddr {
        self.0.local_addr().unwrap()
    }

    /// Whether somebody connected since the last look. The kernel has queued those who did.
    pub fn was_reached(&self) -> bool {
        match self.0.accept() {
            Ok(_) => true,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                false
            }
        }
    }
}
