//! The kinds of lines in an IRC log: talk, a date, or a server message.

use std::borrow::Cow;

use jiff::civil::DateTime;

use super::stamp::{Stamp, date_in_words, split};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<'l> {
    pub stamp: Option<Stamp>,
    pub shape: Shape<'l>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape<'l> {
    Said {
        nick: &'l str,
        text: &'l str,
    },
    /// The following lines are of this day.
    Date(DateTime),
    /// Joins, parts, modes, topics.
    System,
    /// A date that could not be parsed.
    OddDate,
    Unknown,
}

pub fn read(line: &str) -> Line<'_> {
    let (stamp, rest) = split(line);
    let columns = rest.strip_prefix('\t').filter(|_| stamp.is_some()).and_then(|rest| rest.split_once('\t'));
    let shape = match columns {
        Some((prefix, text)) => in_columns(prefix.trim(), text),
        None => in_words(rest.trim_start()),
    };
    Line { stamp, shape }
}

/// WeeChat: the time, the nick or a sign, the text, separated by tabs.
fn in_columns<'l>(prefix: &'l str, text: &'l str) -> Shape<'l> {
    let bare = prefix.strip_prefix('<').and_then(|inside| inside.strip_suffix('>')).unwrap_or(prefix);
    match prefix {
        "*" => action(text),
        "" | "--" | "-->" | "<--" | "=!=" => Shape::System,
        _ => nick(bare).map_or(Shape::Unknown, |nick| Shape::Said { nick, text }),
    }
}

fn in_words(rest: &str) -> Shape<'_> {
    const DATES: [&str; 6] = [
        "--- Day changed ",
        "--- Log opened ",
        "--- Log closed ",
        "**** BEGIN LOGGING AT ",
        "**** ENDING LOGGING AT ",
        "Session Start: ",
    ];
    const SIGNS: [&str; 9] = ["---", "-!-", "-->", "<--", "-- ", "===", "=!=", "***", "Session "];
    if let Some(date) = DATES.iter().find_map(|sign| rest.strip_prefix(sign)) {
        return date_in_words(date).map_or(Shape::OddDate, Shape::Date);
    }
    if SIGNS.iter().any(|sign| rest.starts_with(sign)) || is_notice(rest) || is_told_of_somebody(rest) {
        return Shape::System;
    }
    if let Some(rest) = rest.strip_prefix('<')
        && let Some((inside, text)) = rest.split_once('>')
        && let Some(nick) = nick(inside.trim())
    {
        return Shape::Said { nick, text: text.strip_prefix([' ', '\t']).unwrap_or(text) };
    }
    match rest.strip_prefix("* ").or(rest.strip_prefix("*\t")) {
        Some(rest) => action(rest),
        None => Shape::Unknown,
    }
}

/// The maximum length of a nick; networks allow about thirty letters.
const NICK_BYTES_MAX: usize = 128;

/// Without the rank prefix.
fn nick(text: &str) -> Option<&str> {
    let nick = text.trim_start_matches(['@', '+', '%', '&', '~']);
    let possible = !nick.is_empty() && nick.len() <= NICK_BYTES_MAX && !nick.contains([' ', '\t', '<', '>']);
    possible.then_some(nick)
}

/// "nick waves"; XChat and mIRC write server messages in the same way.
fn action(rest: &str) -> Shape<'_> {
    const TOLD: [&str; 7] = ["Now talking", "Topic ", "Set by ", "Joins: ", "Parts: ", "Quits: ", "Disconnected"];
    let rest = rest.trim_start();
    if is_told_of_somebody(rest) || TOLD.iter().any(|told| rest.starts_with(told)) {
        return Shape::System;
    }
    let (name, text) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
    nick(name).map_or(Shape::Unknown, |nick| Shape::Said { nick, text })
}

/// "nick (~n@host) has joined #ubuntu", "nick is now known as nick2".
fn is_told_of_somebody(rest: &str) -> bool {
    const TOLD: [&str; 10] = [
        "has joined #",
        "has joined (",
        "has left #",
        "has quit (",
        "has quit [",
        "is now known as ",
        "sets mode",
        "changes topic to ",
        "has changed the topic ",
        "was kicked by ",
    ];
    let Some((name, told)) = rest.split_once([' ', '\t']) else { return false };
    let after_host = told.strip_prefix(['(', '[']).and_then(|host| host.split_once([')', ']']));
    let told = after_host.map_or(told, |(_, told)| told.trim_start());
    !name.starts_with('<') && (told == "has quit" || TOLD.iter().any(|sign| told.starts_with(sign)))
}

/// "-nick- text", "-nick(~n@host)- text": notices of services and servers.
fn is_notice(rest: &str) -> bool {
    rest.strip_prefix('-').and_then(|rest| rest.split_once("- ")).is_some_and(|(name, _)| nick(name).is_some())
}

