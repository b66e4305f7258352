//! What the page must hold, whatever was said.

use aizuchi_core::effect::{Cause, Outcome, QuestionTrace, Stage, Trace};
use aizuchi_core::judge::Question;
use aizuchi_core::listen::Addressed;
use aizuchi_core::settings::Points;
use aizuchi_core::trace::Bar;
use aizuchi_core::types::{MessageId, PersonId, Place, Span, Time};

use super::html;
use crate::replay::{Decided, Replay};

fn silent(nth: u64, author: &str, text: &str) -> Decided {
    let trace = Trace {
        author_id: PersonId::new(author),
        message: MessageId::new(format!("m{nth}")),
        place: Place::room("general"),
        at: Time(1_700_000_000_000 + nth * 60_000),
        author: author.into(),
        score: Some(0),
        points: Points::default(),
        addressed: None,
        p_join: None,
        p_turn: None,
        its_turn: false,
        conversation: None,
        features: Default::default(),
        parts: Default::default(),
        bar: None,
        received: None,
        reply_to_guess: None,
        asked: Vec::new(),
        tools: Vec::new(),
        outcome: Outcome::Silent,
        stage: Stage::Score,
        gate: None,
        cause: Cause::Low { low: 20 },
        acted_at: None,
        answered_with: None,
        chunks: None,
        heard_as: None,
        micros: 0,
    };
    Decided { trace, text: text.into() }
}

fn judged(nth: u64, author: &str, text: &str, outcome: Outcome, answer: &str) -> Decided {
    let mut decided = silent(nth, author, text);
    let trace = &mut decided.trace;
    trace.points = [("question", 30)].into();
    trace.score = Some(30);
    (trace.outcome, trace.stage, trace.micros) = (outcome, Stage::Post, 1_000_000);
    trace.cause = Cause::SaidYes { reason: answer.into(), delay: Span::ZERO, state: None };
    let (question, at) = (Question::Judge, trace.at);
    trace.asked = vec![QuestionTrace {
        question,
        at,
        prompt_chars: 500,
        answer: answer.trim_start_matches("failed: ").into(),
        cached: false,
        failed: answer.starts_with("failed: "),
    }];
    trace.acted_at = Some(at + Span::seconds(5));
    decided
}

fn replay(decided: Vec<Decided>) -> Replay {
    Replay {
        log: "general.jsonl".into(),
        preset: "default".into(),
        changes: vec!["score.low=25".into()],
        judge: "offline".into(),
        bad_lines: 3,
        decided,
        low: 20,
        high: 70,
        remembered: None,
        language: crate::language::Language::ENGLISH,
    }
}

