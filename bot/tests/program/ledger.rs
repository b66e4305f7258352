//! What the store says in the end, held against what people know.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use aizuchi::language::Language;
use aizuchi::sentences::sentence;
use aizuchi_core::listen::Unheard;
use aizuchi_core::trace::{Cause, Outcome};
use aizuchi_core::{Input, Trace};
use rusqlite::Connection;
use serde_json::Value;

use crate::crowd::{Mute, Taken, Talker, is_call};
use crate::findings::{Broken, Findings};

/// A message of the web room as it is stored.
struct Kept {
    id: String,
    order: i64,
    key: String,
    body: Value,
}

/// Everything that was stored.
pub struct Ledger {
    /// By room.
    messages: BTreeMap<String, Vec<Kept>>,
    traces: BTreeMap<String, Trace>,
    /// Ids of the messages in the journal.
    heard: BTreeSet<String>,
    /// Calls whose posts the journal knows of.
    acknowledged: BTreeSet<String>,
}

/// What may be, beyond what must be.
#[derive(Default)]
pub struct Terms {
    /// The clock jumped, so that what nobody called for may come too late.
    pub may_be_late: bool,
    /// Ids of calls from so long ago that nobody expects an answer.
    pub excused: BTreeSet<String>,
}

/// Calls that have an answer.
#[derive(Default)]
pub struct Answered {
    /// Alone or together with others.
    pub with_words: usize,
    /// More called at once than could be answered, and a friendly line says so to all of them.
    pub by_a_line: usize,
}

/// The offline model quotes the person who calls it.
const QUOTES: &str = ", I heard you: “@aizuchi what";

impl Ledger {
    pub fn read(store: &Connection) -> Ledger {
        let mut messages: BTreeMap<String, Vec<Kept>> = BTreeMap::new();
        for (room, kept) in
            rows(store, "SELECT room, id, first_seq, key, body FROM web_message ORDER BY first_seq", |row| {
                let body: String = row.get(4)?;
                let body = serde_json::from_str(&body).expect("a message can be read");
                Ok((row.get::<_, String>(0)?, Kept { id: row.get(1)?, order: row.get(2)?, key: row.get(3)?, body }))
            })
        {
            messages.entry(room).or_default().push(kept);
        }
        let bodies = rows(store, "SELECT body FROM trace", |row| row.get::<_, String>(0));
        let read = |body: String| serde_json::from_str::<Trace>(&body).expect("a decision can be read");
        let traces = bodies.into_iter().map(read).map(|trace| (trace.message.to_string(), trace)).collect();
        let bodies = rows(store, "SELECT body FROM journal ORDER BY seq", |row| row.get::<_, String>(0));
        let (mut heard, mut acknowledged) = (BTreeSet::new(), BTreeSet::new());
        for body in bodies {
            match serde_json::from_str(&body).expect("a record can be read") {
                Input::Said(message) => drop(heard.insert(message.id.to_string())),
                Input::Delivered(call, _) => drop(acknowledged.insert(call.to_string())),
                _ => (),
            }
        }
        Ledger { messages, traces, heard, acknowledged }
    }

    /// Whether nothing is pending any more.
    pub fn is_settled(&self, people: &[Talker]) -> bool {
        self.pending(people).is_empty()
    }

    /// Messages that wait for a decision, and calls whose posts wait for an acknowledgement.
    pub fn pending(&self, people: &[Talker]) -> Vec<String> {
        let taken = people.iter().flat_map(|talker| &talker.taken);
        let undecided = taken.filter(|taken| !self.traces.contains_key(&taken.id));
        let undecided = undecided.map(|taken| format!("{} {:?} is not decided", taken.id, taken.text));
        let unacknowledged = self.unacknowledged().into_iter().map(|call| format!("{call} is not acknowledged"));
        undecided.chain(unacknowledged).collect()
    }

