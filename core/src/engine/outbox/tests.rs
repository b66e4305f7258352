//! An answer in three posts, and what may happen between them.

use crate::effect::{Delivery, Effect, Excuse, Failure, Kind, Post, Usage};
use crate::engine::deliver;
use crate::engine::tests::{engine, heard};
use crate::input::{Answer, Command};
use crate::memory::ForgetRequest;
use crate::memory::words::Phrases;
use crate::room::{Pending, Phase, PlaceState};
use crate::trace::{Cause, RestStopped, Trace};
use crate::types::{Addressed, Change, ClockShift, Flags, MessageId, PersonId, Place, RoomId, Time};
use crate::{Engine, Input};

const CHUNKS: [&str; 3] = ["quokka one", "quokka two", "quokka three"];

/// Three paragraphs, each a post.
fn words() -> String {
    CHUNKS.map(|words| format!("{words} {}", "and so on ".repeat(25).trim())).join("\n\n")
}

/// An engine that was asked something and has sent the first of three posts.
struct Answering {
    engine: Engine,
    now: Time,
    out: Vec<Effect>,
}

impl Answering {
    fn new(settings: &[&str]) -> Answering {
        let mut this = Answering::unwritten(settings);
        this.write(&words());
        this
    }

    /// The same while the answer is being written.
    fn unwritten(settings: &[&str]) -> Answering {
        let settings: Vec<&str> = ["reply.chunks=3"].into_iter().chain(settings.iter().copied()).collect();
        let mut this = Answering { engine: engine(&settings), now: Time(0), out: Vec::new() };
        let (at, input) = heard(1, "mallory", true);
        this.now = at;
        this.handle(input);
        this
    }

    fn handle(&mut self, input: Input) {
        self.engine.handle(self.now, input, &mut self.out);
    }

    /// The next words that were asked for are these.
    fn write(&mut self, words: &str) {
        let asked = self.take(|effect| if let Effect::Write(brief) = effect { Some(brief.call.clone()) } else { None });
        let answer = Answer { text: words.into(), usage: Usage::default() };
        self.handle(Input::Written(asked.expect("words are asked for"), Ok(answer)));
    }

    fn take<T>(&mut self, find: impl Fn(&Effect) -> Option<T>) -> Option<T> {
        let index = self.out.iter().position(|effect| find(effect).is_some())?;
        find(&self.out.remove(index))
    }

    /// The next post that has left.
    fn leaves(&mut self) -> Option<Delivery> {
        self.take(|effect| if let Effect::Deliver(delivery) = effect { Some((**delivery).clone()) } else { None })
    }

    /// It has left, and people see it under this id.
    fn post(&mut self, id: &str) -> Delivery {
        let delivery = self.leaves().expect("a post leaves");
        self.handle(Input::Delivered(delivery.call.clone(), Ok(vec![MessageId::new(id)])));
        delivery
    }

    /// Time runs until something is due.
    fn wait(&mut self) {
        self.now = self.engine.next_deadline().expect("something is due");
        self.handle(Input::Tick);
    }

    fn delete(&mut self, id: &str) {
        let change = Change { place: Place::room("room"), id: MessageId::new(id), at: self.now, text: None };
        self.handle(Input::Changed(change));
    }

    fn withdrawn(&mut self) -> Option<Vec<MessageId>> {
        self.take(|effect| if let Effect::Withdraw(gone) = effect { Some(gone.posts.clone()) } else { None })
    }

    /// How many posts were sent by the decision as it is known last, and why no more.
    fn progress(&mut self) -> Option<(u32, Option<RestStopped>)> {
        let told = self.out.iter().rev().find_map(|effect| match effect {
            Effect::Updated(trace) | Effect::Trace(trace) => trace.chunks.clone(),
            _ => None,
        })?;
        Some((told.posted(), told.stopped))
    }

    fn place(&self) -> &PlaceState {
        self.engine.rooms[0].place(None).expect("a room has its channel")
    }

    /// What it remembers to have said.
    fn own_words(&self) -> Vec<String> {
        self.place()
            .buffer
            .iter()
            .filter(|heard| heard.flags.has(Flags::OWN))
            .map(|own| own.text().to_owned())
            .collect()
    }

    fn is_idle(&self) -> bool {
        self.place().is_at_rest()
    }
}

#[test]
fn an_answer_in_three_posts_counts_once_and_is_remembered_as_one() {
    let mut life = Answering::new(&[]);
    assert_eq!(life.post("p1").reply_to().as_str(), "1");
    assert!(life.take(|effect| matches!(effect, Effect::Type(_)).then_some(())).is_some(), "it is seen writing");
    assert!(life.leaves().is_none());
    let first = words().split("\n\n").next().map(str::to_owned);
    assert_eq!(life.own_words(), Vec::from_iter(first), "what is not out is not said");
    for id in ["p2", "p3"] {
        life.wait();
        assert!(life.post(id).continues);
    }
    assert!(life.is_idle());
    assert_eq!(life.progress(), Some((3, None)));
    assert_eq!(life.own_words(), [words().replace("\n\n", "\n")]);
    assert_eq!(life.engine.rooms[0].answered.len(), 1);
    assert_eq!(life.out.iter().filter(|effect| matches!(effect, Effect::Trace(_))).count(), 1);
}

