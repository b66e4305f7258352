//! The features of a message and an earlier one it may answer.

use super::lexicon::Tells;
use super::line::{LINES_MAX, Line};
use super::people::{NOBODY, Slot};
use super::reading::{Address, Marks, Reading};
use super::tracker::{Scene, Strands};
use crate::trees::{Columns, LANES, VALUES, log_steps};

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
}

const RECENT: u32 = 8;

/// Running counts on the way back through the lines.
#[derive(Default)]
struct Way {
    mine: u8,
    to_me: u8,
    waiting: u8,
    spoken_to: u8,
    addressee_away: u8,
}

pub fn weigh(strands: &Strands, scene: &Scene<'_>) -> Weighed {
    let mut weighed = Weighed { columns: [[0; LANES]; FEATURES.len()], candidates: [scene.number; LANES], used: 1 };
    let shared = Shared::of(strands, scene.reading);
    let bonds = Bonds::of(strands, scene.author);
    let mut way = Way { addressee_away: 63, ..Way::default() };
    let mut said_by = [0u8; 256];
    let mut next_of = [None; 256];
    let mut mine_to = [0u8; LINES_MAX];
    let mut fresh = [0u8; LINES_MAX];
    let mut strand_since = [0u8; LINES_MAX + 2];
    let first = scene.number - strands.lines.len() as u32;
    let best = shared.per_line.iter().copied().max().unwrap_or(0);
    let partner = strands.people.get(scene.author).map_or(NOBODY, |me| me.partner);
    let spoken_to = scene.reading.to[0].unwrap_or(partner);
    let my_last = strands.lines.iter().rev().find(|line| line.author == scene.author);
    let (my_parent, my_strand) = my_last.map_or((u32::MAX, None), |line| (line.parent, Some(line.strand)));

    for (place, line) in strands.lines.iter().enumerate().rev() {
        let number = first + place as u32;
        let gap = scene.number - number;
        let to_them = scene.reading.addresses(line.author);
        let to_me = line.reading.addresses(scene.author);
        let theirs = said_by[usize::from(line.author)];
        let mine = line.author == scene.author;
        let after = strand_since[usize::from(line.strand)];
        if to_them {
            way.addressee_away = way.addressee_away.min(gap.min(63) as u8);
        }
        if to_me && way.mine == 0 {
            way.waiting = way.waiting.saturating_add(1);
        }
        let wanted = gap <= RECENT
            || (to_them && theirs < 3)
            || (mine && theirs < 2)
            || (to_me && way.to_me < 3)
            || (line.author == partner && theirs < 2)
            || number == my_parent
            || (my_strand == Some(line.strand) && after < 2);
        if wanted && !line.gone && weighed.used < LANES {
            let lane = weighed.used;
            weighed.used += 1;
            weighed.candidates[lane] = number;
            let mut put =
                |feature: usize, value: u32| weighed.columns[feature][lane] = value.min(VALUES as u32 - 1) as u8;
            let bool = u32::from;
            put(GAP, gap);
            put(AGO, log_steps(scene.at.since(line.at).0 / 500).into());
            put(SAME_AUTHOR, bool(mine));
            put(THEIRS_SINCE, theirs.into());
            put(MINE_SINCE, way.mine.into());
            put(TO_THEM, address_code(scene.reading, to_them));
            put(TO_ME, address_code(&line.reading, to_me));
            put(TO_ME_SINCE, way.to_me.into());
            put(SAME_TO, bool(scene.reading.to.iter().flatten().any(|to| line.reading.addresses(*to))));
            put(MY_PARTNER, bool(partner != NOBODY && line.author == partner));
            let them = strands.people.get(line.author);
            put(THEIR_PARTNER, bool(them.is_some_and(|them| them.partner == scene.author)));
            put(ANSWERS_ME, bool(line.parent_author == scene.author && !mine));
            put(REPLIES, line.replies.into());
            put(MY_REPLIES, mine_to[place].into());
            put(OTHER_REPLIES_SINCE, fresh[place].into());
            put(THEIR_QUESTION, line.reading.question.into());
            put(THEIR_WIDTH, log_steps(line.reading.width.into()).into());
            put(THEIR_STARTS, centred(line.reading.tells(Tells::Starts)));
            put(THEIR_ANSWERED, centred(line.reading.tells(Tells::Answered)));
            put(THEIR_GOES_ON, centred(line.reading.tells(Tells::GoesOn)));
            put(
                THEIR_CLOSING,
                bool(line.reading.marks.has(Marks::CLOSING)) + 2 * bool(line.reading.marks.has(Marks::FILLER)),
            );
            put(THEIR_UNFINISHED, bool(line.reading.marks.has(Marks::UNFINISHED)));
            put(THEIR_SURE, line.sure.into());
            if let Some(next) = next_of[usize::from(line.author)] {
                let later = &strands.lines[usize::from(next)];
                put(NEXT_QUESTION, 1 + u32::from(later.reading.question));
                put(NEXT_GOES_ON, 1 + bool(later.parent == number));
                put(NEXT_GAP, u32::from(next) - place as u32);
                put(
                    NEXT_SHARED,
                    u32::from(shared.per_line[usize::from(next)].saturating_sub(shared.per_line[place])) / 2,
                );
                put(NEXT_TO_ME, 1 + address_code(&later.reading, later.reading.addresses(scene.author)));
            }
            if line.parent_author == line.author && line.parent != number {
                let before = line.parent.checked_sub(first).and_then(|place| strands.lines.get(place as usize));
                put(PREVIOUS_OWN, 1 + before.map_or(0, |before| u32::from(before.reading.question)));
            }
            put(TO_SINCE, way.spoken_to.into());
            let affinity = bonds.with_me[usize::from(line.author)];
            put(AFFINITY, affinity.into());
            put(AFFINITY_LEAD, u32::from(bonds.most - affinity.min(bonds.most)));
            put(THEIR_OTHERS, u32::from(bonds.all[usize::from(line.author)].saturating_sub(affinity)));
            put(BETWEEN, gap - 1 - u32::from(theirs) - if mine { 0 } else { u32::from(way.mine) });
            put(THEIR_ADDRESS, line.reading.address as u32);
            put(THEIR_START, bool(line.parent == number));
            put(THEIR_SAID, log_steps(them.map_or(0, |them| them.said.into())).into());
            let strand = &strands.list[usize::from(line.strand)];
            put(STRAND_MINE, bool(strand.has(scene.author)));
            put(STRAND_MY_LAST, bool(my_strand == Some(line.strand)));
            put(STRAND_SINCE, after.into());
            put(STRAND_GAP, scene.number - strand.last);
            put(STRAND_PEOPLE, strand.people.count_ones());
            put(STRAND_LINES, log_steps(strand.lines.into()).into());
            put(STRAND_TO, bool(scene.reading.to.iter().flatten().any(|to| strand.has(*to))));
            put(STRAND_STARTER, bool(strand.starter == scene.author));
            put(SHARED, u32::from(shared.per_line[place]) / 2);
            put(SHARED_BEST, shared.best_word[place].into());
            put(SHARED_LEAD, if best == 0 { 0 } else { 1 + u32::from(best - shared.per_line[place]) / 2 });
            put(SHARED_STRAND, u32::from(shared.per_strand[usize::from(line.strand)]) / 2);
        }
        next_of[usize::from(line.author)] = Some(place as u8);
        said_by[usize::from(line.author)] = theirs.saturating_add(1);
        way.mine = way.mine.saturating_add(u8::from(mine));
        way.to_me = way.to_me.saturating_add(u8::from(to_me));
        way.spoken_to = way.spoken_to.saturating_add(u8::from(line.author == spoken_to));
        strand_since[usize::from(line.strand)] = after.saturating_add(1);
        if let Some(parent) = line.parent.checked_sub(first).filter(|parent| *parent < place as u32) {
            mine_to[parent as usize] += u8::from(mine);
            fresh[parent as usize] += u8::from(!mine && gap < 8);
        }
    }
    weighed.columns[ALONE][0] = 1;
    weighed.columns[GAP][0] = 0;
    weighed.columns[AFFINITY_LEAD][0] = bonds.most.min(63);
    weighed.columns[SHARED_LEAD][0] = (best / 2).min(63) as u8;
    message_features(strands, scene, &way, &mut weighed);
    weighed
}