/// What is on the page, tags taken out and spaces made single.
fn read(page: &str) -> String {
    let body = &page[page.find("<body>").expect("a page has a body")..page.find("<script>").expect("a script follows")];
    let pieces = body.split('<').map(|piece| piece.split_once('>').map_or("", |(_, text)| text));
    pieces.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

#[test]
fn hostile_words_stay_words() {
    let evil = "\"><script>alert(1)</script><img src=x onerror=alert(2)> {{ 7 * 7 }} \u{202e}drow\nnext";
    let mut told = judged(1, evil, evil, Outcome::Replies, evil);
    told.trace.place = Place::room(evil);
    told.trace.gate = Some(evil.to_owned().into());
    let mut refused = judged(2, evil, evil, Outcome::Silent, evil);
    refused.trace.cause = Cause::SaidNo { reason: evil.into() };
    let mut replay = replay(vec![told, refused]);
    (replay.log, replay.preset, replay.judge) = (evil.into(), evil.into(), evil.into());
    replay.changes = vec![evil.into()];
    let page = html(&replay);
    assert_eq!(page.matches("<script>").count(), 1, "only our own script");
    assert_eq!(page.matches("<img").count(), 0);
    assert!(!page.contains('\u{202e}'));
    assert!(page.contains("{{ 7 * 7 }}"));
    assert!(page.contains("alert(2)&gt;"));
}

#[test]
fn the_same_replay_gives_the_same_bytes() {
    let talk = || (0..2000).map(|nth| judged(nth, "alice", "?", Outcome::Reacts, "YES")).collect();
    assert_eq!(html(&replay(talk())), html(&replay(talk())));
}

#[test]
fn the_figures_are_on_the_page() {
    let mut talk: Vec<Decided> = (0..1996).map(|nth| silent(nth, "bob", "hm")).collect();
    talk.push(judged(1996, "alice", "Who knows Rust?", Outcome::Replies, "YES nobody else knows"));
    talk.push(judged(1997, "alice", "done", Outcome::Acknowledges, "YES"));
    talk.push(judged(1998, "alice", "thanks", Outcome::Reacts, "failed: timed out"));
    let mut muted = silent(1999, "carol", "hello?");
    (muted.trace.gate, muted.trace.stage) = (Some("mute".into()), Stage::Gate);
    (muted.trace.addressed, muted.trace.score) = (Some(Addressed::Mention), Some(100));
    talk.push(muted);
    let text = read(&html(&replay(talk)));
    for expected in [
        "In 2,000 messages it would have answered 1",
        "Preset default Judge offline",
        "Changed settings score.low=25",
        "Lines skipped 3 could not be read",
        "Answered 1 0.50 per 1000 messages",
        "Stayed silent 1,997 99.8 % of all",
        "Model calls per 1000 1.5 3 asked, 0 from cache",
        "Prompt characters per 1000 750 1,500 in all",
        "Cost $3.00 $1.50 per 1000 messages",
        "1,999 messages were scored",
        "30–34 3 3 100 %",
        "question ends with a question mark 3 0.2 % +30.0 3",
        "Addressed directly: 1 by mention.",
        "mute it was told to say nothing here 1 under 0.1 %",
        "judge Should it join in? 3 0 1 1,500 500",
        "3 in all.",
        "Answered score 30 2023-11-16 07:29:20Z after 5 s general alice Who knows Rust?",
        "Answered: the judge said yes: YES nobody else knows. Score 30 (question +30).",
        "Stayed silent 2023-11-16 07:32:20Z general carol hello?",
    ] {
        assert!(text.contains(expected), "{expected:?} is missing");
    }
}

#[test]
fn a_preset_without_scores_says_so() {
    let mut talk: Vec<Decided> = (0..50).map(|nth| judged(nth, "a", "b", Outcome::Replies, "YES")).collect();
    talk.iter_mut().for_each(|one| (one.trace.score, one.trace.points) = (None, Points::default()));
    let text = read(&html(&replay(talk)));
    assert!(text.contains("This preset gives no scores"));
    assert!(text.contains("No message was given a score"));
}

#[test]
fn one_channel_is_told_by_time_and_several_by_order() {
    let mut talk: Vec<Decided> = (0..100).map(|nth| silent(nth, "a", "b")).collect();
    assert!(read(&html(&replay(talk.clone()))).contains("100 messages, 59 s a column."));
    talk[99].trace.at = Time(0);
    assert!(read(&html(&replay(talk.clone()))).contains("100 messages, one a column."), "a gap of decades");
    talk[99] = silent(99, "a", "b");
    talk[5].trace.place = Place::room("elsewhere");
    assert!(read(&html(&replay(talk))).contains("100 messages, one a column."));
}

#[test]
fn near_misses_come_with_the_highest_score_first() {
    let scored = |nth, text: &str, score| {
        let mut decided = silent(nth, "a", text);
        decided.trace.score = Some(score);
        decided
    };
    let mut overtaken = scored(0, "overtaken", 90);
    overtaken.trace.cause = Cause::PartOf(MessageId::new("m1"));
    let mut refused = scored(3, "refused", 50);
    refused.trace.cause = Cause::SaidNo { reason: "".into() };
    let talk = vec![overtaken, scored(1, "nothing", 0), scored(2, "closed", 50), refused, scored(4, "nearest", 55)];
    let text = read(&html(&replay(talk)));
    let misses = &text[text.rfind("Near misses").unwrap()..];
    let position = |word: &str| misses.find(&format!(" a {word} ")).unwrap_or_else(|| panic!("{word} is missing"));
    assert!(position("nearest") < position("refused") && position("refused") < position("closed"));
    assert!(!misses.contains(" a overtaken ") && !misses.contains(" a nothing "));
}

#[test]
fn an_empty_log_has_a_page() {
    let text = read(&html(&replay(Vec::new())));
    assert!(text.contains("There are no messages in this log."));
    assert!(text.contains("It would not have spoken once."));
}

#[test]
fn times_out_of_this_world_have_a_page() {
    let mut talk: Vec<Decided> = (0..3).map(|nth| judged(nth, "a", "b", Outcome::Replies, "YES")).collect();
    (talk[0].trace.at, talk[1].trace.at) = (Time(0), Time(u64::MAX));
    assert!(read(&html(&replay(talk.clone()))).contains("18446744073709551615 ms"));
    talk.iter_mut().for_each(|one| one.trace.at = Time(u64::MAX));
    html(&replay(talk));
}

#[test]
fn a_long_log_stays_a_small_page() {
    let words = "雨の日の<散歩>& \"話\" ".repeat(40);
    let talk = (0..200_000).map(|nth| match nth % 7 {
        0 => judged(nth, "さくら", &words, Outcome::Replies, &words),
        1 => judged(nth, "さくら", &words, Outcome::Reacts, "YES"),
        _ => silent(nth, "健太", "うん"),
    });
    let page = html(&replay(talk.collect()));
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    assert!(page.contains("300 of them are shown, spread evenly over the log, and 56,844 are left out"));
}

/// Weighed by the talk share: worth as much as given, against this threshold.
fn shared(nth: u64, worth: f32, threshold: f32) -> Decided {
    let mut decided = silent(nth, "bob", "hm");
    (decided.trace.score, decided.trace.p_join) = (Some(12), Some(0.12));
    decided.trace.bar = Some(Bar { threshold, worth, welcome: 1.0 });
    decided
}

#[test]
fn where_the_talk_share_decides_its_threshold_is_drawn() {
    let page = html(&replay(vec![shared(0, 0.4, 0.36), shared(1, 0.2, 0.5), shared(2, 0.3, 0.44)]));
    let text = read(&page);
    assert!(text.contains("needs 44 %") && text.contains("needed by the talk share"), "{text}");
    assert!(!text.contains("low 20"), "{text}");
    // Its way through the columns, upside down, beside bars as high as what the messages count as.
    assert!(page.contains("<path class=\"threshold\" d=\"M0.5 64h0L1.5 50L2.5 56\"/>"), "{page}");
    assert!(page.contains("M0.1 100V60h0.8V100z"), "{page}");
    let by_points = read(&html(&replay(vec![silent(0, "bob", "hm")])));
    assert!(by_points.contains("low 20") && !by_points.contains("needs"), "{by_points}");
}