#[test]
fn a_deleted_question_takes_back_what_is_out_and_what_was_under_way() {
    let mut life = Answering::new(&[]);
    life.post("p1");
    life.wait();
    let under_way = life.leaves().expect("the second post leaves");
    life.delete("1");
    assert_eq!(life.withdrawn(), Some(vec![MessageId::new("p1")]));
    life.handle(Input::Delivered(under_way.call, Ok(vec![MessageId::new("p2")])));
    assert_eq!(life.withdrawn(), Some(vec![MessageId::new("p2")]));
    assert_eq!(life.progress(), Some((2, Some(RestStopped::Deleted))));
    assert!(life.is_idle() && life.own_words().is_empty());
}

#[test]
fn a_deleted_question_stops_the_rest_where_nothing_is_taken_back() {
    let mut life = Answering::new(&["reply.withdraw_minutes=0"]);
    life.delete("1");
    life.post("p1");
    assert_eq!((life.withdrawn(), life.progress()), (None, Some((1, Some(RestStopped::Deleted)))));
    assert!(life.is_idle());
}

#[test]
fn an_order_stops_the_rest_while_the_first_post_is_under_way() {
    for (order, why) in [
        (Command::Mute(None), RestStopped::Muted),
        (Command::Listen(false), RestStopped::Muted),
        (Command::Reset, RestStopped::Forgotten),
        (Command::Left, RestStopped::Forgotten),
    ] {
        let mut life = Answering::new(&[]);
        life.handle(Input::Told(RoomId::new("room"), order));
        life.post("p1");
        assert_eq!(life.progress(), Some((1, Some(why))), "{order:?}");
        assert!(life.is_idle(), "{order:?}");
    }
}

/// A platform reports an edit when it has added a preview; a moderator deletes one of the posts.
#[test]
fn what_happens_to_a_post_happens_to_the_words_of_its_answer() {
    let mut life = Answering::new(&[]);
    life.post("p1");
    for id in ["p2", "p3"] {
        life.wait();
        life.post(id);
    }
    let all = life.own_words();
    let first = words().split("\n\n").next().map(Into::into);
    let preview = Change { place: Place::room("room"), id: MessageId::new("p1"), at: life.now, text: first };
    life.handle(Input::Changed(preview));
    assert_eq!(life.own_words(), all);
    life.delete("p2");
    assert_eq!(life.own_words(), Vec::<String>::new());
}

#[test]
fn a_first_post_that_fails_is_no_answer() {
    let mut life = Answering::new(&[]);
    let first = life.leaves().expect("the first post leaves");
    life.handle(Input::Delivered(first.call, Err(Failure::new("no permission"))));
    let Some(Effect::Trace(trace)) = life.out.pop() else { panic!("{:?}", life.out) };
    assert_eq!((trace.cause, trace.chunks), (Cause::Failed { what: "no permission".into() }, None));
    assert!(life.is_idle());
}

#[test]
fn a_person_who_is_forgotten_gets_no_rest_and_leaves_no_words() {
    for under_way in [false, true] {
        let mut life = Answering::new(&[]);
        life.post("p1");
        if under_way {
            life.wait();
            life.leaves().expect("the second post leaves");
        }
        let mut phrases = Phrases::default();
        phrases.add("quokka");
        let request = ForgetRequest {
            ids: vec![PersonId::new("mallory")],
            names: vec!["mallory".into()],
            rooms: vec![RoomId::new("room")],
            answers: vec![(RoomId::new("room"), MessageId::new("p1"))],
            phrases,
            ..ForgetRequest::default()
        };
        life.engine.forget(life.now, &request.recognizer(), &mut life.out);
        let left = serde_json::to_string(&life.engine.snapshot()).expect("a snapshot is plain data");
        assert!(!left.contains("quokka") && !left.contains("mallory"), "{left}");
        assert!(life.is_idle());
    }
}

#[test]
fn who_calls_in_between_is_answered_after_the_last_post() {
    let mut life = Answering::new(&[]);
    life.post("p1");
    let (at, call) = heard(2, "bob", true);
    life.now = life.now.max(at);
    life.handle(call);
    for id in ["p2", "p3"] {
        assert!(!life.out.iter().any(|effect| matches!(effect, Effect::Write(_))), "{:?}", life.out);
        life.wait();
        life.post(id);
    }
    let brief = life.take(|effect| if let Effect::Write(brief) = effect { Some(brief.clone()) } else { None });
    let shown = brief.expect("Bob is answered").transcript.lines.plain();
    assert!(CHUNKS.iter().all(|chunk| shown.contains(chunk)), "{shown}");
}

