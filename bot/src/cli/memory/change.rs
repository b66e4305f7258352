//! Changes memory in a data folder that no other process holds.

use std::collections::BTreeSet;
use std::sync::Arc;

use aizuchi_core::memory::words::{DoubtfulName, NameDoubt};
use aizuchi_core::memory::{ExportItem, FactId, Filter, MemoryChange, Person, to_forget};
use aizuchi_core::types::{PersonId, RoomId};
use anyhow::{Context as _, bail};
use clap::Args;

use super::checks;
use super::inspect::{now, person_called, room_called};
use crate::cli::print;
use crate::cli::show::{harmless, print_error, progress_bar};
use crate::cli::store::{HeldPart, HeldStore};
use crate::keeper::NamesLeft;
use crate::memory::IMPORTED_TOGETHER;
use crate::platforms::PlatformsAtRest;
use crate::ports::{MemoryStore, Platform};

#[derive(Args)]
pub struct Forget {
    #[command(flatten)]
    whom: ForgetTarget,
    /// A name of this person of which somebody else may be meant, or that is only a part of theirs; may be repeated
    #[arg(long = "name", value_name = "NAME", requires = "person")]
    names: Vec<String>,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct ForgetTarget {
    /// A fact, by its number
    #[arg(long, value_name = "NUMBER")]
    fact: Option<u64>,
    /// A person, by id or name
    #[arg(long, value_name = "PERSON")]
    person: Option<String>,
    /// Everything that was said in a room
    #[arg(long, value_name = "ROOM")]
    room: Option<String>,
}

#[derive(Args)]
pub struct Import {
    /// What `aizuchi memory export` wrote
    file: String,
}

/// What is to be forgotten, resolved to an entry.
enum ForgottenPart {
    Fact(FactId),
    Person(PersonId),
    Room(RoomId),
}

pub fn forget(arguments: &super::MemoryArguments, forget: &Forget) -> anyhow::Result<()> {
    let (part, told) = {
        let reading = arguments.open()?;
        let ForgetTarget { fact, person, room } = &forget.whom;
        if let Some(id) = fact {
            let Some(fact) = reading.fact(FactId(*id))? else { bail!("there is no fact {id}") };
            (ForgottenPart::Fact(fact.id), format!("forgot: {}", fact.content))
        } else if let Some(asked) = person {
            // Once a person is forgotten, only their id is left to name them by.
            let person = match person_called(&reading, asked) {
                Err(_) if !forget.names.is_empty() && asked.contains(':') => PersonId::new(asked),
                found => found?,
            };
            let told = format!("forgot {person} and {} facts from their words", reading.about(&person)?.facts.len());
            (ForgottenPart::Person(person), told)
        } else {
            let room = room_called(&reading, room.as_deref().unwrap_or_default())?;
            let told = format!("forgot what was said in {room}");
            (ForgottenPart::Room(room), told)
        }
    };
    let in_use = "while aizuchi is running, people use /aizuchi forget-me, in the web room /forget-me";
    let names: Vec<Box<str>> = forget.names.iter().map(|name| name.as_str().into()).collect();
    let mut left = String::new();
    change_store(arguments, HeldPart::Everything, in_use, async |held| {
        let keeper = held.keeper().await?;
        match part {
            ForgottenPart::Fact(fact) => Ok(keeper.change(vec![MemoryChange::Forgotten { fact }]).await?),
            ForgottenPart::Person(person) => {
                let platforms: [Arc<dyn Platform>; 1] = [Arc::new(PlatformsAtRest(held.backend.platform_stores()))];
                left = names_left(&person, &keeper.forget_at_rest(person.clone(), &names, &platforms).await?);
                Ok(())
            }
            ForgottenPart::Room(room) => keeper.forget_room_at_rest(room).await,
        }
    })?;
    print(&format!("{}\n{}", harmless(&told), harmless_lines(&left)))
}

/// Under which names something may be left, and how to remove it.
fn names_left(person: &PersonId, left: &NamesLeft) -> String {
    let mut text = String::new();
    for DoubtfulName { name, doubt } in &left.doubtful {
        let why = match doubt {
            NameDoubt::AnotherPerson(other) => format!("{other} has this name too"),
            NameDoubt::Beginning(other) => format!("{other} may be meant"),
            NameDoubt::Word => "an ordinary word".to_owned(),
            NameDoubt::UsedBefore => "it was in use there before they had it".to_owned(),
            NameDoubt::Part => "only a part of their name".to_owned(),
            NameDoubt::Untied => "it may be somebody or something else".to_owned(),
        };
        text += &format!("kept what is said of “{name}” ({why})");
        text += &match doubt.is_shared() {
            true => format!("; see `aizuchi memory search {name}` and `aizuchi memory forget --fact NUMBER`\n"),
            false => format!("; to remove it: aizuchi memory forget --person {person} --name \"{name}\"\n"),
        };
    }
    for DoubtfulName { name, .. } in &left.shared {
        text += &format!(
            "“{name}” is others' name too, an ordinary word, or was in use before: kept what others said by it\n"
        );
    }
    text
}

fn harmless_lines(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", harmless(line))).collect()
}

pub fn import(arguments: &super::MemoryArguments, import: &Import) -> anyhow::Result<()> {
    let file = &import.file;
    let (items, mut bad) = checks::read_lines(file, now())?;
    bad.refuse()?;
    let count = items.len();
    let bar = progress_bar(count as u64, "importing");
    let (mut unwanted, mut known) = (0, 0);
    change_store(arguments, HeldPart::Memory, "stop aizuchi before you import", async |held| {
        let memory = held.memory().await?;
        let refused = items.iter().filter_map(|(line, item)| Some((*line, memory.refuses(item)?)));
        refused.for_each(|(line, why)| bad.add(line, &why));
        bad.refuse()?;
        let mut left_out = LeftOut::new(memory.people(None).await?, &items);
        let mut changes: Vec<MemoryChange> =
            items.into_iter().map(|(_, item)| MemoryChange::Imported(Box::new(item))).collect();
        left_out.ask(&*memory).await?;
        (unwanted, known) = left_out.count(&changes);
        // What was imported already is recognised when an import that was interrupted is run again.
        while !changes.is_empty() {
            let rest = changes.split_off(changes.len().min(IMPORTED_TOGETHER));
            memory.apply(std::mem::replace(&mut changes, rest), held.policies()).await?;
            bar.set_position((count - changes.len()) as u64);
        }
        Ok(())
    })?;
    bar.finish_and_clear();
    warn_of_losses(arguments)?;
    print(&imported(count, unwanted, known))
}

fn imported(lines: usize, unwanted: usize, known: usize) -> String {
    let mut told = match unwanted + known {
        0 => format!("imported {lines} lines\n"),
        left_out => format!("imported {} of {lines} lines\n", lines - left_out),
    };
    if unwanted > 0 {
        told += &format!("{unwanted} are about people who opted out, and were not kept\n");
    }
    if known > 0 {
        told += &format!("{known} are about people who were known already, and stay as they were\n");
    }
    told
}

/// What an import leaves out.
struct LeftOut {
    known: BTreeSet<PersonId>,
    concerned: BTreeSet<PersonId>,
    out: BTreeSet<PersonId>,
}

impl LeftOut {
    fn new(known: Vec<Person>, items: &[(usize, ExportItem)]) -> LeftOut {
        let concerned = items.iter().flat_map(|(_, item)| people_of(item)).cloned().collect();
        // Those who opt out by being imported take along what follows.
        let out = items.iter().filter_map(|(_, item)| match item {
            ExportItem::Person(person) if person.opted_out => Some(person.id.clone()),
            ExportItem::Fact(_) | ExportItem::Person(_) | ExportItem::Channel(_) | ExportItem::Tie(_) => None,
        });
        LeftOut { known: known.into_iter().map(|person| person.id).collect(), concerned, out: out.collect() }
    }

