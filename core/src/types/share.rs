//! A share of the talk, such as 3 %.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Hundredths of a percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Share(u16);

impl Share {
    pub const NONE: Share = Share(0);

    /// "3%", "0.5 %", "３％"; `None` for anything that is no share of a whole.
    pub fn parse(text: &str) -> Option<Share> {
        let plain: String = text.chars().map(half_width).filter(|c| !c.is_whitespace()).collect();
        let percent: f64 = plain.strip_suffix('%')?.parse().ok()?;
        (0.0..=100.0).contains(&percent).then_some(Share((percent * 100.0).round() as u16))
    }

    pub fn of(self, whole: f64) -> f64 {
        whole * f64::from(self.0) / 10_000.0
    }
}

fn half_width(c: char) -> char {
    match c {
        '！'..='～' => char::from_u32(c as u32 - 0xfee0).expect("the full-width forms lie side by side"),
        _ => c,
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", f64::from(self.0) / 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_read_as_people_write_it() {
        assert_eq!(Share::parse("3%").unwrap().of(200.0), 6.0);
        assert_eq!(Share::parse(" ０．５ ％ ").unwrap().to_string(), "0.5 %");
        for odd in ["", "3", "%", "-1%", "101%", "much", "NaN%"] {
            assert_eq!(Share::parse(odd), None, "{odd}");
        }
    }
}