    /// Whether every promise was kept; if not, it fails. How many calls were answered.
    pub fn check(&self, people: &[Talker], terms: &Terms) -> Answered {
        let mut findings = Findings::default();
        let answered = self.look(people, terms, &mut findings);
        findings.assert_none();
        answered
    }

    /// Whether all answers are whole and said once; if not, it fails.
    pub fn check_answers(&self) {
        let mut findings = Findings::default();
        self.look_at_answers(&BTreeSet::new(), &mut findings);
        findings.assert_none();
    }

    /// Looks for promises that were not kept. How many calls were answered.
    pub fn look(&self, people: &[Talker], terms: &Terms, findings: &mut Findings) -> Answered {
        people.iter().for_each(|talker| self.look_at_messages(talker, terms, findings));
        let moderated = people.iter().filter(|talker| talker.moderates).map(|talker| talker.room).collect();
        self.look_at_answers(&moderated, findings);
        let mut answered = Answered::default();
        people.iter().for_each(|talker| self.look_at_calls(talker, terms, &mut answered, findings));
        answered
    }

    /// Every message that was taken is there once, was heard, and has its decision.
    fn look_at_messages(&self, talker: &Talker, terms: &Terms, findings: &mut Findings) {
        let room = &self.messages[talker.room];
        let mut kept: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for message in room {
            kept.entry(message.body["text"].as_str().expect("a text")).or_default().push(&message.id);
        }
        for Taken { id, text, .. } in &talker.taken {
            let same = kept.get(text.as_str()).map_or(&[] as &[&str], Vec::as_slice);
            match same.len() {
                0 => findings.add(Broken::Lost, format!("{id} {text:?} is not in the history")),
                1 if same[0] == id => (),
                _ => findings.add(Broken::Doubled, format!("{id} {text:?} is in the history as {same:?}")),
            }
            if !self.heard.contains(id) {
                findings.add(Broken::Lost, format!("{id} {text:?} is not in the journal"));
            }
            let Some(trace) = self.traces.get(id) else {
                findings.add(Broken::Undecided, format!("{id} {text:?} is not decided"));
                continue;
            };
            let undecided = match trace.cause {
                Cause::Undecided => true,
                Cause::Unheard(unheard) => unheard == Unheard::Repeated || unheard.is_late() && !terms.may_be_late,
                _ => false,
            };
            if undecided {
                findings.add(
                    Broken::Undecided,
                    format!("{id} {text:?} has no decision: {}", sentence(trace, Language::ENGLISH)),
                );
            }
        }
        let mine = room.iter().filter(|kept| kept.body["by"]["name"] == talker.name).count();
        if mine > talker.taken.len() {
            findings.add(Broken::Doubled, format!("{} said {mine}, not {}", talker.name, talker.taken.len()));
        }
        for missed in talker.missed(room.iter().map(|kept| kept.id.as_str())) {
            findings.add(Broken::Lost, format!("{} has not seen {missed}", talker.name));
        }
        let ids: BTreeSet<&str> = room.iter().map(|kept| kept.id.as_str()).collect();
        for gone in talker.shown.iter().filter(|id| !ids.contains(id.as_str())) {
            findings.add(Broken::Lost, format!("{} has seen {gone}, which is gone", talker.name));
        }
        for lost in &talker.mutes_lost {
            findings.add(Broken::Unmuted, lost.clone());
        }
    }

