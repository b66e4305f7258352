//! 「30分」「明日まで」「午後3時まで」 at the beginning of some words.

use super::when::{Day, LocalTime, MORNING, QuietTime};
use crate::types::Span;

/// How many bytes at the beginning are a time, and which.
pub(super) fn time_at_start(text: &str) -> Option<(usize, QuietTime)> {
    set_phrase(text).or_else(|| until_day(text)).or_else(|| clock(text)).or_else(|| span(text)).or_else(|| unread(text))
}

/// 「明日」「来週」「10時」: whether the words end with a day or a time of the day, so that から after them means "from".
pub(super) fn is_point_in_time(text: &str) -> bool {
    const POINTS: &str = "明日 あした あす 明後日 あさって 翌日 翌朝 来週 来月 来年 週明け 週末 午後 午前 朝 昼 夕方 夜 今夜 今晩 次回 次 今度 後 あと";
    let is_day = (0..text.len()).filter(|at| text.is_char_boundary(*at)).any(|at| {
        let (_, rest) = day(&text[at..]).unwrap_or((Day::Next, "-"));
        rest.is_empty() && !["今日", "本日"].iter().any(|today| text[at..].starts_with(today))
    });
    let numbered = ["時", "時半", "分", "日", "月"]
        .iter()
        .filter_map(|unit| text.strip_suffix(unit))
        .any(|before| before.ends_with(|c: char| c.is_ascii_digit() || "〇一二三四五六七八九十".contains(c)));
    numbered || is_day || POINTS.split_whitespace().any(|point| text.ends_with(point))
}

fn set_phrase(text: &str) -> Option<(usize, QuietTime)> {
    let tomorrow = QuietTime::until(Day::Tomorrow, MORNING);
    let next = |hour: u32| QuietTime::until(Day::Next, hour * 60);
    let phrases: [(&str, QuietTime); 11] = [
        ("明日の朝まで 明日まで あしたまで あすまで 明日の朝までは 明日までは 翌朝まで 翌日まで", tomorrow),
        ("朝まで 朝までは 一晩中は 一晩中 一晩 夜通し", next(8)),
        ("午前中は 午前中 昼休みまで 昼まで お昼まで 正午まで 昼までは", next(12)),
        ("夕方まで 夕方までは", next(17)),
        ("夜まで 夜までは 今夜まで", next(19)),
        (
            "今日いっぱいは 今日いっぱい 今日一日 今日中は 今日中 今日はもう 今日は 本日は 今晩は 今夜は 今日だけ 一日中は 一日中 終日",
            QuietTime::TODAY,
        ),
        (
            "ちょっとの間だけ 少しの間だけ しばらくのあいだ しばらくの間は しばらくの間 しばらくは しばらく 少しの間 ちょっとの間 当分の間 当分 当面 今は いまは 今だけ 一旦 いったん 会議が終わるまで 終わるまで 話が終わるまで 会議中は 会議の間は ひとまず",
            QuietTime::Usual,
        ),
        (
            "いいと言うまで いいって言うまで いいというまで 良いと言うまで よしと言うまで 私が言うまで 私がいいと言うまで 合図するまで 指示があるまで 許可するまで 許可があるまで 解除するまで \
             ずっと 永遠に 永久に もう二度と 二度と 一生",
            QuietTime::Open,
        ),
        (
            "今週いっぱいは 今週いっぱい 今週は 週明けまで 来週まで 来週までは 月曜まで 月曜日まで",
            QuietTime::until(Day::Weekday(0), MORNING),
        ),
        (
            "週末の間は 週末の間 週末は 週末中 今週末は この週末は 週末いっぱい 土日は 土日の間は 土日",
            QuietTime::until(Day::Weekday(0), MORNING),
        ),
        ("週末まで 週末までは 今週末まで この週末まで", QuietTime::until(Day::Weekday(5), MORNING)),
    ];
    let fitting = phrases.iter().flat_map(|(words, time)| words.split_whitespace().map(move |words| (words, *time)));
    let found = fitting.filter(|(words, _)| text.starts_with(words)).max_by_key(|(words, _)| words.len());
    found.map(|(words, time)| (words.len(), time))
}

