//! A store as a running program leaves it: everything that happened, and every decision.

use std::collections::BTreeMap;
use std::path::Path;

use aizuchi::ports::{DecisionStore, JournalEntry, JournalStore};
use aizuchi::replay::Script;
use aizuchi::stores::Database;
use aizuchi_core::effect::Usage;
use aizuchi_core::sim::{Oracle, StandIn};
use aizuchi_core::{Effect, Engine, Input, Policies, Time, Trace};
use aizuchi_formats::Options;

use super::program::Folder;

/// What happened when, by which engine, and what was decided.
#[derive(Default)]
pub struct Lived {
    pub records: Vec<(Time, u32, Input)>,
    pub traces: Vec<Trace>,
}

/// Lives through a talk with the default settings, as the program does.
pub fn live(talk: &str, script: &str) -> Lived {
    live_with(Policies::preset("aizuchi").expect("the preset is there"), talk, script)
}

/// The same where nobody hears it, as the people of a log do not.
pub fn live_unheard(talk: &str, script: &str) -> Lived {
    live_with(Policies::preset("aizuchi").expect("the preset is there").unheard(), talk, script)
}

pub fn live_with(policies: Policies, talk: &str, script: &str) -> Lived {
    let mut oracle = StandIn::new(false, Script::parse(script).expect("the script is right").0, &policies);
    let options = Options { strict: true, ..Options::default() };
    let log = aizuchi_formats::read_text("talk", talk.as_bytes(), &options, &mut |_| ()).expect("the talk is right");
    let mut coming: BTreeMap<(Time, usize), Input> =
        log.events.into_iter().enumerate().map(|(nth, event)| ((event.at, nth), event.input)).collect();
    let mut next = coming.len();
    let (mut engine, mut lived, mut effects) = (Engine::new(policies), Lived::default(), Vec::new());
    loop {
        let due = engine.next_deadline();
        let (at, mut input) = match coming.first_key_value() {
            Some((&(at, _), _)) if due.is_none_or(|due| at <= due) => (at, coming.pop_first().expect("it was there").1),
            _ => match due {
                Some(due) => (due, Input::Tick),
                None => return lived,
            },
        };
        if let Input::Said(message) = &mut input {
            message.heard.get_or_insert(at);
        }
        lived.records.push((at, 0, input.clone()));
        engine.handle(at, input, &mut effects);
        for effect in effects.drain(..) {
            let (later, answer) = match effect {
                Effect::Ask(ask) => {
                    let (latency, answer) = oracle.judge(&ask);
                    (ask.at + latency, Input::Judged(ask.call, answer))
                }
                Effect::Write(brief) => {
                    let (latency, answer) = oracle.write(&brief);
                    (brief.at + latency, Input::Written(brief.call, answer))
                }
                Effect::Deliver(delivery) => {
                    let (latency, ids) = oracle.deliver(&delivery);
                    (delivery.at + latency, Input::Delivered(delivery.call, ids))
                }
                Effect::Recall(recall) => {
                    let (latency, found) = oracle.recall(&recall);
                    (recall.at + latency, Input::Recalled(recall.call, found, Usage::default()))
                }
                Effect::Remember(remember) => {
                    let (latency, done) = oracle.remember(&remember);
                    (remember.at + latency, Input::Remembered(remember.call, done))
                }
                Effect::Withdraw(_) | Effect::Type(_) | Effect::RunTool(_) | Effect::Updated(_) => continue,
                Effect::Abort(call) => {
                    coming.retain(|_, input| input.call() != Some(&call));
                    continue;
                }
                Effect::Trace(trace) | Effect::Received(trace) => {
                    lived.traces.push(*trace);
                    continue;
                }
            };
            coming.insert((later, next), answer);
            next += 1;
        }
    }
}

impl Lived {
    /// Writes it down where the settings have it by default.
    pub fn keep_in(self, folder: &Folder) {
        self.keep_at(&folder.path("aizuchi-data"));
    }

    pub fn keep_at(self, folder: &Path) {
        std::fs::create_dir_all(folder).expect("folders can be made");
        let write = async {
            let database = Database::open(&folder.join("aizuchi.db")).expect("a store can be made");
            for together in self.records.chunk_by(|(_, one, _), (_, other, _)| one == other) {
                let entry = |(at, _, input): &(Time, u32, Input)| JournalEntry::Input(*at, input.clone());
                let entries: Vec<JournalEntry> = together.iter().map(entry).collect();
                JournalStore::append(&database, together[0].1 as usize, &entries).await.expect("it can be written");
            }
            DecisionStore::keep(&database, self.traces.into()).await.expect("it can be written");
        };
        tokio::runtime::Builder::new_multi_thread().build().expect("tasks can be run").block_on(write);
    }
}

/// Changes the store by hand.
pub fn meddle(folder: &Folder, change: &str) {
    let connection = rusqlite::Connection::open(folder.path("aizuchi-data/aizuchi.db")).expect("the store is there");
    connection.execute_batch(change).expect("it can be changed");
}
