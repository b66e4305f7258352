//! What platforms keep themselves, while none of them runs: it can be read, and a person can be forgotten in it.

use std::sync::Arc;

use aizuchi_core::memory::ForgetRequest;
use aizuchi_core::types::{MessageId, Place};

use super::{slack, web};
use crate::ports::{BoxFuture, OwnTalk, Platform, PlatformStores, PostError, PostRequest};
use crate::stores::StoreError;

pub struct PlatformsAtRest(pub PlatformStores);

impl Platform for PlatformsAtRest {
    fn name(&self) -> &'static str {
        "at rest"
    }

    fn post<'a>(&'a self, _: PostRequest<'a>) -> BoxFuture<'a, Result<MessageId, PostError>> {
        Box::pin(std::future::ready(Err(at_rest())))
    }

    fn react<'a>(&'a self, _: &'a Place, _: &'a MessageId, _: &'a str) -> BoxFuture<'a, Result<(), PostError>> {
        Box::pin(std::future::ready(Err(at_rest())))
    }

    fn typing<'a>(&'a self, _: &'a Place) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    fn own_talk(&self) -> Option<&dyn OwnTalk> {
        Some(&*self.0.own_talk)
    }

    fn forget<'a>(&'a self, request: &'a Arc<ForgetRequest>) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            web::forget(&self.0, request).await?;
            slack::forget(&self.0, request).await
        })
    }
}

fn at_rest() -> PostError {
    PostError::GiveUp { what: "no platform is connected".into() }
}
