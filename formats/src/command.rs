//! Commands in a transcript: "mute 2h", "reset".

use aizuchi_core::input::Command;
use aizuchi_core::types::{Share, Span};

use super::json::quoted;

pub fn parse_command(text: &str) -> Result<Command, String> {
    let lower = text.trim().to_ascii_lowercase();
    let (word, rest) = lower.split_once(char::is_whitespace).unwrap_or((&lower, ""));
    match (word, rest.trim_start()) {
        ("mute", "") => Ok(Command::Mute(None)),
        ("mute", length) => span(length)
            .map(|span| Command::Mute(Some(span)))
            .ok_or_else(|| format!("{} is not a duration; expected for example 90m or 2h", quoted(length))),
        ("unmute", "") => Ok(Command::Unmute),
        ("talk", "") => Ok(Command::Talk(None)),
        ("talk", share) => Share::parse(share)
            .map(|share| Command::Talk(Some(share)))
            .ok_or_else(|| format!("{} is not a share; expected for example talk 3%", quoted(share))),
        ("reminders", rest) => {
            let number = rest.strip_prefix("cancel").and_then(|number| number.trim().parse().ok());
            number
                .map(Command::CancelReminder)
                .ok_or_else(|| format!("{} is not a reminder; expected for example reminders cancel 3", quoted(rest)))
        }
        ("reset", "") => Ok(Command::Reset),
        ("left", "") => Ok(Command::Left),
        ("on", "") | ("channel", "on") => Ok(Command::Listen(true)),
        ("off", "") | ("channel", "off") => Ok(Command::Listen(false)),
        _ => Err(format!(
            "{} is not a command; expected mute, mute 2h, unmute, talk 3%, reset, left, on or off",
            quoted(text)
        )),
    }
}

fn span(length: &str) -> Option<Span> {
    let span: jiff::Span = length.parse().ok()?;
    let length = span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).ok()?;
    u64::try_from(length.as_millis()).ok().map(Span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_as_people_write_them() {
        assert_eq!(parse_command("mute"), Ok(Command::Mute(None)));
        assert_eq!(parse_command(" Mute  2h "), Ok(Command::Mute(Some(Span::minutes(120)))));
        assert_eq!(parse_command("mute 90m"), Ok(Command::Mute(Some(Span::minutes(90)))));
        assert_eq!(parse_command("mute 1d 30s"), Ok(Command::Mute(Some(Span::seconds(86_430)))));
        assert_eq!(parse_command("unmute"), Ok(Command::Unmute));
        assert_eq!(parse_command("reset"), Ok(Command::Reset));
        assert_eq!(
            (parse_command("on"), parse_command("off")),
            (Ok(Command::Listen(true)), Ok(Command::Listen(false)))
        );
    }

    #[test]
    fn other_words_are_no_commands() {
        for odd in ["", "静かに", "reset now", "mute -2h", "mute 1 month", "mute 30", "mute 99999999999999h"] {
            assert!(parse_command(odd).is_err(), "{odd}");
        }
        assert_eq!(
            parse_command("静かに").unwrap_err(),
            "\"静かに\" is not a command; expected mute, mute 2h, unmute, talk 3%, reset, left, on or off"
        );
        assert_eq!(parse_command("mute 30").unwrap_err(), "\"30\" is not a duration; expected for example 90m or 2h");
    }
}
