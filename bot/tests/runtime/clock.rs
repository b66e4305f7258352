//! Clocks that are wrong, and absences: nobody is ignored because of them, and what waits lasts as long as it was meant to.

use std::sync::Arc;
use std::time::Duration;

use aizuchi::journal::Records;
use aizuchi::language::Language;
use aizuchi::runtime::{Clock, EngineEvent};
use aizuchi::sentences::sentence;
use aizuchi::stores::StoreSettings;
use aizuchi_core::effect::Outcome;
use aizuchi_core::input::Command;
use aizuchi_core::types::{Change, ClockShift, Message, MessageId, PersonId, Place, Reaction, RoomId, Span};
use aizuchi_core::{Input, Time, Trace};

use crate::made_up::{Board, EngineRun, START, Scratch, Scripted, line, policies, said, saving_after};

const HOUR: ClockShift = ClockShift(3_600_000);
const HOUR_BACK: ClockShift = ClockShift(-3_600_000);

/// A program with what it needs to be started again.
struct RestartableBot {
    scratch: Scratch,
    settings: Vec<&'static str>,
    board: Arc<Board>,
    clock: Clock,
    words: Arc<Scripted>,
    store: StoreSettings,
}

impl RestartableBot {
    fn new(settings: &[&'static str]) -> RestartableBot {
        let words = Scripted::new(false, vec![line("write", "Hello!", 500)], &policies(settings));
        let (board, clock) = (Arc::default(), Clock::starting_at(START));
        RestartableBot {
            scratch: Scratch::new(),
            settings: settings.to_vec(),
            board,
            clock,
            words,
            store: StoreSettings::default(),
        }
    }

    async fn start(&self) -> EngineRun {
        let (words, board) = (self.words.clone(), self.board.clone());
        let (store, database) = (self.store.clone(), self.scratch.database());
        EngineRun::with_store(store, database, policies(&self.settings), words, board, self.clock).await
    }

    fn posts(&self) -> usize {
        self.board.posts.lock().unwrap().len()
    }

    /// Somebody calls, and is answered within the second.
    #[track_caller]
    fn asks(&self, life: &EngineRun, id: &str) -> impl Future<Output = ()> {
        let (input, engine) =
            (said(id, self.clock.now(), "mia", "aizuchi, are you there?"), life.runtime.engine.clone());
        let (before, caller) = (self.posts(), std::panic::Location::caller());
        let board = self.board.clone();
        async move {
            engine.submit(input).await.expect("it listens");
            tokio::time::sleep(Duration::from_secs(1)).await;
            assert_eq!(board.posts.lock().unwrap().len(), before + 1, "not answered, {caller}");
        }
    }
}

fn decided(life: &mut EngineRun) -> Vec<Trace> {
    std::iter::from_fn(|| life.events.try_recv().ok())
        .filter_map(|event| match event {
            EngineEvent::Decided(trace) => Some((*trace).clone()),
            EngineEvent::Changed(..) => None,
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn an_hour_ahead_and_back_again_makes_nobody_late() {
    let house = RestartableBot::new(&[]);
    let life = house.start().await;
    house.asks(&life, "m1").await;
    house.clock.set(HOUR);
    house.asks(&life, "m2").await;
    house.clock.set(HOUR_BACK);
    house.asks(&life, "m3").await;
    house.clock.set(ClockShift(-60_000));
    house.asks(&life, "m4").await;
    assert_eq!(house.clock.last_jump().unwrap().by, ClockShift(-60_000));
    life.runtime.stop().await;
}

/// Said by our clock as it was, heard by our clock as it is.
#[tokio::test(start_paused = true)]
async fn what_is_said_just_before_the_clock_is_set_is_not_late() {
    let board = Arc::new(Board { dated_here: true, ..Board::default() });
    let house = RestartableBot { board, ..RestartableBot::new(&[]) };
    let mut life = house.start().await;
    for (id, by) in [("m1", HOUR), ("m2", HOUR), ("m3", HOUR_BACK)] {
        let input = said(id, house.clock.now(), "mia", "aizuchi, are you there?");
        house.clock.set(by);
        life.runtime.engine.submit(input).await.expect("it listens");
        tokio::time::sleep(Duration::from_secs(1)).await;
        let traces = decided(&mut life);
        let trace = traces.iter().find(|trace| trace.message.as_str() == id).expect("it is decided");
        assert_ne!(trace.outcome, Outcome::Ignored, "{}", sentence(trace, Language::ENGLISH));
    }
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_start_with_records_an_hour_ahead_makes_nobody_late() {
    let house = RestartableBot::new(&[]);
    house.clock.set(HOUR);
    let life = house.start().await;
    house.asks(&life, "m1").await;
    // Killed: nothing is written down any more.
    drop(life);
    let right = RestartableBot { clock: Clock::starting_at(START + Span::seconds(10)), ..house };
    let life = right.start().await;
    assert_eq!(right.clock.last_jump().unwrap().by.size().whole_minutes(), 59);
    right.asks(&life, "m2").await;
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_mute_lasts_as_long_as_it_was_meant_to_whatever_the_clock_does() {
    for by in [HOUR, HOUR_BACK] {
        let house = RestartableBot::new(&[]);
        let life = house.start().await;
        life.hear(Input::Told(RoomId::new("log:room"), Command::Mute(Some(Span::minutes(2))))).await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        house.clock.set(by);
        tokio::time::sleep(Duration::from_secs(50)).await;
        life.hear(said("m1", house.clock.now(), "mia", "aizuchi?")).await;
        tokio::time::sleep(Duration::from_secs(15)).await;
        assert_eq!(house.posts(), 0, "{by:?}: it is still muted");
        house.asks(&life, "m2").await;
        life.runtime.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_after_its_time_whatever_the_clock_does() {
    for by in [HOUR, HOUR_BACK] {
        let yes = r#"{"should_respond": true, "reason": "asked", "delay_seconds": 0}"#;
        let settings = ["preset=myao2", "response.jitter_ratio=0"];
        let words = Scripted::new(false, vec![line("judge", yes, 0)], &policies(&settings));
        let house = RestartableBot { words, ..RestartableBot::new(&settings) };
        let life = house.start().await;
        life.hear(said("m1", START, "mia", "does anybody know?")).await;
        tokio::time::sleep(Duration::from_secs(100)).await;
        house.clock.set(by);
        tokio::time::sleep(Duration::from_secs(199)).await;
        assert_eq!(house.posts(), 0, "{by:?}: it waits for five minutes");
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!(house.posts(), 1, "{by:?}: five minutes are over");
        life.runtime.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_happened_while_the_clock_was_set_is_decided_the_same_again() {
    let house = RestartableBot { store: saving_after(1_000_000), ..RestartableBot::new(&[]) };
    let mut life = house.start().await;
    for (nth, by) in [0, 3_600_000, -3_600_000, -60_000, 90_000].into_iter().enumerate() {
        house.clock.set(ClockShift(by));
        house.asks(&life, &format!("m{nth}")).await;
    }
    let lived = decided(&mut life);
    drop(life);
    let held = policies(&house.settings);
    let found = aizuchi::journal::recover(&house.scratch.database().into(), &held, 1).await.unwrap();
    let again: Vec<Trace> = found.traces.into_iter().filter(|trace| trace.received.is_none()).collect();
    assert_eq!((again.len(), again), (5, lived));
}

fn called(id: &str, at: Time, backfilled: bool) -> Input {
    match said(id, at, "mia", "aizuchi, are you there?") {
        Input::Said(message) => Input::Said(Message { backfilled, place: Place::room("log:room"), ..message }),
        other => other,
    }
}

/// The outbox, the inbox and the gaps that are filled all end here: what was said before it was back waits
/// to be reported.
#[tokio::test(start_paused = true)]
async fn what_was_said_while_it_was_away_is_answered_within_the_limit() {
    let house = RestartableBot::new(&[]);
    let life = house.start().await;
    house.asks(&life, "m1").await;
    life.runtime.stop().await;
    let (older, younger) = (house.clock.now(), house.clock.now() + Span::minutes(3));
    tokio::time::sleep(Duration::from_secs(11 * 60)).await;
    let mut life = house.start().await;
    life.hear(called("m2", older, false)).await;
    life.hear(called("m3", younger, false)).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(house.posts(), 2, "only what is not too old");
    let decided = decided(&mut life);
    let of = |id: &str| decided.iter().find(|trace| trace.message.as_str() == id).expect("it was decided");
    assert_eq!(of("m3").outcome, Outcome::Replies);
    let sentence = sentence(of("m2"), Language::ENGLISH);
    assert!(sentence.contains("11 min before") && sentence.contains("limit 10 min"), "{sentence}");
    // It has been here all along: a platform that brings something so late is to blame itself.
    tokio::time::sleep(Duration::from_secs(300)).await;
    life.hear(called("m4", house.clock.now() - Span::seconds(60), false)).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(house.posts(), 2);
    life.hear(called("m5", house.clock.now() - Span::seconds(60), true)).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(house.posts(), 3, "fetched to fill a gap");
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn everybody_who_calls_while_it_writes_is_answered_and_shown() {
    let house = RestartableBot::new(&["gates.user_addressed_per_hour=0"]);
    let mut life = house.start().await;
    for nth in 0..100 {
        let person = format!("p{nth}");
        life.hear(said(&format!("m{nth}"), house.clock.now(), &person, "aizuchi, and me?")).await;
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
    let decided = decided(&mut life);
    let silent: Vec<String> = decided
        .iter()
        .filter(|trace| trace.outcome != Outcome::Replies)
        .map(|trace| sentence(trace, Language::ENGLISH))
        .collect();
    assert_eq!((decided.len(), silent), (100, Vec::<String>::new()));
    life.runtime.stop().await;
}

/// Nothing happens between the jump and the stop: the next start could not tell it from time that passed.
#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_just_before_a_stop_shortens_no_mute_and_drops_no_call() {
    for (shards, by) in [("runtime.shards=1", HOUR), ("runtime.shards=4", HOUR), ("runtime.shards=4", HOUR_BACK)] {
        let house = RestartableBot::new(&[shards]);
        let life = house.start().await;
        let rooms: Vec<RoomId> = (0..6).map(|number| RoomId::new(format!("log:room{number}"))).collect();
        for room in &rooms {
            life.hear(Input::Told(room.clone(), Command::Mute(Some(Span::seconds(120))))).await;
        }
        life.hear(said("m1", house.clock.now(), "mia", "aizuchi, are you there?")).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        house.clock.set(by);
        life.runtime.stop().await;
        let life = house.start().await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!(house.posts(), 1, "{shards} {by:?}: who called is answered");
        for room in &rooms {
            let muted = |view: aizuchi_core::view::RoomView| view.mute.is_some();
            assert!(muted(life.runtime.engine.view(room).await.unwrap().unwrap()), "{shards} {by:?}: {room}");
        }
        tokio::time::sleep(Duration::from_secs(120)).await;
        life.hear(said("m2", house.clock.now(), "mia", "aizuchi, and now?")).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!(house.posts(), 2);
        life.runtime.stop().await;
    }
}

/// The last record may be much older than the last moment at which the program ran.
#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_back_between_two_starts_lengthens_no_mute_in_a_quiet_room() {
    for killed in [false, true] {
        let house = RestartableBot::new(&[]);
        let life = house.start().await;
        life.hear(Input::Told(RoomId::new("log:room"), Command::Mute(Some(Span::minutes(120))))).await;
        tokio::time::sleep(Duration::from_secs(90 * 60)).await;
        if killed {
            drop(life);
        } else {
            life.runtime.stop().await;
        }
        let behind = RestartableBot { clock: Clock::starting_at(START + Span::minutes(30)), ..house };
        let life = behind.start().await;
        let noticed = behind.clock.last_jump().expect("it is noticed").by.size().whole_minutes();
        assert_eq!(noticed, if killed { 59 } else { 60 }, "killed: {killed}");
        tokio::time::sleep(Duration::from_secs(28 * 60)).await;
        life.hear(said("m1", behind.clock.now(), "mia", "aizuchi?")).await;
        tokio::time::sleep(Duration::from_secs(5 * 60)).await;
        assert_eq!(behind.posts(), 0, "killed: {killed}: it is still muted");
        behind.asks(&life, "m2").await;
        life.runtime.stop().await;
    }
}

/// What is noted beside the journal is older than its records: only they tell.
#[tokio::test(start_paused = true)]
async fn a_clock_that_was_set_back_before_a_kill_is_not_set_back_again() {
    let house = RestartableBot::new(&[]);
    let life = house.start().await;
    life.hear(Input::Told(RoomId::new("log:room"), Command::Mute(Some(Span::minutes(120))))).await;
    tokio::time::sleep(Duration::from_secs(90 * 60)).await;
    house.clock.set(HOUR_BACK);
    life.hear(said("m1", house.clock.now(), "mia", "aizuchi?")).await;
    drop(life);
    let again = RestartableBot { clock: Clock::starting_at(house.clock.now() + Span::seconds(2)), ..house };
    let life = again.start().await;
    assert_eq!(again.clock.last_jump(), None);
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_people_did_a_moment_ago_is_handled_as_of_then() {
    let house = RestartableBot::new(&[]);
    let life = house.start().await;
    let at = house.clock.now() + Span::seconds(9);
    tokio::time::sleep(Duration::from_secs(10)).await;
    let (place, message) = (Place::room("log:room"), MessageId::new("m0"));
    let by = PersonId::new("mia");
    life.hear(Input::Reacted(Reaction {
        place: place.clone(),
        message: message.clone(),
        at,
        by,
        emoji: "👍".into(),
        on: true,
    }))
    .await;
    life.hear(Input::Changed(Change { place, id: message, at: at + Span(1), text: None })).await;
    life.runtime.stop().await;
    let database = house.scratch.database();
    let records = Records::all(&database).await.unwrap().collect().await.unwrap();
    let records: Vec<_> = records.into_iter().map(|record| record.expect("nothing is damaged")).collect();
    let handled = |is: fn(&Input) -> bool| records.iter().find(|record| is(&record.input)).map(|record| record.at);
    assert_eq!(handled(|input| matches!(input, Input::Reacted(_))), Some(at));
    assert_eq!(handled(|input| matches!(input, Input::Changed(_))), Some(at + Span(1)));
}
