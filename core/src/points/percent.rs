//! The strength with which a rule applies.

/// How strongly a rule applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Percent(u8);

impl Percent {
    pub(crate) const NONE: Percent = Percent(0);
    pub(crate) const ALL: Percent = Percent(100);

    pub(crate) const fn new(percent: u8) -> Percent {
        Percent(percent)
    }

    pub(crate) fn all_or_none(holds: bool) -> Percent {
        if holds { Percent::ALL } else { Percent::NONE }
    }

    /// That share of some points, rounded.
    pub(crate) fn of(self, points: i16) -> i16 {
        let hundredths = i32::from(points) * i32::from(self.0);
        ((hundredths + hundredths.signum() * 50) / 100) as i16
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
}
