//! `aizuchi replay --journal`: replays the recorded days, as they were or under different settings.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Instant;

use aizuchi_core::types::RoomId;
use aizuchi_core::{Input, Policies, settings};
use aizuchi_formats::Event;
use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::{ReplayArguments, check_outputs, json_summary, judge_name, progress_bar, write_files};
use crate::cli::opted_out::OptedOutFilter;
use crate::cli::show::{harmless_json, print_error};
use crate::cli::store::{self, OpenStore};
use crate::journal::{Engines, Record, Records, traces};
use crate::language::{Language, LocalizedMessage, message};
use crate::learnt;
use crate::replay::{
    Decided, DecisionComparison, Differences, EmptiedRecords, Judge, RecordedJudge, ReliveResult, Replay, StoredTraces,
    differences_table, figures, relive, run as replay, table,
};
use crate::sentences::sentence;

pub fn run_to_text(arguments: &ReplayArguments) -> anyhow::Result<String> {
    let location = store::location(arguments.journal.as_ref().and_then(Option::as_deref), &arguments.settings)?;
    check_outputs(arguments, &location.data_folder().to_string_lossy())?;
    let opened = store::open(&location)?;
    let days = read(arguments, opened, location.data_folder().to_owned())?;
    let unchanged = !arguments.settings.changes_anything() && arguments.judge.is_none();
    if unchanged { as_it_was(arguments, days) } else { replay_with_changes(arguments, days) }
}

/// What was recorded.
struct RecordedDays {
    opened: OpenStore,
    folder: PathBuf,
    records: Vec<Record>,
    stored: StoredTraces,
    damaged: u64,
    /// Skipped messages of people who opted out.
    opted_out: u64,
    skipped_in: BTreeSet<RoomId>,
    emptied: EmptiedRecords,
}

impl RecordedDays {
    /// Whether records are missing that led to calls of models.
    fn has_gaps(&self) -> bool {
        self.opted_out > 0 || self.emptied.count > 0
    }
}

fn read(arguments: &ReplayArguments, opened: OpenStore, folder: PathBuf) -> anyhow::Result<RecordedDays> {
    let shown = opened.backend.display_name();
    let unreadable = || format!("cannot read the journal in {shown}");
    let (mut records, damaged) = opened.wait(records(arguments, &opened)).with_context(unreadable)?;
    let mut left_out = opened.wait(OptedOutFilter::read(&opened)).with_context(unreadable)?;
    records.retain(|record| !left_out.skips(&record.input));
    let (opted_out, skipped_in) = (left_out.skipped, left_out.rooms());
    if records.is_empty() {
        bail!("no records in {shown}");
    }
    let stored = opened.wait(traces::all(&*opened.stores.decisions)).with_context(unreadable)?.into_iter().collect();
    let emptied = EmptiedRecords::of(&records);
    Ok(RecordedDays { opened, folder, records, stored, damaged, opted_out, skipped_in, emptied })
}

/// Every readable record, and how many are unreadable.
async fn records(arguments: &ReplayArguments, opened: &OpenStore) -> anyhow::Result<(Vec<Record>, u64)> {
    let (mut whole, mut damaged) = (Vec::new(), 0);
    let mut records = Records::all(&*opened.stores.journal).await?;
    while let Some(record) = records.next().await? {
        match record {
            Ok(record) => whole.push(record),
            Err(problem) if arguments.strict => bail!("{problem}"),
            Err(problem) => {
                print_error(&problem.to_string());
                damaged += 1;
            }
        }
    }
    Ok((whole, damaged))
}

/// A preset that is only tried out gets everything it can do, as in a replay of a log. Otherwise only what the command line
/// asks for is changed.
fn policies(arguments: &ReplayArguments, judge: &Judge) -> anyhow::Result<(Policies, String)> {
    let mut layers = arguments.settings.layers()?;
    if arguments.settings.preset.is_some() {
        layers.suggest_for_replay();
    }
    super::policies(layers, judge)
}

