//! `./dev bench [LOG]`: what deciding costs, in ratios against parsing the same messages in the same run.

use std::hint::black_box;
use std::time::Instant;

use aizuchi_core::effect::{Ask, Brief, Delivery, Failure, Usage};
use aizuchi_core::input::Answer;
use aizuchi_core::judge::Question;
use aizuchi_core::settings::{JudgeStyle, Layers};
use aizuchi_core::sim::{Oracle, Sim};
use aizuchi_core::types::{Message, MessageId, RoomId, Span, Time};
use aizuchi_core::{Engine, Input, Policies};
use aizuchi_formats::{Options, parse_line, read};

const SYNTHETIC_MESSAGES: usize = 196_146;
const ROUNDS: usize = 5;

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    // `count parse|decide|load N`: one pass over N messages, to be counted by a tool that counts instructions.
    if arguments.first().is_some_and(|first| first == "count") {
        return count(
            &arguments[1],
            arguments[2].parse().expect("a number of messages"),
            arguments.get(3).map(String::as_str),
        );
    }
    if arguments.first().is_some_and(|first| first == "rooms") {
        let number = |index: usize| arguments[index].parse().expect("a number");
        let lines = in_order_of_time(lines(arguments.get(3).map(String::as_str)));
        return rooms(number(1), number(2), &messages(&lines));
    }
    let log = arguments.pop();
    let lines = in_order_of_time(lines(log.as_deref()));
    println!(
        "log: {} messages ({})",
        lines.len(),
        log.as_deref().map_or("synthetic", |path| path.rsplit('/').next().unwrap_or(path))
    );
    let parse_ns = best(|| parse_all(&lines), lines.len());
    println!("parse one message from JSON: {parse_ns:.0} ns");
    for (preset, changes) in SETTINGS {
        let policies = policies(preset, changes);
        let decide_ns = best(|| parse_and_decide_all(policies.clone(), &lines), lines.len()) - parse_ns;
        let rate = 1e9 / decide_ns;
        println!(
            "decide, {preset:9}: {decide_ns:.0} ns, {:.2} million messages a second, {:.2} of parsing",
            rate / 1e6,
            decide_ns / parse_ns
        );
    }
    for preset in [0, 1] {
        in_its_own_process(&["rooms".to_owned(), preset.to_string(), "100000".to_owned()], log.as_deref());
    }
}

/// What one run has freed would be the memory of the next.
fn in_its_own_process(arguments: &[String], log: Option<&str>) {
    let program = std::env::current_exe().expect("the benchmark knows its own path");
    let run = std::process::Command::new(program).args(arguments).args(log).status();
    assert!(run.is_ok_and(|status| status.success()), "the benchmark of rooms failed");
}

/// All rules on: keywords and several aliases to look for.
const SETTINGS: [(&str, &[&str]); 4] = [
    ("aizuchi", &["score.keywords=kernel,grub,パッケージ", "bot.aliases=ubottu,相槌"]),
    ("sphene", &["score.keywords=kernel,grub,パッケージ", "kinds.varied=true"]),
    ("kotonoha", &[]),
    ("myao2", &[]),
];

fn policies(preset: &str, changes: &[&str]) -> Policies {
    let mut layers = Layers::default();
    layers.suggest_for_replay();
    layers.add_assignment(&format!("preset={preset}"));
    for change in changes {
        layers.add_assignment(change);
    }
    layers.resolve(&|_| None).expect("the settings of the benchmark are sound")
}

/// The lines of the log, or made-up ones of the same size.
fn lines(log: Option<&str>) -> Vec<String> {
    let Some(path) = log else { return synthetic() };
    let file = std::fs::read(path).unwrap_or_else(|error| panic!("cannot read {path}: {error}"));
    let mut text = String::new();
    if file.starts_with(&[0x1f, 0x8b]) {
        std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(file.as_slice()), &mut text)
            .expect("a gzip file of text");
    } else {
        text = String::from_utf8(file).expect("a file of text");
    }
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if parse_line(&lines[0], 1).is_err() {
        let log = read(path, &Options::default(), &mut |_| ()).expect("a log in a known format");
        panic!("the benchmark parses transcripts (JSON Lines); this is a {}", log.format);
    }
    lines
}

