//! A view of a room from outside: who has the floor, what is pending and until when. For consoles; it decides nothing.

use serde::Serialize;

use crate::effect::Post;
use crate::listen::listens_in;
use crate::policy::Policy;
use crate::reminders::Reminder;
use crate::room::{BotState, Cost, Mute, Pending, PendingDelivery, Phase, PlaceState, Room};
use crate::types::{Addressed, Kind, MessageId, Place, Share, ThreadId, Time, Voice};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoomView {
    /// Whether the bot listens here at all.
    pub listens: bool,
    pub mute: Option<Mute>,
    /// How much the bot is to say here, if that is a share of the talk.
    pub talk: Option<Share>,
    pub places: Vec<PlaceView>,
    /// What the room cost today.
    pub spent: Cost,
    /// The time zone of the room, as the settings have it.
    #[serde(skip)]
    pub zone: Box<str>,
    /// Reminders and schedules, the next first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reminders: Vec<Reminder>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlaceView {
    pub thread: Option<ThreadId>,
    /// How often each person spoke among the messages that the rules see, in descending order.
    pub floor: Vec<FloorShare>,
    pub pending: Vec<PendingView>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FloorShare {
    pub name: Box<str>,
    pub voice: Voice,
    pub messages: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PendingView {
    /// The message that gives the reason.
    pub message: MessageId,
    pub author: Box<str>,
    pub doing: PendingStage,
    /// When the wait or the hold began and when it ends.
    pub since: Time,
    pub due: Option<Time>,
    pub score: Option<u8>,
    pub points: Vec<(&'static str, i16)>,
    pub addressed: Option<Addressed>,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PendingStage {
    Waiting,
    Judging,
    Holding,
    Writing,
    Posting,
}

impl RoomView {
    pub(crate) fn of(room: &Room, policy: &Policy, now: Time) -> RoomView {
        let places = room.threads().filter_map(|thread| {
            let place = room.place(thread)?;
            Some(PlaceView {
                thread: thread.cloned(),
                floor: shares(room, place, policy, now),
                pending: place.slots().map(to_view).chain(posting(place)).collect(),
            })
        });
        let mute = room.mute.filter(|mute| !matches!(mute, Mute::Until(until) if *until <= now));
        let spent = room.spent.as_ref().map(|spent| spent.today(policy, now)).unwrap_or_default();
        let talk = room.talk_of(policy).map_or(policy.settings.talk, |(_, share)| Some(share));
        let main = Place { room: room.id.clone(), thread: None };
        let listens = !room.off && listens_in(policy, &main);
        let reminders = room.reminders.as_ref().map(|reminders| reminders.list.clone()).unwrap_or_default();
        RoomView {
            listens,
            mute,
            talk,
            places: places.collect(),
            spent,
            zone: policy.settings.bot.zone.as_str().into(),
            reminders,
        }
    }
}

fn shares(room: &Room, place: &PlaceState, policy: &Policy, now: Time) -> Vec<FloorShare> {
    let mut shares: Vec<(u16, FloorShare)> = Vec::new();
    for heard in place.newest(policy, now, policy.settings.score.window_messages) {
        match shares.iter_mut().find(|(speaker, _)| *speaker == heard.speaker) {
            Some((_, share)) => share.messages += 1,
            None => {
                let name = room.speakers.name(heard.speaker).into();
                shares.push((heard.speaker, FloorShare { name, voice: heard.voice(), messages: 1 }));
            }
        }
    }
    shares.sort_by_key(|(_, share)| std::cmp::Reverse(share.messages));
    shares.into_iter().map(|(_, share)| share).collect()
}

fn to_view(pending: &Pending) -> PendingView {
    let (doing, since) = match pending.phase {
        Phase::Waiting { .. } => (PendingStage::Waiting, pending.since),
        Phase::Judging { asked_at, .. } => (PendingStage::Judging, asked_at),
        Phase::Holding { .. } => (PendingStage::Holding, pending.since),
        Phase::Writing { asked_at, .. } => (PendingStage::Writing, asked_at),
    };
    PendingView {
        message: pending.trace.message.clone(),
        author: pending.trace.author.clone(),
        doing,
        since,
        due: pending.due(),
        score: pending.trace.score,
        points: pending.trace.given().collect(),
        addressed: pending.addressed,
        kind: pending.kind,
    }
}

/// Posts that were sent, and those that wait.
fn posting(place: &PlaceState) -> impl Iterator<Item = PendingView> {
    let posts = |bot: &BotState| {
        let left = bot.delivering.iter().filter_map(|sent| post_view(sent, None));
        let waiting = bot.outbox.iter().filter_map(|waiting| post_view(&waiting.post, Some(waiting.due)));
        left.chain(waiting).collect::<Vec<_>>()
    };
    place.bot.as_deref().map(posts).unwrap_or_default().into_iter()
}

fn post_view(post: &PendingDelivery, due: Option<Time>) -> Option<PendingView> {
    let trace = post.traces.last()?;
    Some(PendingView {
        message: trace.message.clone(),
        author: trace.author.clone(),
        doing: PendingStage::Posting,
        since: post.delivery.at,
        due,
        score: trace.score,
        points: trace.given().collect(),
        addressed: trace.addressed,
        kind: match post.delivery.post {
            Post::Reaction(_) => Kind::Reaction,
            Post::Text(_) | Post::Excuse(_) | Post::Approval(_) | Post::Reminder(_) => Kind::Full,
        },
    })
}
