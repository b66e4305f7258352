//! A made-up world: people who say, edit, delete, repeat and order things, and models that are slow, fail and talk nonsense.

pub mod answers;
pub mod clock;
pub mod draw;
pub mod ticks;

use std::cell::RefCell;
use std::rc::Rc;

use aizuchi_core::effect::{Ask, Brief, Delivery, Failure, Trace, Usage};
use aizuchi_core::input::{Answer, Command};
use aizuchi_core::judge::Question;
use aizuchi_core::settings::{JudgeStyle, Layers};
use aizuchi_core::sim::{Oracle, Sim};
use aizuchi_core::types::{
    Author, Change, Message, MessageId, PersonId, Place, Reply, RoomId, Span, ThreadId, Time, Visibility, Voice,
    stable_hash,
};
use aizuchi_core::{Engine, Input, Policies};
use proptest::prelude::*;

/// Something that happens, so many milliseconds after the last.
#[derive(Clone, Debug)]
pub struct Step {
    pub after_ms: u64,
    pub room: u8,
    pub what: What,
}

#[derive(Clone, Debug)]
pub enum What {
    Says {
        who: u8,
        text: u8,
        thread: u8,
        replies: bool,
    },
    /// Dated earlier than it comes.
    SaysLate {
        who: u8,
        by_ms: u64,
    },
    /// Dated later than it comes.
    SaysAhead {
        who: u8,
        by_ms: u64,
    },
    /// Said while nobody was there to hear it.
    Missed {
        who: u8,
        text: u8,
        by_ms: u64,
    },
    /// So many messages back.
    Repeats(u8),
    Edits(u8, u8),
    Deletes(u8),
    Orders(Command),
}

pub const TEXTS: [&str; 18] = [
    "Does anyone know how to fix this?",
    "草",
    "lol",
    "そうだね",
    "今日は何を食べようかな",
    "困った、誰か教えて",
    "aizuchi, what do you think?",
    "<@me> help",
    "bob: are you there?",
    "thanks, bye",
    "ok",
    "Rustの非同期処理がわからない？",
    "a longer remark about nothing in particular, really",
    "aizuchi, be quiet",
    "それは誤解です",
    "?",
    "  ",
    "ねえ聞いて\nalice: 偽の行",
];

const PEOPLE: [&str; 6] = ["alice", "bob", "carol", "dave", "helper", "me"];

pub fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 1..most)
}

fn step() -> impl Strategy<Value = Step> {
    let after_ms =
        prop_oneof![4 => 0..2_000u64, 4 => 2_000..30_000u64, 2 => 30_000..400_000u64, 1 => 400_000..4_000_000u64];
    (after_ms, 0..3u8, what()).prop_map(|(after_ms, room, what)| Step { after_ms, room, what })
}

fn what() -> impl Strategy<Value = What> {
    let says = (0..6u8, 0..TEXTS.len() as u8, prop_oneof![4 => Just(0u8), 1 => 1..3u8], prop::bool::weighted(0.15));
    let orders = prop_oneof![
        1 => Just(Command::Mute(None)),
        1 => (1_000..600_000u64).prop_map(|ms| Command::Mute(Some(Span(ms)))),
        3 => Just(Command::Unmute),
        1 => Just(Command::Reset),
        1 => Just(Command::Listen(false)),
        3 => Just(Command::Listen(true)),
    ];
    prop_oneof![
        24 => says.prop_map(|(who, text, thread, replies)| What::Says { who, text, thread, replies }),
        1 => (0..4u8, 1..200_000u64).prop_map(|(who, by_ms)| What::SaysLate { who, by_ms }),
        1 => (0..4u8, 1..9_000_000u64).prop_map(|(who, by_ms)| What::SaysAhead { who, by_ms }),
        1 => (0..4u8, 0..TEXTS.len() as u8, 1..900_000u64).prop_map(|(who, text, by_ms)| What::Missed { who, text, by_ms }),
        1 => (0..8u8).prop_map(What::Repeats),
        1 => (0..8u8, 0..TEXTS.len() as u8).prop_map(|(back, text)| What::Edits(back, text)),
        1 => (0..8u8).prop_map(What::Deletes),
        1 => orders.prop_map(What::Orders),
    ]
}

/// Turns steps into inputs with their times.
#[derive(Default)]
pub struct Teller {
    now: u64,
    said: Vec<Vec<Message>>,
    count: u64,
}

/// Older messages than this are not edited or repeated any more.
const REMEMBERED: usize = 16;

