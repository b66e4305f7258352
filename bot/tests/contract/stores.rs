//! What every store has to keep for platforms. A new one is a type with [`StoreStage`] and a line in the list below.

use aizuchi::ports::{ChannelMark, InboxEntry, MarkChange, PlatformStores, PostKey, PostProgress};
use aizuchi::stores::Database;
use aizuchi_core::types::Time;
use aizuchi_test_servers::folder::Scratch;

pub trait StoreStage {
    /// A new and empty one.
    fn new() -> Self;

    /// Opens it. Opened again, it shows what was durable by then.
    fn open(&self) -> PlatformStores;
}

struct Sqlite(Scratch);

impl StoreStage for Sqlite {
    fn new() -> Sqlite {
        Sqlite(Scratch::new("store-contract"))
    }

    fn open(&self) -> PlatformStores {
        Database::open(&self.0.0.join("aizuchi.db")).unwrap().platform_stores()
    }
}

/// Every test on every store.
macro_rules! store_contract {
    ($($store:ident: $stage:ty;)+ => $tests:tt) => {
        $(store_contract!(@ $store $stage, $tests);)+
    };
    (@ $store:ident $stage:ty, [$($test:ident,)+]) => {
        mod $store {
            use super::StoreStage as _;
            $(
                #[tokio::test]
                async fn $test() {
                    super::$test(&<$stage>::new()).await;
                }
            )+
        }
    };
}

store_contract! {
    on_sqlite: super::Sqlite;
    => [
        a_post_is_begun_once_and_keeps_its_first_id,
        a_withdrawn_post_is_new_and_old_posts_are_swept,
        what_arrives_again_is_kept_once,
        what_was_handled_is_not_pending,
        what_is_pending_can_be_replaced,
        threads_are_known_by_the_keys_of_what_arrived,
        marks_only_move_forward,
        marks_move_with_what_arrives_for_the_first_time,
    ]
}

fn post(platform: &'static str, key: &'static str) -> PostKey<'static> {
    PostKey { platform, key }
}

fn entry(key: &str, body: &str) -> InboxEntry {
    InboxEntry { key: key.into(), body: Some(body.into()), ..InboxEntry::default() }
}

fn mark(channel: &str, server: &str, heard: &str) -> ChannelMark {
    ChannelMark { channel: channel.into(), server: server.into(), heard: heard.into() }
}

async fn bodies(stores: &PlatformStores, platform: &str) -> Vec<String> {
    let pending = stores.inbox.pending(platform, 0, 100).await.unwrap();
    assert!(pending.is_sorted_by(|one, next| one.seq < next.seq), "{pending:?}");
    pending.into_iter().map(|pending| pending.body).collect()
}

async fn a_post_is_begun_once_and_keeps_its_first_id(stage: &impl StoreStage) {
    let posts = stage.open().posts;
    assert_eq!(posts.begin(post("slack", "k/0"), Time(5)).await, Ok(PostProgress::New));
    // As after a crash.
    let posts = stage.open().posts;
    assert_eq!(posts.begin(post("slack", "k/0"), Time(9)).await, Ok(PostProgress::Begun(Time(5))));
    assert_eq!(posts.begin(post("discord", "k/0"), Time(9)).await, Ok(PostProgress::New), "another platform's");
    posts.posted(post("slack", "k/0"), "17.1").await.unwrap();
    posts.posted(post("slack", "k/0"), "18.2").await.unwrap();
    posts.posted(post("slack", "never begun"), "19.3").await.unwrap();
    let posts = stage.open().posts;
    assert_eq!(posts.begin(post("slack", "k/0"), Time(9)).await, Ok(PostProgress::Posted("17.1".into())));
    let ids = ["17.1", "18.2", "19.3"].map(str::to_owned);
    assert_eq!(posts.taken("slack", &ids).await, Ok(["17.1".to_owned()].into()));
    assert_eq!(posts.taken("discord", &ids).await, Ok([].into()));
}

