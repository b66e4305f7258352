//! The data folder and its store: whether it exists, is writable, has free space, has a supported version, and is intact.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::process::Command;

use aizuchi_core::{Input, Time};

use super::{DoctorContext, LiveChecks};
use crate::check::{Check, Running};
use crate::cli::store::OpenStore;
use crate::cli::when;
use crate::journal::{DamagedRecord, LostRecords, Records};
use crate::ports::{Position, StoreKind, Stores};
use crate::runtime::{Clock, ClockJump, STEP_MAX};
use crate::stores::{OF_CLUSTER, PARTIAL_COPY, StoreError, StoreLocation};

const FOLDER: &str = "folder";
const STORE: &str = "store";
const CLOCK: &str = "clock";

pub fn check(context: &DoctorContext<'_>) -> (Vec<Check>, Running) {
    let folder = Path::new(&context.store.folder);
    let running = running(folder);
    let mut checks = vec![writable(folder, running)];
    checks.extend(room(folder));
    match StoreLocation::of(&context.store) {
        Ok(location) if location.kind() == StoreKind::Postgres => checks.extend(check_server(&location, context)),
        Ok(location) if folder.is_dir() => checks.extend(check_integrity(&location)),
        Ok(_) => (),
        Err(what) => checks.push(Check::fail(STORE, what, "correct store.url")),
    }
    (checks, running)
}

fn running(folder: &Path) -> Running {
    let Ok(lock) = File::open(folder.join("lock")) else { return Running::No };
    match lock.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Running::Yes,
        Ok(()) | Err(TryLockError::Error(_)) => Running::No,
    }
}

fn writable(folder: &Path, running: Running) -> Check {
    let shown = folder.display();
    let fix = "make it writable for the user that runs aizuchi, or set store.folder to another";
    if folder.exists() && !folder.is_dir() {
        return Check::fail(FOLDER, format!("{shown} is a file"), "set store.folder to another");
    }
    let Some(existing) = folder.ancestors().find(|path| path.as_os_str().is_empty() || path.exists()) else {
        return Check::fail(FOLDER, format!("{shown} cannot be created"), fix);
    };
    let place = if existing.as_os_str().is_empty() { Path::new(".") } else { existing };
    let trial = place.join(format!(".aizuchi-doctor-{}", std::process::id()));
    match File::create_new(&trial).and_then(|_| std::fs::remove_file(&trial)) {
        Err(error) => Check::fail(FOLDER, format!("cannot write into {}: {error}", place.display()), fix),
        Ok(()) if running == Running::Yes => Check::ok(FOLDER, format!("{shown}, in use by a running aizuchi")),
        Ok(()) if folder.exists() => Check::ok(FOLDER, format!("{shown} is writable")),
        Ok(()) => Check::ok(FOLDER, format!("{shown} will be created at the first start")),
    }
}

const KIB_LITTLE: u64 = 500 * 1024;
const KIB_TOO_LITTLE: u64 = 50 * 1024;

/// Free space, if the system reports it.
fn room(folder: &Path) -> Option<Check> {
    let place = folder.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    let output = Command::new("df").arg("-Pk").arg(place).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let free: u64 = text.lines().nth(1)?.split_whitespace().nth(3)?.parse().ok()?;
    let told = format!("{} MiB free", free / 1024);
    let fix = "free some space, move store.folder, or lower store.keep_days";
    Some(match free {
        free if free < KIB_TOO_LITTLE => Check::fail(FOLDER, told, fix),
        free if free < KIB_LITTLE => Check::warn(FOLDER, told, fix),
        _ => Check::ok(FOLDER, told),
    })
}

/// A database on a server: whether it is reachable, has a supported version, and is writable.
fn check_server(location: &StoreLocation, context: &DoctorContext<'_>) -> Vec<Check> {
    let shown = location.display_name();
    if context.calls == LiveChecks::None {
        return vec![Check::ok(STORE, format!("{shown}, not asked"))];
    }
    let fix = "check store.url, its password in the environment, and that the server runs and lets this machine in";
    let failed = |error: StoreError| {
        let fix = if matches!(error, StoreError::Unavailable(_)) { fix } else { "see the page Stores of the book" };
        vec![Check::fail(STORE, error.to_string(), fix)]
    };
    let opened = match OpenStore::new(location) {
        Ok(opened) => opened,
        Err(error) => return failed(error),
    };
    let looked = opened.wait(async {
        let notes = opened.backend.try_out().await?;
        let condition = opened.backend.condition().await?;
        if condition.is_partial_copy {
            return Ok(vec![Check::fail(STORE, format!("{shown} is incomplete"), PARTIAL_COPY)]);
        }
        let mut checks = vec![Check::ok(STORE, format!("{shown} was written to and read"))];
        if condition.is_of_cluster {
            checks.push(Check::fail(STORE, format!("`aizuchi run` does not start on {shown}"), OF_CLUSTER));
        }
        // The notes are about vectors.
        let notes = notes.into_iter().filter(|_| context.settings.memory.vectors);
        checks.extend(notes.map(|(told, fix)| Check::warn(STORE, told, fix)));
        match condition.has_records {
            true => checks.extend(journal(&opened.stores, &location.notes()).await?),
            false => checks.push(Check::ok(STORE, "no records yet")),
        }
        Ok(checks)
    });
    looked.unwrap_or_else(failed)
}

