//! Killed in the middle of an answer on Discord and on Slack: nobody waits in vain, and nobody gets an answer twice.

use std::time::Duration;

use aizuchi_test_servers::discord::{self, BOT_ID, CHANNEL, person};
use aizuchi_test_servers::slack::{self, APP_TOKEN, BOT_TOKEN};
use serde_json::Value;

use crate::crowd::Draw;
use crate::program::{Home, Program, eventually, new_home};

/// How often it is killed at least, and at most until that was once between the parts of an answer.
const KILLS: u64 = 10;
const KILLS_MAX: u64 = 200;

const SETTINGS: &[&str] =
    &["web.enabled=false", "reply.part_chars=40", "gates.user_addressed_per_hour=0", "log.level=warn"];

/// A part of an answer as people see it.
#[derive(Debug)]
pub struct Part {
    text: String,
    /// Where the platform shows what it answers.
    answering: Option<String>,
}

/// A platform the program runs on, with somebody who asks.
pub trait Ground {
    /// The words it says when it starts.
    const JOINS: &'static str;

    /// Whether people see which message an answer is for.
    const POINTS: bool;

    fn home(&self) -> Home;

    /// Somebody calls the bot with these words; the id of the message.
    fn call(&self, words: &str) -> String;

    /// The same, without notifying the bot.
    fn call_unheard(&self, words: &str) -> String;

    /// What the bot posted, oldest first.
    fn parts(&self) -> Vec<Part>;

    /// The next post goes out, and the program never hears so.
    fn lose_answer(&self);

    /// Whether the program listens.
    fn is_heard(&self) -> bool;

    /// Nobody is on the line any more.
    fn hang_up(&self);
}

impl Ground for discord::DiscordServer {
    const JOINS: &'static str = "joins Discord.";
    const POINTS: bool = true;

    fn home(&self) -> Home {
        let mut home = new_home(SETTINGS);
        home.set(format!("discord.api_url={}", self.url()));
        home.set_variable("DISCORD_TOKEN", discord::TOKEN);
        home
    }

    fn call(&self, words: &str) -> String {
        self.say(CHANNEL, &person(11, "mia"), &format!("<@{BOT_ID}> {words}")).to_string()
    }

    fn call_unheard(&self, words: &str) -> String {
        let content = serde_json::json!({"content": format!("<@{BOT_ID}> {words}")});
        self.world.with(|world| {
            let id = world.snowflake();
            world.keep(id, CHANNEL, &person(11, "mia"), content);
            id.to_string()
        })
    }

    fn parts(&self) -> Vec<Part> {
        let shown = |post: &Value| {
            let both = [&post["content"], &post["embeds"][0]["description"]];
            both.map(|text| text.as_str().unwrap_or_default()).concat()
        };
        let answering = |post: &Value| post["message_reference"]["message_id"].as_str().map(str::to_owned);
        self.posts(CHANNEL).iter().map(|post| Part { text: shown(post), answering: answering(post) }).collect()
    }

    fn lose_answer(&self) {
        self.mishap(&format!("POST channels/{CHANNEL}/messages"), discord::ScriptedFailure::AnswerLost);
    }

    fn is_heard(&self) -> bool {
        self.world.with(|world| world.sessions.values().any(|session| session.line.is_some()))
    }

    fn hang_up(&self) {
        self.world.with(|world| world.sessions.clear());
    }
}

impl Ground for slack::SlackServer {
    const JOINS: &'static str = "joins Slack.";
    const POINTS: bool = false;

    fn home(&self) -> Home {
        let mut home = new_home(SETTINGS);
        home.set(format!("slack.api_url={}", self.api_url()));
        home.set_variable("SLACK_BOT_TOKEN", BOT_TOKEN);
        home.set_variable("SLACK_APP_TOKEN", APP_TOKEN);
        home
    }

    fn call(&self, words: &str) -> String {
        self.say("C1GEN", "U1MIA", &format!("<@{}> {words}", slack::BOT))
    }

    fn call_unheard(&self, words: &str) -> String {
        self.say_unheard("C1GEN", None, "U1MIA", &format!("<@{}> {words}", slack::BOT))
    }

    fn parts(&self) -> Vec<Part> {
        let text = |post: &Value| post["text"].as_str().unwrap_or_default().to_owned();
        self.workspace().posted("C1GEN").iter().map(|post| Part { text: text(post), answering: None }).collect()
    }

    fn lose_answer(&self) {
        self.workspace().fail("chat.postMessage", [slack::Fault::Cut]);
    }

    fn is_heard(&self) -> bool {
        self.sockets.open() > 0
    }

    fn hang_up(&self) {
        self.sockets.cut();
    }
}

