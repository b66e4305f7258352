//! The interface between the deciders: which one rates a message, and the common form of the result.
//!
//! | preset | decider |
//! |---|---|
//! | `aizuchi`, the default | [`Decider::Likelihood`]: how likely somebody would join there, as learnt ([`likelihood`](crate::likelihood)) |
//! | `sphene` | [`Decider::Points`]: the sum of the points of the rules ([`points`](crate::points)) |
//! | `kotonoha`, `myao2` | [`Decider::JudgeAlone`]: nothing is rated, a model is asked about everything |

use crate::likelihood;
use crate::points::{Scene, score};
use crate::policy::Policy;
use crate::room::{MessageSummary, Room};
use crate::settings::{Points, Settings};
use crate::trace::{Bar, Cause, Trace};
use crate::types::{Flags, HeardAs, ThreadId};

/// What rates the messages that are not addressed to the bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decider {
    Likelihood,
    Points,
    JudgeAlone,
}

impl Decider {
    /// The decider that these settings select.
    pub(crate) fn of(settings: &Settings) -> Decider {
        match (settings.score.enabled, settings.score.learned) {
            (false, _) => Decider::JudgeAlone,
            (true, true) => Decider::Likelihood,
            (true, false) => Decider::Points,
        }
    }

    /// The same for one message: nothing is learnt from another bot's messages, so their points are counted.
    fn for_message(settings: &Settings, p_join: Option<f32>) -> Decider {
        match (Decider::of(settings), p_join) {
            (Decider::Likelihood, None) => Decider::Points,
            (decider, _) => decider,
        }
    }
}

/// The result of a decider, whichever it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Assessment {
    /// 0 to 100; `None` if a model decides alone.
    pub score: Option<u8>,
    /// What each rule gave; empty if points are not counted.
    pub points: Points,
    /// The threshold it is compared with, if that depends on what the room heard before.
    pub bar: Option<Bar>,
}

/// The consequence of an assessment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Decision {
    StaySilent(Cause),
    /// Worth acting on; or, with `ask`, worth asking a model about.
    SpeakUp {
        ask: bool,
        cause: Cause,
    },
}

/// Rates the newest message of a place. `summaries` is a scratch buffer for looking back.
pub(crate) fn assess(
    policy: &Policy,
    room: &mut Room,
    thread: Option<&ThreadId>,
    trace: &Trace,
    summaries: &mut Vec<MessageSummary>,
) -> Assessment {
    let (settings, p_join) = (&policy.settings, trace.p_join);
    let place = room.place(thread).expect("a message is weighed where it was heard");
    match (Decider::for_message(settings, p_join), p_join) {
        (Decider::JudgeAlone, _) => Assessment::default(),
        (Decider::Likelihood, Some(p_join)) => {
            let flags = place.buffer.newest().map(|heard| heard.flags).unwrap_or_default();
            let raised = |holds: bool, odds: f64| if holds { odds as f32 } else { 1.0 };
            // A message that may have called the bot asks it at least as much as one that asks everybody.
            let calls = flags.has(Flags::CALL) || trace.heard_as == Some(HeardAs::NameUnclear);
            let odds = raised(flags.has(Flags::KEYWORD), settings.score.keyword_odds)
                * raised(calls, settings.score.call_odds);
            let bar = Some(bar(policy, room, likelihood::worth(p_join, odds)));
            Assessment { score: Some((100.0 * p_join).round() as u8), points: Points::default(), bar }
        }
        (Decider::Points | Decider::Likelihood, _) => {
            let scene = Scene::of_newest(policy, place, summaries).expect("the message was just remembered");
            let points = score(&scene);
            // A talk share applies to points as well.
            let shared = room.talk_of(policy).is_some();
            let bar = shared.then(|| bar(policy, room, f32::from(points.score()) / 100.0));
            Assessment { score: Some(points.score()), points, bar }
        }
    }
}

/// Compares with the threshold of the talk share; without a share, with `score.low`.
fn bar(policy: &Policy, room: &mut Room, worth: f32) -> Bar {
    let (threshold, welcome) = match room.talk_mut(policy) {
        Some((talk, share)) => {
            talk.note_likely(worth);
            (talk.threshold(share, &policy.models.join), talk.welcome)
        }
        None => (policy.settings.score.low as f32 / 100.0, 1.0),
    };
    Bar { threshold, worth, welcome }
}

impl Assessment {
    /// Whether to stay silent, to act or to ask.
    pub(crate) fn decision(&self, policy: &Policy) -> Decision {
        match (self.bar, self.score) {
            (Some(bar), _) => against_bar(policy, bar),
            (None, Some(score)) => against_limits(policy, score.into()),
            (None, None) if policy.asks_a_model() => ask(),
            (None, None) => Decision::StaySilent(Cause::UnderThreshold { threshold: policy.settings.score.threshold }),
        }
    }

    /// Notes it in the trace of the message.
    pub(crate) fn note(&self, trace: &mut Trace) {
        (trace.score, trace.points, trace.bar) = (self.score, self.points, self.bar);
    }
}

fn ask() -> Decision {
    Decision::SpeakUp { ask: true, cause: Cause::Undecided }
}

fn act(cause: Cause) -> Decision {
    Decision::SpeakUp { ask: false, cause }
}

fn against_bar(policy: &Policy, bar: Bar) -> Decision {
    let asks = policy.asks_a_model() && 100.0 * bar.worth < policy.settings.score.high as f32;
    match (bar.worth >= bar.threshold, asks) {
        (false, _) => Decision::StaySilent(Cause::Unlikely),
        (true, true) => ask(),
        (true, false) => act(Cause::Likely),
    }
}

fn against_limits(policy: &Policy, score: u32) -> Decision {
    let settings = &policy.settings.score;
    let (low, high, threshold) = (settings.low, settings.high, settings.threshold);
    if score >= high {
        act(Cause::High { high })
    } else if score <= low {
        Decision::StaySilent(Cause::Low { low })
    } else if policy.asks_a_model() {
        ask()
    } else if score >= threshold {
        act(Cause::OverThreshold { threshold })
    } else {
        Decision::StaySilent(Cause::UnderThreshold { threshold })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policies;

    #[test]
    fn each_preset_has_its_decider() {
        for (preset, decider) in [
            ("aizuchi", Decider::Likelihood),
            ("sphene", Decider::Points),
            ("kotonoha", Decider::JudgeAlone),
            ("myao2", Decider::JudgeAlone),
        ] {
            let policies = Policies::preset(preset).unwrap();
            assert_eq!(Decider::of(&policies.general().settings), decider, "{preset}");
        }
    }
}
