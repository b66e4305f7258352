//! Removes a person from the web rooms: their messages, their reactions, their name, and what the bot said because of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use aizuchi_core::Input;
use aizuchi_core::memory::{ForgetRequest, Recognizer};
use aizuchi_core::types::{MessageId, RoomId, Voice};

use super::change::TalkChange;
use super::platform::PLATFORM;
use super::talk::{SayRequest, person_name, room_id};
use crate::journal::without_person;
use crate::ports::{
    PendingEntry, PlatformStores, Speaker, WebDecision, WebMessage, WebQuery, WebQueryResult, WebWrite,
};
use crate::stores::StoreError;

pub async fn forget(stores: &PlatformStores, request: &Arc<ForgetRequest>) -> Result<(), StoreError> {
    forget_pending(stores, request).await?;
    forget_talk(request.clone()).make(&*stores.web).await
}

fn forget_talk(request: Arc<ForgetRequest>) -> TalkChange<()> {
    let look = WebQuery { all_messages: true, ..WebQuery::default() };
    TalkChange::new(look, move |found| ((), decide_forget(found, &request)))
}

fn decide_forget(found: &WebQueryResult, request: &ForgetRequest) -> WebDecision {
    let (theirs, ids) = (request.recognizer(), ids(request));
    let answers = answers_to(&found.messages, &messages_of(&found.messages, &ids), &theirs);
    let (mut seq, mut writes) = (found.last_seq, Vec::new());
    for message in &found.messages {
        if let Some(mut changed) = message.without(&ids, answers.contains(message.id.as_str())) {
            seq += 1;
            changed.seq = seq;
            writes.push(WebWrite::Update(changed));
        }
    }
    writes.extend(ids.iter().map(|id| WebWrite::DropPerson((*id).to_owned())));
    WebDecision { writes, last_seq: Some(seq), input: None }
}

/// The ids as pages see them.
fn ids(request: &ForgetRequest) -> Vec<&str> {
    request.ids.iter().filter_map(person_name).collect()
}

impl WebMessage {
    /// The message without these people, emptied if all of it is to be removed. `None` if they are not in it.
    fn without(&self, ids: &[&str], goes: bool) -> Option<WebMessage> {
        let is_them = |speaker: &Speaker| ids.contains(&speaker.id.as_str());
        let by_them = is_them(&self.body.by);
        let reacted = self.body.reactions.iter().flat_map(|(_, givers)| givers).any(is_them);
        if !goes && !by_them && !reacted {
            return None;
        }
        let mut left = self.clone();
        let body = &mut left.body;
        if goes || by_them {
            (body.deleted, body.edited) = (true, false);
            body.text.clear();
            body.reactions.clear();
        }
        if by_them {
            // A key begins with the id of the author.
            left.key = None;
            body.by = Speaker { id: String::new(), name: String::new() };
        }
        body.reactions.iter_mut().for_each(|(_, givers)| givers.retain(|giver| !is_them(giver)));
        body.reactions.retain(|(_, givers)| !givers.is_empty());
        Some(left)
    }
}

fn messages_of(messages: &[WebMessage], ids: &[&str]) -> BTreeSet<(RoomId, MessageId)> {
    let theirs = messages.iter().filter(|message| ids.contains(&message.body.by.id.as_str()));
    theirs.map(|message| (room_id(&message.room), MessageId::new(&message.id))).collect()
}

/// The ids of the bot's posts that answer them, mention them or repeat them; with every part of such an answer.
fn answers_to<'a>(
    all: &'a [WebMessage],
    messages: &BTreeSet<(RoomId, MessageId)>,
    theirs: &Recognizer<'_>,
) -> BTreeSet<&'a str> {
    let own = || all.iter().filter(|message| message.body.voice == Voice::Me && !message.body.deleted);
    let goes = |post: &WebMessage| {
        let room = room_id(&post.room);
        let answered = post.body.reply_to.as_ref().map(|to| (room.clone(), MessageId::new(to)));
        answered.is_some_and(|answered| messages.contains(&answered))
            || theirs.takes_own_post(&room, &post.id, &post.body.text)
    };
    let gone: Vec<&WebMessage> = own().filter(|post| goes(post)).collect();
    let calls: BTreeSet<&str> = gone.iter().filter_map(|post| call_of(post.key.as_deref()?)).collect();
    let is_part = |post: &WebMessage| post.key.as_deref().and_then(call_of).is_some_and(|call| calls.contains(call));
    let parts = own().filter(|post| is_part(post));
    parts.chain(gone.iter().copied()).map(|post| post.id.as_str()).collect()
}

/// A post's key consists of the key of its answer and the number of the part.
fn call_of(key: &str) -> Option<&str> {
    key.rsplit_once('/').map(|(call, _)| call)
}

