//! The program is gone from one instant to the next, again and again: no message is lost, nothing is said twice.

use std::sync::Arc;
use std::time::Duration;

use aizuchi::runtime::Clock;
use aizuchi_core::types::Span;
use aizuchi_core::{Input, Time};

use crate::made_up::{Board, EngineRun, START, Scratch, Scripted, line, policies, said, saving_after};

const MESSAGES: u64 = 12;
const CRASHES: u64 = 4;
/// How many talks it lives through. `./dev soak` sets CRASH_LIVES to more.
const LIVES: u64 = 100;
const LIVES_IN_CHUNKS: u64 = 60;

/// An answer that comes in three parts, or as three posts of their own.
struct Manner {
    setting: &'static str,
    words: String,
}

impl Manner {
    fn in_parts() -> Manner {
        let words = "One sentence of some length here. Another sentence that follows it. And a third one to end with.";
        Manner { setting: "reply.part_chars=40", words: words.into() }
    }

    fn in_chunks() -> Manner {
        Manner { setting: "reply.chunks=3", words: Manner::chunks().join("\n\n") }
    }

    fn chunks() -> [String; 3] {
        ["First", "Second", "Third"].map(|which| format!("{which}:{}", " and so it goes on".repeat(14)))
    }
}

/// Of each message: is it told, and when. Every second one wants an answer.
fn talk(seed: u64) -> Vec<(Time, Input)> {
    let mut draw = seed;
    let message = |number: u64| {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = START + Span(number * 700 + (draw >> 40) % 600);
        let text = if number.is_multiple_of(2) { "aizuchi, tell me" } else { "and then it rained" };
        (at, said(&format!("m{number}"), at, ["mia", "jonas"][(draw >> 33) as usize % 2], text))
    };
    (0..MESSAGES).map(message).collect()
}

/// Runs until it is killed, in a world of its own; what was reported and is not known to be durable is reported again.
fn live(
    scratch: &Scratch,
    board: &Arc<Board>,
    manner: &Manner,
    talk: &mut Vec<(Time, Input)>,
    from: Time,
    until: Option<Time>,
) {
    let world = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    world.block_on(async {
        let policies = policies(&[manner.setting]);
        let models = Scripted::new(false, vec![line("write", &manner.words, 250)], &policies);
        let clock = Clock::starting_at(from);
        let life =
            EngineRun::with_store(saving_after(7), scratch.database(), policies, models, board.clone(), clock).await;
        let living = async {
            while let Some((at, input)) = talk.first().cloned() {
                clock.sleep_until(Some(at)).await;
                life.hear(input).await;
                talk.remove(0);
            }
            tokio::time::sleep(Duration::from_secs(120)).await;
        };
        match until {
            Some(until) => {
                let left = Duration::from_millis(until.0 - from.0);
                let _ = tokio::time::timeout(left, living).await;
            }
            None => living.await,
        }
    });
    // Everything that was under way is gone with its world.
    world.shutdown_timeout(Duration::from_secs(10));
}

#[test]
fn killed_at_any_instant_it_loses_nothing_and_says_nothing_twice() {
    let lives = std::env::var("CRASH_LIVES").map_or(LIVES, |lives| lives.parse().expect("CRASH_LIVES is a number"));
    for seed in 0..lives {
        check_board(&die_often(seed, &Manner::in_parts(), |_| ()), seed);
    }
}

/// Between two posts of one answer, too: the rest follows once, and nothing comes in between.
#[test]
fn killed_between_two_posts_of_an_answer_it_sends_the_rest_once() {
    let mut in_mid_answer = 0;
    for seed in 0..LIVES_IN_CHUNKS {
        let board = die_often(seed, &Manner::in_chunks(), |board| {
            in_mid_answer += u64::from(!board.posts.lock().unwrap().len().is_multiple_of(3));
        });
        let posts = board.posts.lock().unwrap();
        let texts: Vec<&str> = posts.iter().map(|(_, text)| text.as_str()).collect();
        assert!(!texts.is_empty(), "seed {seed}");
        for answer in texts.chunks(3) {
            assert_eq!(answer, Manner::chunks(), "seed {seed}: {posts:?}");
        }
    }
    assert!(in_mid_answer > LIVES_IN_CHUNKS, "only {in_mid_answer} deaths were between two posts");
}

/// Lives through a talk with deaths in it, each of which is shown, to its end.
fn die_often(seed: u64, manner: &Manner, mut see_death: impl FnMut(&Board)) -> Arc<Board> {
    let scratch = Scratch::in_memory();
    let board = Arc::new(Board { way: Duration::from_millis(60), ..Board::default() });
    let (mut left, mut from, mut draw) = (talk(seed), START, seed ^ 0x9e37_79b9);
    for _ in 0..CRASHES {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let until = from + Span(1 + (draw >> 33) % 3_000);
        live(&scratch, &board, manner, &mut left, from, Some(until));
        see_death(&board);
        from = until;
    }
    live(&scratch, &board, manner, &mut left, from, None);
    assert!(left.is_empty(), "seed {seed}: everything was delivered");
    check_store(&scratch, seed);
    board
}

/// Every message is in the journal, and every one has its decision.
fn check_store(scratch: &Scratch, seed: u64) {
    let store = rusqlite::Connection::open(scratch.0.join("aizuchi.db")).unwrap();
    for number in 0..MESSAGES {
        let recorded: i64 = store
            .query_row("SELECT count(*) FROM journal WHERE body LIKE ?1", [format!("%\"id\":\"m{number}\"%")], |row| {
                row.get(0)
            })
            .unwrap();
        assert!(recorded >= 1, "seed {seed}: m{number} is in the journal");
        let decided: i64 = store
            .query_row("SELECT count(*) FROM trace WHERE message = ?1", [format!("m{number}")], |row| row.get(0))
            .unwrap();
        assert_eq!(decided, 1, "seed {seed}: m{number} is decided");
    }
}

/// Answers are whole, in order, and each is there once: the three parts of one call, then those of the next.
fn check_board(board: &Board, seed: u64) {
    let posts = board.posts.lock().unwrap();
    let mut answers: Vec<&str> = posts.iter().map(|(key, _)| key.rsplit_once('/').unwrap().0).collect();
    answers.dedup();
    let mut once = answers.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), answers.len(), "seed {seed}: no answer is begun twice: {posts:?}");
    assert_eq!(posts.len(), 3 * answers.len(), "seed {seed}: no answer stays half: {posts:?}");
    assert!(!answers.is_empty() && answers.len() <= MESSAGES as usize / 2, "seed {seed}: {answers:?}");
}
