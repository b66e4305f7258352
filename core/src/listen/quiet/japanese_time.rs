//! 「30分」「明日まで」「午後3時まで」 at the beginning of some words.

use super::when::{Day, LocalTime, MORNING, QuietTime};
use crate::types::Span;

/// How many bytes at the beginning are a time, and which.
pub(super) fn time_at_start(text: &str) -> Option<(usize, QuietTime)> {
    set_phrase(text).or_else(|| clock(text)).or_else(|| span(text)).or_else(|| until_event(text))
}

fn set_phrase(text: &str) -> Option<(usize, QuietTime)> {
    let tomorrow = QuietTime::until(Day::Tomorrow, MORNING);
    let next = |hour: u32| QuietTime::until(Day::Next, hour * 60);
    let phrases: [(&str, QuietTime); 9] = [
        ("明日の朝まで 明日まで あしたまで あすまで 明日の朝までは 明日までは 翌朝まで 翌日まで", tomorrow),
        ("朝まで 朝までは", next(8)),
        ("午前中は 午前中 昼休みまで 昼まで お昼まで 正午まで 昼までは", next(12)),
        ("夕方まで 夕方までは", next(17)),
        ("夜まで 夜までは 今夜まで", next(19)),
        (
            "今日いっぱいは 今日いっぱい 今日一日 今日中は 今日中 今日はもう 今日は 本日は 今晩は 今夜は 今日だけ",
            QuietTime::TODAY,
        ),
        (
            "ちょっとの間だけ 少しの間だけ しばらくのあいだ しばらくの間は しばらくの間 しばらくは しばらく 少しの間 ちょっとの間 当分の間 当分 当面 今は いまは 今だけ 一旦 いったん 会議が終わるまで 終わるまで 話が終わるまで 会議中は 会議の間は ひとまず",
            QuietTime::Usual,
        ),
        (
            "いいと言うまで いいって言うまで いいというまで 良いと言うまで よしと言うまで 私が言うまで 私がいいと言うまで 合図するまで 呼ぶまで 呼ばれるまで 指示があるまで 許可するまで 許可があるまで 解除するまで 次に呼ぶまで \
             ずっと 永遠に 永久に もう二度と 二度と 一生",
            QuietTime::Open,
        ),
        (
            "今週いっぱいは 今週いっぱい 今週は 週明けまで 来週まで 来週までは 月曜まで 月曜日まで",
            QuietTime::until(Day::Weekday(0), MORNING),
        ),
    ];
    let fitting = phrases.iter().flat_map(|(words, time)| words.split_whitespace().map(move |words| (words, *time)));
    let found = fitting.filter(|(words, _)| text.starts_with(words)).max_by_key(|(words, _)| words.len());
    found.map(|(words, time)| (words.len(), time))
}

/// 「会議が終わるまで」「戻ってくるまで」: nobody knows how long that is.
fn until_event(text: &str) -> Option<(usize, QuietTime)> {
    const EVENT_BYTES_MAX: usize = 36;
    let end = text.find("るまで")? + "るまで".len();
    (end <= EVENT_BYTES_MAX).then_some((end, QuietTime::Usual))
}

/// 「午後3時半まで」「17時まで」「17:30まで」.
fn clock(text: &str) -> Option<(usize, QuietTime)> {
    let (rest, half) = match (text.strip_prefix("午後"), text.strip_prefix("午前")) {
        (Some(rest), _) => (rest, Some(12)),
        (None, Some(rest)) => (rest, Some(0)),
        (None, None) => (text, None),
    };
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
    let rest = rest.strip_prefix("まで")?;
    let rest = rest.strip_prefix('は').unwrap_or(rest);
    if hour > 24 || minute > 59 {
        return None;
    }
    let hour = half.map_or(hour % 24, |half| hour % 12 + half);
    let either_half = half.is_none() && (1..12).contains(&hour);
    let until = LocalTime { day: Day::Next, minute: hour as u32 * 60 + minute as u32, either_half };
    Some((text.len() - rest.len(), QuietTime::Until(until)))
}

/// 「30分だけ」「1時間半くらい」「半日」.
fn span(text: &str) -> Option<(usize, QuietTime)> {
    let text_after = text.strip_prefix("あと").or_else(|| text.strip_prefix("これから")).unwrap_or(text);
    let text_after = text_after.strip_prefix("約").unwrap_or(text_after);
    let unit = |rest: &str| {
        let units = [("時間", 60), ("週間", 7 * 24 * 60), ("分", 1), ("日", 24 * 60), ("h", 60), ("min", 1), ("m", 1)];
        units.iter().find(|(word, _)| rest.starts_with(word)).map(|(word, minutes)| (word.len(), *minutes))
    };
    let (minutes, mut rest) =
        if let Some(rest) = text_after.strip_prefix("半時間").or_else(|| text_after.strip_prefix("小一時間")) {
            (if text_after.starts_with('小') { 60 } else { 30 }, rest)
        } else if let Some(rest) = text_after.strip_prefix("半日") {
            (12 * 60, rest)
        } else {
            let (count, rest) = number(text_after)?;
            let (len, minutes) = unit(rest)?;
            let rest = &rest[len..];
            match rest.strip_prefix('半') {
                Some(after) => (count * minutes + minutes / 2, after),
                None => (count * minutes, rest),
            }
        };
    for words in
        ["間", "だけ", "くらい", "ぐらい", "ほど", "程度", "ばかり", "の間", "のあいだ", "でいいから", "は", "、"]
    {
        rest = rest.strip_prefix(words).unwrap_or(rest);
    }
    (minutes > 0 && minutes < 1_000_000).then(|| (text.len() - rest.len(), QuietTime::For(Span::minutes(minutes))))
}

/// A number at the beginning, in digits or in Chinese characters up to ninety-nine.
fn number(text: &str) -> Option<(u64, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    if digits > 0 {
        return Some((text[..digits].parse().ok().filter(|number| *number < 100_000)?, &text[digits..]));
    }
    let digit = |c: char| "〇一二三四五六七八九".chars().position(|known| known == c).map(|at| at as u64);
    let mut value = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        value = match (value, digit(c)) {
            (known, None) if c == '十' => Some(known.unwrap_or(1) * 10),
            (None, Some(one)) => Some(one),
            (Some(tens), Some(one)) => Some(tens + one),
            _ => break,
        };
        rest = &rest[c.len_utf8()..];
    }
    value.map(|value| (value, rest))
}
