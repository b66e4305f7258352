//! Assigns a message to its conversation, and estimates how likely somebody joins there.

use super::features::{Values, values};
use super::models::{JoinModel, TurnModel};
use super::turn::{TurnValues, turn_values};
use crate::conversations::{Conversations, LinkModel, Placed, Utterance, WeighedCandidates};
use crate::trees::probability;
use crate::types::{ConversationId, MessageId};

/// The estimates of the learnt models for a message.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinEstimate {
    /// The message it answers; its own id if it starts a conversation.
    pub reply_to: MessageId,
    pub conversation: ConversationId,
    /// How likely somebody who is not in the conversation answers it, 0–1.
    pub p_join: f32,
    /// How likely this participant is the next to speak in the conversation, 0–1; absent if they take no part.
    pub p_turn: Option<f32>,
    /// The features of `p_join`; [`contributions`](super::contributions) says what each of them changed.
    pub features: Values,
}

/// Processes a message; estimates also whether it is the turn of `me`, the hash of a participant's id.
pub fn estimate_join(
    conversations: &mut Conversations,
    heard: &Utterance<'_>,
    link: &LinkModel,
    join: &JoinModel,
    turn: &TurnModel,
    me: u64,
) -> JoinEstimate {
    let placed = conversations.place(heard, link);
    let mut estimate = estimate(conversations, &placed, join);
    estimate.p_turn = turn_values(conversations, &placed, me).map(|values| turn.likelihood(&values));
    conversations.keep(heard, placed);
    estimate
}

/// What training needs: the estimate, the alternatives that were rated, and the features of each of `watched`, hashes of
/// the ids of participants.
pub struct TrainingView {
    pub estimate: JoinEstimate,
    pub weighed: WeighedCandidates,
    pub turns: Vec<Option<TurnValues>>,
}

/// Processes a message and returns what training needs.
pub fn hear_for_training(
    conversations: &mut Conversations,
    heard: &Utterance<'_>,
    link: &LinkModel,
    join: &JoinModel,
    watched: &[u64],
) -> TrainingView {
    let placed = conversations.place(heard, link);
    let estimate = estimate(conversations, &placed, join);
    let turns = watched.iter().map(|person| turn_values(conversations, &placed, *person)).collect();
    TrainingView { estimate, turns, weighed: conversations.keep(heard, placed) }
}

fn estimate(conversations: &Conversations, placed: &Placed, join: &JoinModel) -> JoinEstimate {
    let features = values(conversations, placed);
    let p_join = probability(join.trees.calibrated(join.trees.sum(&features)));
    let (reply_to, conversation) = (placed.reply_to.clone(), placed.conversation);
    JoinEstimate { reply_to, conversation, p_join, p_turn: None, features }
}

/// A likelihood multiplied, as odds, by how much more the message concerns the bot.
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
            let turn = TurnModel::built_in();
            estimate_join(&mut conversations, &heard, LinkModel::built_in(), JoinModel::built_in(), turn, 0)
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
