//! Who answers whom: a message finds its conversation, and with it everything that is kept for each of them.

use super::turn::Turn;
use crate::conversations::{Conversations, LinkModel, Utterance};
use crate::likelihood::{JoinModel, Values, estimate_join};
use crate::types::{Message, MessageId, PersonId, Time, Voice, stable_hash};

/// By what it knows itself among the people of a place.
const ME: &str = "@me";

/// What is made of a message before anything is decided.
pub(super) struct Placement {
    /// Its own id where it starts a conversation.
    pub reply_to: MessageId,
    /// Nobody is expected to join a bot.
    pub p_join: Option<f32>,
    pub features: Option<Values>,
}

/// Finds the conversation of a message: the turn is about that one from now on.
pub(super) fn find_conversation(turn: &mut Turn<'_>, message: &Message) -> Option<Placement> {
    if !turn.policy.settings.listen.strands {
        return None;
    }
    let reply = message.reply.as_ref();
    let key = |person: &PersonId| stable_hash(0, person.as_str());
    let to_me = message.mentions_me.then(|| stable_hash(0, ME));
    let mentions: Vec<u64> = message.mentions.iter().map(key).chain(to_me).collect();
    let reply_author =
        reply.and_then(|reply| reply.to_person.as_ref().map(key).or(reply.to_me.then(|| stable_hash(0, ME))));
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
    let guess = estimate_join(conversations(turn), &heard, LinkModel::built_in(), JoinModel::built_in());
    turn.conversation = Some(guess.conversation);
    let joined = (!heard.bot).then_some((guess.p_join, guess.features));
    let (p_join, features) = joined.unzip();
    Some(Placement { reply_to: guess.reply_to, p_join, features })
}

fn conversations<'a>(turn: &'a mut Turn<'_>) -> &'a mut Conversations {
    turn.place_mut().conversations.get_or_insert_default()
}

/// Its own words belong to the conversation they answer.
pub(super) fn hear_own_words(turn: &mut Turn<'_>, at: Time, id: &MessageId, text: &str, answering: Option<&MessageId>) {
    let settings = &turn.policy.settings;
    if !settings.listen.strands {
        return;
    }
    let heard = Utterance {
        id,
        at,
        author: stable_hash(0, ME),
        name: &settings.bot.name,
        bot: true,
        text,
        reply: answering,
        reply_author: None,
        mentions: &[],
    };
    turn.conversation = Some(conversations(turn).hear(&heard, LinkModel::built_in()));
}

pub(super) fn change_conversations(turn: &mut Turn<'_>, id: &MessageId, text: Option<&str>) {
    let Some(conversations) = &mut turn.place_mut().conversations else { return };
    match text {
        Some(text) => conversations.edit(id, text, LinkModel::built_in()),
        None => conversations.delete(id),
    }
}