/// 「会議が終わるまで」「リリースまで」「-5分」: a time of unknown length.
fn unread(text: &str) -> Option<(usize, QuietTime)> {
    const BYTES_MAX: usize = 60;
    if let Some((end, _)) = text.strip_prefix(['-', '−']).and_then(span) {
        return Some((end + text.len() - text.trim_start_matches(['-', '−']).len(), QuietTime::Usual));
    }
    let ends = ["まで", "の間", "のあいだ", "いっぱい", "中は"];
    let (at, end) = ends.iter().filter_map(|end| text.find(end).map(|at| (at, *end))).min()?;
    let rest = &text[at + end.len()..];
    let rest = rest.strip_prefix('は').unwrap_or(rest);
    // 「いつまで静かにして…」 is a question, 「そこまで」 names a limit.
    let asks = ["いつ", "どこ", "ここ", "そこ", "あれ", "これ", "それ"].iter().any(|word| text[..at].ends_with(word));
    (at > 0 && at <= BYTES_MAX && !asks).then_some((text.len() - rest.len(), QuietTime::Usual))
}

/// 「金曜の17時まで」「明日の正午まで」「来週の月曜まで」「今月いっぱい」.
fn until_day(text: &str) -> Option<(usize, QuietTime)> {
    let (day, rest) = day(text)?;
    let after_until = |rest: &str| {
        let until = ["までは", "まで", "いっぱいは", "いっぱい", "中は", "中"];
        until.iter().find_map(|until| rest.strip_prefix(until)).map(str::len)
    };
    if let Some(left) = after_until(rest) {
        return Some((text.len() - left, QuietTime::until(day, MORNING)));
    }
    let rest = rest.strip_prefix(['の', '、', ' ']).unwrap_or(rest);
    let parts =
        [("午前中", 12), ("正午", 12), ("昼", 12), ("お昼", 12), ("夕方", 17), ("夜", 19), ("晩", 19), ("朝", 8)];
    let part = parts.iter().find_map(|(word, hour)| Some((after_until(rest.strip_prefix(word)?)?, 60 * hour, false)));
    let (left, minute, either_half) = part.or_else(|| {
        let (end, minute, either_half) = clock_time(rest)?;
        Some((rest.len() - end, minute, either_half))
    })?;
    // 「金曜の5時」 is in the afternoon, 「金曜の9時」 in the morning.
    let minute = if either_half && minute < 7 * 60 { minute + 12 * 60 } else { minute };
    Some((text.len() - left, QuietTime::until(day.with_time(), minute)))
}

/// A day at the beginning, and what follows it.
fn day(text: &str) -> Option<(Day, &str)> {
    const DAYS: [(&str, Day); 14] = [
        ("明後日", Day::InDays(2)),
        ("あさって", Day::InDays(2)),
        ("翌日", Day::Tomorrow),
        ("明日", Day::Tomorrow),
        ("あした", Day::Tomorrow),
        ("あす", Day::Tomorrow),
        ("今日", Day::Next),
        ("本日", Day::Next),
        ("来月", Day::NextMonth),
        ("今月", Day::NextMonth),
        ("来年", Day::NextYear),
        ("今年", Day::NextYear),
        ("年内", Day::NextYear),
        ("月末", Day::NextMonth),
    ];
    if let Some((word, day)) = DAYS.iter().find(|(word, _)| text.starts_with(word)) {
        return Some((*day, &text[word.len()..]));
    }
    if let Some(found) = date(text) {
        return Some(found);
    }
    let next_week = ["来週の", "来週"].iter().find_map(|word| text.strip_prefix(word));
    let this_week = || ["今週の", "今週", "次の", "今度の"].iter().find_map(|word| text.strip_prefix(word));
    let rest = next_week.or_else(this_week).unwrap_or(text);
    let first = rest.chars().next()?;
    let weekday = "月火水木金土日".chars().position(|day| day == first)?;
    let rest = &rest[first.len_utf8()..];
    let rest = rest.strip_prefix("曜日").or_else(|| rest.strip_prefix('曜'))?;
    let day = if next_week.is_some() { Day::WeekdayOfNextWeek } else { Day::Weekday };
    Some((day(weekday as i64), rest))
}

