//! The learnt decider: how likely somebody who is not in a conversation joins it at this message, and how likely that has
//! to be so that the bot reaches its talk share.
//!
//! It is a small learnt model over the features of the message, its conversation, its speakers and the pace of the room;
//! the contribution of each feature can be reported. The default preset decides by it; see `decider`.

mod explain;
mod features;
mod guess;
mod models;
mod reasons;
pub mod steps;
mod talk;
pub mod turn;

pub use explain::Contribution;
#[cfg(test)]
pub(crate) use explain::contributions;
pub(crate) use explain::{PartValues, contributions_of, parts};
pub use features::{FEATURES, Values};
pub(crate) use guess::worth;
pub use guess::{JoinEstimate, TrainingView, estimate_join, hear_for_training};
pub use models::{JoinModel, TurnModel};
pub use reasons::{Reason, reason_ids};
pub(crate) use reasons::{main_reasons, reasons};
pub use talk::SiblingTalk;
pub(crate) use talk::TalkShare;
