//! How a page enters a room: it gets what it missed, once, and from then on what happens.

use std::sync::Arc;

use aizuchi_core::types::{MessageId, Time};
use unicode_normalization::UnicodeNormalization as _;

use super::change::TalkChange;
use super::page::{JoinedRoom, OutgoingFrame, Page, PageProblem};
use super::platform::Web;
use super::settings::is_room_name;
use super::talk::{Refusal, room_id};
use super::wire::FromServer;
use super::words::PageError;
use super::{ids, mentions, rooms, sample};
use crate::commands::{CommandForm, offers};
use crate::lookalike::{case_folded, is_invisible};
use crate::ports::{PageNotice, Speaker, WebDecision, WebMessage, WebQuery, WebQueryResult, WebRoom, WebWrite};
use crate::replay::decision_for_page;

/// How many messages are sent at once to a page that enters or scrolls back.
const HISTORY: usize = 50;
/// How many are read at once while a page catches up.
const CATCH_UP: usize = 200;
const ROOMS_MAX: usize = 1000;

impl Page {
    pub(super) async fn enter(
        &mut self,
        room: String,
        name: &str,
        secret: Option<String>,
        since: u64,
    ) -> Result<(), PageProblem> {
        let web = self.context.web.clone();
        let name = mentions::name(name).ok_or(PageError::BadName)?;
        if web.is_called(&name) {
            return Err(PageError::NameTaken.into());
        }
        let room = if room.is_empty() { web.first_room().to_owned() } else { room.nfc().collect() };
        if !is_room_name(&room) || room.contains(is_invisible) {
            return Err(PageError::BadRoom.into());
        }
        self.check_limits(&room, secret.clone(), since).await?;
        let at = web.clock.now();
        let Admission { room, person, opened_by, is_new_room } =
            web.admit(EntryRequest::new(room, secret, name, at)).await?;
        let mut rooms = web.in_order(rooms::all(&*web.stores.web).await?);
        if is_new_room {
            web.hub.broadcast_all(&FromServer::Rooms { rooms: rooms.clone() });
            web.tell_others(PageNotice::RoomOpened);
        }
        if !rooms.contains(&room) {
            rooms.push(room.clone());
        }
        let present = web.presence.come(&room, &person.speaker);
        self.send(FromServer::Hello {
            person: person.secret.clone(),
            you: person.speaker.id.clone(),
            room: room.clone(),
            rooms,
            bot: Box::new(web.bot().in_room(room_id(&room).as_str())),
            commands: offers(CommandForm::Bare, self.language),
            may_close: web.may_close(&room, opened_by.as_deref(), &person.speaker.id),
            message_chars_max: web.settings.message_chars_max,
            now: at.0,
            version: env!("CARGO_PKG_VERSION"),
        })
        .await;
        // Subscribed before the history is read, so that what happens meanwhile is queued.
        let subscription = web.hub.subscribe(&room);
        let last_seq_sent = self.catch_up(&room, since).await?;
        self.show(&room).await?;
        let _ = self.out.send(OutgoingFrame::Seat { subscription, last_seq_sent, number: self.number }).await;
        self.entered = Some(JoinedRoom { room, person, last_seq_sent, _present: present });
        Ok(())
    }