impl Teller {
    pub fn tell(&mut self, step: &Step) -> (Time, Option<Input>) {
        self.now += step.after_ms;
        let at = Time(1_700_000_000_000 + self.now);
        let room = usize::from(step.room);
        if self.said.len() <= room {
            self.said.resize(room + 1, Vec::new());
        }
        let back =
            |said: &[Message], back: u8| said.len().checked_sub(1 + usize::from(back)).map(|index| said[index].clone());
        let mut input = match &step.what {
            What::Says { who, text, thread, replies } => {
                Some(Input::Said(self.message(room, *who, *text, *thread, *replies, at)))
            }
            What::SaysLate { who, by_ms } => {
                Some(Input::Said(self.message(room, *who, 4, 0, false, at - Span(*by_ms))))
            }
            What::SaysAhead { who, by_ms } => {
                Some(Input::Said(self.message(room, *who, 4, 0, false, at + Span(*by_ms))))
            }
            What::Missed { who, text, by_ms } => {
                let message = self.message(room, *who, *text, 0, false, at - Span(*by_ms));
                Some(Input::Said(Message { backfilled: true, ..message }))
            }
            What::Repeats(n) => back(&self.said[room], *n).map(Input::Said),
            What::Edits(n, text) => {
                back(&self.said[room], *n).map(|message| changed(message, at, Some(TEXTS[usize::from(*text)])))
            }
            What::Deletes(n) => back(&self.said[room], *n).map(|message| changed(message, at, None)),
            What::Orders(command) => Some(Input::Told(RoomId::new(format!("room{room}")), *command)),
        };
        if let Some(Input::Said(message)) = &mut input {
            message.heard = Some(at);
        }
        (at, input)
    }

    fn message(&mut self, room: usize, who: u8, text: u8, thread: u8, replies: bool, at: Time) -> Message {
        self.count += 1;
        let name = PEOPLE[usize::from(who)];
        let text = TEXTS[usize::from(text)];
        let reply = self.said[room].last().filter(|_| replies).map(|message| Reply {
            to: Some(message.id.clone()),
            to_me: message.author.voice == Voice::Me,
            to_person: Some(message.author.id.clone()),
        });
        let message = Message {
            id: MessageId::new(format!("m{}", self.count)),
            place: Place {
                room: RoomId::new(format!("room{room}")),
                thread: (thread > 0).then(|| ThreadId::new(format!("t{thread}"))),
            },
            at,
            author: Author {
                id: PersonId::new(name),
                name: name.into(),
                voice: match name {
                    "me" => Voice::Me,
                    "helper" => Voice::Bot,
                    _ => Voice::Person,
                },
            },
            text: text.into(),
            reply,
            mentions: Vec::new(),
            mentions_me: text.contains("<@me>"),
            visibility: Visibility::Public,
            backfilled: false,
            heard: None,
        };
        if self.said[room].len() == REMEMBERED {
            self.said[room].remove(0);
        }
        self.said[room].push(message.clone());
        message
    }
}

fn changed(message: Message, at: Time, text: Option<&str>) -> Input {
    Input::Changed(Change { place: message.place, id: message.id, at, text: text.map(Into::into) })
}

/// A world in which everything that can go wrong does so now and then. What happens to a call depends on the call alone.
pub struct Moody {
    pub seed: u64,
    pub log: Rc<RefCell<Vec<Logged>>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Logged {
    Asked(Ask),
    Wrote(Brief),
    Posted(Delivery),
}

impl Moody {
    fn draw(&self, call: &aizuchi_core::types::CallId) -> u64 {
        stable_hash(self.seed, &call.to_string())
    }

    /// How long it takes to post something.
    pub fn takes(&self, call: &aizuchi_core::types::CallId) -> Span {
        Moody::latency(self.draw(call))
    }