fn relive_days(days: &RecordedDays, policies: &Policies) -> anyhow::Result<ReliveResult> {
    let policies = &learnt::with_kept(&days.folder, policies.clone());
    let engines = first_engines(&days.opened, policies)?;
    let changes = days.records.iter().filter_map(|record| {
        let Input::PolicyChanged(stated) = &record.input else { return None };
        learnt::missing(stated, policies)
    });
    let missing: BTreeSet<String> = engines.missing_models(policies).into_iter().chain(changes).collect();
    if !missing.is_empty() {
        let missing = missing.into_iter().collect::<Vec<_>>().join("\n");
        bail!(
            "{missing}. Put a copy into {}, under any name that ends with .txt",
            days.folder.join("models").display()
        );
    }
    let bar = progress_bar(days.records.len() as u64, "replaying");
    let relived =
        relive(engines, &days.records, days.has_gaps().then_some(&days.stored), &mut |done| bar.set_position(done));
    bar.finish_and_clear();
    Ok(relived)
}

/// The engines at the beginning of the journal; if it has none stored, fresh ones with these settings.
fn first_engines(opened: &OpenStore, policies: &Policies) -> anyhow::Result<Engines> {
    let (engines, _) = opened.wait(Engines::at_the_beginning(&*opened.stores.snapshots, policies))?;
    engines.map_err(anyhow::Error::msg)
}

fn as_it_was(arguments: &ReplayArguments, days: RecordedDays) -> anyhow::Result<String> {
    let (policies, preset) = policies(arguments, &Judge::Recorded)?;
    let started = Instant::now();
    let ReliveResult { decided, pending, mut incomplete, .. } = relive_days(&days, &policies)?;
    let seconds = started.elapsed().as_secs_f64();
    let score = &policies.general().settings.score;
    let (reader, language) = languages(arguments, &policies.general().settings.bot.language, &decided);
    let replay = Replay {
        log: "journal".into(),
        preset,
        changes: Vec::new(),
        judge: "as recorded".into(),
        bad_lines: days.damaged,
        decided,
        low: score.low,
        high: score.high,
        remembered: None,
        language,
    };
    write_files(arguments, &replay)?;
    incomplete.extend(days.skipped_in.iter().cloned());
    let mut check = DecisionComparison::of(&replay.decided, &days.stored, &days.emptied, &incomplete);
    let (unknown, pending): (Vec<_>, Vec<_>) = pending.into_iter().partition(|(room, _)| incomplete.contains(room));
    check.incomplete += unknown.into_iter().map(|(_, messages)| messages).sum::<u64>();
    let pending = pending.into_iter().map(|(_, messages)| messages).sum::<u64>();
    if arguments.json {
        let mut summary = json_summary(&replay, seconds);
        let different: Vec<Value> = check.different.iter().map(|(then, now)| change(then, &now.trace)).collect();
        summary["check"] = json!({"same": check.same, "missing": check.missing, "different": different});
        summary["pending"] = pending.into();
        summary["opted_out"] = days.opted_out.into();
        summary["emptied"] = days.emptied.count.into();
        summary["reworded"] = check.reworded.into();
        summary["incomplete"] = check.incomplete.into();
        return Ok(format!("{}\n", harmless_json(&summary)));
    }
    let begins = match first_engines(&days.opened, &policies)?.is_fresh() {
        true => days.records.first().map_or(1, |first| first.seq),
        false => 1,
    };
    Ok(table(&replay, arguments.all, reader) + &verdict(&check, pending, begins, &days, reader))
}

/// The language of the terminal output, and that of the report.
fn languages(
    arguments: &ReplayArguments,
    set: &settings::LanguageSetting,
    decided: &[Decided],
) -> (Language, Language) {
    let texts = || decided.iter().map(|decided| &*decided.text);
    (arguments.reader.language(set, texts()), arguments.reader.language_of_file(set, texts()))
}

fn verdict(
    check: &DecisionComparison<'_>,
    pending: u64,
    begins: i64,
    days: &RecordedDays,
    language: Language,
) -> String {
    const SHOWN: usize = 10;
    let all = check.same + check.different.len() as u64;
    let mut lines = vec![match check.different.len() {
        0 => message!("journal-same", n = all),
        some => message!("journal-differ", n = all, different = some),
    }];
    for (then, now) in check.different.iter().take(SHOWN) {
        let (before, after) = (sentence(then, language), sentence(&now.trace, language));
        let (id, place) = (then.message.to_string(), then.place.to_string());
        lines.push(message!("journal-change", id = id, place = place, before = before, after = after));
    }
    if check.different.len() > SHOWN {
        lines.push(message!("journal-more", n = check.different.len() - SHOWN));
    }
    if check.missing > 0 {
        lines.push(message!("journal-missing", n = check.missing));
    }
    if pending > 0 {
        lines.push(message!("journal-pending", n = pending));
    }
    if check.reworded > 0 {
        lines.push(message!("journal-reworded", n = check.reworded));
    }
    if check.incomplete > 0 {
        lines.push(message!("journal-incomplete", n = check.incomplete));
    }
    lines.extend(left_out(days.opted_out, &days.emptied));
    if begins > 1 {
        lines.push(message!("journal-begins", n = begins.unsigned_abs()));
    }
    let line = |message: &LocalizedMessage| format!("  {}\n", crate::cli::harmless(&message.say(language)));
    lines.iter().map(line).collect()
}

