//! A whole IRC log: lines become messages, minutes become instants.

use std::path::Path;

use aizuchi_core::Input;
use aizuchi_core::types::{Author, Message, MessageId, PersonId, Place, RoomId, Time, Visibility, Voice};
use jiff::civil::{Date, DateTime};

use super::clock::Clock;
use super::line::{self, Line, Shape, without_codes};
use super::stamp::{Precision, Stamp};
use crate::error::ReadError;
use crate::json::quoted;
use crate::log::{Event, Format, Log, Options};
use crate::text_lines::for_each_line;
use crate::when;

/// Whether this can only be a line of an IRC log, with its kind and time.
pub fn recognise(line: &str) -> bool {
    let line = without_codes(line);
    let Line { stamp, shape } = line::read(&line);
    match shape {
        Shape::Said { .. } | Shape::System => stamp.is_some(),
        Shape::Date(_) => true,
        Shape::OddDate | Shape::Unknown => false,
    }
}

pub fn read(name: &str, text: &[u8], options: &Options, progress: &mut dyn FnMut(u64)) -> Result<Log, ReadError> {
    let mut reader = IrcReader::new(name, options);
    let mut log = Log::empty(Format::Irc);
    for_each_line(text, progress, |number, bytes| {
        reader.read(number, bytes, &mut log.events).or_else(|problem| log.note(options, name, number, problem))
    })?;
    reader.end_minute(&mut log.events);
    Ok(log)
}

struct IrcReader {
    room: RoomId,
    clock: Clock,
    /// The time of the last line; a line without a time has the same.
    last: Option<Moment>,
    /// The minute being read, and the first message in it.
    minute: Option<(Time, usize)>,
}

#[derive(Clone, Copy)]
struct Moment {
    at: Time,
    precision: Precision,
}

impl IrcReader {
    fn new(name: &str, options: &Options) -> IrcReader {
        let channel = channel(name);
        let first_day = date_within(channel).unwrap_or(options.first_day);
        IrcReader { room: RoomId::new(channel), clock: Clock::new(first_day), last: None, minute: None }
    }

    fn read(&mut self, number: u64, bytes: &[u8], events: &mut Vec<Event>) -> Result<(), String> {
        let text = String::from_utf8_lossy(bytes);
        let text = without_codes(&text);
        let Line { stamp, shape } = line::read(&text);
        if let Some(stamp) = &stamp {
            self.last = Some(self.moment(stamp)?);
        }
        match shape {
            // Server messages may have any encoding, since they are ignored.
            Shape::Said { .. } if std::str::from_utf8(bytes).is_err() => Err("not UTF-8".to_owned()),
            Shape::Said { nick, text } => {
                let moment = self.last.ok_or("no time; expected for example \"[12:34] <nick> text\"")?;
                self.enter(moment, events);
                events.push(to_message(number, &self.room, moment.at, nick, text));
                Ok(())
            }
            Shape::Date(moment) => self.begin_day(moment),
            Shape::System => Ok(()),
            Shape::OddDate => Err(format!("{} has no date; expected for example Mon Nov 15 2004", quoted(&text))),
            Shape::Unknown => {
                Err(format!("{} is not a message; expected for example \"[12:34] <nick> text\"", quoted(&text)))
            }
        }
    }

    fn moment(&mut self, stamp: &Stamp) -> Result<Moment, String> {
        // An impossible date affects only this line.
        let mut clock = self.clock;
        let at = instant(clock.read(stamp))?;
        self.clock = clock;
        Ok(Moment { at, precision: stamp.precision })
    }

    fn begin_day(&mut self, moment: DateTime) -> Result<(), String> {
        self.clock.set(moment);
        self.last = Some(Moment { at: instant(moment)?, precision: Precision::Second });
        Ok(())
    }

    /// The next message has this time.
    fn enter(&mut self, moment: Moment, events: &mut [Event]) {
        let minute = (moment.precision == Precision::Minute).then_some(moment.at);
        if self.minute.map(|(minute, _)| minute) != minute {
            self.end_minute(events);
            self.minute = minute.map(|minute| (minute, events.len()));
        }
    }

    /// Messages with only a minute are spread evenly over it.
    fn end_minute(&mut self, events: &mut [Event]) {
        let Some((minute, first)) = self.minute.take() else { return };
        let together = &mut events[first..];
        let count = together.len() as u64;
        for (index, event) in (0..).zip(together) {
            event.at = Time(minute.0 + 60_000 * index / count);
            if let Input::Said(message) = &mut event.input {
                message.at = event.at;
            }
        }
    }
}

fn instant(moment: DateTime) -> Result<Time, String> {
    when::from_utc(moment).ok_or_else(|| format!("{moment} is before 1970 or after 9999"))
}

fn to_message(number: u64, room: &RoomId, at: Time, nick: &str, text: &str) -> Event {
    let message = Message {
        id: MessageId::new(number.to_string()),
        place: Place { room: room.clone(), thread: None },
        at,
        author: Author { id: PersonId::new(nick), name: nick.into(), voice: Voice::Person },
        text: text.into(),
        reply: None,
        mentions: Vec::new(),
        mentions_me: false,
        visibility: Visibility::Public,
        backfilled: false,
        heard: None,
    };
    Event { line: number, at, input: Input::Said(message) }
}

/// The name of the file without its folder and its packing extension.
fn channel(name: &str) -> &str {
    let file = Path::new(name.strip_suffix(".gz").unwrap_or(name));
    match file.file_stem().and_then(|stem| stem.to_str()) {
        None | Some("" | "-" | "stdin") => "irc",
        Some(stem) => stem,
    }
}

