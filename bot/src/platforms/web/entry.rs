//! How a page comes into a room: it is told what it missed, once, and from then on what happens.

use aizuchi_core::types::{MessageId, Time};
use rusqlite::{Connection, Transaction};
use unicode_normalization::UnicodeNormalization as _;

use super::page::{Entered, Out, Page, Why};
use super::people::{self, Person};
use super::platform::Web;
use super::settings::is_room_name;
use super::talk::{self, Kept, Refusal, room_id};
use super::wire::FromServer;
use super::words::Trouble;
use super::{mentions, rooms, sample};
use crate::commands::{CommandForm, offers};
use crate::lookalike::{case_folded, is_invisible};
use crate::replay::decision;

/// Messages told at once: to whoever enters, and to whoever scrolls back.
const HISTORY: usize = 50;
/// Read at once while a page catches up.
const CATCH_UP: usize = 200;
const ROOMS_MAX: usize = 1000;

impl Page {
    pub(super) async fn enter(
        &mut self,
        room: String,
        name: &str,
        secret: Option<String>,
        since: u64,
    ) -> Result<(), Why> {
        let web = self.desk.web.clone();
        let name = mentions::name(name).ok_or(Trouble::BadName)?;
        if web.is_called(&name) {
            return Err(Trouble::NameTaken.into());
        }
        let room = if room.is_empty() { web.first_room().to_owned() } else { room.nfc().collect() };
        if !is_room_name(&room) || room.contains(is_invisible) {
            return Err(Trouble::BadRoom.into());
        }
        self.check_limits(&room, secret.clone(), since).await?;
        let (at, house) = (web.clock.now(), web.clone());
        let admit =
            move |transaction: &Transaction<'_>| admit(transaction, &house, &room, secret.as_deref(), &name, at);
        let Admitted { room, person, opened_by, is_new_room } = web.database.write(admit).await??;
        let mut rooms = web.in_order(web.database.read(rooms::all).await?);
        if is_new_room {
            web.hub.tell_all(&FromServer::Rooms { rooms: rooms.clone() });
        }
        if !rooms.contains(&room) {
            rooms.push(room.clone());
        }
        let present = web.presence.come(&room, &person.speaker);
        self.tell(FromServer::Hello {
            person: person.secret.clone(),
            you: person.speaker.id.clone(),
            room: room.clone(),
            rooms,
            bot: web.bot(),
            commands: offers(CommandForm::Bare, self.language),
            may_close: web.may_close(&room, opened_by.as_deref(), &person.speaker.id),
            message_chars_max: web.settings.message_chars_max,
            now: at.0,
            version: env!("CARGO_PKG_VERSION"),
        })
        .await;
        // Before the past is read: what happens meanwhile waits there.
        let seat = web.hub.sit_down(&room);
        let told = self.catch_up(&room, since).await?;
        self.show(&room).await?;
        let _ = self.out.send(Out::Seat { seat, told, number: self.number }).await;
        self.entered = Some(Entered { room, person, told, _present: present });
        Ok(())
    }

    /// Newcomers and new rooms are counted; whoever comes back to what is there is not.
    async fn check_limits(&self, room: &str, secret: Option<String>, since: u64) -> Result<(), Why> {
        let wanted = room.to_owned();
        let look = move |connection: &Connection| {
            let person = match secret {
                Some(secret) => people::find(connection, &secret)?,
                None => None,
            };
            Ok((rooms::named(connection, &wanted)?.is_some(), person, talk::last_seq(connection)?))
        };
        let (is_room, person, counted) = self.desk.web.database.read(look).await?;
        // Whoever knows what was said there comes back: it is not theirs to open again by not having heard.
        if !is_room && (1..=counted).contains(&since) {
            return Err(Refusal::RoomClosed.into());
        }
        // Samples are opened by whoever plays them and let go later.
        if !is_room && case_folded(room).starts_with(sample::PREFIX) {
            return Err(Trouble::BadRoom.into());
        }
        let limits = &self.desk.limits;
        if person.is_none() && !limits.may_come(self.address) {
            return Err(Trouble::TooManyPeople.into());
        }
        if !is_room && !limits.may_open(self.address, person.as_deref()) {
            return Err(Trouble::TooManyRoomsOpened.into());
        }
        Ok(())
    }

