//! One address for several workers, as a load balancer has it: a connection goes to a worker that is well, and ends when that is not.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

const CONNECTS_WITHIN: Duration = Duration::from_millis(500);

/// Which workers are well.
pub type Health = Vec<bool>;

pub struct Balancer {
    address: SocketAddr,
    health: watch::Sender<Health>,
    task: JoinHandle<()>,
}

impl Balancer {
    pub async fn start(ip: IpAddr, workers: Vec<SocketAddr>) -> Balancer {
        let listener = TcpListener::bind((ip, 0)).await.expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let (health, watched) = watch::channel(vec![true; workers.len()]);
        let task = tokio::spawn(async move {
            let mut first = 0;
            while let Ok((stream, _)) = listener.accept().await {
                first += 1;
                tokio::spawn(carry(stream, workers.clone(), first, watched.clone()));
            }
        });
        Balancer { address, health, task }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What a check of a worker found.
    pub fn mark(&self, worker: usize, well: bool) {
        self.health.send_modify(|health| health[worker] = well);
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn carry(mut stream: TcpStream, workers: Vec<SocketAddr>, first: usize, mut health: watch::Receiver<Health>) {
    let turns = (0..workers.len()).map(|turn| (first + turn) % workers.len());
    for worker in turns.filter(|worker| health.borrow()[*worker]).collect::<Vec<_>>() {
        let Ok(Ok(mut to)) = timeout(CONNECTS_WITHIN, TcpStream::connect(workers[worker])).await else { continue };
        let _ = (stream.set_nodelay(true), to.set_nodelay(true));
        tokio::select! {
            _ = tokio::io::copy_bidirectional(&mut stream, &mut to) => (),
            _ = health.wait_for(|health| !health[worker]) => (),
        }
        return;
    }
}
