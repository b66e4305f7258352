//! "Friday", "tomorrow", "april 10", "the 10th of april": days in English.

use super::when::Day;

/// The day that these words are.
pub(super) fn day(words: &[&str]) -> Option<Day> {
    match words {
        ["tomorrow" | "tmrw" | "tmr" | "tomorow"] => Some(Day::Tomorrow),
        ["the", "day", "after", "tomorrow"] => Some(Day::InDays(2)),
        ["the", rest @ ..] | ["on", "the", rest @ ..] if date(rest).is_some() => date(rest),
        [one] if month(one).is_some() => Day::date(month(one)?, 1),
        ["next" | "on" | "this" | "coming", day] | ["the" | "this", "next" | "coming", day] | [day] => {
            weekday(day).map(Day::Weekday)
        }
        _ => date(words),
    }
}

fn date(words: &[&str]) -> Option<Day> {
    match words {
        [month_name, "the", number] | [month_name, number] if month(month_name).is_some() => {
            Day::date(month(month_name)?, day_number(number)?)
        }
        [number, "of", month_name] | [number, month_name] => Day::date(month(month_name)?, day_number(number)?),
        [number] if !number.ends_with(|c: char| c.is_ascii_digit()) => Day::of_month(day_number(number)?),
        _ => None,
    }
}

/// "10", "10th".
fn day_number(word: &str) -> Option<i64> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
    let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

fn month(word: &str) -> Option<i64> {
    const MONTHS: &str = "january february march april may june july august september october november december";
    let is_month = |month: &str| {
        month == word || word.len() == 3 && month.starts_with(word) || word == "sept" && month == "september"
    };
    MONTHS.split(' ').position(is_month).map(|at| at as i64 + 1)
}

fn weekday(word: &str) -> Option<i64> {
    let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let short = |day: &str| {
        ["mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun"].contains(&word)
            && day.starts_with(word)
    };
    days.iter().position(|day| *day == word || short(day)).map(|at| at as i64)
}
