//! The web rooms as a platform: whatever is stored here reaches the pages and the engine by itself.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use aizuchi_core::memory::ForgetRequest;
use aizuchi_core::policy::BotNames;
use aizuchi_core::settings::Settings;
use aizuchi_core::types::{MessageId, Place, Voice};

use super::access::CurrentAccess;
use super::backlog::Backlog;
use super::change::TalkChange;
use super::forget;
use super::hub::Hub;
use super::mentions::{mentions, same_name};
use super::presence::Presence;
use super::rooms;
use super::settings::WebSettings;
use super::talk::{self, ReactRequest, Refusal, SayRequest, StoredChange};
use super::wire::BotInfo;
use crate::ports::{
    BoxFuture, OwnTalk, PageNotice, PageNotices, Platform, PlatformStores, PostError, PostRequest, Speaker, WebQuery,
};
use crate::runtime::Clock;
use crate::stores::StoreError;

/// The beginning of the names of its rooms, and what its entries in the stores are under.
pub(super) const PLATFORM: &str = "web";
/// What the pages know the bot by. Nobody else's id looks like this.
const BOT_ID: &str = "bot";
/// How long the engine may take to hear what was said before it is forgotten.
const HEARD_WITHIN: Duration = Duration::from_secs(5);

/// The platform half: it can be posted to before anybody listens or is listened to.
pub struct Web {
    pub(super) settings: WebSettings,
    me: RwLock<Arc<WebIdentity>>,
    pub(super) stores: PlatformStores,
    pub(super) clock: Clock,
    pub(super) hub: Hub,
    pub(super) backlog: Backlog,
    pub(super) presence: Arc<Presence>,
    /// Set where other processes have pages too.
    pub(super) others: OnceLock<Arc<dyn PageNotices>>,
    /// Set where it is open.
    pub(super) access: OnceLock<CurrentAccess>,
}

/// What people know it by. It may change while they talk.
struct WebIdentity {
    bot: BotInfo,
    /// What it can be mentioned by.
    names: Vec<String>,
    /// The same, as they are looked for in a text.
    finder: BotNames,
}

impl WebIdentity {
    fn new(settings: &Settings, bot: BotInfo) -> Arc<WebIdentity> {
        let names = std::iter::once(&settings.bot.name).chain(&settings.bot.aliases).cloned().collect();
        Arc::new(WebIdentity { bot, names, finder: BotNames::new(settings) })
    }

    fn is_addressed_in(&self, text: &str) -> bool {
        self.names.iter().any(|name| mentions(text, name)) || self.finder.are_called_in(text)
    }
}

impl Web {
    /// `bot` is how it introduces itself to the pages.
    pub fn new(
        settings: WebSettings,
        engine: &Settings,
        bot: BotInfo,
        stores: PlatformStores,
        clock: Clock,
    ) -> Arc<Web> {
        let (me, hub, backlog) = (RwLock::new(WebIdentity::new(engine, bot)), Hub::default(), Backlog::new());
        let (presence, others, access) = (Arc::default(), OnceLock::new(), OnceLock::new());
        Arc::new(Web { settings, me, stores, clock, hub, backlog, presence, others, access })
    }

    /// From now on it goes by another name, or answers with another model.
    pub fn introduce(&self, settings: &Settings, bot: BotInfo) {
        *self.me.write().unwrap_or_else(PoisonError::into_inner) = WebIdentity::new(settings, bot);
    }

    fn itself(&self) -> Arc<WebIdentity> {
        self.me.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn bot(&self) -> BotInfo {
        self.itself().bot.clone()
    }

    /// Whether nobody else may be called so.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.itself().names.iter().any(|own| same_name(own, name))
    }

    /// What it can be mentioned by.
    pub(super) fn names(&self) -> Vec<String> {
        self.itself().names.clone()
    }

    /// Whether a text addresses it, as far as the text alone can tell.
    pub(super) fn is_addressed_in(&self, text: &str) -> bool {
        self.itself().is_addressed_in(text)
    }

    /// Changes the talk by something of its own, which the engine knows already, and has the pages told.
    async fn store_own(&self, change: TalkChange<Result<StoredChange, Refusal>>) -> Result<StoredChange, PostError> {
        let done = change.make(&*self.stores.web).await.map_err(try_later)?;
        self.hub.wake();
        done.map_err(give_up)
    }

    /// The rooms that are always there.
    pub(super) async fn open_rooms(&self) -> Result<(), StoreError> {
        rooms::open(self.settings.rooms.clone(), self.clock.now()).make(&*self.stores.web).await
    }

    /// The number of the latest change of the talk.
    pub(super) async fn last_seq(&self) -> Result<u64, StoreError> {
        Ok(self.stores.web.query(WebQuery::default()).await?.last_seq)
    }

    /// Where somebody comes in who names no room.
    pub(super) fn first_room(&self) -> &str {
        self.settings.rooms.first().expect("the settings have a room")
    }