/// The text without colours, bold and the like.
pub fn without_codes(line: &str) -> Cow<'_, str> {
    const CODES: [char; 9] = ['\x02', '\x03', '\x04', '\x0f', '\x11', '\x16', '\x1d', '\x1e', '\x1f'];
    if !line.contains(CODES) {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(position) = rest.find(CODES) {
        out.push_str(&rest[..position]);
        let code = rest.as_bytes()[position];
        rest = &rest[position + 1..];
        rest = match code {
            3 => after_colours(rest, 2, |byte| byte.is_ascii_digit()),
            4 => after_colours(rest, 6, |byte| byte.is_ascii_hexdigit()),
            _ => rest,
        };
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// A foreground colour and, after a comma, the background colour; a comma without one is text.
fn after_colours(text: &str, digits_max: usize, is_digit: impl Fn(u8) -> bool) -> &str {
    let digits = |text: &str| text.bytes().take(digits_max).take_while(|byte| is_digit(*byte)).count();
    let front = digits(text);
    let rest = &text[front..];
    let Some(ground) = rest.strip_prefix(',').filter(|_| front > 0) else { return rest };
    let back = digits(ground);
    if back > 0 { &ground[back..] } else { rest }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn said(line: &str) -> Option<(&str, &str)> {
        if let Shape::Said { nick, text } = read(line).shape { Some((nick, text)) } else { None }
    }

    #[test]
    fn talk_as_the_clients_write_it() {
        for line in [
            "[12:34] <hanako> おはよう  皆",
            "12:34 <hanako> おはよう  皆",
            "[12:34:56] <@hanako> おはよう  皆",
            "2004-11-15 12:34:56 <hanako> おはよう  皆",
            "12:34 < hanako> おはよう  皆",
            "12:34 <+hanako> おはよう  皆",
            "Nov 15 12:34:56 <hanako>\tおはよう  皆",
            "2004-11-15 12:34:56\t@hanako\tおはよう  皆",
            "12:34 * hanako おはよう  皆",
            "12:34  * hanako おはよう  皆",
            "* ~hanako おはよう  皆",
            "2004-11-15 12:34:56\t *\thanako おはよう  皆",
        ] {
            assert_eq!(said(line), Some(("hanako", "おはよう  皆")), "{line}");
        }
        assert_eq!(said("[12:34] <bob> <b> is > <i>"), Some(("bob", "<b> is > <i>")));
        assert_eq!(said("[12:34] <bob> * 3 < 4"), Some(("bob", "* 3 < 4")));
        assert_eq!(said("[12:34] <bob>"), Some(("bob", "")));
        assert_eq!(said("[12:34] <bob> alice has joined #x"), Some(("bob", "alice has joined #x")));
        assert_eq!(said("12:34 * alice has left the building"), Some(("alice", "has left the building")));
    }

    #[test]
    fn the_server_speaking() {
        for line in [
            "=== hanako [~h@example] has joined #ubuntu",
            "12:34 -!- bob [~b@x] has quit [Quit: a > b]",
            "--- Log closed",
            "*** Joins: bob (b@x)",
            "12:34 * bob (~b@x) has joined #ubuntu",
            "12:34 * bob is now known as bob2",
            "12:34 * Now talking in #ubuntu",
            "12:34 bob has quit",
            "12:34 -NickServ(s@services)- You are now identified",
            "2004-11-15 12:34:56\t-->\tbob (~b@x) has joined #ubuntu",
            "2004-11-15 12:34:56\t<--\tbob (~b@x) has quit (x)",
            "[12:34] <-- bob (b@x) has quit (a -> b)",
        ] {
            assert_eq!(read(line).shape, Shape::System, "{line}");
        }
    }

    #[test]
    fn dates_between_the_lines() {
        let day = date(2004, 11, 15);
        assert_eq!(read("--- Day changed Mon Nov 15 2004").shape, Shape::Date(day.at(0, 0, 0, 0)));
        assert_eq!(read("--- Log opened Mon Nov 15 12:00:00 2004").shape, Shape::Date(day.at(12, 0, 0, 0)));
        assert_eq!(read("--- Day changed soon").shape, Shape::OddDate);
        assert_eq!(read("12:34 what is this").shape, Shape::Unknown);
        assert_eq!(read("<two words> x").shape, Shape::Unknown);
    }

    #[test]
    fn colours_are_taken_off() {
        assert_eq!(without_codes("\x02bold\x02 \x0304,12red\x03 \x1d斜体\x0f"), "bold red 斜体");
        assert_eq!(without_codes("\x033, three"), ", three");
        assert_eq!(without_codes("\x03123"), "3");
        assert_eq!(without_codes("\x04ff0000x\x03"), "x");
        assert!(matches!(without_codes("plain"), Cow::Borrowed(_)));
    }
}
