//! The talk share: turns "answer 3 % of the messages unasked" into how likely joining must be at this moment.
//!
//! - `due` is a balance: every message of people adds the share, every contribution takes one away. Above zero the bot may
//!   catch up, a little; below [`AHEAD_MAX`] it lets messages pass. `calls` is the same balance for questions to the judge.
//! - `seen` is a histogram of how likely the messages of this room were. The threshold is its quantile: if 6 % of messages are
//!   wanted, the likelihood that 6 % of them reach. Old counts are halved from time to time. A new room has none: it starts from
//!   the rooms of its kind ([`SiblingTalk`], sent by the shell), or from rooms in general, which count less with each message.
//! - The more is due, the larger the wanted part, so the share is kept without a timer or a random number.
//! - `welcome` multiplies the share by how people received its contributions, within bounds, and returns to 1.

use serde::{Deserialize, Serialize};

use super::models::JoinModel;
use super::steps::{EDGES, STEPS, step_of};
use crate::types::{Response, Share};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TalkShare {
    /// The share that was set here with "talk 3%"; absent if the settings decide.
    pub asked: Option<Share>,
    /// Contributions that are due; below 0 the bot is ahead of its share.
    due: f32,
    /// Questions to the judge that are left.
    calls: f32,
    /// How many messages were how likely, in [`steps`](super::steps).
    seen: [f32; STEPS],
    /// The same for other rooms of its kind, until it has enough of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    siblings: Option<Box<SiblingTalk>>,
    /// How often it got those.
    #[serde(default)]
    told: u8,
    /// How welcome its contributions were: the share is multiplied by this.
    #[serde(default = "neutral")]
    pub welcome: f32,
}

/// How likely the messages of other rooms of a kind were, as fractions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SiblingTalk(pub [f32; STEPS]);

/// The prior counts as much as this many messages of the room ...
const USUAL_MESSAGES: f32 = 100.0;
/// ... at first, and no longer once the room has this many of its own.
const USUAL_UNTIL: f32 = 100.0;
const SIBLINGS_UNTIL: f32 = 400.0;
/// A room gets the figures of its siblings when it has this many messages of its own.
const TOLD_AT: [f32; 4] = [0.0, 10.0, 25.0, 50.0];
/// The number of messages after which all counts are halved.
const FORGET_AFTER: f32 = 1200.0;
/// The part of likely messages at which the bot really speaks: the rest is answered by others, or belongs together.
const SAID_OF_LIKELY: f32 = 0.5;
/// The maximum that can be due, however long nothing was said.
const DUE_MAX: f32 = 1.5;
/// The bot speaks unasked again when it is ahead by no more than this: the minimum distance between two contributions.
const AHEAD_MAX: f32 = -0.75;

/// Rooms in general are busier than a new one: a new room requires a higher likelihood for its first messages, and so keeps
/// to its share.
const FRESH: f32 = 0.6;
const FRESH_MESSAGES: f32 = 30.0;
/// Bounds, so that thanks do not make the bot talk much more, and anger does not silence it forever.
const WELCOME_MIN: f32 = 0.4;
const WELCOME_MAX: f32 = 1.25;
/// With every message it returns this much to the share that was set.
const FORGIVES: f32 = 0.002;

fn neutral() -> f32 {
    1.0
}

impl Default for TalkShare {
    fn default() -> TalkShare {
        let seen = [0.0; STEPS];
        TalkShare { asked: None, due: 0.0, calls: 1.0, seen, siblings: None, told: 0, welcome: neutral() }
    }
}

impl TalkShare {
    /// The share to use: that set in the room, else that of the settings.
    pub(crate) fn share(&self, settings: Option<Share>) -> Option<Share> {
        self.asked.or(settings)
    }

