//! One suite for every whole store: the same happens to each, and each gives the same answers.

mod platforms;
mod recall;

use std::path::Path;
use std::sync::Arc;

use aizuchi_core::types::{MessageId, PersonId, RoomId};
use aizuchi_core::{Input, Time};
use aizuchi_test_servers::folder::Scratch;

use super::Database;
use crate::journal::tests::made_up::{self, Happened, sample};
use crate::memory::StoredLayers;
use crate::ports::{
    CopyScope, DecisionPart, DecisionQuery, EngineState, JobStep, JournalEntry, MemoryStore, NewBase, OldRecords,
    Position, Range, RecordKind, Rewrite, Selection, StateKind, StoreBackend, TalkWrite, WebChange, WebDecision,
    WebQuery, WebWrite,
};
use platforms::{said, writes};

/// The stores there are, opened in a folder.
const BACKENDS: &[&str] = &[
    "sqlite",
    #[cfg(feature = "postgres")]
    "postgres",
    #[cfg(feature = "postgres")]
    "plain postgres",
];

async fn open(name: &str, folder: &Path) -> Arc<dyn StoreBackend> {
    #[cfg(feature = "postgres")]
    {
        use aizuchi_test_servers::postgres::PostgresVersion;
        match name {
            "postgres" => return Arc::new(super::postgres::scratch(folder, PostgresVersion::WithVector).await),
            "plain postgres" => return Arc::new(super::postgres::scratch(folder, PostgresVersion::Debian).await),
            _ => (),
        }
    }
    assert_eq!(name, "sqlite");
    Arc::new(Database::open(&folder.join("aizuchi.db")).expect("a store can be made"))
}

/// What one store answers, line by line.
#[derive(Debug, Default, PartialEq)]
struct Answers(Vec<String>);

impl Answers {
    fn note(&mut self, what: &str, answer: impl std::fmt::Debug) {
        self.0.push(format!("{what}: {answer:?}"));
    }

    fn check(&self, expected: &Answers, store: &str) {
        for (expected, answer) in expected.0.iter().zip(&self.0) {
            assert_eq!(answer, expected, "{store}");
        }
        assert_eq!(self.0.len(), expected.0.len(), "{store}");
    }
}

/// Has the same happen to every store, and compares what they answer.
async fn compare(name: &str, live: impl AsyncFn(&dyn StoreBackend, &mut Answers)) {
    let mut expected: Option<Answers> = None;
    for backend in BACKENDS {
        let folder = Scratch::new(name);
        let store = open(backend, &folder).await;
        let mut answers = Answers::default();
        live(&*store, &mut answers).await;
        answers.check(expected.get_or_insert_with(|| Answers(answers.0.clone())), backend);
    }
}

/// The same for what is remembered alone: there are stores that keep nothing else.
async fn compare_memory(name: &str, live: impl AsyncFn(&dyn MemoryStore, &mut Answers)) {
    let mut expected: Option<Answers> = None;
    let others = if cfg!(feature = "firestore") { &["firestore"][..] } else { &[] };
    for store in BACKENDS.iter().chain(others) {
        let folder = Scratch::new(name);
        let memory: Arc<dyn MemoryStore> = match *store {
            #[cfg(feature = "firestore")]
            "firestore" => Arc::new(super::firestore::test_project::memory(&folder).await),
            backend => open(backend, &folder).await.memory(StoredLayers::ALL),
        };
        let mut answers = Answers::default();
        live(&*memory, &mut answers).await;
        answers.check(expected.get_or_insert_with(|| Answers(answers.0.clone())), store);
    }
}

/// What people may be called, and what may be in an id.
const HOSTILE: [&str; 6] = ["mia", "'; DROP TABLE journal; --", "nul\0l", "\u{1}0", "相槌 \u{202e}x", "a\\b\"c%_"];