    /// Nothing is said twice, no answer stays half, and each is an answer to a message of its own.
    fn look_at_answers(&self, moderated: &BTreeSet<&str>, findings: &mut Findings) {
        for (room, messages) in &self.messages {
            let by_id: BTreeMap<&str, &Kept> = messages.iter().map(|kept| (kept.id.as_str(), kept)).collect();
            let (mut answered, mut quoted) = (BTreeSet::new(), BTreeSet::new());
            for (call, parts) in answers(messages) {
                if !parts.iter().enumerate().all(|(index, (part, _))| index == *part) {
                    findings.add(Broken::Doubled, format!("{call}: the parts are not in order"));
                }
                let to = parts[0].1.body["reply_to"].as_str().unwrap_or_default();
                if !answered.insert(to) {
                    findings
                        .add(Broken::Doubled, format!("{room}: {to:?} is answered twice, the second time by {call}"));
                }
                let Some(asked) = by_id.get(to).filter(|asked| asked.order < parts[0].1.order) else {
                    findings.add(Broken::Doubled, format!("{call} answers {to:?}, which was not said before it"));
                    continue;
                };
                self.compare_with_why(call, to, findings);
                let text = |kept: &Kept| kept.body["text"].as_str().expect("a text").to_owned();
                let words = parts.iter().map(|(_, kept)| text(kept)).collect::<Vec<_>>().join(" ");
                if !is_call(&text(asked)) {
                    continue;
                }
                if words.contains(QUOTES) && !quoted.insert(words.clone()) {
                    findings.add(Broken::Doubled, format!("{call} says once more: {words}"));
                }
                let whole = words.contains(QUOTES) && words.ends_with("no model is connected)");
                // A mute ends an answer in mid-sentence.
                if !whole && !self.is_excused(to) && !moderated.contains(room.as_str()) {
                    findings.add(Broken::Half, format!("{call}: {words}"));
                }
            }
        }
    }

    /// Whether the answer to it is a friendly line that says why there is no other.
    fn is_excused(&self, id: &str) -> bool {
        self.traces.get(id).is_some_and(|trace| matches!(trace.cause, Cause::Excused { .. }))
    }

    /// What was posted is what the decision says.
    fn compare_with_why(&self, call: &str, to: &str, findings: &mut Findings) {
        let Some(trace) = self.traces.get(to) else { return };
        if !matches!(trace.outcome, Outcome::Replies | Outcome::Acknowledges) {
            findings.add(Broken::Misreported, format!("{call} answers {to}: {}", sentence(trace, Language::ENGLISH)));
        }
    }

    /// Everyone who called the bot has an answer, alone or together with others, or a reason why not.
    fn look_at_calls(&self, talker: &Talker, terms: &Terms, count: &mut Answered, findings: &mut Findings) {
        let answers = answers(&self.messages[talker.room]);
        let told: BTreeSet<&str> = answers.values().filter_map(|parts| parts[0].1.body["reply_to"].as_str()).collect();
        let excused = told.iter().any(|id| self.is_excused(id));
        let acted: BTreeSet<_> = told.iter().filter_map(|id| self.traces.get(*id)?.acted_at).collect();
        for Taken { id, text, mute } in talker.taken.iter().filter(|taken| is_call(&taken.text)) {
            // Found to be undecided already.
            let Some(trace) = self.traces.get(id) else { continue };
            let muted = trace.gate.as_deref() == Some("mute");
            let story = || format!("{id} {text:?}: {}", sentence(trace, Language::ENGLISH));
            match trace.outcome {
                _ if terms.excused.contains(id) => (),
                Outcome::Silent if muted && talker.moderates && !told.contains(id.as_str()) => (),
                Outcome::Silent | Outcome::Ignored if *mute == Mute::On && !told.contains(id.as_str()) => (),
                _ if *mute == Mute::On => findings.add(Broken::Unmuted, story()),
                Outcome::Replies if trace.acted_at.is_some_and(|at| acted.contains(&at)) => count.with_words += 1,
                Outcome::Replies => findings.add(Broken::Misreported, format!("nothing was posted: {}", story())),
                Outcome::Silent if trace.cause == Cause::TooMany && excused => count.by_a_line += 1,
                Outcome::Silent | Outcome::Ignored | Outcome::Reacts | Outcome::Acknowledges => {
                    findings.add(Broken::Unanswered, story());
                }
            }
        }
    }

