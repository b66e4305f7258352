//! The program stays as large as it is: half an hour of talk over web sockets, and its memory at the end beside that of
//! the first minutes. `./dev soak` runs it, and `SOAK_MINUTES` shortens it; a quarter of a minute with fewer people is an everyday test.

use std::time::Duration;

use aizuchi_test_servers::pages::Load;

use crate::program::{Program, new_home};

const MINUTES: u64 = 30;
/// The share of what is said after which everything is there that is meant to stay.
const SETTLED_AFTER: f64 = 1.0 / 6.0;
/// How often its memory is read.
const LOOKS: u32 = 180;
/// Working memory fills up slowly; what leaks at this pace would be several times as large after half an hour.
const GROWS_AT_MOST: f64 = 1.25;
/// In so short a time not everything is there yet that is meant to stay.
const GROWS_AT_MOST_AT_FIRST: f64 = 2.0;

const LITTLE: Load =
    Load { rooms: 10, pages: 20, messages_per_second: 60, mentions_per_second: 1, length: Duration::from_secs(15) };

fn long_load() -> Load {
    let length = Duration::from_secs(minutes() * 60);
    Load { rooms: 50, pages: 100, messages_per_second: 300, mentions_per_second: 1, length }
}

fn minutes() -> u64 {
    let set = std::env::var("SOAK_MINUTES").ok();
    set.map_or(MINUTES, |minutes| minutes.parse().expect("SOAK_MINUTES is a number"))
}

/// Memory of its own, without what the disk lends it, in megabytes.
fn resident(program: &Program) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", program.id())).expect("it runs, on Linux");
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("the kernel says so");
        line.trim().trim_end_matches("kB").trim().parse::<f64>().expect("a number")
    };
    of("VmRSS:") / 1024.0
}

/// How much it has been told so far.
async fn taken(program: &Program) -> f64 {
    let metrics = program.get("/metrics").await;
    let count = metrics.lines().find_map(|line| line.strip_prefix("aizuchi_web_messages_total "));
    // It is not there before the first.
    count.map_or(0.0, |count| count.trim().parse().expect("a number"))
}

/// Talk like this, and how many times as large the program is at its end as it was early on.
async fn growth(load: Load) -> f64 {
    let length = load.length;
    let mut home = new_home(&["models.main=offline", "models.judge=offline"]);
    home.set(load.rooms_setting());
    let program = home.start().await;
    let talking = tokio::spawn(load.run(program.address));
    let (all, mut sizes) = ((load.messages_per_second * length.as_secs()) as f64, Vec::new());
    while !talking.is_finished() {
        tokio::time::sleep(length / LOOKS).await;
        // A slow machine takes less in the same time: by what is taken its early size is comparable everywhere.
        sizes.push((taken(&program).await / all, resident(&program)));
    }
    let noted = talking.await.expect("everybody talks to the end");
    assert_eq!(noted.taken.len(), noted.sent.len() + noted.mentioned.len(), "everything is taken");
    let settled = sizes.iter().find(|(share, _)| *share >= SETTLED_AFTER).expect("it ran long enough").1;
    let at_the_end = sizes.last().expect("it ran long enough").1;
    println!("{settled:.1} MB early on, {at_the_end:.1} MB at the end of {length:?}");
    at_the_end / settled
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes half an hour: run by `./dev soak`"]
async fn half_an_hour_of_talk_leaves_it_as_large_as_it_was() {
    let grown = growth(long_load()).await;
    assert!(grown <= GROWS_AT_MOST, "it is {grown:.2} times as large as it was");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_little_talk_is_taken_in_and_leaves_it_about_as_large() {
    let grown = growth(LITTLE).await;
    assert!(grown <= GROWS_AT_MOST_AT_FIRST, "it is {grown:.2} times as large as it was");
}
