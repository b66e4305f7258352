//! How a page comes into a room: it is told what it missed, once, and from then on what happens.

use aizuchi_core::types::{MessageId, Time};
use rusqlite::{Connection, Transaction};

use super::page::{Entered, Out, Page, Why};
use super::people::{self, Person};
use super::talk::{self, Kept, room_id};
use super::wire::FromServer;
use super::words::Trouble;
use super::{mentions, sample};
use crate::replay::decision;

/// Messages told at once: to whoever enters, and to whoever scrolls back.
const HISTORY: usize = 50;
/// Read at once while a page catches up.
const CATCH_UP: usize = 200;
const ROOMS_MAX: usize = 1000;
const ROOM_CHARS_MAX: usize = 40;

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
        let room = if room.is_empty() { web.first_room().to_owned() } else { room };
        if !is_room_name(&room) {
            return Err(Trouble::BadRoom.into());
        }
        let (at, wanted) = (web.clock.now(), room.clone());
        let admit = move |transaction: &Transaction<'_>| admit(transaction, &wanted, secret.as_deref(), &name, at);
        let (person, is_new) = web.database.write(admit).await??;
        let mut rooms = web.in_order(web.database.read(talk::rooms).await?);
        if is_new {
            web.hub.tell_all(&FromServer::Rooms { rooms: rooms.clone() });
        }
        if !rooms.contains(&room) {
            rooms.push(room.clone());
        }
        self.tell(FromServer::Hello {
            person: person.secret.clone(),
            you: person.speaker.id.clone(),
            room: room.clone(),
            rooms,
            bot: web.bot(),
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
        self.entered = Some(Entered { room, person, told });
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

/// The person, and whether the room is new.
fn admit(
    transaction: &Transaction<'_>,
    room: &str,
    secret: Option<&str>,
    name: &str,
    at: Time,
) -> rusqlite::Result<Result<(Person, bool), Trouble>> {
    let is_new = !talk::is_room(transaction, room)?;
    // Samples are opened by whoever plays them and let go later.
    if is_new && room.starts_with(sample::PREFIX) {
        return Ok(Err(Trouble::BadRoom));
    }
    if is_new && talk::rooms(transaction)?.len() >= ROOMS_MAX {
        return Ok(Err(Trouble::TooManyRooms));
    }
    talk::open_room(transaction, room, at)?;
    Ok(Ok((people::enter(transaction, room, secret, name, at)?, is_new)))
}

fn is_room_name(room: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    (1..=ROOM_CHARS_MAX).contains(&room.chars().count()) && room.chars().all(fits)
}