#[tokio::test]
async fn the_journal_is_the_same_everywhere() {
    compare("journal", async |store, answers| {
        let stores = store.stores();
        let happened = sample(60);
        made_up::keep(&stores, &happened).await;
        for position in [
            Position::First,
            Position::Last,
            Position::BeforeLast(None, 7),
            Position::BeforeLast(happened.iter().find_map(|one| one.input.room().cloned()), 2),
            Position::FirstNotOld(happened[happened.len() / 2].at.into()),
            Position::FirstNotOld(OldRecords { before: Time(0), after: happened[0].at }),
            Position::FirstNotOld(OldRecords::by_clock(OldRecords::END, Time(0))),
            Position::InEverySnapshot,
        ] {
            answers.note("position", stores.journal.locate(position).await);
        }
        for kinds in [&[][..], &[RecordKind::Own], &[RecordKind::Changed, RecordKind::Told]] {
            let range = Range { room: None, kinds, after: 3, up_to: 40 };
            answers.note("page", stores.journal.page(&range).await);
        }
        answers.note("count", stores.index.count().await);
        let mut names = stores.index.names().await.unwrap();
        names.sort();
        answers.note("names", names);
        for kind in [RecordKind::Own, RecordKind::Changed, RecordKind::Told] {
            answers.note("of a kind", stores.index.select(&Selection::Of(kind)).await);
        }
        let people: Vec<PersonId> = made_up::PEOPLE.iter().map(|person| PersonId::new(*person)).collect();
        answers.note("of people", stores.index.select(&Selection::People(people)).await);
        answers.note("read", stores.index.read(&[5, 3, 999, 4]).await);
        let rewrite = Rewrite { records: vec![(4, Input::Forgotten), (9, Input::Tick)], ..Rewrite::default() };
        answers.note("rewritten", stores.journal.rewrite(Arc::new(rewrite), None).await);
        answers.note("after it", stores.index.read(&[4, 9]).await);
        let room = happened.iter().find_map(|one| one.input.room().cloned()).expect("something was said somewhere");
        let snapshot = EngineState { seq: Some(50), ..state(0) };
        let rewrite = Rewrite { rooms: vec![room], snapshot: Some(snapshot), ..Rewrite::default() };
        answers.note("a room forgotten", stores.journal.rewrite(Arc::new(rewrite), None).await);
        answers.note("all", stores.journal.page(&Range { room: None, kinds: &[], after: 0, up_to: 999 }).await);
        answers.note("pruned", stores.journal.prune(5, happened[5].at).await);
        answers.note("first", stores.journal.locate(Position::First).await);
        let appended = stores.journal.append(1, &[JournalEntry::Input(Time(7), Input::Resumed)]).await.unwrap();
        answers.note("the next number", appended.seq);
    })
    .await;
}

fn state(shard: usize) -> EngineState {
    EngineState { shard, shards: 2, seq: None, at: Time(9), policies: "{}".into(), body: "\"\\u0000\"".into(), sum: -7 }
}

#[tokio::test]
async fn the_states_of_engines_are_the_same_everywhere() {
    compare("states", async |store, answers| {
        let stores = store.stores();
        let snapshots = &stores.snapshots;
        stores.journal.append(0, &[JournalEntry::Input(Time(1), Input::Tick)]).await.unwrap();
        snapshots.take(state(0)).await.unwrap();
        snapshots.take(state(1)).await.unwrap();
        stores.journal.append(0, &[JournalEntry::Input(Time(2), Input::Tick)]).await.unwrap();
        snapshots.renew(1).await.unwrap();
        let found = snapshots.states(StateKind::Snapshot).await.unwrap();
        answers.note("snapshots", &found.states);
        snapshots.replace(vec![state(0)]).await.unwrap();
        let before = snapshots.states(StateKind::Base).await.unwrap();
        answers.note("before there is a base", &before);
        let base = || NewBase { instead_of: before.mark, states: vec![state(0), state(1)] };
        answers.note("a base", stores.journal.rewrite(Arc::default(), Some(base())).await);
        answers.note("another, too late", stores.journal.rewrite(Arc::default(), Some(base())).await);
        let after = snapshots.states(StateKind::Base).await.unwrap();
        answers
            .note("bases", after.states.iter().map(|state| (state.shard, state.seq, &state.body)).collect::<Vec<_>>());
    })
    .await;
}

#[tokio::test]
async fn decisions_are_the_same_everywhere() {
    compare("decisions", async |store, answers| {
        let stores = store.stores();
        let happened: Vec<Happened> = sample(80);
        made_up::keep(&stores, &happened).await;
        let decisions = &stores.decisions;
        let traces: Vec<_> = happened.iter().filter_map(|one| one.trace.clone()).collect();
        for trace in traces.iter().take(5) {
            let query = DecisionQuery::Message(Some(&trace.place.room), &trace.message);
            answers.note(
                "one",
                decisions.find(query).await.unwrap().into_iter().map(|found| found.trace).collect::<Vec<_>>(),
            );
        }
        let pages = [DecisionPart::All, DecisionPart::Worded, DecisionPart::By(&traces[0].author_id)];
        for part in pages.into_iter().chain([DecisionPart::WordedIn(&traces[0].place.room)]) {
            answers.note(
                "page",
                decisions
                    .page(part, None)
                    .await
                    .unwrap()
                    .into_iter()
                    .map(|found| (found.room, found.message))
                    .collect::<Vec<_>>(),
            );
        }
        answers.note("rooms", decisions.rooms().await);
        answers.note("latest", decisions.latest(None, "", 9).await);
        answers.note("latest of one", decisions.latest(Some(&traces[0].place.room), "m", 9).await);
        let latest = decisions.find(DecisionQuery::Latest(None, |_| true)).await.unwrap();
        answers.note("the last", latest.into_iter().map(|found| found.message).collect::<Vec<_>>());
        decisions.reorder(traces[3].at).await.unwrap();
        answers.note("reordered", decisions.latest(None, "", 9).await);
    })
    .await;
}

