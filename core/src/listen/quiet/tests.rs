//! Wordings that people use, and ordinary talk with the same words.

use super::when::{Day, LocalTime, MORNING};
use super::*;
use crate::types::Span;

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty())
}

const WORDINGS: &str = include_str!("../../../tests/words/told_to_be_quiet.txt");
const REGRESSIONS: &str = include_str!("../../../tests/words/told_to_be_quiet_regressions.txt");

fn time_of(mark: &str) -> QuietTime {
    let clock = |hour: &str, minute: &str| hour.parse::<u32>().unwrap() * 60 + minute.parse::<u32>().unwrap();
    match mark {
        "-" => QuietTime::Usual,
        "open" => QuietTime::Open,
        "tomorrow" => QuietTime::until(Day::Tomorrow, MORNING),
        "tonight" => QuietTime::TODAY,
        mark => match mark.split_once(':') {
            Some((hour, minute)) => QuietTime::until(Day::Next, clock(hour, minute)),
            None => QuietTime::For(Span::minutes(mark.parse().unwrap())),
        },
    }
}

/// How many of a half, from the first or the second line on, and those that are heard otherwise than marked.
fn misses(half: usize) -> (usize, Vec<String>) {
    let half: Vec<&str> = lines(WORDINGS).skip(half).step_by(2).collect();
    (half.len(), missed_of(&half))
}

fn missed_of(all: &[&str]) -> Vec<String> {
    let missed = all.iter().filter_map(|line| {
        let (mark, words) = line.split_once(" | ").expect("a time and the words");
        let (words, only_to_it) = words.strip_prefix("@ ").map_or((words, false), |words| (words, true));
        let wanted = Some(time_of(mark));
        let to_it = asked_to_be_quiet(words, SaidTo::Bot);
        let after = asked_to_be_quiet(words, SaidTo::NobodyAfterItsPost);
        let right = to_it == wanted && (only_to_it || after == wanted);
        (!right).then(|| format!("{line}: {to_it:?}, after its post {after:?}"))
    });
    missed.collect()
}

#[test]
fn what_was_once_not_understood_is() {
    let all: Vec<&str> = lines(REGRESSIONS).collect();
    assert_eq!(missed_of(&all), [""; 0]);
}

/// Lines of `quiet_more.txt` of a half that are heard otherwise than marked.
fn misses_of_more(half: usize) -> (usize, Vec<&'static str>) {
    let half: Vec<&str> = lines(include_str!("../../../tests/words/quiet_more.txt")).skip(half).step_by(2).collect();
    let is_right = |line: &&&str| match line.split_once(' ').expect("a mark and a line") {
        ("Q", words) => asked_to_be_quiet(words, SaidTo::Bot).is_some(),
        ("X", words) => asked_to_be_quiet(words, SaidTo::Bot).is_none(),
        ("N", words) => asked_to_be_quiet(words, SaidTo::NobodyAfterItsQuestion).is_none(),
        (mark, _) => panic!("unknown mark {mark}"),
    };
    (half.len(), half.iter().filter(|line| !is_right(line)).copied().collect())
}

#[test]
fn answers_to_its_question_are_no_orders_and_requests_with_a_reason_are() {
    let (all, missed) = misses_of_more(0);
    println!("tuned: {} of {all} right; missed: {missed:#?}", all - missed.len());
    assert!(20 * missed.len() <= all, "{missed:#?}");
}

#[test]
fn an_answer_to_its_question_is_no_order() {
    let wrong = lines(include_str!("../../../tests/words/answers_to_its_question.txt"))
        .filter(|line| asked_to_be_quiet(line, SaidTo::NobodyAfterItsQuestion).is_some());
    assert_eq!(wrong.collect::<Vec<_>>(), [""; 0]);
    for order in ["be quiet", "please stop talking", "shut up for an hour", "静かにして", "もう黙って"] {
        assert!(asked_to_be_quiet(order, SaidTo::NobodyAfterItsQuestion).is_some(), "{order}");
    }
}

#[test]
fn answers_and_requests_kept_apart() {
    let (all, missed) = misses_of_more(1);
    println!("held out: {} of {all} right", all - missed.len());
    assert!(20 * missed.len() <= all, "{} of {all} missed", missed.len());
}

fn assert_heard(half: usize, name: &str) {
    let (all, missed) = misses(half);
    println!("{name}: {} of {all} heard; missed: {missed:#?}", all - missed.len());
    assert!(all >= 70 && 20 * missed.len() <= all, "{name}: {} of {all} missed: {missed:#?}", missed.len());
}

#[test]
fn it_is_told_to_be_quiet_in_many_words() {
    assert_heard(0, "tuned");
}

#[test]
fn wordings_kept_apart() {
    assert_heard(1, "held out");
}