fn synthetic() -> Vec<String> {
    const WORDS: [&str; 24] = [
        "the",
        "kernel",
        "does",
        "not",
        "boot",
        "anyone",
        "know",
        "how",
        "to",
        "install",
        "grub",
        "after",
        "update",
        "thanks",
        "try",
        "sudo",
        "これ",
        "動かない",
        "パッケージ",
        "を",
        "入れて",
        "みて",
        "why",
        "it",
    ];
    let mut state = 1u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    let mut at = 1_100_000_000.0;
    (0..SYNTHETIC_MESSAGES)
        .map(|number| {
            at += draw(20) as f64;
            let text: Vec<&str> = (0..3 + draw(16)).map(|_| WORDS[draw(24) as usize]).collect();
            let mark = if draw(5) == 0 { "?" } else { "" };
            let (channel, author) = (number / 1300, draw(40));
            format!(r#"{{"ts": {at}, "channel": "2004-11-15.{channel}", "id": "2004-11-15.{channel}:{number}", "author": "user{author}", "text": "{}{mark}"}}"#, text.join(" "))
        })
        .collect()
}

fn parse_all(lines: &[String]) {
    for (number, line) in lines.iter().enumerate() {
        drop(black_box(parse_line(black_box(line), number as u64)));
    }
}

fn said(line: &str, number: usize) -> Option<Message> {
    match parse_line(line, number as u64) {
        Ok(Some(event)) => {
            if let Input::Said(message) = event.input {
                Some(message)
            } else {
                None
            }
        }
        Ok(None) | Err(_) => None,
    }
}

/// As a replay feeds them.
fn in_order_of_time(mut lines: Vec<String>) -> Vec<String> {
    lines.sort_by_cached_key(|line| said(line, 0).map(|message| message.at));
    lines
}

fn messages(lines: &[String]) -> Vec<Message> {
    lines.iter().enumerate().filter_map(|(number, line)| said(line, number)).collect()
}

/// Each message is decided as soon as it is parsed, as in life; the time to parse is taken off afterwards.
fn parse_and_decide_all(policies: Policies, lines: &[String]) {
    let mut sim = Sim::new(Engine::new(policies), Declines);
    for (number, line) in lines.iter().enumerate() {
        if let Some(message) = said(black_box(line), number) {
            sim.feed(message.at, Input::Said(message));
            sim.traces.clear();
        }
    }
    sim.finish();
    black_box(&sim.traces);
}

/// Says no to everything, at once and for nothing: the benchmark is of the engine.
struct Declines;

impl Oracle for Declines {
    fn judge(&mut self, ask: &Ask) -> (Span, Result<Answer, Failure>) {
        let text = match (ask.question, ask.style) {
            (Question::State, _) => "ACTIVE",
            (_, JudgeStyle::Delay) => r#"{"should_respond": false}"#,
            (_, JudgeStyle::Join | JudgeStyle::Respond) => r#"{"respond": false}"#,
            _ => "NO",
        };
        (Span::ZERO, Ok(Answer { text: text.into(), usage: Usage::default() }))
    }

    fn write(&mut self, _: &Brief) -> (Span, Result<Answer, Failure>) {
        (Span::ZERO, Ok(Answer { text: "…".into(), usage: Usage::default() }))
    }

    fn deliver(&mut self, delivery: &Delivery) -> (Span, Result<Vec<MessageId>, Failure>) {
        (Span::ZERO, Ok(vec![MessageId::new(delivery.call.to_string())]))
    }
}

/// Nanoseconds for each message in the best of some rounds.
fn best(run: impl Fn(), messages: usize) -> f64 {
    let rounds = (0..ROUNDS).map(|_| {
        let started = Instant::now();
        run();
        started.elapsed().as_nanos() as f64
    });
    rounds.fold(f64::INFINITY, f64::min) / messages as f64
}

const BUFFER: usize = 50;

/// Memory of many full rooms, and what a message costs as rooms grow: with conversations told apart and likelihoods, and
/// with rules alone.
fn rooms(preset: usize, most: usize, messages: &[Message]) {
    let (preset, changes) = SETTINGS[preset];
    println!("{preset}:");
    let mut alone = 0.0;
    for count in [1, 1_000, most] {
        let before = resident_bytes();
        let mut sim = Sim::new(Engine::new(policies(preset, changes)), Declines);
        let names: Vec<RoomId> = (0..count).map(|room| RoomId::new(format!("room-{room:06}"))).collect();
        let raw_bytes = fill(&mut sim, &names, messages);
        let grown = resident_bytes().zip(before).map(|(after, before)| after.saturating_sub(before));
        let ns = step(&mut sim, &names, messages);
        if count == 1 {
            alone = ns;
        }
        println!("{count:>7} rooms: {ns:.0} ns a message, {:.2} times that of one room", ns / alone);
        if let (true, Some(grown)) = (count == most, grown) {
            println!(
                "         {} bytes a room with {BUFFER} messages, {:.2} of text + author + id ({} bytes)",
                grown / count as u64,
                grown as f64 / raw_bytes as f64,
                raw_bytes / count as u64
            );
        }
    }
}

/// Fills every room with as many messages as it keeps, and a few more, as in a life that has gone on for a while.
fn fill(sim: &mut Sim<Declines>, names: &[RoomId], messages: &[Message]) -> u64 {
    let mut raw_bytes = 0;
    for number in 0..names.len() {
        for turn in 0..FILL {
            let message = message_of(number, turn, names, messages);
            if turn >= FILL - BUFFER {
                raw_bytes += message.text.len() + message.author.name.len() + message.id.as_str().len();
            }
            sim.feed(message.at, Input::Said(message));
            sim.traces.clear();
        }
    }
    raw_bytes as u64
}

const START_MS: u64 = 1_700_000_000_000;
const FILL: usize = BUFFER + 10;

/// What is said in a room at its turn: each room goes through its own part of the log, one message after the other, so
/// that many rooms do the same work as one.
fn message_of(room: usize, turn: usize, names: &[RoomId], messages: &[Message]) -> Message {
    let mut message = messages[(room * 7 + turn) % messages.len()].clone();
    message.place.room = names[room].clone();
    message.at = Time(START_MS + turn as u64 * 10_000);
    let id = message.id.as_str();
    message.id = MessageId::new(format!("{}+{turn}", id.get(..id.len().saturating_sub(3)).unwrap_or_default()));
    message
}

/// Some hundred thousand messages more, one room after the other.
fn step(sim: &mut Sim<Declines>, names: &[RoomId], messages: &[Message]) -> f64 {
    const STEPS: usize = 400_000;
    const STRIDE: usize = 7919;
    let rooms = names.len();
    let at = |number: usize| message_of(number * STRIDE % rooms, FILL + number / rooms, names, messages);
    let inputs: Vec<Message> = (0..STEPS).map(at).collect();
    let started = Instant::now();
    for message in inputs {
        sim.feed(message.at, Input::Said(message));
        sim.traces.clear();
    }
    started.elapsed().as_nanos() as f64 / STEPS as f64
}

fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

fn count(what: &str, number: usize, log: Option<&str>) {
    let mut lines = lines(log);
    lines.truncate(number);
    let (lines, policies) = (in_order_of_time(lines), policies(SETTINGS[0].0, SETTINGS[0].1));
    match what {
        "load" => drop(black_box(lines)),
        "parse" => parse_all(&lines),
        "decide" => parse_and_decide_all(policies, &lines),
        _ => panic!("expected load, parse or decide"),
    }
}
