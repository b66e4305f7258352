//! Two people on Discord and two on Slack who talk, edit and delete, and wait for nobody.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use aizuchi_core::Input;
use aizuchi_core::types::Voice;
use aizuchi_test_servers::discord::{DiscordServer, GUILD, PRIVATE, person};
use aizuchi_test_servers::slack::{SlackServer, TEAM};
use rusqlite::Connection;
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use crate::crowd::{Draw, Wish};
use crate::postgres::copy_of;
use crate::program::{Home, PATIENCE};

const PEOPLE: [(u64, &str, &str); 2] = [(12, "tom", "U3TOM"), (13, "hana", "U2HAN")];
/// Within which somebody does the next thing.
const THINKS_MS: u64 = 1_500;
const SLACK_CHANNEL: &str = "C2RAN";

/// A channel where nobody calls the bot.
pub trait QuietChannel: Send + Sync + 'static {
    /// Whether what was said in a gap is heard in its order. Slack sends again later what nobody acknowledged.
    const IS_ORDERED: bool;

    fn room() -> String;

    fn say(&self, person: usize, text: &str) -> String;

    fn edit(&self, id: &str, text: &str);

    fn delete(&self, id: &str);
}

impl QuietChannel for DiscordServer {
    const IS_ORDERED: bool = true;

    fn room() -> String {
        format!("discord:{GUILD}/{PRIVATE}")
    }

    fn say(&self, who: usize, text: &str) -> String {
        let (id, name, _) = PEOPLE[who];
        self.world.with(|world| world.say(PRIVATE, &person(id, name), json!({"content": text})).to_string())
    }

    fn edit(&self, id: &str, text: &str) {
        self.world.with(|world| world.edit(PRIVATE, id.parse().expect("a number"), text));
    }

    fn delete(&self, id: &str) {
        self.world.with(|world| world.delete(PRIVATE, id.parse().expect("a number")));
    }
}

impl QuietChannel for SlackServer {
    const IS_ORDERED: bool = false;

    fn room() -> String {
        format!("slack:{TEAM}/{SLACK_CHANNEL}")
    }

    fn say(&self, who: usize, text: &str) -> String {
        SlackServer::say(self, SLACK_CHANNEL, PEOPLE[who].2, text)
    }

    fn edit(&self, id: &str, text: &str) {
        SlackServer::edit(self, SLACK_CHANNEL, id, text);
    }

    fn delete(&self, id: &str) {
        SlackServer::delete(self, SLACK_CHANNEL, id);
    }
}

/// A message as it is in the end; without a text it was deleted.
struct ChatterMessage {
    id: String,
    text: Option<String>,
}

pub struct Chatters<F: QuietChannel> {
    people: Vec<JoinHandle<Vec<ChatterMessage>>>,
    floor: std::marker::PhantomData<F>,
}

/// What a room heard of them.
pub struct ChatterTally {
    pub messages: usize,
    pub changed: usize,
    /// Messages that were heard after one that was said later.
    pub late: usize,
}

impl<F: QuietChannel> Chatters<F> {
    pub fn start(floor: &Arc<F>, seed: u64, wish: &watch::Receiver<Wish>) -> Chatters<F> {
        let chat = |who: usize| tokio::spawn(chat(floor.clone(), who, Draw(seed ^ (77 + who as u64)), wish.clone()));
        Chatters { people: (0..PEOPLE.len()).map(chat).collect(), floor: std::marker::PhantomData }
    }

    /// After they were to finish: everything they said was heard as it is in the end.
    pub async fn check(self, home: &Home) -> ChatterTally {
        let mut said = Vec::new();
        for person in self.people {
            said.extend(person.await.expect("they only talk"));
        }
        // Ids of both platforms have the same length, and ascend.
        said.sort_by(|one, other| one.id.cmp(&other.id));
        let until = Instant::now() + PATIENCE;
        loop {
            match compare::<F>(&said, &copy_of(home).await) {
                Ok(heard) => return heard,
                Err(why) => assert!(Instant::now() < until, "{}: {why}", F::room()),
            }
        }
    }
}

/// Each message is edited or deleted once at most: on Slack a change may come after a later one.
async fn chat<F: QuietChannel>(
    floor: Arc<F>,
    who: usize,
    mut draw: Draw,
    wish: watch::Receiver<Wish>,
) -> Vec<ChatterMessage> {
    let mut said: Vec<ChatterMessage> = Vec::new();
    let mut may_change = false;
    while *wish.borrow() == Wish::Talk {
        sleep(Duration::from_millis(draw.below(THINKS_MS))).await;
        let number = said.len();
        match (draw.below(6), said.last_mut().filter(|_| may_change)) {
            (0, Some(last)) => {
                let text = format!("{} means number {number}", PEOPLE[who].1);
                floor.edit(&last.id, &text);
                last.text = Some(text);
                may_change = false;
            }
            (1, Some(last)) => {
                floor.delete(&last.id);
                last.text = None;
                may_change = false;
            }
            _ => {
                let text = format!("number {number} of {}", PEOPLE[who].1);
                said.push(ChatterMessage { id: floor.say(who, &text), text: Some(text) });
                may_change = true;
            }
        }
    }
    said
}

fn compare<F: QuietChannel>(said: &[ChatterMessage], store: &Connection) -> Result<ChatterTally, String> {
    let room = F::room();
    let mut statement = store.prepare("SELECT body FROM journal ORDER BY seq").expect("a copy is a store");
    let bodies = statement.query_map([], |row| row.get::<_, String>(0)).expect("a copy can be read");
    // In the order in which they were heard first, and each text that each of them had.
    let (mut heard, mut texts): (Vec<String>, HashMap<String, Vec<Option<String>>>) = (Vec::new(), HashMap::new());
    let mut changed = 0;
    for body in bodies {
        match serde_json::from_str::<Input>(&body.expect("a copy can be read")) {
            Ok(Input::Said(message))
                if message.place.room.as_str() == room && message.author.voice == Voice::Person =>
            {
                let id = message.id.to_string();
                if !heard.contains(&id) {
                    texts.entry(id.clone()).or_default().push(Some(message.text.to_string()));
                    heard.push(id);
                }
            }
            Ok(Input::Changed(change)) if change.place.room.as_str() == room => {
                changed += 1;
                let text = change.text.map(|text| text.to_string());
                texts.entry(change.id.to_string()).or_default().push(text);
            }
            _ => (),
        }
    }
    for ChatterMessage { id, text } in said {
        let known = texts.get(id).map_or(&[][..], Vec::as_slice);
        if known.is_empty() && text.is_none() {
            continue;
        }
        let is_known = if F::IS_ORDERED { known.last() == Some(text) } else { known.contains(text) };
        if !is_known || (text.is_some() && !heard.contains(id)) {
            return Err(format!("{id} is {text:?} in the end, and was heard as {known:?}"));
        }
    }
    let place = |id: &String| said.iter().position(|said| said.id == *id);
    let order: Vec<usize> = heard.iter().filter_map(place).collect();
    let mut newest = 0;
    let is_late = |index: &&usize| {
        let before = newest;
        newest = newest.max(**index);
        before > **index
    };
    let late = order.iter().filter(is_late).count();
    assert!(late == 0 || !F::IS_ORDERED, "{room}: {late} messages were heard late: {heard:?}");
    Ok(ChatterTally { messages: order.len(), changed, late })
}
