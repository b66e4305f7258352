//! Who answers whom: finds the conversation of a message, and with it everything that is kept per conversation.

use super::turn::Turn;
use crate::conversations::{Conversations, Utterance};
use crate::likelihood::{Values, estimate_join};
use crate::trace::Parts;
use crate::types::{BOT_KEY, ConversationId, Message, MessageId, PersonId, Time, Voice, stable_hash};

/// What is determined about a message before anything is decided.
pub(super) struct Placement {
    /// Its own id if it starts a conversation.
    pub reply_to: MessageId,
    /// Nobody is expected to join a bot.
    pub p_join: Option<f32>,
    /// Absent if the bot takes no part in the conversation.
    pub p_turn: Option<f32>,
    pub conversation: ConversationId,
    pub features: Option<Values>,
    /// The effect of each feature, stored because the model may be another one later.
    pub parts: Parts,
}

/// Finds the conversation of a message: from now on the turn is about that one.
pub(super) fn find_conversation(turn: &mut Turn<'_>, message: &Message) -> Option<Placement> {
    if !turn.policy.settings.listen.conversations {
        return None;
    }
    let reply = message.reply.as_ref();
    let key = |person: &PersonId| stable_hash(0, person.as_str());
    let to_me = message.mentions_me.then(|| stable_hash(0, BOT_KEY));
    let mentions: Vec<u64> = message.mentions.iter().map(key).chain(to_me).collect();
    let reply_author =
        reply.and_then(|reply| reply.to_person.as_ref().map(key).or(reply.to_me.then(|| stable_hash(0, BOT_KEY))));
    let heard = Utterance {
        id: &message.id,
        at: message.at,
        author: key(&message.author.id),
        name: &message.author.name,
        bot: message.author.voice != Voice::Person,
        text: &message.text,
        reply: reply.and_then(|reply| reply.to.as_ref()),
        reply_author,
        mentions: &mentions,
    };
    let models = &turn.policy.models;
    let guess =
        estimate_join(conversations(turn), &heard, &models.link, &models.join, &models.turn, stable_hash(0, BOT_KEY));
    turn.conversation = Some(guess.conversation);
    let joined = (!heard.bot).then_some((guess.p_join, guess.features));
    let (p_join, features) = joined.unzip();
    let (p_turn, conversation) = (guess.p_turn, guess.conversation);
    let parts = features.filter(|_| models.file.is_some()).map(|values| Parts::of(&values, &models.join));
    let parts = parts.unwrap_or_default();
    Some(Placement { reply_to: guess.reply_to, p_join, p_turn, conversation, features, parts })
}

fn conversations<'a>(turn: &'a mut Turn<'_>) -> &'a mut Conversations {
    turn.place_mut().conversations.get_or_insert_default()
}

/// The bot's own words belong to the conversation they answer.
pub(super) fn hear_own_words(
    turn: &mut Turn<'_>,
    (at, name): (Time, Option<&str>),
    id: &MessageId,
    text: &str,
    answering: Option<&MessageId>,
) {
    let settings = &turn.policy.settings;
    if !settings.listen.conversations {
        return;
    }
    let heard = Utterance {
        id,
        at,
        author: stable_hash(0, BOT_KEY),
        name: name.unwrap_or(&settings.bot.name),
        bot: true,
        text,
        reply: answering,
        reply_author: None,
        mentions: &[],
    };
    let models = &turn.policy.models;
    turn.conversation = Some(conversations(turn).hear(&heard, &models.link));
}

pub(super) fn change_conversations(turn: &mut Turn<'_>, id: &MessageId, text: Option<&str>) {
    let models = &turn.policy.models;
    let Some(conversations) = &mut turn.place_mut().conversations else { return };
    match text {
        Some(text) => conversations.edit(id, text, &models.link),
        None => conversations.delete(id),
    }
}
