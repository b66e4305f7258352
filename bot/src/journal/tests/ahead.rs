//! What a clock that was years ahead recorded, once it is set back.

use aizuchi_core::types::{Author, Change, MessageId, PersonId, Place, Span, Visibility, Voice};
use aizuchi_core::{Engine, Input, Message, Policies, Time};

use crate::journal::{Journal, Records, ShardState};
use crate::ports::{JournalEntry, OldRecords};
use crate::stores::scratch;

const NOW: Time = Time(1_700_000_000_000);
const DAY: Span = Span::minutes(24 * 60);
const YEARS: Span = Span::minutes(8 * 365 * 24 * 60);

fn said(id: &str, person: &str, at: Time) -> Input {
    Input::Said(Message {
        id: MessageId::new(id),
        place: Place::room("web:lobby"),
        at,
        author: Author { id: PersonId::new(person), name: person.into(), voice: Voice::Person },
        text: "my glockenspiel is tuned".into(),
        reply: None,
        mentions: Vec::new(),
        mentions_me: false,
        visibility: Visibility::Public,
        backfilled: false,
        heard: None,
    })
}

#[tokio::test]
async fn it_is_deleted_with_what_is_old() {
    let (_folder, database) = scratch("ahead");
    let (journal, policies) = (Journal::new(database.clone()), Policies::preset("aizuchi").unwrap());
    let ahead = NOW + YEARS;
    let deleted = Change { place: Place::room("web:lobby"), id: MessageId::new("m1"), at: ahead, text: None };
    let inputs = [
        (NOW - DAY - DAY, Input::Tick),
        (ahead, said("m1", "mia", ahead)),
        (ahead, Input::Changed(deleted)),
        (ahead, said("m2", "zoe", ahead)),
        (NOW, said("m3", "zoe", NOW)),
        (NOW, Input::Tick),
    ];
    let entries = inputs.map(|(at, input)| JournalEntry::Input(at, input));
    journal.append(0, &entries).await.unwrap();
    let engine = Engine::new(policies.clone());
    journal.take_snapshot(ShardState::of(0, NOW, &engine)).await.unwrap();
    database.write(|_| Ok(())).await.unwrap();
    let old = OldRecords::by_clock(NOW - DAY, NOW);
    assert_eq!(journal.drop_deleted(old, &policies).await, Ok(2), "the message, and that it was deleted");
    let zoe = [PersonId::new("zoe")];
    assert_eq!(journal.drop_words_of(&zoe, NOW, &policies).await, Ok(1), "the other one may be read still");
    let left = async || {
        let records = Records::all(&database).await.unwrap().whole().await.unwrap();
        records.iter().map(|record| (record.seq, matches!(record.input, Input::Forgotten))).collect::<Vec<_>>()
    };
    assert_eq!(left().await, [(1, false), (2, true), (3, true), (4, true), (5, false), (6, false)]);
    assert_eq!(journal.prune(old, &policies).await, Ok(4), "it does not keep what is older");
    assert_eq!(left().await, [(5, false), (6, false)]);
}
