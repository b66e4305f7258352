//! The features of a message from which the likelihood is computed that somebody new joins its conversation.
//!
//! They describe the message itself (words, marks, length), its author, the conversation it was placed in, the message it
//! probably answers, and the place at that moment. Every value is a whole number below 64; counts and times are on a
//! logarithmic scale ([`log_steps`]). They are computed after the message was placed and before it is kept, so that nothing
//! in them includes the message itself. A trace stores the values: an explanation needs no earlier state. A model names
//! features by their ids; a feature that changes its meaning needs another id and another training.

use crate::conversations::{
    Arrival, Choice, Conversations, NOBODY, Participant, Placed, TextMarks, WordSignal, centred,
};
use crate::trees::{VALUES, features, log_steps};

features! {
    P_STARTS "starts";
    P_OTHERS "to_others";
    P_OWN "to_own";
    SURE "sure";
    P_ALONE "alone";
    E_OTHERS "others";
    ADDRESS "address";
    TO_AWAY "to_away";
    TO_SAID "to_said";
    QUESTION "question";
    CALL "call";
    CLOSING "closing";
    FILLER "filler";
    ASKS "asks";
    GREETING "greeting";
    LINK "link";
    CODE "code";
    SMILE "smile";
    WIDTH "width";
    WORD_STARTS "word_starts";
    WORD_ANSWERED "word_answered";
    WORD_GOES_ON "word_goes_on";
    WORD_DRAWS "word_draws";
    UNFINISHED "unfinished";
    EXCLAIMS "exclaims";
    DIGITS "digits";
    KNOWN "known_words";
    SAID "said";
    AWAY "away";
    AWAY_LINES "away_lines";
    MY_STARTS "my_starts";
    MY_DIRECTED "my_directed";
    MY_DREW "my_drew";
    MY_COMPANY "my_company";
    TO_IN_CONVERSATION "to_in_conversation";
    CONVERSATION_SETTLED "conversation_settled";
    OUTSIDERS "outsiders";
    JOINS "joins";
    PARENT_START "parent_start";
    PARENT_WIDTH "parent_width";
    PARENT_HELPS "parent_helps";
    CONVERSATION_LINES "conversation_lines";
    CONVERSATION_OTHERS "conversation_others";
    CONVERSATION_AGE "conversation_age";
    CONVERSATION_AWAY "conversation_away";
    CONVERSATION_STARTER "conversation_starter";
    CONVERSATION_MINE "conversation_mine";
    RUN "run";
    RUN_DRAWS "run_draws";
    RUN_QUESTION "run_question";
    PARENT_QUESTION "parent_question";
    PARENT_DRAWS "parent_draws";
    PARENT_REPLIES "parent_replies";
    PARENT_GAP "parent_gap";
    PARENT_AGO "parent_ago";
    WAITING "waiting";
    TO_ME "to_me";
    LAST_AGO "last_ago";
    PACE "pace";
    CROWD "crowd";
    CUSTOM "custom";
    OPEN "open";
    CONVERSATIONS "conversations";
    HELPERS "helpers";
    REPEAT "repeat";
    ECHO "echo";
    USUAL "usual";
    LAST_USUAL "last_usual";
    PARENT_USUAL "parent_usual";
    AWAY_USUAL "away_usual";
    CONVERSATION_TURN "conversation_turn";
    CONVERSATION_USUAL "conversation_usual";
    RECENT_PEOPLE "recent_people";
}

pub type Values = [u8; FEATURES.len()];

pub(super) fn values(conversations: &Conversations, placed: &Placed) -> Values {
    let mut values = [0; FEATURES.len()];
    let mut put = |feature: usize, value: u32| values[feature] = value.min(VALUES as u32 - 1) as u8;
    put_choice(&placed.choice, &mut put);
    put_text(conversations, &placed.arrival(), &mut put);
    put_author(conversations, &placed.arrival(), &mut put);
    put_conversation(conversations, placed, &mut put);
    put_parent(conversations, placed, &mut put);
    put_lately(conversations, placed, &mut put);
    put_around(conversations, placed, &mut put);
    values
}

fn steps(number: u64) -> u32 {
    u32::from(log_steps(number))
}

