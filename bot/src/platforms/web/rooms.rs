//! The web rooms themselves: opened, listed, removed when nobody comes back, closed for good.

use aizuchi_core::Input;
use aizuchi_core::input::Command;
use aizuchi_core::types::Time;

use super::change::TalkChange;
use super::sample;
use super::talk::{ChangeResult, Refusal, StoredChange, room_id};
use crate::lookalike::case_folded;
use crate::ports::{InboxEntry, WebDecision, WebQuery, WebQueryResult, WebRoom, WebTalk, WebWrite};
use crate::stores::StoreError;

/// The room of this name, or else one whose name differs only in case and width.
pub fn find_by_name<'a>(found: &'a WebQueryResult, room: &str) -> Option<&'a WebRoom> {
    let wanted = case_folded(room);
    found.room.as_ref().or_else(|| found.rooms.iter().find(|known| case_folded(&known.name) == wanted))
}

/// Whether people opened the room, as opposed to a sample.
pub fn is_listed(room: &str) -> bool {
    !room.get(..sample::PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(sample::PREFIX))
}

/// The names of all listed rooms, oldest first.
pub async fn all(talk: &dyn WebTalk) -> Result<Vec<String>, StoreError> {
    let found = talk.query(WebQuery { rooms: true, ..WebQuery::default() }).await?;
    Ok(found.rooms.into_iter().map(|room| room.name).filter(|name| is_listed(name)).collect())
}

/// Opens rooms that nobody may close.
pub fn open(rooms: Vec<String>, opened: Time) -> TalkChange<()> {
    TalkChange::new(WebQuery::default(), move |_| {
        let open = |name: &String| WebWrite::OpenRoom(WebRoom { name: name.clone(), opened, opened_by: None });
        ((), WebDecision { writes: rooms.iter().map(open).collect(), ..WebDecision::default() })
    })
}

/// Closes a room; the engine gets an input, so that nothing pending is posted there. With `by`, only if that person opened
/// it.
pub fn close(room: String, by: Option<String>) -> TalkChange<Result<StoredChange, Refusal>> {
    TalkChange::unless_refused(look_for(&room), move |found| decide_close(found, &room, by.as_deref()))
}

fn look_for(room: &str) -> WebQuery {
    WebQuery { room: Some(room.to_owned()), ..WebQuery::default() }
}

fn decide_close(found: &WebQueryResult, room: &str, by: Option<&str>) -> Result<ChangeResult, Refusal> {
    let known = found.room.as_ref().ok_or(Refusal::RoomClosed)?;
    if by.is_some_and(|by| known.opened_by.as_deref() != Some(by)) {
        return Err(Refusal::NotYourRoom);
    }
    let seq = found.last_seq + 1;
    let input = Some(Input::Told(room_id(room), Command::Left));
    let writes = vec![WebWrite::RemoveRoom(room.to_owned())];
    Ok((StoredChange { id: room.to_owned(), seq }, WebDecision { writes, last_seq: Some(seq), input }))
}

/// The same while the program does not run: the engine gets the input at the next start.
pub fn close_unheard(room: String, now: Time) -> TalkChange<Result<StoredChange, Refusal>> {
    TalkChange::unless_refused(look_for(&room), move |found| {
        let (stored, mut decision) = decide_close(found, &room, None)?;
        if let Some(input) = decision.input.take() {
            let body = serde_json::to_string(&input).expect("an input is plain data");
            let entry = InboxEntry { key: format!("w{}", stored.seq), body: Some(body), ..InboxEntry::default() };
            decision.writes.push(WebWrite::Leave(entry, now));
        }
        Ok((stored, decision))
    })
}

/// Deletes what nobody comes back to: samples that were opened before this time, and people who were last seen long before.
pub fn sweep(samples_before: Time, people_before: Time) -> TalkChange<()> {
    TalkChange::new(WebQuery { rooms: true, ..WebQuery::default() }, move |found| {
        let old = found.rooms.iter().filter(|room| !is_listed(&room.name) && room.opened < samples_before);
        let mut writes: Vec<WebWrite> = old.map(|room| WebWrite::RemoveRoom(room.name.clone())).collect();
        writes.push(WebWrite::DropUnseen(people_before));
        ((), WebDecision { writes, ..WebDecision::default() })
    })
}
