//! The features of a message together with each earlier message it may answer.
//!
//! [`weigh`] walks once from the newest of the recent lines back to the oldest. On the way it keeps running counts (who spoke
//! since, who spoke to whom, the words in common), so that the features of each candidate cost a constant amount. Column 0 is
//! the alternative that the message answers nothing and starts a conversation; at most fifteen candidates follow. Values are
//! stored by feature, not by candidate ([`Columns`]), as [`Trees::sums`](crate::trees::Trees::sums) reads them. The same walk
//! collects [`RecentContext`], which the likelihood of joining uses too. A model in `core/models/` names features by their ids, so
//! the order here may change; the meaning of an id may not, without training again.

mod walk;

use super::lexicon::WordSignal;
use super::marks::TextMarks;
use super::reading::Directness;
use super::tracker::{Arrival, Conversations};
use crate::trees::{Columns, LANES, VALUES, log_steps};
use walk::{LineWalk, RunningCounts};

crate::trees::features! {
    ALONE "alone";
    GAP "gap";
    AGO "ago";
    SAME_AUTHOR "same_author";
    THEIRS_SINCE "theirs_since";
    MINE_SINCE "mine_since";
    TO_THEM "to_them";
    TO_ME "to_me";
    TO_ME_SINCE "to_me_since";
    SAME_TO "same_to";
    MY_PARTNER "my_partner";
    THEIR_PARTNER "their_partner";
    ANSWERS_ME "answers_me";
    REPLIES "replies";
    MY_REPLIES "my_replies";
    OTHER_REPLIES_SINCE "fresh_replies";
    THEIR_QUESTION "their_question";
    THEIR_WIDTH "their_width";
    THEIR_STARTS "their_starts";
    THEIR_ANSWERED "their_answered";
    THEIR_GOES_ON "their_goes_on";
    THEIR_CLOSING "their_closing";
    THEIR_UNFINISHED "their_unfinished";
    THEIR_SURE "their_sure";
    NEXT_QUESTION "next_question";
    NEXT_GOES_ON "next_goes_on";
    NEXT_GAP "next_gap";
    NEXT_SHARED "next_shared";
    NEXT_TO_ME "next_to_me";
    PREVIOUS_OWN "previous_own";
    TO_SINCE "to_since";
    AFFINITY "affinity";
    AFFINITY_LEAD "affinity_lead";
    THEIR_OTHERS "their_others";
    BETWEEN "between";
    CONVERSATION_GAP "conversation_gap";
    THEIR_ADDRESS "their_address";
    THEIR_START "their_start";
    THEIR_SAID "their_said";
    CONVERSATION_MINE "conversation_mine";
    CONVERSATION_MY_LAST "conversation_my_last";
    CONVERSATION_SINCE "conversation_since";
    CONVERSATION_PEOPLE "conversation_people";
    CONVERSATION_LINES "conversation_lines";
    CONVERSATION_TO "conversation_to";
    CONVERSATION_STARTER "conversation_starter";
    SHARED "shared";
    SHARED_BEST "shared_best";
    SHARED_LEAD "shared_lead";
    SHARED_CONVERSATION "shared_conversation";
    ADDRESS "address";
    TO_AWAY "to_away";
    QUESTION "question";
    WIDTH "width";
    STARTS "starts";
    ANSWERED "answered";
    GOES_ON "goes_on";
    KNOWN "known";
    CALL "call";
    CLOSING "closing";
    FILLER "filler";
    ASKS "asks";
    GREETING "greeting";
    SAID "said";
    AWAY "away";
    AWAY_LINES "away_lines";
    WAITING "waiting";
    PACE "pace";
    CROWD "crowd";
    CUSTOM "custom";
    AGO_USUAL "ago_usual";
    PAUSE "pause";
    PAUSE_USUAL "pause_usual";
    AUTHORS_BETWEEN "authors_between";
    STARTS_SINCE "starts_since";
    CONVERSATION_AGO "conversation_ago";
    CONVERSATION_AGO_USUAL "conversation_ago_usual";
    CONVERSATION_RANK "conversation_rank";
    CONVERSATION_TURN "conversation_turn";
    CONVERSATION_ASKED "conversation_asked";
    LAST_AGO "last_ago";
    LAST_USUAL "last_usual";
    USUAL "usual";
    LAST_MINE "last_mine";
    LAST_ALONE "last_alone";
    ROOM_STARTS "room_starts";
    LINK "link";
    EXCLAIMS "exclaims";
}

/// The alternatives for one message, and their features.
pub struct WeighedCandidates {
    pub columns: Columns<{ FEATURES.len() }>,
    /// Numbers of the messages it may answer; the first is its own.
    pub candidates: [u32; LANES],
    pub used: usize,
    pub(crate) lately: RecentContext,
}

/// What the way back through the lines shows beside: joining is judged by it too.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecentContext {
    /// Messages to this author since it spoke, and among the last 32.
    pub waiting: u8,
    pub to_me: u8,
    /// One bit for the slot of each who spoke to this author.
    pub company: u128,
    /// The most words it shares with one message of its author, or of somebody else.
    pub repeat: u8,
    pub echo: u8,
    pub pace: u8,
    pub crowd: u8,
    /// Share of the messages that speak to somebody.
    pub custom: u8,
}

const RECENT: u32 = 8;

