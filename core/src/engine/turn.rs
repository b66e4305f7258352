//! One input handled in one place: what every step of the engine works with.

use crate::effect::{Effect, Line, Lines, Trace, Transcript};
use crate::engine::timers::{Key, Timers};
use crate::gates::{Case, Closed, Trigger, closed};
use crate::policy::Policy;
use crate::room::{Glance, Heard, Pending, Phase, PlaceState, Room};
use crate::trace::{Asked, Cause, Outcome, Stage};
use crate::types::{ConversationId, MessageId, Place, Span, ThreadId, Time, Voice};

pub struct Turn<'a> {
    pub now: Time,
    pub policy: &'a Policy,
    pub room: &'a mut Room,
    pub room_number: u32,
    pub thread: Option<ThreadId>,
    /// The conversation it is about; none is the place as a whole.
    pub conversation: Option<ConversationId>,
    pub timers: &'a mut Timers,
    /// Room to look back in, used again for every message.
    pub glances: &'a mut Vec<Glance>,
    pub out: &'a mut Vec<Effect>,
}

impl Turn<'_> {
    pub fn place(&self) -> &PlaceState {
        self.room.place(self.thread.as_ref()).expect("a turn is taken in a known place")
    }

    pub fn place_mut(&mut self) -> &mut PlaceState {
        self.room.place_mut(self.thread.as_ref()).expect("a turn is taken in a known place")
    }

    /// What it may say unasked in this conversation.
    pub fn pending(&self) -> Option<&Pending> {
        self.place().pending.iter().find(|pending| pending.conversation == self.conversation)
    }

    pub fn pending_mut(&mut self) -> Option<&mut Pending> {
        let conversation = self.conversation;
        self.place_mut().pending.iter_mut().find(|pending| pending.conversation == conversation)
    }

    pub fn take_pending(&mut self) -> Option<Pending> {
        let conversation = self.conversation;
        let pending = &mut self.place_mut().pending;
        let index = pending.iter().position(|pending| pending.conversation == conversation)?;
        Some(pending.remove(index))
    }

    pub fn place_id(&self) -> Place {
        Place { room: self.room.id.clone(), thread: self.thread.clone() }
    }

    /// The decision is final.
    pub fn conclude(&mut self, trace: Box<Trace>) {
        self.out.push(Effect::Trace(trace));
    }

    pub fn stay_silent(&mut self, mut trace: Box<Trace>, stage: Stage, cause: Cause) {
        (trace.outcome, trace.stage, trace.cause) = (Outcome::Silent, stage, cause);
        self.conclude(trace);
    }

    pub fn hold_back(&mut self, mut trace: Box<Trace>, stage: Stage, (gate, found): (&'static str, Closed)) {
        trace.gate = Some(gate.into());
        self.stay_silent(trace, stage, Cause::Closed(found));
    }

    /// Calls off what it might have said unasked.
    pub fn call_off(&mut self, cause: &Cause) {
        if let Some(pending) = self.take_pending() {
            self.end(pending, cause);
        }
    }

    /// Nothing comes of this, nor of what was to be answered together with it.
    pub fn end(&mut self, mut pending: Pending, cause: &Cause) {
        self.abandon(&mut pending);
        let stage = pending.stage();
        for trace in pending.traces() {
            self.stay_silent(Box::new(trace), stage, cause.clone());
        }
    }

    /// A call in flight is no longer wanted. Its cost is not known, so what was reserved for it is spent.
    pub fn abandon(&mut self, pending: &mut Pending) {
        let Some(call) = pending.call().cloned() else { return };
        if let Phase::Judging { asked_at, prompt_chars, ladder, .. } = pending.phase {
            let (question, answer) = (ladder.question, "aborted".into());
            pending.trace.asked.push(Asked {
                question,
                at: asked_at,
                prompt_chars,
                answer,
                cached: false,
                failed: true,
            });
        }
        self.settle(&call, None);
        self.out.push(Effect::Abort(call));
    }

    /// The first closed gate for what is pending here, at this instant.
    pub fn closed_for(&self, pending: &Pending, paid: bool) -> Option<(&'static str, Closed)> {
        closed(&self.case(self.trigger_of(pending, paid)))
    }

    pub fn trigger_of<'b>(&self, pending: &'b Pending, paid: bool) -> Trigger<'b> {
        Trigger {
            id: pending.trace.message.as_str(),
            author: self.room.speakers.key(&pending.trace.author_id),
            by_bot: pending.by_bot,
            addressed: pending.addressed.is_some(),
            for_somebody_else: false,
            paid,
        }
    }

    pub fn case<'b>(&'b self, trigger: Trigger<'b>) -> Case<'b> {
        let conversation = self.conversation;
        Case { now: self.now, policy: self.policy, room: self.room, place: self.place(), conversation, trigger }
    }

    /// The last messages of this place as a model reads them.
    pub fn transcript(&self, messages: u32) -> Transcript {
        Transcript { lines: self.lines(messages), ..Transcript::default() }
    }

    pub fn lines(&self, messages: u32) -> Lines {
        self.as_lines(&self.recent_lines(messages))
    }

    /// The same with what is to be answered, though much was said since.
    pub fn lines_to_answer(&self, messages: u32, answering: &[MessageId]) -> Lines {
        let mut recent = self.recent_lines(messages);
        for id in answering.iter().rev() {
            if !recent.iter().any(|heard| heard.id() == id.as_str()) {
                recent.extend(self.place().buffer.get_by_id(id.as_str()));
            }
        }
        self.as_lines(&recent)
    }

    /// `recent` is newest first.
    fn as_lines(&self, recent: &[Heard<'_>]) -> Lines {
        let mut lines = Lines::with_capacity(
            recent.len(),
            recent.iter().map(|heard| heard.id().len() + heard.text().len() + 16).sum(),
        );
        let mut names: Vec<(u16, String)> = Vec::new();
        for heard in recent.iter().rev() {
            let (voice, own_name) = (heard.voice(), self.policy.settings.bot.name.as_str());
            let name = if voice == Voice::Me { own_name } else { self.name_among(heard.speaker, &mut names) };
            lines.push(Line { id: heard.id(), name, voice, text: heard.text() });
        }
        lines
    }

    /// The newest of this conversation, newest first; where it is short, with what was said beside it.
    fn recent_lines(&self, messages: u32) -> Vec<Heard<'_>> {
        let place = self.place();
        if self.conversation.is_none() {
            return place.newest(self.policy, self.now, messages);
        }
        let context = self.policy.settings.judge.context_messages.min(messages) as usize;
        let inside = place.recent_of(self.policy, self.now, self.conversation).take(messages as usize).count();
        let (mut left, mut beside) = (inside, context.saturating_sub(inside));
        let mut take = |heard: &Heard<'_>| {
            let room = if heard.conversation == self.conversation { &mut left } else { &mut beside };
            let fits = *room > 0;
            *room = room.saturating_sub(1);
            fits
        };
        place.recent(self.policy, self.now).filter(|heard| take(heard)).collect()
    }

    /// The name of a speaker among those who spoke before: of two people with the same name the second is told apart, and
    /// so is who goes by the name of the bot; nobody speaks in another's name by taking it.
    fn name_among<'b>(&self, speaker: u16, names: &'b mut Vec<(u16, String)>) -> &'b str {
        let index = names.iter().position(|(known, _)| *known == speaker).unwrap_or_else(|| {
            let name = self.room.speakers.name(speaker);
            let own = self.policy.settings.bot.name.as_str();
            let taken = |wanted: &str| wanted == own || names.iter().any(|(_, known)| known == wanted);
            let counted = (2..).map(|nth| format!("{name} #{nth}"));
            let free = std::iter::once(name.to_owned()).chain(counted).find(|wanted| !taken(wanted));
            names.push((speaker, free.expect("there are more numbers than names")));
            names.len() - 1
        });
        &names[index].1
    }

    /// Makes sure the timers look here when something is due, or when the talk is old enough to be let go.
    pub fn set_alarm(&mut self) {
        let life = self.policy.buffer_life();
        let digest = self.room.next_digest(self.policy).filter(|_| self.thread.is_none()).map(|(due, _)| due);
        let passes = self.followed_until();
        let key = Key { room: self.room_number, thread: self.thread.clone() };
        let place = self.room.place_mut(self.thread.as_ref()).expect("a turn is taken in a known place");
        let expires = life.and_then(|life| place.buffer.latest().map(|latest| latest + life));
        let due = place.pending.iter().filter_map(Pending::due);
        if let Some(earliest) = due.chain(expires).chain(digest).chain(passes).min() {
            self.timers.arm(&mut place.alarm, earliest, || key);
        }
    }

    pub fn history_life(&self) -> Span {
        Span::seconds(self.policy.settings.judge.history_seconds.into())
    }
}