    /// Rooms as pages list them: those of the settings first, as they stand there.
    pub(super) fn in_order(&self, mut rooms: Vec<String>) -> Vec<String> {
        let rank = |room: &String| self.settings.rooms.iter().position(|own| own == room).unwrap_or(usize::MAX);
        rooms.sort_by_key(rank);
        rooms
    }

    fn me(&self) -> Speaker {
        Speaker { id: BOT_ID.into(), name: self.bot().name }
    }
}

impl Platform for Web {
    fn name(&self) -> &'static str {
        PLATFORM
    }

    fn post<'a>(&'a self, posting: PostRequest<'a>) -> BoxFuture<'a, Result<MessageId, PostError>> {
        Box::pin(async move {
            let request = SayRequest {
                room: room_of(posting.place)?.to_owned(),
                key: posting.key.to_owned(),
                at: self.clock.now(),
                by: self.me(),
                voice: Voice::Me,
                text: posting.text.to_owned(),
                thread: posting.place.thread.as_ref().map(ToString::to_string),
                reply_to: posting.answering.map(ToString::to_string),
            };
            let look = talk::look_for_saying(&request);
            let say = TalkChange::unless_refused(look, move |found| talk::say(found, request.clone(), &[], &[]));
            let stored = self.store_own(say).await?;
            metrics::counter!("aizuchi_web_posts_total").increment(1);
            Ok(MessageId::new(stored.id))
        })
    }

    fn react<'a>(
        &'a self,
        place: &'a Place,
        to: &'a MessageId,
        emoji: &'a str,
    ) -> BoxFuture<'a, Result<(), PostError>> {
        Box::pin(async move {
            let reacting = ReactRequest {
                room: room_of(place)?.to_owned(),
                id: to.to_string(),
                at: self.clock.now(),
                by: self.me(),
                voice: Voice::Me,
                emoji: emoji.to_owned(),
                on: true,
            };
            let look = talk::look_for_message(&reacting.room, &reacting.id);
            let react = TalkChange::unless_refused(look, move |found| talk::react(found, reacting.clone()));
            self.store_own(react).await.map(drop)
        })
    }

    fn withdraw<'a>(&'a self, place: &'a Place, post: &'a MessageId) -> BoxFuture<'a, Result<(), PostError>> {
        Box::pin(async move {
            let (room, id, at) = (room_of(place)?.to_owned(), post.to_string(), self.clock.now());
            let change = TalkChange::unless_refused(talk::look_for_message(&room, &id), move |found| {
                talk::change(found, &id, BOT_ID, at, None)
            });
            self.store_own(change).await.map(drop)
        })
    }

    fn typing<'a>(&'a self, place: &'a Place) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let thread = place.thread.as_ref().map(ToString::to_string);
            let Some(room) = talk::room_name(&place.room) else { return };
            let (room, name) = (room.to_owned(), self.bot().name);
            self.show_typing(&room, 0, name.clone(), thread.clone());
            self.tell_others(PageNotice::Typing { room, name, thread });
        })
    }

    fn dates_by_our_clock(&self) -> bool {
        true
    }

    fn own_talk(&self) -> Option<&dyn OwnTalk> {
        Some(&*self.stores.own_talk)
    }

    fn forget<'a>(&'a self, request: &'a Arc<ForgetRequest>) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            // What was left unheard is heard first, so that it is not heard after it was forgotten.
            let _ = tokio::time::timeout(HEARD_WITHIN, self.backlog.until_heard()).await;
            forget::forget(&self.stores, request).await?;
            self.hub.wake();
            Ok(())
        })
    }
}

fn room_of(place: &Place) -> Result<&str, PostError> {
    let elsewhere = || PostError::GiveUp { what: format!("{} is not a web room", place.room) };
    talk::room_name(&place.room).ok_or_else(elsewhere)
}

fn try_later(error: StoreError) -> PostError {
    PostError::TryLater { after: None, what: error.to_string() }
}

fn give_up(refusal: Refusal) -> PostError {
    PostError::GiveUp { what: refusal.say(crate::language::Language::ENGLISH) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_addressed_by_the_names_that_the_engine_goes_by() {
        let bot = BotInfo {
            name: "aizuchi".into(),
            model: String::new(),
            judge: String::new(),
            offline: true,
            local: None,
            preset: String::new(),
            presets: Default::default(),
        };
        let policies = aizuchi_core::settings::Layers::default().resolve(&|_| None).expect("the defaults are fine");
        let me = WebIdentity::new(&policies.general().settings, bot);
        for text in ["Aizuchi, are you there?", "@AIZUCHI hm", "what does aizuchi think?"] {
            assert!(me.is_addressed_in(text), "{text}");
        }
        for text in ["hello", "kaizuchi is a word", "it is in aizuchi.toml"] {
            assert!(!me.is_addressed_in(text), "{text}");
        }
    }
}
