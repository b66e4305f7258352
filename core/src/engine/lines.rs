//! The talk as a model reads it.

use super::turn::Turn;
use crate::effect::{Lines, Transcript, TranscriptLine};
use crate::room::HeardMessage;
use crate::types::{MessageId, Voice};

/// The last messages of this place as a model reads them.
pub(super) fn transcript(turn: &Turn<'_>, messages: u32) -> Transcript {
    Transcript { lines: lines(turn, messages), ..Transcript::default() }
}

pub(super) fn lines(turn: &Turn<'_>, messages: u32) -> Lines {
    as_lines(turn, &recent_lines(turn, messages))
}

/// The same with what is to be answered, though much was said since.
pub(super) fn lines_to_answer(turn: &Turn<'_>, messages: u32, answering: &[MessageId]) -> Lines {
    let mut recent = recent_lines(turn, messages);
    for id in answering.iter().rev() {
        if !recent.iter().any(|heard| heard.id() == id.as_str()) {
            recent.extend(turn.place().buffer.get_by_id(id.as_str()));
        }
    }
    as_lines(turn, &recent)
}

/// `recent` is newest first.
fn as_lines(turn: &Turn<'_>, recent: &[HeardMessage<'_>]) -> Lines {
    let mut lines =
        Lines::with_capacity(recent.len(), recent.iter().map(|heard| heard.id().len() + heard.text().len() + 16).sum());
    let mut names: Vec<(u16, String)> = Vec::new();
    for heard in recent.iter().rev() {
        let (voice, own_name) = (heard.voice(), turn.policy.settings.bot.name.as_str());
        let name = if voice == Voice::Me { own_name } else { name_among(turn, heard.speaker, &mut names) };
        lines.push(TranscriptLine { id: heard.id(), name, voice, text: heard.text() });
    }
    lines
}

/// The newest of this conversation, newest first; where it is short, with what was said beside it.
fn recent_lines<'a>(turn: &'a Turn<'_>, messages: u32) -> Vec<HeardMessage<'a>> {
    let place = turn.place();
    if turn.conversation.is_none() {
        return place.newest(turn.policy, turn.now, messages);
    }
    let context = turn.policy.settings.judge.context_messages.min(messages) as usize;
    let inside = place.recent_of(turn.policy, turn.now, turn.conversation).take(messages as usize).count();
    let (mut left, mut beside) = (inside, context.saturating_sub(inside));
    let mut take = |heard: &HeardMessage<'_>| {
        let room = if heard.conversation == turn.conversation { &mut left } else { &mut beside };
        let fits = *room > 0;
        *room = room.saturating_sub(1);
        fits
    };
    place.recent(turn.policy, turn.now).filter(|heard| take(heard)).collect()
}

/// The name of a speaker among those who spoke before: of two people with the same name the second is told apart, and
/// so is who goes by the name of the bot; nobody speaks in another's name by taking it.
fn name_among<'b>(turn: &Turn<'_>, speaker: u16, names: &'b mut Vec<(u16, String)>) -> &'b str {
    let index = names.iter().position(|(known, _)| *known == speaker).unwrap_or_else(|| {
        let name = turn.room.speakers.name(speaker);
        let own = turn.policy.settings.bot.name.as_str();
        let taken = |wanted: &str| wanted == own || names.iter().any(|(_, known)| known == wanted);
        let counted = (2..).map(|nth| format!("{name} #{nth}"));
        let free = std::iter::once(name.to_owned()).chain(counted).find(|wanted| !taken(wanted));
        names.push((speaker, free.expect("there are more numbers than names")));
        names.len() - 1
    });
    &names[index].1
}
