//! The queue of model calls: a limited number run concurrently, people who addressed the bot go first, and the queue has a
//! maximum length. If several may run concurrently, the last free slot is reserved for people who address the bot.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::oneshot;

use crate::ports::ModelError;

#[derive(Clone, Default)]
pub struct CallQueue(Arc<Mutex<QueueState>>);

#[derive(Default)]
struct QueueState {
    running: usize,
    running_max: usize,
    /// Sorted by priority.
    waiting: BTreeMap<QueuePosition, oneshot::Sender<Result<CallPermit, QueueFull>>>,
    serial: u64,
}

/// People who addressed the bot go first, then by order of arrival.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct QueuePosition {
    urgency: Urgency,
    serial: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    Addressed,
    Unasked,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimits {
    pub parallel_max: usize,
    pub waiting_max: usize,
}

/// Permission to call. When dropped, it passes to the next caller.
pub struct CallPermit(CallQueue);

struct QueueFull;

impl CallQueue {
    /// Waits for a permit; if the future is dropped, its slot in the queue is freed.
    pub async fn take(&self, urgency: Urgency, room: QueueLimits) -> Result<CallPermit, ModelError> {
        let mut waiting = self.queue_up(urgency, room)?;
        self.admit();
        match (&mut waiting.turn).await {
            Ok(Ok(turn)) => Ok(turn),
            Ok(Err(QueueFull)) | Err(_) => Err(no_room("an addressed call took its place in the queue")),
        }
    }

    fn queue_up(&self, urgency: Urgency, room: QueueLimits) -> Result<QueueTicket, ModelError> {
        let mut queue = self.lock();
        queue.running_max = room.parallel_max;
        if queue.waiting.len() >= room.waiting_max {
            let last = queue.waiting.last_entry().filter(|last| last.key().urgency > urgency);
            let Some(last) = last else { return Err(no_room("too many calls are waiting")) };
            // A caller whose receiver is dropped has left already.
            let _ = last.remove().send(Err(QueueFull));
        }
        queue.serial += 1;
        let position = QueuePosition { urgency, serial: queue.serial };
        let (admit, turn) = oneshot::channel();
        queue.waiting.insert(position, admit);
        Ok(QueueTicket { turns: self.clone(), position, turn })
    }

    /// Admits calls while slots are free.
    fn admit(&self) {
        while let Some(next) = self.next() {
            // A permit that nobody receives any more is released when it is dropped, outside the lock.
            let _ = next.send(Ok(CallPermit(self.clone())));
        }
    }

    fn next(&self) -> Option<oneshot::Sender<Result<CallPermit, QueueFull>>> {
        let mut queue = self.lock();
        let kept_free = match queue.waiting.first_key_value()?.0.urgency {
            Urgency::Unasked if queue.running_max > 1 => 1,
            Urgency::Unasked | Urgency::Addressed => 0,
        };
        if queue.running + kept_free >= queue.running_max {
            return None;
        }
        let (_, next) = queue.waiting.pop_first()?;
        queue.running += 1;
        Some(next)
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.0.lock().expect("nobody panics while holding the queue")
    }
}

fn no_room(why: &str) -> ModelError {
    ModelError::GiveUp { what: format!("the call was not made: {why}") }
}

impl Drop for CallPermit {
    fn drop(&mut self) {
        self.0.lock().running -= 1;
        self.0.admit();
    }
}

/// A slot in the queue. A permit that arrives while it is being dropped is dropped with it, and so passed on.
struct QueueTicket {
    turns: CallQueue,
    position: QueuePosition,
    turn: oneshot::Receiver<Result<CallPermit, QueueFull>>,
}

