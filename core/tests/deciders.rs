//! What a rule's points do under each preset: they are the score under `sphene`, and nothing under the default.

use aizuchi_core::settings::Layers;
use aizuchi_core::trace::{Cause, Outcome};
use aizuchi_core::types::{Author, MessageId, PersonId, Place, Visibility, Voice};
use aizuchi_core::{Effect, Engine, Input, Message, Time, Trace};

fn said(id: u64, name: &str, text: &str) -> Message {
    Message {
        id: MessageId::new(id.to_string()),
        place: Place::room("room"),
        at: Time(id * 1000),
        author: Author { id: PersonId::new(name), name: name.into(), voice: Voice::Person },
        text: text.into(),
        reply: None,
        mentions: Vec::new(),
        mentions_me: false,
        visibility: Visibility::Public,
        backfilled: false,
        heard: None,
    }
}

/// How a question is weighed, and what was decided at once; the last is whether anything is to be said or asked.
fn weighed(settings: &[&str]) -> (Option<Trace>, bool) {
    weighed_as(settings, "what has changed?")
}

/// The same with other words.
fn weighed_as(settings: &[&str], text: &str) -> (Option<Trace>, bool) {
    let mut layers = Layers::default();
    settings.iter().for_each(|setting| layers.add_assignment(setting));
    layers.suggest_for_replay();
    let mut engine = Engine::new(layers.resolve(&|_| None).expect("the settings are sound"));
    let mut out = Vec::new();
    engine.handle(Time(1000), Input::Said(said(1, "alice", "the build is red again")), &mut out);
    out.clear();
    engine.handle(Time(9000), Input::Said(said(9, "bob", text)), &mut out);
    let acts = out.iter().any(|effect| matches!(effect, Effect::Write(_) | Effect::Ask(_)));
    let trace = out.into_iter().find_map(|effect| match effect {
        Effect::Trace(trace) => Some(*trace),
        Effect::Ask(_)
        | Effect::Write(_)
        | Effect::Deliver(_)
        | Effect::Type(_)
        | Effect::Withdraw(_)
        | Effect::Recall(_)
        | Effect::Remember(_)
        | Effect::RunTool(_)
        | Effect::Abort(_)
        | Effect::Received(_)
        | Effect::Updated(_) => None,
    });
    (trace, acts)
}

#[test]
fn points_are_the_score_under_sphene() {
    let (trace, acts) = weighed(&["preset=sphene"]);
    let trace = trace.expect("it is decided");
    assert_eq!(trace.given().collect::<Vec<_>>(), [("question", 20), ("two_people", -20), ("not_mentioned", -10)]);
    assert_eq!((trace.score, trace.p_join, trace.outcome, acts), (Some(0), None, Outcome::Silent, false));
    assert_eq!(trace.cause, Cause::Low { low: 20 });
    // The same talk where the rule is worth enough: it answers.
    let (trace, acts) = weighed(&["preset=sphene", "points.question=95", "response.min_wait_seconds=0"]);
    assert_eq!((trace, acts), (None, true));
}

#[test]
fn points_do_nothing_where_what_was_learnt_decides() {
    let (one, acts) = weighed(&["gates.messages_min=9"]);
    let (other, acts_too) = weighed(&["gates.messages_min=9", "points.question=100", "points.not_mentioned=100"]);
    let one = one.expect("a gate decides");
    assert!(one.p_join.is_some() && one.bar.is_some(), "{one:?}");
    assert_eq!(one.given().count(), 0);
    assert_eq!(one.score, one.p_join.map(|p_join| (100.0 * p_join).round() as u8));
    assert_eq!((Some(one), acts), (other, acts_too));
    // Without what was learnt the same points are the score.
    let (trace, _) = weighed(&["gates.messages_min=9", "score.learned=false", "points.question=100"]);
    assert_eq!(trace.expect("a gate decides").score, Some(85));
}

#[test]
fn a_call_is_worth_more_by_its_odds_whatever_its_points_are() {
    let worth = |settings: &[&str], text: &str| {
        let settings: Vec<&str> = ["gates.messages_min=9"].into_iter().chain(settings.iter().copied()).collect();
        let trace = weighed_as(&settings, text).0.expect("a gate decides");
        (trace.bar.expect("what was learnt decides").worth, trace.p_join.expect("it was guessed"))
    };
    let call = "can anyone tell me what has changed?";
    let (raised, guessed) = worth(&[], call);
    assert!(raised > guessed, "{raised} {guessed}");
    assert_eq!(worth(&["points.calls_for_help=0"], call), (raised, guessed));
    assert_eq!(worth(&["score.call_odds=1"], call), (guessed, guessed));
    // And the other way round: without odds its points count where points decide.
    let (trace, _) = weighed_as(&["gates.messages_min=9", "score.learned=false", "score.call_odds=1"], call);
    let trace = trace.expect("a gate decides");
    assert!(trace.given().any(|given| given == ("calls_for_help", 20)), "{trace:?}");
}
