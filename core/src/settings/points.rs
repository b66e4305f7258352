//! The points of each rule, by its id.

use std::collections::BTreeMap;

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// The rules, in the order in which they are counted and listed. The rules themselves are in `core/src/points`.
pub(crate) const RULE_IDS: &[&str] = &[
    "engaged",
    "question",
    "keyword",
    "calls_for_help",
    "two_people",
    "not_mentioned",
    "high_frequency",
    "its_topic",
    "after_silence",
    "fading",
    "cooldown",
    "filler",
    "closing",
];

/// Points by rule, in the order of the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Points(pub(crate) [i16; RULE_IDS.len()]);

impl<const N: usize> From<[(&str, i16); N]> for Points {
    /// By the ids of rules; all others are 0.
    fn from(given: [(&str, i16); N]) -> Points {
        let of = |rule: &str| given.iter().find(|(id, _)| *id == rule).map_or(0, |(_, points)| *points);
        Points(std::array::from_fn(|index| of(RULE_IDS[index])))
    }
}

impl Points {
    /// The points of one rule.
    pub fn of(&self, rule: &str) -> i16 {
        RULE_IDS.iter().position(|id| *id == rule).map_or(0, |index| self.0[index])
    }

    /// The points of every rule, in the order of the rules.
    pub fn by_rule(&self) -> &[i16] {
        &self.0
    }

    pub fn score(self) -> u8 {
        self.0.iter().map(|points| i32::from(*points)).sum::<i32>().clamp(0, 100) as u8
    }
}

/// Serialized by name, so that a later version with other rules still reads it.
impl Serialize for Points {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (rule, points) in RULE_IDS.iter().zip(self.0).filter(|(_, points)| *points != 0) {
            map.serialize_entry(rule, &points)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Points {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Points, D::Error> {
        let by_name = BTreeMap::<String, i16>::deserialize(deserializer)?;
        let mut points = Points::default();
        for (index, rule) in RULE_IDS.iter().enumerate() {
            points.0[index] = by_name.get(*rule).copied().unwrap_or(0);
        }
        Ok(points)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_clamped_once_at_the_end() {
        let mut points = Points::default();
        (points.0[0], points.0[1]) = (90, 90);
        assert_eq!(points.score(), 100);
        points.0[2] = -120;
        assert_eq!(points.score(), 60);
        points.0[2] = -300;
        assert_eq!(points.score(), 0);
    }

    #[test]
    fn points_survive_a_round_trip_by_name() {
        let mut points = Points::default();
        points.0[1] = 20;
        let text = serde_json::to_string(&points).unwrap();
        assert_eq!(text, r#"{"question":20}"#);
        assert_eq!(serde_json::from_str::<Points>(r#"{"question":20,"gone_rule":3}"#).unwrap(), points);
    }
}
