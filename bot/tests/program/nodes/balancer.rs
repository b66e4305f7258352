//! One address for several workers, as a load balancer has it: a connection goes to a worker that answers its health checks, and ends when
//! that does not any more.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

const CONNECTS_WITHIN: Duration = Duration::from_millis(500);
/// Between two checks of a worker.
const CHECKS_EVERY: Duration = Duration::from_millis(300);
const ANSWERS_WITHIN: Duration = Duration::from_millis(500);
/// So many checks in a row must fail.
const FAILS_MAX: u32 = 2;

/// A worker as the balancer knows it.
#[derive(Clone, Copy)]
pub struct WorkerAddresses {
    pub address: SocketAddr,
    /// Where it answers `/live`.
    pub health: SocketAddr,
}

pub struct Balancer {
    address: SocketAddr,
    // Ended when it is dropped.
    _tasks: JoinSet<()>,
}

impl Balancer {
    pub async fn start(ip: IpAddr, workers: Vec<WorkerAddresses>) -> Balancer {
        let listener = TcpListener::bind((ip, 0)).await.expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let mut tasks = JoinSet::new();
        let mut known = Vec::new();
        for worker in workers {
            // Until it has been asked: its machine refuses connections if it does not run.
            let (is_well, watched) = watch::channel(true);
            known.push((worker.address, watched));
            tasks.spawn(keep_asking(worker.health, is_well));
        }
        tasks.spawn(async move {
            let mut first = 0;
            while let Ok((stream, _)) = listener.accept().await {
                first += 1;
                let turns = (0..known.len()).map(|turn| known[(first + turn) % known.len()].clone());
                tokio::spawn(carry(stream, turns.collect()));
            }
        });
        Balancer { address, _tasks: tasks }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

async fn keep_asking(health: SocketAddr, is_well: watch::Sender<bool>) {
    let mut failed = 0;
    loop {
        match timeout(ANSWERS_WITHIN, is_live(health)).await {
            Ok(Ok(true)) => failed = 0,
            Ok(Ok(false) | Err(_)) | Err(_) => failed += 1,
        }
        is_well.send_if_modified(|known| std::mem::replace(known, failed < FAILS_MAX) != (failed < FAILS_MAX));
        sleep(CHECKS_EVERY).await;
    }
}

async fn is_live(health: SocketAddr) -> std::io::Result<bool> {
    let mut stream = TcpStream::connect(health).await?;
    stream.write_all(b"GET /live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer.starts_with("HTTP/1.1 200"))
}

async fn carry(mut stream: TcpStream, workers: Vec<(SocketAddr, watch::Receiver<bool>)>) {
    for (worker, mut is_well) in workers {
        if !*is_well.borrow() {
            continue;
        }
        let Ok(Ok(mut to)) = timeout(CONNECTS_WITHIN, TcpStream::connect(worker)).await else { continue };
        let _ = (stream.set_nodelay(true), to.set_nodelay(true));
        tokio::select! {
            _ = tokio::io::copy_bidirectional(&mut stream, &mut to) => (),
            _ = is_well.wait_for(|is_well| !is_well) => (),
        }
        return;
    }
}
