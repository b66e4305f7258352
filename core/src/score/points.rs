//! Points by rule, and the strength with which a rule applies.

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::collections::BTreeMap;

use super::RULES;

/// How strongly a rule applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percent(u8);

impl Percent {
    pub const NONE: Percent = Percent(0);
    pub const ALL: Percent = Percent(100);

    pub const fn new(percent: u8) -> Percent {
        Percent(percent)
    }

    pub fn all_or_none(holds: bool) -> Percent {
        if holds { Percent::ALL } else { Percent::NONE }
    }

    /// That share of some points, to the nearest whole one.
    pub fn of(self, points: i16) -> i16 {
        let hundredths = i32::from(points) * i32::from(self.0);
        ((hundredths + hundredths.signum() * 50) / 100) as i16
    }
}

/// Points by rule, in the order of the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Points(pub [i16; RULES.len()]);

impl Points {
    pub fn score(self) -> u8 {
        self.0.iter().map(|points| i32::from(*points)).sum::<i32>().clamp(0, 100) as u8
    }
}

/// Written by name, so that a later version with other rules still reads it.
impl Serialize for Points {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (rule, points) in RULES.iter().zip(self.0).filter(|(_, points)| *points != 0) {
            map.serialize_entry(rule.id, &points)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Points {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Points, D::Error> {
        let by_name = BTreeMap::<String, i16>::deserialize(deserializer)?;
        let mut points = Points::default();
        for (place, rule) in RULES.iter().enumerate() {
            points.0[place] = by_name.get(rule.id).copied().unwrap_or(0);
        }
        Ok(points)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_rounded_to_the_nearest_point() {
        assert_eq!(Percent::new(67).of(-15), -10);
        assert_eq!(Percent::ALL.of(-15), -15);
        assert_eq!(Percent::new(50).of(5), 3);
        assert_eq!(Percent::NONE.of(40), 0);
    }

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
