//! What was acknowledged is there after any end.

use super::*;

#[tokio::test]
async fn a_store_that_is_dropped_in_the_middle_has_all_or_nothing() {
    let folder = Scratch::new("dropped");
    let lobby = public("web:lobby");
    let policies = settings(&[]);
    for round in 0..5 {
        let memory = reopen("local", &folder).await;
        memory.apply(vec![kept(draft(&lobby, &format!("acknowledged {round}")))], &policies).await.unwrap();
        // Begun and never waited for.
        let pair = (0..2).map(|half| kept(draft(&lobby, &format!("begun {round} half {half}")))).collect();
        let begun = tokio::time::timeout(std::time::Duration::ZERO, memory.apply(pair, &policies)).await;
        drop((begun, memory));
        let memory = reopen("local", &folder).await;
        let facts = memory.facts(Filter::default()).await.unwrap();
        let count = |text: &str| facts.iter().filter(|fact| fact.content.starts_with(text)).count();
        assert_eq!(count("acknowledged"), round + 1);
        for of in 0..=round {
            let halves = count(&format!("begun {of} "));
            assert!(halves == 0 || halves == 2, "{halves}");
        }
    }
}

/// Runs itself as another process that is killed while it writes.
#[test]
fn killed_while_writing_it_has_what_it_acknowledged() {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};

    if let Ok(folder) = std::env::var("AIZUCHI_TEST_KILLED") {
        return write_until_killed(Path::new(&folder));
    }
    let folder = Scratch::new("killed");
    let name = "memory::tests::durable::killed_while_writing_it_has_what_it_acknowledged";
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture"])
        .env("AIZUCHI_TEST_KILLED", &*folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut acknowledged = 0;
    for line in lines {
        if let Some(number) = line.strip_prefix("kept ") {
            acknowledged = number.parse::<usize>().unwrap();
        }
        if acknowledged == 25 {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(acknowledged >= 25, "{acknowledged}");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let memory = reopen("local", &folder).await;
        let facts = memory.facts(Filter::default()).await.unwrap();
        assert!(facts.len() >= acknowledged * 2 && facts.len().is_multiple_of(2), "{}", facts.len());
        let query = Query {
            text: format!("number {acknowledged}"),
            speaker: None,
            reader: public(&format!("web:{acknowledged}")),
            at: day(0),
            count: 2,
            vector: None,
            close: Vec::new(),
        };
        assert_eq!(memory.recall(query, &settings(&[])).await.unwrap().len(), 2, "the index is whole as well");
    });
}

fn write_until_killed(folder: &Path) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let memory = reopen("local", folder).await;
        let policies = settings(&[]);
        for number in 1..100_000 {
            let room = public(&format!("web:{number}"));
            let pair = ["left", "right"].map(|half| kept(draft(&room, &format!("number {number} {half}"))));
            memory.apply(pair.into(), &policies).await.unwrap();
            println!("kept {number}");
        }
    });
}