#[tokio::test]
async fn the_keeper_is_the_same_everywhere() {
    compare("keeper", async |store, answers| {
        let stores = store.stores();
        stores.keeper.set_position(17).await.unwrap();
        answers.note("position", stores.keeper.position().await);
        let rooms = HOSTILE.map(|name| (RoomId::new(name), Some(Time(name.len() as u64))));
        stores.keeper.note_left(rooms.to_vec()).await.unwrap();
        stores.keeper.note_left(vec![(RoomId::new("mia"), None)]).await.unwrap();
        let mut left = stores.keeper.left_by(Time(10)).await.unwrap();
        left.sort();
        answers.note("left", left);
        let first = stores.jobs.begin(JobStep::RemoveCopies).await.unwrap();
        let second = stores.jobs.begin(JobStep::Settle).await.unwrap();
        answers.note("jobs", stores.jobs.next(0).await);
        stores.jobs.go_on(first, JobStep::Settle).await.unwrap();
        answers.note("further", stores.jobs.next(0).await);
        stores.jobs.end(first).await.unwrap();
        assert_eq!(stores.jobs.next(0).await.unwrap().map(|(id, _)| id), Some(second));
    })
    .await;
}

/// Talk is stored in one commit with the record of it, and what fails fails alone.
#[tokio::test]
async fn talk_and_its_record_are_one_commit() {
    compare("one-commit", async |store, answers| {
        let stores = store.stores();
        let heard = |id: &str| {
            let mut happened = sample(40);
            let Some(Input::Said(mut message)) =
                happened.drain(..).map(|one| one.input).find(|input| matches!(input, Input::Said(_)))
            else {
                unreachable!("somebody said something")
            };
            message.id = MessageId::new(id);
            Input::Said(message)
        };
        let talk = |number: u64| {
            let input = heard(&format!("w{number}"));
            let decide = move |_: &crate::ports::WebQueryResult| WebDecision {
                writes: vec![WebWrite::Add(said(number, "mia", "hello"))],
                last_seq: Some(number),
                input: Some(input.clone()),
            };
            TalkWrite::new(WebChange { query: WebQuery::default(), decide: Arc::new(decide) })
        };
        let entries = [
            JournalEntry::Input(Time(1), Input::Resumed),
            JournalEntry::Talk(Time(2), talk(1)),
            // The same again: its id is taken.
            JournalEntry::Talk(Time(3), talk(1)),
            JournalEntry::Talk(Time(4), talk(2)),
            JournalEntry::Input(Time(5), Input::Tick),
        ];
        let appended = stores.journal.append(0, &entries).await.unwrap();
        answers.note("stored", appended.stored.iter().map(Result::is_ok).collect::<Vec<_>>());
        answers.note("up to", appended.seq);
        let page = stores.journal.page(&Range { room: None, kinds: &[], after: 0, up_to: 99 }).await.unwrap();
        let shown =
            page.into_iter().map(|record| record.map(|record| (record.seq, record.at, record.input.room().cloned())));
        answers.note("records", shown.collect::<Vec<_>>());
        answers.note("messages", store.platform_stores().web.changes(None, 0, 9).await.unwrap().len());
    })
    .await;
}

#[tokio::test]
async fn everything_can_be_taken_along_and_back() {
    use crate::stores::copy::copy;

    let folders: Vec<Scratch> = BACKENDS.iter().map(|_| Scratch::new("copied")).collect();
    let mut stores = Vec::new();
    for (name, folder) in BACKENDS.iter().zip(&folders) {
        stores.push(open(name, folder).await);
    }
    let first = &stores[0];
    let happened = sample(60);
    let records = happened.len() as u64;
    made_up::keep(&first.stores(), &happened).await;
    first.stores().snapshots.take(state(0)).await.unwrap();
    let people = vec![WebWrite::Add(said(1, "nul\0l", "hello \0"))];
    first.platform_stores().web.change(&writes(1, people)).await.unwrap();
    crate::memory::tests::remember_something(&*first.memory(crate::memory::StoredLayers::ALL)).await;
    let mut told = Vec::new();
    for (from, to) in stores.iter().zip(stores.iter().skip(1)) {
        let summary = copy(&*from.copying(), &*to.copying(), CopyScope::Everything, &mut |_| ()).await.unwrap();
        assert!(summary.rows > records && summary.found == 0, "{summary:?}");
        let again = copy(&*from.copying(), &*to.copying(), CopyScope::Everything, &mut |_| ()).await.unwrap();
        assert_eq!(again.rows, summary.rows, "nothing is copied twice");
        assert!(again.found > records, "{again:?}");
        told.push(summary.counts);
    }
    let file = folders[0].join("back.db");
    let last = stores.last().expect("there are stores");
    last.back_up(&file.to_string_lossy()).await.unwrap();
    let back = Database::open(&file).unwrap();
    let summary = copy(&*first.copying(), &back, CopyScope::Everything, &mut |_| ()).await.unwrap();
    assert!(told.iter().all(|counts| *counts == summary.counts));
    // What is there and not in the source is not lost silently.
    back.stores().journal.append(0, &[JournalEntry::Input(Time(1), Input::Tick)]).await.unwrap();
    let refused = copy(&*first.copying(), &back, CopyScope::Everything, &mut |_| ()).await.unwrap_err().to_string();
    assert!(refused.contains("has records in journal that the source does not have"), "{refused}");
    back.copying().clear(CopyScope::Everything).await.unwrap();
    copy(&*first.copying(), &back, CopyScope::Everything, &mut |_| ()).await.unwrap();
}
