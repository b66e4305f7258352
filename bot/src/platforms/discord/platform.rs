//! Discord as a platform: posts, reactions and typing over REST, with the gateway beside it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use aizuchi_core::settings::Settings;
use aizuchi_core::types::{ClockShift, MessageId, Place};
use anyhow::ensure;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::errors::{DiscordAction, post_error};
use super::gateway;
use super::marks::MarkTracker;
use super::places::{Places, channel_of};
use super::readable::OwnNames;
use super::rest::{Rest, RestError};
use super::settings::DiscordSettings;
use crate::platforms::{is_same_token, url_component};
use crate::ports::{
    BoxFuture, Commands, Platform, PlatformStores, PostError, PostLedger, PostRequest, RecentMessages, ShardClaims,
};
use crate::runtime::{Clock, EngineHandle};

/// The prefix of its room ids, and its key in the stores.
pub(super) const PLATFORM: &str = "discord";

/// The state of the gateway connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GatewayState {
    Connecting,
    Connected,
    /// Permanently; the text says what to do.
    Stopped(String),
}

pub struct Discord {
    pub(super) settings: DiscordSettings,
    /// Notified when another one holds.
    pub(super) token: watch::Sender<SecretString>,
    pub(super) recent: Arc<dyn RecentMessages>,
    pub(super) clock: Clock,
    pub(super) rest: Rest,
    pub(super) places: Mutex<Places>,
    pub(super) posts: Arc<dyn PostLedger>,
    pub(super) marks: MarkTracker,
    pub(super) own_names: OwnNames,
    pub(super) state: watch::Sender<GatewayState>,
    /// Where its connections are shared with other processes.
    pub(super) claims: OnceLock<Arc<dyn ShardClaims>>,
    /// The bot's own user id, 0 until the gateway has sent it.
    me: AtomicU64,
}

impl Discord {
    /// Must be called inside a tokio runtime.
    pub fn new(
        settings: DiscordSettings,
        engine: &Settings,
        token: SecretString,
        stores: PlatformStores,
        clock: Clock,
    ) -> Arc<Discord> {
        let own = &engine.bot;
        let own_names = OwnNames::new([own.name.as_str()].into_iter().chain(own.aliases.iter().map(String::as_str)));
        let rest = Rest::new(&settings.api_url, &token);
        let PlatformStores { posts, marks, recent, .. } = stores;
        let marks = MarkTracker::new(marks);
        let state = watch::Sender::new(GatewayState::Connecting);
        let token = watch::Sender::new(token);
        let (places, claims, me) = (Mutex::default(), OnceLock::new(), AtomicU64::new(0));
        Arc::new(Discord { settings, token, recent, clock, rest, places, posts, marks, own_names, state, claims, me })
    }

    /// Listens until shutdown, or until Discord refuses it permanently: `state` then says why.
    pub fn listen(
        self: &Arc<Self>,
        engine: EngineHandle,
        commands: Arc<dyn Commands>,
        stop: CancellationToken,
    ) -> anyhow::Result<JoinHandle<()>> {
        self.state.send_replace(GatewayState::Connecting);
        if let Err(error) = check_token(&self.token.borrow()) {
            self.state.send_replace(GatewayState::Stopped(error.to_string()));
            return Err(error);
        }
        Ok(tokio::spawn(gateway::attend_all(self.clone(), engine, commands, stop)))
    }

    /// From now on this token holds. Returns whether it is another one. A bot that Discord had sent away has to be listened to again.
    pub fn set_token(&self, token: SecretString) -> bool {
        if is_same_token(&self.token.borrow(), &token) {
            return false;
        }
        self.rest.set_token(&token);
        self.token.send_replace(token);
        true
    }

    pub fn state(&self) -> watch::Receiver<GatewayState> {
        self.state.subscribe()
    }

    pub(super) fn me(&self) -> Option<u64> {
        Some(self.me.load(Ordering::Relaxed)).filter(|me| *me != 0)
    }

    pub(super) fn set_me(&self, me: u64) {
        self.me.store(me, Ordering::Relaxed);
    }

    pub(super) fn places<T>(&self, look: impl FnOnce(&mut Places) -> T) -> T {
        look(&mut self.places.lock().expect("places are never held over a panic"))
    }
}

impl Platform for Discord {
    fn name(&self) -> &'static str {
        PLATFORM
    }

    fn clock_ahead(&self) -> ClockShift {
        self.rest.their_clock.ahead()
    }

    fn post<'a>(&'a self, posting: PostRequest<'a>) -> BoxFuture<'a, Result<MessageId, PostError>> {
        Box::pin(self.post_once(posting))
    }

    fn react<'a>(
        &'a self,
        place: &'a Place,
        to: &'a MessageId,
        emoji: &'a str,
    ) -> BoxFuture<'a, Result<(), PostError>> {
        Box::pin(async move {
            let elsewhere = || PostError::GiveUp { what: format!("{place} is not a Discord place") };
            let channel = channel_of(place).ok_or_else(elsewhere)?;
            let to: u64 = to.as_str().parse().map_err(|_| elsewhere())?;
            let path = format!("channels/{channel}/messages/{to}/reactions/{}/@me", url_component(emoji));
            let done = self.rest.put(path, None).await;
            done.map(|_| ()).map_err(|error| post_error(DiscordAction::React, &error))
        })
    }

    fn withdraw<'a>(&'a self, place: &'a Place, post: &'a MessageId) -> BoxFuture<'a, Result<(), PostError>> {
        Box::pin(async move {
            let elsewhere = || PostError::GiveUp { what: format!("{place} is not a Discord place") };
            let channel = channel_of(place).ok_or_else(elsewhere)?;
            let post: u64 = post.as_str().parse().map_err(|_| elsewhere())?;
            match self.rest.delete(format!("channels/{channel}/messages/{post}")).await {
                Ok(_) | Err(RestError::Refused { status: 404, .. }) => Ok(()),
                Err(error) => Err(post_error(DiscordAction::Delete, &error)),
            }
        })
    }

    fn stopped(&self) -> Option<String> {
        match &*self.state.borrow() {
            GatewayState::Stopped(why) => Some(why.clone()),
            GatewayState::Connecting | GatewayState::Connected => None,
        }
    }

    fn typing<'a>(&'a self, place: &'a Place) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let Some(channel) = channel_of(place) else { return };
            if let Err(error) = self.rest.post(format!("channels/{channel}/typing"), None).await {
                tracing::debug!(%place, %error, "cannot send the typing indicator");
            }
        })
    }
}

/// Whether it has the form of a token.
pub fn check_token(token: &SecretString) -> anyhow::Result<()> {
    let token = token.expose_secret();
    let sane = !token.is_empty() && token.chars().all(|c| c.is_ascii_graphic());
    ensure!(sane, "the Discord token contains invalid characters: copy it again");
    Ok(())
}
