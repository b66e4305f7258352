//! Handles a message: from its arrival to its immediate effects, stage by stage and each stage once.

use super::link::{self, Placement};
use super::spoken_order::{self, SpokenOrder};
use super::turn::Turn;
use super::{Engine, answer, decide, digest, own_posts, own_turn, receive, reception, remember};
use crate::effect::Effect;
use crate::listen::{Address, filter};
use crate::settings::OtherBots;
use crate::trace::{Features, Trace, Unheard};
use crate::types::{Message, Time, Voice};

impl Engine {
    pub(super) fn handle_message(&mut self, now: Time, mut message: Message, out: &mut Vec<Effect>) {
        message.at = message.counted_at(now);
        let policy = self.policies.for_room(message.place.room.as_str());
        let known = self.index.get(&message.place.room).map(|index| *index as usize);
        let off = known.is_some_and(|index| self.rooms[index].off);
        if let Err(unheard) = filter(policy, &message, off) {
            return out.push(Effect::Trace(passed_over(&mut message, unheard)));
        }
        let threads_max = policy.settings.listen.threads_max as usize;
        if let Some(index) = known {
            self.rooms[index].prefetch(message.place.thread.as_ref());
        }
        let room_index = known.unwrap_or_else(|| self.new_room(&message.place.room));
        self.rooms[room_index].open(message.place.thread.as_ref(), threads_max);
        let thread = message.place.thread.clone();
        handle_message(&mut self.turn_at(room_index, thread, now, out), message);
    }
}

fn handle_message(turn: &mut Turn<'_>, mut message: Message) {
    let incoming = match receive::receive(turn, &message) {
        Ok(incoming) => incoming,
        Err(unheard) => {
            if unheard == Unheard::Itself {
                own_posts::note_own_post(turn, &message);
            }
            return turn.conclude(passed_over(&mut message, unheard));
        }
    };
    let by_person = message.author.voice == Voice::Person;
    let guess = link::find_conversation(turn, &message);
    if by_person && incoming.late.is_none() {
        let answered = guess.as_ref().map(|guess| &guess.reply_to);
        reception::note_reception(turn, &message, answered, incoming.is_for_me());
    }
    remember::remember(turn, &message, &incoming);
    digest::note_for_memory(turn);
    if let Some(unheard) = incoming.late.or_else(|| not_answered(turn, &message)) {
        return turn.conclude(guessed(passed_over(&mut message, unheard), guess));
    }
    let mut trace = guessed(new_trace(&mut message), guess);
    trace.heard_as = incoming.heard_as;
    let addressed = match incoming.address {
        Address::Me(addressed) => Some(addressed),
        Address::SomebodyElse | Address::TheRoom => None,
    };
    match spoken_order::order_in(turn, &message, incoming.address) {
        Some(SpokenOrder::BeQuiet(time)) => return spoken_order::be_quiet(turn, trace, addressed, time),
        Some(SpokenOrder::TalkAgain) => spoken_order::talk_again(turn, &mut trace),
        None => (),
    }
    match incoming.address {
        Address::Me(addressed) if answer::is_thanks(turn, &message) => {
            answer::was_thanked(turn, &message, trace, addressed)
        }
        Address::Me(addressed) => answer::was_addressed(turn, &message, trace, addressed),
        Address::SomebodyElse => decide::decide(turn, &message, trace, true),
        Address::TheRoom => own_turn::continue_or_decide(turn, &message, trace),
    }
}

/// Moves the name into the trace, which is made once, after everything else was done with the message.
fn new_trace(message: &mut Message) -> Box<Trace> {
    let name = std::mem::take(&mut message.author.name);
    Box::new(Trace::undecided(message, name))
}

fn passed_over(message: &mut Message, unheard: Unheard) -> Box<Trace> {
    let mut trace = new_trace(message);
    trace.pass_over(unheard);
    trace
}

/// Adds what was determined before anything was decided.
fn guessed(mut trace: Box<Trace>, guess: Option<Placement>) -> Box<Trace> {
    if let Some(guess) = guess {
        trace.p_join = guess.p_join;
        trace.p_turn = guess.p_turn;
        trace.conversation = Some(guess.conversation);
        trace.reply_to_guess = Some(guess.reply_to);
        trace.features = Features(guess.features.map(Box::new));
        trace.parts = guess.parts;
    }
    trace
}

/// Other bots may be heard and not answered.
fn not_answered(turn: &Turn<'_>, message: &Message) -> Option<Unheard> {
    let answered = turn.policy.settings.listen.other_bots == OtherBots::Answered;
    (message.author.voice == Voice::Bot && !answered).then_some(Unheard::BotNotAnswered)
}