async fn a_withdrawn_post_is_new_and_old_posts_are_swept(stage: &impl StoreStage) {
    let posts = stage.open().posts;
    for (key, at) in [("refused", 1), ("out", 2), ("old", 3), ("young", 7)] {
        assert_eq!(posts.begin(post("slack", key), Time(at)).await, Ok(PostProgress::New));
    }
    assert_eq!(posts.begin(post("discord", "old"), Time(3)).await, Ok(PostProgress::New));
    posts.posted(post("slack", "out"), "1").await.unwrap();
    posts.withdraw(post("slack", "refused")).await.unwrap();
    posts.withdraw(post("slack", "out")).await.unwrap();
    assert_eq!(posts.begin(post("slack", "refused"), Time(8)).await, Ok(PostProgress::New));
    assert_eq!(posts.begin(post("slack", "out"), Time(8)).await, Ok(PostProgress::Posted("1".into())));
    posts.sweep("slack", Time(7)).await.unwrap();
    assert_eq!(posts.begin(post("slack", "young"), Time(9)).await, Ok(PostProgress::Begun(Time(7))));
    assert_eq!(posts.begin(post("slack", "old"), Time(9)).await, Ok(PostProgress::New));
    assert_eq!(posts.begin(post("discord", "old"), Time(9)).await, Ok(PostProgress::Begun(Time(3))));
}

async fn what_arrives_again_is_kept_once(stage: &impl StoreStage) {
    let inbox = stage.open().inbox;
    let first = vec![entry("a", "1"), entry("b", "2"), entry("a", "1 again")];
    assert_eq!(inbox.keep("slack", first, Time(1)).await, Ok(2));
    assert_eq!(inbox.keep("web", vec![entry("a", "other")], Time(1)).await, Ok(1), "another platform's");
    let known = InboxEntry { key: "command".into(), ..InboxEntry::default() };
    assert_eq!(inbox.keep("slack", vec![known.clone()], Time(1)).await, Ok(1));
    // As after a crash.
    let stores = stage.open();
    assert_eq!(stores.inbox.keep("slack", vec![known, entry("b", "2 again"), entry("c", "3")], Time(2)).await, Ok(1));
    assert_eq!(bodies(&stores, "slack").await, ["1", "2", "3"]);
    assert_eq!(bodies(&stores, "web").await, ["other"]);
}

async fn what_was_handled_is_not_pending(stage: &impl StoreStage) {
    let stores = stage.open();
    let inbox = &stores.inbox;
    inbox.keep("slack", vec![entry("a", "1"), entry("b", "2"), entry("c", "3")], Time(1)).await.unwrap();
    inbox.keep("web", vec![entry("a", "other")], Time(1)).await.unwrap();
    let first = inbox.pending("slack", 0, 2).await.unwrap();
    assert_eq!(first.iter().map(|pending| pending.body.as_str()).collect::<Vec<_>>(), ["1", "2"]);
    let rest = inbox.pending("slack", first[1].seq, 2).await.unwrap();
    assert_eq!(rest.iter().map(|pending| pending.body.as_str()).collect::<Vec<_>>(), ["3"]);
    inbox.handled("slack", first[1].seq).await.unwrap();
    assert_eq!(bodies(&stores, "slack").await, ["3"]);
    assert_eq!(bodies(&stores, "web").await, ["other"]);
    assert_eq!(inbox.keep("slack", vec![entry("a", "1")], Time(2)).await, Ok(0), "that it arrived is known");
    // What is not handled stays, however old it is.
    inbox.sweep("slack", Time(9)).await.unwrap();
    assert_eq!(bodies(&stores, "slack").await, ["3"]);
    assert_eq!(inbox.keep("slack", vec![entry("a", "1 late")], Time(9)).await, Ok(1), "nobody knows it any more");
    assert_eq!(bodies(&stores, "slack").await, ["3", "1 late"]);
    inbox.handled("slack", u64::MAX >> 1).await.unwrap();
    inbox.sweep("slack", Time(9)).await.unwrap();
    assert_eq!(inbox.keep("slack", vec![entry("a", "too early")], Time(9)).await, Ok(0), "it came at that time");
}

