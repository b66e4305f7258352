//! Changes memory in a data folder that no other process holds.

use std::io::{BufRead as _, BufReader};

use aizuchi_core::memory::{ExportItem, FactId, Filter, MemoryChange, to_forget};
use aizuchi_core::types::{PersonId, RoomId};
use anyhow::{Context as _, bail};
use clap::Args;

use super::inspect::{now, person_called, room_called};
use crate::cli::print;
use crate::cli::show::{harmless, print_error, progress_bar};
use crate::cli::store::HeldStore;
use crate::memory::IMPORTED_TOGETHER;

#[derive(Args)]
pub struct Forget {
    #[command(flatten)]
    whom: ForgetTarget,
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
            let person = person_called(&reading, asked)?;
            let told = format!("forgot {person} and {} facts from their words", reading.about(&person)?.facts.len());
            (ForgottenPart::Person(person), told)
        } else {
            let room = room_called(&reading, room.as_deref().unwrap_or_default())?;
            let told = format!("forgot what was said in {room}");
            (ForgottenPart::Room(room), told)
        }
    };
    change_store(arguments, async |held| {
        let keeper = held.keeper().await?;
        match part {
            ForgottenPart::Fact(fact) => Ok(keeper.change(vec![MemoryChange::Forgotten { fact }]).await?),
            ForgottenPart::Person(person) => keeper.forget_at_rest(person).await,
            ForgottenPart::Room(room) => keeper.forget_room_at_rest(room).await,
        }
    })?;
    print(&format!("{}\n", harmless(&told)))
}

/// At most this many invalid lines are listed.
const BAD_LINES_SHOWN: usize = 10;

pub fn import(arguments: &super::MemoryArguments, import: &Import) -> anyhow::Result<()> {
    let file = &import.file;
    let lines = std::fs::File::open(file).with_context(|| format!("cannot read {file}"))?;
    let (mut changes, mut bad, mut more_bad) = (Vec::new(), Vec::new(), 0);
    for (at, line) in BufReader::new(lines).lines().enumerate() {
        let line = line.with_context(|| format!("cannot read {file}"))?;
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str::<ExportItem>(&line) {
            Ok(item) => changes.push(MemoryChange::Imported(Box::new(item))),
            Err(error) if bad.len() < BAD_LINES_SHOWN => {
                bad.push(format!("{file}:{}: expected a line of `aizuchi memory export`: {error}", at + 1));
            }
            Err(_) => more_bad += 1,
        }
    }
    if !bad.is_empty() {
        bad.extend((more_bad > 0).then(|| format!("… and {more_bad} more lines")));
        bail!("{}\nnothing was imported", bad.join("\n"));
    }
    let count = changes.len();
    let bar = progress_bar(count as u64, "importing");
    change_store(arguments, async |held| {
        let memory = held.memory().await?;
        // If an interrupted import is run again, duplicates are recognised.
        while !changes.is_empty() {
            let rest = changes.split_off(changes.len().min(IMPORTED_TOGETHER));
            memory.apply(std::mem::replace(&mut changes, rest), held.policies()).await?;
            bar.set_position((count - changes.len()) as u64);
        }
        Ok(())
    })?;
    bar.finish_and_clear();
    warn_of_losses(arguments)?;
    print(&format!("imported {count} lines\n"))
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
    change: impl AsyncFnOnce(&HeldStore) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let location = arguments.location()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        let held = HeldStore::open(&location, &arguments.settings).await.with_context(
            || "nothing was changed: while aizuchi is running, people use /aizuchi forget-me, in the web room /forget-me",
        )?;
        change(&held).await?;
        Ok(held.settle().await?)
    })
}