/// What it answers, and how sure that is.
fn put_choice(choice: &Choice, put: &mut impl FnMut(usize, u32)) {
    let share = |p: f32| (p * (VALUES - 1) as f32) as u32;
    put(P_STARTS, share(choice.starts));
    put(P_OTHERS, share(choice.to_others));
    put(P_OWN, share(choice.to_own));
    put(SURE, share(choice.sure));
    put(P_ALONE, share(choice.alone));
    put(E_OTHERS, (choice.others * 8.0) as u32);
}

/// What it says, and to whom.
fn put_text(conversations: &Conversations, arrival: &Arrival<'_>, put: &mut impl FnMut(usize, u32)) {
    let reading = arrival.reading;
    put(ADDRESS, reading.directness() as u32);
    let addressee = reading.to.first().and_then(|slot| conversations.people.get(slot));
    put(TO_AWAY, addressee.map_or(63, |them| arrival.number.saturating_sub(them.last)));
    put(TO_SAID, addressee.map_or(0, |them| steps(them.said.into())));
    put(QUESTION, reading.question().into());
    let marks = [
        (CALL, TextMarks::CALL),
        (CLOSING, TextMarks::CLOSING),
        (FILLER, TextMarks::FILLER),
        (ASKS, TextMarks::ASKS),
        (GREETING, TextMarks::GREETING),
        (LINK, TextMarks::LINK),
        (CODE, TextMarks::CODE),
        (SMILE, TextMarks::SMILE),
        (UNFINISHED, TextMarks::UNFINISHED),
        (EXCLAIMS, TextMarks::EXCLAIMS),
        (DIGITS, TextMarks::DIGITS),
    ];
    for (feature, mark) in marks {
        put(feature, reading.marks().has(mark).into());
    }
    put(WIDTH, reading.width().into());
    put(WORD_STARTS, reading.tells(WordSignal::Starts).into());
    put(WORD_ANSWERED, reading.tells(WordSignal::Answered).into());
    put(WORD_GOES_ON, reading.tells(WordSignal::GoesOn).into());
    put(WORD_DRAWS, reading.tells(WordSignal::Draws).into());
    put(KNOWN, arrival.words.known.into());
}

/// What its author said before.
fn put_author(conversations: &Conversations, arrival: &Arrival<'_>, put: &mut impl FnMut(usize, u32)) {
    let me = conversations.people.get(arrival.author).expect("who speaks was met");
    let new = me.said == 0;
    put(SAID, steps(me.said.into()));
    put(AWAY, if new { 63 } else { steps(arrival.at.since(me.last_at()).0 / 500) });
    let usual = conversations.usual_gap;
    put(AWAY_USUAL, if new { 63 } else { usual.compare(log_steps(arrival.at.since(me.last_at()).0 / 500)) });
    put(AWAY_LINES, if new { 63 } else { arrival.number - me.last });
    put(MY_STARTS, u32::from(me.starts) * 16 / u32::from(me.said.max(1)));
    put(MY_DIRECTED, u32::from(me.directed) * 16 / u32::from(me.said.max(1)));
    put(MY_DREW, u32::from(me.drew) * 32 / u32::from(me.said.max(1)));
}

/// Its conversation, and its author's messages in a row there.
fn put_conversation(conversations: &Conversations, placed: &Placed, put: &mut impl FnMut(usize, u32)) {
    let (arrival, reading) = (placed.arrival(), placed.arrival().reading);
    let there = &conversations.list[usize::from(placed.index)];
    put(CONVERSATION_LINES, steps(there.lines.into()));
    put(CONVERSATION_OTHERS, there.others_than(arrival.author));
    put(CONVERSATION_AGE, steps(arrival.at.since(there.began.into()).0 / 500));
    put(CONVERSATION_AWAY, arrival.number - there.last);
    put(CONVERSATION_STARTER, (there.starter == arrival.author).into());
    put(CONVERSATION_MINE, there.has(arrival.author).into());
    put(CONVERSATION_SETTLED, steps(there.settled.into()));
    put(
        CONVERSATION_TURN,
        u32::from(there.speaker == arrival.author) + 2 * u32::from(there.speaker_before == arrival.author),
    );
    let last = conversations.line(there.last).map_or(0, |last| log_steps(arrival.at.since(last.at()).0 / 500));
    put(CONVERSATION_USUAL, conversations.usual_gap.compare(last));
    put(TO_IN_CONVERSATION, reading.to.first().map_or(0, |slot| 1 + u32::from(there.has(slot))));
    let lines = conversations.recent().iter().rev().filter(|line| line.conversation == placed.index);
    let (mut run, mut draws, mut asks) = (0, reading.tells(WordSignal::Draws), reading.question());
    for line in lines.take(there.lines.into()).take_while(|line| line.author == arrival.author) {
        run += 1;
        draws = draws.max(line.reading.tells(WordSignal::Draws));
        asks = asks.max(line.reading.question());
    }
    put(RUN, run);
    put(RUN_DRAWS, draws.into());
    put(RUN_QUESTION, asks.into());
}