/// 「4月10日」「10日」.
fn date(text: &str) -> Option<(Day, &str)> {
    let (first, rest) = number(text)?;
    if let Some(rest) = rest.strip_prefix('月') {
        if rest.starts_with("まで") {
            return Some((Day::date(i64::try_from(first).ok()?, 1)?, rest));
        }
        let (second, rest) = number(rest)?;
        return Some((Day::date(i64::try_from(first).ok()?, i64::try_from(second).ok()?)?, rest.strip_prefix('日')?));
    }
    // 「10日間」 is a span.
    let rest = rest.strip_prefix('日').filter(|rest| rest.starts_with("まで") || rest.starts_with('の'))?;
    Some((Day::of_month(i64::try_from(first).ok()?)?, rest))
}

/// 「午後3時半まで」「17時まで」「17:30まで」.
fn clock(text: &str) -> Option<(usize, QuietTime)> {
    let (end, minute, either_half) = clock_time(text)?;
    Some((end, QuietTime::Until(LocalTime { day: Day::Next, minute, either_half })))
}

/// How many bytes at the beginning are a time of the day as an end, its minute, and whether it may be in either half of the
/// day.
fn clock_time(text: &str) -> Option<(usize, u32, bool)> {
    let (part, rest) = part_of_day(text);
    let (hour, rest) = number(rest)?;
    let (minute, rest) = if let Some(rest) = rest.strip_prefix("時半") {
        (30, rest)
    } else if let Some(rest) = rest.strip_prefix('時') {
        match number(rest) {
            Some((minute, rest)) => (minute, rest.strip_prefix('分')?),
            None => (0, rest),
        }
    } else {
        number(rest.strip_prefix(':')?)?
    };
    let rest = ["ごろ", "頃", "くらい", "ぐらい"].iter().find_map(|word| rest.strip_prefix(word)).unwrap_or(rest);
    let rest = rest.strip_prefix("まで")?;
    let rest = rest.strip_prefix('は').unwrap_or(rest);
    if hour > 24 || minute > 59 {
        return None;
    }
    let hour = match part {
        Some(PartOfDay::Morning) => hour % 12,
        Some(PartOfDay::Afternoon) => hour % 12 + 12,
        // 「夜1時」 is after midnight, 「夜12時」 at midnight.
        Some(PartOfDay::Night) if hour <= 4 || hour == 12 => hour % 12,
        Some(PartOfDay::Night) if hour < 12 => hour + 12,
        Some(PartOfDay::Night) | None => hour % 24,
    };
    let either_half = part.is_none() && (1..12).contains(&hour);
    Some((text.len() - rest.len(), hour as u32 * 60 + minute as u32, either_half))
}

/// The part of the day an hour is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartOfDay {
    Morning,
    Afternoon,
    Night,
}

/// 「午後」「夕方の」「今夜」 at the beginning, and what follows.
fn part_of_day(text: &str) -> (Option<PartOfDay>, &str) {
    const PARTS: [(&str, PartOfDay); 15] = [
        ("午前", PartOfDay::Morning),
        ("早朝", PartOfDay::Morning),
        ("朝", PartOfDay::Morning),
        ("未明", PartOfDay::Morning),
        ("午後", PartOfDay::Afternoon),
        ("お昼", PartOfDay::Afternoon),
        ("昼", PartOfDay::Afternoon),
        ("夕方", PartOfDay::Afternoon),
        ("夕", PartOfDay::Afternoon),
        ("夜中", PartOfDay::Night),
        ("深夜", PartOfDay::Night),
        ("今夜", PartOfDay::Night),
        ("今晩", PartOfDay::Night),
        ("夜", PartOfDay::Night),
        ("晩", PartOfDay::Night),
    ];
    let found = PARTS.iter().find_map(|(word, part)| Some((*part, text.strip_prefix(word)?)));
    // 「昼の11時」 is before noon.
    let is_before_noon = |rest: &str| text.contains('昼') && rest.starts_with("11");
    found.map_or((None, text), |(part, rest)| {
        let rest = rest.strip_prefix('の').unwrap_or(rest);
        (Some(if is_before_noon(rest) { PartOfDay::Morning } else { part }), rest)
    })
}

