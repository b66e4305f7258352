//! Everything that can be decided has its sentence, in every language.

use aizuchi_core::effect::Excuse;
use aizuchi_core::gates::GATES;
use aizuchi_core::likelihood::{FEATURES, reason_ids};
use aizuchi_core::points::RULES;
use aizuchi_core::trace::{
    Bar, Cause, ChunkProgress, Closed, Features, Outcome, Response, RestStopped, Stage, Trace, Unheard,
};
use aizuchi_core::types::{Addressed, Author, Message, MessageId, PersonId, Place, RoomId, Span, State, Time};
use aizuchi_core::types::{Visibility, Voice};

use super::*;
use crate::commands::COMMANDS;
use crate::language::Language;

fn trace(cause: Cause) -> Trace {
    let message = Message {
        id: MessageId::new("m1"),
        place: Place { room: RoomId::new("web:lobby"), thread: None },
        at: Time(0),
        author: Author { id: PersonId::new("u1"), name: "alice".into(), voice: Voice::Person },
        text: "hello".into(),
        reply: None,
        mentions: Vec::new(),
        mentions_me: false,
        visibility: Visibility::Public,
        backfilled: false,
        heard: None,
    };
    let passed_over = Trace::passed_over(&message, Unheard::Itself);
    Trace { cause, outcome: Outcome::Silent, stage: Stage::Post, ..passed_over }
}

fn every_unheard() -> Vec<Unheard> {
    let (late, limit) = (Span::minutes(11), Span::minutes(10));
    let all = vec![
        Unheard::Itself,
        Unheard::Empty,
        Unheard::Direct,
        Unheard::ChannelOff,
        Unheard::OtherBot,
        Unheard::BotNotAnswered,
        Unheard::Repeated,
        Unheard::Late,
        Unheard::TooLate { late, limit, away: false },
        Unheard::TooLate { late, limit, away: true },
        Unheard::Missed { late },
    ];
    // A new variant belongs into the list above.
    for unheard in &all {
        match unheard {
            Unheard::Itself | Unheard::Empty | Unheard::Direct | Unheard::ChannelOff | Unheard::OtherBot => (),
            Unheard::BotNotAnswered | Unheard::Repeated | Unheard::Late => (),
            Unheard::TooLate { .. } | Unheard::Missed { .. } => (),
        }
    }
    all
}

fn every_cause() -> Vec<Cause> {
    let by = || MessageId::new("m2");
    let mut all: Vec<Cause> = every_unheard().into_iter().map(Cause::Unheard).collect();
    all.extend([Addressed::Mention, Addressed::Name, Addressed::Reply, Addressed::Turn].map(Cause::Addressed));
    for state in [None, Some(State::Ending), Some(State::Misunderstanding), Some(State::Conflict), Some(State::Active)]
    {
        for (reason, delay) in [("", 0), ("why not", 0), ("", 5), ("why not", 5)] {
            all.push(Cause::SaidYes { reason: reason.into(), delay: Span::seconds(delay), state });
        }
    }
    all.extend([
        Cause::ToldToBeQuiet(Span::minutes(30)),
        Cause::ToldToBeQuietUntilLifted,
        Cause::Thanked,
        Cause::Unlikely,
        Cause::Likely,
        Cause::Low { low: 20 },
        Cause::High { high: 80 },
        Cause::OverThreshold { threshold: 50 },
        Cause::UnderThreshold { threshold: 50 },
        Cause::Closed(Closed { have: 1, need: 2 }),
        Cause::Ending,
        Cause::Unchanged,
        Cause::SaidNo { reason: "".into() },
        Cause::SaidNo { reason: "they are busy".into() },
        Cause::Failed { what: "timed out".into() },
        Cause::Excused { what: "timed out".into() },
        Cause::CancelledBy(by()),
        Cause::SupersededBy(by()),
        Cause::PartOf(by()),
        Cause::AnsweredBy(by()),
        Cause::AnsweredInstead(by()),
        Cause::TooMany,
        Cause::Deleted,
        Cause::Forgotten,
        Cause::Stale { overdue: Span::seconds(90) },
        Cause::NothingToSay,
        Cause::Repeated,
        Cause::Scheduled,
        Cause::Undecided,
    ]);
    all.iter().for_each(is_listed);
    all
}