/// What it answers.
fn put_parent(conversations: &Conversations, placed: &Placed, put: &mut impl FnMut(usize, u32)) {
    let (choice, arrival) = (&placed.choice, placed.arrival());
    let parent = choice.parent.and_then(|parent| conversations.line(parent));
    put(PARENT_QUESTION, parent.map_or(0, |line| 1 + u32::from(line.reading.question())));
    put(PARENT_DRAWS, parent.map_or(centred(0), |line| line.reading.tells(WordSignal::Draws)).into());
    put(PARENT_REPLIES, parent.map_or(0, |line| line.replies.into()));
    put(PARENT_GAP, choice.parent.map_or(0, |parent| arrival.number - parent));
    let ago = parent.map(|line| log_steps(arrival.at.since(line.at()).0 / 500));
    put(PARENT_AGO, ago.unwrap_or(0).into());
    put(PARENT_USUAL, ago.map_or(0, |ago| conversations.usual_gap.compare(ago)));
    put(PARENT_START, parent.map_or(0, |line| 1 + u32::from(line.is_start())));
    put(PARENT_WIDTH, parent.map_or(0, |line| line.reading.width().into()));
    let helps = |them: &Participant| u32::from(them.directed) * 16 / u32::from(them.said.max(1));
    put(PARENT_HELPS, parent.and_then(|line| conversations.people.get(line.author)).map_or(0, helps));
}

/// What was said just before it.
fn put_lately(conversations: &Conversations, placed: &Placed, put: &mut impl FnMut(usize, u32)) {
    let (arrival, lately) = (placed.arrival(), &placed.weighed.lately);
    put(WAITING, lately.waiting.into());
    put(TO_ME, lately.to_me.into());
    put(MY_COMPANY, lately.company.count_ones());
    let ago = conversations.recent().last().map_or(63, |line| log_steps(arrival.at.since(line.at()).0 / 500));
    put(LAST_AGO, ago.into());
    put(LAST_USUAL, conversations.usual_gap.compare(ago));
    put(USUAL, conversations.usual_gap.steps().into());
    put(PACE, lately.pace.into());
    put(CROWD, lately.crowd.into());
    put(CUSTOM, lately.custom.into());
    put(REPEAT, lately.repeat.into());
    put(ECHO, lately.echo.into());
}

/// What else goes on.
fn put_around(conversations: &Conversations, placed: &Placed, put: &mut impl FnMut(usize, u32)) {
    let (arrival, conversation) = (placed.arrival(), placed.index);
    let (mut seen, mut met, mut people) = ([false; 1 << u8::BITS], [false; 1 << u8::BITS], 0u128);
    let (mut open, mut all, mut helpers, mut joins) = (0, 0, 0, 0);
    for line in conversations.recent().iter().rev().take(24) {
        joins += u32::from(line.joins());
        if line.conversation != conversation && !seen[usize::from(line.conversation)] {
            seen[usize::from(line.conversation)] = true;
            all += 1;
            open += u32::from(conversations.list[usize::from(line.conversation)].count() <= 1);
        }
        if line.author != arrival.author && line.author != NOBODY && !met[usize::from(line.author)] {
            let Some(them) = conversations.people.get(line.author).filter(|them| !them.bot) else { continue };
            met[usize::from(line.author)] = true;
            people |= 1 << line.author;
            helpers += u32::from(them.said >= 3 && u32::from(them.directed) * 2 > u32::from(them.said));
        }
    }
    put(OPEN, open);
    put(CONVERSATIONS, all);
    put(HELPERS, helpers);
    put(JOINS, joins);
    put(RECENT_PEOPLE, people.count_ones());
    let there = conversations.list[usize::from(conversation)].people.bits() | 1 << arrival.author;
    put(OUTSIDERS, (people & !there).count_ones());
}
