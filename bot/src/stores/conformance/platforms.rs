//! What platforms keep, and the talk of the web room.

use std::collections::HashSet;
use std::sync::Arc;

use aizuchi_core::Time;
use aizuchi_core::types::{PersonId, RoomId, Voice};

use super::{Answers, HOSTILE, compare};
use crate::ports::{
    ChannelMark, InboxEntry, MarkChange, PlatformStores, PostKey, Speaker, TalkOf, WebBody, WebChange, WebDecision,
    WebMessage, WebQuery, WebRoom, WebSession, WebWrite,
};

#[tokio::test]
async fn what_platforms_keep_is_the_same_everywhere() {
    compare("platforms", async |store, answers| {
        let stores = store.platform_stores();
        for (number, key) in HOSTILE.iter().enumerate() {
            let mark = ChannelMark { channel: format!("c{key}"), server: "s".into(), heard: format!("{number:03}") };
            let entry = InboxEntry {
                key: (*key).into(),
                thread: Some(format!("t{key}")),
                body: Some(format!("body of {key}")),
                mark: Some(MarkChange::Heard(mark)),
            };
            let now = Time(number as u64);
            answers.note("kept", stores.inbox.keep("slack", vec![entry.clone(), entry], now).await);
            answers.note("its thread", stores.threads.thread_of("slack", key).await);
            let post = PostKey { platform: "slack", key };
            answers.note("begun", stores.posts.begin(post, now).await);
            answers.note("begun again", stores.posts.begin(post, Time(99)).await);
            for before in [Time(98), Time(99)] {
                answers.note("taken over", stores.posts.begin_again(post, before, Time(99)).await);
            }
            if number % 2 == 0 {
                stores.posts.posted(post, &format!("id {key}")).await.unwrap();
            } else {
                stores.posts.withdraw(post).await.unwrap();
            }
            answers.note("in the end", stores.posts.begin(post, Time(100)).await);
        }
        let bodies =
            |found: Vec<crate::ports::PendingEntry>| found.into_iter().map(|entry| entry.body).collect::<Vec<_>>();
        let pending = stores.inbox.pending("slack", 0, 100).await.unwrap();
        stores
            .inbox
            .amend("slack", vec![(pending[1].seq, None), (pending[2].seq, Some("amended".into()))])
            .await
            .unwrap();
        stores.inbox.handled("slack", pending[0].seq).await.unwrap();
        answers.note("pending", bodies(stores.inbox.pending("slack", 0, 100).await.unwrap()));
        answers.note("of another", bodies(stores.inbox.pending("web", 0, 100).await.unwrap()));
        answers.note("between", stores.threads.is_known_between("slack", ("a", "z"), "tmia").await);
        stores.inbox.sweep("slack", Time(50)).await.unwrap();
        answers.note("swept", stores.threads.thread_of("slack", HOSTILE[0]).await);
        let ids: Vec<String> = HOSTILE.iter().map(|key| format!("id {key}")).collect();
        let taken = stores.posts.taken("slack", &ids).await.unwrap();
        answers.note("taken", ids.iter().map(|id| taken.contains(id)).collect::<Vec<_>>());
        answers.note("marks", stores.marks.of_server("slack", "s", 4).await);
        let earlier = ChannelMark { channel: "cmia".into(), server: "other".into(), heard: "000".into() };
        stores.marks.advance("slack", vec![earlier]).await.unwrap();
        answers.note("found", stores.marks.find("slack", vec!["cmia".into(), "none".into()]).await);
        stores.posts.sweep("slack", Time(3)).await.unwrap();
        answers.note("forgotten", stores.posts.begin(PostKey { platform: "slack", key: HOSTILE[0] }, Time(101)).await);
    })
    .await;
}

pub fn said(number: u64, by: &str, text: &str) -> WebMessage {
    WebMessage {
        id: format!("w{number}"),
        room: "lobby".into(),
        seq: number,
        first_seq: number,
        key: Some(format!("key {number} of {by}")),
        body: WebBody {
            at: Time(1_000 + number),
            by: Speaker { id: format!("id-{by}"), name: by.into() },
            voice: if by == "bot" { Voice::Me } else { Voice::Person },
            text: text.into(),
            thread: None,
            reply_to: None,
            edited: false,
            deleted: false,
            reactions: Vec::new(),
        },
    }
}

