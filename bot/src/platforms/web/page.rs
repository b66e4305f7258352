//! One page in a room: its requests are checked, carried out and answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aizuchi_core::types::{MessageId, Place, Voice};
use axum::extract::ws::Utf8Bytes;
use tokio::sync::{Semaphore, mpsc};
use tracing::warn;

use super::change::TalkChange;
use super::emoji::is_emoji;
use super::entry::WebPerson;
use super::hub::{RoomSubscription, to_json};
use super::limits::ClientAddress;
use super::presence::PresenceGuard;
use super::sample;
use super::server::WebContext;
use super::socket::frame_bytes_max;
use super::talk::{self, ReactRequest, Refusal, SayRequest, person_id, room_id};
use super::wire::{FromPage, FromServer};
use super::words::PageError;
use crate::commands::{CommandEffect, CommandForm, CommandSpec, ParsedCommand, WebEffect, answers, parse};
use crate::language::Language;
use crate::lookalike::looks_empty;
use crate::ports::{Caller, PageNotice};
use crate::replay::decision_for_page;
use crate::runtime::{ShuttingDown, StoringError};
use crate::stores::StoreError;

const KEY_CHARS_MAX: usize = 100;
/// How many commands of a page may wait for memory at the same time.
const BESIDE_MAX: usize = 8;

/// What is sent to the page.
pub enum OutgoingFrame {
    Frame(Utf8Bytes),
    /// From here on the events of this room are sent as well, except those that were sent already.
    Seat {
        subscription: RoomSubscription,
        last_seq_sent: u64,
        number: u64,
    },
}

pub struct Page {
    pub(super) context: Arc<WebContext>,
    pub(super) language: Language,
    /// The address it connects from.
    pub(super) address: ClientAddress,
    pub(super) out: mpsc::Sender<OutgoingFrame>,
    /// Identifies this page while the program runs.
    pub(super) number: u64,
    pub(super) entered: Option<JoinedRoom>,
    /// Commands that wait for memory while the page goes on.
    beside: Arc<Semaphore>,
    /// Why it could not enter at its last attempt, if the reason is temporary.
    turned_away: Option<PageError>,
}

pub(super) struct JoinedRoom {
    pub room: String,
    pub person: WebPerson,
    /// The last change that was sent when it entered.
    pub last_seq_sent: u64,
    pub _present: PresenceGuard,
}

/// Why a request is not carried out.
pub(super) enum PageProblem {
    Trouble(PageError),
    Refusal(Refusal),
}

impl From<PageError> for PageProblem {
    fn from(error: PageError) -> PageProblem {
        PageProblem::Trouble(error)
    }
}

impl From<Refusal> for PageProblem {
    fn from(refusal: Refusal) -> PageProblem {
        PageProblem::Refusal(refusal)
    }
}

impl From<StoreError> for PageProblem {
    fn from(error: StoreError) -> PageProblem {
        warn!(%error, "cannot serve a web room connection");
        PageProblem::Trouble(PageError::Store)
    }
}

impl From<StoringError> for PageProblem {
    fn from(error: StoringError) -> PageProblem {
        match error {
            StoringError::Gone(gone) => gone.into(),
            StoringError::Store(error) => error.into(),
        }
    }
}

impl From<ShuttingDown> for PageProblem {
    fn from(_: ShuttingDown) -> PageProblem {
        PageProblem::Trouble(PageError::Stopping)
    }
}

async fn send(out: &mpsc::Sender<OutgoingFrame>, tell: FromServer) {
    // An error only means that the page is gone.
    let _ = out.send(OutgoingFrame::Frame(to_json(&tell))).await;
}

impl Page {
    pub fn new(
        context: Arc<WebContext>,
        language: Language,
        address: ClientAddress,
        out: mpsc::Sender<OutgoingFrame>,
    ) -> Page {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        Page {
            context,
            language,
            address,
            out,
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
            entered: None,
            beside: Arc::new(Semaphore::new(BESIDE_MAX)),
            turned_away: None,
        }
    }

    pub fn has_entered(&self) -> bool {
        self.entered.is_some()
    }

    /// How many messages a person may send; 0 is no limit.
    pub fn messages_per_second(&self) -> u32 {
        self.context.web.settings.person_messages_per_second
    }

    /// Returns when the page may send again.
    pub async fn until_turn(&self) {
        if let Some(entered) = &self.entered {
            self.context.limits.until_turn(&entered.person.speaker.id).await;
        }
    }

