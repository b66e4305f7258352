//! Decisions taken from what a platform tells are those of a replay over what `aizuchi export` writes.

use std::process::Command;

use aizuchi::journal::{Engines, Record, Records};
use aizuchi::replay::{Judge, OwnPosts, RecordedJudge, StoredTraces, decision, relive, run};
use aizuchi_core::{Input, Policies, Trace};
use aizuchi_formats::{Options, read};
use aizuchi_test_servers::folder::Scratch;
use serde_json::{Value, json};

use crate::life::{BotRun, until};
use crate::stage::{PlatformStage, ScriptedLine};

pub async fn of_the_export_decides_the_same(mut stage: impl PlatformStage) {
    let said = talk(&mut stage).await;
    for id in &said {
        stage.life().decides(id).await;
    }
    stage.life().rest().await;
    let room = stage.room();
    let life = stage.life();
    let stored: StoredTraces = life.traces().await.into_iter().collect();
    let (beside, log) = export(life, &room);
    let records = records(life).await;
    let policies = life.ground.policies.clone();
    let kinds = kinds(&records);
    assert!(kinds.iter().all(|count| *count > 0), "said, changed, reacted: {kinds:?}");
    // A replay runs outside the runtime of the program.
    let now = tokio::task::spawn_blocking(move || replayed(&policies, &records, &log)).await.unwrap();
    drop(beside);
    let then: Vec<Value> = now.iter().map(|trace| told(stored.find(trace).expect("it is stored"))).collect();
    assert_eq!(now.iter().map(told).collect::<Vec<_>>(), then);
    assert_eq!(now.len(), stored.iter().count());
    assert!(said.iter().all(|id| now.iter().any(|trace| trace.message.as_str() == id)));
}

/// Something of everything; the ids of what people said.
async fn talk(stage: &mut impl PlatformStage) -> Vec<String> {
    let mut said = Vec::new();
    said.push(stage.say("mia", "the tomatoes are in the ground").await);
    said.push(stage.say("jonas", "what a day").await);
    stage.edit("jonas", &said[1], "what a lovely day").await;
    heard(stage, 3).await;
    said.push(stage.call("mia", "how cold can they get?").await);
    let post = stage.posted("how cold can they get?").await.remove(0).id;
    stage.react("jonas", &post, "👍", true).await;
    let mention = stage.mention();
    let inside = format!("{mention} and at night?");
    said.push(stage.tell(ScriptedLine { by: "jonas", text: &inside, thread: Some(&said[0]), reply: None }).await);
    stage.posted("and at night?").await;
    said.push(stage.say("jonas", "does anybody know when it rains?").await);
    let asked = said[4].clone();
    // Whether what is said next comes before or after its answer must not be left to chance.
    stage.life().decides(&asked).await;
    said.push(stage.say("mia", "wrong room, sorry").await);
    let wrong = said[5].clone();
    stage.life().decides(&wrong).await;
    stage.delete("mia", &wrong).await;
    said.push(stage.tell(ScriptedLine { by: "mia", text: "colder than that", thread: None, reply: Some(&post) }).await);
    said.push(stage.say("jonas", "good night").await);
    let is_gone = |input: &Input| match input {
        Input::Changed(change) => change.text.is_none().then_some(()),
        _ => None,
    };
    stage.life().hears("the deletion", is_gone).await;
    said
}

/// Waits until so much of what people did is written down.
async fn heard(stage: &mut impl PlatformStage, count: usize) {
    let life: &BotRun = stage.life();
    let enough =
        async || (life.inputs().await.iter().filter(|input| input.is_by_people()).count() >= count).then_some(());
    until(&format!("{count} things are heard"), enough).await;
}

async fn records(life: &BotRun) -> Vec<Record> {
    let records = Records::all(&life.ground.database).await.unwrap().collect().await.unwrap();
    records.into_iter().map(|record| record.expect("nothing is damaged")).collect()
}

fn kinds(records: &[Record]) -> [usize; 3] {
    let count = |is: fn(&Input) -> bool| records.iter().filter(|record| is(&record.input)).count();
    [
        count(|input| matches!(input, Input::Said(_))),
        count(|input| matches!(input, Input::Changed(_))),
        count(|input| matches!(input, Input::Reacted(_))),
    ]
}

/// The path of what the program itself writes, and the folder it is in.
fn export(life: &BotRun, room: &str) -> (Scratch, String) {
    let folder = life.ground.folder.0.to_str().unwrap();
    let beside = Scratch::new("contract");
    let log = format!("{}/export.jsonl", beside.0.display());
    let mut program = Command::new(env!("CARGO_BIN_EXE_aizuchi"));
    let done = program.args(["export", "--folder", folder, "--room", room, "-o", &log]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    (beside, log)
}

fn replayed(policies: &Policies, records: &[Record], log: &str) -> Vec<Trace> {
    let log = read(log, &Options { strict: true, ..Options::default() }, &mut |_| ()).unwrap();
    let answers = relive(Engines::fresh(policies), records, None, &mut |_| ()).answers;
    let otherwise = Judge::Offline.oracle(policies, || unreachable!("no model is asked")).unwrap();
    // Its own posts are heard as in life: how people receive them counts.
    let decided =
        run(policies.clone(), RecordedJudge { answers, otherwise }, log.events, OwnPosts::Recorded, &mut |_| ());
    decided.into_iter().map(|decided| decided.trace).collect()
}

/// What has to be the same: the decision, and not what people made of it later.
fn told(trace: &Trace) -> Value {
    let all = decision(&Trace { received: None, ..trace.clone() });
    let compared = ["id", "channel", "thread", "outcome", "score", "points", "stage", "gate", "addressed", "reason"];
    compared.into_iter().map(|field| json!({field: all[field]})).collect()
}
