//! One page in a room: what it asks for is checked, done and answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aizuchi_core::types::{MessageId, Place, Voice};
use axum::extract::ws::Utf8Bytes;
use tokio::sync::mpsc;
use tracing::warn;

use super::change::TalkChange;
use super::emoji::is_emoji;
use super::entry::Person;
use super::hub::{Seat, written};
use super::limits::ClientAddress;
use super::presence::Present;
use super::sample;
use super::server::Desk;
use super::socket::frame_bytes_max;
use super::talk::{self, Reacting, Refusal, Saying, person_id, room_id};
use super::wire::{FromPage, FromServer};
use super::words::Trouble;
use crate::commands::{CommandForm, CommandSpec, Effect, Parsed, WebEffect, answers, parse};
use crate::language::Language;
use crate::lookalike::looks_empty;
use crate::ports::Caller;
use crate::replay::decision_for_page;
use crate::runtime::{Gone, NotStored};
use crate::stores::StoreError;

const KEY_CHARS_MAX: usize = 100;

/// What goes out to the page.
pub enum Out {
    Frame(Utf8Bytes),
    /// From here on what happens in this room goes out as well, apart from what was told already.
    Seat {
        seat: Seat,
        told: u64,
        number: u64,
    },
}

pub struct Page {
    pub(super) desk: Arc<Desk>,
    pub(super) language: Language,
    /// Where it is connected from.
    pub(super) address: ClientAddress,
    pub(super) out: mpsc::Sender<Out>,
    /// Tells this page from the others while the program runs.
    pub(super) number: u64,
    pub(super) entered: Option<Entered>,
    /// Why it could not enter when it last tried, where that passes.
    turned_away: Option<Trouble>,
}

pub(super) struct Entered {
    pub room: String,
    pub person: Person,
    /// The last change it was told of when it entered.
    pub told: u64,
    pub _present: Present,
}

/// Why something is not done.
pub(super) enum Why {
    Trouble(Trouble),
    Refusal(Refusal),
}

impl From<Trouble> for Why {
    fn from(trouble: Trouble) -> Why {
        Why::Trouble(trouble)
    }
}

impl From<Refusal> for Why {
    fn from(refusal: Refusal) -> Why {
        Why::Refusal(refusal)
    }
}

impl From<StoreError> for Why {
    fn from(error: StoreError) -> Why {
        warn!(%error, "could not serve a page of the web room");
        Why::Trouble(Trouble::Store)
    }
}

impl From<NotStored> for Why {
    fn from(error: NotStored) -> Why {
        match error {
            NotStored::Gone(gone) => gone.into(),
            NotStored::Store(error) => error.into(),
        }
    }
}

impl From<Gone> for Why {
    fn from(_: Gone) -> Why {
        Why::Trouble(Trouble::Stopping)
    }
}

impl Page {
    pub fn new(desk: Arc<Desk>, language: Language, address: ClientAddress, out: mpsc::Sender<Out>) -> Page {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        Page {
            desk,
            language,
            address,
            out,
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
            entered: None,
            turned_away: None,
        }
    }

    pub fn has_entered(&self) -> bool {
        self.entered.is_some()
    }

    /// How much a person may say; 0 is no limit.
    pub fn messages_per_second(&self) -> u32 {
        self.desk.web.settings.person_messages_per_second
    }

    /// Returns when whoever sits there may send again.
    pub async fn until_turn(&self) {
        if let Some(entered) = &self.entered {
            self.desk.limits.until_turn(&entered.person.speaker.id).await;
        }
    }