/// A new variant belongs into the list above.
fn is_listed(cause: &Cause) {
    match cause {
        Cause::Unheard(_)
        | Cause::Addressed(_)
        | Cause::ToldToBeQuiet(_)
        | Cause::ToldToBeQuietUntilLifted
        | Cause::Thanked
        | Cause::Unlikely
        | Cause::Likely => (),
        Cause::Low { .. } | Cause::High { .. } | Cause::OverThreshold { .. } | Cause::UnderThreshold { .. } => (),
        Cause::Closed(_) | Cause::Ending | Cause::Unchanged | Cause::SaidNo { .. } | Cause::SaidYes { .. } => (),
        Cause::Failed { .. } | Cause::Excused { .. } | Cause::CancelledBy(_) | Cause::SupersededBy(_) => (),
        Cause::PartOf(_) | Cause::AnsweredBy(_) | Cause::AnsweredInstead(_) | Cause::TooMany => (),
        Cause::Deleted | Cause::Forgotten | Cause::Stale { .. } | Cause::NothingToSay => (),
        Cause::Repeated | Cause::Scheduled | Cause::Undecided => (),
    }
}

/// An argument that a sentence needs and does not get is a panic in a test; a key without words is the key itself.
#[test]
fn every_cause_has_its_sentence_in_every_language() {
    for language in Language::ALL {
        for cause in every_cause() {
            for stage in [Stage::Judge, Stage::Post] {
                let told = sentence(&Trace { stage, ..trace(cause.clone()) }, language);
                assert!(!told.contains("cause-") && !told.contains("unheard-") && !told.contains('{'), "{told}");
            }
        }
        for gate in GATES {
            let closed = Cause::Closed(Closed { have: 90, need: 600 });
            let told = sentence(&Trace { gate: Some(gate.id.into()), ..trace(closed) }, language);
            assert!(!told.contains("gate-") && !told.contains('{'), "{told}");
            assert!(!language.text(&format!("gate-{}", gate.id)).contains("gate-"));
            assert!(!language.text(&format!("gate-{}.doc", gate.id)).contains("gate-"));
        }
        let stopped = [
            RestStopped::Muted,
            RestStopped::Deleted,
            RestStopped::Forgotten,
            RestStopped::Overdue(Span::minutes(20)),
            RestStopped::Failed("no permission".into()),
        ];
        for (of, stopped) in [(1, None)].into_iter().chain(stopped.map(|why| (3, Some(why)))) {
            let chunks = Some(ChunkProgress { of, later: Vec::new(), stopped });
            let told = sentence(&Trace { chunks, ..trace(Cause::Likely) }, language);
            assert!(!told.contains("posts-") && !told.contains('{') && told.contains(&of.to_string()), "{told}");
        }
        for response in Response::ALL {
            let told = sentence(&Trace { received: Some(response), ..trace(Cause::Likely) }, language);
            assert!(!told.contains("received-"), "{told}");
        }
    }
}

#[test]
fn every_rule_reason_feature_command_and_excuse_has_its_words_in_every_language() {
    for language in Language::ALL {
        let addressed = [Addressed::Mention, Addressed::Name, Addressed::Reply, Addressed::Turn].map(Addressed::id);
        let mut keys: Vec<String> = Vec::new();
        for rule in RULES.iter().map(|rule| rule.id).chain(addressed) {
            keys.extend([format!("rule-{rule}"), format!("rule-{rule}.doc")]);
        }
        keys.extend(reason_ids().map(|id| format!("because-{id}")));
        keys.extend(FEATURES.iter().map(|feature| format!("feature-{}", feature.id)));
        for spec in COMMANDS {
            let parts = ["", ".alias", ".example", ".manual"].into_iter();
            let parts = parts.chain(spec.argument.as_ref().map(|_| ".argument"));
            keys.extend(parts.map(|part| format!("command-{}{part}", spec.name)));
        }
        for key in keys {
            assert!(Language::has(&key) && language.text(&key) != key, "{key} in {language:?}");
        }
        for excuse in [Excuse::NoWords, Excuse::TooMany, Excuse::BudgetSpent] {
            assert!(!super::format_excuse(excuse, language).contains("excuse-"), "{excuse:?} in {language:?}");
        }
    }
}