#[cfg(test)]
mod tests {
    use crate::effect::Effect;
    use crate::types::{Author, Message, MessageId, PersonId, Place, Time, Visibility, Voice};
    use crate::{Engine, Input, Policies, Trace};

    fn said(id: u64, person: &str, name: &str) -> Input {
        Input::Said(Message {
            id: MessageId::new(id.to_string()),
            place: Place::room("room"),
            at: Time(id * 1000),
            author: Author { id: PersonId::new(person), name: name.into(), voice: Voice::Person },
            text: "hello".into(),
            reply: None,
            mentions: Vec::new(),
            mentions_me: false,
            visibility: Visibility::Public,
            backfilled: false,
            heard: None,
        })
    }

    #[test]
    fn who_takes_the_name_of_another_is_told_apart() {
        let mut layers = crate::settings::Layers::default();
        layers.add_assignment("preset=kotonoha");
        layers.suggest_for_replay();
        let policies: Policies = layers.resolve(&|_| None).unwrap();
        let mut engine = Engine::new(policies);
        let mut out = Vec::new();
        let people = [("u1", "alice"), ("u2", "alice"), ("u3", "alice #2"), ("u4", "aizuchi"), ("u1", "alice")];
        for (id, (person, name)) in (1..).zip(people) {
            out.clear();
            engine.handle(Time(id * 1000), said(id, person, name), &mut out);
        }
        let Some(Effect::Ask(ask)) = out.iter().find(|effect| matches!(effect, Effect::Ask(_))) else {
            panic!("{out:?}")
        };
        let names: Vec<&str> = ask.transcript.lines.iter().map(|line| line.name).collect();
        assert_eq!(names, ["alice", "alice #2", "alice #2 #2", "aizuchi #2", "alice"]);
    }

