//! "For an hour", "until tomorrow", "till 5pm on friday" at either end of some words.

use super::english_date::day;
use super::english_span::{span, spelled};
use super::when::{Day, LocalTime, MORNING, QuietTime};

/// How many words at the end are a time, and which. The longest match counts.
pub(super) fn time_at_end(words: &[&str]) -> Option<(usize, QuietTime)> {
    let start = words.len().saturating_sub(WORDS_MAX);
    (start..words.len()).find_map(|start| Some((words.len() - start, time(&words[start..])?)))
}

pub(super) fn time_at_start(words: &[&str]) -> Option<(usize, QuietTime)> {
    (1..=words.len().min(WORDS_MAX)).rev().find_map(|end| Some((end, time(&words[..end])?)))
}

const WORDS_MAX: usize = 10;

/// Whether a time seems to begin here, even if it cannot be parsed: "until the release is out", "for -5 minutes".
pub(super) fn begins_time(word: &str) -> bool {
    let digits = word.strip_prefix('-').unwrap_or(word);
    ["for", "until", "till", "til", "untill", "'til"].contains(&word)
        || digits.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether all of these words are a time.
pub(super) fn is_time(words: &[&str]) -> bool {
    time(words).is_some()
}

fn time(words: &[&str]) -> Option<QuietTime> {
    let phrase = words.join(" ");
    if let Some((_, time)) = SET_PHRASES.iter().find(|(phrases, _)| phrases.split('|').any(|known| known == phrase)) {
        return Some(*time);
    }
    match words {
        ["until" | "till" | "til" | "untill", rest @ ..] => until(rest),
        ["for" | "in" | "over", "the", "next" | "coming", rest @ ..] | ["the", "next" | "coming", rest @ ..] => {
            one_or_more(rest)
        }
        ["for", "at", "least", rest @ ..]
        | ["for", "about" | "around" | "like" | "maybe" | "just" | "only" | "another" | "roughly", rest @ ..] => {
            one_or_more(rest)
        }
        ["for", "the", "weekend"] | ["this" | "all", "week"] | ["for", "this", "week"] => {
            Some(QuietTime::until(Day::Weekday(0), MORNING))
        }
        ["for", "the", "rest" | "remainder", "of", rest @ ..] | ["the", "rest", "of", rest @ ..] => rest_of(rest),
        ["for", "the", "whole" | "entire", rest @ ..] | ["the", "whole" | "entire", rest @ ..] | ["all", rest @ ..] => {
            rest_of(rest)
        }
        ["another", rest @ ..] => one_or_more(rest),
        // "For 1:30".
        ["for", one] if one.contains(':') => span(&[*one, "hours"]).map(QuietTime::lasting),
        ["for", rest @ ..] => span(rest).map(QuietTime::lasting),
        _ => span(words)
            .filter(|_| words.len() > 1 || words[0].starts_with(|c: char| c.is_ascii_digit()))
            .map(QuietTime::lasting),
    }
}

/// "The next hour", "another two hours".
fn one_or_more(words: &[&str]) -> Option<QuietTime> {
    let one = || span(&[&["a"], words].concat());
    span(words).or_else(one).map(QuietTime::lasting)
}

/// "The rest of the week".
fn rest_of(words: &[&str]) -> Option<QuietTime> {
    let unit = match words {
        ["the" | "this", unit] | [unit] => *unit,
        _ => return None,
    };
    end_of(unit)
}

fn end_of(unit: &str) -> Option<QuietTime> {
    Some(match unit {
        "day" | "today" | "evening" | "night" | "afternoon" => QuietTime::TODAY,
        "week" | "weekend" => QuietTime::until(Day::Weekday(0), MORNING),
        "month" => QuietTime::until(Day::NextMonth, MORNING),
        "year" => QuietTime::until(Day::NextYear, MORNING),
        _ => return None,
    })
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
         for the rest of the night|the rest of today|this afternoon|for the afternoon|for this afternoon|all afternoon",
        QuietTime::TODAY,
    ),
    ("this morning|for the morning|for this morning|all morning", QuietTime::until(Day::Next, 12 * 60)),
    (
        "over the weekend|this weekend|for this weekend|on the weekend|at the weekend|during the weekend|all weekend|over weekend",
        QuietTime::until(Day::Weekday(0), MORNING),
    ),
    (
        "forever|for ever|for good|permanently|indefinitely|until further notice|till further notice|from now on and forever|\
         for all eternity|for eternity|ever again|until i say so|until i say otherwise|until i tell you|until i tell you otherwise|\
         until i tell you to|until told otherwise|until you're told otherwise|until you are told otherwise|until i unmute you|\
         until we tell you|until we tell you otherwise|until we say so|till i say so|till i tell you|till i tell you otherwise|\
         until someone unmutes you|until i say you can talk|until i say you can talk again|until i allow you|until you are unmuted|\
         for the rest of your life",
        QuietTime::Open,
    ),
];

