//! Everything at random: no message is lost, nothing is posted twice, no timer rings early, the order is kept, no room is stuck.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use aizuchi_test_servers::network::Network;
use tokio::sync::watch;
use tokio::time::sleep;

use super::askers::ask;
use super::chatters::Chatters;
use super::checks::{SilenceWatch, check_order, check_timers};
use super::faults::NodeFault;
use super::own_network::with_network;
use super::stage::ClusterStage;
use crate::crowd::{Draw, Wish};
use crate::moment::Moment;
use crate::postgres::{Crowd, copy_of, number};
use crate::program::eventually;

const FAULTS: u64 = 8;
/// How long something is stopped.
const SECONDS: u64 = 3;
/// Some talk between two faults.
const PAUSE: Duration = Duration::from_millis(500);

#[test]
fn whatever_happens_to_a_machine_nothing_is_lost_and_nothing_is_said_twice() {
    with_network("nodes::campaign::whatever_happens_to_a_machine_nothing_is_lost_and_nothing_is_said_twice", campaign);
}

async fn campaign(network: Option<Network>) {
    let (began, can_cut) = (Instant::now(), network.is_some());
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("it is past 1970");
    let seed = number("NODES_SEED").unwrap_or(clock.as_millis() as u64);
    let longest = Duration::from_secs(number("NODES_SECONDS").unwrap_or(SECONDS));
    println!("NODES_SEED={seed}");
    let mut stage = ClusterStage::start(network).await;
    println!("{:.1} s: everything runs", began.elapsed().as_secs_f64());
    let mut crowd = Crowd::gather_at(&stage.rooms(), seed);
    let (silence, news) =
        SilenceWatch::start(std::mem::replace(&mut crowd.news, tokio::sync::mpsc::unbounded_channel().1));
    crowd.news = news;
    let (wish, wished) = watch::channel(Wish::Talk);
    let again_wished = wished.clone();
    let askers = {
        let (discord, slack) = (stage.discord.clone(), stage.slack.clone());
        let again = wished.clone();
        connected(&stage).await;
        (
            tokio::spawn(async move { ask(&*discord, wished).await }),
            tokio::spawn(async move { ask(&*slack, again).await }),
        )
    };
    let chatters =
        (Chatters::start(&stage.discord, seed, &again_wished), Chatters::start(&stage.slack, seed ^ 1, &again_wished));
    let (mut draw, mut counts) = (Draw(seed), BTreeMap::new());
    for round in 1..=number("NODES_FAULTS").unwrap_or(FAULTS) {
        Moment::draw(&mut draw).come(&mut crowd.news).await;
        let fault = NodeFault::draw(&mut draw, longest, can_cut);
        println!("{:.1} s: {round}. {fault}", began.elapsed().as_secs_f64());
        *counts.entry(format!("{} {:?}", fault.victim.kind(), fault.blow)).or_insert(0) += 1;
        fault.strike(&mut stage).await;
        stage.all_run();
        sleep(PAUSE).await;
    }
    println!("{:.1} s: all is well again", began.elapsed().as_secs_f64());
    wish.send_replace(Wish::Finish);
    let on_discord = askers.0.await.expect("they are answered");
    let on_slack = askers.1.await.expect("they are answered");
    for (platform, asked) in [("Discord", &on_discord), ("Slack", &on_slack)] {
        if let Some((id, said)) = &asked.unanswered {
            panic!(
                "nobody answers {id} on {platform}, said after {:.1} s:\n{}",
                said.as_secs_f64(),
                stage.story_of(id).await
            );
        }
    }
    let home = &stage.gateways[0].home;
    let taken = crowd.part(home).await;
    assert!(taken > 0, "somebody said something");
    let chatted = (chatters.0.check(home).await, chatters.1.check(home).await);
    let in_order = check_order(&copy_of(home).await);
    let timers = check_timers(&stage.postgres, &stage.database).await;
    let asked = (on_discord.check(&*stage.discord), on_slack.check(&*stage.slack));
    eventually("no room is stuck", async || {
        let told = home.command(&["cluster", "rooms", "--stuck"]).await;
        told.contains("no room is stuck").then_some(())
    })
    .await;
    let kinds: Vec<String> = counts.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    println!(
        "on Discord {} messages nobody waited for, all in order, and {} changes; on Slack {}, {} of them after later ones, and {} changes",
        chatted.0.messages, chatted.0.changed, chatted.1.messages, chatted.1.late, chatted.1.changed,
    );
    println!(
        "NODES_SEED={seed}: {} faults ({}) in {:.0} s; {taken} messages in the web room, {in_order} of them in order, {} and {} calls on \
         Discord and Slack; {} timers, none early, the latest {:.1} s late; longest silence in the web room {:.1} s, longest \
         wait for a whole answer on Discord {:.1} s, on Slack {:.1} s",
        counts.values().sum::<u64>(),
        kinds.join(", "),
        began.elapsed().as_secs_f64(),
        asked.0,
        asked.1,
        timers.count,
        timers.latest.as_secs_f64(),
        silence.longest().await.as_secs_f64(),
        on_discord.longest_wait.as_secs_f64(),
        on_slack.longest_wait.as_secs_f64(),
    );
    stage.end().await;
}

/// What is said before the first session is not heard, nor what is said before anybody has noted that there is such a channel.
async fn connected(stage: &ClusterStage) {
    eventually("somebody listens on both platforms", async || {
        let on_discord = stage.discord.world.with(|world| world.sessions.values().any(|it| it.line.is_some()));
        (on_discord && stage.slack.sockets.open() > 0).then_some(())
    })
    .await;
    eventually("the channels of Discord are known", async || {
        let query = "select count(*) > 0 from channel_mark where platform = 'discord'";
        (stage.postgres.psql(&stage.database, query).await == "t").then_some(())
    })
    .await;
}