    /// New people and new rooms are counted; people who return to an existing room are not.
    async fn check_limits(&self, room: &str, secret: Option<String>, since: u64) -> Result<(), PageProblem> {
        let talk = &self.context.web.stores.web;
        let found = talk.query(WebQuery { room: Some(room.to_owned()), secret, ..WebQuery::default() }).await?;
        let (person, counted) = (found.person, found.last_seq);
        let is_room = match found.room {
            Some(_) => true,
            None => {
                let found = talk.query(WebQuery { rooms: true, ..WebQuery::default() }).await?;
                rooms::find_by_name(&found, room).is_some()
            }
        };
        // A page that knows what was said there is returning: it must not reopen a closed room just because it missed the
        // closing.
        if !is_room && (1..=counted).contains(&since) {
            return Err(Refusal::RoomClosed.into());
        }
        // Sample rooms are opened by the page that plays them, and removed later.
        if !is_room && case_folded(room).starts_with(sample::PREFIX) {
            return Err(PageError::BadRoom.into());
        }
        let limits = &self.context.limits;
        if person.is_none() && !limits.may_come(self.address) {
            return Err(PageError::TooManyPeople.into());
        }
        if !is_room && !limits.may_open(self.address, person.as_deref()) {
            return Err(PageError::TooManyRoomsOpened.into());
        }
        Ok(())
    }

    /// Sends what the page does not know yet; returns the number of the last change it knows then.
    async fn catch_up(&self, room: &str, since: u64) -> Result<u64, PageProblem> {
        let talk = &self.context.web.stores.web;
        // A page with a higher number has counted in another store.
        let counted = self.context.web.last_seq().await?;
        if since == 0 || since > counted {
            return self.tell_recent(room).await;
        }
        let mut last_seq_sent = since;
        loop {
            let some = talk.changes(Some(room), last_seq_sent, CATCH_UP).await?;
            for message in &some {
                self.send(message.to_frame(since)).await;
            }
            last_seq_sent = some.last().map_or(last_seq_sent, |message| message.seq);
            if some.len() < CATCH_UP {
                break;
            }
        }
        let older = talk.history(room, since + 1, 1).await?;
        self.send(FromServer::CaughtUp { seq: last_seq_sent, more_before: !older.messages.is_empty() }).await;
        Ok(last_seq_sent)
    }

    async fn tell_recent(&self, room: &str) -> Result<u64, PageProblem> {
        let recent = self.context.web.stores.web.history(room, u64::MAX, HISTORY).await?;
        for message in &recent.messages {
            self.send(message.to_frame(0)).await;
        }
        self.send(FromServer::CaughtUp { seq: recent.last_seq, more_before: recent.more_before }).await;
        Ok(recent.last_seq)
    }

    /// Sends what is pending, and the decisions about the recent messages.
    async fn show(&self, room: &str) -> Result<(), PageProblem> {
        if let Some(view) = self.context.engine.view(&room_id(room)).await? {
            let view = serde_json::to_value(view).expect("a view is plain data");
            self.send(FromServer::View { view, now: self.context.web.clock.now().0 }).await;
        }
        let recent = self.context.web.stores.web.history(room, u64::MAX, HISTORY).await?;
        self.tell_decisions(room, &recent.messages).await
    }

    async fn tell_decisions(&self, room: &str, messages: &[WebMessage]) -> Result<(), PageProblem> {
        let ids = messages.iter().map(|message| MessageId::new(&message.id)).collect();
        for trace in self.context.traces.of(&room_id(room), ids).await? {
            self.send(FromServer::Decided { trace: decision_for_page(&trace) }).await;
        }
        Ok(())
    }

    pub(super) async fn history(&self, before: u64) -> Result<(), PageProblem> {
        let JoinedRoom { room, last_seq_sent, .. } = self.entered()?;
        let older = self.context.web.stores.web.history(room, before, HISTORY).await?;
        for message in &older.messages {
            self.send(message.to_frame(0)).await;
        }
        self.send(FromServer::CaughtUp { seq: *last_seq_sent, more_before: older.more_before }).await;
        self.tell_decisions(room, &older.messages).await
    }
}

/// A person at a page.
#[derive(Clone, PartialEq, Eq)]
pub struct WebPerson {
    /// A page that knows it speaks as this person. Everybody else only sees the public id.
    pub secret: String,
    pub speaker: Speaker,
}

/// A request to enter a room.
#[derive(Clone)]
struct EntryRequest {
    room: String,
    /// The secret that the page has stored, if it was here before.
    secret: Option<String>,
    name: String,
    at: Time,
    /// For a new person.
    new_secret: String,
    new_id: String,
}