    /// Does what a frame asks for.
    pub async fn take(&mut self, frame: &str) {
        let asked = serde_json::from_str::<FromPage>(frame).ok().filter(FromPage::fits);
        let Some(asked) = asked else { return self.refuse(None, Trouble::NotUnderstood).await };
        match asked {
            FromPage::Enter { room, name, language, person, since } => {
                self.language = language.as_deref().and_then(Language::from_id).unwrap_or(self.language);
                let done = self.enter(room, &name, person, since).await;
                self.turned_away = match &done {
                    Err(Why::Trouble(trouble)) if trouble.passes() => Some(*trouble),
                    Ok(()) | Err(Why::Trouble(_) | Why::Refusal(_)) => None,
                };
                self.answer_alone(done).await;
            }
            FromPage::Say { key, text, thread, reply_to } => {
                let done = self.say(&key, text, thread, reply_to).await;
                self.answer(key, done).await;
            }
            FromPage::Edit { key, id, text } => {
                let done = self.edit(&key, id, text).await;
                self.answer(key, done).await;
            }
            FromPage::Delete { key, id } => {
                let done = self.change(&key, id, None).await;
                self.answer(key, done).await;
            }
            FromPage::React { key, id, emoji, on } => {
                let done = self.react(&key, id, emoji, on).await;
                self.answer(key, done).await;
            }
            FromPage::Typing { thread } => {
                let done = self.typing(thread).await;
                self.answer_alone(done).await;
            }
            FromPage::History { before } => {
                let done = self.history(before).await;
                self.answer_alone(done).await;
            }
            FromPage::Sample { language } => {
                let done = self.sample(&language).await;
                self.answer_alone(done).await;
            }
            FromPage::Why { id } => {
                let done = self.decision(id).await;
                self.answer_alone(done).await;
            }
            FromPage::Close { key, room } => {
                let done = self.close(&room).await.map(|()| None);
                self.answer(key, done).await;
            }
        }
    }

    pub async fn refuse(&self, key: Option<String>, trouble: Trouble) {
        self.tell(self.refusal(key, trouble.into())).await;
    }

    pub async fn refuse_too_big(&self) {
        let bytes_max = frame_bytes_max(self.desk.web.settings.message_chars_max);
        self.refuse(None, Trouble::TooBig { bytes_max }).await;
    }

    async fn answer(&self, key: String, done: Result<Option<String>, Why>) {
        match done {
            Ok(id) => self.tell(FromServer::Taken { key, id }).await,
            Err(why) => self.tell(self.refusal(Some(key), why)).await,
        }
    }

    async fn answer_alone(&self, done: Result<(), Why>) {
        if let Err(why) = done {
            self.tell(self.refusal(None, why)).await;
        }
    }

    pub(super) fn refusal(&self, key: Option<String>, why: Why) -> FromServer {
        metrics::counter!("aizuchi_web_refused_total").increment(1);
        let (why, again) = match why {
            Why::Trouble(trouble) => (trouble.say(self.language), trouble.passes()),
            Why::Refusal(refusal) => (refusal.say(self.language), false),
        };
        FromServer::Refused { key, why, again }
    }

    pub(super) async fn tell(&self, tell: FromServer) {
        // Nobody writes any more: the page is gone.
        let _ = self.out.send(Out::Frame(written(&tell))).await;
    }

    pub(super) fn entered(&self) -> Result<&Entered, Why> {
        self.entered.as_ref().ok_or(Why::Trouble(self.turned_away.unwrap_or(Trouble::NotEntered)))
    }

    async fn say(
        &self,
        key: &str,
        text: String,
        thread: Option<String>,
        reply_to: Option<String>,
    ) -> Result<Option<String>, Why> {
        let Entered { room, person, .. } = self.entered()?;
        let key = self.key(key)?;
        self.check(&text)?;
        if let Some(command) = text.trim().strip_prefix('/') {
            self.run(room, person, command).await;
            return Ok(None);
        }
        let (by, at) = (person.speaker.clone(), self.desk.web.clock.now());
        let room = room.clone();
        let saying = Saying { room, key, at, by, voice: Voice::Person, text, thread, reply_to };
        let stored = self.desk.say(saying).await?;
        metrics::counter!("aizuchi_web_messages_total").increment(1);
        Ok(Some(stored.id))
    }

    async fn edit(&self, key: &str, id: String, text: String) -> Result<Option<String>, Why> {
        self.check(&text)?;
        self.change(key, id, Some(text)).await
    }

    async fn change(&self, key: &str, id: String, text: Option<String>) -> Result<Option<String>, Why> {
        self.key(key)?;
        let Entered { room, person, .. } = self.entered()?;
        let (room, by, at) = (room.clone(), person.speaker.id.clone(), self.desk.web.clock.now());
        let look = talk::look_for_message(&room, &id);
        let change = TalkChange::unless_refused(look, move |found| talk::change(found, &id, &by, at, text.clone()));
        let stored = self.desk.change_talk(&room, at, false, change).await?;
        Ok(Some(stored.id))
    }

