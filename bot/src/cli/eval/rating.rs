//! How much a message calls for the bot by whichever decider the settings choose, so that presets can be measured side by side.

use aizuchi_core::effect::Outcome;
use aizuchi_core::{Policies, Trace};
use anyhow::bail;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rating {
    /// The learnt estimates.
    Likelihood,
    /// The points of the rules, as a share of 100.
    Points,
    /// A model would be asked, or not: the settings let it decide alone.
    Asked,
}

impl Rating {
    pub fn of(policies: &Policies) -> Rating {
        let score = &policies.general().settings.score;
        match (score.enabled, score.learned) {
            (false, _) => Rating::Asked,
            (true, true) => Rating::Likelihood,
            (true, false) => Rating::Points,
        }
    }

    /// Only the learnt models guess which message is answered.
    pub fn expect_likelihood(self) -> anyhow::Result<()> {
        match self {
            Rating::Likelihood => Ok(()),
            Rating::Points | Rating::Asked => bail!("nothing to measure: score.learned is false in these settings"),
        }
    }

    pub fn id(self) -> &'static str {
        match self {
            Rating::Likelihood => "likelihood",
            Rating::Points => "points",
            Rating::Asked => "asked",
        }
    }

    /// What is used where there is no probability.
    pub fn note(self) -> &'static str {
        match self {
            Rating::Likelihood => "",
            Rating::Points => "by the points of the rules, which are no probability\n\n",
            Rating::Asked => "by whether a model would be asked, which decides alone in these settings\n\n",
        }
    }

    /// How likely somebody joins at this message; absent if that was not decided.
    pub fn join(self, trace: &Trace) -> Option<f32> {
        match self {
            Rating::Likelihood => trace.p_join,
            Rating::Points | Rating::Asked => self.rules(trace),
        }
    }

    /// How likely it is the bot's turn; absent if it was not found to take part.
    pub fn turn(self, trace: &Trace) -> Option<f32> {
        match self {
            Rating::Likelihood => trace.p_turn,
            Rating::Points | Rating::Asked => self.rules(trace),
        }
    }

    fn rules(self, trace: &Trace) -> Option<f32> {
        let yes_or_no = |yes: bool| Some(f32::from(u8::from(yes)));
        if trace.outcome == Outcome::Ignored {
            return None;
        }
        if trace.addressed.is_some() {
            return yes_or_no(true);
        }
        match self {
            Rating::Asked => yes_or_no(!trace.asked.is_empty()),
            Rating::Points | Rating::Likelihood => trace.score.map(|score| f32::from(score) / 100.0),
        }
    }
}
