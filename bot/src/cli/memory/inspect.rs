//! Lists, shows and searches memory.

use std::fmt::Write as _;

use aizuchi_core::memory::{ChannelMemory, Fact, FactId, Filter, Origin, Person, Query, pairs_of_ties, words};
use aizuchi_core::types::{BOT_KEY, PersonId, RoomId, Time, Visibility};
use anyhow::bail;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::MemoryReader;
use crate::cli::settings::SettingsArguments;
use crate::cli::show::{harmless, harmless_json};
use crate::cli::{print, store, when};
use crate::language::Language;
use crate::lookalike::looks_like;
use crate::sentences;

#[derive(Args)]
pub struct List {
    /// What to list
    #[arg(value_enum, default_value_t = ListKind::Facts)]
    what: ListKind,
    /// Only facts or ties of this room
    #[arg(long, value_name = "ROOM")]
    room: Option<String>,
    /// Only facts that come from this person's words, or their ties
    #[arg(long, value_name = "PERSON")]
    person: Option<String>,
    /// How many at most; 0 lists all
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    count: usize,
    /// Print JSON Lines instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ListKind {
    /// Facts, the latest first
    Facts,
    /// People, the latest seen first
    People,
    /// What rooms are about
    Rooms,
    /// Who answers whom in a room, how often and about what
    Ties,
}