    /// Whether people see an answer to this message.
    pub fn is_answered(&self, room: &str, id: &str) -> bool {
        answers(&self.messages[room]).values().any(|parts| parts[0].1.body["reply_to"] == id)
    }

    /// How many parts of each answer are out, by call.
    pub fn parts(&self) -> BTreeMap<String, usize> {
        let all = self.messages.values().flat_map(|messages| answers(messages));
        all.map(|(call, parts)| (call.to_owned(), parts.len())).collect()
    }

    /// Answers that are out while the engine does not know it yet.
    fn unacknowledged(&self) -> BTreeSet<String> {
        self.parts().into_keys().filter(|call| !self.acknowledged.contains(call)).collect()
    }
}

/// What a crash has left.
pub struct Left {
    /// How many parts of each answer are out, by call.
    pub parts: BTreeMap<String, usize>,
    /// Whether an answer is out, at least in part, while the engine does not know it yet.
    pub unacknowledged: bool,
    /// Ids of calls that wait for a decision, and when they were said, in milliseconds since 1970.
    pub undecided: Vec<(String, u64)>,
}

impl Left {
    /// Reads a copy of the store, so that the next start finds it as it was left.
    pub fn read(data: &Path, aside: &Path) -> Option<Left> {
        let _ = std::fs::remove_dir_all(aside);
        std::fs::create_dir(aside).expect("a folder for the copy");
        for name in ["aizuchi.db", "aizuchi.db-wal"] {
            // Killed early on, it has made neither.
            let _ = std::fs::copy(data.join(name), aside.join(name));
        }
        let store = Connection::open(aside.join("aizuchi.db")).expect("a copy can be opened");
        let version: u32 =
            store.pragma_query_value(None, "user_version", |row| row.get(0)).expect("the store is sound");
        if version == 0 {
            return None;
        }
        let mut parts = BTreeMap::new();
        for key in rows(&store, "SELECT key FROM web_message WHERE key LIKE 'web:%#%/%'", |row| row.get::<_, String>(0))
        {
            *parts.entry(key.rsplit_once('/').expect("a key names call and part").0.to_owned()).or_default() += 1;
        }
        let acknowledged = "SELECT body FROM journal WHERE body LIKE '{\"Delivered\"%'";
        let bodies = rows(&store, acknowledged, |row| row.get::<_, String>(0));
        let inputs: Vec<Input> =
            bodies.iter().map(|body| serde_json::from_str(body).expect("a record can be read")).collect();
        let known: BTreeSet<String> = inputs.iter().filter_map(acknowledges).collect();
        let unacknowledged = parts.keys().any(|call| !known.contains(call));
        let undecided = rows(
            &store,
            "SELECT id, body ->> 'at' FROM web_message WHERE body ->> 'text' LIKE '@aizuchi%' AND NOT EXISTS
                 (SELECT 1 FROM trace WHERE trace.room = 'web:' || web_message.room AND message = id)",
            |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64)),
        );
        Some(Left { parts, unacknowledged, undecided })
    }
}

fn acknowledges(input: &Input) -> Option<String> {
    match input {
        Input::Delivered(call, _) => Some(call.to_string()),
        _ => None,
    }
}

/// Its own posts by call, the parts in the order in which they went out.
fn answers(messages: &[Kept]) -> BTreeMap<&str, Vec<(usize, &Kept)>> {
    let mut answers: BTreeMap<&str, Vec<(usize, &Kept)>> = BTreeMap::new();
    for kept in messages.iter().filter(|kept| kept.body["voice"] == "Me") {
        let (call, part) = kept.key.rsplit_once('/').expect("a key names call and part");
        answers.entry(call).or_default().push((part.parse().expect("a number"), kept));
    }
    answers
}

fn rows<T>(store: &Connection, query: &str, read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>) -> Vec<T> {
    let mut statement = store.prepare(query).expect("the tables are there");
    let found = statement.query_map([], read).expect("they can be read");
    found.collect::<rusqlite::Result<_>>().expect("they can be read")
}
