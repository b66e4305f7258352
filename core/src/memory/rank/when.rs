//! The time that a question refers to, "last summer" or 「先週」, as days relative to the time at which it is asked.
//!
//! Days are counted in UTC: "yesterday" in a question is only accurate to a day or so anyway, and near matches count nearly
//! as much.

use super::super::words::normal;
use crate::types::Time;

/// Days since 1970-01-01, from the first to the last of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayRange {
    pub from: i64,
    pub to: i64,
}

const DAY_MS: u64 = 24 * 3600 * 1000;
/// For how many days people mention an event afterwards, less and less often.
const TOLD_WITHIN: f64 = 21.0;
/// A day or a week is not meant exactly.
const LEEWAY: i64 = 1;

pub fn day_of(time: Time) -> i64 {
    (time.0 / DAY_MS).cast_signed()
}

impl DayRange {
    /// The time that a question names, asked at `now`. The first one found.
    pub fn named_in(text: &str, now: Time) -> Option<DayRange> {
        let text = normal(text);
        let words: Vec<&str> =
            text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let today = Date::of(day_of(now));
        in_english(&words, today).or_else(|| in_japanese(&text, today))
    }

    /// How well a day matches: 1 within, less the later after it, 0 before it.
    pub fn fit(self, day: i64) -> f64 {
        if (self.from - LEEWAY..=self.to + LEEWAY).contains(&day) {
            1.0
        } else if day > self.to {
            (1.0 - (day - self.to) as f64 / TOLD_WITHIN).max(0.0) * 0.5
        } else {
            0.0
        }
    }

    /// Extended by the days on which it may have been mentioned.
    pub fn widen(self) -> DayRange {
        DayRange { from: self.from - LEEWAY, to: self.to + TOLD_WITHIN as i64 }
    }

    fn days(from: i64, to: i64) -> DayRange {
        DayRange { from, to }
    }

    fn month(year: i64, month: i64) -> DayRange {
        let (year, month) = (year + (month - 1).div_euclid(12), (month - 1).rem_euclid(12) + 1);
        let (next_year, next) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
        DayRange::days(
            Date { year, month, day: 1 }.number(),
            Date { year: next_year, month: next, day: 1 }.number() - 1,
        )
    }

    fn months(year: i64, first: i64, count: i64) -> DayRange {
        DayRange::days(DayRange::month(year, first).from, DayRange::month(year, first + count - 1).to)
    }

    fn year(year: i64) -> DayRange {
        DayRange::months(year, 1, 12)
    }
}

/// A day of the Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Date {
    year: i64,
    month: i64,
    day: i64,
}

impl Date {
    /// Days since 1970-01-01 as a date: eras of 400 years that begin in March, so that the leap day is the last of its year.
    fn of(number: i64) -> Date {
        let shifted = number + 719_468;
        let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        Date { year: era * 400 + year + i64::from(month <= 2), month, day }
    }

    fn number(self) -> i64 {
        let year = self.year - i64::from(self.month <= 2);
        let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let month = (self.month + 9) % 12;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + (153 * month + 2) / 5 + self.day - 1;
        era * 146_097 + day_of_era - 719_468
    }

