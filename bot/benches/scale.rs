//! What ten million rooms would ask of a cluster, by sampling: some thousand rooms live through a day with the real engine in virtual time,
//! and what they did is multiplied. `-- ROOMS [LOG]` sets how many are sampled and where their words come from.
//!
//! A room's messages a day are drawn from a log-normal distribution (median 3, a hundredth of all rooms above 400), which has the long tail
//! that servers have. People talk in bursts, and twice as much in the evening as on average. The judge says yes to one question in five.
//! Every input of the engine is one invocation of the room: a message, a timer, a result. It loads and saves the packed room.

use std::collections::BTreeMap;

use aizuchi_core::effect::{Ask, Brief, Delivery, Failure, Usage};
use aizuchi_core::input::Answer;
use aizuchi_core::settings::Layers;
use aizuchi_core::sim::{Oracle, Sim};
use aizuchi_core::types::{
    Author, Message, MessageId, PersonId, Place, RoomId, Span, Time, Visibility, Voice, stable_hash,
};
use aizuchi_core::{Engine, Input, Policies};
use aizuchi_formats::{Options, read};

const ROOMS: u64 = 4_000;
const ALL_ROOMS: f64 = 10_000_000.0;
const MEDIAN_MESSAGES: f64 = 3.0;
/// Of the logarithm: one room in a hundred has 130 times the median.
const SPREAD: f64 = 2.1;
/// A room that never rests would not tell more.
const MESSAGES_MAX: f64 = 20_000.0;
const BURST: u64 = 8;
const START: Time = Time(1_775_520_000_000);
const DAY: Span = Span::minutes(24 * 60);
/// How much of a day's talk falls into each hour, times 1,000.
const HOURS: [u64; 24] = [30, 18, 11, 8, 7, 8, 14, 24, 34, 40, 43, 44, 46, 45, 44, 44, 46, 50, 58, 70, 83, 88, 82, 63];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let rooms = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(ROOMS);
    let log = arguments.iter().find(|argument| argument.parse::<u64>().is_err());
    let (words, policies) = (words(log), policies());
    let mut total = Day::default();
    for room in 0..rooms {
        total.add(&live(room, &policies, &words));
    }
    total.print(rooms);
}

fn policies() -> Policies {
    let mut layers = Layers::default();
    layers.suggest_for_replay();
    layers.resolve(&|_| None).expect("the defaults are sound")
}

/// Who said what, one after the other.
fn words(log: Option<&String>) -> Vec<(String, String)> {
    let path = log.map_or(concat!(env!("CARGO_MANIFEST_DIR"), "/../samples/en.jsonl"), String::as_str);
    let log =
        read(path, &Options::default(), &mut |_| ()).unwrap_or_else(|error| panic!("cannot read {path}: {error}"));
    let said = log.events.into_iter().filter_map(|event| match event.input {
        Input::Said(message) => Some((message.author.name.to_string(), message.text.to_string())),
        _ => None,
    });
    said.collect()
}

/// What one room did in a day, or many together.
#[derive(Default)]
struct Day {
    rooms_with_talk: u64,
    messages: u64,
    invocations: u64,
    ticks: u64,
    judged: u64,
    answers: u64,
    /// Bytes of state at the end of the day.
    state: u64,
    /// Bytes of state that were saved, one time for each invocation.
    saved: u64,
    /// Bytes of inputs as they are recorded.
    recorded: u64,
    per_hour: BTreeMap<u64, u64>,
    largest: u64,
}

impl Day {
    fn add(&mut self, other: &Day) {
        self.rooms_with_talk += other.rooms_with_talk;
        self.messages += other.messages;
        self.invocations += other.invocations;
        self.ticks += other.ticks;
        self.judged += other.judged;
        self.answers += other.answers;
        self.state += other.state;
        self.saved += other.saved;
        self.recorded += other.recorded;
        self.largest = self.largest.max(other.largest);
        for (hour, count) in &other.per_hour {
            *self.per_hour.entry(*hour).or_default() += count;
        }
    }

    fn print(&self, rooms: u64) {
        let scale = ALL_ROOMS / rooms as f64;
        let all = |count: u64| count as f64 * scale;
        let per_message = |count: u64| count as f64 / self.messages.max(1) as f64;
        let busiest = self.per_hour.values().copied().max().unwrap_or_default();
        println!("{rooms} rooms sampled for {ALL_ROOMS:.0}; {} of them talked within the day", self.rooms_with_talk);
        println!(
            "messages: {:.0} million a day, {:.0} a second on average, {:.0} in the busiest hour",
            all(self.messages) / 1e6,
            all(self.messages) / 86_400.0,
            all(busiest) / 3_600.0
        );
        println!(
            "a message leads to {:.2} invocations ({:.2} timers, {:.3} questions, {:.3} answers)",
            per_message(self.invocations),
            per_message(self.ticks),
            per_message(self.judged),
            per_message(self.answers)
        );
        println!(
            "state: {:.0} bytes a room that talked, {} at most; {:.0} GB in all",
            self.state as f64 / self.rooms_with_talk.max(1) as f64,
            self.largest,
            all(self.state) / 1e9
        );
        println!(
            "saved: {:.0} bytes of state a message; {:.0} MB a second in the busiest hour",
            per_message(self.saved),
            per_message(self.saved) * all(busiest) / 3_600.0 / 1e6
        );
        println!(
            "recorded: {:.0} bytes of inputs a message as JSON, {:.0} GB a day",
            per_message(self.recorded),
            all(self.recorded) / 1e9
        );
    }
}

