//! What every store has to keep for platforms. A new one is a type with [`StoreStage`] and a line below the list.

use std::sync::Arc;

use aizuchi::ports::{
    ChannelMark, InboxEntry, MarkChange, PlatformStores, PostKey, PostProgress, Speaker, WebBody, WebChange,
    WebDecision, WebMessage, WebQuery, WebQueryResult, WebRoom, WebSession, WebWrite,
};
use aizuchi_core::Input;
use aizuchi_core::types::{Time, Voice};

use crate::store_stages::StoreStage;

/// Every test on every store.
macro_rules! store_contract {
    ($($store:ident: $stage:ty;)+ => $tests:tt) => {
        $(store_contract!(@ $store $stage, $tests);)+
    };
    (@ $store:ident $stage:ty, [$($test:ident,)+]) => {
        mod $store {
            use crate::store_stages::StoreStage as _;
            $(
                #[tokio::test]
                async fn $test() {
                    super::$test(&<$stage>::new().await).await;
                }
            )+
        }
    };
}

/// The tests, for these stores.
macro_rules! on {
    ($($store:ident: $stage:ty;)+) => {
        store_contract! {
            $($store: $stage;)+
            => [
                a_post_is_begun_once_and_keeps_its_first_id,
                a_withdrawn_post_is_new_and_old_posts_are_swept,
                what_arrives_again_is_kept_once,
                what_was_handled_is_not_pending,
                what_is_pending_can_be_replaced,
                threads_are_known_by_the_keys_of_what_arrived,
                marks_only_move_forward,
                marks_move_with_what_arrives_for_the_first_time,
                a_change_of_the_talk_sees_what_is_there_and_writes_what_it_decides,
                rooms_go_with_their_talk,
                people_are_known_and_let_go_of,
                sessions_end,
            ]
        }
    };
}

on! { on_sqlite: crate::store_stages::Sqlite; }
#[cfg(feature = "cluster")]
on! { on_postgres: crate::store_stages::PostgresStage; }

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
    let posts = stage.open().await.posts;
    assert_eq!(posts.begin(post("slack", "k/0"), Time(5)).await, Ok(PostProgress::New));
    // As after a crash.
    let posts = stage.open().await.posts;
    assert_eq!(posts.begin(post("slack", "k/0"), Time(9)).await, Ok(PostProgress::Begun(Time(5))));
    assert_eq!(posts.begin(post("discord", "k/0"), Time(9)).await, Ok(PostProgress::New), "another platform's");
    posts.posted(post("slack", "k/0"), "17.1").await.unwrap();
    posts.posted(post("slack", "k/0"), "18.2").await.unwrap();
    posts.posted(post("slack", "never begun"), "19.3").await.unwrap();
    let posts = stage.open().await.posts;
    assert_eq!(posts.begin(post("slack", "k/0"), Time(9)).await, Ok(PostProgress::Posted("17.1".into())));
    let ids = ["17.1", "18.2", "19.3"].map(str::to_owned);
    assert_eq!(posts.taken("slack", &ids).await, Ok(["17.1".to_owned()].into()));
    assert_eq!(posts.taken("discord", &ids).await, Ok([].into()));
}

async fn a_withdrawn_post_is_new_and_old_posts_are_swept(stage: &impl StoreStage) {
    let posts = stage.open().await.posts;
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
    let inbox = stage.open().await.inbox;
    let first = vec![entry("a", "1"), entry("b", "2"), entry("a", "1 again")];
    assert_eq!(inbox.keep("slack", first, Time(1)).await, Ok(2));
    assert_eq!(inbox.keep("web", vec![entry("a", "other")], Time(1)).await, Ok(1), "another platform's");
    let known = InboxEntry { key: "command".into(), ..InboxEntry::default() };
    assert_eq!(inbox.keep("slack", vec![known.clone()], Time(1)).await, Ok(1));
    // As after a crash.
    let stores = stage.open().await;
    assert_eq!(stores.inbox.keep("slack", vec![known, entry("b", "2 again"), entry("c", "3")], Time(2)).await, Ok(1));
    assert_eq!(bodies(&stores, "slack").await, ["1", "2", "3"]);
    assert_eq!(bodies(&stores, "web").await, ["other"]);
}