/// The key of the first part of the same answer.
pub fn first_part(key: &str) -> Option<String> {
    call_of(key).map(|call| format!("{call}/0"))
}

/// Whether an answer comes too late: the person who asked was forgotten meanwhile, or its first part was deleted.
pub fn is_forgotten(found: &WebQueryResult, saying: &SayRequest, replied: Option<&WebMessage>) -> bool {
    if saying.voice != Voice::Me {
        return false;
    }
    let asker_is = replied.is_some_and(|replied| replied.body.deleted && replied.body.by.id.is_empty());
    let first = first_part(&saying.key).and_then(|key| found.by_key(&key));
    asker_is || first.is_some_and(|first| first.body.deleted)
}

/// Removes pending entries about them from the inbox. This is done before their messages are deleted, which say what the
/// entries are about.
pub async fn forget_pending(stores: &PlatformStores, request: &ForgetRequest) -> Result<(), StoreError> {
    let pending = stores.inbox.pending(PLATFORM, 0, usize::MAX).await?;
    if pending.is_empty() {
        return Ok(());
    }
    let found = stores.web.query(WebQuery { all_messages: true, ..WebQuery::default() }).await?;
    let (theirs, messages) = (request.recognizer(), messages_of(&found.messages, &ids(request)));
    let mut changed = Vec::new();
    for PendingEntry { seq, body } in pending {
        let Ok(input) = serde_json::from_str::<Input>(&body) else { continue };
        match without_person(input, &theirs, &messages) {
            None => (),
            Some(Input::Forgotten) => changed.push((seq, None)),
            Some(rest) => {
                let body = serde_json::to_string(&rest).expect("an input is plain data");
                changed.push((seq, Some(body)));
            }
        }
    }
    if changed.is_empty() { Ok(()) } else { stores.inbox.amend(PLATFORM, changed).await }
}

#[cfg(test)]
mod tests {
    use aizuchi_core::Time;
    use aizuchi_core::types::PersonId;

    use super::super::rooms;
    use super::super::talk::{self, Refusal};
    use super::*;
    use crate::stores::Database;

    fn saying(by: &str, key: &str, text: &str, reply_to: Option<&str>) -> SayRequest {
        SayRequest {
            room: "lobby".into(),
            key: key.into(),
            at: Time(1),
            by: Speaker { id: by.into(), name: by.into() },
            voice: if by == "bot" { Voice::Me } else { Voice::Person },
            text: text.into(),
            thread: None,
            reply_to: reply_to.map(Into::into),
        }
    }

    #[tokio::test]
    async fn answers_go_part_by_part_and_what_comes_too_late_is_not_posted() {
        let folder = aizuchi_test_servers::folder::Scratch::new("web-forget");
        let database = Database::open(&folder.join("aizuchi.db")).unwrap();
        let talk = database.platform_stores().web;
        let say = async |saying: SayRequest| {
            let look = talk::look_for_saying(&saying);
            let say = TalkChange::unless_refused(look, move |found| talk::say(found, saying.clone(), &[], &[]));
            say.make(&*talk).await.unwrap().map(|stored| stored.id)
        };
        rooms::open(vec!["lobby".into()], Time(0)).make(&*talk).await.unwrap();
        let asked = say(saying("x1", "x1/1", "which way?", None)).await.unwrap();
        let other = say(saying("y1", "y1/1", "and where to?", None)).await.unwrap();
        say(saying("bot", "web:lobby/1/0", "This way,", Some(&asked))).await.unwrap();
        say(saying("bot", "web:lobby/1/1", "and then left.", None)).await.unwrap();
        say(saying("bot", "web:lobby/2/0", "To the mill.", Some(&other))).await.unwrap();
        let request = ForgetRequest { ids: vec![PersonId::new("web:x1")], ..ForgetRequest::default() };
        forget_talk(Arc::new(request)).make(&*talk).await.unwrap();
        let late = say(saying("bot", "web:lobby/3/0", "Over there.", Some(&asked))).await;
        let late_part = say(saying("bot", "web:lobby/1/2", "Mind the step.", None)).await;
        assert_eq!((late, late_part), (Err(Refusal::NoSuchMessage), Err(Refusal::NoSuchMessage)));
        assert!(say(saying("bot", "web:lobby/2/1", "It is closed.", None)).await.is_ok());
        let kept = talk.history("lobby", u64::MAX, 50).await.unwrap().messages;
        let texts: Vec<&str> =
            kept.iter().map(|kept| kept.body.text.as_str()).filter(|text| !text.is_empty()).collect();
        assert_eq!(texts, ["and where to?", "To the mill.", "It is closed."]);
        let told = format!("{kept:?}");
        assert!(!told.contains("x1"), "something still says who it was: {told}");
    }
}
