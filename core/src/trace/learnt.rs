//! What a decision keeps of what was learnt: the values it was made from, and what it was compared with.

use std::fmt::Write as _;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Trace;
use crate::likelihood::{Contribution, FEATURES, JoinModel, Reason, Values, contributions, main_reasons, reasons};

/// What joining had to be worth at that moment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    pub threshold: f32,
    /// What the learnt likelihood came to with what is its business counted in.
    pub worth: f32,
    /// How welcome its contributions were lately; 1 is neither nor.
    pub welcome: f32,
}

/// The values of what was looked at, written as text: two digits each.
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

impl Trace {
    /// What each feature did to the likelihood, the strongest first; empty where nothing learnt is asked.
    pub fn contributions(&self) -> Vec<Contribution> {
        self.features.0.as_deref().map(|values| contributions(values, JoinModel::built_in())).unwrap_or_default()
    }

    /// What spoke for joining or against it, what belongs together taken together.
    pub fn reasons(&self) -> Vec<Reason> {
        self.features.0.as_deref().map(|values| reasons(values, JoinModel::built_in())).unwrap_or_default()
    }

    /// The few reasons that explain on which side of the threshold it was.
    pub fn main_reasons(&self) -> Vec<Reason> {
        let joins = self.bar.is_some_and(|bar| bar.worth >= bar.threshold);
        self.features.0.as_deref().map(|values| main_reasons(values, joins, JoinModel::built_in())).unwrap_or_default()
    }
}

/// A version that looked at other things wrote another number of them: those are not read.
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
