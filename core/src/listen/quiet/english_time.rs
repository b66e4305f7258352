//! "For an hour", "until tomorrow", "till 5pm" at either end of some words.

use super::when::{Day, LocalTime, MORNING, QuietTime};
use crate::types::Span;

/// How many words at the end are a time, and which. The longest that is one counts.
pub(super) fn time_at_end(words: &[&str]) -> Option<(usize, QuietTime)> {
    let start = words.len().saturating_sub(WORDS_MAX);
    (start..words.len()).find_map(|start| Some((words.len() - start, time(&words[start..])?)))
}

pub(super) fn time_at_start(words: &[&str]) -> Option<(usize, QuietTime)> {
    (1..=words.len().min(WORDS_MAX)).rev().find_map(|end| Some((end, time(&words[..end])?)))
}

const WORDS_MAX: usize = 9;

fn time(words: &[&str]) -> Option<QuietTime> {
    let phrase = words.join(" ");
    if let Some((_, time)) = SET_PHRASES.iter().find(|(phrases, _)| phrases.split('|').any(|known| known == phrase)) {
        return Some(*time);
    }
    match words {
        ["until" | "till" | "til" | "untill", rest @ ..] => until(rest),
        ["for" | "in", "the", "next", rest @ ..] | ["the", "next", rest @ ..] => span(rest).map(QuietTime::For),
        ["for", "at", "least", rest @ ..]
        | ["for", "about" | "around" | "like" | "maybe" | "just" | "only" | "another", rest @ ..] => {
            span(rest).map(QuietTime::For)
        }
        ["for", "the", "weekend"]
        | ["for", "the", "rest", "of", "the", "week"]
        | ["this", "week"]
        | ["for", "this", "week"] => Some(QuietTime::until(Day::Weekday(0), MORNING)),
        ["for", rest @ ..] => span(rest).map(QuietTime::For),
        _ => span(words)
            .filter(|_| words.len() > 1 || words[0].starts_with(|c: char| c.is_ascii_digit()))
            .map(QuietTime::For),
    }
}

const SET_PHRASES: &[(&str, QuietTime)] = &[
    (
        "for a minute|a minute|for a min|for a bit|for a while|for a moment|for a sec|for a second|for now|for a little while|for a little|for a little bit|a bit|\
         a while|a moment|for some time|for a few|for the moment|for a short while|a little while|until later|until we're done|\
         until we are done|until this is over|until the meeting is over|until i'm done|until we finish|while we talk|for the meeting|\
         during the meeting|during this meeting|for the time being|till later|for this meeting|for the rest of the meeting|for the duration of the meeting|during the call|for the call|for the rest of this meeting|for the rest of the call|until after the meeting|until the call is over|until the meeting ends|until the end of the meeting|until we are finished|until i am done|until i finish|until i'm finished|a little|until then|right now|for once",
        QuietTime::Usual,
    ),
    (
        "today|for today|for the rest of the day|the rest of the day|for the day|all day|the whole day|for the whole day|until midnight|\
         till midnight|until the end of the day|till the end of the day|until end of day|until eod|for the rest of today|\
         rest of the day|tonight|for tonight|for the rest of the evening|for the evening|this evening|for the night|all night|\
         for the rest of the night|the rest of today",
        QuietTime::TODAY,
    ),
    (
        "forever|for ever|for good|permanently|indefinitely|until further notice|till further notice|from now on and forever|\
         for all eternity|for eternity|ever again|until i say so|until i say otherwise|until i tell you|until i tell you otherwise|\
         until i tell you to|until told otherwise|until you're told otherwise|until you are told otherwise|until i unmute you|\
         until we tell you|until we tell you otherwise|until we say so|till i say so|till i tell you|till i tell you otherwise|\
         until someone unmutes you|until i say you can talk|until i say you can talk again|until i allow you|until you are unmuted|\
         for the rest of your life|until i call you|until called|until we call you|until you're called",
        QuietTime::Open,
    ),
];

fn until(words: &[&str]) -> Option<QuietTime> {
    let words = match words {
        ["about" | "around", rest @ ..] => rest,
        other => other,
    };
    let clock = |minute: u32, either_half: bool| QuietTime::Until(LocalTime { day: Day::Next, minute, either_half });
    Some(match words {
        ["tomorrow"] | ["tomorrow", "morning"] | ["the", "next", "day"] => QuietTime::until(Day::Tomorrow, MORNING),
        ["tomorrow", "noon" | "afternoon"] => QuietTime::until(Day::Tomorrow, 12 * 60),
        ["tomorrow", "evening" | "night"] => QuietTime::until(Day::Tomorrow, 18 * 60),
        ["tomorrow", "at", time @ ..] => QuietTime::until(Day::Tomorrow, clock_time(time)?.0),
        ["morning"] | ["the", "morning"] => clock(MORNING, false),
        ["noon"] | ["lunch"] | ["lunchtime"] | ["midday"] => clock(12 * 60, false),
        ["tonight" | "evening"] | ["the" | "this", "evening"] | ["dinner"] => clock(18 * 60, false),
        ["after", "lunch"] => clock(13 * 60, false),
        ["the", "weekend"] | ["weekend"] => QuietTime::until(Day::Weekday(5), MORNING),
        ["this", "afternoon"] | ["the", "afternoon"] => clock(13 * 60, false),
        ["next", "week"] => QuietTime::until(Day::Weekday(0), MORNING),
        ["next", day] | ["on", day] | [day] if weekday(day).is_some() => {
            QuietTime::until(Day::Weekday(weekday(day)?), MORNING)
        }
        time => {
            let (minute, either_half) = clock_time(time)?;
            clock(minute, either_half)
        }
    })
}