fn until(words: &[&str]) -> Option<QuietTime> {
    let words = match words {
        ["about" | "around", rest @ ..] | ["at", "least", rest @ ..] => rest,
        other => other,
    };
    let words = match words {
        [start @ .., "or", "so" | "later" | "thereabouts"] | [start @ .., "at", "least"] => start,
        [start @ .., "at", "the", "earliest" | "latest"] => start,
        all => all,
    };
    let clock = |minute: u32, either_half: bool| QuietTime::Until(LocalTime { day: Day::Next, minute, either_half });
    match words {
        ["the", "next", "day"] => return Some(QuietTime::until(Day::Tomorrow, MORNING)),
        ["the", "weekend"] | ["weekend"] => return Some(QuietTime::until(Day::Weekday(5), MORNING)),
        ["next", "week"] | ["after", "the", "weekend"] => return Some(QuietTime::until(Day::Weekday(0), MORNING)),
        ["next", unit @ ("month" | "year")] => return end_of(unit),
        ["the", "end", "of", rest @ ..] | ["end", "of", rest @ ..] => return rest_of(rest),
        ["tonight" | "evening"] | ["the" | "this", "evening"] => return Some(clock(18 * 60, false)),
        _ => (),
    }
    if let Some(day) = day(words) {
        return Some(QuietTime::until(day, MORNING));
    }
    if let Some((minute, either_half)) = time_of_day(words) {
        return Some(clock(minute, either_half));
    }
    (1..words.len())
        .find_map(|at| day_and_time(&words[..at], &words[at..]).or_else(|| day_and_time(&words[at..], &words[..at])))
}

/// "Friday" and "5pm", in any order.
fn day_and_time(on: &[&str], at: &[&str]) -> Option<QuietTime> {
    let at = match at {
        ["at" | "by" | "around" | "about" | "in", rest @ ..] if !rest.is_empty() => rest,
        other => other,
    };
    let (minute, either_half) = time_of_day(at)?;
    let minute = if at == ["midnight"] { 24 * 60 } else { minute };
    // "Friday at five" is in the afternoon, "Friday at nine" in the morning.
    let minute = if either_half && minute < 7 * 60 { minute + 12 * 60 } else { minute };
    match on {
        ["today" | "tonight"] => {
            let tonight = either_half && on == ["tonight"] && minute < 12 * 60;
            Some(QuietTime::until(Day::Next, minute + if tonight { 12 * 60 } else { 0 }))
        }
        ["next", ..] => Some(QuietTime::until(day(on)?, minute)),
        _ => Some(QuietTime::until(day(on)?.with_time(), minute)),
    }
}

/// "Noon", "the morning", "5pm": minutes of the day, and whether it may be in either half of the day.
fn time_of_day(words: &[&str]) -> Option<(u32, bool)> {
    let words = match words {
        ["the" | "this", rest @ ..] => rest,
        other => other,
    };
    Some(match words {
        ["morning"] => (MORNING, false),
        ["noon" | "lunch" | "lunchtime" | "midday"] => (12 * 60, false),
        ["afternoon"] | ["after", "lunch"] => (13 * 60, false),
        ["evening" | "night" | "dinner" | "dinnertime"] => (18 * 60, false),
        ["midnight"] => (0, false),
        // "Monday morning 9", "this evening at 9".
        [part @ ("morning" | "afternoon" | "evening" | "night"), "at" | "around" | "about", time @ ..]
        | [part @ ("morning" | "afternoon" | "evening" | "night"), time @ ..] => {
            let (minute, either_half) = clock_time(time)?;
            (if either_half && *part != "morning" { minute + 12 * 60 } else { minute }, false)
        }
        time => clock_time(time)?,
    })
}

/// "5pm", "5 pm", "17:30", "5 o'clock": minutes of the day, and whether it may be in either half of the day.
fn clock_time(words: &[&str]) -> Option<(u32, bool)> {
    let (number, half) = match words {
        [one] => match (one.strip_suffix("pm"), one.strip_suffix("am")) {
            (Some(number), _) => (number, Some(true)),
            (None, Some(number)) => (number, Some(false)),
            (None, None) => (*one, None),
        },
        [one, "pm" | "p" | "p.m"]
        | [one, "p", "m"]
        | [one, "in", "the", "afternoon" | "evening"]
        | [one, "at", "night"] => (*one, Some(true)),
        [one, "am" | "a" | "a.m"] | [one, "a", "m"] | [one, "in", "the", "morning"] => (*one, Some(false)),
        [one, "o'clock" | "oclock" | "sharp"] => (*one, None),
        ["half", "past", hour] => return clock_time(&[hour]).map(|(minute, either)| (minute + 30, either)),
        ["quarter", "past", hour] => return clock_time(&[hour]).map(|(minute, either)| (minute + 15, either)),
        _ => return None,
    };
    // "17h", "17h30".
    let (number, of_day) = match number.split_once('h').filter(|(hour, _)| hour.parse::<u32>().is_ok()) {
        Some((hour, "")) => (hour.to_owned(), true),
        Some((hour, minute)) => (format!("{hour}:{minute}"), true),
        None => (number.to_owned(), false),
    };
    let (hour, minute) = match number.split_once([':', '.']) {
        Some((hour, minute)) if minute.len() == 2 => (hour.parse().ok()?, minute.parse().ok()?),
        Some(_) => return None,
        None => (number.parse().ok().or_else(|| spelled(&number).map(u32::try_from)?.ok())?, 0),
    };
    if hour > 24 || minute > 59 {
        return None;
    }
    let hour = match half {
        Some(true) if hour < 12 => hour + 12,
        Some(false) if hour == 12 => 0,
        _ => hour % 24,
    };
    let either_half = half.is_none() && (1..12).contains(&hour) && !number.contains(':') && !of_day;
    Some((hour * 60 + minute, either_half))
}
