//! How much is read to find a person.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use aizuchi_core::listen::Unheard;
use aizuchi_core::memory::ForgetRequest;
use aizuchi_core::types::{Author, Message, MessageId, PersonId, Place, RoomId, Time, Visibility, Voice};
use aizuchi_core::{Input, Trace};

use super::waiting;
use crate::journal::{Journal, Traces};
use crate::ports::{
    Appended, BoxFuture, JournalEntry, JournalIndex, JournalStore, NewBase, PersonName, Position, Pruned, Range,
    Record, Rewrite, Selection, Stores, Unreadable,
};
use crate::stores::{StoreError, scratch};

/// Counts the records that are read.
struct Counting {
    stores: Stores,
    read: AtomicUsize,
}

type RecordsRead = Result<Vec<Result<Record, Unreadable>>, StoreError>;

impl Counting {
    fn count(&self, read: RecordsRead) -> RecordsRead {
        self.read.fetch_add(read.as_ref().map_or(0, Vec::len), Ordering::Relaxed);
        read
    }
}

impl JournalStore for Counting {
    fn append<'a>(&'a self, shard: usize, entries: &'a [JournalEntry]) -> BoxFuture<'a, Result<Appended, StoreError>> {
        self.stores.journal.append(shard, entries)
    }

    fn page<'a>(&'a self, range: &'a Range) -> BoxFuture<'a, RecordsRead> {
        Box::pin(async move { self.count(self.stores.journal.page(range).await) })
    }

    fn locate(&self, position: Position) -> BoxFuture<'_, Result<Option<i64>, StoreError>> {
        self.stores.journal.locate(position)
    }

    fn rewrite(&self, rewrite: Arc<Rewrite>, base: Option<NewBase>) -> BoxFuture<'_, Result<bool, StoreError>> {
        self.stores.journal.rewrite(rewrite, base)
    }

    fn prune(&self, seq: i64, at: Time) -> BoxFuture<'_, Result<Pruned, StoreError>> {
        self.stores.journal.prune(seq, at)
    }
}

impl JournalIndex for Counting {
    fn select<'a>(&'a self, selection: &'a Selection) -> BoxFuture<'a, Result<Vec<i64>, StoreError>> {
        self.stores.index.select(selection)
    }

    fn read<'a>(&'a self, seqs: &'a [i64]) -> BoxFuture<'a, RecordsRead> {
        Box::pin(async move { self.count(self.stores.index.read(seqs).await) })
    }

    fn names(&self) -> BoxFuture<'_, Result<Vec<PersonName>, StoreError>> {
        self.stores.index.names()
    }

    fn count(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        self.stores.index.count()
    }
}

fn said(number: u64, room: &str, who: &str, voice: Voice) -> Message {
    Message {
        id: MessageId::new(format!("m{number}")),
        place: Place::room(room),
        at: Time(number),
        author: Author { id: PersonId::new(who), name: who.into(), voice },
        text: "my xylophone".into(),
        reply: None,
        mentions: Vec::new(),
        mentions_me: false,
        visibility: Visibility::Public,
        backfilled: false,
        heard: None,
    }
}

/// Mia speaks ten times among a hundred others in one room, and the bot answers once. Elsewhere others talk.
async fn talk(stores: &Stores, elsewhere: u64) {
    let here = (0..110)
        .map(|number| if number % 11 == 0 { (number, "log:here", "mia") } else { (number, "log:here", "jonas") });
    let there = (0..elsewhere).map(|number| (1_000 + number, "log:there", "lena"));
    let said_by = |(number, room, who): (u64, &str, &str)| said(number, room, who, Voice::Person);
    let all: Vec<Message> =
        here.chain(there).map(said_by).chain([said(999, "log:here", "itself", Voice::Me)]).collect();
    let entries: Vec<JournalEntry> =
        all.iter().map(|said| JournalEntry::Input(said.at, Input::Said(said.clone()))).collect();
    stores.journal.append(0, &entries).await.unwrap();
    let traces: Vec<Trace> = all.iter().map(|said| Trace::passed_over(said, Unheard::Empty)).collect();
    stores.decisions.keep(traces.into()).await.unwrap();
}

/// Records read to look somebody up, to forget them, and to tell what is known of them.
fn reads(name: &str, elsewhere: u64) -> [usize; 3] {
    waiting(async {
        let (_folder, database) = scratch(name);
        let stores = Stores::from(database);
        talk(&stores, elsewhere).await;
        let counting = Arc::new(Counting { stores: stores.clone(), read: AtomicUsize::new(0) });
        let counted = Stores { journal: counting.clone(), index: counting.clone(), ..stores };
        let (journal, ids) = (Journal::new(counted.clone()), vec![PersonId::new("mia")]);
        let read = || counting.read.swap(0, Ordering::Relaxed);
        let trail = journal.trail(&ids, &[]).await.unwrap();
        assert_eq!(trail.rooms.into_iter().collect::<Vec<_>>(), [RoomId::new("log:here")]);
        let to_look_up = read();
        let request = Arc::new(ForgetRequest { ids: ids.clone(), ..ForgetRequest::default() });
        let found = journal.footprints(0, 1, request).await.unwrap();
        assert_eq!(found.records.len(), 10);
        let to_forget = read();
        let known = Traces::new(counted).find_about(&ids[0], &Place::room("log:here"), &[]).await.unwrap();
        assert_eq!((known.messages(), known.decisions), (10, 10));
        [to_look_up, to_forget, read()]
    })
}

#[test]
fn talk_that_a_person_had_no_part_in_is_not_read() {
    let little = reads("reads-little", 100);
    let much = reads("reads-much", 3_000);
    // Theirs and the bot's, then the room, because the bot repeated a word of theirs; theirs twice and the bot's; theirs.
    assert_eq!(little, [10 + 1 + 111, 10 + 11, 10]);
    assert_eq!(much, little, "it grows with what others say elsewhere");
}
