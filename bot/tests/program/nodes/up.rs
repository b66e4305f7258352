//! `aizuchi cluster up`: a whole cluster on one machine, to try it out.

use std::time::{Duration, Instant};

use aizuchi_test_servers::restate::installed_program;
use aizuchi_test_servers::visitor::Visitor;

use super::askers::WAITS_MAX;
use crate::crash::SETTINGS;
use crate::program::{Home, Program, eventually, new_home};

/// PostgreSQL, three nodes of Restate, a worker and a gateway start one after the other.
const STARTS_WITHIN: Duration = Duration::from_secs(120);
const LOOKS_EVERY: Duration = Duration::from_millis(50);

async fn up(home: &Home) -> Program {
    let (folder, restate) = (home.folder().join("cluster"), installed_program());
    let words = ["cluster", "up", "--folder", &folder.to_string_lossy(), "--restate", &restate.to_string_lossy()];
    let (mut program, until) = (home.spawn_as(&words), Instant::now() + STARTS_WITHIN);
    while !program.said().contains("Press Ctrl-C to stop all of it") {
        let ended = program.has_ended();
        assert!(ended.is_none() && Instant::now() < until, "it did not start: {ended:?}\n{}", program.said());
        tokio::time::sleep(LOOKS_EVERY).await;
    }
    program
}

/// The process of this name.
fn process(program: &Program, name: &str) -> u32 {
    let said = program.said();
    let line = said.lines().find(|line| line.trim_start().starts_with(name) && line.contains(" process "));
    let line = line.unwrap_or_else(|| panic!("{name} is not named:\n{said}"));
    let number = line.split_whitespace().skip_while(|word| *word != "process").nth(1);
    number.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("no number: {line}"))
}

fn runs(id: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

/// Says something to the bot and waits for its answer.
async fn talk(visitor: &mut Visitor, key: &str, words: &str) {
    visitor.patience = WAITS_MAX;
    let id = visitor.say(key, &format!("@aizuchi {words}")).await;
    loop {
        let message = visitor.next("said").await["message"].clone();
        if message["voice"] == "Me" && message["reply_to"] == id.as_str() {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_to_try_out_survives_a_node_and_goes_on_after_a_stop() {
    let home = new_home(SETTINGS);
    let mut program = up(&home).await;
    let mut mia = Visitor::enter(home.address, "lobby", "mia").await;
    talk(&mut mia, "1", "are you there?").await;
    let node = process(&program, "restate-1");
    let killed = std::process::Command::new("kill").args(["-9", &node.to_string()]).status();
    assert!(killed.expect("there is a kill").success());
    talk(&mut mia, "2", "and now?").await;
    eventually("it is started again", async || program.said().contains("restate-1 runs again").then_some(())).await;
    let names = ["postgres", "restate-2", "restate-3", "worker", "gateway"];
    let others: Vec<u32> = names.iter().map(|name| process(&program, name)).collect();
    program.terminate();
    assert!(program.ended().await.success(), "{}", program.said());
    assert!(!others.iter().any(|id| runs(*id)), "all of them have ended");
    let mut program = up(&home).await;
    let (mut mia, before) = Visitor::come_back(home.address, "lobby", "mia", Some(&mia.person), 0).await;
    let before: String = before.iter().map(|frame| frame.to_string()).collect();
    assert!(before.contains("are you there?") && before.contains("and now?"), "{before}");
    talk(&mut mia, "3", "still here?").await;
    program.kill();
    let all = ["restate-1", "postgres", "worker", "gateway"].map(|name| process(&program, name));
    eventually("nothing is left of it", async || (!all.iter().any(|id| runs(*id))).then_some(())).await;
}

#[tokio::test]
async fn what_is_missing_is_named() {
    let home = new_home(&[]);
    let told = home.command(&["cluster", "up", "--folder", "c", "--restate", "/nowhere/restate-server"]).await;
    assert!(told.contains("/nowhere/restate-server is not a program") && told.contains("--restate PROGRAM"), "{told}");
    let told = home.command(&["cluster", "up", "--nodes", "0"]).await;
    assert!(told.contains("1..=9"), "{told}");
}