impl EntryRequest {
    fn new(room: String, secret: Option<String>, name: String, at: Time) -> EntryRequest {
        EntryRequest { room, secret, name, at, new_secret: ids::secret(), new_id: ids::public() }
    }
}

struct Admission {
    /// The name of the room.
    room: String,
    person: WebPerson,
    opened_by: Option<String>,
    is_new_room: bool,
}

/// Why a person was not admitted.
enum AdmissionError {
    /// No room has exactly this name: the names of all others have to be compared.
    RoomUnknown,
    TooManyRooms,
}

impl Web {
    async fn admit(self: &Arc<Web>, entry: EntryRequest) -> Result<Admission, PageProblem> {
        let known = WebQuery { room: Some(entry.room.clone()), secret: entry.secret.clone(), ..WebQuery::default() };
        let all = WebQuery { rooms: true, silent_rooms: true, ..known.clone() };
        for (look, saw_all) in [(known, false), (all, true)] {
            let (web, entry) = (self.clone(), entry.clone());
            let admit = TalkChange::unless_refused(look, move |found| {
                if found.room.is_none() && !saw_all {
                    Err(AdmissionError::RoomUnknown)
                } else {
                    admit(found, &web, &entry)
                }
            });
            match admit.make(&*self.stores.web).await? {
                Ok(admitted) => return Ok(admitted),
                Err(AdmissionError::RoomUnknown) => (),
                Err(AdmissionError::TooManyRooms) => break,
            }
        }
        Err(PageError::TooManyRooms.into())
    }
}

fn admit(found: &WebQueryResult, web: &Web, entry: &EntryRequest) -> Result<(Admission, WebDecision), AdmissionError> {
    let (known, mut writes) = (rooms::find_by_name(found, &entry.room), Vec::new());
    let room = known.map_or(&entry.room, |known| &known.name).clone();
    if known.is_none() {
        writes.extend(make_place(found, web)?.map(WebWrite::RemoveRoom));
    }
    let (secret, id) = match (&found.person, &entry.secret) {
        (Some(id), Some(secret)) => (secret.clone(), id.clone()),
        (Some(_) | None, _) => (entry.new_secret.clone(), entry.new_id.clone()),
    };
    let person = WebPerson { secret, speaker: Speaker { id, name: entry.name.clone() } };
    let (secret, speaker) = (person.secret.clone(), person.speaker.clone());
    writes.push(WebWrite::Enter { secret, person: speaker, room: room.clone(), at: entry.at });
    if found.person.is_none() {
        let mut besides = web.presence.everybody();
        besides.insert(person.speaker.id.clone());
        writes.push(WebWrite::LimitPeople { at_most: web.settings.people_max, besides });
    }
    let opened_by = known.map_or(Some(person.speaker.id.clone()), |known| known.opened_by.clone());
    if known.is_none() {
        let opened_by = opened_by.clone();
        writes.push(WebWrite::OpenRoom(WebRoom { name: room.clone(), opened: entry.at, opened_by }));
    }
    let is_new_room = known.is_none();
    Ok((Admission { room, person, opened_by, is_new_room }, WebDecision { writes, ..WebDecision::default() }))
}

/// The room that is removed to make space for one more, if necessary: one that is empty and in which nobody ever spoke.
fn make_place(found: &WebQueryResult, web: &Web) -> Result<Option<String>, AdmissionError> {
    if found.rooms.iter().filter(|room| rooms::is_listed(&room.name)).count() < ROOMS_MAX {
        return Ok(None);
    }
    let is_vacant =
        |room: &&String| rooms::is_listed(room) && !web.is_of_settings(room) && web.hub.listeners(room) == 0;
    found.silent_rooms.iter().find(is_vacant).cloned().map(Some).ok_or(AdmissionError::TooManyRooms)
}
