//! The program stays as large as it is: half an hour of talk over web sockets, and its memory at the end beside that of
//! the first minutes. `./dev soak` runs it, and `SOAK_MINUTES` shortens it.

use std::time::Duration;

use aizuchi_test_servers::pages::Load;

use crate::program::{Program, new_home};

const MINUTES: u64 = 30;
/// The share of the time after which everything is there that is meant to stay.
const SETTLED_AFTER: f64 = 1.0 / 6.0;
const LOOKS_EVERY: Duration = Duration::from_secs(10);
/// Working memory fills up slowly; what leaks at this pace would be several times as large after half an hour.
const GROWS_AT_MOST: f64 = 1.25;

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

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes half an hour: run by `./dev soak`"]
async fn half_an_hour_of_talk_leaves_it_as_large_as_it_was() {
    let load = Load {
        rooms: 50,
        pages: 100,
        messages_per_second: 300,
        mentions_per_second: 1,
        length: Duration::from_secs(minutes() * 60),
    };
    let mut home = new_home(&["models.main=offline", "models.judge=offline"]);
    home.set(load.rooms_setting());
    let program = home.start().await;
    let talking = tokio::spawn(load.run(program.address));
    let (begun, mut sizes) = (std::time::Instant::now(), Vec::new());
    while !talking.is_finished() {
        tokio::time::sleep(LOOKS_EVERY).await;
        let share = begun.elapsed().as_secs_f64() / load.length.as_secs_f64();
        sizes.push((share, resident(&program)));
        eprintln!("{:.1} min: {:.1} MB", begun.elapsed().as_secs_f64() / 60.0, sizes.last().expect("just added").1);
    }
    let noted = talking.await.expect("everybody talks to the end");
    assert_eq!(noted.taken.len(), noted.sent.len() + noted.mentioned.len(), "everything is taken");
    let settled = sizes.iter().find(|(share, _)| *share >= SETTLED_AFTER).expect("it ran long enough").1;
    let at_the_end = sizes.last().expect("it ran long enough").1;
    assert!(at_the_end <= settled * GROWS_AT_MOST, "{settled:.1} MB grew to {at_the_end:.1} MB: {sizes:.1?}");
}
