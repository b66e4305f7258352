//! What an order says.

use aizuchi_core::settings::PRESETS;
use aizuchi_core::types::{RoomId, Share, Span};

#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    Mute(Option<Span>),
    Unmute,
    Why(Option<String>),
    Status,
    /// Speak up at about this share of messages, or as the settings say.
    Talk(Option<Share>),
    /// Listen here, or not.
    Channel(bool),
    Preset(String),
    /// Forget the talk of this room.
    Reset,
    /// Tell what is kept of whoever asks.
    WhatDoYouKnow,
    /// The same, all of it, as JSON.
    ExportMe,
    /// Forget whoever asks; also by these names, though they may be somebody else's.
    ForgetMe(Vec<Box<str>>),
    /// Whether whoever asks wants to stay out of long memory.
    OptOut(bool),
    Help,
    /// The order is known, what follows it is not.
    Unclear(&'static Row),
    Unknown(String),
}

/// How an order is written where it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandForm {
    /// `/mute`, in the web room.
    Bare,
    /// `/aizuchi mute`, where other programs have commands too: Slack's own `/mute` is something else.
    Prefixed,
}

impl CommandForm {
    /// That of the room's platform.
    pub fn of(room: &RoomId) -> CommandForm {
        match room.as_str().split_once(':') {
            Some(("web", _)) => CommandForm::Bare,
            Some(_) | None => CommandForm::Prefixed,
        }
    }

    /// An order as a person types it there.
    pub fn write(self, order: &str) -> String {
        match self {
            CommandForm::Bare => format!("/{order}"),
            CommandForm::Prefixed => format!("/aizuchi {order}"),
        }
    }
}

/// An order as the help shows it.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    name: &'static str,
    /// Without the slash.
    pub usage: &'static str,
    pub en: &'static str,
    pub ja: &'static str,
}

pub const ROWS: [Row; 14] = [
    Row {
        name: "mute",
        usage: "mute [2h|30m|90s]",
        en: "say nothing for a while, or until told otherwise",
        ja: "しばらく、または解除するまで黙る",
    },
    Row { name: "unmute", usage: "unmute", en: "take part again", ja: "また参加する" },
    Row {
        name: "why",
        usage: "why [id]",
        en: "why it spoke or stayed silent: the last message, or the one with this id",
        ja: "直前の（またはその id の）発言への判断の理由",
    },
    Row {
        name: "status",
        usage: "status",
        en: "what it is doing here, and what it cost today",
        ja: "いまの状態と今日の費用",
    },
    Row {
        name: "talk",
        usage: "talk [3%]",
        en: "speak up at about this share of messages, or as the settings say",
        ja: "発言のおよそこの割合で口をはさむ（省略すると設定どおり）",
    },
    Row { name: "channel", usage: "channel on|off", en: "listen here, or not", ja: "ここで聞く、聞かない" },
    Row {
        name: "preset",
        usage: "preset aizuchi|kotonoha|sphene|myao2",
        en: "whose manners it has here",
        ja: "ここでのふるまい",
    },
    Row {
        name: "reset", usage: "reset", en: "forget the talk of this room", ja: "このルームの会話を忘れる"
    },
    Row {
        name: "what-do-you-know",
        usage: "what-do-you-know",
        en: "what is kept of you, told to you alone",
        ja: "あなたについて保存しているもの（あなたにだけ見えます）",
    },
    Row {
        name: "export-me",
        usage: "export-me",
        en: "all that is remembered about you, as JSON",
        ja: "あなたについて覚えていることすべて（JSON）",
    },
    Row {
        name: "forget-me",
        usage: "forget-me [name, …]",
        en: "forget you: what you said, what is known of you, what rests on it; names only if it asks",
        ja: "あなたの発言と、あなたについて知っていることをすべて忘れる（名前は聞かれたときだけ）",
    },
    Row {
        name: "opt-out",
        usage: "opt-out",
        en: "stay out of its memory from now on",
        ja: "これからあなたのことを覚えない",
    },
    Row { name: "opt-in", usage: "opt-in", en: "be remembered again", ja: "またあなたのことを覚える" },
    Row { name: "help", usage: "help", en: "this list", ja: "この一覧" },
];

impl Order {
    /// Whether it changes settings, and is for those alone who may.
    pub fn needs_manager(&self) -> bool {
        matches!(self, Order::Talk(_) | Order::Channel(_) | Order::Preset(_) | Order::Reset)
    }
}

