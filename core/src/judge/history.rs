//! What it did here lately, as the judge is told.

use serde::{Deserialize, Serialize};

use crate::room::Past;
use crate::settings::Settings;
use crate::types::{Span, Time};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    pub minutes_since: u64,
    pub within_half_an_hour: u64,
    /// The first characters of the talk it stepped into.
    pub excerpt: Box<str>,
}

const HALF_AN_HOUR: Span = Span::minutes(30);

impl History {
    pub fn of(past: &Past, strand: u32, settings: &Settings, now: Time) -> Option<History> {
        let last = past.interventions_of(strand).next_back()?;
        let recent = past.interventions_of(strand).filter(|each| now.since(each.at) < HALF_AN_HOUR);
        Some(History {
            minutes_since: now.since(last.at).whole_minutes(),
            within_half_an_hour: recent.count() as u64,
            excerpt: last.lines.plain().chars().take(settings.judge.history_chars as usize).collect(),
        })
    }

    pub fn text(&self) -> String {
        format!(
            "【介入履歴】\n- 最後の介入から {} 分経過\n- 30分以内の介入回数: {} 回\n- 最後の介入時の会話（参考）:\n{}...",
            self.minutes_since, self.within_half_an_hour, self.excerpt
        )
    }
}
