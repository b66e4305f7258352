//! Killed between the call of a tool and its result: what changes something was done at most once, and people get one answer.

use std::time::Duration;

use aizuchi_test_servers::models::{ModelServer, SeenRequest, Step, openai_answer, openai_tool_call};
use aizuchi_test_servers::visitor::Visitor;
use serde_json::{Value, json};

use crate::crowd::Draw;
use crate::program::{Home, Program, eventually, new_home};

/// How often it is killed. `./dev soak` sets TOOL_KILLS to more.
const KILLS: u64 = 6;
/// As long as the tool takes after it has counted.
const WAIT_MS: u64 = 400;

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/counting_server.py");

/// The question that is being answered, by the number in it.
fn asked(request: &SeenRequest) -> String {
    let talk = request.body["messages"].to_string();
    let number = talk.rfind("Answer [").map_or("", |_| talk.rsplit("count number ").next().unwrap_or_default());
    number.chars().take_while(char::is_ascii_digit).collect()
}

fn counts(request: &SeenRequest) -> Step {
    count_for(request, WAIT_MS)
}

/// Counts first, which takes so long, and answers with what came of it.
pub fn count_for(request: &SeenRequest, wait_ms: u64) -> Step {
    let messages = request.body["messages"].as_array().expect("there are messages");
    let result = messages.iter().find(|message| message["role"] == "tool");
    let key = asked(request);
    Step::json(match result {
        None => openai_tool_call("counting_increment", &json!({"key": key, "wait_ms": wait_ms})),
        Some(result) => {
            let told = result["content"].as_str().unwrap_or_default();
            let how = if told.contains("interrupted") { "perhaps" } else { "surely" };
            openai_answer(&format!("number {key} is {how} counted."))
        }
    })
}

const SETTINGS: [&str; 8] = [
    "models.main=mine/m",
    "models.judge=offline",
    "memory.reflection=false",
    "memory.channel_context=false",
    "gates.user_addressed_per_hour=0",
    "tools.person_per_hour=0",
    "tools.allow=counting_*",
    "mcp.counting.env=[\"COUNT_FILE\"]",
];

fn home(model: &ModelServer) -> Home {
    let mut home = new_home(&SETTINGS);
    connect(&mut home, model);
    home
}

/// A home whose settings are not there yet is given the model, and the tool that counts.
pub fn give_tool(home: &mut Home, model: &ModelServer) {
    SETTINGS.iter().for_each(|setting| home.set(*setting));
    connect(home, model);
}

fn connect(home: &mut Home, model: &ModelServer) {
    home.set(format!("mcp.counting.command=[\"python3\", {SERVER:?}]"));
    home.set(format!("providers.mine.url=http://127.0.0.1:{}/v1/", model.port));
    let count = home.folder().join("count");
    home.set_variable("COUNT_FILE", &count.display().to_string());
}

/// The server of the tool needs a moment to start; until then the model is offered nothing of it.
pub async fn has_tool(program: &Program) {
    let started = "MCP server counting: started";
    eventually(started, async || program.said().contains(started).then_some(())).await;
}

pub fn counted(home: &Home) -> Vec<String> {
    let lines = std::fs::read_to_string(home.folder().join("count")).unwrap_or_default();
    lines.lines().map(str::to_owned).collect()
}

/// The posts of the bot that say something of this number, as somebody sees them who comes in now.
pub async fn answers(address: std::net::SocketAddr, number: u64) -> Vec<String> {
    let (_, told) = Visitor::come_back(address, "lobby", "onlooker", None, 0).await;
    let own = told.iter().map(|frame| &frame["message"]).filter(|message| message["voice"] == "Me");
    let texts = own.filter_map(|message| message["text"].as_str().map(str::to_owned));
    texts.filter(|text| text.starts_with(&format!("number {number} is "))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_while_a_tool_runs_it_is_carried_out_at_most_once_and_answered_once() {
    let kills = std::env::var("TOOL_KILLS").ok().map_or(KILLS, |value| value.parse().expect("a number"));
    let model = ModelServer::answering(counts).await;
    let home = home(&model);
    let (mut draw, mut interrupted) = (Draw(7), 0);
    for number in 1..=kills {
        let mut program = home.start().await;
        let mut mia = Visitor::enter(home.address, "lobby", "mia").await;
        let before = model.seen().len();
        has_tool(&program).await;
        mia.say(&format!("k{number}"), &format!("@aizuchi count number {number}")).await;
        eventually("the model is asked", async || (model.seen().len() > before).then_some(())).await;
        let mut little_ms = 2 * WAIT_MS;
        if number % 2 == 0 {
            // Certainly while the tool runs.
            let key = number.to_string();
            eventually("the tool counts", async || counted(&home).contains(&key).then_some(())).await;
            little_ms = WAIT_MS / 2;
        }
        tokio::time::sleep(Duration::from_millis(draw.below(little_ms))).await;
        program.kill();
        let mut program = home.start().await;
        eventually("it is answered", async || answers(home.address, number).await.pop()).await;
        program.terminate();
        assert!(program.ended().await.success(), "{}", program.said());
        // Whatever was still to be said is said by now, or at the next start.
        let _program = home.start().await;
        let posts = answers(home.address, number).await;
        assert_eq!(posts.len(), 1, "number {number}: {posts:?}");
        let times = counted(&home).iter().filter(|key| **key == number.to_string()).count();
        let is_sure = posts[0].contains("surely");
        assert!(times <= 1 && (times == 1 || !is_sure), "number {number} was counted {times} times: {posts:?}");
        interrupted += usize::from(!is_sure);
    }
    assert!(interrupted > 0, "none of {kills} kills came while the tool ran");
    println!("{kills} kills, {interrupted} while the tool ran");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn why_lists_what_was_called() {
    let model = ModelServer::answering(counts).await;
    let home = home(&model);
    let program = home.start().await;
    has_tool(&program).await;
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    let id = mia.say("k", "@aizuchi count number 1").await;
    eventually("it is answered", async || Some(answers(home.address, 1).await).filter(|all| !all.is_empty())).await;
    let told = home.command(&["why", &id]).await;
    assert!(told.contains("counting_increment") && told.contains("returned") && told.contains("counted"), "{told}");
    let json: Value = serde_json::from_str(&home.command(&["why", &id, "--json"]).await).unwrap();
    assert_eq!(json["tools"][0]["name"], "counting_increment", "{json}");
    // Lived once more from the journal, nothing is called and the same is decided.
    let replayed = home.command(&["replay", "--journal"]).await;
    assert_eq!(counted(&home).len(), 1, "{replayed}");
}
