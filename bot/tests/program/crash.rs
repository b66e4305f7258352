//! Killed at any instant, again and again, while people talk: no message is lost, nothing is said twice.

use std::time::SystemTime;

use tokio::sync::{mpsc, watch};

use crate::crowd::{Draw, News, Talker, Wish};
use crate::ledger::{Ledger, Left, Terms};
use crate::moment::Moment;
use crate::program::{Home, Program, eventually, new_home};

/// How often it is killed at least. `./dev soak` sets CRASH_KILLS to more.
const KILLS: usize = 25;
/// How often it is killed at most until an answer was unacknowledged and another half said.
const KILLS_MAX: usize = 200;

pub const PEOPLE: [(&str, &str); 5] =
    [("mia", "lobby"), ("jonas", "lobby"), ("aoi", "lobby"), ("sora", "garden"), ("finn", "garden")];

pub const SETTINGS: &[&str] = &[
    "reply.part_chars=40",
    "gates.user_addressed_per_hour=0",
    "gates.interval_seconds=1",
    "gates.user_per_hour=0",
    "response.min_wait_seconds=1",
    "response.adaptive=false",
    "response.max_wait_seconds=2",
    "store.snapshot_records=50",
    "web.rooms=[\"lobby\", \"garden\"]",
    "log.level=warn",
];

async fn live_and_die(program: &mut Program, death: Moment, news: &mut mpsc::UnboundedReceiver<News>) {
    death.come(news).await;
    assert!(program.has_ended().is_none(), "it died by itself:\n{}", program.said());
    program.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_any_instant_it_loses_nothing_and_says_nothing_twice() {
    let number = |name: &str| std::env::var(name).ok().map(|value| value.parse::<u64>().expect("a number"));
    let kills = number("CRASH_KILLS").map_or(KILLS, |kills| kills as usize);
    let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("it is past 1970");
    let seed = number("CRASH_SEED").unwrap_or(clock.as_millis() as u64);
    println!("the deaths of CRASH_SEED={seed}");
    let home = new_home(SETTINGS);
    let (tell, mut news) = mpsc::unbounded_channel();
    let (wish, wished) = watch::channel(Wish::Talk);
    let talker = |(number, who)| Talker::new(who, home.address, seed ^ number as u64, tell.clone(), wished.clone());
    let people: Vec<_> = PEOPLE.into_iter().enumerate().map(talker).map(|talker| tokio::spawn(talker.talk())).collect();
    let (mut draw, mut left, mut killed) = (Draw(seed), Vec::new(), 0);
    while killed < kills || (killed < KILLS_MAX && !has_hit_both(&left)) {
        killed += 1;
        let death = Moment::draw(&mut draw);
        println!("{death:?}");
        live_and_die(&mut home.spawn(), death, &mut news).await;
        left.extend(Left::read(&home.data(), &home.folder().join("copy")));
    }
    let mut program = home.start().await;
    wish.send_replace(Wish::Finish);
    let mut knowing = Vec::new();
    for talker in people {
        knowing.push(talker.await.expect("nobody receives anything twice"));
    }
    settle(&home, &knowing).await;
    for talker in &mut knowing {
        talker.visit().await.expect("they are shown the rest");
    }
    program.terminate();
    assert!(program.ended().await.success(), "{}", program.said());
    let ledger = Ledger::read(&home.store());
    let answered = ledger.check(&knowing, &Terms::default()).with_words;
    let taken: usize = knowing.iter().map(|talker| talker.taken.len()).sum();
    let (unacknowledged, half) = windows(&left, &ledger);
    println!(
        "{killed} kills, {taken} messages, {answered} calls answered; \
         killed {unacknowledged} times between a post and its acknowledgement, {half} times between the parts of an answer"
    );
    assert!(unacknowledged > 0 && half > 0, "the windows were never hit: {unacknowledged}, {half}");
}

/// Waits until everything is decided and everything is said.
async fn settle(home: &Home, people: &[Talker]) {
    let store = home.store();
    eventually("everything is decided", async || Ledger::read(&store).is_settled(people).then_some(())).await;
}

/// Whether a death left an answer unacknowledged, and one left an answer of which more was said later.
fn has_hit_both(left: &[Left]) -> bool {
    let (Some(last), true) = (left.last(), left.iter().any(|left| left.unacknowledged)) else { return false };
    left.iter().any(|left| left.parts.iter().any(|(call, parts)| *parts < last.parts[call]))
}

/// How many of the deaths left an answer unacknowledged, and how many left one half said.
fn windows(left: &[Left], end: &Ledger) -> (usize, usize) {
    let whole = end.parts();
    let is_half = |left: &&Left| left.parts.iter().any(|(call, parts)| parts < &whole[call]);
    (left.iter().filter(|left| left.unacknowledged).count(), left.iter().filter(is_half).count())
}
