//! A message is placed in its conversation, and the likelihood that somebody joins there is guessed.

use super::features::{Values, values};
use super::models::JoinModel;
use crate::conversations::{Conversations, LinkModel, Utterance, WeighedCandidates};
use crate::trees::probability;
use crate::types::{ConversationId, MessageId};

/// What was learnt makes of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinEstimate {
    /// The message it answers; its own id where it starts a conversation.
    pub reply_to: MessageId,
    pub conversation: ConversationId,
    /// How likely somebody who is not in the conversation answers it, 0–1.
    pub p_join: f32,
    /// What `p_join` was made from; [`contributions`](super::contributions) tells what each of them did.
    pub features: Values,
}

/// Takes in a message.
pub fn estimate_join(
    conversations: &mut Conversations,
    heard: &Utterance<'_>,
    link: &LinkModel,
    join: &JoinModel,
) -> JoinEstimate {
    hear_weighed(conversations, heard, link, join).0
}

/// The same, with the alternatives that were weighed: what training looks at.
pub fn hear_weighed(
    conversations: &mut Conversations,
    heard: &Utterance<'_>,
    link: &LinkModel,
    join: &JoinModel,
) -> (JoinEstimate, WeighedCandidates) {
    let placed = conversations.place(heard, link);
    let features = values(conversations, &placed);
    let p_join = probability(join.trees.calibrated(join.trees.sum(&features)));
    let guess = JoinEstimate { reply_to: placed.reply_to.clone(), conversation: placed.conversation, p_join, features };
    let weighed = conversations.keep(heard, placed);
    (guess, weighed)
}

/// A likelihood with what is the bot's business counted in, by how many times likelier that makes it.
pub(crate) fn worth(p_join: f32, odds: f32) -> f32 {
    odds * p_join / (1.0 + (odds - 1.0) * p_join)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likelihood::contributions;
    use crate::types::{Time, stable_hash};

    fn told(talk: &[(u64, &str, &str)]) -> Vec<JoinEstimate> {
        let mut conversations = Conversations::default();
        let tell = |(seconds, name, text): &(u64, &str, &str)| {
            let id = MessageId::new(seconds.to_string());
            let heard = Utterance {
                id: &id,
                at: Time(1_700_000_000_000 + 1000 * seconds),
                author: stable_hash(0, name),
                name,
                bot: false,
                text,
                reply: None,
                reply_author: None,
                mentions: &[],
            };
            estimate_join(&mut conversations, &heard, LinkModel::built_in(), JoinModel::built_in())
        };
        talk.iter().map(tell).collect()
    }

    #[test]
    fn an_open_question_draws_more_than_a_word_of_assent() {
        for talk in [
            [(0, "a", "hello"), (60, "bob", "does anyone know how to mount an iso image?"), (70, "carol", "bob: ok")],
            [
                (0, "a", "こんにちは"),
                (60, "bob", "誰かisoファイルのマウントの方法を知りませんか？"),
                (70, "carol", "bobさん、なるほど"),
            ],
        ] {
            let guesses = told(&talk);
            assert!(guesses[1].p_join > 2.0 * guesses[2].p_join, "{} {}", guesses[1].p_join, guesses[2].p_join);
            let why = contributions(&guesses[1].features, JoinModel::built_in());
            assert!(why[0].log_odds.abs() > 0.05 && why.is_sorted_by(|a, b| a.log_odds.abs() >= b.log_odds.abs()));
        }
    }
}
