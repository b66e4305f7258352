//! The time: that of the machine, or one that a test lets run. Both are watched: a clock that is set is noticed, because a
//! steady one runs beside it; and so is since when somebody has been here to listen.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use aizuchi_core::Time;
use aizuchi_core::types::{ClockShift, Span};
use tokio::time::Instant;

#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// The machine's.
    Wall,
    /// Runs with tokio's clock, which a test can pause.
    Made(&'static ManualClock),
}

/// A clock for tests, which can be set.
#[derive(Debug)]
pub struct ManualClock {
    start: Time,
    /// `None` if the clock is stopped.
    at: Option<Instant>,
    set: Mutex<ClockShift>,
    watch: Mutex<ClockWatch>,
}

/// What is known of a clock by having looked at it before.
#[derive(Clone, Copy, Debug)]
struct ClockWatch {
    /// What it showed, and what the steady one did.
    before: Option<(Time, Duration)>,
    set_by: ClockShift,
    last: Option<ClockJump>,
    here_since: Time,
    /// What it showed first since it was last set.
    shown_from: Time,
    /// What it showed before that, from and until when.
    shown_before: Option<(Time, Time)>,
}

/// The clock was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockJump {
    /// When it was noticed, by the clock as it is now.
    pub at: Time,
    pub by: ClockShift,
}

/// What a clock shows.
#[derive(Clone, Copy, Debug)]
pub struct ClockReading {
    pub now: Time,
    /// How far it was set in all since it was first looked at.
    pub set_by: ClockShift,
}

/// The clock may be set: nobody waits longer than this without looking again, so that a program that is killed soon after
/// has written down that it was.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Standing still for longer than this is an absence.
const STILL_MAX: Duration = Duration::from_secs(30);
/// A smaller step is how clocks are kept right, and is waited out.
pub const STEP_MAX: Span = Span::seconds(1);
/// Both clocks are read within this, or again: in between, the machine may have been busy elsewhere.
const READ_WITHIN: Duration = Duration::from_millis(20);
const READS_MAX: u32 = 5;

static WALL: Mutex<ClockWatch> = Mutex::new(ClockWatch::NEW);

impl Clock {
    pub fn starting_at(start: Time) -> Clock {
        Clock::made(start, Some(Instant::now()))
    }

    /// One that shows the same time until it is set.
    pub fn standing_at(start: Time) -> Clock {
        Clock::made(start, None)
    }

    fn made(start: Time, at: Option<Instant>) -> Clock {
        let made = ManualClock { start, at, set: Mutex::default(), watch: Mutex::new(ClockWatch::NEW) };
        Clock::Made(Box::leak(Box::new(made)))
    }

    /// Sets a clock that was made for a test; the machine's is for others to set.
    pub fn set(&self, by: ClockShift) {
        if let Clock::Made(made) = self {
            lock(&made.set).0 += by.0;
        }
    }

    pub fn now(&self) -> Time {
        self.read().now
    }

    /// The time, and whether the clock was set since it was last looked at: that is logged once.
    pub fn read(&self) -> ClockReading {
        let mut watch = self.watch();
        let (now, steady) = self.both();
        let jump = watch.observe(now, steady);
        let reading = ClockReading { now, set_by: watch.set_by };
        drop(watch);
        if let Some(jump) = jump {
            jump.log();
        }
        reading
    }

    /// The last time it was set, if it ever was.
    pub fn last_jump(&self) -> Option<ClockJump> {
        self.read();
        self.watch().last
    }

    /// What was written down before shows that the clock was set while nobody looked.
    pub fn note_jump(&self, jump: ClockJump) {
        let mut watch = self.watch();
        (watch.last, watch.shown_before) = (Some(jump), None);
        drop(watch);
        jump.log();
    }

    /// How far it was set forward since it showed this time: what was dated just before that comes in just after it. Nothing,
    /// where it was not set, or showed this time to another run of the program.
    pub fn set_since(&self, at: Time) -> ClockShift {
        let watch = self.watch();
        let showed = watch.shown_before.is_some_and(|(from, until)| from <= at && at <= until);
        match watch.last.filter(|jump| showed && jump.by > ClockShift(0)) {
            Some(jump) => jump.by,
            None => ClockShift(0),
        }
    }

    /// Nobody was here to listen until now: the program was down, disconnected, or could not write anything down.
    pub fn note_return(&self) {
        let now = self.now();
        self.watch().here_since = now;
    }

    /// Since when what is said is heard at once.
    pub fn here_since(&self) -> Time {
        self.watch().here_since
    }

    /// Returns at this time or earlier, to look at the clock again.
    pub async fn sleep_until(&self, due: Option<Time>) {
        let Some(due) = due else {
            return match self {
                Clock::Wall => tokio::time::sleep(LOOK_AGAIN).await,
                Clock::Made(_) => std::future::pending().await,
            };
        };
        let left = Duration::from_millis(due.0.saturating_sub(self.now().0));
        let most = if matches!(self, Clock::Wall) { LOOK_AGAIN } else { left };
        tokio::time::sleep(left.min(most)).await;
    }