/// Writes these, whatever is there.
pub fn writes(seq: u64, writes: Vec<WebWrite>) -> WebChange {
    let decide = move |_: &crate::ports::WebQueryResult| WebDecision {
        writes: writes.clone(),
        last_seq: Some(seq),
        input: None,
    };
    WebChange { query: WebQuery::default(), decide: Arc::new(decide) }
}

#[tokio::test]
async fn the_talk_of_the_web_room_is_the_same_everywhere() {
    compare("talk", async |store, answers| {
        let stores = store.platform_stores();
        let room = |name: &str, opened: u64| WebRoom {
            name: name.into(),
            opened: Time(opened),
            opened_by: Some("id-mia".into()),
        };
        let opening = vec![
            WebWrite::OpenRoom(room("lobby", 1)),
            WebWrite::OpenRoom(room("silent", 2)),
            WebWrite::OpenRoom(room("lobby", 9)),
        ];
        stores.web.change(&writes(0, opening)).await.unwrap();
        for (number, name) in (1..).zip(HOSTILE) {
            let person = Speaker { id: format!("id-{name}"), name: name.into() };
            let enter = WebWrite::Enter {
                secret: format!("secret {name}"),
                person: person.clone(),
                room: "lobby".into(),
                at: Time(number),
            };
            let spoke =
                WebWrite::Spoke { room: "lobby".into(), by: person, at: Time(10 + number), unless_since: Time(0) };
            let all = vec![enter, WebWrite::Add(said(number, name, &format!("hello from {name}"))), spoke];
            stores.web.change(&writes(number, all)).await.unwrap();
        }
        let edited = WebMessage { seq: 7, key: None, ..said(2, "mia", "edited") };
        stores
            .web
            .change(&writes(7, vec![WebWrite::Update(edited), WebWrite::Add(said(8, "bot", "I heard"))]))
            .await
            .unwrap();
        let query = WebQuery {
            room: Some("lobby".into()),
            ids: vec!["w3".into(), "w1".into(), "none".into()],
            keys: vec!["key 8 of bot".into(), "key 2 of mia".into()],
            members: 4,
            secret: Some("secret nul\0l".into()),
            rooms: true,
            silent_rooms: true,
            all_messages: false,
        };
        answers.note("found", stores.web.query(query).await);
        answers.note("all", stores.web.query(WebQuery { all_messages: true, ..WebQuery::default() }).await);
        answers.note("history", stores.web.history("lobby", u64::MAX, 3).await);
        answers.note("before", stores.web.history("lobby", 3, 10).await);
        answers.note("changes", stores.web.changes(None, 2, 4).await);
        answers.note("changes here", stores.web.changes(Some("lobby"), 2, 100).await);
        answers.note("counted", stores.web.count_messages().await);
        find_and_forget(&stores, answers).await;
    })
    .await;
}

async fn find_and_forget(stores: &PlatformStores, answers: &mut Answers) {
    let people = HOSTILE.map(|name| PersonId::new(format!("web:id-{name}")));
    for by in [TalkOf::People(&people[..3]), TalkOf::Bot, TalkOf::Room(&RoomId::new("web:lobby"))] {
        let mut found = stores.own_talk.utterances(by).await.unwrap();
        found.sort_by(|a, b| a.id.cmp(&b.id));
        answers.note("utterances", found);
    }
    let mut names = stores.own_talk.names().await.unwrap();
    names.sort();
    answers.note("names", names);
    let limit = WebWrite::LimitPeople { at_most: 4, besides: HashSet::from(["id-mia".to_owned()]) };
    stores.web.change(&writes(9, vec![limit, WebWrite::DropPerson("id-mia".into())])).await.unwrap();
    answers.note(
        "fewer",
        stores.web.query(WebQuery { room: Some("lobby".into()), members: 9, rooms: true, ..WebQuery::default() }).await,
    );
    let last = vec![WebWrite::DropUnseen(Time(5)), WebWrite::RemoveRoom("lobby".into())];
    stores.web.change(&writes(10, last)).await.unwrap();
    answers.note(
        "in the end",
        stores.web.query(WebQuery { rooms: true, all_messages: true, ..WebQuery::default() }).await,
    );
    for number in 0..4 {
        let session = WebSession { hash: [number; 32], begun: Time(number.into()) };
        stores.web_sessions.begin(session, Time(1), 2).await.unwrap();
    }
    let mut sessions = stores.web_sessions.all(Time(0), 9).await.unwrap();
    sessions.sort_by_key(|session| session.begun);
    answers.note("sessions", sessions);
}
