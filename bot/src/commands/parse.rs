//! Parses a command as a person typed it.

use aizuchi_core::types::{Share, Span};

use super::spec::{ArgumentKind, ArgumentSpec, CommandForm, CommandSpec};
use super::{COMMANDS, HELP};

#[derive(Debug)]
pub enum ParsedCommand {
    Command(&'static CommandSpec, Option<ArgumentValue>),
    /// The command is known, but its argument is missing or invalid.
    WrongArgument(&'static CommandSpec),
    Unknown(String),
}

/// An argument, by its kind.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentValue {
    Duration(Span),
    Share(Share),
    /// One of the argument's choices.
    Choice(&'static str),
    /// An id or a name.
    Word(String),
    Names(Vec<Box<str>>),
    Number(u32),
}

/// The typed command, with or without its slash; without a name it is `help`.
pub fn parse(text: &str, form: CommandForm) -> ParsedCommand {
    let rest = text.trim().trim_start_matches('/');
    let (name, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let (name, rest) = (name.to_lowercase(), rest.trim());
    if name.is_empty() {
        return ParsedCommand::Command(HELP, None);
    }
    let Some(spec) = COMMANDS.iter().find(|spec| spec.is_called(&name) && spec.is_offered(form)) else {
        return ParsedCommand::Unknown(name);
    };
    match &spec.argument {
        None => ParsedCommand::Command(spec, None),
        Some(argument) if rest.is_empty() && !argument.required => ParsedCommand::Command(spec, None),
        Some(argument) => match value(argument, rest) {
            Some(value) => ParsedCommand::Command(spec, Some(value)),
            None => ParsedCommand::WrongArgument(spec),
        },
    }
}

fn value(argument: &ArgumentSpec, text: &str) -> Option<ArgumentValue> {
    match argument.kind {
        ArgumentKind::Duration => span(text).map(ArgumentValue::Duration),
        ArgumentKind::Share => Share::parse(text).map(ArgumentValue::Share),
        ArgumentKind::Choice(choices) => {
            choices().into_iter().find(|choice| choice.eq_ignore_ascii_case(text)).map(ArgumentValue::Choice)
        }
        ArgumentKind::MessageId | ArgumentKind::RoomName => Some(ArgumentValue::Word(text.to_owned())),
        ArgumentKind::Number => text.trim_start_matches('#').parse().ok().map(ArgumentValue::Number),
        ArgumentKind::Names => Some(ArgumentValue::Names(names(text))),
    }
}

impl ArgumentValue {
    pub fn duration(&self) -> Option<Span> {
        if let ArgumentValue::Duration(span) = self { Some(*span) } else { None }
    }

    pub fn share(&self) -> Option<Share> {
        if let ArgumentValue::Share(share) = self { Some(*share) } else { None }
    }

    pub fn word(&self) -> Option<&str> {
        match self {
            ArgumentValue::Choice(word) => Some(word),
            ArgumentValue::Word(word) => Some(word),
            ArgumentValue::Duration(_)
            | ArgumentValue::Share(_)
            | ArgumentValue::Names(_)
            | ArgumentValue::Number(_) => None,
        }
    }

    pub fn number(&self) -> Option<u32> {
        if let ArgumentValue::Number(number) = self { Some(*number) } else { None }
    }

    pub fn names(self) -> Option<Vec<Box<str>>> {
        if let ArgumentValue::Names(names) = self { Some(names) } else { None }
    }
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

/// Converts full-width digits, letters and symbols to narrow ones: a Japanese keyboard types them.
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

    /// The command that is read, with its argument.
    fn read(text: &str) -> (&'static str, Option<ArgumentValue>) {
        match parse(text, CommandForm::Bare) {
            ParsedCommand::Command(spec, value) => (spec.name, value),
            ParsedCommand::WrongArgument(spec) => panic!("{text}: {}", spec.name),
            ParsedCommand::Unknown(name) => panic!("{text}: {name}"),
        }
    }

    #[test]
    fn commands_are_read_as_people_write_them() {
        let two_hours = Some(ArgumentValue::Duration(Span::minutes(120)));
        assert_eq!(read("/mute"), ("mute", None));
        for mute in [" /MUTE 2h ", "/mute　2時間", "ミュート 2時間"] {
            assert_eq!(read(mute), ("mute", two_hours.clone()), "{mute}");
        }
        assert_eq!((read("/unmute"), read("/unmute now")), (("unmute", None), ("unmute", None)));
        assert_eq!(read("/why w12"), ("why", Some(ArgumentValue::Word("w12".into()))));
        assert_eq!(read("/why"), ("why", None));
        let three = Share::parse("3%").map(ArgumentValue::Share);
        assert_eq!((read("/talk 3%"), read("/talk ３％")), (("talk", three.clone()), ("talk", three)));
        assert_eq!((read("/help"), read(" / ")), (("help", None), ("help", None)));
        assert_eq!(read("channel OFF"), ("channel", Some(ArgumentValue::Choice("off"))));
        assert_eq!(read("preset sphene"), ("preset", Some(ArgumentValue::Choice("sphene"))));
        assert_eq!(read("/forget-me"), ("forget-me", None));
        let names = ArgumentValue::Names(vec!["Bo".into(), "Rina Sato".into()]);
        assert_eq!(read("/forget-me “Bo”、 Rina Sato"), ("forget-me", Some(names)));
        assert_eq!(read("/close-room 庭"), ("close-room", Some(ArgumentValue::Word("庭".into()))));
    }

    #[test]
    fn what_is_not_understood_is_told_apart() {
        for odd in ["/mute for ever", "/talk 300%", "/channel", "/channel maybe", "/preset shy"] {
            assert!(matches!(parse(odd, CommandForm::Bare), ParsedCommand::WrongArgument(_)), "{odd}");
        }
        assert!(matches!(parse("/dance now", CommandForm::Bare), ParsedCommand::Unknown(name) if name == "dance"));
        let elsewhere = parse("close-room garden", CommandForm::Prefixed);
        assert!(
            matches!(elsewhere, ParsedCommand::Unknown(name) if name == "close-room"),
            "only the web room has rooms to close"
        );
    }
}