    async fn react(&self, key: &str, id: String, emoji: String, on: bool) -> Result<Option<String>, Why> {
        self.key(key)?;
        if !is_emoji(&emoji) {
            return Err(Trouble::BadEmoji.into());
        }
        let Entered { room, person, .. } = self.entered()?;
        let (room, by, at) = (room.clone(), person.speaker.clone(), self.desk.web.clock.now());
        let reacting = Reacting { room: room.clone(), id, at, by, voice: Voice::Person, emoji, on };
        let look = talk::look_for_message(&room, &reacting.id);
        let react = TalkChange::unless_refused(look, move |found| talk::react(found, reacting.clone()));
        let stored = self.desk.change_talk(&room, at, false, react).await?;
        Ok(Some(stored.id))
    }

    /// Told to the others now and then, and only of a thread that is there.
    async fn typing(&self, thread: Option<String>) -> Result<(), Why> {
        let (web, Entered { room, person, .. }) = (&self.desk.web, self.entered()?);
        if let Some(id) = &thread {
            let found = web.stores.web.look(talk::look_for_message(room, id)).await?;
            if !talk::is_thread(&found, id) {
                return Err(Refusal::NoSuchThread.into());
            }
        }
        if self.desk.limits.may_type(&person.speaker.id) {
            let name = person.speaker.name.clone();
            web.hub.tell(room, 0, self.number, || FromServer::Typing { name, thread });
        }
        Ok(())
    }

    async fn sample(&self, language: &str) -> Result<(), Why> {
        let Entered { person, .. } = self.entered()?;
        let language = Language::from_id(language).ok_or(Trouble::NoSuchSample)?;
        let Ok(place) = self.desk.samples.clone().try_acquire_owned() else {
            return Err(Trouble::TooManySamples.into());
        };
        let room = sample::open(&self.desk.web, language, &person.speaker.id).await?;
        self.tell(FromServer::Moved { room: room.clone() }).await;
        let (desk, stop) = (self.desk.clone(), self.desk.stop.clone());
        self.desk.tasks.spawn(async move {
            stop.run_until_cancelled(sample::play(&desk, &room, language)).await;
            drop(place);
        });
        Ok(())
    }

    async fn decision(&self, id: String) -> Result<(), Why> {
        let Entered { room, .. } = self.entered()?;
        match self.desk.traces.find(&room_id(room), &MessageId::new(&id)).await? {
            Some(trace) => self.tell(FromServer::Decided { trace: decision_for_page(&trace) }).await,
            None => self.notice(&answers::no_decision(self.language)).await,
        }
        Ok(())
    }

    /// Whoever can open the web room may change its settings.
    async fn run(&self, room: &str, person: &Person, command: &str) {
        if let Parsed::Command(CommandSpec { effect: Effect::Web(effect), .. }, argument) =
            parse(command, CommandForm::Bare)
        {
            return match effect {
                WebEffect::CloseRoom => self.run_close(room, argument).await,
            };
        }
        let caller = Caller { person: person_id(&person.speaker.id), manages: true, language: self.language };
        let place = Place { room: room_id(room), thread: None };
        let answer = self.desk.commands.run(command, &caller, &place).await;
        self.notice(&answer).await;
    }

    pub(super) async fn notice(&self, text: &str) {
        self.tell(FromServer::Notice { text: text.to_owned() }).await;
    }

    /// The page's key as it is stored: nobody's keys meet somebody else's.
    fn key(&self, key: &str) -> Result<String, Why> {
        let fits = (1..=KEY_CHARS_MAX).contains(&key.chars().count());
        let person = &self.entered()?.person.speaker.id;
        if fits { Ok(format!("{person}/{key}")) } else { Err(Trouble::BadKey.into()) }
    }

    fn check(&self, text: &str) -> Result<(), Why> {
        let chars_max = self.desk.web.settings.message_chars_max;
        if looks_empty(text) {
            Err(Trouble::Empty.into())
        } else if text.chars().count() > chars_max as usize {
            Err(Trouble::TooLong { chars_max }.into())
        } else {
            Ok(())
        }
    }
}
