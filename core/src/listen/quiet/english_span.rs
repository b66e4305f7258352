//! Durations in English: "30 minutes", "an hour and a half", "1h30", "two hours and ten minutes".

use crate::types::Span;

const THOUSAND: u64 = 1000;

/// The total duration of all these words.
pub(super) fn span(words: &[&str]) -> Option<Span> {
    let words: Vec<&str> = words.iter().flat_map(|word| pieces(word)).collect();
    let mut rest = match words.as_slice() {
        // "An hour or two" means at least the larger one.
        [low @ .., unit, "or", high] if is_number(low) && unit_of(unit).is_some() && is_number(&[*high]) => {
            &[*high, *unit]
        }
        [start @ .., "or", "so"] | [start @ .., "at", "least" | "most"] => start,
        [start @ .., "straight" | "tops" | "max"] => start,
        all => all,
    };
    let mut total = Span::ZERO;
    let mut smallest = None;
    while !rest.is_empty() {
        let (count, thousandths) = number(rest)?;
        let (unit, used) = match rest.get(count).map(|word| unit_of(word)) {
            Some(unit) => (unit?, count + 1),
            // "1h30", "2 hours 30".
            None => (smallest.filter(|unit| *unit == HOUR).map(|_| MINUTE)?, count),
        };
        if smallest.is_some_and(|smallest| unit >= smallest) {
            return None;
        }
        total = Span(total.0.saturating_add(times(unit, thousandths)));
        (smallest, rest) = (Some(unit), &rest[used..]);
        if let ["and", "a", part @ ("half" | "quarter"), after @ ..] = rest {
            total = Span(total.0.saturating_add(times(unit, if *part == "half" { 500 } else { 250 })));
            rest = after;
        }
        rest = rest.strip_prefix(&["and"]).filter(|after| !after.is_empty()).unwrap_or(rest);
    }
    (total > Span::ZERO).then_some(total)
}

fn is_number(words: &[&str]) -> bool {
    number(words).is_some_and(|(count, _)| count == words.len())
}

fn times(unit: Span, thousandths: u64) -> u64 {
    unit.0.saturating_mul(thousandths) / THOUSAND
}

/// "1h30m" is four words; so that "5th" stays one, all letters have to be units.
fn pieces(word: &str) -> Vec<&str> {
    let is_number = |c: char| c.is_ascii_digit() || c == '.' || c == ':';
    let mut pieces = Vec::new();
    let mut rest = word;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| is_number(c) != is_number(first)).unwrap_or(rest.len());
        pieces.push(&rest[..end]);
        rest = &rest[end..];
    }
    let are_units = |piece: &&str| piece.starts_with(is_number) || unit_of(piece).is_some();
    if word.starts_with(|c: char| c.is_ascii_digit()) && pieces.iter().all(are_units) { pieces } else { vec![word] }
}

/// How many words at the beginning are a number, and its thousandths.
fn number(words: &[&str]) -> Option<(usize, u64)> {
    let (count, thousandths) = match words {
        ["half", "an" | "a", ..] | ["a", "half", ..] => (2, 500),
        ["half" | "half-an" | "half-a", ..] => (1, 500),
        ["three", "quarters", "of", "an" | "a", ..] => (4, 750),
        ["a", "quarter", "of", "an" | "a", ..] => (4, 250),
        ["quarter", "of", "an" | "a", ..] => (3, 250),
        ["a", "couple", "of", ..] => (3, 2 * THOUSAND),
        ["a", "couple", ..] | ["couple", "of", ..] => (2, 2 * THOUSAND),
        ["a", "few", ..] => (2, 3 * THOUSAND),
        ["few" | "several" | "some", ..] => (1, 3 * THOUSAND),
        ["a" | "an", ..] => (1, THOUSAND),
        [word, "and", "a", "half", unit, ..] if unit_of(unit).is_some() => (4, plain_number(word)? + 500),
        [low, "to" | "or", high, ..] if plain_number(low).is_some_and(|low| plain_number(high) > Some(low)) => {
            (3, plain_number(high)?)
        }
        [tens, ones, ..]
            if spelled(tens).is_some_and(|tens| tens % 10 == 0) && spelled(ones).is_some_and(|ones| ones < 10) =>
        {
            (2, THOUSAND * (spelled(tens)? + spelled(ones)?))
        }
        [word, ..] => (1, plain_number(word)?),
        [] => return None,
    };
    let filler = words
        .get(count)
        .is_some_and(|word| ["more", "full", "whole", "good", "solid", "entire", "long"].contains(word));
    (thousandths > 0).then_some((count + usize::from(filler), thousandths))
}

/// "90", "1.5", "1:30", "5-10", "twenty-five", in thousandths.
fn plain_number(word: &str) -> Option<u64> {
    if let Some(number) = spelled(word) {
        return Some(number * THOUSAND);
    }
    if let Some((low, high)) = word.split_once(['-', '–']).filter(|(low, _)| !low.is_empty()) {
        return plain_number(low).and_then(|low| plain_number(high).filter(|high| *high > low));
    }
    if let Some((whole, minutes)) = word.split_once(':') {
        let minutes: u64 = minutes.parse().ok().filter(|minutes| *minutes < 60)?;
        return Some(whole_number(whole)?.saturating_mul(THOUSAND).saturating_add(minutes * THOUSAND / 60));
    }
    let Some((whole, part)) = word.split_once('.') else {
        return Some(whole_number(word)?.saturating_mul(THOUSAND));
    };
    let digits: String = part.chars().chain("000".chars()).take(3).collect();
    Some(whole_number(whole)?.saturating_mul(THOUSAND).saturating_add(digits.parse().ok()?))
}

/// However long it is.
fn whole_number(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u64::MAX))
}

pub(super) fn spelled(word: &str) -> Option<u64> {
    const SMALL: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen \
        seventeen eighteen nineteen";
    const TENS: &str = "twenty thirty forty fifty sixty seventy eighty ninety";
    let at = |list: &str, word: &str| list.split_ascii_whitespace().position(|known| known == word).map(|at| at as u64);
    let known = |word: &str| at(SMALL, word).or_else(|| at(TENS, word).map(|at| 10 * (at + 2)));
    let sum =
        || word.split_once('-').and_then(|(tens, ones)| Some(known(tens)? + known(ones).filter(|ones| *ones < 10)?));
    known(word).or_else(sum)
}

const MINUTE: Span = Span::minutes(1);
const HOUR: Span = Span::minutes(60);
const DAY: Span = Span::minutes(24 * 60);

/// Months and years have their maximum length: the bot is never quiet for less than was asked.
fn unit_of(word: &str) -> Option<Span> {
    Some(match word {
        "s" | "sec" | "secs" | "second" | "seconds" => Span::seconds(1),
        "m" | "min" | "mins" | "minute" | "minutes" | "minuts" | "mintues" => MINUTE,
        "h" | "hr" | "hrs" | "hour" | "hours" | "huor" | "horus" => HOUR,
        "d" | "day" | "days" => DAY,
        "w" | "wk" | "wks" | "week" | "weeks" => Span(7 * DAY.0),
        "fortnight" | "fortnights" => Span(14 * DAY.0),
        "mo" | "month" | "months" => Span(31 * DAY.0),
        "y" | "yr" | "yrs" | "year" | "years" => Span(366 * DAY.0),
        "decade" | "decades" => Span(3660 * DAY.0),
        "century" | "centuries" => Span(36600 * DAY.0),
        _ => return None,
    })
}
