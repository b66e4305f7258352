//! What new rooms learn from rooms like them is known to every worker, and to those that start later.

use aizuchi::cluster::Stamped;
use aizuchi::runtime::Clock;
use aizuchi_core::Input;
use aizuchi_core::types::{Place, RoomId, Span};
use aizuchi_core::{Message, Time};
use tokio_util::sync::CancellationToken;

use super::one_node::OneNode;
use crate::made_up::{START, policies, said};
use crate::money::Counting;

const SETTINGS: [&str; 1] = ["preset=aizuchi"];

fn said_in(room: &str, number: u64) -> Stamped {
    let at: Time = START + Span::seconds(number * 20);
    let author = ["mia", "jonas", "aoi"][number as usize % 3];
    let Input::Said(message) = said(&format!("{room}-{number}"), at, author, "the bread is in the oven") else {
        unreachable!("somebody says something")
    };
    Stamped::new(at, Input::Said(Message { place: Place::room(room), ..message }))
}

/// Shares once.
async fn share(node: &OneNode) {
    let stop = CancellationToken::new();
    stop.cancel();
    node.context.share_siblings(stop).await;
}

/// Whether a new room of this worker learns about rooms like it.
async fn is_introduced(node: &OneNode, room: &str) -> bool {
    let told: Vec<Stamped> = (0..3).map(|number| said_in(room, number)).collect();
    for (number, told) in told.into_iter().enumerate() {
        node.restate.call(&RoomId::new(room), &format!("{room}-{number}"), &[told]).await.unwrap();
    }
    let is_told =
        |record: &aizuchi::journal::Record| matches!(&record.input, Input::Siblings(of, _) if of.as_str() == room);
    // What a room sends to itself is handled before what is said there later.
    node.records().await.iter().any(is_told)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_worker_has_seen_is_known_to_another_and_after_a_start() {
    let first =
        OneNode::start(policies(&SETTINGS), Counting::taking(0), Clock::standing_at(START + Span::minutes(200))).await;
    let talk: Vec<Stamped> = (0..400).map(|number| said_in("log:old", number)).collect();
    first.restate.call(&RoomId::new("log:old"), "talk", &talk).await.unwrap();
    let second = first.beside(policies(&SETTINGS), Counting::taking(0)).await;
    share(&second).await;
    assert!(!is_introduced(&second, "log:early").await, "nobody has shared anything yet");
    share(&first).await;
    share(&second).await;
    assert!(is_introduced(&second, "log:new").await, "it knows what the first has seen");
    // What is shared once is not shared again.
    let all = async || second.context.store.share_siblings(Default::default()).await.unwrap();
    let before = all().await;
    share(&first).await;
    assert_eq!(all().await, before);
}