#[derive(Args)]
pub struct Show {
    /// The number of a fact, or the id or name of a person or a room
    what: String,
    /// Print one line of JSON instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Args, Default)]
pub struct Search {
    /// What to look for
    #[arg(required = true)]
    pub text: Vec<String>,
    /// Rank as for an answer in this room
    #[arg(long, value_name = "ROOM")]
    pub room: Option<String>,
    /// How many at most [default: as many as an answer is written with, memory.recall_facts]
    #[arg(long, value_name = "NUMBER")]
    pub count: Option<usize>,
    /// Print JSON Lines instead of text
    #[arg(long)]
    pub json: bool,
}

pub fn list(arguments: &super::MemoryArguments, list: &List) -> anyhow::Result<()> {
    let reading = arguments.open()?;
    let count = if list.count == 0 { usize::MAX } else { list.count };
    let mut told = String::new();
    match list.what {
        ListKind::Facts => {
            let room = list.room.as_deref().map(|asked| room_called(&reading, asked)).transpose()?;
            let person = list.person.as_deref().map(|asked| person_called(&reading, asked)).transpose()?;
            let filter = Filter { room, person, count: list.count, ..Filter::default() };
            for fact in reading.facts(&filter)? {
                append_entry(&mut told, list.json, || json!(fact), || fact_line(&fact));
            }
        }
        ListKind::People => {
            for person in reading.people(None)?.into_iter().take(count) {
                let seen = when::day_and_clock(person.last_seen);
                let line = || format!("{}  {}  {} messages, last {seen}", person.id, person.name(), person.messages);
                append_entry(&mut told, list.json, || json!(person), line);
            }
        }
        ListKind::Ties => list_ties(&reading, list, count, &mut told)?,
        ListKind::Rooms => {
            for channel in reading.channels()?.into_iter().filter(|channel| !channel.is_empty()).take(count) {
                let line = || format!("{}  {}", channel.origin.room, channel.topics.join(", "));
                append_entry(&mut told, list.json, || json!(channel), line);
            }
        }
    }
    if told.is_empty() && !list.json {
        told = "nothing is remembered\n".into();
    }
    print(&told)
}

fn list_ties(reading: &MemoryReader, list: &List, count: usize, told: &mut String) -> anyhow::Result<()> {
    let person = list.person.as_deref().map(|asked| person_called(reading, asked)).transpose()?;
    let rooms = match &list.room {
        Some(asked) => vec![room_called(reading, asked)?],
        None => reading.rooms()?,
    };
    let people = reading.people(None)?;
    let name = |id: &PersonId| distinct_name(&people, id);
    let mut left = count;
    for room in rooms {
        for pair in pairs_of_ties(&reading.ties(Some(&room), person.as_ref())?, now()).into_iter().take(left) {
            left -= 1;
            let line = || {
                let [one, other] = pair.people.each_ref().map(name);
                let [there, back] = pair.answers;
                let (last, words) = (when::day_and_clock(pair.last), pair.words.join(", "));
                format!("{room}  {one} and {other}  {there} and {back} answers, last {last}  {words}")
            };
            append_entry(told, list.json, || json!({"room": room, "pair": pair}), line);
        }
    }
    Ok(())
}

/// A person's name, with the id if the name is not unique.
fn distinct_name(people: &[Person], id: &PersonId) -> String {
    const BOT: &str = "the bot";
    if id.as_str() == BOT_KEY {
        return BOT.to_owned();
    }
    let Some(person) = people.iter().find(|person| person.id == *id) else { return id.to_string() };
    let name = person.name();
    let is_taken =
        looks_like(name, BOT) || people.iter().any(|other| other.id != *id && looks_like(other.name(), name));
    if is_taken { format!("{name} ({id})") } else { name.to_owned() }
}

pub fn show(arguments: &super::MemoryArguments, show: &Show) -> anyhow::Result<()> {
    let reading = arguments.open()?;
    let fact = match show.what.parse() {
        Ok(id) => reading.fact(FactId(id))?,
        Err(_) => None,
    };
    if let Some(fact) = fact {
        let text = || whole_fact(&fact);
        return one(show.json, json!(fact), text);
    }
    if let Ok(room) = room_called(&reading, &show.what) {
        let (channel, marks) = reading.channel(&room)?;
        let facts = reading.facts(&Filter { room: Some(room.clone()), ..Filter::default() })?;
        let text = || whole_room(&room, channel.as_ref(), &facts);
        return one(show.json, json!({"channel": channel, "marks": marks, "facts": facts}), text);
    }
    let id = person_called(&reading, &show.what)?;
    let about = reading.about(&id)?;
    let Some(person) = &about.person else { bail!("nothing is remembered about {}", show.what) };
    one(show.json, json!(about), || whole_person(person, &about.facts))
}

pub fn search(arguments: &super::MemoryArguments, search: &Search) -> anyhow::Result<()> {
    print(&find_in_memory(arguments.folder.as_deref(), &arguments.settings, search)?)
}

/// The output of a search.
pub fn find_in_memory(folder: Option<&str>, settings: &SettingsArguments, search: &Search) -> anyhow::Result<String> {
    let reading = MemoryReader::open(&store::location(folder, settings)?, settings)?;
    let text = search.text.join(" ");
    if words::search_words(&text).is_empty() {
        bail!("no searchable word in {text:?}");
    }
    let policies = settings.policies()?;
    let mut told = String::new();
    let count = |room: &str| {
        let usual = policies.for_room(room).settings.memory.recall_facts as usize;
        search.count.unwrap_or(usual.max(1))
    };
    match &search.room {
        None => {
            let filter = Filter { text: Some(text), count: count(""), ..Filter::default() };
            for fact in reading.facts(&filter)? {
                append_entry(&mut told, search.json, || json!(fact), || fact_line(&fact));
            }
        }
        Some(asked) => {
            let room = room_to_search(&reading, asked)?;
            let (count, vector) = (count(room.as_str()), reading.meaning_of(&text, &policies)?);
            let reader = Origin { visibility: reading.visibility(&room)?, room };
            let query = Query { text, speaker: None, reader, at: now(), count, vector, close: Vec::new() };
            for found in reading.recall(&query, &policies)? {
                let numbers = format!("score {:.2}, strength {:.2}, {}", found.score, found.strength, found.allowed);
                let line = || format!("{}\n      {numbers}", fact_line(&found.fact));
                append_entry(&mut told, search.json, || json!(found), line);
            }
        }
    }
    if told.is_empty() && !search.json {
        told = "nothing fits\n".into();
    }
    Ok(told)
}

pub fn now() -> Time {
    Time(jiff::Timestamp::now().as_millisecond().cast_unsigned())
}

fn append_entry(told: &mut String, json: bool, value: impl FnOnce() -> Value, line: impl FnOnce() -> String) {
    match json {
        true => told.push_str(&harmless_json(&value())),
        false => told.push_str(&line().lines().map(harmless).collect::<Vec<_>>().join("\n")),
    }
    told.push('\n');
}

fn one(json: bool, value: Value, text: impl FnOnce() -> String) -> anyhow::Result<()> {
    let mut told = String::new();
    append_entry(&mut told, json, || value, text);
    print(&told)
}

fn fact_line(fact: &Fact) -> String {
    let pinned = if fact.pinned { " (pinned)" } else { "" };
    let former =
        fact.former.map(|former| format!(" (until {})", when::day_and_clock(former.since))).unwrap_or_default();
    let audience = match fact.origin.visibility {
        Visibility::Public => "",
        Visibility::Private => " (private)",
        Visibility::Direct => " (between two people)",
    };
    format!("{:>5} {}{audience}  {}{pinned}{former}", fact.id.0, fact.origin.room, fact.content)
}

fn whole_fact(fact: &Fact) -> String {
    let mut text = fact_line(fact);
    let ids = |ids: Vec<&str>| if ids.is_empty() { "nobody".to_owned() } else { ids.join(", ") };
    let _ = write!(text, "\n      keywords   {}", fact.keywords.join(", "));
    let _ = write!(text, "\n      rests on   {}", ids(fact.people.iter().map(PersonId::as_str).collect()));
    let messages: Vec<&str> = fact.messages.iter().map(|message| message.as_str()).collect();
    let _ = write!(text, "\n      messages   {}", messages.join(", "));
    let _ = write!(text, "\n      learnt     {}", when::day_and_clock(fact.at));
    let _ = write!(text, "\n      confidence {:.2}, used {} times", fact.confidence, fact.uses);
    text
}

fn whole_room(room: &RoomId, channel: Option<&ChannelMemory>, facts: &[Fact]) -> String {
    let mut text = room.to_string();
    if let Some(channel) = channel {
        let _ = write!(text, "\n{}", sentences::format_channel(channel, Language::ENGLISH));
    }
    facts.iter().for_each(|fact| text += &format!("\n{}", fact_line(fact)));
    text
}

fn whole_person(person: &Person, facts: &[Fact]) -> String {
    if person.opted_out {
        return format!("{} has opted out of memory", person.id);
    }
    let mut text = format!("{}  {}", person.id, person.names.join(", "));
    let _ = write!(text, "\n  {} messages, {} of them to the bot", person.messages, person.mentions_of_me);
    let _ = write!(
        text,
        "\n  from {} to {}",
        when::day_and_clock(person.first_seen),
        when::day_and_clock(person.last_seen)
    );
    for (label, remarks) in
        [("topics", &person.topics), ("tags", &person.tags), ("notes", &person.notes), ("talks", &person.talks)]
    {
        for remark in remarks {
            let _ = write!(text, "\n  {label:8} {} ({})", remark.text, remark.origin.room);
        }
    }
    facts.iter().for_each(|fact| text += &format!("\n{}", fact_line(fact)));
    text
}

/// Finds a room by its whole id or by the part after the platform's name.
pub fn room_called(reading: &MemoryReader, asked: &str) -> anyhow::Result<RoomId> {
    let rooms = reading.rooms()?;
    if let Some(room) = rooms.iter().find(|room| room.as_str() == asked) {
        return Ok(room.clone());
    }
    let meant: Vec<&RoomId> = rooms.iter().filter(|room| store::is_room(room.as_str(), asked)).collect();
    let listed = |rooms: &[&RoomId]| store::join_names(&rooms.iter().map(|room| room.as_str()).collect::<Vec<_>>());
    match meant.as_slice() {
        [room] => Ok((*room).clone()),
        [] => {
            bail!("nothing is remembered about a room {asked}; there are {}", listed(&rooms.iter().collect::<Vec<_>>()))
        }
        several => bail!("{asked} is ambiguous: {}", listed(several)),
    }
}

/// The same for the room a search starts from: even a room without memories of its own may see those of others.
fn room_to_search(reading: &MemoryReader, asked: &str) -> anyhow::Result<RoomId> {
    let remembered = room_called(reading, asked);
    remembered.or_else(|unknown| match reading.room_heard(asked) {
        Some(room) => Ok(room),
        None if asked.contains(':') => Ok(RoomId::new(asked)),
        None => Err(unknown),
    })
}

/// Finds a person by id, or by a name that only one person has.
pub fn person_called(reading: &MemoryReader, asked: &str) -> anyhow::Result<PersonId> {
    let id = PersonId::new(asked);
    let about = reading.about(&id)?;
    if about.person.is_some() || !about.facts.is_empty() {
        return Ok(id);
    }
    let name = words::normal(asked);
    let people = reading.people(None)?;
    let named = |person: &&Person| person.names.iter().any(|of| words::normal(of) == name);
    let meant: Vec<&str> = people.iter().filter(named).map(|person| person.id.as_str()).collect();
    match meant.as_slice() {
        [id] => Ok(PersonId::new(id)),
        [] => bail!("nothing is remembered about {asked}; see `aizuchi memory list people`"),
        several => bail!("{asked} is ambiguous: {}", store::join_names(several)),
    }
}
