//! Slack as a platform: it posts, reacts, and can be listened to.

use std::sync::{Arc, PoisonError, RwLock};

use aizuchi_core::memory::ForgetRequest;
use aizuchi_core::settings::Settings;
use aizuchi_core::types::{ClockShift, MessageId, Place};
use secrecy::SecretString;
use tokio::sync::OnceCell;

use super::api::Api;
use super::errors::ApiError;
use super::listen::ConnectionPace;
use super::names::Names;
use super::settings::SlackSettings;
use super::translate::SlackIdentity;
use super::{emoji, inbox, posts};
use crate::ports::{BoxFuture, Platform, PlatformStores, PostError, PostRequest};
use crate::runtime::Clock;
use crate::stores::StoreError;

/// The prefix of its room ids, and its key in the stores.
pub(super) const PLATFORM: &str = "slack";

/// The platform's sending side: it can post before anybody listens.
pub struct Slack {
    pub(super) settings: SlackSettings,
    /// The bot's name.
    pub(super) name: String,
    pub(super) api: Arc<Api>,
    pub(super) names: Names,
    pub(super) stores: PlatformStores,
    pub(super) clock: Clock,
    pub(super) pace: ConnectionPace,
    me: RwLock<Arc<OnceCell<Arc<SlackIdentity>>>>,
}

impl Slack {
    pub fn new(
        settings: SlackSettings,
        engine: &Settings,
        bot_token: SecretString,
        app_token: SecretString,
        stores: PlatformStores,
        clock: Clock,
    ) -> anyhow::Result<Arc<Slack>> {
        Slack::at_pace(settings, engine, bot_token, app_token, stores, clock, ConnectionPace::default())
    }

    /// With other timeouts than usual: for tests.
    pub fn at_pace(
        settings: SlackSettings,
        engine: &Settings,
        bot_token: SecretString,
        app_token: SecretString,
        stores: PlatformStores,
        clock: Clock,
        pace: ConnectionPace,
    ) -> anyhow::Result<Arc<Slack>> {
        let api = Arc::new(Api::new(&settings.api_url, bot_token, app_token)?);
        let names = Names::new(api.clone());
        let name = engine.bot.name.clone();
        Ok(Arc::new(Slack { settings, name, api, names, stores, clock, pace, me: RwLock::default() }))
    }

    /// From now on these tokens hold, and a connection with another one is replaced. Returns whether they are other ones. A bot that
    /// Slack had sent away has to be listened to again.
    pub fn set_tokens(&self, bot: SecretString, app: SecretString) -> bool {
        let are_others = self.api.set_tokens(bot, app);
        if are_others {
            *self.me.write().unwrap_or_else(PoisonError::into_inner) = Arc::default();
        }
        are_others
    }

    /// The bot's own identity, fetched once for each token.
    pub(super) async fn me(&self) -> Result<Arc<SlackIdentity>, ApiError> {
        let me = self.me.read().unwrap_or_else(PoisonError::into_inner).clone();
        me.get_or_try_init(async || self.introduce().await.map(Arc::new)).await.cloned()
    }
}

impl Platform for Slack {
    fn name(&self) -> &'static str {
        PLATFORM
    }

    fn clock_ahead(&self) -> ClockShift {
        self.api.their_clock.ahead()
    }

    fn post<'a>(&'a self, posting: PostRequest<'a>) -> BoxFuture<'a, Result<MessageId, PostError>> {
        Box::pin(async move {
            let channel = channel_of(posting.place)?;
            let posted = posts::post(self, channel, &posting).await?;
            metrics::counter!("aizuchi_slack_posts_total").increment(1);
            Ok(MessageId::new(posted))
        })
    }

    fn react<'a>(
        &'a self,
        place: &'a Place,
        to: &'a MessageId,
        emoji: &'a str,
    ) -> BoxFuture<'a, Result<(), PostError>> {
        Box::pin(async move {
            let channel = channel_of(place)?;
            let unnamed = || PostError::GiveUp { what: format!("no Slack name for {emoji} is known") };
            let name = emoji::name(emoji).ok_or_else(unnamed)?;
            let form = [("channel", channel), ("timestamp", to.as_str()), ("name", name)];
            match self.api.call("reactions.add", &form).await {
                Ok(_) => Ok(()),
                Err(ApiError::Refused { error, .. }) if error == "already_reacted" => Ok(()),
                Err(error) => Err(error.into()),
            }
        })
    }

    fn withdraw<'a>(&'a self, place: &'a Place, post: &'a MessageId) -> BoxFuture<'a, Result<(), PostError>> {
        Box::pin(async move {
            let form = [("channel", channel_of(place)?), ("ts", post.as_str())];
            match self.api.call("chat.delete", &form).await {
                Ok(_) => Ok(()),
                Err(ApiError::Refused { error, .. }) if error == "message_not_found" => Ok(()),
                Err(error) => Err(error.into()),
            }
        })
    }

    fn stopped(&self) -> Option<String> {
        self.api.stopped().map(|why| format!("Slack: {why}"))
    }

    fn forget<'a>(&'a self, request: &'a Arc<ForgetRequest>) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(forget(&self.stores, request))
    }

    /// Slack has no typing indicator for bots.
    fn typing<'a>(&'a self, _: &'a Place) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }
}

pub async fn forget(stores: &PlatformStores, request: &ForgetRequest) -> Result<(), StoreError> {
    // `slack:team/user`.
    let ids = request.ids.iter().filter_map(|id| id.as_str().strip_prefix("slack:")?.split_once('/'));
    let users: Vec<&str> = ids.map(|(_, user)| user).collect();
    inbox::forget(&*stores.inbox, &users).await
}

/// `slack:team/channel`.
fn channel_of(place: &Place) -> Result<&str, PostError> {
    let named = place.room.as_str().strip_prefix("slack:").and_then(|name| name.split_once('/'));
    let elsewhere = || PostError::GiveUp { what: format!("{} is not a Slack channel", place.room) };
    named.map(|(_, channel)| channel).ok_or_else(elsewhere)
}