#[test]
fn ordinary_talk_silences_nobody() {
    let ordinary: Vec<&str> = lines(include_str!("../../../tests/words/ordinary.txt")).collect();
    let wrong = ordinary.iter().filter(|line| {
        let words = line.strip_prefix("@ ");
        let to_it = words.is_some_and(|words| asked_to_be_quiet(words, SaidTo::Bot).is_some());
        to_it || asked_to_be_quiet(words.unwrap_or(line), SaidTo::NobodyAfterItsPost).is_some()
    });
    let wrong: Vec<&&str> = wrong.collect();
    assert!(ordinary.len() >= 220 && wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), ordinary.len());
}

#[test]
fn it_is_allowed_to_talk_again() {
    let missed: Vec<&str> =
        lines(include_str!("../../../tests/words/talk_again.txt")).filter(|line| !allowed_to_talk(line)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    let ordinary = lines(include_str!("../../../tests/words/ordinary.txt")).map(|line| line.trim_start_matches("@ "));
    let told = lines(WORDINGS)
        .chain(lines(REGRESSIONS))
        .map(|line| line.split_once(" | ").expect("a time and the words").1.trim_start_matches("@ "));
    let wrong: Vec<&str> = ordinary.chain(told).filter(|line| allowed_to_talk(line)).collect();
    assert!(
        wrong.iter().all(|line| ["@ don't be quiet", "don't be quiet", "もっと喋って"].contains(line)),
        "{wrong:#?}"
    );
}

#[test]
fn said_to_nobody_only_plain_words_let_it_talk_again() {
    let heard = |text: &'static str| lines(text).filter(|line| plainly_allowed_to_talk(line)).collect::<Vec<&str>>();
    let plain = heard(include_str!("../../../tests/words/talk_again.txt"));
    assert!(
        plain.len() >= 25 && plain.contains(&"you can talk again") && plain.contains(&"もう話していいよ"),
        "{plain:#?}"
    );
    assert_eq!(heard(include_str!("../../../tests/words/not_talk_again.txt")), [""; 0]);
    let ordinary = lines(include_str!("../../../tests/words/ordinary.txt")).map(|line| line.trim_start_matches("@ "));
    assert_eq!(ordinary.filter(|line| plainly_allowed_to_talk(line)).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn a_request_whose_time_cannot_be_read_lasts_the_usual_time() {
    for text in [
        "be quiet for never",
        "be quiet for -5 minutes",
        "be quiet for 0 minutes",
        "shut up until blorf",
        "-5分黙ってて",
    ] {
        assert_eq!(asked_to_be_quiet(text, SaidTo::Bot), Some(QuietTime::Usual), "{text}");
    }
}

#[test]
fn only_the_request_itself_counts() {
    for text in ["be quiet", " Quiet please! ", ", shut up.", "静かにして！", "、黙って。"] {
        assert!(asked_to_be_quiet(text, SaidTo::Bot).is_some(), "{text}");
    }
    for text in [
        "why is it so quiet here?",
        "静かにしてたのに",
        "he told me to shut up",
        "",
        "quiet?",
        "静かに？",
        "be quite honest",
    ] {
        assert_eq!(asked_to_be_quiet(text, SaidTo::Bot), None, "{text}");
    }
}

#[test]
fn times_of_the_clock_may_be_of_either_half_of_the_day() {
    let five = QuietTime::Until(LocalTime { day: Day::Next, minute: 5 * 60, either_half: true });
    for (text, time) in [
        ("be quiet until 5", five),
        ("5時まで静かにして", five),
        ("be quiet until 5 o'clock please", five),
        ("be quiet till 5 in the afternoon", QuietTime::until(Day::Next, 17 * 60)),
        ("be quiet until monday", QuietTime::until(Day::Weekday(0), MORNING)),
        ("be quiet for 1.5 hours", QuietTime::For(Span::minutes(90))),
        ("be quiet for a couple of hours", QuietTime::For(Span::minutes(120))),
        ("二十五分静かにして", QuietTime::For(Span::minutes(25))),
        ("be quiet for the rest of the week", QuietTime::until(Day::Weekday(0), MORNING)),
        ("be quiet until friday 5pm", QuietTime::until(Day::ThisWeekday(4), 17 * 60)),
        ("be quiet until 5pm on friday", QuietTime::until(Day::ThisWeekday(4), 17 * 60)),
        ("be quiet until next friday at 17:30", QuietTime::until(Day::Weekday(4), 17 * 60 + 30)),
        ("be quiet until friday at 5", QuietTime::until(Day::ThisWeekday(4), 17 * 60)),
        ("be quiet until tomorrow 9am", QuietTime::until(Day::Tomorrow, 9 * 60)),
        ("be quiet until 6 tonight", QuietTime::until(Day::Next, 18 * 60)),
        ("be quiet until the end of the month", QuietTime::until(Day::NextMonth, MORNING)),
        ("be quiet for the rest of the year", QuietTime::until(Day::NextYear, MORNING)),
        ("be quiet until the day after tomorrow", QuietTime::until(Day::InDays(2), MORNING)),
        ("金曜の17時まで静かにして", QuietTime::until(Day::ThisWeekday(4), 17 * 60)),
        ("来週の金曜日の午後5時半まで黙ってて", QuietTime::until(Day::WeekdayOfNextWeek(4), 17 * 60 + 30)),
        ("来週月曜の9時まで黙ってて", QuietTime::until(Day::WeekdayOfNextWeek(0), 9 * 60)),
        ("明日の朝9時まで黙ってて", QuietTime::until(Day::Tomorrow, 9 * 60)),
        ("金曜の夕方5時まで黙ってて", QuietTime::until(Day::ThisWeekday(4), 17 * 60)),
        ("4月10日まで黙ってて", QuietTime::until(Day::Date { month: 4, day: 10 }, MORNING)),
        ("4月10日の17時まで黙ってて", QuietTime::until(Day::Date { month: 4, day: 10 }, 17 * 60)),
        ("10日まで静かに", QuietTime::until(Day::OfMonth(10), MORNING)),
        ("10月まで黙ってて", QuietTime::until(Day::Date { month: 10, day: 1 }, MORNING)),
        ("3日間黙ってて", QuietTime::For(Span::minutes(3 * 24 * 60))),
        ("週末まで黙ってて", QuietTime::until(Day::Weekday(5), MORNING)),
        ("週末は静かにして", QuietTime::until(Day::Weekday(0), MORNING)),
        ("be quiet over the weekend", QuietTime::until(Day::Weekday(0), MORNING)),
        ("be quiet until friday, 5pm", QuietTime::until(Day::ThisWeekday(4), 17 * 60)),
        ("be quiet until 5pm, friday, please", QuietTime::until(Day::ThisWeekday(4), 17 * 60)),
        ("be quiet until monday morning 9", QuietTime::until(Day::ThisWeekday(0), 9 * 60)),
        ("be quiet until april 10", QuietTime::until(Day::Date { month: 4, day: 10 }, MORNING)),
        ("be quiet until april 10th, 5pm", QuietTime::until(Day::Date { month: 4, day: 10 }, 17 * 60)),
        ("be quiet until the 10th of april", QuietTime::until(Day::Date { month: 4, day: 10 }, MORNING)),
        ("be quiet until the 10th", QuietTime::until(Day::OfMonth(10), MORNING)),
        ("明日の正午まで黙ってて", QuietTime::until(Day::Tomorrow, 12 * 60)),
        ("今週いっぱい静かにしてて", QuietTime::until(Day::Weekday(0), MORNING)),
        ("今月いっぱい黙ってて", QuietTime::until(Day::NextMonth, MORNING)),
        ("1.5時間静かにして", QuietTime::For(Span::minutes(90))),
        ("be quiet for an hour, thirty minutes", QuietTime::For(Span::minutes(90))),
        ("be quiet for 99999999999999999999999 hours", QuietTime::Open),
        ("十十十十十十十十十十十十十十十十十十十十十十十時間静かにして", QuietTime::Open),
    ] {
        assert_eq!(asked_to_be_quiet(text, SaidTo::Bot), Some(time), "{text}");
    }
}

#[test]
fn a_permission_to_somebody_else_or_for_later_lifts_nothing() {
    for text in [
        "明日からまた話していいよ",
        "来週から話していいよ",
        "10時からまた話していいよ",
        "また話そうね",
        "you can talk again, bob",
        "also, carol, you can talk now",
        "hey bob, you can talk again",
        "ボブ、もう話していいよ",
        "ボブさん、もう話していいよ",
        "もう話していいよ、bob",
        "can you talk?",
        "can you talk again?",
    ] {
        assert!(!allowed_to_talk(text), "{text}");
    }
    assert!(plainly_allowed_to_talk("the meeting is over, you can talk again"));
}

#[test]
fn signs_without_end_hide_no_request() {
    let text = format!("be quiet{}", "!".repeat(200));
    assert_eq!(asked_to_be_quiet(&text, SaidTo::Bot), Some(QuietTime::Usual));
}

#[test]
fn until_told_otherwise_is_not_until_called() {
    for (text, time) in [
        ("be quiet until I tell you otherwise", QuietTime::Open),
        ("いいと言うまで黙ってて", QuietTime::Open),
        ("be quiet until my call is over", QuietTime::Usual),
        ("be quiet until I call the bank", QuietTime::Usual),
    ] {
        assert_eq!(asked_to_be_quiet(text, SaidTo::Bot), Some(time), "{text}");
    }
}

#[test]
fn what_repeats_itself_is_read_in_no_time() {
    // Every word of these may be taken in several ways: all of them together are too many to try.
    for text in [
        "my god ".repeat(28),
        "please stop it now ".repeat(10),
        "ねー".repeat(60),
        format!("静かにして{}る", "ねー".repeat(25)),
        "ちょっともう少し".repeat(7),
        "my god ".repeat(57),
        "be quiet until friday, ".repeat(17),
        "ねー".repeat(199),
    ] {
        for said_to in [SaidTo::Bot, SaidTo::NobodyAfterItsPost] {
            let _ = asked_to_be_quiet(&text, said_to);
        }
        assert!(!allowed_to_talk(&text), "{text}");
    }
}