fn check_integrity(location: &StoreLocation) -> Vec<Check> {
    let database = &*location.notes();
    if let Some(lost) = LostRecords::of_file(database) {
        return vec![Check::fail(STORE, lost.to_string(), LostRecords::ADVICE)];
    }
    if !database.exists() {
        return vec![Check::ok(STORE, "no records yet")];
    }
    let broken = LostRecords::DAMAGED_ADVICE;
    let opened = match OpenStore::new(location) {
        Ok(opened) => opened,
        Err(error @ StoreError::Newer { .. }) => {
            let fix = "install that version, or set store.folder to another";
            return vec![Check::fail(STORE, error.to_string(), fix)];
        }
        Err(error) => return vec![Check::fail(STORE, format!("{}: {error}", database.display()), broken)],
    };
    let failed = |what: String| vec![Check::fail(STORE, format!("{}: {what}", database.display()), broken)];
    if opened.wait(opened.backend.condition()).is_ok_and(|condition| condition.is_partial_copy) {
        return vec![Check::fail(STORE, format!("{} is incomplete", database.display()), PARTIAL_COPY)];
    }
    match opened.wait(opened.backend.complaints()) {
        Ok(complaints) if complaints.is_empty() => {
            opened.wait(journal(&opened.stores, database)).unwrap_or_else(|error| failed(error.to_string()))
        }
        Ok(complaints) => failed(complaints.join("; ")),
        Err(error) => failed(error.to_string()),
    }
}

/// How many records have their checksum verified.
const RECORDS_MAX: u32 = 10_000;

async fn journal(stores: &Stores, database: &Path) -> Result<Vec<Check>, StoreError> {
    let (mut checks, mut read, mut newest, mut set) = (Vec::new(), 0_u64, None, None);
    let last = stores.journal.locate(Position::Last).await?.unwrap_or(0);
    let lost = LostRecords::of_records(database, last as u64);
    checks.extend(lost.map(|lost| Check::fail(STORE, lost.to_string(), LostRecords::ADVICE)));
    let mut records = Records::last(&*stores.journal, RECORDS_MAX).await?;
    while let Some(record) = records.next().await? {
        match record {
            Ok(record) => {
                read += 1;
                newest = Some(record.at);
                if let Input::ClockSet(by) = record.input {
                    set = Some(ClockJump { at: record.at, by });
                }
            }
            Err(torn @ DamagedRecord::Torn { .. }) => {
                checks.push(Check::warn(STORE, torn.to_string(), "nothing to do: the next start skips it"));
            }
            Err(within @ (DamagedRecord::Within { .. } | DamagedRecord::Missing { .. })) => checks.push(Check::fail(
                STORE,
                within.to_string(),
                "nothing else is lost; if it happens again, check the disk",
            )),
        }
    }
    let all = stores.index.count().await?;
    checks.extend(clock(newest, set, Clock::Wall.now()));
    let last = newest.map_or_else(String::new, |at| format!(", the last of {}", when::day_and_clock(at)));
    let whole = if checks.is_empty() { format!("; the last {read} and all tables are intact") } else { String::new() };
    checks.insert(0, Check::ok(STORE, format!("{all} records{last}{whole}")));
    Ok(checks)
}

/// What the records say about the clock: that it was set, or that it is behind them.
fn clock(newest: Option<Time>, set: Option<ClockJump>, now: Time) -> Vec<Check> {
    let keep_right =
        "no messages are lost because of it; synchronise the clock, for example with chrony or systemd-timesyncd";
    let ahead = newest.map(|newest| newest.since(now)).filter(|ahead| *ahead > STEP_MAX);
    let ahead = ahead.map(|ahead| format!("the newest record is {ahead} ahead of the clock of this machine"));
    let set = set.map(|jump| format!("the clock was set {} on {}", jump.direction(), when::day_and_clock(jump.at)));
    ahead.into_iter().chain(set).map(|told| Check::warn(CLOCK, told, keep_right)).collect()
}

#[cfg(test)]
mod tests {
    use aizuchi_core::types::{ClockShift, Span};

    use super::*;

    #[test]
    fn a_clock_behind_the_records_and_one_that_was_set_are_told() {
        let now = Time(1_700_000_000_000);
        assert!(clock(None, None, now).is_empty() && clock(Some(now), None, now).is_empty());
        let told = clock(Some(now + Span::minutes(60)), None, now);
        assert_eq!(told[0].told, "the newest record is 1 h ahead of the clock of this machine");
        let told = clock(Some(now), Some(ClockJump { at: now, by: ClockShift(-60_000) }), now);
        assert!(told[0].told.starts_with("the clock was set back by 1 min on 2023-11-14"), "{}", told[0].told);
    }
}