fn weekday(word: &str) -> Option<i64> {
    let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    days.iter().position(|day| *day == word).map(|at| at as i64)
}

/// "5pm", "5 pm", "17:30", "5 o'clock": minutes of the day, and whether it may be either half of the day.
fn clock_time(words: &[&str]) -> Option<(u32, bool)> {
    let (number, half) = match words {
        [one] => match (one.strip_suffix("pm"), one.strip_suffix("am")) {
            (Some(number), _) => (number, Some(true)),
            (None, Some(number)) => (number, Some(false)),
            (None, None) => (*one, None),
        },
        [one, "pm" | "p"] | [one, "p", "m"] | [one, "in", "the", "afternoon" | "evening"] => (*one, Some(true)),
        [one, "am" | "a"] | [one, "a", "m"] | [one, "in", "the", "morning"] => (*one, Some(false)),
        [one, "o'clock" | "oclock" | "sharp"] => (*one, None),
        _ => return None,
    };
    let (hour, minute) = match number.split_once(':') {
        Some((hour, minute)) => (hour.parse().ok()?, minute.parse().ok()?),
        None => (number.parse().ok().or_else(|| spelled(number))?, 0),
    };
    if hour > 24 || minute > 59 {
        return None;
    }
    let hour = match half {
        Some(true) if hour < 12 => hour + 12,
        Some(false) if hour == 12 => 0,
        _ => hour % 24,
    };
    let either_half = half.is_none() && (1..12).contains(&hour) && !number.contains(':');
    Some((hour * 60 + minute, either_half))
}

/// "30 minutes", "an hour and a half", "half an hour", "2h", "90m".
fn span(words: &[&str]) -> Option<Span> {
    match words {
        ["half", "an" | "a", unit] => Some(Span(unit_of(unit)?.0 / 2)),
        ["a", "half", unit] | ["half-an", unit] => Some(Span(unit_of(unit)?.0 / 2)),
        ["a", "quarter", "of", "an", unit] | ["quarter", "of", "an", unit] => Some(Span(unit_of(unit)?.0 / 4)),
        [number, unit, "and", "a", "half"] => {
            times(number, 2).and_then(|twice| Some(Span((twice + 1) * unit_of(unit)?.0 / 2)))
        }
        [number, "and", "a", "half", unit] => {
            times(number, 2).and_then(|twice| Some(Span((twice + 1) * unit_of(unit)?.0 / 2)))
        }
        [number, unit, "or", "so" | "two"] => Some(Span(times(number, 1)? * unit_of(unit)?.0)),
        ["a", "couple", "of", unit] | ["a", "couple", unit] | ["couple", "of", unit] => {
            Some(Span(2 * unit_of(unit)?.0))
        }
        ["a", "few", unit] | ["few", unit] => Some(Span(3 * unit_of(unit)?.0)),
        ["a", "good" | "whole" | "full", unit] | ["one", "whole", unit] => unit_of(unit),
        [number, unit] => decimal(number, unit).or_else(|| Some(Span(times(number, 1)? * unit_of(unit)?.0))),
        [one] => {
            let at = one.find(|c: char| !c.is_ascii_digit())?;
            let named = unit_of(one);
            named.or_else(|| Some(Span(times(&one[..at], 1)? * unit_of(&one[at..])?.0)))
        }
        _ => None,
    }
}

/// "1.5 hours".
fn decimal(number: &str, unit: &str) -> Option<Span> {
    let (whole, part) = number.split_once('.')?;
    let whole: u64 = whole.parse().ok()?;
    let tenths: u64 = part.get(..1)?.parse().ok()?;
    Some(Span((whole * 10 + tenths) * unit_of(unit)?.0 / 10))
}

fn times(number: &str, factor: u64) -> Option<u64> {
    let number = match number {
        "a" | "an" => 1,
        digits => digits.parse().ok().or_else(|| spelled(digits).map(u64::from))?,
    };
    (number > 0 && number < 10_000).then_some(number * factor)
}

fn spelled(word: &str) -> Option<u32> {
    const NUMBERS: [(&str, u32); 20] = [
        ("one", 1),
        ("two", 2),
        ("three", 3),
        ("four", 4),
        ("five", 5),
        ("six", 6),
        ("seven", 7),
        ("eight", 8),
        ("nine", 9),
        ("ten", 10),
        ("eleven", 11),
        ("twelve", 12),
        ("fifteen", 15),
        ("twenty", 20),
        ("thirty", 30),
        ("forty", 40),
        ("seventy", 70),
        ("fifty", 50),
        ("sixty", 60),
        ("ninety", 90),
    ];
    let known = |word: &str| NUMBERS.iter().find(|(name, _)| *name == word).map(|(_, number)| *number);
    let sum =
        || word.split_once('-').and_then(|(tens, ones)| Some(known(tens)? + known(ones).filter(|ones| *ones < 10)?));
    known(word).or_else(sum)
}

fn unit_of(word: &str) -> Option<Span> {
    Some(match word {
        "s" | "sec" | "secs" | "second" | "seconds" => Span::seconds(1),
        "m" | "min" | "mins" | "minute" | "minutes" | "minuts" => Span::minutes(1),
        "h" | "hr" | "hrs" | "hour" | "hours" => Span::minutes(60),
        "d" | "day" | "days" => Span::minutes(24 * 60),
        "w" | "week" | "weeks" => Span::minutes(7 * 24 * 60),
        _ => return None,
    })
}