/// What holds for all alternatives alike.
fn message_features(strands: &Strands, scene: &Scene<'_>, way: &Way, weighed: &mut Weighed) {
    let reading = scene.reading;
    let mut put = |feature: usize, value: u32| weighed.columns[feature] = [value.min(VALUES as u32 - 1) as u8; LANES];
    put(ADDRESS, reading.address as u32);
    put(TO_AWAY, way.addressee_away.into());
    put(QUESTION, reading.question.into());
    put(WIDTH, log_steps(reading.width.into()).into());
    put(STARTS, centred(reading.tells(Tells::Starts)));
    put(ANSWERED, centred(reading.tells(Tells::Answered)));
    put(GOES_ON, centred(reading.tells(Tells::GoesOn)));
    put(KNOWN, reading.known.into());
    put(CALL, reading.marks.has(Marks::CALL).into());
    put(CLOSING, reading.marks.has(Marks::CLOSING).into());
    put(FILLER, reading.marks.has(Marks::FILLER).into());
    put(ASKS, reading.marks.has(Marks::ASKS).into());
    put(GREETING, reading.marks.has(Marks::GREETING).into());
    let me = strands.people.get(scene.author).expect("who speaks was met");
    put(SAID, log_steps(me.said.into()).into());
    let away = if me.said == 0 { 63 } else { log_steps(scene.at.since(me.last_at).0 / 500).into() };
    put(AWAY, away);
    put(AWAY_LINES, if me.said == 0 { 63 } else { scene.number - me.last });
    put(WAITING, way.waiting.into());
    put(PACE, strands.pace(scene.at).into());
    put(CROWD, strands.crowd());
    put(CUSTOM, scene.custom);
}

