//! What happens to a machine, and to which.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use aizuchi_test_servers::network::Machine;
use tokio::time::sleep;

use super::stage::ClusterStage;
use crate::crowd::Draw;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Victim {
    Worker(usize),
    Gateway(usize),
    Node(usize),
    Database,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Blow {
    /// SIGKILL, and started again.
    Kill,
    /// SIGSTOP, and SIGCONT.
    Stop,
    /// No packet leaves it or reaches it.
    CutOff,
}

#[derive(Clone, Copy)]
pub struct NodeFault {
    pub victim: Victim,
    pub blow: Blow,
    /// Until it is back.
    pub lasts: Duration,
    /// Killed in the middle of it; of another kind.
    pub also: Option<Victim>,
}

impl Victim {
    fn draw(draw: &mut Draw) -> Victim {
        match draw.below(8) {
            0 | 1 => Victim::Worker(draw.below(2) as usize),
            2 | 3 => Victim::Gateway(draw.below(2) as usize),
            4..=6 => Victim::Node(draw.below(3) as usize),
            _ => Victim::Database,
        }
    }

    pub fn kind(self) -> &'static str {
        match self {
            Victim::Worker(_) => "worker",
            Victim::Gateway(_) => "gateway",
            Victim::Node(_) => "Restate node",
            Victim::Database => "PostgreSQL",
        }
    }
}

impl fmt::Display for Victim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Victim::Worker(number) | Victim::Gateway(number) | Victim::Node(number) => {
                write!(f, "{} {}", self.kind(), number + 1)
            }
            Victim::Database => f.write_str(self.kind()),
        }
    }
}

impl fmt::Display for NodeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?} for {:.1} s", self.victim, self.blow, self.lasts.as_secs_f64())?;
        self.also.map_or(Ok(()), |also| write!(f, ", and {also} is killed meanwhile"))
    }
}

impl NodeFault {
    /// `longest` is how long something is stopped.
    pub fn draw(draw: &mut Draw, longest: Duration, can_cut: bool) -> NodeFault {
        let victim = Victim::draw(draw);
        let blow = match draw.below(3) {
            0 => Blow::Kill,
            1 if can_cut => Blow::CutOff,
            _ => Blow::Stop,
        };
        let lasts = match blow {
            Blow::Kill => Duration::from_millis(draw.below(1_500)),
            Blow::Stop => longest,
            Blow::CutOff => longest / 3 + longest * draw.below(67) as u32 / 100,
        };
        let also = Victim::draw(draw);
        let is_extra = blow != Blow::Kill && also.kind() != victim.kind() && draw.below(3) == 0;
        NodeFault { victim, blow, lasts, also: is_extra.then_some(also) }
    }

    /// Returns when everything is back.
    pub async fn strike(self, stage: &mut ClusterStage) {
        stage.hit(self.victim, self.blow);
        sleep(self.lasts / 2).await;
        if let Some(also) = self.also {
            // It may take as long to start as what it needs is away.
            stage.hit(also, Blow::Kill);
            stage.spawn_again(also).await;
        }
        sleep(self.lasts / 2).await;
        stage.heal(self.victim, self.blow).await;
    }
}

impl ClusterStage {
    fn machine_of(&self, victim: Victim) -> Arc<Machine> {
        match victim {
            Victim::Worker(number) => self.workers[number].machine.clone(),
            Victim::Gateway(number) => self.gateways[number].machine.clone(),
            Victim::Node(number) => self.node_machines[number].clone(),
            Victim::Database => self.postgres_machine.clone(),
        }
    }

    fn hit(&mut self, victim: Victim, blow: Blow) {
        match (blow, victim) {
            (Blow::CutOff, victim) => self.machine_of(victim).cut_off(),
            (Blow::Kill, Victim::Worker(number)) => self.workers[number].program.kill(),
            (Blow::Kill, Victim::Gateway(number)) => self.gateways[number].program.kill(),
            (Blow::Kill, Victim::Node(number)) => self.restate.nodes[number].kill(),
            (Blow::Kill, Victim::Database) => self.postgres.kill_9(),
            (Blow::Stop, Victim::Worker(number)) => self.workers[number].program.pause(),
            (Blow::Stop, Victim::Gateway(number)) => self.gateways[number].program.pause(),
            (Blow::Stop, Victim::Node(number)) => self.restate.nodes[number].pause(),
            (Blow::Stop, Victim::Database) => self.postgres.pause(),
        }
    }

    async fn heal(&mut self, victim: Victim, blow: Blow) {
        match (blow, victim) {
            (Blow::CutOff, victim) => self.machine_of(victim).join(),
            (Blow::Kill, Victim::Worker(number)) => self.workers[number].start_again().await,
            (Blow::Kill, Victim::Gateway(number)) => self.gateways[number].start_again().await,
            (Blow::Kill, Victim::Node(number)) => self.restate.nodes[number].start_again().await,
            (Blow::Kill, Victim::Database) => self.postgres.start_again().await,
            (Blow::Stop, Victim::Worker(number)) => self.workers[number].program.resume(),
            (Blow::Stop, Victim::Gateway(number)) => self.gateways[number].program.resume(),
            (Blow::Stop, Victim::Node(number)) => self.restate.nodes[number].resume(),
            (Blow::Stop, Victim::Database) => self.postgres.resume(),
        }
    }

    async fn spawn_again(&mut self, victim: Victim) {
        match victim {
            Victim::Worker(number) => self.workers[number].spawn_again(),
            Victim::Gateway(number) => self.gateways[number].spawn_again(),
            Victim::Node(number) => self.restate.nodes[number].spawn(),
            Victim::Database => self.postgres.start_again().await,
        }
    }
}