/// When it dies, after somebody called.
#[derive(Clone, Copy, Debug)]
enum Death {
    /// Some time after it was called.
    After(Duration),
    /// When so many parts of the answer are out, and a little later.
    AtPart(usize, Duration),
    /// When a part is out of which it never hears.
    Unanswered,
    /// Before it is called at all.
    Before,
}

impl Death {
    fn draw(round: u64, draw: &mut Draw) -> Death {
        let little = Duration::from_micros(draw.below(4) * draw.below(3_000));
        match round % 5 {
            0 => Death::AtPart(1, little),
            1 => Death::Unanswered,
            2 => Death::AtPart(2, little),
            3 => Death::Before,
            _ => Death::After(Duration::from_micros(draw.below(40_000))),
        }
    }
}

async fn lives_on(ground: &impl Ground, home: &Home) -> Program {
    let program = start(ground, home).await;
    eventually("it listens", async || ground.is_heard().then_some(())).await;
    program
}

async fn start<G: Ground>(_: &G, home: &Home) -> Program {
    home.start_telling(G::JOINS).await
}

/// The answer to a call is there from end to end.
pub fn is_whole(parts: &[Part]) -> bool {
    parts.last().is_some_and(|part| part.text.ends_with("no model is connected)"))
}

async fn killed_in_mid_answer<G: Ground>(ground: G) {
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("it is past 1970");
    let seed = std::env::var("CRASH_SEED").map_or(clock.as_millis() as u64, |seed| seed.parse().expect("a number"));
    println!("the deaths of CRASH_SEED={seed}");
    let (home, mut draw) = (ground.home(), Draw(seed));
    let mut program = lives_on(&ground, &home).await;
    let (mut calls, mut between_parts, mut round) = (Vec::new(), 0, 0);
    while round < KILLS || (between_parts == 0 && round < KILLS_MAX) {
        let (death, words) = (Death::draw(round, &mut draw), format!("what about plan number {round}, and why so?"));
        println!("{death:?}");
        let before = ground.parts().len();
        let out = async |count: usize| {
            eventually("parts are out", async || (ground.parts().len() >= before + count).then_some(())).await;
        };
        let id = match death {
            Death::Before => {
                program.kill();
                ground.hang_up();
                ground.call_unheard(&words)
            }
            Death::After(after) => {
                let id = ground.call(&words);
                tokio::time::sleep(after).await;
                id
            }
            Death::AtPart(count, little) => {
                let id = ground.call(&words);
                out(count).await;
                tokio::time::sleep(little).await;
                id
            }
            Death::Unanswered => {
                ground.lose_answer();
                let id = ground.call(&words);
                out(1).await;
                id
            }
        };
        if !matches!(death, Death::Before) {
            assert!(program.has_ended().is_none(), "it died by itself:\n{}", program.said());
            program.kill();
            ground.hang_up();
        }
        let parts = ground.parts();
        between_parts += usize::from(parts.len() > before && !is_whole(&parts));
        program = lives_on(&ground, &home).await;
        let whole = async || {
            let parts = ground.parts();
            (parts.len() > before && is_whole(&parts)).then_some(())
        };
        eventually(&format!("round {round}, {death:?}: the whole answer"), whole).await;
        calls.push((id, words, before));
        round += 1;
    }
    program.terminate();
    assert!(program.ended().await.success(), "{}", program.said());
    check::<G>(&calls, &ground.parts());
    println!("{round} kills, {between_parts} of them between the parts of an answer");
    assert!(between_parts > 0, "the window was never hit");
}

/// Each call has one answer, whole and in order, and there is nothing else.
pub fn check<G: Ground>(calls: &[(String, String, usize)], parts: &[Part]) {
    for (number, (id, words, first)) in calls.iter().enumerate() {
        let end = calls.get(number + 1).map_or(parts.len(), |(_, _, first)| *first);
        let answer = &parts[*first..end];
        let text = answer.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(" ");
        assert_eq!(text.matches("no model is connected)").count(), 1, "{words:?} is answered once: {text}");
        assert_eq!(text.matches("I heard you").count(), 1, "{words:?} is answered once: {text}");
        assert!(text.contains(words.as_str()), "{words:?} is answered whole: {text}");
        let pointed: Vec<&str> = answer.iter().filter_map(|part| part.answering.as_deref()).collect();
        assert_eq!(pointed, if G::POINTS { vec![id.as_str()] } else { Vec::new() }, "{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_in_mid_answer_on_discord() {
    killed_in_mid_answer(discord::DiscordServer::start().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_in_mid_answer_on_slack() {
    killed_in_mid_answer(slack::SlackServer::start().await).await;
}

/// It keeps nothing of what a post carries along.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_in_mid_answer_on_a_slack_that_drops_metadata() {
    let server = slack::SlackServer::start().await;
    server.workspace().forgetful = true;
    killed_in_mid_answer(server).await;
}
