//! Prompts from outside: what a model sees, whatever people say and whatever their owner writes.

mod attacks;
mod folder;
mod hostile;
mod results;
mod shape;

use aizuchi_core::Policies;
use aizuchi_core::effect::{Ask, Brief, Kind, Lines, Transcript, TranscriptLine};
use aizuchi_core::judge::Question;
use aizuchi_core::settings::{JudgeStyle, Layers};
use aizuchi_core::types::{CallId, MessageId, Place, RoomId, Time, Voice};

use super::Prompts;

pub type FramedMessage<'a> = (&'a str, Voice, &'a str);

pub fn policies(settings: &[&str]) -> Policies {
    let mut layers = Layers::default();
    settings.iter().for_each(|setting| layers.add_assignment(setting));
    layers.resolve(&|_| None).expect("settings that fit")
}

/// Only those that are compiled in.
pub fn ours() -> Prompts {
    Prompts::new("".into())
}

pub fn lines(said: &[FramedMessage<'_>]) -> Lines {
    let ids: Vec<String> = (1..=said.len()).map(|nth| format!("m{nth}")).collect();
    let line = |((name, voice, text), id)| TranscriptLine { id, name, voice, text };
    said.iter().copied().zip(ids.iter().map(String::as_str)).map(line).collect()
}

pub fn ask(question: Question, style: JudgeStyle, transcript: Transcript) -> Ask {
    let call = CallId { room: RoomId::new("room"), serial: 1 };
    let memories = aizuchi_core::memory::Memories::default();
    Ask { call, at: Time(0), question, style, model: "m".into(), tokens_max: 50, transcript, telling: None, memories }
}

pub fn brief(kind: Kind, addressed: bool, said: &[FramedMessage<'_>]) -> Brief {
    Brief {
        call: CallId { room: RoomId::new("room"), serial: 1 },
        at: Time(0),
        place: Place::room("room"),
        kind,
        model: "m".into(),
        tokens_max: 50,
        answering: vec![MessageId::new(format!("m{}", said.len()))],
        addressed,
        transcript: Transcript { lines: lines(said), ..Transcript::default() },
        memories: aizuchi_core::memory::Memories::default(),
        telling: None,
        tools: Default::default(),
        steps: Vec::new(),
        errand: None,
    }
}

/// Every question there is, with the style that asks it.
pub const QUESTIONS: [(Question, JudgeStyle); 7] = [
    (Question::State, JudgeStyle::Ladder),
    (Question::Same, JudgeStyle::Ladder),
    (Question::Changed, JudgeStyle::Ladder),
    (Question::Judge, JudgeStyle::Ladder),
    (Question::Judge, JudgeStyle::Respond),
    (Question::Judge, JudgeStyle::Delay),
    (Question::Join, JudgeStyle::Join),
];