async fn what_was_handled_is_not_pending(stage: &impl StoreStage) {
    let stores = stage.open().await;
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
    let stores = stage.open().await;
    let inbox = &stores.inbox;
    inbox.keep("web", vec![entry("a", "1"), entry("b", "2"), entry("c", "3")], Time(1)).await.unwrap();
    let seqs: Vec<u64> = inbox.pending("web", 0, 9).await.unwrap().iter().map(|pending| pending.seq).collect();
    inbox.handled("web", seqs[0]).await.unwrap();
    let changes = vec![(seqs[0], Some("1 back".into())), (seqs[1], Some("2 without her".into())), (seqs[2], None)];
    inbox.amend("web", changes).await.unwrap();
    inbox.amend("slack", vec![(seqs[1], None)]).await.unwrap();
    assert_eq!(bodies(&stage.open().await, "web").await, ["2 without her"]);
    assert_eq!(inbox.keep("web", vec![entry("c", "3")], Time(2)).await, Ok(0), "that it arrived is known");
}

async fn threads_are_known_by_the_keys_of_what_arrived(stage: &impl StoreStage) {
    let stores = stage.open().await;
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
    let marks = stage.open().await.marks;
    let first = vec![mark("a", "G", "05"), mark("b", "G", "09"), mark("c", "", "07")];
    marks.advance("discord", first).await.unwrap();
    marks.advance("discord", vec![mark("a", "H", "03"), mark("b", "G", "11")]).await.unwrap();
    marks.advance("slack", vec![mark("a", "G", "99")]).await.unwrap();
    let marks = stage.open().await.marks;
    assert_eq!(marks.of_server("discord", "G", 9).await, Ok(vec![mark("b", "G", "11"), mark("a", "G", "05")]));
    assert_eq!(marks.of_server("discord", "G", 1).await, Ok(vec![mark("b", "G", "11")]));
    assert_eq!(marks.of_server("discord", "H", 9).await, Ok(vec![]));
    let wanted = ["c", "d", "a"].map(str::to_owned).to_vec();
    let mut found = marks.find("discord", wanted).await.unwrap();
    found.sort_by(|one, other| one.channel.cmp(&other.channel));
    assert_eq!(found, [mark("a", "G", "05"), mark("c", "", "07")]);
}