    /// Carries out a frame.
    pub async fn take(&mut self, frame: &str) {
        let asked = serde_json::from_str::<FromPage>(frame).ok().filter(FromPage::fits);
        let Some(asked) = asked else { return self.refuse(None, PageError::NotUnderstood).await };
        match asked {
            FromPage::Enter { room, name, language, person, since } => {
                self.language = language.as_deref().and_then(Language::from_id).unwrap_or(self.language);
                let done = self.enter(room, &name, person, since).await;
                self.turned_away = match &done {
                    Err(PageProblem::Trouble(error)) if error.passes() => Some(*error),
                    Ok(()) | Err(PageProblem::Trouble(_) | PageProblem::Refusal(_)) => None,
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

    pub async fn refuse(&self, key: Option<String>, error: PageError) {
        self.send(self.refusal(key, error.into())).await;
    }

    pub async fn refuse_too_big(&self) {
        let bytes_max = frame_bytes_max(self.context.web.settings.message_chars_max);
        self.refuse(None, PageError::TooBig { bytes_max }).await;
    }

    async fn answer(&self, key: String, done: Result<Option<String>, PageProblem>) {
        match done {
            Ok(id) => self.send(FromServer::Taken { key, id }).await,
            Err(why) => self.send(self.refusal(Some(key), why)).await,
        }
    }

    async fn answer_alone(&self, done: Result<(), PageProblem>) {
        if let Err(why) = done {
            self.send(self.refusal(None, why)).await;
        }
    }

    pub(super) fn refusal(&self, key: Option<String>, why: PageProblem) -> FromServer {
        metrics::counter!("aizuchi_web_refused_total").increment(1);
        let (why, again) = match why {
            PageProblem::Trouble(error) => (error.say(self.language), error.passes()),
            PageProblem::Refusal(refusal) => (refusal.say(self.language), false),
        };
        FromServer::Refused { key, why, again }
    }

    pub(super) async fn send(&self, tell: FromServer) {
        send(&self.out, tell).await;
    }

    pub(super) fn entered(&self) -> Result<&JoinedRoom, PageProblem> {
        self.entered.as_ref().ok_or(PageProblem::Trouble(self.turned_away.unwrap_or(PageError::NotEntered)))
    }

    async fn say(
        &self,
        key: &str,
        text: String,
        thread: Option<String>,
        reply_to: Option<String>,
    ) -> Result<Option<String>, PageProblem> {
        let JoinedRoom { room, person, .. } = self.entered()?;
        let key = self.key(key)?;
        self.check(&text)?;
        if let Some(command) = text.trim().strip_prefix('/') {
            self.run(room, person, command).await;
            return Ok(None);
        }
        let (by, at) = (person.speaker.clone(), self.context.web.clock.now());
        let room = room.clone();
        let request = SayRequest { room, key, at, by, voice: Voice::Person, text, thread, reply_to };
        let stored = self.context.say(request).await?;
        metrics::counter!("aizuchi_web_messages_total").increment(1);
        Ok(Some(stored.id))
    }

    async fn edit(&self, key: &str, id: String, text: String) -> Result<Option<String>, PageProblem> {
        self.check(&text)?;
        self.change(key, id, Some(text)).await
    }

    async fn change(&self, key: &str, id: String, text: Option<String>) -> Result<Option<String>, PageProblem> {
        self.key(key)?;
        let JoinedRoom { room, person, .. } = self.entered()?;
        let (room, by, at) = (room.clone(), person.speaker.id.clone(), self.context.web.clock.now());
        let look = talk::look_for_message(&room, &id);
        let change = TalkChange::unless_refused(look, move |found| talk::change(found, &id, &by, at, text.clone()));
        let stored = self.context.change_talk(&room, at, false, change).await?;
        Ok(Some(stored.id))
    }

    async fn react(&self, key: &str, id: String, emoji: String, on: bool) -> Result<Option<String>, PageProblem> {
        self.key(key)?;
        if !is_emoji(&emoji) {
            return Err(PageError::BadEmoji.into());
        }
        let JoinedRoom { room, person, .. } = self.entered()?;
        let (room, by, at) = (room.clone(), person.speaker.clone(), self.context.web.clock.now());
        let reacting = ReactRequest { room: room.clone(), id, at, by, voice: Voice::Person, emoji, on };
        let look = talk::look_for_message(&room, &reacting.id);
        let react = TalkChange::unless_refused(look, move |found| talk::react(found, reacting.clone()));
        let stored = self.context.change_talk(&room, at, false, react).await?;
        Ok(Some(stored.id))
    }

    /// Passed on to the others at a limited rate, and only for a thread that exists.
    async fn typing(&self, thread: Option<String>) -> Result<(), PageProblem> {
        let (web, JoinedRoom { room, person, .. }) = (&self.context.web, self.entered()?);
        if let Some(id) = &thread {
            let found = web.stores.web.query(talk::look_for_message(room, id)).await?;
            if !talk::is_thread(&found, id) {
                return Err(Refusal::NoSuchThread.into());
            }
        }
        if self.context.limits.may_type(&person.speaker.id) {
            let name = person.speaker.name.clone();
            web.show_typing(room, self.number, name.clone(), thread.clone());
            web.tell_others(PageNotice::Typing { room: room.clone(), name, thread });
        }
        Ok(())
    }

    async fn sample(&self, language: &str) -> Result<(), PageProblem> {
        let JoinedRoom { person, .. } = self.entered()?;
        let language = Language::from_id(language).ok_or(PageError::NoSuchSample)?;
        let Ok(place) = self.context.samples.clone().try_acquire_owned() else {
            return Err(PageError::TooManySamples.into());
        };
        let room = sample::open(&self.context.web, language, &person.speaker.id).await?;
        self.send(FromServer::Moved { room: room.clone() }).await;
        let (context, stop) = (self.context.clone(), self.context.stop.clone());
        self.context.tasks.spawn(async move {
            stop.run_until_cancelled(sample::play(&context, &room, language)).await;
            drop(place);
        });
        Ok(())
    }

    async fn decision(&self, id: String) -> Result<(), PageProblem> {
        let JoinedRoom { room, .. } = self.entered()?;
        match self.context.traces.find(&room_id(room), &MessageId::new(&id)).await? {
            Some(trace) => self.send(FromServer::Decided { trace: decision_for_page(&trace) }).await,
            None => self.notice(&answers::no_decision(self.language)).await,
        }
        Ok(())
    }

    /// Everybody who can open the web room may change its settings.
    async fn run(&self, room: &str, person: &WebPerson, command: &str) {
        let caller = Caller { person: person_id(&person.speaker.id), manages: true, language: self.language };
        let place = Place { room: room_id(room), thread: None };
        if let ParsedCommand::Command(CommandSpec { effect, .. }, argument) = parse(command, CommandForm::Bare) {
            match effect {
                CommandEffect::Web(WebEffect::CloseRoom) => return self.run_close(room, argument).await,
                CommandEffect::Remember(_) => return self.run_beside(command.to_owned(), caller, place).await,
                CommandEffect::Engine { .. } | CommandEffect::Run(_) => (),
            }
        }
        let answer = self.context.commands.run(command, &caller, &place).await;
        self.notice(&answer).await;
    }

    /// What the page sends next does not wait for a memory that does not answer.
    async fn run_beside(&self, command: String, caller: Caller, place: Place) {
        let running = self.beside.clone().acquire_owned().await.expect("it is never closed");
        let (context, out) = (self.context.clone(), self.out.clone());
        self.context.tasks.spawn(async move {
            let answer = context.commands.run(&command, &caller, &place);
            if let Some(text) = context.stop.run_until_cancelled(answer).await {
                send(&out, FromServer::Notice { text }).await;
            }
            drop(running);
        });
    }

    pub(super) async fn notice(&self, text: &str) {
        self.send(FromServer::Notice { text: text.to_owned() }).await;
    }

    /// The page's key as it is stored: keys of different people cannot collide.
    fn key(&self, key: &str) -> Result<String, PageProblem> {
        let fits = (1..=KEY_CHARS_MAX).contains(&key.chars().count());
        let person = &self.entered()?.person.speaker.id;
        if fits { Ok(format!("{person}/{key}")) } else { Err(PageError::BadKey.into()) }
    }

    fn check(&self, text: &str) -> Result<(), PageProblem> {
        let chars_max = self.context.web.settings.message_chars_max;
        if looks_empty(text) {
            Err(PageError::Empty.into())
        } else if text.chars().count() > chars_max as usize {
            Err(PageError::TooLong { chars_max }.into())
        } else {
            Ok(())
        }
    }
}