async fn what_is_pending_can_be_replaced(stage: &impl StoreStage) {
    let stores = stage.open();
    let inbox = &stores.inbox;
    inbox.keep("web", vec![entry("a", "1"), entry("b", "2"), entry("c", "3")], Time(1)).await.unwrap();
    let seqs: Vec<u64> = inbox.pending("web", 0, 9).await.unwrap().iter().map(|pending| pending.seq).collect();
    inbox.handled("web", seqs[0]).await.unwrap();
    let changes = vec![(seqs[0], Some("1 back".into())), (seqs[1], Some("2 without her".into())), (seqs[2], None)];
    inbox.amend("web", changes).await.unwrap();
    inbox.amend("slack", vec![(seqs[1], None)]).await.unwrap();
    assert_eq!(bodies(&stage.open(), "web").await, ["2 without her"]);
    assert_eq!(inbox.keep("web", vec![entry("c", "3")], Time(2)).await, Ok(0), "that it arrived is known");
}

async fn threads_are_known_by_the_keys_of_what_arrived(stage: &impl StoreStage) {
    let stores = stage.open();
    let within = |key: &str, thread: &str| InboxEntry { thread: Some(thread.into()), ..entry(key, "") };
    let entries = vec![entry("C/1", ""), within("C/2", "1"), within("C/4", "3"), within("D/2", "1")];
    stores.inbox.keep("slack", entries, Time(1)).await.unwrap();
    stores.inbox.handled("slack", u64::MAX >> 1).await.unwrap();
    let thread = async |key| stores.threads.thread_of("slack", key).await.unwrap();
    assert_eq!(thread("C/2").await.as_deref(), Some("1"));
    assert_eq!((thread("C/1").await, thread("C/9").await), (None, None));
    let between = async |keys, of| stores.threads.is_known_between("slack", keys, of).await.unwrap();
    assert!(between(("C/1", "C/5"), "1").await);
    assert!(between(("C/1", "C/5"), "3").await);
    assert!(!between(("C/1", "C/2"), "1").await, "not the ends themselves");
    assert!(!between(("C/2", "C/5"), "1").await);
    assert!(!stores.threads.is_known_between("web", ("C/1", "C/5"), "1").await.unwrap());
}

async fn marks_only_move_forward(stage: &impl StoreStage) {
    let marks = stage.open().marks;
    let first = vec![mark("a", "G", "05"), mark("b", "G", "09"), mark("c", "", "07")];
    marks.advance("discord", first).await.unwrap();
    marks.advance("discord", vec![mark("a", "H", "03"), mark("b", "G", "11")]).await.unwrap();
    marks.advance("slack", vec![mark("a", "G", "99")]).await.unwrap();
    let marks = stage.open().marks;
    assert_eq!(marks.of_server("discord", "G", 9).await, Ok(vec![mark("b", "G", "11"), mark("a", "G", "05")]));
    assert_eq!(marks.of_server("discord", "G", 1).await, Ok(vec![mark("b", "G", "11")]));
    assert_eq!(marks.of_server("discord", "H", 9).await, Ok(vec![]));
    let wanted = ["c", "d", "a"].map(str::to_owned).to_vec();
    let mut found = marks.find("discord", wanted).await.unwrap();
    found.sort_by(|one, other| one.channel.cmp(&other.channel));
    assert_eq!(found, [mark("a", "G", "05"), mark("c", "", "07")]);
}

async fn marks_move_with_what_arrives_for_the_first_time(stage: &impl StoreStage) {
    let stores = stage.open();
    let arrives = async |key: &str, change: MarkChange| {
        let entry = InboxEntry { mark: Some(change), ..entry(key, "") };
        stores.inbox.keep("slack", vec![entry], Time(1)).await.unwrap()
    };
    let at = async || stores.marks.of_server("slack", "", 9).await.unwrap();
    let heard = |heard: &str| MarkChange::Heard(mark("C", "", heard));
    assert_eq!(arrives("C/1", heard("1")).await, 1);
    assert_eq!(arrives("C/2", heard("2")).await, 1);
    assert_eq!(at().await, [mark("C", "", "2")]);
    assert_eq!(arrives("left", MarkChange::Left("C".into())).await, 1);
    assert_eq!(at().await, []);
    // Redelivered, it does not bring the channel back.
    assert_eq!(arrives("C/2", heard("2")).await, 0);
    assert_eq!(at().await, []);
}