async fn marks_move_with_what_arrives_for_the_first_time(stage: &impl StoreStage) {
    let stores = stage.open().await;
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

/// Makes a change of the web room's talk.
async fn change(
    stores: &PlatformStores,
    look: WebQuery,
    decide: impl Fn(&WebQueryResult) -> WebDecision + Send + Sync + 'static,
) -> Option<Input> {
    stores.web.change(&WebChange { query: look, decide: Arc::new(decide) }).await.unwrap()
}

async fn write(stores: &PlatformStores, writes: Vec<WebWrite>) {
    change(stores, WebQuery::default(), move |_| WebDecision { writes: writes.clone(), ..WebDecision::default() })
        .await;
}

async fn look(stores: &PlatformStores, look: WebQuery) -> WebQueryResult {
    stores.web.query(look).await.unwrap()
}

fn in_room(room: &str) -> WebQuery {
    WebQuery { room: Some(room.into()), ..WebQuery::default() }
}

fn speaker(id: &str) -> Speaker {
    Speaker { id: id.into(), name: id.to_uppercase() }
}

fn open(name: &str, opened: u64) -> WebWrite {
    WebWrite::OpenRoom(WebRoom { name: name.into(), opened: Time(opened), opened_by: Some("mia".into()) })
}

fn message(room: &str, seq: u64, text: &str) -> WebMessage {
    let (by, text) = (speaker("mia"), text.to_owned());
    let (thread, reply_to, reactions) = (None, Some("w0".to_owned()), vec![("👀".to_owned(), vec![speaker("han")])]);
    let (voice, edited, deleted) = (Voice::Person, false, false);
    let body = WebBody { at: Time(5), by, voice, text, thread, reply_to, edited, deleted, reactions };
    let (id, key) = (format!("w{seq}"), Some(format!("mia/{seq}")));
    WebMessage { id, room: room.into(), seq, first_seq: seq, key, body }
}

async fn a_change_of_the_talk_sees_what_is_there_and_writes_what_it_decides(stage: &impl StoreStage) {
    let stores = stage.open().await;
    write(&stores, vec![open("lobby", 1)]).await;
    for text in ["one", "two", "three"] {
        let say = change(&stores, in_room("lobby"), move |found| {
            let (seq, room) = (found.last_seq + 1, found.room.as_ref().expect("it was opened").name.clone());
            let writes = vec![WebWrite::Add(message(&room, seq, text))];
            WebDecision { writes, last_seq: Some(seq), input: Some(Input::Tick) }
        });
        assert!(matches!(say.await, Some(Input::Tick)), "what it decides is delivered");
    }
    let edit = WebQuery { ids: vec!["w1".into(), "w9".into()], ..in_room("lobby") };
    change(&stores, edit, |found| {
        assert_eq!(found.messages, [message("lobby", 1, "one")]);
        let mut edited = WebMessage { seq: 4, key: None, ..found.messages[0].clone() };
        edited.body.text = "one more".into();
        WebDecision { writes: vec![WebWrite::Update(edited)], last_seq: Some(4), input: None }
    })
    .await;
    // As after a crash.
    let stores = stage.open().await;
    let texts = |messages: &[WebMessage]| messages.iter().map(|it| it.body.text.clone()).collect::<Vec<_>>();
    let all = stores.web.history("lobby", u64::MAX, 2).await.unwrap();
    assert_eq!((texts(&all.messages), all.more_before, all.last_seq), (vec!["two".into(), "three".into()], true, 4));
    let older = stores.web.history("lobby", 2, 2).await.unwrap();
    assert_eq!((texts(&older.messages), older.more_before), (vec!["one more".into()], false));
    assert_eq!(texts(&stores.web.changes(Some("lobby"), 1, 9).await.unwrap()), ["two", "three", "one more"]);
    assert_eq!(texts(&stores.web.changes(None, 2, 1).await.unwrap()), ["three"]);
    assert_eq!(stores.web.changes(Some("garden"), 0, 9).await.unwrap(), []);
    let elsewhere = look(&stores, WebQuery { ids: vec!["w2".into()], ..in_room("garden") }).await;
    assert_eq!((elsewhere.room, elsewhere.messages), (None, vec![]));
    let keys = ["mia/1", "mia/2", "mia/9"].map(str::to_owned).to_vec();
    let by_key = look(&stores, WebQuery { keys, ..WebQuery::default() }).await;
    assert_eq!(texts(&by_key.by_key), ["two"], "the key of the first is gone");
    let everything = look(&stores, WebQuery { all_messages: true, ..WebQuery::default() }).await;
    assert_eq!(texts(&everything.messages), ["two", "three", "one more"]);
}

async fn rooms_go_with_their_talk(stage: &impl StoreStage) {
    let stores = stage.open().await;
    let again = WebRoom { name: "garden".into(), opened: Time(9), opened_by: None };
    write(&stores, vec![open("garden", 2), open("lobby", 1), WebWrite::OpenRoom(again)]).await;
    let (said, kept) = (message("garden", 1, "in the garden"), message("lobby", 2, "in the lobby"));
    write(&stores, vec![WebWrite::Add(said), WebWrite::Add(kept.clone()), open("cellar", 3)]).await;
    let all = WebQuery { rooms: true, silent_rooms: true, ..WebQuery::default() };
    let found = look(&stores, all.clone()).await;
    let rooms: Vec<(&str, u64)> = found.rooms.iter().map(|room| (room.name.as_str(), room.opened.0)).collect();
    assert_eq!(rooms, [("lobby", 1), ("garden", 2), ("cellar", 3)], "the first who opens it counts");
    assert_eq!(found.rooms[1].opened_by.as_deref(), Some("mia"));
    assert_eq!(found.silent_rooms, ["cellar"]);
    let counted = stores.web.count_messages().await.unwrap();
    let counts: Vec<(&str, u64)> = counted.iter().map(|(room, count)| (room.name.as_str(), *count)).collect();
    assert_eq!(counts, [("lobby", 1), ("garden", 1), ("cellar", 0)]);
    let left = InboxEntry { key: "w3".into(), body: Some("left".into()), ..InboxEntry::default() };
    write(&stores, vec![WebWrite::RemoveRoom("garden".into()), WebWrite::Leave(left, Time(4))]).await;
    let stores = stage.open().await;
    assert_eq!(look(&stores, all).await.rooms.len(), 2);
    assert_eq!(stores.web.changes(None, 0, 9).await, Ok(vec![kept]));
    assert_eq!(bodies(&stores, "web").await, ["left"]);
}

async fn people_are_known_and_let_go_of(stage: &impl StoreStage) {
    let stores = stage.open().await;
    let enter = |id: &str, at: u64| {
        let (secret, room) = (format!("secret of {id}"), "lobby".to_owned());
        WebWrite::Enter { secret, person: speaker(id), room, at: Time(at) }
    };
    let spoke = |by: Speaker, at: u64| WebWrite::Spoke {
        room: "lobby".into(),
        by,
        at: Time(at),
        unless_since: Time(at.saturating_sub(60)),
    };
    let person = async |id: &str| {
        look(&stores, WebQuery { secret: Some(format!("secret of {id}")), ..WebQuery::default() }).await.person
    };
    let members = async || {
        let found = look(&stores, WebQuery { members: 9, ..in_room("lobby") }).await;
        found.members.into_iter().map(|member| member.name).collect::<Vec<_>>()
    };
    write(&stores, vec![open("lobby", 1), enter("mia", 100), enter("han", 90), enter("tom", 80), enter("eve", 110)])
        .await;
    write(&stores, vec![spoke(speaker("mia"), 100), spoke(speaker("han"), 200), spoke(speaker("stranger"), 300)]).await;
    assert_eq!(members().await, ["HAN", "MIA"], "the latest first, and nobody who is not known");
    write(&stores, vec![spoke(speaker("mia"), 150)]).await;
    assert_eq!(members().await, ["HAN", "MIA"], "that she spoke is known well enough");
    let renamed = Speaker { name: "Mia of the lobby".into(), ..speaker("mia") };
    write(&stores, vec![spoke(renamed, 250)]).await;
    assert_eq!(members().await, ["Mia of the lobby", "HAN"]);
    write(&stores, vec![enter("mia", 300)]).await;
    assert_eq!(members().await, ["MIA", "HAN"], "under today's name");
    assert_eq!(person("mia").await.as_deref(), Some("mia"));
    // Of those who never spoke first, but of nobody who is here.
    write(&stores, vec![WebWrite::LimitPeople { at_most: 3, besides: ["tom".to_owned()].into() }]).await;
    assert_eq!((person("eve").await, person("tom").await.as_deref()), (None, Some("tom")));
    write(&stores, vec![WebWrite::DropUnseen(Time(85))]).await;
    assert_eq!((person("tom").await, person("han").await.as_deref()), (None, Some("han")));
    write(&stores, vec![WebWrite::DropPerson("mia".into())]).await;
    assert_eq!((person("mia").await, members().await), (None, vec!["HAN".to_owned()]));
    assert_eq!(look(&stores, in_room("lobby")).await.room.unwrap().opened_by, None);
}

async fn sessions_end(stage: &impl StoreStage) {
    let session = |number: u8| WebSession { hash: [number; 32], begun: Time(number.into()) };
    let sessions = stage.open().await.web_sessions;
    for number in 1..=4 {
        sessions.begin(session(number), Time(0), 3).await.unwrap();
    }
    let kept = async |since, at_most| {
        let mut kept = stage.open().await.web_sessions.all(Time(since), at_most).await.unwrap();
        kept.sort_by_key(|session| session.begun);
        kept
    };
    assert_eq!(kept(0, 9).await, [session(2), session(3), session(4)], "the oldest made way");
    let found = sessions.find([1, 3, 9].map(|number| session(number).hash).into()).await.unwrap();
    assert_eq!(found, [session(3)]);
    assert_eq!(kept(3, 9).await, [session(3), session(4)]);
    assert_eq!(kept(0, 1).await, [session(4)]);
}
