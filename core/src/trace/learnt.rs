//! What a decision keeps of the learnt models: the feature values, and the threshold.

use std::fmt::Write as _;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Trace;
use crate::likelihood::{
    Contribution, FEATURES, JoinModel, PartValues, Reason, Values, contributions_of, main_reasons, parts, reasons,
};

/// The threshold for joining at that moment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    pub threshold: f32,
    /// The learnt likelihood, adjusted for how much the message concerns the bot.
    pub worth: f32,
    /// How welcome its contributions were recently; 1 is neutral.
    pub welcome: f32,
}

/// The feature values, written as text: two digits each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features(pub Option<Box<Values>>);

impl Serialize for Features {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = String::new();
        self.0
            .iter()
            .flat_map(|values| values.iter())
            .for_each(|value| write!(text, "{value:02x}").expect("a string takes every text"));
        serializer.serialize_str(&text)
    }
}

/// The effect of each value, in thousandths of log-odds, written as text: four digits each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts(Option<Box<[i16; FEATURES.len()]>>);

impl Parts {
    pub(crate) fn of(values: &Values, model: &JoinModel) -> Parts {
        Parts(Some(Box::new(parts(values, model).map(|part| (part * 1000.0) as i16))))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

impl Serialize for Parts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = self.0.iter().flat_map(|parts| parts.iter());
        serializer.serialize_str(&parts.map(|part| format!("{part:04x}")).collect::<String>())
    }
}

/// Those of a version with other features are not read.
impl<'de> Deserialize<'de> for Parts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Parts, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut parts = [0; FEATURES.len()];
        if text.len() != 4 * parts.len() {
            return Ok(Parts(None));
        }
        for (index, part) in parts.iter_mut().enumerate() {
            let digits = text.get(4 * index..4 * index + 4).and_then(|digits| u16::from_str_radix(digits, 16).ok());
            *part = digits.ok_or_else(|| D::Error::custom("four digits for each part"))?.cast_signed();
        }
        Ok(Parts(Some(Box::new(parts))))
    }
}

impl Trace {
    /// The values, and the effect of each according to the model that was used.
    fn learnt(&self) -> Option<(&Values, PartValues)> {
        let values = self.features.0.as_deref()?;
        let own = self.parts.0.as_deref().map(|parts| parts.map(|part| f32::from(part) / 1000.0));
        Some((values, own.unwrap_or_else(|| parts(values, JoinModel::built_in()))))
    }

    /// The effect of each feature on the likelihood, strongest first; empty if no learnt model was used.
    pub fn contributions(&self) -> Vec<Contribution> {
        self.learnt().map(|(values, parts)| contributions_of(values, &parts)).unwrap_or_default()
    }

    /// The reasons for joining or against it, grouped by subject.
    pub fn reasons(&self) -> Vec<Reason> {
        self.learnt().map(|(values, parts)| reasons(values, &parts)).unwrap_or_default()
    }

    /// The strongest reasons for joining, or against it.
    pub(crate) fn reasons_for(&self, joining: bool) -> Vec<Reason> {
        self.learnt().map(|(values, parts)| main_reasons(values, joining, &parts)).unwrap_or_default()
    }

    /// The few reasons that explain on which side of the threshold it was.
    pub fn main_reasons(&self) -> Vec<Reason> {
        let joins = self.bar.is_some_and(|bar| bar.worth >= bar.threshold);
        self.reasons_for(joins)
    }
}

/// A version with other features wrote a different number of values: those are not read.
impl<'de> Deserialize<'de> for Features {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Features, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut values = [0; FEATURES.len()];
        let read = |index: usize| u8::from_str_radix(text.get(2 * index..2 * index + 2)?, 16).ok();
        if text.len() != 2 * values.len() {
            return Ok(Features(None));
        }
        for (index, value) in values.iter_mut().enumerate() {
            *value = read(index).ok_or_else(|| D::Error::custom("two digits for each value"))?;
        }
        Ok(Features(Some(Box::new(values))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trees::Trees;
    use crate::types::{Author, Message, MessageId, PersonId, Place, Time, Visibility, Voice};

    fn trace() -> Trace {
        let message = Message {
            id: MessageId::new("m"),
            place: Place::room("c"),
            at: Time(0),
            author: Author { id: PersonId::new("u"), name: "ann".into(), voice: Voice::Person },
            text: "x".into(),
            reply: None,
            mentions: Vec::new(),
            mentions_me: false,
            visibility: Visibility::Public,
            backfilled: false,
            heard: None,
        };
        Trace { features: Features(Some(Box::new([5; FEATURES.len()]))), ..Trace::undecided(&message, "ann".into()) }
    }

    #[test]
    fn what_another_model_made_of_it_is_told_by_that_model() {
        let built_in = trace();
        let mut other = JoinModel::built_in().clone();
        let (factor, term) = other.trees.calibration;
        other.trees = Trees { calibration: (-2 * factor, term), ..Trees::clone(&other.trees) }.into();
        let own = Trace { parts: Parts::of(&[5; FEATURES.len()], &other), ..trace() };
        let own: Trace =
            serde_json::from_str(&serde_json::to_string(&own).expect("it is written")).expect("it is read");
        let (theirs, mine) = (built_in.contributions(), own.contributions());
        assert!((mine[0].log_odds + 2.0 * theirs[0].log_odds).abs() < 0.005, "{:?} {:?}", mine[0], theirs[0]);
        assert!(!serde_json::to_string(&built_in).expect("it is written").contains("parts"));
    }
}