impl Drop for QueueTicket {
    fn drop(&mut self) {
        self.turns.lock().waiting.remove(&self.position);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use futures_util::future::BoxFuture;

    use super::*;

    const ROOM: QueueLimits = QueueLimits { parallel_max: 1, waiting_max: 2 };

    /// Begins to wait, and waits unless there is a turn at once.
    fn begin(turns: &CallQueue, urgency: Urgency) -> Begun {
        let turns = turns.clone();
        let mut waiting = async move { turns.take(urgency, ROOM).await }.boxed();
        match waiting.as_mut().now_or_never() {
            Some(result) => Begun::Done(result),
            None => Begun::Waits(waiting),
        }
    }

    enum Begun {
        Done(Result<CallPermit, ModelError>),
        Waits(BoxFuture<'static, Result<CallPermit, ModelError>>),
    }

    impl Begun {
        fn turn(self) -> Option<Result<CallPermit, ModelError>> {
            match self {
                Begun::Done(result) => Some(result),
                Begun::Waits(waiting) => waiting.now_or_never(),
            }
        }

        fn has_turn(&mut self) -> bool {
            if let Begun::Waits(waiting) = self
                && let Some(result) = waiting.as_mut().now_or_never()
            {
                *self = Begun::Done(result);
            }
            matches!(self, Begun::Done(Ok(_)))
        }
    }

    #[test]
    fn people_who_addressed_it_go_first() {
        let turns = CallQueue::default();
        let first = begin(&turns, Urgency::Unasked).turn().unwrap().unwrap();
        let mut unasked = begin(&turns, Urgency::Unasked);
        let mut addressed = begin(&turns, Urgency::Addressed);
        assert!(!unasked.has_turn() && !addressed.has_turn());
        drop(first);
        assert!(!unasked.has_turn() && addressed.has_turn());
        drop(addressed);
        assert!(unasked.has_turn());
    }

    #[test]
    fn the_queue_has_an_end_and_who_asked_takes_the_place_of_who_did_not() {
        let turns = CallQueue::default();
        let running = begin(&turns, Urgency::Unasked);
        let older = begin(&turns, Urgency::Unasked);
        let newer = begin(&turns, Urgency::Unasked);
        assert!(begin(&turns, Urgency::Unasked).turn().unwrap().is_err(), "there is no room");
        let first = begin(&turns, Urgency::Addressed);
        assert!(newer.turn().unwrap().is_err(), "the newest gave way");
        let second = begin(&turns, Urgency::Addressed);
        assert!(older.turn().unwrap().is_err());
        assert!(begin(&turns, Urgency::Addressed).turn().unwrap().is_err(), "nobody is left to give way");
        drop((running, first));
        assert!(second.turn().unwrap().is_ok());
    }

    #[test]
    fn who_leaves_frees_the_place_and_the_turn() {
        let turns = CallQueue::default();
        let running = begin(&turns, Urgency::Unasked);
        let leaves = begin(&turns, Urgency::Addressed);
        let mut stays = begin(&turns, Urgency::Unasked);
        drop(leaves);
        let replaces = begin(&turns, Urgency::Unasked);
        assert!(matches!(replaces, Begun::Waits(_)), "there is room again");
        drop(running);
        assert!(stays.has_turn());
        let given_unseen = replaces;
        drop(stays);
        drop(given_unseen);
        assert_eq!(turns.lock().running, 0);
        assert!(begin(&turns, Urgency::Unasked).has_turn());
    }

    #[test]
    fn more_room_lets_more_in() {
        let turns = CallQueue::default();
        let _running = begin(&turns, Urgency::Unasked);
        let mut waits = begin(&turns, Urgency::Unasked);
        assert!(!waits.has_turn());
        let wider = QueueLimits { parallel_max: 4, ..ROOM };
        assert!(turns.take(Urgency::Unasked, wider).now_or_never().is_some());
        assert!(waits.has_turn());
    }

    #[test]
    fn one_is_kept_free_for_people_who_address_it() {
        let (turns, wide) = (CallQueue::default(), QueueLimits { parallel_max: 3, waiting_max: 9 });
        let take = |urgency| turns.take(urgency, wide).now_or_never();
        let _long = (take(Urgency::Unasked).unwrap().unwrap(), take(Urgency::Unasked).unwrap().unwrap());
        assert!(take(Urgency::Unasked).is_none(), "the last one is not for what nobody asked for");
        let addressed = take(Urgency::Addressed).expect("it need not wait").unwrap();
        assert!(take(Urgency::Addressed).is_none(), "there are three in all");
        drop(addressed);
        assert!(take(Urgency::Addressed).is_some());
    }
}