    #[test]
    fn what_is_answered_is_shown_however_much_was_said_since() {
        let mut layers = crate::settings::Layers::default();
        layers.add_assignment("reply.window_messages=3");
        layers.add_assignment("listen.strands=false");
        layers.add_assignment("score.learned=false");
        layers.suggest_for_replay();
        let policies: Policies = layers.resolve(&|_| None).unwrap();
        let mut engine = Engine::new(policies);
        let mut out = Vec::new();
        let call = |id, person| match said(id, person, person) {
            Input::Said(message) => Input::Said(Message { mentions_me: true, text: "@aizuchi?".into(), ..message }),
            other => other,
        };
        engine.handle(Time(1000), call(1, "alice"), &mut out);
        engine.handle(Time(2000), call(2, "bob"), &mut out);
        let Some(Effect::Write(first)) = out.pop() else { panic!("{out:?}") };
        for id in 3..20 {
            engine.handle(Time(id * 1000), said(id, "carol", "carol"), &mut out);
        }
        out.clear();
        let words = crate::input::Answer { text: "hm".into(), usage: crate::effect::Usage::default() };
        engine.handle(Time(21_000), Input::Written(first.call, Ok(words)), &mut out);
        let Some(Effect::Write(next)) = out.pop() else { panic!("{out:?}") };
        assert_eq!(next.transcript.lines.iter().next().map(|line| line.id), Some("2"), "{:?}", next.transcript);
    }

    fn engine(settings: &[&str]) -> Engine {
        let mut layers = crate::settings::Layers::default();
        settings.iter().for_each(|setting| layers.add_assignment(setting));
        layers.suggest_for_replay();
        let policies: Policies = layers.resolve(&|_| None).unwrap();
        Engine::new(policies)
    }

    fn heard(id: u64, person: &str, calls: bool) -> (Time, Input) {
        let Input::Said(message) = said(id, person, person) else { unreachable!("it says so") };
        let text = if calls { "@aizuchi?" } else { "hello" };
        let (at, heard) = (message.at, Some(message.at));
        (at, Input::Said(Message { mentions_me: calls, text: text.into(), heard, ..message }))
    }

    /// Runs until nothing is asked for any more: the messages each answer is for, all of which its writer is shown.
    fn answers(engine: &mut Engine, out: &mut Vec<Effect>) -> Vec<Vec<String>> {
        let (mut answers, mut now) = (Vec::new(), Time(10_000_000));
        while let Some(effect) = (!out.is_empty()).then(|| out.remove(0)) {
            now = now + crate::types::Span(10);
            match effect {
                Effect::Write(brief) => {
                    let shown: Vec<&str> = brief.transcript.lines.iter().map(|line| line.id).collect();
                    let missing = brief.answering.iter().find(|id| !shown.contains(&id.as_str()));
                    assert_eq!(missing, None, "{shown:?}");
                    answers.push(brief.answering.iter().map(ToString::to_string).collect());
                    let words = crate::input::Answer { text: "hm".into(), usage: crate::effect::Usage::default() };
                    engine.handle(now, Input::Written(brief.call, Ok(words)), out);
                }
                Effect::Deliver(delivery) => {
                    let ids = vec![MessageId::new(delivery.call.to_string())];
                    engine.handle(now, Input::Delivered(delivery.call, Ok(ids)), out);
                }
                _ => (),
            }
        }
        answers
    }