/// What is the same for all lines of a conversation.
const CONVERSATION_FEATURES: [usize; 13] = [
    CONVERSATION_MINE,
    CONVERSATION_MY_LAST,
    CONVERSATION_GAP,
    CONVERSATION_PEOPLE,
    CONVERSATION_LINES,
    CONVERSATION_TO,
    CONVERSATION_STARTER,
    CONVERSATION_RANK,
    CONVERSATION_TURN,
    CONVERSATION_AGO,
    CONVERSATION_AGO_USUAL,
    CONVERSATION_ASKED,
    SHARED_CONVERSATION,
];

/// The alternatives for a message: to answer one of the lines before it, or none.
pub(super) fn weigh(conversations: &Conversations, arrival: &Arrival<'_>) -> WeighedCandidates {
    let mut weighed = WeighedCandidates {
        columns: [[0; LANES]; FEATURES.len()],
        candidates: [arrival.number; LANES],
        used: 1,
        lately: RecentContext::default(),
    };
    let mut way = LineWalk::new(conversations, arrival, &mut weighed.lately);
    let mut left = way.lines.len();
    while left > 0 && weighed.used < LANES {
        left -= 1;
        let line = &way.lines[left];
        let candidate = way.candidate(left, line);
        way.note_lately(&candidate, &mut weighed.lately);
        if way.is_wanted(&candidate) && !line.is_gone() {
            let lane = weighed.used;
            weighed.used += 1;
            weighed.candidates[lane] = candidate.number;
            let mut put =
                |feature: usize, value: u32| weighed.columns[feature][lane] = value.min(VALUES as u32 - 1) as u8;
            way.put_people(&candidate, &mut put);
            way.put_line(&candidate, &mut put);
            way.put_next(&candidate, &mut put);
            match way.note_lane(&candidate, lane) {
                Some(same) => {
                    for feature in CONVERSATION_FEATURES {
                        weighed.columns[feature][lane] = weighed.columns[feature][same];
                    }
                }
                None => way.put_conversation(&candidate, &mut put),
            }
        }
        way.pass(&candidate);
    }
    way.pass_older(left, &mut weighed.lately);
    weighed.columns[ALONE][0] = 1;
    weighed.columns[GAP][0] = 0;
    weighed.columns[AFFINITY_LEAD][0] = way.exchanges.most.min(63);
    weighed.columns[SHARED_LEAD][0] = (way.best / 2).min(63) as u8;
    weighed.lately.custom = (way.counts.speak_to_somebody * 32 / way.lines.len().max(1)) as u8;
    weighed.lately.pace = conversations.pace(arrival.at);
    weighed.lately.crowd = conversations.crowd() as u8;
    message_features(conversations, arrival, &way.counts, &mut weighed);
    weighed
}

/// What holds for all alternatives alike.
fn message_features(
    conversations: &Conversations,
    arrival: &Arrival<'_>,
    counts: &RunningCounts,
    weighed: &mut WeighedCandidates,
) {
    let (reading, lately) = (arrival.reading, weighed.lately);
    let mut put = |feature: usize, value: u32| weighed.columns[feature] = [value.min(VALUES as u32 - 1) as u8; LANES];
    put(ADDRESS, reading.directness() as u32);
    put(TO_AWAY, counts.addressee_away.into());
    put(QUESTION, reading.question().into());
    put(WIDTH, reading.width().into());
    put(STARTS, reading.tells(WordSignal::Starts).into());
    put(ANSWERED, reading.tells(WordSignal::Answered).into());
    put(GOES_ON, reading.tells(WordSignal::GoesOn).into());
    put(KNOWN, arrival.words.known.into());
    put(CALL, reading.marks().has(TextMarks::CALL).into());
    put(CLOSING, reading.marks().has(TextMarks::CLOSING).into());
    put(FILLER, reading.marks().has(TextMarks::FILLER).into());
    put(ASKS, reading.marks().has(TextMarks::ASKS).into());
    put(GREETING, reading.marks().has(TextMarks::GREETING).into());
    let me = conversations.people.get(arrival.author).expect("who speaks was met");
    put(SAID, log_steps(me.said.into()).into());
    let away = if me.said == 0 { 63 } else { log_steps(arrival.at.since(me.last_at()).0 / 500).into() };
    put(AWAY, away);
    put(AWAY_LINES, if me.said == 0 { 63 } else { arrival.number - me.last });
    put(WAITING, lately.waiting.into());
    put(PACE, lately.pace.into());
    put(CROWD, lately.crowd.into());
    put(CUSTOM, lately.custom.into());
    put(LINK, reading.marks().has(TextMarks::LINK).into());
    put(EXCLAIMS, reading.marks().has(TextMarks::EXCLAIMS).into());
    put(ROOM_STARTS, u32::from(counts.starts) * 16 / conversations.recent().len().max(1) as u32);
    let usual = conversations.usual_gap;
    put(USUAL, usual.steps().into());
    match conversations.recent().last() {
        Some(last) => {
            let ago = log_steps(arrival.at.since(last.at()).0 / 500);
            put(LAST_AGO, ago.into());
            put(LAST_USUAL, usual.compare(ago));
            put(LAST_MINE, (last.author == arrival.author).into());
            put(LAST_ALONE, (conversations.list[usize::from(last.conversation)].count() == 1).into());
        }
        None => {
            put(LAST_AGO, 63);
            put(LAST_USUAL, 63);
        }
    }
}
