//! A sample conversation, played in a room of its own, so that a new user sees the whole cycle in half a minute.

use std::collections::HashMap;
use std::time::Duration;

use aizuchi_core::types::Voice;
use aizuchi_core::view::PendingStage;
use serde::Deserialize;
use tokio::time::Instant;
use tracing::warn;

use super::change::TalkChange;
use super::page::PageProblem;
use super::platform::Web;
use super::server::WebContext;
use super::settings::SAMPLE_ROOM;
use super::talk::{Refusal, SayRequest, room_id};
use crate::language::Language;
use crate::ports::{Speaker, WebDecision, WebQuery, WebRoom, WebWrite};
use crate::stores::StoreError;

/// The prefix of the names of its rooms.
pub const PREFIX: &str = SAMPLE_ROOM;
/// How many are played concurrently.
pub const AT_ONCE_MAX: usize = 8;

/// Time for the page to move there.
const BEGINS_AFTER: Duration = Duration::from_secs(1);
/// How long people wait for a model at most.
const ANSWERS_WITHIN: Duration = Duration::from_secs(30);
const LOOKS_EVERY: Duration = Duration::from_millis(100);
/// A page may lose its connection for a moment.
const MAY_BE_AWAY: Duration = Duration::from_secs(10);

/// A line of the recording; `ts` is in seconds from the beginning.
#[derive(Debug, Deserialize)]
struct SampleMessage {
    ts: f64,
    id: String,
    author: String,
    text: String,
    #[serde(default)]
    bot: bool,
    #[serde(default)]
    reply_to: Option<String>,
}

fn lines(language: Language) -> Vec<SampleMessage> {
    language
        .sample("web.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("the sample is well-formed"))
        .collect()
}

/// Opens a new room for it.
pub async fn open(web: &Web, language: Language, by: &str) -> Result<String, StoreError> {
    let (opened, by) = (web.clock.now(), by.to_owned());
    let open = TalkChange::new(WebQuery::default(), move |found| {
        let seq = found.last_seq + 1;
        let name = format!("{PREFIX}{}-{seq}", language.id());
        let room = WebRoom { name: name.clone(), opened, opened_by: Some(by.clone()) };
        let writes = vec![WebWrite::OpenRoom(room)];
        (name, WebDecision { writes, last_seq: Some(seq), input: None })
    });
    open.make(&*web.stores.web).await
}

/// Plays the lines, until they are over or nobody watches.
pub async fn play(context: &WebContext, room: &str, language: Language) {
    let web = &context.web;
    tokio::time::sleep(BEGINS_AFTER).await;
    let mut start = Instant::now();
    let mut watched = start;
    let mut ids: HashMap<String, String> = HashMap::new();
    for line in lines(language) {
        tokio::time::sleep_until(start + Duration::from_secs_f64(line.ts)).await;
        start += until_answered(context, room).await;
        if web.hub.listeners(room) > 0 {
            watched = Instant::now();
        } else if watched.elapsed() > MAY_BE_AWAY {
            return;
        }
        let request = SayRequest {
            room: room.to_owned(),
            key: format!("{room}/{}", line.id),
            at: web.clock.now(),
            by: Speaker { id: format!("{PREFIX}{}", line.author), name: line.author },
            voice: if line.bot { Voice::Bot } else { Voice::Person },
            text: line.text.replace("aizuchi", &web.bot().name),
            thread: None,
            reply_to: line.reply_to.and_then(|id| ids.get(&id).cloned()),
        };
        match context.say(request).await {
            Ok(stored) => {
                ids.insert(line.id, stored.id);
            }
            // Somebody closed the room.
            Err(PageProblem::Refusal(Refusal::RoomClosed)) => return,
            Err(PageProblem::Refusal(refusal)) => warn!(?refusal, "a sample line was refused"),
            Err(PageProblem::Trouble(_)) => return warn!("cannot play the sample: a line could not be stored"),
        }
    }
}

/// Lets a model that needs long finish what it was asked, so that nobody goes on over its answer. Returns how long that took.
async fn until_answered(context: &WebContext, room: &str) -> Duration {
    let (began, room) = (Instant::now(), room_id(room));
    while began.elapsed() < ANSWERS_WITHIN {
        let Ok(Some(view)) = context.engine.view(&room).await else { break };
        let is_asked = |stage| matches!(stage, PendingStage::Judging | PendingStage::Writing | PendingStage::Posting);
        if !view.places.iter().flat_map(|place| &place.pending).any(|pending| is_asked(pending.doing)) {
            break;
        }
        tokio::time::sleep(LOOKS_EVERY).await;
    }
    began.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_samples_fit_into_half_a_minute_and_call_the_bot() {
        for language in Language::ALL {
            let lines = lines(language);
            assert!(lines.is_sorted_by(|one, next| one.ts <= next.ts));
            assert!(lines.last().unwrap().ts <= 30.0);
            assert!(lines.iter().any(|line| line.text.contains("@aizuchi")));
            let known = |id: &String| lines.iter().any(|line| line.id == *id);
            assert!(lines.iter().filter_map(|line| line.reply_to.as_ref()).all(known));
        }
    }
}