    async fn ask(&mut self, memory: &dyn MemoryStore) -> anyhow::Result<()> {
        let concerned: Vec<PersonId> = self.concerned.iter().cloned().collect();
        self.out.extend(memory.who_opted_out(&concerned).await?);
        Ok(())
    }

    /// Lines about people who opted out, and about people who are known.
    fn count(&self, changes: &[MemoryChange]) -> (usize, usize) {
        let (mut unwanted, mut known) = (0, 0);
        for change in changes {
            let MemoryChange::Imported(item) = change else { continue };
            match &**item {
                // This is what says so.
                ExportItem::Person(person) if person.opted_out => (),
                ExportItem::Channel(_) => (),
                ExportItem::Fact(_) | ExportItem::Person(_) | ExportItem::Tie(_)
                    if people_of(item).iter().any(|person| self.out.contains(*person)) =>
                {
                    unwanted += 1;
                }
                ExportItem::Person(person) if self.known.contains(&person.id) => known += 1,
                ExportItem::Fact(_) | ExportItem::Person(_) | ExportItem::Tie(_) => (),
            }
        }
        (unwanted, known)
    }
}

fn people_of(item: &ExportItem) -> Vec<&PersonId> {
    match item {
        ExportItem::Fact(fact) => fact.people.iter().collect(),
        ExportItem::Person(person) => vec![&person.id],
        ExportItem::Tie(tie) => vec![&tie.from, &tie.to],
        ExportItem::Channel(_) => Vec::new(),
    }
}

/// Warns which facts will not last, and how to keep them, before they are lost.
fn warn_of_losses(arguments: &super::MemoryArguments) -> anyhow::Result<()> {
    let (reading, policies) = (arguments.open()?, arguments.settings.policies()?);
    for room in reading.rooms()? {
        let facts = reading.facts(&Filter { room: Some(room.clone()), ..Filter::default() })?;
        let memory = &policies.for_room(room.as_str()).settings.memory;
        let gone = to_forget(&facts, now(), memory.facts_max, memory.facts_half_life_days);
        let name = harmless(room.as_str());
        if !gone.beyond_max.is_empty() {
            print_error(&format!(
                "{name} has {} facts and memory.facts_max is {}: `aizuchi run` will drop the {} weakest; raise \
                 memory.facts_max to keep them",
                facts.len(),
                memory.facts_max,
                gone.beyond_max.len()
            ));
        }
        if !gone.weak.is_empty() {
            print_error(&format!(
                "{} facts of {name} have faded: `aizuchi run` will drop them; raise memory.facts_half_life_days to keep \
                 them",
                gone.weak.len()
            ));
        }
    }
    Ok(())
}

fn change_store(
    arguments: &super::MemoryArguments,
    part: HeldPart,
    in_use: &str,
    change: impl AsyncFnOnce(&HeldStore) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let location = arguments.location()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        let held = HeldStore::open(&location, &arguments.settings, part).await;
        let held = held.with_context(|| format!("nothing was changed: {in_use}"))?;
        change(&held).await?;
        Ok(held.settle().await?)
    })
}