fn address_code(reading: &Reading, hit: bool) -> u32 {
    match (reading.address, hit) {
        (Address::Nobody, _) => 0,
        (_, false) => 1,
        (Address::Named, true) => 2,
        (Address::Directed, true) => 3,
    }
}

/// Sixteenths of log-odds around the middle of the scale.
pub fn centred(weight: i16) -> u32 {
    (32 + i32::from(weight) / 4).clamp(0, VALUES as i32 - 1) as u32
}

/// Who spoke with whom lately.
struct Bonds {
    /// By slot: messages exchanged with this author, and with anybody.
    with_me: [u8; 256],
    all: [u8; 256],
    most: u8,
}

impl Bonds {
    fn of(strands: &Strands, me: Slot) -> Bonds {
        let mut bonds = Bonds { with_me: [0; 256], all: [0; 256], most: 0 };
        for line in &strands.lines {
            let to = line.reading.to[0].unwrap_or(line.parent_author);
            if to == NOBODY || to == line.author {
                continue;
            }
            bonds.all[usize::from(line.author)] += 1;
            bonds.all[usize::from(to)] += 1;
            let other = if line.author == me { to } else { line.author };
            if line.author == me || to == me {
                let count = &mut bonds.with_me[usize::from(other)];
                *count += 1;
                bonds.most = bonds.most.max(*count);
            }
        }
        bonds
    }
}

/// The rare words a message shares with those before it.
struct Shared {
    per_line: [u16; LINES_MAX],
    best_word: [u8; LINES_MAX],
    per_strand: [u16; LINES_MAX + 2],
}

impl Shared {
    fn of(strands: &Strands, reading: &Reading) -> Shared {
        let mut hits = [0u16; LINES_MAX];
        let words = &reading.words[..usize::from(reading.words_len)];
        let mut seen = [0u8; super::reading::WORDS_MAX];
        for (hit, line) in hits.iter_mut().zip(&strands.lines) {
            if line.reading.bits & reading.bits != 0 {
                *hit = common(words, line);
                (0..words.len()).for_each(|word| seen[word] += (*hit >> word & 1) as u8);
            }
        }
        let mut shared = Shared { per_line: [0; LINES_MAX], best_word: [0; LINES_MAX], per_strand: [0; LINES_MAX + 2] };
        for (place, line) in strands.lines.iter().enumerate().filter(|(place, _)| hits[*place] != 0) {
            for word in (0..words.len()).filter(|word| hits[place] >> word & 1 == 1) {
                let rarity = reading.rarities[word].saturating_sub(2 * seen[word].ilog2() as u8);
                shared.per_line[place] += u16::from(rarity);
                shared.best_word[place] = shared.best_word[place].max(rarity);
            }
            shared.per_strand[usize::from(line.strand)] += shared.per_line[place];
        }
        shared
    }
}

fn common(words: &[u16], line: &Line) -> u16 {
    let there = &line.reading.words[..usize::from(line.reading.words_len)];
    words.iter().enumerate().map(|(place, word)| u16::from(there.contains(word)) << place).sum()
}
