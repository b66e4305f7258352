//! For commands that call no model.

use std::sync::Arc;

use aizuchi_core::Policies;
use aizuchi_core::effect::{Ask, Brief, Failure};
use aizuchi_core::input::Answer;

use crate::ports::{BoxFuture, ModelClient};

/// A model client that is never called.
pub struct NoModel;

impl ModelClient for NoModel {
    fn judge(self: Arc<Self>, _: Box<Ask>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        Box::pin(async { Err(Failure::unpaid("no model is asked")) })
    }

    fn write(self: Arc<Self>, _: Box<Brief>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        Box::pin(async { Err(Failure::unpaid("no model is asked")) })
    }
}
