//! The body of a request that leaves in time or not at all: a process that was stopped goes on in the middle of what it did.

use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::time::Instant;

pub struct TimelyBody {
    bytes: Option<Bytes>,
    until: Instant,
}

impl TimelyBody {
    pub fn new(text: String, until: Instant) -> TimelyBody {
        TimelyBody { bytes: Some(text.into()), until }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("it would leave too late")]
pub struct TooLate;

impl Body for TimelyBody {
    type Data = Bytes;
    type Error = TooLate;

    /// Asked for when the connection is open and can take it.
    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, TooLate>>> {
        let body = self.get_mut();
        Poll::Ready(body.bytes.take().map(|bytes| match Instant::now() < body.until {
            true => Ok(Frame::data(bytes)),
            false => Err(TooLate),
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}
