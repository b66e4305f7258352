//! The instants at which something happens to the program.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use crate::crowd::{Draw, News};

#[derive(Clone, Copy, Debug)]
pub enum Moment {
    /// While it starts, or soon after.
    Early { after_us: u64 },
    /// At some instant, while people talk.
    Somewhen { after_us: u64 },
    /// When somebody notices this for the n-th time, and a little later.
    At { news: News, count: u64, after_us: u64 },
}

/// Nothing of the kind happens: it is time all the same.
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
        let mut noticed = async |wanted: News, mut count: u64| {
            while count > 0 {
                let news = news.recv().await.expect("people talk");
                count -= u64::from(news == wanted);
            }
        };
        let (wait, after_us) = match self {
            Moment::Early { after_us } => (None, after_us),
            Moment::Somewhen { after_us } => (Some((News::Entered, 1)), after_us),
            Moment::At { news, count, after_us } => (Some((news, count)), after_us),
        };
        if let Some((wanted, count)) = wait {
            let _ = timeout(GIVES_UP_AFTER, noticed(wanted, count)).await;
        }
        sleep(Duration::from_micros(after_us)).await;
    }
}
