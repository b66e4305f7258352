//! What was stored and not heard is handled at the start: people who address the bot first, each room in its order.

use aizuchi_core::Input;
use aizuchi_core::types::{Author, Message, MessageId, PersonId, Place, Time, Visibility, Voice};
use rusqlite::params;

use crate::house::{Engine, WebFixture, folder};

const STORED: u64 = 600;
const ROOMS: u64 = 10;
/// In the room of the last one, which is a mention.
const BEFORE_IT: u64 = 300;

fn message(seq: u64) -> Message {
    let room = if [BEFORE_IT, STORED].contains(&seq) { ROOMS } else { seq % ROOMS };
    Message {
        id: MessageId::new(format!("w{seq}")),
        place: Place::room(format!("web:room{room}")),
        at: Time(1_775_563_200_000 + seq),
        author: Author { id: PersonId::new("web:mia"), name: "mia".into(), voice: Voice::Person },
        text: "and then the rain came".into(),
        reply: None,
        mentions: Vec::new(),
        mentions_me: seq == STORED,
        visibility: Visibility::Public,
        backfilled: false,
        heard: None,
    }
}

#[tokio::test]
async fn after_a_restart_a_mention_is_told_before_what_was_said_elsewhere() {
    let folder = folder("first");
    // Makes the tables.
    WebFixture::open_in(&folder, &[], Engine::Listens).await.unwrap().close().await;
    let store = rusqlite::Connection::open(folder.join("aizuchi.db")).unwrap();
    for seq in 1..=STORED {
        let body = serde_json::to_string(&Input::Said(message(seq))).unwrap();
        let insert = "INSERT INTO inbox (platform, key, at, body) VALUES ('web', ?1, 0, ?2)";
        store.execute(insert, params![seq as i64, body]).unwrap();
    }

    let house = WebFixture::open_in(&folder, &[], Engine::Listens).await.unwrap();
    let mut heard = Vec::new();
    while heard.len() < STORED as usize {
        tokio::task::yield_now().await;
        heard = house.said();
    }
    let seqs: Vec<u64> = heard.iter().map(|message| message.id.as_str()[1..].parse().unwrap()).collect();
    assert_eq!(seqs[..2], [BEFORE_IT, STORED]);
    for room in 0..ROOMS {
        let of_room: Vec<u64> = seqs[2..].iter().copied().filter(|seq| seq % ROOMS == room).collect();
        assert!(of_room.is_sorted(), "each room in its order: {of_room:?}");
    }
    // Everything was heard once, and is not told again.
    let mut once = seqs.clone();
    once.sort_unstable();
    assert_eq!(once, (1..=STORED).collect::<Vec<_>>());
    let left = || store.query_row("SELECT count(*) FROM inbox", [], |row| row.get::<_, i64>(0)).unwrap();
    while left() > 0 {
        tokio::task::yield_now().await;
    }
    house.close().await;
}