fn draw(seed: u64, what: &str) -> f64 {
    (stable_hash(seed, what) % (1 << 32)) as f64 / (1_u64 << 32) as f64
}

/// How many messages a room has in a day.
fn messages_of(room: u64) -> u64 {
    // Box and Muller: two even draws are a normal one.
    let (first, second) = (draw(room, "first").max(1e-12), draw(room, "second"));
    let normal = (-2.0 * first.ln()).sqrt() * (std::f64::consts::TAU * second).cos();
    (MEDIAN_MESSAGES * (SPREAD * normal).exp()).min(MESSAGES_MAX) as u64
}

/// When they are said.
fn times_of(room: u64, messages: u64) -> Vec<Time> {
    let mut times: Vec<Time> = Vec::new();
    for burst in 0..messages.div_ceil(BURST) {
        let seed = room.wrapping_mul(1_000_003).wrapping_add(burst);
        let (mut part, mut hour) = (draw(seed, "hour") * 1_000.0, 0);
        while hour < 23 && part >= HOURS[hour] as f64 {
            part -= HOURS[hour] as f64;
            hour += 1;
        }
        let mut at = START + Span::minutes(60 * hour as u64) + Span((draw(seed, "begin") * 3_600_000.0) as u64);
        for nth in 0..BURST.min(messages - burst * BURST) {
            at = at + Span((-30_000.0 * draw(seed, &format!("pause {nth}")).max(1e-9).ln()) as u64);
            times.push(at);
        }
    }
    times.sort();
    times
}

fn live(room: u64, policies: &Policies, words: &[(String, String)]) -> Day {
    let (id, times) = (RoomId::new(format!("discord:{room}/{room}")), times_of(room, messages_of(room)));
    let mut sim = Sim::new(Engine::new(policies.clone()), Sometimes { room, asked: 0, written: 0 });
    sim.journal = Some(Vec::new());
    let begin = stable_hash(room, "words") as usize % words.len();
    let mut day = Day { rooms_with_talk: u64::from(!times.is_empty()), messages: times.len() as u64, ..Day::default() };
    for (nth, at) in times.into_iter().enumerate() {
        *day.per_hour.entry((at.0 - START.0) / 3_600_000).or_default() += 1;
        let (author, text) = &words[(begin + nth) % words.len()];
        sim.feed(at, Input::Said(said(&id, nth, at, author, text)));
        sim.traces.clear();
        day.count(&mut sim, &id);
    }
    sim.feed(START + DAY, Input::Tick);
    day.count(&mut sim, &id);
    day.state = packed_len(&mut sim.engine, &id);
    day.largest = day.state;
    (day.judged, day.answers) = (sim.oracle.asked, sim.oracle.written);
    day
}

impl Day {
    /// What has happened since it was counted last.
    fn count(&mut self, sim: &mut Sim<Sometimes>, id: &RoomId) {
        let happened = sim.journal.as_mut().map(std::mem::take).unwrap_or_default();
        let state = packed_len(&mut sim.engine, id);
        for (_, input) in happened {
            self.invocations += 1;
            self.ticks += u64::from(matches!(input, Input::Tick));
            self.saved += state;
            self.recorded += serde_json::to_vec(&input).expect("an input can be written").len() as u64;
        }
    }
}

fn packed_len(engine: &mut Engine, id: &RoomId) -> u64 {
    engine.pack_room(id).map_or(0, |packed| packed.len() as u64)
}

fn said(room: &RoomId, nth: usize, at: Time, author: &str, text: &str) -> Message {
    Message {
        id: MessageId::new(format!("{}", 1_200_000_000_000_000_000 + nth)),
        place: Place { room: room.clone(), thread: None },
        at,
        author: Author { id: PersonId::new(author), name: author.into(), voice: Voice::Person },
        text: text.into(),
        reply: None,
        mentions: Vec::new(),
        mentions_me: false,
        visibility: Visibility::Public,
        backfilled: false,
        heard: None,
    }
}

/// A judge that agrees to one question in five, and a model that takes two seconds.
struct Sometimes {
    room: u64,
    asked: u64,
    written: u64,
}

impl Oracle for Sometimes {
    fn judge(&mut self, _: &Ask) -> (Span, Result<Answer, Failure>) {
        self.asked += 1;
        let respond = stable_hash(self.room, &self.asked.to_string()).is_multiple_of(5);
        let text = format!(r#"{{"respond": {respond}, "reason": "they ask"}}"#).into();
        (Span::seconds(1), Ok(Answer { text, usage: Usage::default() }))
    }

    fn write(&mut self, _: &Brief) -> (Span, Result<Answer, Failure>) {
        self.written += 1;
        let text = "That depends on the oven; half an hour is a good start.".into();
        (Span::seconds(2), Ok(Answer { text, usage: Usage::default() }))
    }

    fn deliver(&mut self, delivery: &Delivery) -> (Span, Result<Vec<MessageId>, Failure>) {
        (Span::ZERO, Ok(vec![MessageId::new(delivery.call.to_string())]))
    }
}