    /// Looks now and then until it is dropped, so that a jump is noticed where nothing else happens, and a pause in which
    /// the whole program stood still counts as an absence.
    pub async fn watch_over(self) {
        loop {
            let before = self.both().1;
            tokio::time::sleep(STILL_MAX / 3).await;
            if self.both().1.saturating_sub(before) > STILL_MAX {
                self.note_return();
            }
            self.read();
        }
    }

    fn watch(&self) -> MutexGuard<'static, ClockWatch> {
        lock(match self {
            Clock::Wall => &WALL,
            Clock::Made(made) => &made.watch,
        })
    }

    /// What the clock shows and what a steady one does, of the same moment.
    fn both(&self) -> (Time, Duration) {
        match self {
            Clock::Wall => {
                let mut steady = steady();
                for _ in 1..READS_MAX {
                    let now = wall();
                    let after = steady_again(steady);
                    if after - steady < READ_WITHIN {
                        return (now, steady);
                    }
                    steady = after;
                }
                (wall(), steady)
            }
            Clock::Made(made) => {
                let (passed, set) = (made.at.map(|at| at.elapsed()).unwrap_or_default(), *lock(&made.set));
                ((made.start + Span(passed.as_millis() as u64)).shifted(set), passed)
            }
        }
    }
}

impl ClockWatch {
    const NEW: ClockWatch = ClockWatch {
        before: None,
        set_by: ClockShift(0),
        last: None,
        here_since: Time(0),
        shown_from: Time(0),
        shown_before: None,
    };

    fn observe(&mut self, now: Time, steady: Duration) -> Option<ClockJump> {
        let before = self.before.replace((now, steady));
        let (shown, then) = before.unwrap_or_else(|| {
            (self.here_since, self.shown_from) = (now, now);
            (now, steady)
        });
        let by = ClockShift::between(shown + Span(steady.saturating_sub(then).as_millis() as u64), now);
        if by.size() <= STEP_MAX {
            return None;
        }
        self.set_by.0 += by.0;
        self.here_since = self.here_since.shifted(by);
        self.shown_before = Some((self.shown_from, now.shifted(ClockShift(-by.0))));
        self.shown_from = now;
        self.last = Some(ClockJump { at: now, by });
        self.last
    }
}

impl ClockJump {
    /// "forward by 1 h", "back by 1 min 30 s".
    pub fn direction(&self) -> String {
        let direction = if self.by.0 < 0 { "back" } else { "forward" };
        format!("{direction} by {}", self.rounded())
    }

    /// How far it was set, to the second.
    pub fn rounded(&self) -> Span {
        Span::seconds((self.by.size().0 + 500) / 1000)
    }

    fn log(&self) {
        tracing::warn!(by_seconds = self.by.0 as f64 / 1000.0, "the clock was set {}", self.direction());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wall() -> Time {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    Time(since.map_or(0, |since| since.as_millis() as u64))
}

/// Never earlier than before.
fn steady_again(before: Duration) -> Duration {
    steady().max(before)
}

/// Runs on while the machine sleeps: time passes then.
#[cfg(target_os = "linux")]
fn steady() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

#[cfg(not(target_os = "linux"))]
fn steady() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(watch: &mut ClockWatch, now_s: u64, steady_s: u64) -> Option<i64> {
        watch.observe(Time(now_s * 1000), Duration::from_secs(steady_s)).map(|jump| jump.by.0 / 1000)
    }

    #[test]
    fn a_clock_that_is_set_is_noticed_once_whichever_way() {
        let mut watch = ClockWatch::NEW;
        assert_eq!(look(&mut watch, 10_000, 5), None, "there is nothing to compare with yet");
        assert_eq!(look(&mut watch, 10_060, 65), None);
        assert_eq!(look(&mut watch, 13_670, 75), Some(3600));
        assert_eq!(look(&mut watch, 13_680, 85), None, "it is reported once");
        assert_eq!(look(&mut watch, 10_090, 95), Some(-3600));
        assert_eq!((watch.set_by, watch.here_since), (ClockShift(0), Time(10_000_000)));
        assert_eq!(look(&mut watch, 10_030, 96), Some(-61));
        assert_eq!(watch.last.unwrap().direction(), "back by 1 min 1 s");
    }

    #[test]
    fn a_small_step_is_no_jump() {
        let mut watch = ClockWatch::NEW;
        look(&mut watch, 10_000, 5);
        for step in 1..1000 {
            let (now, steady) = (Time(10_000_000 + step * 10_900), Duration::from_secs(5 + step * 10));
            assert_eq!(watch.observe(now, steady), None);
        }
    }
}
