//! Days that never were: everything that can hold something of a person happens in them.

use aizuchi_core::effect::Usage;
use aizuchi_core::input::{Answer, Command};
use aizuchi_core::listen::Unheard;
use aizuchi_core::trace::QuestionTrace;
use aizuchi_core::types::{
    Author, CallId, Change, Message, MessageId, PersonId, Place, Question, Reaction, Reply, RoomId, Time, Visibility,
    Voice,
};
use aizuchi_core::{Input, Trace};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use crate::ports::{JournalEntry, Stores};

pub const PEOPLE: [&str; 4] = ["mia", "jonas", "lena", "zoe"];
pub const ROOMS: [&str; 4] = ["log:a", "log:b", "web:c", "web:d"];
/// Rare ones, which tell whose words were repeated.
pub const WORDS: [&str; 6] = ["xylophone", "zanzibar77", "marimba", "glockenspiel", "theremin", "bassoon"];

/// Something that happened, and what was decided about it.
#[derive(Clone, Debug)]
pub struct Happened {
    pub at: Time,
    pub input: Input,
    pub trace: Option<Trace>,
}

pub fn message_in(room: &str, id: u64) -> (RoomId, MessageId) {
    (RoomId::new(room), MessageId::new(format!("m{id}")))
}

pub fn instant_in(room: &str, at: u64) -> (RoomId, Time) {
    (RoomId::new(room), Time(at))
}

fn text() -> impl Strategy<Value = Box<str>> {
    let word =
        prop_oneof![prop::sample::select(&WORDS[..]), prop::sample::select(&PEOPLE[..]), Just("the"), Just("so")];
    prop::collection::vec(word, 0..6).prop_map(|words| words.join(" ").into())
}

fn said() -> impl Strategy<Value = Message> {
    let who = prop_oneof![
        4 => prop::sample::select(&PEOPLE[..]).prop_map(|who| (who, Voice::Person)),
        1 => Just(("weather", Voice::Bot)),
        2 => Just(("itself", Voice::Me)),
    ];
    let people = || prop::sample::select(&PEOPLE[..]).prop_map(PersonId::new);
    let reply = prop::option::of((prop::option::of(0_u64..40), prop::option::of(people())));
    (who, prop::sample::select(&ROOMS[..]), 0_u64..40, text(), reply, prop::collection::vec(people(), 0..3)).prop_map(
        |((who, voice), room, id, text, reply, mentions)| Message {
            id: MessageId::new(format!("m{id}")),
            place: Place::room(room),
            at: Time(id),
            author: Author { id: PersonId::new(who), name: format!("{who}{}", id % 2).into(), voice },
            text,
            reply: reply.map(|(to, to_person)| Reply {
                to: to.map(|id| MessageId::new(format!("m{id}"))),
                to_me: false,
                to_person,
            }),
            mentions,
            mentions_me: false,
            visibility: Visibility::Public,
            backfilled: false,
            heard: None,
        },
    )
}

fn other() -> impl Strategy<Value = Input> {
    let room = || prop::sample::select(&ROOMS[..]);
    let call = || (room(), 0_u64..9).prop_map(|(room, serial)| CallId { room: RoomId::new(room), serial });
    let answer = || text().prop_map(|text| Ok(Answer { text, usage: Usage::default() }));
    let changed = (room(), 0_u64..40, prop::option::of(text())).prop_map(|(room, id, text)| {
        let id = MessageId::new(format!("m{id}"));
        Input::Changed(Change { place: Place::room(room), id, at: Time(1), text })
    });
    let reacted = (room(), 0_u64..40, prop::sample::select(&PEOPLE[..])).prop_map(|(room, id, by)| {
        let (message, by) = (MessageId::new(format!("m{id}")), PersonId::new(by));
        Input::Reacted(Reaction { place: Place::room(room), message, at: Time(1), by, emoji: "👍".into(), on: true })
    });
    let delivered = (call(), prop::collection::vec(0_u64..40, 0..3)).prop_map(|(call, ids)| {
        Input::Delivered(call, Ok(ids.into_iter().map(|id| MessageId::new(format!("m{id}"))).collect()))
    });
    prop_oneof![
        changed,
        reacted,
        delivered,
        (call(), answer()).prop_map(|(call, answer)| Input::Judged(call, answer)),
        (call(), answer()).prop_map(|(call, answer)| Input::Written(call, answer)),
        room().prop_map(|room| Input::Told(RoomId::new(room), Command::Reset)),
        Just(Input::Tick),
    ]
}

fn decided(message: &Message, words: Option<Box<str>>, acted: Option<u64>) -> Trace {
    let asked = |answer: Box<str>| QuestionTrace {
        question: Question::Judge,
        at: Time(3),
        prompt_chars: 7,
        answer,
        cached: false,
        failed: false,
    };
    let asked = words.into_iter().map(asked).collect();
    Trace { asked, acted_at: acted.map(Time), ..Trace::passed_over(message, Unheard::Empty) }
}

pub fn happening(most: usize) -> impl Strategy<Value = Vec<Happened>> {
    let said = (said(), prop::option::of(text()), prop::option::of(0_u64..9), any::<bool>());
    let said = said.prop_map(|(message, words, acted, kept)| {
        let trace = kept.then(|| decided(&message, words, acted));
        (Input::Said(message), trace)
    });
    let one = prop_oneof![said, other().prop_map(|input| (input, None))];
    let one = (0_u64..9, one).prop_map(|(at, (input, trace))| Happened { at: Time(at), input, trace });
    prop::collection::vec(one, most / 2..most)
}

/// Always the same.
pub fn sample(most: usize) -> Vec<Happened> {
    happening(most).new_tree(&mut TestRunner::deterministic()).unwrap().current()
}

pub async fn keep(stores: &Stores, happened: &[Happened]) {
    let entries: Vec<JournalEntry> =
        happened.iter().map(|one| JournalEntry::Input(one.at, one.input.clone())).collect();
    stores.journal.append(0, &entries).await.unwrap();
    let traces: Vec<Trace> = happened.iter().filter_map(|one| one.trace.clone()).collect();
    stores.decisions.keep(traces.into()).await.unwrap();
}
