//! `./dev bench [LOG]`: how long prompts are, and how much of each a provider has read before: the bytes with which it begins
//! as the one before it, of the same model. Providers bill those at a fraction.
//!
//! The conversation is replayed as by the command `replay`, with a judge that agrees; prompts and tools are those of the
//! program.

use std::sync::Arc;

use aizuchi::cli::no_model::NoModel;
use aizuchi::config;
use aizuchi::keeper::Keeper;
use aizuchi::memory::StoredLayers;
use aizuchi::ports::{Prompt, PromptBuilder as _, StoreBackend as _, Stores};
use aizuchi::prompts::Prompts;
use aizuchi::stores::Database;
use aizuchi::tools::{self, Toolset};
use aizuchi_core::effect::{Ask, Brief, Delivery, Failure};
use aizuchi_core::input::Answer;
use aizuchi_core::sim::{Oracle, Sim, StandIn};
use aizuchi_core::types::{MessageId, Span, Time};
use aizuchi_core::{Engine, Policies};

fn main() {
    let log = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let Some(log) = log else { return println!("prompts: not measured, they need a log") };
    let folder = std::env::temp_dir().join(format!("aizuchi-prompts-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the bench");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let _entered = runtime.enter();
    for with_tools in [false, true] {
        measure(&log, with_tools, &folder);
    }
    let _ = std::fs::remove_dir_all(&folder);
}

/// The name of a bot in the logs of Ubuntu's channels: where people call it, an answer is asked for.
const NAME: &str = "ubottu";

fn measure(log: &str, with_tools: bool, folder: &std::path::Path) {
    let mut layers = config::new_layers();
    layers.suggest_for_replay();
    layers.add_assignment(&format!("bot.name={NAME}"));
    layers.add_assignment(&format!("tools.enabled={with_tools}"));
    let policies = config::resolve(&layers).expect("the settings of the bench are sound");
    let database = Database::open(&folder.join(format!("{with_tools}.db"))).expect("a database for the bench");
    let memory = database.memory(StoredLayers::ALL);
    let keeper = Keeper::new(memory, Arc::new(NoModel), Stores::from(database), policies.clone());
    let tools = tools::open(&layers, Some(&Arc::new(keeper))).expect("the tools of the defaults");
    let listener = PromptMeter {
        stand_in: StandIn::new(true, Vec::new(), &policies),
        prompts: Prompts::new("".into()),
        policies: policies.clone(),
        tools,
        judged: PromptTotals::default(),
        written: PromptTotals::default(),
    };
    let events = aizuchi_formats::read(log, &aizuchi_formats::Options::default(), &mut |_| ()).expect("a log").events;
    let mut sim = Sim::new(Engine::new(policies), listener);
    let mut clock = Time(0);
    for event in events {
        clock = clock.max(event.at);
        sim.feed(clock, event.input);
        sim.traces.clear();
    }
    sim.finish();
    let tools = if with_tools { "with tools" } else { "without tools" };
    sim.oracle.judged.print(&format!("judge, {tools}"));
    sim.oracle.written.print(&format!("answers, {tools}"));
}

/// Builds every prompt that is asked for.
struct PromptMeter {
    stand_in: StandIn,
    prompts: Prompts,
    policies: Policies,
    tools: Toolset,
    judged: PromptTotals,
    written: PromptTotals,
}

#[derive(Default)]
struct PromptTotals {
    prompts: u64,
    chars: u64,
    bytes: u64,
    /// The bytes of prompts with which the one before began too.
    known: u64,
    last: Vec<u8>,
}

impl PromptTotals {
    fn add(&mut self, prompt: &Prompt) {
        let texts: Vec<u8> = prompt.texts().flat_map(|text| text.into_owned().into_bytes()).collect();
        self.prompts += 1;
        self.chars += prompt.chars();
        self.bytes += texts.len() as u64;
        self.known += self.last.iter().zip(&texts).take_while(|(one, other)| one == other).count() as u64;
        self.last = texts;
    }

    fn print(&self, what: &str) {
        let of_all = self.prompts.max(1) as f64;
        println!(
            "prompts, {what}: {} of {:.0} characters; {:.1} % of their bytes are the beginning of the one before",
            self.prompts,
            self.chars as f64 / of_all,
            100.0 * self.known as f64 / self.bytes.max(1) as f64
        );
    }
}

impl Oracle for PromptMeter {
    fn judge(&mut self, ask: &Ask) -> (Span, Result<Answer, Failure>) {
        let policy = self.policies.for_room(ask.call.room.as_str());
        self.judged.add(&self.prompts.judge(ask, policy).expect("our prompts can be filled"));
        self.stand_in.judge(ask)
    }

    fn write(&mut self, brief: &Brief) -> (Span, Result<Answer, Failure>) {
        let policy = self.policies.for_room(brief.place.room.as_str());
        let tools = self.tools.shown_to(brief, policy);
        self.written.add(&self.prompts.write(brief, tools, policy).expect("our prompts can be filled"));
        self.stand_in.write(brief)
    }

    fn deliver(&mut self, delivery: &Delivery) -> (Span, Result<Vec<MessageId>, Failure>) {
        self.stand_in.deliver(delivery)
    }
}