/// What is ordered, with or without its slash.
pub fn order(text: &str) -> Order {
    let rest = text.trim().trim_start_matches('/');
    let (name, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let (name, rest) = (name.to_lowercase(), rest.trim());
    if name.is_empty() {
        return Order::Help;
    }
    let Some(row) = ROWS.iter().find(|row| row.name == name) else { return Order::Unknown(name) };
    let order = match row.name {
        "mute" if rest.is_empty() => Some(Order::Mute(None)),
        "mute" => span(rest).map(|span| Order::Mute(Some(span))),
        "unmute" => Some(Order::Unmute),
        "why" => Some(Order::Why((!rest.is_empty()).then(|| rest.to_owned()))),
        "status" => Some(Order::Status),
        "talk" if rest.is_empty() => Some(Order::Talk(None)),
        "talk" => Share::parse(rest).map(|share| Order::Talk(Some(share))),
        "channel" => match rest.to_lowercase().as_str() {
            "on" => Some(Order::Channel(true)),
            "off" => Some(Order::Channel(false)),
            _ => None,
        },
        "preset" => PRESETS.iter().find(|(name, _)| *name == rest).map(|(name, _)| Order::Preset((*name).into())),
        "reset" => Some(Order::Reset),
        "what-do-you-know" => Some(Order::WhatDoYouKnow),
        "export-me" => Some(Order::ExportMe),
        "forget-me" => Some(Order::ForgetMe(names(rest))),
        "opt-out" => Some(Order::OptOut(true)),
        "opt-in" => Some(Order::OptOut(false)),
        _ => Some(Order::Help),
    };
    order.unwrap_or(Order::Unclear(row))
}

/// "Bo", "Rina Sato, Rina".
fn names(text: &str) -> Vec<Box<str>> {
    let marks = ['"', '“', '”', '「', '」'];
    let names = text.split([',', '，', '、']).map(|name| name.trim().trim_matches(marks).trim());
    names.filter(|name| !name.is_empty()).map(Into::into).collect()
}

const SPAN_MAX: Span = Span::seconds(366 * 24 * 3600);

/// "2h", "1h30m", "90 s", "2時間", "1時間30分".
fn span(text: &str) -> Option<Span> {
    let plain = narrow(text);
    let mut rest = plain.trim();
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let after = after.trim_start();
        let letters = after.find(|c: char| c.is_ascii_digit() || c.is_whitespace()).unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        seconds += number.parse::<f64>().ok()? * unit_seconds(unit)?;
        rest = after.trim_start();
    }
    let span = Span((seconds * 1000.0).round() as u64);
    (Span::seconds(1)..=SPAN_MAX).contains(&span).then_some(span)
}

fn unit_seconds(unit: &str) -> Option<f64> {
    match unit.to_ascii_lowercase().as_str() {
        "s" | "sec" | "second" | "seconds" | "秒" | "秒間" => Some(1.0),
        "m" | "min" | "minute" | "minutes" | "分" | "分間" => Some(60.0),
        "h" | "hour" | "hours" | "時間" => Some(3600.0),
        "d" | "day" | "days" | "日" | "日間" => Some(86_400.0),
        _ => None,
    }
}

/// Full-width digits, letters and marks as their narrow selves: that is how a Japanese keyboard writes them.
fn narrow(text: &str) -> String {
    let one = |c: char| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        '\u{3000}' => ' ',
        _ => c,
    };
    text.chars().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let minutes = |text: &str| span(text).map(|span| span.whole_seconds() as f64 / 60.0);
        assert_eq!(minutes("2h"), Some(120.0));
        assert_eq!(minutes("30m"), Some(30.0));
        assert_eq!(minutes("90s"), Some(1.5));
        assert_eq!(minutes("1h30m"), Some(90.0));
        assert_eq!(minutes("1.5 hours"), Some(90.0));
        assert_eq!(minutes("2時間"), Some(120.0));
        assert_eq!(minutes("１時間３０分"), Some(90.0));
        assert_eq!(minutes("1 d"), Some(1440.0));
        for odd in ["soon", "2", "h", "0s", "-2h", "2x", "999999d", "1..5h", "2時間くらい"] {
            assert_eq!(minutes(odd), None, "{odd}");
        }
    }

    #[test]
    fn each_platform_has_its_form() {
        let form = |room: &str| CommandForm::of(&RoomId::new(room)).write("mute 2h");
        assert_eq!(form("web:lobby"), "/mute 2h");
        assert_eq!((form("discord:1/2"), form("slack:T/C")), ("/aizuchi mute 2h".into(), "/aizuchi mute 2h".into()));
    }

    #[test]
    fn orders() {
        assert_eq!(order("/mute"), Order::Mute(None));
        assert_eq!(order(" /MUTE 2h "), Order::Mute(Some(Span::minutes(120))));
        assert_eq!(order("/mute　2時間"), Order::Mute(Some(Span::minutes(120))));
        assert_eq!(order("/mute for ever"), Order::Unclear(&ROWS[0]));
        assert_eq!(order("/unmute"), Order::Unmute);
        assert_eq!(order("/why w12"), Order::Why(Some("w12".into())));
        assert_eq!(order("/why"), Order::Why(None));
        assert_eq!(order("/status"), Order::Status);
        let three = Share::parse("3%");
        assert_eq!(order("/talk 3%"), Order::Talk(three));
        assert_eq!(order("/talk ３％"), Order::Talk(three));
        assert_eq!(order("/talk"), Order::Talk(None));
        assert_eq!(order("/talk 300%"), Order::Unclear(&ROWS[4]));
        assert_eq!((order("/help"), order(" / ")), (Order::Help, Order::Help));
        assert_eq!(order("/dance now"), Order::Unknown("dance".into()));
        assert_eq!(order("channel OFF"), Order::Channel(false));
        assert_eq!(order("preset sphene"), Order::Preset("sphene".into()));
        assert_eq!(order("/what-do-you-know"), Order::WhatDoYouKnow);
        assert_eq!(order("/forget-me"), Order::ForgetMe(Vec::new()));
        assert_eq!(order("/forget-me “Bo”、 Rina Sato"), Order::ForgetMe(vec!["Bo".into(), "Rina Sato".into()]));
        assert_eq!((order("opt-out"), order("opt-in")), (Order::OptOut(true), Order::OptOut(false)));
        assert!(!Order::WhatDoYouKnow.needs_manager() && !Order::ForgetMe(Vec::new()).needs_manager());
        assert!(order("reset").needs_manager() && !order("mute 2h").needs_manager());
    }
}
