//! The features of a message and an earlier one it may answer.

mod way;

use super::lexicon::Tells;
use super::marks::TextMarks;
use super::reading::Directness;
use super::tracker::{Arrival, Conversations};
use crate::trees::{Columns, LANES, VALUES, log_steps};
use way::{RunningCounts, Way};

crate::trees::features! {
    ALONE "alone" "this is the alternative of answering nobody";
    GAP "gap" "messages since the earlier one";
    AGO "ago" "time since the earlier one";
    SAME_AUTHOR "same_author" "both are by the same person";
    THEIRS_SINCE "theirs_since" "messages of its author since";
    MINE_SINCE "mine_since" "messages of this author since the earlier one";
    TO_THEM "to_them" "this message speaks to the earlier one's author";
    TO_ME "to_me" "the earlier one speaks to this author";
    TO_ME_SINCE "to_me_since" "messages to this author since the earlier one";
    SAME_TO "same_to" "both speak to the same person";
    MY_PARTNER "my_partner" "this author spoke to the earlier one's author last";
    THEIR_PARTNER "their_partner" "the earlier one's author spoke to this author last";
    ANSWERS_ME "answers_me" "the earlier one answers this author";
    REPLIES "replies" "answers the earlier one has";
    MY_REPLIES "my_replies" "answers this author gave it";
    OTHER_REPLIES_SINCE "fresh_replies" "answers by others within the last few messages";
    THEIR_QUESTION "their_question" "the earlier one asks";
    THEIR_WIDTH "their_width" "length of the earlier one";
    THEIR_STARTS "their_starts" "how much the words of the earlier one begin a conversation";
    THEIR_ANSWERED "their_answered" "how much the words of the earlier one call for an answer";
    THEIR_GOES_ON "their_goes_on" "how much the words of the earlier one go on";
    THEIR_CLOSING "their_closing" "the earlier one is thanks, a goodbye, or assent";
    THEIR_UNFINISHED "their_unfinished" "the earlier one breaks off";
    THEIR_SURE "their_sure" "how sure it was what the earlier one answers";
    NEXT_QUESTION "next_question" "the next message of its author asks";
    NEXT_GOES_ON "next_goes_on" "the next message of its author goes on with it";
    NEXT_GAP "next_gap" "messages until the next one of its author";
    NEXT_SHARED "next_shared" "words shared with the next message of its author beyond those shared with it";
    NEXT_TO_ME "next_to_me" "the next message of its author speaks to this author";
    PREVIOUS_OWN "previous_own" "the earlier one goes on with what its author said, and that asks";
    TO_SINCE "to_since" "messages since it by whom this author speaks to";
    AFFINITY "affinity" "how often both authors spoke to each other lately";
    AFFINITY_LEAD "affinity_lead" "how much more often this author spoke with another";
    THEIR_OTHERS "their_others" "how often the earlier one's author spoke with others lately";
    BETWEEN "between" "messages since the earlier one by neither author";
    STRAND_GAP "strand_gap" "messages since its conversation's last";
    THEIR_ADDRESS "their_address" "how directly the earlier one speaks to somebody";
    THEIR_START "their_start" "the earlier one began a conversation";
    THEIR_SAID "their_said" "messages of its author before";
    STRAND_MINE "strand_mine" "this author is in its conversation";
    STRAND_MY_LAST "strand_my_last" "this author spoke in its conversation last";
    STRAND_SINCE "strand_since" "messages in its conversation since";
    STRAND_PEOPLE "strand_people" "people in its conversation";
    STRAND_LINES "strand_lines" "messages in its conversation";
    STRAND_TO "strand_to" "whom this message speaks to is in its conversation";
    STRAND_STARTER "strand_starter" "this author began its conversation";
    SHARED "shared" "rarity of the words both share";
    SHARED_BEST "shared_best" "rarest word both share";
    SHARED_LEAD "shared_lead" "it shares more words than any other, or by how much less";
    SHARED_STRAND "shared_strand" "rarity of the words shared with its conversation";
    ADDRESS "address" "how directly this message speaks to somebody";
    TO_AWAY "to_away" "messages since whom it speaks to spoke";
    QUESTION "question" "this message asks";
    WIDTH "width" "length of this message";
    STARTS "starts" "how much its words begin a conversation";
    ANSWERED "answered" "how much its words call for an answer";
    GOES_ON "goes_on" "how much its words go on";
    KNOWN "known" "share of its words that are known";
    CALL "call" "asks for help or calls on everybody";
    CLOSING "closing" "thanks or a goodbye";
    FILLER "filler" "laughter or assent";
    ASKS "asks" "has a word that asks";
    GREETING "greeting" "greets";
    SAID "said" "messages of this author before";
    AWAY "away" "time since this author spoke";
    AWAY_LINES "away_lines" "messages since this author spoke";
    WAITING "waiting" "messages to this author since it spoke";
    PACE "pace" "time the last ten messages took";
    CROWD "crowd" "people among the last sixteen messages";
    CUSTOM "custom" "share of the room's messages that speak to somebody";
}

