//! What a person said to the bot and what it answered, kept for the writer if the buffer does not contain both.

use super::turn::Turn;
use crate::effect::Post;
use crate::room::{Exchange, ExchangedText, PendingDelivery};
use crate::types::{Message, MessageId, Span};

/// Somebody addressed the bot.
pub(super) fn note_question(turn: &mut Turn<'_>, message: &Message, name: &str) {
    let settings = &turn.policy.settings;
    if settings.listen.addressed_kept && settings.reply.turns_per_person == 0 {
        return;
    }
    drop_settled(turn);
    let question = ExchangedText { id: message.id.clone(), at: message.at, text: message.text.clone() };
    let person = turn.room.speakers.key(&message.author.id);
    turn.place_mut().bot_mut().exchanges.push(Exchange { person, name: name.into(), question, answer: None });
}

/// People see its answer.
pub(super) fn note_answer(turn: &mut Turn<'_>, sent: &PendingDelivery, ids: &[MessageId]) {
    let (turns, now) = (turn.policy.settings.reply.turns_per_person as usize, turn.now);
    let Some(bot) = turn.place_mut().bot.as_deref_mut().filter(|_| sent.addressed) else { return };
    if let (Post::Text(_), Some(text), Some(id)) = (&sent.delivery.post, &sent.text, ids.first()) {
        let answer = ExchangedText { id: id.clone(), at: now, text: text.clone() };
        for trace in &sent.traces {
            bot.exchanges.note_answer(&trace.message, &answer, turns);
        }
    }
    drop_settled(turn);
}

/// Drops exchanges that are too old, and questions that nobody will answer any more.
pub(super) fn drop_settled(turn: &mut Turn<'_>) {
    let (now, life) = (turn.now, life(turn));
    let place = turn.place();
    let Some(bot) = place.bot.as_deref().filter(|bot| bot.exchanges.iter().next().is_some()) else { return };
    let on_its_way = bot.on_its_way().flat_map(|sent| &sent.traces);
    let unanswered = place.unanswered().flat_map(|pending| pending.together.iter().chain([&*pending.trace]));
    let open: Vec<MessageId> = on_its_way.chain(unanswered).map(|trace| trace.message.clone()).collect();
    turn.place_mut().bot_mut().exchanges.retain(|exchange| match exchange.answer {
        Some(_) => now.since(exchange.question.at) < life,
        None => open.contains(&exchange.question.id),
    });
}

pub(super) fn life(turn: &Turn<'_>) -> Span {
    Span::minutes(turn.policy.settings.reply.turns_minutes.into())
}