    /// Monday is 0.
    fn weekday(self) -> i64 {
        (self.number() + 3).rem_euclid(7)
    }
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
/// With the month each begins in.
const SEASONS: [(&str, i64); 5] = [("spring", 3), ("summer", 6), ("autumn", 9), ("fall", 9), ("winter", 12)];

fn in_english(words: &[&str], today: Date) -> Option<DayRange> {
    (0..words.len()).find_map(|at| english_at(words, at, today))
}

fn english_at(words: &[&str], at: usize, today: Date) -> Option<DayRange> {
    let word = words[at];
    let next = |more: usize| words.get(at + more).copied().unwrap_or_default();
    let before = |less: usize| at.checked_sub(less).map_or("", |at| words[at]);
    let number = today.number();
    let monday = number - today.weekday();
    if let Some(month) = MONTHS.iter().position(|name| is_month(word, name)) {
        return english_month(month as i64 + 1, &[before(2), before(1)], &[next(1), next(2)], today);
    }
    if let Some((_, first)) = SEASONS.iter().find(|(name, _)| *name == word) {
        return english_season(*first, &[before(2), before(1)], &[next(1), next(2)], today);
    }
    let last = matches!(word, "last" | "previous" | "past");
    match (word, next(1)) {
        ("yesterday", _) => Some(DayRange::days(number - 1, number - 1)),
        ("today" | "tonight", _) => Some(DayRange::days(number, number)),
        (_, "night") if last => Some(DayRange::days(number - 1, number)),
        ("this", "week") => Some(DayRange::days(monday, number)),
        ("this", "month") => Some(DayRange::month(today.year, today.month)),
        ("this", "year") => Some(DayRange::year(today.year)),
        (_, "week") if last => Some(DayRange::days(monday - 7, monday - 1)),
        (_, "weekend") if last => Some(DayRange::days(monday - 2, monday - 1)),
        (_, "month") if last => Some(DayRange::month(today.year, today.month - 1)),
        (_, "year") if last => Some(DayRange::year(today.year - 1)),
        (_, day) if last && WEEKDAYS.contains(&day) => {
            let weekday = WEEKDAYS.iter().position(|name| *name == day)? as i64;
            let back = (today.weekday() - weekday - 1).rem_euclid(7) + 1;
            Some(DayRange::days(number - back, number - back))
        }
        (unit, "ago") => ago(amount(before(1))?, unit, today),
        _ => year_named(word).filter(|_| matches!(before(1), "in" | "of" | "during" | "since")).map(DayRange::year),
    }
}

/// `may` and `march` are ordinary words too: they count only next to a number or a preposition.
fn is_month(word: &str, name: &str) -> bool {
    word == name
        || (word.len() == 3 && name.starts_with(word) && word != "may" && word != "mar")
        || word == "sept" && name == "september"
}

fn english_month(month: i64, before: &[&str; 2], after: &[&str; 2], today: Date) -> Option<DayRange> {
    let day = |word: &str| {
        word.trim_end_matches(|c: char| c.is_ascii_alphabetic())
            .parse::<i64>()
            .ok()
            .filter(|day| (1..=31).contains(day))
    };
    let year = after.iter().find_map(|word| year_named(word));
    let named_day = day(before[1]).or_else(|| day(before[0]).filter(|_| before[1] == "of")).or_else(|| day(after[0]));
    let preposed =
        matches!(before[1], "in" | "last" | "of" | "during" | "since" | "early" | "late" | "mid" | "this" | "on");
    if year.is_none() && named_day.is_none() && !preposed {
        return None;
    }
    // Without a year, the latest in the past.
    let past = |month: i64| if month > today.month { today.year - 1 } else { today.year };
    let year = year.unwrap_or_else(|| past(month));
    Some(match named_day {
        Some(day) => {
            let number = Date { year, month, day }.number();
            DayRange::days(number, number)
        }
        None => DayRange::month(year, month),
    })
}

fn english_season(first: i64, before: &[&str; 2], after: &[&str; 2], today: Date) -> Option<DayRange> {
    let year = after.iter().find_map(|word| year_named(word));
    let preposed = matches!(before[1], "in" | "last" | "this" | "during" | "past")
        || before[1] == "the" && matches!(before[0], "in" | "during" | "over");
    if year.is_none() && !preposed {
        return None;
    }
    // Without a year, the latest that has begun; the previous one is over.
    let mut year = year.unwrap_or(if first > today.month { today.year - 1 } else { today.year });
    let season = |year: i64| DayRange::months(year, first, 3);
    if before[1] == "last" && season(year).to >= today.number() {
        year -= 1;
    }
    Some(season(year))
}

fn year_named(word: &str) -> Option<i64> {
    word.parse().ok().filter(|year| word.len() == 4 && (1900..2100).contains(year))
}

fn amount(word: &str) -> Option<i64> {
    const SMALL: [&str; 11] = ["", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    match word {
        "" => None,
        "a" | "an" => Some(1),
        "couple" | "few" => Some(3),
        _ => word.parse().ok().or_else(|| SMALL.iter().position(|name| *name == word).map(|at| at as i64)),
    }
}

/// About this many days, weeks, months or years before today.
fn ago(amount: i64, unit: &str, today: Date) -> Option<DayRange> {
    let amount = amount.clamp(0, 1000);
    let number = today.number();
    match unit.trim_end_matches('s') {
        "day" => Some(DayRange::days(number - amount, number - amount)),
        "week" => Some(DayRange::days(number - 7 * amount - 3, number - 7 * amount + 3)),
        "month" => Some(DayRange::month(today.year, today.month - amount)),
        "year" => Some(DayRange::year(today.year - amount)),
        _ => None,
    }
}

fn in_japanese(text: &str, today: Date) -> Option<DayRange> {
    let number = today.number();
    let monday = number - today.weekday();
    let has = |word: &str| text.contains(word);
    let year = [("一昨年", -2), ("おととし", -2), ("去年", -1), ("昨年", -1), ("今年", 0)];
    let year = year.iter().find(|(word, _)| has(word)).map(|(_, back)| today.year + back);
    let year = year.or_else(|| number_before(text, "年").filter(|year| (1900..2100).contains(year)));
    let seasons = [("春", 3), ("夏", 6), ("秋", 9), ("冬", 12)];
    let season = seasons.iter().find(|(word, _)| has(&format!("の{word}")) || has(&format!("年{word}")));
    let past = |month: i64| year.unwrap_or(if month > today.month { today.year - 1 } else { today.year });
    if let Some((_, first)) = season {
        return Some(DayRange::months(past(*first), *first, 3));
    }
    if let Some(month) = number_before(text, "月").filter(|month| (1..=12).contains(month)) {
        let day = number_before(text, "日").filter(|day| (1..=31).contains(day));
        let whole = DayRange::month(past(month), month);
        return Some(day.map_or(whole, |day| DayRange::days(whole.from + day - 1, whole.from + day - 1)));
    }
    let days = [
        ("一昨日", 2),
        ("おととい", 2),
        ("昨日", 1),
        ("きのう", 1),
        ("昨夜", 1),
        ("昨晩", 1),
        ("今日", 0),
        ("今朝", 0),
    ];
    if let Some((_, back)) = days.iter().find(|(word, _)| has(word)) {
        return Some(DayRange::days(number - back, number - back));
    }
    let weeks = [("先々週", -14), ("先週", -7), ("今週", 0)];
    if let Some((_, back)) = weeks.iter().find(|(word, _)| has(word)) {
        return Some(DayRange::days(monday + back, monday + back + 6));
    }
    let months = [("先々月", -2), ("先月", -1), ("今月", 0)];
    if let Some((_, back)) = months.iter().find(|(word, _)| has(word)) {
        return Some(DayRange::month(today.year, today.month + back));
    }
    let before = [("日前", "day"), ("週間前", "week"), ("か月前", "month"), ("ヶ月前", "month"), ("年前", "year")];
    let before = before.iter().find_map(|(word, unit)| ago(number_before(text, word)?, unit, today));
    before.or_else(|| year.map(DayRange::year))
}

/// The number before a word, in digits or in kanji up to twelve.
fn number_before(text: &str, word: &str) -> Option<i64> {
    const KANJI: [&str; 13] = ["", "一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二"];
    let at = text.find(word)?;
    let before = &text[..at];
    let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    if digits > 0 {
        return before[before.len() - digits..].parse().ok();
    }
    (1..KANJI.len()).rev().find(|number| before.ends_with(KANJI[*number])).map(|number| number as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(year: i64, month: i64, day: i64) -> i64 {
        Date { year, month, day }.number()
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!((number(1970, 1, 1), number(2000, 3, 1), number(2024, 2, 29)), (0, 11_017, 19_782));
        for day in (-800_000..800_000).step_by(97) {
            assert_eq!(Date::of(day).number(), day);
        }
        assert_eq!(Date { year: 2024, month: 5, day: 15 }.weekday(), 2);
    }

    #[test]
    fn a_question_names_its_time() {
        // A Wednesday.
        let now = Time(u64::try_from(number(2024, 5, 15)).unwrap() * DAY_MS);
        let day = |year, month, day| number(year, month, day);
        let cases = [
            ("What did Ann do yesterday?", day(2024, 5, 14), day(2024, 5, 14)),
            ("Where was Bob last week?", day(2024, 5, 6), day(2024, 5, 12)),
            ("Who called last Friday?", day(2024, 5, 10), day(2024, 5, 10)),
            ("Where did they go last summer?", day(2023, 6, 1), day(2023, 8, 31)),
            ("What happened in May?", day(2024, 5, 1), day(2024, 5, 31)),
            ("What did she buy in July?", day(2023, 7, 1), day(2023, 7, 31)),
            ("What did she say on 8 May, 2023?", day(2023, 5, 8), day(2023, 5, 8)),
            ("What did she say on June 3rd 2022?", day(2022, 6, 3), day(2022, 6, 3)),
            ("the trip in winter 2022", day(2022, 12, 1), day(2023, 2, 28)),
            ("What was built two years ago?", day(2022, 1, 1), day(2022, 12, 31)),
            ("a class from 3 weeks ago", day(2024, 4, 21), day(2024, 4, 27)),
            ("the match in 2019", day(2019, 1, 1), day(2019, 12, 31)),
            ("先週は何をした？", day(2024, 5, 6), day(2024, 5, 12)),
            ("去年の夏はどこへ行った？", day(2023, 6, 1), day(2023, 8, 31)),
            ("5月に買ったもの", day(2024, 5, 1), day(2024, 5, 31)),
            ("2023年8月3日の話", day(2023, 8, 3), day(2023, 8, 3)),
            ("昨日の夕食は？", day(2024, 5, 14), day(2024, 5, 14)),
            ("三日前に来たのは誰？", day(2024, 5, 12), day(2024, 5, 12)),
            ("先月の旅行", day(2024, 4, 1), day(2024, 4, 30)),
            ("一昨年の話", day(2022, 1, 1), day(2022, 12, 31)),
        ];
        for (text, from, to) in cases {
            assert_eq!(DayRange::named_in(text, now), Some(DayRange { from, to }), "{text}");
        }
        for text in ["When did Ann march?", "May I ask?", "How many days?", "いつ来た？", "room 2024", ""] {
            assert_eq!(DayRange::named_in(text, now), None, "{text}");
        }
    }

    #[test]
    fn what_was_told_soon_after_fits_too() {
        let range = DayRange { from: 100, to: 106 };
        assert_eq!((range.fit(103), range.fit(90), range.fit(107)), (1.0, 0.0, 1.0));
        assert!(range.fit(110) > range.fit(120) && range.fit(200) == 0.0);
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_asked_has_a_time_or_none(text in ".*", days in 0_u64..100_000) {
            if let Some(range) = DayRange::named_in(&text, Time(days * DAY_MS)) {
                assert!(range.from <= range.to);
            }
        }
    }
}