#[test]
fn a_decision_reads_as_a_sentence() {
    let by_points = Trace {
        score: Some(40),
        points: aizuchi_core::settings::Points::from([("question", 20), ("not_mentioned", -5)]),
        ..trace(Cause::Low { low: 40 })
    };
    let bar = Bar { threshold: 0.361, worth: 0.72, welcome: 0.9 };
    let learnt = Trace {
        p_join: Some(0.389),
        bar: Some(bar),
        received: Some(Response::ToldOff),
        answered_with: Some(MessageId::new("m9")),
        ..trace(Cause::Likely)
    };
    let unlikely = Trace { p_join: Some(0.001), features: Features::default(), ..trace(Cause::Unlikely) };
    let gate =
        |id: &'static str| Trace { gate: Some(id.into()), ..trace(Cause::Closed(Closed { have: 90, need: 600 })) };
    let japanese = Language::from_id("ja").expect("there is Japanese");
    let cases = [
        (
            by_points,
            "Stayed silent: too little reason to speak (at most 40). Score 40 (question +20, not mentioned -5).",
            "黙っていた：話す理由が足りません（40点以下）。 スコア 40（質問 +20、名前が出ない -5）。",
        ),
        (
            learnt,
            "Stayed silent: enough reason to speak without asking the judge. 39 % chance that someone new would join here; \
             raised to 72 % because it asks for help or contains a keyword; needs 36 %, more than usual because it was less \
             welcome here lately. The post that answers m9 also answers this. Somebody complained about it.",
            "黙っていた：判定するまでもなく、十分な理由があります。 新しい人がここで加わる見込みは39 %。\
             助けを求めているかキーワードを含むので72 %に引き上げ。\
             必要なのは36 %（最近あまり歓迎されていないので、いつもより高め）。 m9 への投稿が、これにも答えています。 注意されました。",
        ),
        (
            unlikely,
            "Stayed silent: too little reason to speak. <1 % chance that someone new would join here.",
            "黙っていた：話す理由が足りません。 新しい人がここで加わる見込みは<1 %。",
        ),
        (
            gate("interval"),
            "Stayed silent: it spoke up 1 min 30 s ago and waits at least 10 min in between.",
            "黙っていた：1分30秒前に話したばかりで、10分は間をあけます。",
        ),
        (gate("of another version"), "Stayed silent: held back.", "黙っていた：控えました。"),
        (
            trace(Cause::SaidYes {
                reason: "two of them disagree".into(),
                delay: Span::seconds(5),
                state: Some(State::Conflict),
            }),
            "Stayed silent: the judge said yes (conflict), and to wait 5 s: two of them disagree.",
            "黙っていた：判定役は「はい、5秒待って」と言いました（対立）：two of them disagree.",
        ),
    ];
    for (trace, in_english, in_japanese) in cases {
        assert_eq!(sentence(&trace, Language::ENGLISH), in_english);
        assert_eq!(sentence(&trace, japanese), in_japanese);
    }
}

/// As the page reads it.
#[test]
fn why_is_data() {
    let quiet = Trace { p_join: Some(0.389), ..trace(Cause::CancelledBy(MessageId::new("m2"))) };
    let told = serde_json::to_value(why(&quiet)).expect("messages are plain data");
    let wanted = serde_json::json!([
        ["cause-cancelled", {"by": {"message": "m2"}}],
        ["likelihood", {"chance": {"said": ["chance", {"p": {"percent": 39}}]}}],
    ]);
    assert_eq!(told, wanted);
    let quiet = trace(Cause::ToldToBeQuiet(Span::minutes(30)));
    let told = serde_json::to_value(why(&quiet)).expect("messages are plain data");
    assert_eq!(told, serde_json::json!([["cause-told-to-be-quiet", {"author": "alice", "span": {"span": 1_800_000}}]]));
}