/// 「30分だけ」「1時間半くらい」「1時間30分」「2ヶ月」「半日」.
fn span(text: &str) -> Option<(usize, QuietTime)> {
    let mut rest = text;
    for words in ["これから", "あと", "今後", "まる", "丸", "約"] {
        rest = rest.strip_prefix(words).unwrap_or(rest);
    }
    let mut minutes: u64 = 0;
    let mut smallest = u64::MAX;
    while let Some((more, unit, after)) = term(rest, smallest) {
        minutes = minutes.saturating_add(more);
        (smallest, rest) =
            (unit, after.strip_prefix('と').filter(|after| term(after, unit).is_some()).unwrap_or(after));
    }
    for words in
        ["間", "だけ", "くらい", "ぐらい", "ほど", "程度", "ばかり", "の間", "のあいだ", "でいいから", "は", "、"]
    {
        rest = rest.strip_prefix(words).unwrap_or(rest);
    }
    (minutes > 0).then(|| (text.len() - rest.len(), QuietTime::lasting(Span::minutes(minutes))))
}

/// Months and years have their maximum length: the bot is never quiet for less than was asked.
const UNITS: [(&str, u64); 20] = [
    ("時間", 60),
    ("週間", 7 * DAY),
    ("週", 7 * DAY),
    ("分", 1),
    ("日", DAY),
    ("ヶ月", 31 * DAY),
    ("か月", 31 * DAY),
    ("カ月", 31 * DAY),
    ("ヵ月", 31 * DAY),
    ("ケ月", 31 * DAY),
    ("箇月", 31 * DAY),
    ("か年", 366 * DAY),
    ("年", 366 * DAY),
    ("世紀", 36_600 * DAY),
    ("h", 60),
    ("min", 1),
    ("m", 1),
    ("d", DAY),
    ("w", 7 * DAY),
    ("y", 366 * DAY),
];
const DAY: u64 = 24 * 60;

/// A number and a unit that is smaller than the one before, in minutes; the unit, and what follows.
fn term(text: &str, larger: u64) -> Option<(u64, u64, &str)> {
    let halves = [("半時間", 30), ("小一時間", 60), ("半日", DAY / 2), ("半月", 16 * DAY), ("半年", 183 * DAY)];
    if let Some((rest, minutes)) = halves.iter().find_map(|(word, minutes)| Some((text.strip_prefix(word)?, *minutes)))
    {
        return (minutes < larger).then_some((minutes, minutes, rest));
    }
    // 「数時間」
    let (count, rest) = text.strip_prefix('数').map(|rest| (3, rest)).or_else(|| number(text))?;
    let (tenths, rest) = match rest.strip_prefix('.').and_then(number) {
        Some((part, after)) => (tenths(part), after),
        None => (0, rest),
    };
    let (len, unit) = match UNITS.iter().find(|(word, _)| rest.starts_with(word)) {
        Some((word, unit)) => (word.len(), *unit),
        // 「1h30」
        None if larger == 60 => (0, 1),
        None => return None,
    };
    if unit >= larger {
        return None;
    }
    let (minutes, rest) = (count.saturating_mul(unit).saturating_add((tenths * unit).div_ceil(10)), &rest[len..]);
    Some(match rest.strip_prefix('半') {
        Some(after) => (minutes.saturating_add(unit.div_ceil(2)), unit, after),
        None => (minutes, unit, rest),
    })
}

/// The first digit after the point.
fn tenths(part: u64) -> u64 {
    let mut first = part;
    while first >= 10 {
        first /= 10;
    }
    first
}

/// A number at the beginning, in digits or in Chinese characters.
fn number(text: &str) -> Option<(u64, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    if digits > 0 {
        return Some((text[..digits].parse().unwrap_or(u64::MAX), &text[digits..]));
    }
    let digit = |c: char| "〇一二三四五六七八九".chars().position(|known| known == c).map(|at| at as u64);
    let mut value = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        value = match (value, digit(c)) {
            (known, None) if c == '十' => Some(known.unwrap_or(1u64).saturating_mul(10)),
            (known, None) if c == '百' => Some(known.unwrap_or(1u64).saturating_mul(100)),
            (known, None) if c == '千' => Some(known.unwrap_or(1u64).saturating_mul(1000)),
            (None, Some(one)) => Some(one),
            (Some(tens), Some(one)) => Some(tens.saturating_add(one)),
            _ => break,
        };
        rest = &rest[c.len_utf8()..];
    }
    value.map(|value| (value, rest))
}
