//! The shell for more than one machine: each room is a virtual object of Restate, and PostgreSQL has what is looked at and searched.
//!
//! An invocation of a room loads its state, has the engine handle what happened, records that in PostgreSQL, sends what is to be
//! done, and saves the state. Restate may run it again after a crash: what it journaled is not done twice, and everything between is
//! the same because the engine is deterministic. So nothing is kept in a worker from one invocation to the next.

mod settings;

#[cfg(feature = "cluster")]
mod belonging;
#[cfg(feature = "cluster")]
mod calls;
#[cfg(feature = "cluster")]
mod context;
#[cfg(feature = "cluster")]
mod decide;
#[cfg(feature = "cluster")]
mod deployments;
#[cfg(feature = "cluster")]
mod endpoints;
#[cfg(feature = "cluster")]
mod forgetting;
#[cfg(feature = "cluster")]
mod gateway;
#[cfg(feature = "cluster")]
mod health;
#[cfg(feature = "cluster")]
mod ingress;
#[cfg(feature = "cluster")]
mod moving;
#[cfg(feature = "cluster")]
mod nodes;
#[cfg(feature = "cluster")]
mod outgoing;
#[cfg(feature = "cluster")]
mod poison;
#[cfg(feature = "cluster")]
mod recorded;
#[cfg(feature = "cluster")]
mod reported;
#[cfg(feature = "cluster")]
mod room;
#[cfg(feature = "cluster")]
mod room_lines;
#[cfg(feature = "cluster")]
mod serve;
#[cfg(feature = "cluster")]
mod siblings;
#[cfg(feature = "cluster")]
mod state;

pub use settings::ClusterSettings;

#[cfg(feature = "cluster")]
pub use belonging::{refuse_strangers, until_refused};
#[cfg(feature = "cluster")]
pub use context::{ClusterContext, KnownPolicies};
#[cfg(feature = "cluster")]
pub use deployments::{Deployment, Unfinished};
#[cfg(feature = "cluster")]
pub use endpoints::without_login;
#[cfg(feature = "cluster")]
pub use gateway::Gateway;
#[cfg(feature = "cluster")]
pub use health::{HealthChecks, serve_health};
#[cfg(feature = "cluster")]
pub use ingress::{RestateClient, RestateError, RestateHealth, STUCK_MAX, StuckInvocation};
#[cfg(feature = "cluster")]
pub use moving::{hand_back, offer_rooms, take_over_rooms};
#[cfg(feature = "cluster")]
pub use nodes::{NodePartitions, RestateNodes};
#[cfg(feature = "cluster")]
pub use recorded::RecordedMessages;
#[cfg(feature = "cluster")]
pub use room::{Forgetting, RoomBill};
#[cfg(feature = "cluster")]
pub use serve::serve;
#[cfg(feature = "cluster")]
pub use state::{RoomState, Stamped};