/// What could not be replayed.
fn left_out(opted_out: u64, emptied: &EmptiedRecords) -> impl Iterator<Item = LocalizedMessage> {
    let skipped = (opted_out > 0).then(|| message!("journal-opted-out", n = opted_out));
    let empty = (emptied.count > 0).then(|| message!("journal-emptied", n = emptied.count));
    skipped.into_iter().chain(empty)
}

fn replay_with_changes(arguments: &ReplayArguments, days: RecordedDays) -> anyhow::Result<String> {
    let judge = arguments.judge.clone().unwrap_or(Judge::Recorded);
    let (policies, preset) = policies(arguments, &judge)?;
    let score = policies.general().settings.score.clone();
    let set = policies.general().settings.bot.language.clone();
    let otherwise = super::oracle(&judge, &policies)?;
    let answers = (judge == Judge::Recorded).then(|| answers(arguments, &days)).transpose()?;
    let (opted_out, emptied) = (days.opted_out, days.emptied);
    let events = events(days.records);
    let bar = progress_bar(events.len() as u64, "deciding");
    let started = Instant::now();
    let (own, mut progress) = (arguments.own_posts(), super::steps(&judge, &bar));
    let decided = match answers {
        Some(answers) => replay(policies, RecordedJudge { answers, otherwise }, events, own, &mut progress),
        None => replay(policies, otherwise, events, own, &mut progress),
    };
    let seconds = started.elapsed().as_secs_f64();
    bar.finish_and_clear();
    let (reader, language) = languages(arguments, &set, &decided);
    let replay = Replay {
        log: "journal".into(),
        preset,
        changes: arguments.settings.set.clone(),
        judge: judge_name(&judge),
        bad_lines: days.damaged,
        decided,
        low: score.low,
        high: score.high,
        remembered: None,
        language,
    };
    write_files(arguments, &replay)?;
    let differences = Differences::of(&replay.decided, &days.stored);
    if arguments.json {
        let mut summary = json_summary(&replay, seconds);
        let changed = differences.messages.iter().map(|one| change(one.before, &one.after.trace));
        summary["compared"] = differences.compared.into();
        summary["missing"] = differences.missing.into();
        summary["opted_out"] = opted_out.into();
        summary["emptied"] = emptied.count.into();
        summary["changed"] = changed.collect();
        return Ok(format!("{}\n", harmless_json(&summary)));
    }
    let mut text = differences_table(&differences, arguments.all, reader) + &figures(&replay, reader);
    left_out(opted_out, &emptied).for_each(|line| text += &format!("  {}\n", line.say(reader)));
    Ok(text)
}

/// The answers that were given then, found by replaying the days under the settings of that time.
fn answers(arguments: &ReplayArguments, days: &RecordedDays) -> anyhow::Result<crate::replay::RecordedAnswers> {
    let mut usual = arguments.settings.clone();
    (usual.preset, usual.bot_name) = (None, None);
    usual.set.clear();
    let mut answers = relive_days(days, &usual.policies()?)?.answers;
    days.stored.iter().for_each(|trace| answers.learn_from(trace));
    Ok(answers)
}

/// What people did, and what rooms learned about other rooms; everything else follows from these inputs.
fn events(records: Vec<Record>) -> Vec<Event> {
    let event = |record: Record| Event { line: record.seq.unsigned_abs(), at: record.at, input: record.input };
    let stays = |record: &Record| record.input.is_by_people() || matches!(record.input, Input::Siblings(..));
    records.into_iter().filter(stays).map(event).collect()
}

fn change(before: &aizuchi_core::Trace, after: &aizuchi_core::Trace) -> Value {
    let told =
        |trace: &aizuchi_core::Trace| json!({"outcome": trace.outcome, "reason": sentence(trace, Language::ENGLISH)});
    json!({
        "id": before.message,
        "channel": before.place.room,
        "thread": before.place.thread,
        "before": told(before),
        "after": told(after),
    })
}