    /// Tells what the page does not know yet; the number of the last change it knows then.
    async fn catch_up(&self, room: &str, since: u64) -> Result<u64, Why> {
        let database = &self.desk.web.database;
        // A page that counts further than we do has counted in another store.
        let counted = database.read(talk::last_seq).await?;
        if since == 0 || since > counted {
            return self.tell_recent(room).await;
        }
        let mut told = since;
        loop {
            let of = room.to_owned();
            let some = database.read(move |connection| talk::changes(connection, Some(&of), told, CATCH_UP)).await?;
            for kept in &some {
                self.tell(kept.tell(since)).await;
            }
            told = some.last().map_or(told, |kept| kept.seq);
            if some.len() < CATCH_UP {
                break;
            }
        }
        let of = room.to_owned();
        let (older, _) = database.read(move |connection| talk::history(connection, &of, since + 1, 1)).await?;
        self.tell(FromServer::CaughtUp { seq: told, more_before: !older.is_empty() }).await;
        Ok(told)
    }

    async fn tell_recent(&self, room: &str) -> Result<u64, Why> {
        let of = room.to_owned();
        let recent = move |connection: &Connection| {
            // Both of the same instant, so that nothing is told twice or missed.
            let snapshot = connection.unchecked_transaction()?;
            Ok((talk::last_seq(&snapshot)?, talk::history(&snapshot, &of, u64::MAX, HISTORY)?))
        };
        let (told, (recent, more_before)) = self.desk.web.database.read(recent).await?;
        for kept in &recent {
            self.tell(kept.tell(0)).await;
        }
        self.tell(FromServer::CaughtUp { seq: told, more_before }).await;
        Ok(told)
    }

    /// What is pending now, and what was decided about the recent messages.
    async fn show(&self, room: &str) -> Result<(), Why> {
        if let Some(view) = self.desk.ears.look(&room_id(room)).await? {
            let view = serde_json::to_value(view).expect("a view is plain data");
            self.tell(FromServer::View { view, now: self.desk.web.clock.now().0 }).await;
        }
        let of = room.to_owned();
        let recent = move |connection: &Connection| talk::history(connection, &of, u64::MAX, HISTORY);
        let (recent, _) = self.desk.web.database.read(recent).await?;
        self.tell_decisions(room, &recent).await
    }

    async fn tell_decisions(&self, room: &str, messages: &[Kept]) -> Result<(), Why> {
        let ids = messages.iter().map(|kept| MessageId::new(&kept.id)).collect();
        for trace in self.desk.traces.of(&room_id(room), ids).await? {
            self.tell(FromServer::Decided { trace: decision(&trace) }).await;
        }
        Ok(())
    }

    pub(super) async fn history(&self, before: u64) -> Result<(), Why> {
        let Entered { room, told, .. } = self.entered()?;
        let of = room.clone();
        let older = move |connection: &Connection| talk::history(connection, &of, before, HISTORY);
        let (older, more_before) = self.desk.web.database.read(older).await?;
        for kept in &older {
            self.tell(kept.tell(0)).await;
        }
        self.tell(FromServer::CaughtUp { seq: *told, more_before }).await;
        self.tell_decisions(room, &older).await
    }
}

struct Admitted {
    /// As it is called.
    room: String,
    person: Person,
    opened_by: Option<String>,
    is_new_room: bool,
}

fn admit(
    transaction: &Transaction<'_>,
    web: &Web,
    room: &str,
    secret: Option<&str>,
    name: &str,
    at: Time,
) -> rusqlite::Result<Result<Admitted, Trouble>> {
    let known = rooms::named(transaction, room)?;
    let (is_new_room, room) = (known.is_none(), known.as_deref().unwrap_or(room));
    if is_new_room && !has_place(transaction, web)? {
        return Ok(Err(Trouble::TooManyRooms));
    }
    let (person, is_new) = people::enter(transaction, room, secret, name, at)?;
    if is_new {
        let mut here = web.presence.everybody();
        here.insert(person.speaker.id.clone());
        people::make_way(transaction, web.settings.people_max, &here)?;
    }
    rooms::open(transaction, room, Some(&person.speaker.id), at)?;
    let opened_by = rooms::opener(transaction, room)?.flatten();
    Ok(Ok(Admitted { room: room.to_owned(), person, opened_by, is_new_room }))
}

/// Whether there is a place for one more room. One in which nobody ever spoke and nobody is makes way.
fn has_place(transaction: &Transaction<'_>, web: &Web) -> rusqlite::Result<bool> {
    if rooms::all(transaction)?.len() < ROOMS_MAX {
        return Ok(true);
    }
    let vacant = |room: &String| !web.is_of_settings(room) && web.hub.listeners(room) == 0;
    match rooms::never_used(transaction)?.into_iter().find(vacant) {
        Some(room) => rooms::remove(transaction, &room).map(|()| true),
        None => Ok(false),
    }
}