    #[test]
    fn whoever_calls_during_one_answer_is_answered_and_shown() {
        let mut engine = engine(&["listen.buffer_minutes=0"]);
        let mut out = Vec::new();
        for id in 1..=300 {
            // Much is said between the calls: more than is kept otherwise.
            let calls = id == 1 || id % 6 == 0;
            let (at, input) = heard(id, &format!("p{}", id % 40), calls);
            engine.handle(at, input, &mut out);
        }
        out.retain(|effect| matches!(effect, Effect::Write(_)));
        let answers = answers(&mut engine, &mut out);
        let mut answered: Vec<u64> = answers.concat().iter().map(|id| id.parse().unwrap()).collect();
        answered.sort_unstable();
        assert_eq!(answered, [1].into_iter().chain((1..=50).map(|nth| nth * 6)).collect::<Vec<u64>>());
        assert!(answers.iter().all(|together| together.len() <= 9), "{answers:?}");
    }

    /// The decisions about three calls of which the last two are answered together, with these words.
    fn three_calls(words: &str) -> Vec<Trace> {
        let (mut engine, mut out) = (engine(&["listen.buffer_minutes=0"]), Vec::new());
        let mut traces = Vec::new();
        for id in 1..=3 {
            let (at, input) = heard(id, &format!("p{id}"), true);
            engine.handle(at, input, &mut out);
        }
        while let Some(effect) = (!out.is_empty()).then(|| out.remove(0)) {
            let now = Time(10_000_000);
            match effect {
                Effect::Write(brief) => {
                    let words = crate::input::Answer { text: words.into(), usage: crate::effect::Usage::default() };
                    engine.handle(now, Input::Written(brief.call, Ok(words)), &mut out);
                }
                Effect::Deliver(delivery) => {
                    let ids = vec![MessageId::new(delivery.call.to_string())];
                    engine.handle(now, Input::Delivered(delivery.call, Ok(ids)), &mut out);
                }
                Effect::Trace(trace) => traces.push(*trace),
                _ => (),
            }
        }
        traces
    }

    #[test]
    fn who_was_answered_together_with_others_is_told_where() {
        let told: Vec<String> = three_calls("hm").iter().map(Trace::sentence).collect();
        assert_eq!(
            told,
            [
                "Answered: p1 mentioned it.",
                "Answered: p2 mentioned it. The post that answers 3 answers this too.",
                "Answered: p3 mentioned it."
            ]
        );
    }

    #[test]
    fn an_excuse_to_several_is_an_excuse_to_each() {
        let traces = three_calls("None");
        assert_eq!(traces.len(), 3);
        for trace in traces {
            assert!(matches!(trace.cause, crate::trace::Cause::Excused { .. }), "{}", trace.sentence());
        }
    }

    #[test]
    fn one_line_covers_those_who_are_too_many_and_not_again_for_five_minutes() {
        let mut engine = engine(&["listen.buffer_minutes=0"]);
        let mut out = Vec::new();
        for id in 1..=400 {
            let (at, input) = heard(id, &format!("p{id}"), true);
            engine.handle(at, input, &mut out);
        }
        let excuses: Vec<Time> = out
            .iter()
            .filter_map(|effect| match effect {
                Effect::Deliver(delivery) => Some(delivery.at),
                _ => None,
            })
            .collect();
        assert_eq!(excuses.len(), 1, "{excuses:?}");
        let (at, input) = heard(excuses[0].0 / 1000 + 300, "later", true);
        engine.handle(at, input, &mut out);
        let excuses = out.iter().filter(|effect| matches!(effect, Effect::Deliver(_))).count();
        assert_eq!(excuses, 2);
    }

    #[test]
    fn records_of_earlier_versions_decide_as_they_did() {
        use crate::listen::Unheard;
        use crate::trace::Cause;
        let mut engine = engine(&[]);
        let mut out = Vec::new();
        let (now, Input::Said(ahead)) = heard(1, "alice", false) else { unreachable!("it says so") };
        let noted_then = |message: Message| Input::Said(Message { heard: None, ..message });
        let ahead = Message { at: now + crate::types::Span::minutes(60), ..ahead };
        engine.handle(now, noted_then(ahead), &mut out);
        let (now, Input::Said(call)) = heard(2, "bob", true) else { unreachable!("it says so") };
        engine.handle(now, noted_then(call), &mut out);
        let Some(Effect::Trace(trace)) = out.pop() else { panic!("{out:?}") };
        assert_eq!(trace.cause, Cause::Unheard(Unheard::Late));
        let (now, call) = heard(3, "carol", true);
        engine.handle(now, call, &mut out);
        assert!(matches!(out.pop(), Some(Effect::Write(_))), "what is said since is heard");
    }
}
