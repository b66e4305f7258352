//! The instants at which something happens to the program.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use crate::crowd::{Draw, News};
use crate::program::PATIENCE;

#[derive(Clone, Copy, Debug)]
pub enum Moment {
    /// While it starts, or soon after.
    Early { after_us: u64 },
    /// At some instant, while people talk.
    Somewhen { after_us: u64 },
    /// When somebody notices this for the n-th time, and a little later.
    At { news: News, count: u64, after_us: u64 },
}

/// Nothing of the kind happens, although people notice something: it is time all the same.
const GIVES_UP_AFTER: Duration = Duration::from_secs(3);

impl Moment {
    pub fn draw(draw: &mut Draw) -> Moment {
        let at = |news, draw: &mut Draw| Moment::At {
            news,
            count: 1 + draw.below(3),
            after_us: draw.below(4) * draw.below(1_500),
        };
        match draw.below(8) {
            0 => Moment::Early { after_us: draw.below(60_000) },
            1 | 2 => Moment::Somewhen { after_us: draw.below(600_000) },
            3 | 4 => at(News::FirstPart, draw),
            5 => at(News::LaterPart, draw),
            6 => at(News::Called, draw),
            _ => at(News::CallTaken, draw),
        }
    }

    /// Waits for it.
    pub async fn come(self, news: &mut mpsc::UnboundedReceiver<News>) {
        while news.try_recv().is_ok() {}
        let (wait, after_us) = match self {
            Moment::Early { after_us } => (None, after_us),
            Moment::Somewhen { after_us } => (Some((News::Entered, 1)), after_us),
            Moment::At { news, count, after_us } => (Some((news, count)), after_us),
        };
        if let Some((wanted, mut count)) = wait {
            // It may still be starting, which takes a busy machine longer than that.
            if let Ok(first) = timeout(PATIENCE, news.recv()).await {
                count -= u64::from(first.expect("people talk") == wanted);
            }
            let noticed = async {
                while count > 0 {
                    count -= u64::from(news.recv().await.expect("people talk") == wanted);
                }
            };
            let _ = timeout(GIVES_UP_AFTER, noticed).await;
        }
        sleep(Duration::from_micros(after_us)).await;
    }
}