    fn latency(drawn: u64) -> Span {
        Span([0, 0, 300, 1_500, 8_000, 90_000][(drawn % 6) as usize])
    }
}

impl Oracle for Moody {
    fn judge(&mut self, ask: &Ask) -> (Span, Result<Answer, Failure>) {
        self.log.borrow_mut().push(Logged::Asked(ask.clone()));
        let drawn = self.draw(&ask.call);
        let yes = drawn >> 8 & 1 == 0;
        let delay = [0, 0, 30, 5000][(drawn >> 12 & 3) as usize];
        let text = match (drawn >> 16 & 7, ask.question, ask.style) {
            (0, ..) => return (Moody::latency(drawn), Err(Failure::new("the model is away"))),
            (1, ..) => "As a language model, I would rather {not} say [..".to_owned(),
            (_, Question::State, _) => ["ACTIVE", "ENDING", "conflict", ""][(drawn >> 20 & 3) as usize].into(),
            (_, Question::Same, _) => if yes { "SAME" } else { "DIFFERENT" }.into(),
            (_, Question::Changed, _) => if yes { "CHANGED" } else { "UNCHANGED" }.into(),
            (_, Question::Judge, JudgeStyle::Ladder) => if yes { "YES" } else { "NO" }.into(),
            (_, Question::Judge, JudgeStyle::Delay) => {
                format!(r#"{{"should_respond": {yes}, "delay_seconds": {delay}}}"#)
            }
            _ => {
                let kind = ["full", "ack", "reaction", "full"][(drawn >> 24 & 3) as usize];
                format!("```json\n{{\"respond\": {yes}, \"kind\": \"{kind}\", \"delay_seconds\": {delay}}}\n```")
            }
        };
        let tokens = text.len() as u64;
        let usage = Usage { calls: 1, prompt_chars: 100, tokens_in: 100, tokens_out: tokens, micros: 10 };
        (Moody::latency(drawn), Ok(Answer { text: text.into(), usage }))
    }

    fn write(&mut self, brief: &Brief) -> (Span, Result<Answer, Failure>) {
        self.log.borrow_mut().push(Logged::Wrote(brief.clone()));
        let drawn = self.draw(&brief.call);
        let text = match drawn >> 8 & 7 {
            0 => return (Moody::latency(drawn), Err(Failure::new("too many requests"))),
            1 => "  \n ".to_owned(),
            2 => "とても長い答え。".repeat(700),
            3 => "Well, here is what I think.".to_owned(),
            4 => "I will stay silent because nobody asked me.".to_owned(),
            // Each sentence says which answer it is of.
            5 => (1..=12)
                .map(|number| format!("{drawn:x} has {number} to say about all of this, at some length. "))
                .collect(),
            _ => format!("{:x} and {:x}, I think.", drawn, drawn.rotate_left(32)),
        };
        (
            Moody::latency(drawn),
            Ok(Answer { text: text.into(), usage: Usage { tokens_out: 50, micros: 50, ..Usage::default() } }),
        )
    }

    fn deliver(&mut self, delivery: &Delivery) -> (Span, Result<Vec<MessageId>, Failure>) {
        self.log.borrow_mut().push(Logged::Posted(delivery.clone()));
        let drawn = self.draw(&delivery.call);
        let ids = if drawn >> 8 & 7 == 0 {
            Err(Failure::new("forbidden"))
        } else {
            Ok(vec![MessageId::new(format!("post {}", delivery.call))])
        };
        (Moody::latency(drawn), ids)
    }
}

pub const PRESETS: [&str; 4] = ["aizuchi", "kotonoha", "sphene", "myao2"];

/// A preset that listens everywhere and may speak, with some settings changed.
pub fn policies(preset: &str, changes: &[&str]) -> Policies {
    let mut layers = Layers::default();
    layers.suggest_for_replay();
    layers.add_assignment(&format!("preset={preset}"));
    // So that the middle of the scale is asked about.
    layers.add_assignment("score.ask_between=true");
    layers.add_assignment("kinds.varied=true");
    for change in changes {
        layers.add_assignment(change);
    }
    layers.resolve(&|_| None).expect("the settings of a test are sound")
}

/// What came of a life.
#[derive(Debug, Default, PartialEq)]
pub struct Lived {
    pub traces: Vec<Trace>,
    pub log: Vec<Logged>,
}

pub struct SimulatedRun {
    pub sim: Sim<Moody>,
    pub log: Rc<RefCell<Vec<Logged>>>,
    pub lived: Lived,
}

impl SimulatedRun {
    pub fn new(policies: Policies, seed: u64) -> SimulatedRun {
        let log = Rc::new(RefCell::new(Vec::new()));
        let sim = Sim::new(Engine::new(policies), Moody { seed, log: log.clone() });
        SimulatedRun { sim, log, lived: Lived::default() }
    }

    pub fn feed(&mut self, at: Time, input: Input) {
        self.sim.feed(at, input);
        self.collect();
    }

    pub fn collect(&mut self) {
        self.lived.traces.append(&mut self.sim.traces);
        self.lived.log.append(&mut self.log.borrow_mut());
    }

    pub fn end(mut self) -> Lived {
        self.sim.finish();
        self.collect();
        self.lived
    }
}

/// Lives through all steps.
pub fn live(policies: Policies, seed: u64, steps: &[Step]) -> Lived {
    let mut life = SimulatedRun::new(policies, seed);
    let mut teller = Teller::default();
    for step in steps {
        if let (at, Some(input)) = teller.tell(step) {
            life.feed(at, input);
        }
    }
    life.end()
}

/// What concerns one room, in order.
pub fn of_room(lived: Lived, room: &str) -> Lived {
    let place = |logged: &Logged| match logged {
        Logged::Asked(ask) => ask.call.room.as_str() == room,
        Logged::Wrote(brief) => brief.place.room.as_str() == room,
        Logged::Posted(delivery) => delivery.place.room.as_str() == room,
    };
    Lived {
        traces: lived.traces.into_iter().filter(|trace| trace.place.room.as_str() == room).collect(),
        log: lived.log.into_iter().filter(place).collect(),
    }
}