/// The alternatives for one message, and their features.
pub struct Weighed {
    pub columns: Columns<{ FEATURES.len() }>,
    /// Numbers of the messages it may answer; the first is its own.
    pub candidates: [u32; LANES],
    pub used: usize,
    pub(crate) lately: Lately,
}

/// What the way back through the lines shows beside: joining is judged by it too.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lately {
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

/// The alternatives for a message: to answer one of the lines before it, or none.
pub(super) fn weigh(conversations: &Conversations, arrival: &Arrival<'_>) -> Weighed {
    let mut weighed = Weighed {
        columns: [[0; LANES]; FEATURES.len()],
        candidates: [arrival.number; LANES],
        used: 1,
        lately: Lately::default(),
    };
    let mut way = Way::new(conversations, arrival, &mut weighed.lately);
    for (index, line) in way.lines.iter().enumerate().rev() {
        let candidate = way.candidate(index, line);
        way.note_lately(&candidate, &mut weighed.lately);
        if way.is_wanted(&candidate) && !line.gone && weighed.used < LANES {
            let lane = weighed.used;
            weighed.used += 1;
            weighed.candidates[lane] = candidate.number;
            let mut put =
                |feature: usize, value: u32| weighed.columns[feature][lane] = value.min(VALUES as u32 - 1) as u8;
            way.put_people(&candidate, &mut put);
            way.put_line(&candidate, &mut put);
            way.put_next(&candidate, &mut put);
            way.put_conversation(&candidate, &mut put);
        }
        way.pass(&candidate);
    }
    weighed.columns[ALONE][0] = 1;
    weighed.columns[GAP][0] = 0;
    weighed.columns[AFFINITY_LEAD][0] = way.bonds.most.min(63);
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
    weighed: &mut Weighed,
) {
    let (reading, lately) = (arrival.reading, weighed.lately);
    let mut put = |feature: usize, value: u32| weighed.columns[feature] = [value.min(VALUES as u32 - 1) as u8; LANES];
    put(ADDRESS, reading.address as u32);
    put(TO_AWAY, counts.addressee_away.into());
    put(QUESTION, reading.question.into());
    put(WIDTH, reading.width.into());
    put(STARTS, reading.tells(Tells::Starts).into());
    put(ANSWERED, reading.tells(Tells::Answered).into());
    put(GOES_ON, reading.tells(Tells::GoesOn).into());
    put(KNOWN, reading.known.into());
    put(CALL, reading.marks.has(TextMarks::CALL).into());
    put(CLOSING, reading.marks.has(TextMarks::CLOSING).into());
    put(FILLER, reading.marks.has(TextMarks::FILLER).into());
    put(ASKS, reading.marks.has(TextMarks::ASKS).into());
    put(GREETING, reading.marks.has(TextMarks::GREETING).into());
    let me = conversations.people.get(arrival.author).expect("who speaks was met");
    put(SAID, log_steps(me.said.into()).into());
    let away = if me.said == 0 { 63 } else { log_steps(arrival.at.since(me.last_at).0 / 500).into() };
    put(AWAY, away);
    put(AWAY_LINES, if me.said == 0 { 63 } else { arrival.number - me.last });
    put(WAITING, lately.waiting.into());
    put(PACE, lately.pace.into());
    put(CROWD, lately.crowd.into());
    put(CUSTOM, lately.custom.into());
}
