//! The shell for more than one machine: each room is a virtual object of Restate, and PostgreSQL has what is looked at and searched.
//!
//! An invocation of a room loads its state, has the engine handle what happened, records that in PostgreSQL, sends what is to be
//! done, and saves the state. Restate may run it again after a crash: what it journaled is not done twice, and everything between is
//! the same because the engine is deterministic. So nothing is kept in a worker from one invocation to the next.

mod settings;

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
mod gateway;
#[cfg(feature = "cluster")]
mod health;
#[cfg(feature = "cluster")]
mod ingress;
#[cfg(feature = "cluster")]
mod moving;
#[cfg(feature = "cluster")]
mod room;
#[cfg(feature = "cluster")]
mod serve;
#[cfg(feature = "cluster")]
mod siblings;
#[cfg(feature = "cluster")]
mod state;
#[cfg(feature = "cluster")]
mod telling;

pub use settings::ClusterSettings;

#[cfg(feature = "cluster")]
pub use context::{ClusterContext, KnownPolicies};
#[cfg(feature = "cluster")]
pub use deployments::{Deployment, Unfinished};
#[cfg(feature = "cluster")]
pub use gateway::Gateway;
#[cfg(feature = "cluster")]
pub use health::{HealthChecks, serve_health};
#[cfg(feature = "cluster")]
pub use ingress::{RestateClient, RestateError, StuckInvocation};
#[cfg(feature = "cluster")]
pub use moving::{hand_back, offer_rooms, take_over_rooms};
#[cfg(feature = "cluster")]
pub use serve::serve;
#[cfg(feature = "cluster")]
pub use state::{RoomState, Stamped};