    /// Somebody spoke; `calls` questions to the judge go with each contribution.
    pub(crate) fn note_heard(&mut self, share: Share, calls: f64) {
        self.welcome += (1.0 - self.welcome) * FORGIVES;
        let more = share.of(f64::from(self.welcome)) as f32;
        self.due = (self.due + more).min(DUE_MAX);
        self.calls = (self.calls + more * calls as f32).min(DUE_MAX);
    }

    /// Somebody spoke to the room, with this likelihood that another joins.
    pub(crate) fn note_likely(&mut self, likely: f32) {
        self.seen[step_of(likely)] += 1.0;
        if self.own_messages() >= FORGET_AFTER {
            self.seen.iter_mut().for_each(|count| *count /= 2.0);
        }
        if self.own_messages() >= SIBLINGS_UNTIL {
            self.siblings = None;
        }
    }

    /// People's response to a contribution changes the share, within bounds.
    pub(crate) fn receive(&mut self, response: Response) {
        let factor = match response {
            Response::Thanked => 1.1,
            Response::Answered | Response::Reacted => 1.05,
            Response::Ignored => 0.95,
            Response::Deleted => 0.7,
            Response::ToldOff => 0.6,
        };
        self.welcome = (self.welcome * factor).clamp(WELCOME_MIN, WELCOME_MAX);
    }

    pub(crate) fn note_spoke(&mut self) {
        self.due = (self.due - 1.0).max(-2.0);
    }

    pub(crate) fn note_asked(&mut self) {
        self.calls = (self.calls - 1.0).max(-2.0);
    }

    /// The question was not asked after all.
    pub(crate) fn note_not_asked(&mut self) {
        self.calls = (self.calls + 1.0).min(DUE_MAX);
    }

    /// How many messages must pass before the bot speaks unasked again; `asks`: before a judge is asked.
    pub(crate) fn messages_to_wait(&self, share: Share, asks: bool) -> Option<u64> {
        let have = if asks { self.due.min(self.calls) } else { self.due };
        let each = share.of(f64::from(self.welcome)).max(1e-6);
        (have < AHEAD_MAX).then(|| (f64::from(AHEAD_MAX - have) / each).ceil() as u64)
    }

    /// How likely joining must be to reach the share. `model` knows how likely it is in rooms in general.
    pub(crate) fn threshold(&self, share: Share, model: &JoinModel) -> f32 {
        let wanted = share.of(f64::from(self.welcome)) as f32 / SAID_OF_LIKELY;
        let eager = (1.0 + self.due.min(self.calls)).max(0.0);
        self.quantile(wanted * eager * eager * (1.0 + FRESH * self.freshness()), model)
    }

    /// How new the room is: 1 at the first message, 0 once it has enough messages.
    fn freshness(&self) -> f32 {
        (1.0 - self.own_messages() / FRESH_MESSAGES).clamp(0.0, 1.0)
    }

    /// Messages of this room that count.
    fn own_messages(&self) -> f32 {
        self.seen.iter().sum()
    }

    /// How likely they were, step by step.
    pub(crate) fn seen(&self) -> &[f32; STEPS] {
        &self.seen
    }

    /// Whether it needs the figures of other rooms of its kind.
    pub(crate) fn wants_siblings(&self) -> bool {
        let own = self.own_messages();
        own < USUAL_UNTIL && TOLD_AT.get(usize::from(self.told)).is_some_and(|from| own >= *from)
    }

    /// Takes over the figures of other rooms of its kind.
    pub(crate) fn start_from(&mut self, siblings: SiblingTalk) {
        if self.wants_siblings() {
            self.told += 1;
            self.siblings = Some(Box::new(siblings));
        }
    }

    /// The prior, as fractions, and its current weight.
    fn start(&self, model: &JoinModel) -> ([f32; STEPS], f32) {
        let (parts, until) = match self.siblings.as_deref() {
            Some(SiblingTalk(parts)) => (*parts, SIBLINGS_UNTIL),
            None => (model.usual.map(|count| count / 1000.0), USUAL_UNTIL),
        };
        (parts, USUAL_MESSAGES * (1.0 - self.own_messages() / until).max(0.0))
    }