/// An answer to Bob that is ready now: one line, whatever else is going on.
fn answer_bob(life: &mut Answering) {
    let Input::Said(message) = heard(9, "bob", true).1 else { unreachable!("it says so") };
    let trace = Box::new(Trace::undecided(&message, "bob".into()));
    let now = Phase::Holding { due: life.now };
    let pending = Pending { addressed: Some(Addressed::Mention), ..Pending::new(trace, Kind::Full, life.now, now) };
    let mut turn = life.engine.turn_at(0, None, life.now, &mut life.out);
    deliver::excuse(&mut turn, pending, Excuse::NoWords, "busy");
}

#[test]
fn an_answer_that_is_ready_waits_until_the_rest_is_out() {
    let mut life = Answering::new(&[]);
    life.post("p1");
    answer_bob(&mut life);
    for id in ["p2", "p3"] {
        assert!(life.leaves().is_none(), "nothing comes between two posts");
        life.wait();
        assert!(life.post(id).continues);
    }
    assert_eq!(life.post("p4").post, Post::Excuse(Excuse::NoWords));
    assert!(life.is_idle());
}

#[test]
fn an_answer_in_several_posts_waits_until_another_is_out() {
    let mut life = Answering::unwritten(&[]);
    answer_bob(&mut life);
    life.write(&words());
    let other = life.leaves().expect("the line leaves");
    assert!(life.leaves().is_none(), "it may still be under way");
    life.handle(Input::Delivered(other.call, Ok(vec![MessageId::new("p1")])));
    assert!(matches!(life.post("p2").post, Post::Text(_)));
}

/// What waits behind an answer is decided, whatever becomes of it.
#[test]
fn what_waits_is_dropped_with_its_reason() {
    let mut muted = Answering::new(&[]);
    muted.post("p1");
    answer_bob(&mut muted);
    muted.handle(Input::Told(RoomId::new("room"), Command::Mute(None)));
    let Some(Effect::Trace(trace)) = muted.out.last() else { panic!("{:?}", muted.out) };
    assert_eq!((trace.message.as_str(), trace.gate.as_deref()), ("9", Some("mute")));
    let mut deleted = Answering::new(&[]);
    deleted.post("p1");
    answer_bob(&mut deleted);
    deleted.delete("9");
    let Some(Effect::Trace(trace)) = deleted.out.last() else { panic!("{:?}", deleted.out) };
    assert_eq!((trace.message.as_str(), &trace.cause), ("9", &Cause::Deleted));
    deleted.wait();
    assert!(deleted.post("p2").continues, "the other answer goes on");
}

/// The clock is set while a post waits: it waits for as long as it would have.
#[test]
fn a_post_waits_as_long_whatever_the_clock_shows() {
    let mut life = Answering::new(&[]);
    life.post("p1");
    let due = life.place().bot.as_ref().and_then(|bot| bot.next_departure());
    let by = ClockShift(-500);
    life.now = life.now.shifted(by);
    life.handle(Input::ClockSet(by));
    let shifted = life.place().bot.as_ref().and_then(|bot| bot.next_departure());
    assert_eq!(shifted, due.map(|due| due.shifted(by)));
}

#[test]
fn a_restart_sends_what_was_under_way_under_the_same_number() {
    let mut life = Answering::new(&[]);
    life.post("p1");
    life.wait();
    let under_way = life.leaves().expect("the second post leaves");
    let kept = serde_json::to_string(&life.engine.snapshot()).expect("a snapshot is plain data");
    let read = serde_json::from_str(&kept).expect("a snapshot can be read");
    life.engine = Engine::restore(life.engine.policies().clone(), read).expect("it is of this version");
    life.handle(Input::Resumed);
    let again = life.leaves().expect("it is sent again");
    assert_eq!((&again.call, &again.post), (&under_way.call, &under_way.post));
    assert!(life.leaves().is_none(), "the first is not sent again");
    life.handle(Input::Delivered(again.call, Ok(vec![MessageId::new("p2")])));
    life.wait();
    life.post("p3");
    assert_eq!(life.progress(), Some((3, None)));
}

/// The last version sent all posts of an answer as one delivery.
#[test]
fn what_an_earlier_version_posted_is_not_posted_again() {
    let mut life = Answering::new(&[]);
    let all = life.leaves().expect("the first post leaves");
    let ids = ["p1", "p2", "p3"].map(MessageId::new).to_vec();
    life.handle(Input::Delivered(all.call, Ok(ids)));
    assert!(life.is_idle());
    assert_eq!(life.own_words(), [words().replace("\n\n", "\n")]);
    let old: Post = serde_json::from_str(r#"{"Chunks": ["one", "two"]}"#).expect("it is read");
    assert_eq!(old, Post::Text(vec!["one".into(), "two".into()]));
}