/// "#ubuntu.2004-11-15": the first day of the log.
fn date_within(name: &str) -> Option<Date> {
    (0..name.len()).filter_map(|start| name.get(start..start + 10)).find_map(|part| part.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(name: &str, text: &str) -> Log {
        read(name, text.as_bytes(), &Options::default(), &mut |_| ()).unwrap()
    }

    /// "11-15 12:34:20.000 nick text" of each message.
    fn told(log: &Log) -> Vec<String> {
        let tell = |event: &Event| {
            let Input::Said(message) = &event.input else { panic!("an IRC log only tells what was said") };
            assert_eq!(message.at, event.at);
            let moment = jiff::Timestamp::from_millisecond(event.at.0 as i64).unwrap().strftime("%m-%d %H:%M:%S%.3f");
            format!("{moment} {} {}", message.author.id, message.text)
        };
        log.events.iter().map(tell).collect()
    }

    #[test]
    fn messages_of_a_minute_are_spread_in_it() {
        let log = log(
            "#雑談.log",
            "[12:34] <a> 一\n[12:34] -!- x has quit\n[12:34] <b> 二\n* c 三\n[12:35] <a> four\n[12:36:07] <a> five\n",
        );
        assert_eq!(
            told(&log),
            [
                "01-01 12:34:00.000 a 一",
                "01-01 12:34:20.000 b 二",
                "01-01 12:34:40.000 c 三",
                "01-01 12:35:00.000 a four",
                "01-01 12:36:07.000 a five"
            ]
        );
        let Input::Said(message) = &log.events[1].input else { panic!() };
        assert_eq!((message.id.as_str(), message.place.room.as_str()), ("3", "#雑談"));
        assert!(log.bad.is_empty(), "{:?}", log.bad);
    }

    #[test]
    fn midnight_is_noticed_and_a_clock_set_back_is_not_midnight() {
        let log = log("x", "23:59:00 <a> 1\n00:01:00 <a> 2\n02:30:00 <a> 3\n01:45:00 <a> 4\n");
        assert_eq!(
            told(&log),
            ["01-01 23:59:00.000 a 1", "01-02 00:01:00.000 a 2", "01-02 02:30:00.000 a 3", "01-02 01:45:00.000 a 4"]
        );
    }

    #[test]
    fn the_date_comes_from_wherever_it_stands() {
        let text =
            "--- Log opened Sun Nov 14 23:00:00 2004\n23:10 <a> 1\n--- Day changed Mon Nov 15 2004\n00:10 <a> 2\n";
        assert_eq!(told(&log("x", text)), ["11-14 23:10:00.000 a 1", "11-15 00:10:00.000 a 2"]);
        assert_eq!(told(&log("logs/#c.2004-11-15.txt.gz", "00:10 <a> x")), ["11-15 00:10:00.000 a x"]);
        assert_eq!(told(&log("x", "2004-11-15 12:34:56\ta\tx")), ["11-15 12:34:56.000 a x"]);
        let xchat = log(
            "x",
            "**** BEGIN LOGGING AT Fri Dec 31 23:00:00 2004\nDec 31 23:01:00 <a>\t1\nJan 01 00:01:00 <a>\t2\n",
        );
        assert_eq!(xchat.events[1].at.0 - xchat.events[0].at.0, 3_600_000);
        let chosen = Options { first_day: jiff::civil::date(2010, 2, 3), ..Options::default() };
        assert_eq!(told(&read("x", b"00:10 <a> x", &chosen, &mut |_| ()).unwrap()), ["02-03 00:10:00.000 a x"]);
    }

    #[test]
    fn what_cannot_be_read_is_told_and_the_rest_goes_on() {
        let text = b"<a> early\n[12:34] what\n[12:34] <a> caf\xe9\n=== caf\xe9 has quit\n1969-01-01 00:00:00 <a> moon\n--- Day changed ?\n[12:34] <\x0304a\x03> \x02on\n";
        let log = read("c.log", text, &Options::default(), &mut |_| ()).unwrap();
        let bad: Vec<String> = log.bad.iter().map(ToString::to_string).collect();
        assert_eq!(
            bad,
            [
                "c.log:1: no time; expected for example \"[12:34] <nick> text\"",
                "c.log:2: \"[12:34] what\" is not a message; expected for example \"[12:34] <nick> text\"",
                "c.log:3: not UTF-8",
                "c.log:5: 1969-01-01T00:00:00 is before 1970 or after 9999",
                "c.log:6: \"--- Day changed ?\" has no date; expected for example Mon Nov 15 2004",
            ]
        );
        assert_eq!(log.events.len(), 1);
    }

    #[test]
    fn the_channel_is_named_after_the_file() {
        assert_eq!(channel("/logs/freenode/#雑談.log"), "#雑談");
        assert_eq!(channel("logs/chat.txt.gz"), "chat");
        assert_eq!((channel("stdin"), channel("-"), channel("")), ("irc", "irc", "irc"));
    }

    #[test]
    fn a_line_of_prose_is_no_irc() {
        assert!(
            recognise("[12:34] <a> x")
                && recognise("12:34 -!- a [x] has joined #c")
                && recognise("2004-11-15 12:34:56\ta\tb")
        );
        assert!(recognise("--- Log opened Mon Nov 15 12:00:00 2004"));
        for prose in ["* milk", "=== Heading", "--- a.rs", "12:34 lunch", "<p> text", "[12:34] something else"] {
            assert!(!recognise(prose), "{prose}");
        }
    }
}
