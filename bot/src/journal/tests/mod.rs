//! Looking a person up finds what reading everything finds, and reads little.

mod ahead;
mod full_scan;
pub mod made_up;
mod reads;

use std::collections::BTreeSet;
use std::sync::Arc;

use aizuchi_core::Input;
use aizuchi_core::memory::ForgetRequest;
use aizuchi_core::types::PersonId;
use aizuchi_test_servers::folder::Scratch;
use proptest::prelude::*;

use super::Journal;
use super::forget::{Footprints, footprints};
use crate::ports::{Replacement, Selection, Stores};
use crate::stores::scratch;
use made_up::{Happened, PEOPLE, ROOMS, WORDS, happening};

fn waiting<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

async fn stores(name: &str, happened: &[Happened]) -> (Scratch, Stores) {
    let (folder, database) = scratch(name);
    let stores = Stores::from(database);
    made_up::keep(&stores, happened).await;
    (folder, stores)
}

fn shown(found: Footprints) -> (ForgetRequest, Vec<String>, Vec<String>) {
    let Footprints { mut request, mut records, decisions } = found;
    request.rooms.sort();
    records.sort_by_key(|(seq, _)| *seq);
    let decision = |Replacement { room, message, after, .. }: &Replacement| format!("{room} {message} {after:?}");
    let mut decisions: Vec<String> = decisions.iter().map(decision).collect();
    decisions.sort();
    (request, records.iter().map(|(seq, input)| format!("{seq} {input:?}")).collect(), decisions)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_person_is_found_wherever_reading_everything_finds_them(happened in happening(120), shards in 1_usize..4) {
        waiting(async {
            let (_folder, stores) = stores("footprints", &happened).await;
            let ids = vec![PersonId::new(PEOPLE[0]), PersonId::new("nobody")];
            let expected = full_scan::trail(&stores, &ids).await;
            let found = Journal::new(stores.clone()).trail(&ids, &[]).await.unwrap();
            assert_eq!((&found.names, &found.rooms), (&expected.names, &expected.rooms));
            assert_eq!((&found.answers, &found.others), (&expected.answers, &expected.others));
            for word in WORDS {
                let theirs = expected.phrases.are_in(word);
                assert!(!theirs || found.phrases.are_in(word), "{word} is theirs and is not found");
            }
            let names = vec![PEOPLE[0].into()];
            let (rooms, answers) = (found.rooms.into_iter().collect(), found.answers.into_iter().collect());
            let request = ForgetRequest { ids, names, rooms, answers, phrases: found.phrases, ..ForgetRequest::default() };
            for shard in 0..shards {
                let expected = full_scan::footprints(&stores, shard, shards, &request).await;
                let found = footprints(&stores, shard, shards, &request).await.unwrap();
                assert_eq!(shown(found), shown(expected));
            }
        });
    }

    #[test]
    fn the_indexes_say_what_the_records_say(happened in happening(80), forgotten in prop::collection::vec(0_usize..80, 0..9)) {
        waiting(async {
            let (_folder, stores) = stores("indexes", &happened).await;
            let records = forgotten.into_iter().map(|at| (at as i64 + 1, Input::Forgotten)).collect();
            let rewrite = crate::ports::Rewrite { records, ..Default::default() };
            assert!(stores.journal.rewrite(Arc::new(rewrite), None).await.unwrap());
            full_scan::check_indexes(&stores, &selections()).await;
        });
    }
}

fn selections() -> Vec<Selection> {
    let people = |ids: &[&str]| Selection::People(ids.iter().map(PersonId::new).collect());
    let messages = ROOMS.iter().flat_map(|room| (0..9).map(|id| made_up::message_in(room, id)));
    let instants = ROOMS.iter().flat_map(|room| (0..9).map(|at| made_up::instant_in(room, at)));
    vec![
        people(&PEOPLE[..1]),
        people(&PEOPLE),
        people(&[]),
        Selection::Messages(messages.collect()),
        Selection::At(instants.collect()),
        Selection::Of(crate::ports::RecordKind::Own),
        Selection::Of(crate::ports::RecordKind::Changed),
        Selection::Of(crate::ports::RecordKind::Told),
    ]
}

/// What the whole way of forgetting leaves says nothing of them any more.
#[test]
fn nothing_is_found_a_second_time() {
    let happened = made_up::sample(150);
    waiting(async {
        let (_folder, stores) = stores("again", &happened).await;
        let ids = [PersonId::new(PEOPLE[0])];
        let request = ForgetRequest { ids: ids.to_vec(), names: vec![PEOPLE[0].into()], ..Default::default() };
        let Footprints { records, decisions, .. } = footprints(&stores, 0, 1, &request).await.unwrap();
        assert!(records.len() > 10 && !decisions.is_empty(), "{} and {}", records.len(), decisions.len());
        let rewrite = crate::ports::Rewrite { records, decisions, ..Default::default() };
        stores.journal.rewrite(Arc::new(rewrite), None).await.unwrap();
        let again = footprints(&stores, 0, 1, &request).await.unwrap();
        assert_eq!((again.records.len(), again.decisions.len()), (0, 0));
        assert_eq!(stores.index.select(&Selection::People(ids.to_vec())).await, Ok(Vec::new()));
        let named: BTreeSet<PersonId> = stores.index.names().await.unwrap().into_iter().map(|(id, _)| id).collect();
        assert!(!named.contains(&ids[0]) && named.len() >= 3, "{named:?}");
    });
}