    /// The likelihood that this part of the messages reaches.
    fn quantile(&self, wanted: f32, model: &JoinModel) -> f32 {
        let (start, weight) = self.start(model);
        let mut left = wanted * (self.own_messages() + weight);
        for step in (0..STEPS).rev() {
            let count = self.seen[step] + weight * start[step];
            if left <= count {
                let from = if step == 0 { 0.0 } else { EDGES[step - 1] };
                let to = if step == STEPS - 1 { 1.0 } else { EDGES[step] };
                return to - (to - from) * left / count.max(f32::MIN_POSITIVE);
            }
            left -= count;
        }
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(text: &str) -> Share {
        Share::parse(text).unwrap()
    }

    /// A room whose likelihoods are spread evenly between 0 and `most`, always agreed to.
    fn contributions(talk: &mut TalkShare, asked: Share, most: f32, messages: u32) -> u32 {
        let mut spoke = 0;
        for turn in 0..messages {
            let likely = most * (turn.wrapping_mul(2_654_435_761) >> 8) as f32 / (1u32 << 24) as f32;
            talk.note_heard(asked, 1.3);
            talk.note_likely(likely);
            if likely >= talk.threshold(asked, JoinModel::built_in()) && talk.messages_to_wait(asked, true).is_none() {
                talk.note_asked();
                talk.note_spoke();
                spoke += 1;
            }
        }
        spoke
    }

    #[test]
    fn the_share_that_is_asked_for_is_what_is_said() {
        for (asked, wanted) in [("1%", 100), ("3%", 300), ("10%", 1000)] {
            for most in [0.05, 0.4, 1.0] {
                let spoke = contributions(&mut TalkShare::default(), share(asked), most, 10_000);
                assert!(spoke.abs_diff(wanted) <= wanted / 20, "{asked} up to {most}: {spoke}");
            }
        }
    }

    #[test]
    fn two_contributions_are_a_quarter_of_their_distance_apart() {
        let mut talk = TalkShare::default();
        talk.note_asked();
        talk.note_spoke();
        assert_eq!(talk.messages_to_wait(share("1%"), false), Some(25));
    }

    #[test]
    fn a_judge_that_says_no_is_not_asked_for_ever() {
        let (mut talk, asked) = (TalkShare::default(), share("1%"));
        let mut calls = 0;
        for turn in 0..10_000u32 {
            talk.note_heard(asked, 1.3);
            talk.note_likely((turn % 100) as f32 / 100.0);
            let likely = (turn % 100) as f32 / 100.0 >= talk.threshold(asked, JoinModel::built_in());
            if likely && talk.messages_to_wait(asked, true).is_none() {
                talk.note_asked();
                calls += 1;
            }
        }
        assert!((120..=133).contains(&calls), "{calls}");
    }

    #[test]
    fn who_is_told_off_says_less_and_is_forgiven() {
        let mut talk = TalkShare::default();
        (0..9).for_each(|_| talk.receive(Response::ToldOff));
        assert_eq!(talk.welcome, WELCOME_MIN);
        let quiet = contributions(&mut talk.clone(), share("10%"), 1.0, 200);
        assert!(quiet < contributions(&mut TalkShare::default(), share("10%"), 1.0, 200), "{quiet}");
        (0..3000).for_each(|_| talk.note_heard(share("3%"), 1.3));
        assert!(talk.welcome > 0.99, "{}", talk.welcome);
        (0..9).for_each(|_| talk.receive(Response::Thanked));
        assert_eq!(talk.welcome, WELCOME_MAX);
    }

    #[test]
    fn nothing_is_nothing() {
        let mut talk = TalkShare::default();
        assert_eq!(contributions(&mut talk, Share::NONE, 0.9, 2000), 0);
    }
}
