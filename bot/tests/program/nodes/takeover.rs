//! A machine that is lost for good.

use std::time::Duration;

use aizuchi_test_servers::discord::{BOT, CHANNEL, person};
use aizuchi_test_servers::network::Network;
use tokio::time::{sleep, timeout};

use super::askers::WAITS_MAX;
use super::own_network::with_network;
use super::stage::ClusterStage;
use crate::program::eventually;

const LOOKS_EVERY: Duration = Duration::from_millis(20);

#[test]
fn anyone_who_is_cut_off_for_good_is_replaced() {
    with_network("nodes::takeover::anyone_who_is_cut_off_for_good_is_replaced", anyone_who_is_cut_off);
}

/// The server cannot know that the other end of a connection is gone unless it asks.
async fn anyone_who_is_cut_off(network: Option<Network>) {
    if network.is_none() {
        return;
    }
    let stage = ClusterStage::start(network).await;
    let holds = |gateway: usize| stage.gateways[gateway].program.said().contains("aizuchi discord");
    let first = eventually("one of them has Discord", async || (0..2).find(|gateway| holds(*gateway))).await;
    // What is said before its first session is not heard.
    let connections =
        || stage.discord.world.with(|world| world.sessions.values().filter(|it| it.line.is_some()).count());
    eventually("it is connected", async || (connections() == 1).then_some(())).await;
    let ask = async |words: &str| {
        let before = stage.discord.posts(CHANNEL).len();
        let id = stage.discord.say(CHANNEL, &person(11, "mia"), &format!("<@{BOT}> {words}"));
        let answered = async || {
            while stage.discord.posts(CHANNEL).len() == before {
                sleep(LOOKS_EVERY).await
            }
        };
        if timeout(WAITS_MAX, answered()).await.is_err() {
            panic!("nobody answers {words:?}:\n{}", stage.story_of(&id.to_string()).await);
        }
    };
    ask("are you there?").await;
    stage.gateways[first].machine.cut_off();
    eventually("the other one has it", async || holds(1 - first).then_some(())).await;
    ask("and now?").await;
}
