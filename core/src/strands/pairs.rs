//! The features of a message and an earlier one it may answer.

use super::lexicon::Tells;
use super::line::LINES_MAX;
use super::marks::Marks;
use super::people::{NOBODY, Slot};
use super::reading::{Address, Reading, WORDS_MAX};
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

/// Running counts on the way back through the lines.
#[derive(Default)]
struct Way {
    mine: u8,
    to_me: u8,
    spoken_to: u8,
    addressee_away: u8,
}

/// Something of each person; those who are not known share the last place.
struct Each<T>([T; 128]);

impl<T: Copy + Default> Each<T> {
    fn new() -> Each<T> {
        Each([T::default(); 128])
    }

    fn of(&mut self, slot: Slot) -> &mut T {
        &mut self.0[usize::from(slot) % 128]
    }
}

pub fn weigh(strands: &Strands, scene: &Scene<'_>) -> Weighed {
    let mut weighed = Weighed {
        columns: [[0; LANES]; FEATURES.len()],
        candidates: [scene.number; LANES],
        used: 1,
        lately: Lately::default(),
    };
    let shared = Shared::of(strands, scene, &mut weighed.lately);
    let mut bonds = Bonds::of(strands, scene.author);
    let mut way = Way { addressee_away: 63, ..Way::default() };
    let mut said_by = Each::<u8>::new();
    let mut next_of = Each::<Option<u8>>::new();
    let mut mine_to = [0u8; LINES_MAX];
    let mut fresh = [0u8; LINES_MAX];
    let mut strand_since = [0u8; LINES_MAX + 2];
    let lines = strands.recent();
    let first = scene.number - lines.len() as u32;
    let best = shared.per_line.iter().copied().max().unwrap_or(0);
    let partner = strands.people.get(scene.author).map_or(NOBODY, |me| me.partner);
    let spoken_to = scene.reading.to[0].unwrap_or(partner);
    let my_last = lines.iter().rev().find(|line| line.author == scene.author);
    let (my_parent, my_strand) = my_last.map_or((u32::MAX, None), |line| (line.parent, Some(line.strand)));

    let mut speak_to_somebody = 0;
    for (place, line) in lines.iter().enumerate().rev() {
        speak_to_somebody += usize::from(line.reading.address != Address::Nobody);
        let number = first + place as u32;
        let gap = scene.number - number;
        let to_them = scene.reading.addresses(line.author);
        let to_me = line.reading.addresses(scene.author);
        let theirs = *said_by.of(line.author);
        let mine = line.author == scene.author;
        let after = strand_since[usize::from(line.strand)];
        if to_them {
            way.addressee_away = way.addressee_away.min(gap.min(63) as u8);
        }
        if to_me {
            weighed.lately.waiting += u8::from(way.mine == 0);
            weighed.lately.to_me += u8::from(gap <= 32);
            weighed.lately.company |= 1 << (line.author % 128);
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
            put(THEIR_WIDTH, line.reading.width.into());
            put(THEIR_STARTS, line.reading.tells(Tells::Starts).into());
            put(THEIR_ANSWERED, line.reading.tells(Tells::Answered).into());
            put(THEIR_GOES_ON, line.reading.tells(Tells::GoesOn).into());
            put(
                THEIR_CLOSING,
                bool(line.reading.marks.has(Marks::CLOSING)) + 2 * bool(line.reading.marks.has(Marks::FILLER)),
            );
            put(THEIR_UNFINISHED, bool(line.reading.marks.has(Marks::UNFINISHED)));
            put(THEIR_SURE, line.sure.into());
            if let Some(next) = *next_of.of(line.author) {
                let later = &lines[usize::from(next)];
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
                let before = line.parent.checked_sub(first).and_then(|place| lines.get(place as usize));
                put(PREVIOUS_OWN, 1 + before.map_or(0, |before| u32::from(before.reading.question)));
            }
            put(TO_SINCE, way.spoken_to.into());
            let affinity = *bonds.with_me.of(line.author);
            put(AFFINITY, affinity.into());
            put(AFFINITY_LEAD, u32::from(bonds.most - affinity.min(bonds.most)));
            put(THEIR_OTHERS, u32::from(bonds.all.of(line.author).saturating_sub(affinity)));
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
        *next_of.of(line.author) = Some(place as u8);
        *said_by.of(line.author) = theirs + 1;
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
    weighed.lately.custom = (speak_to_somebody * 32 / lines.len().max(1)) as u8;
    weighed.lately.pace = strands.pace(scene.at);
    weighed.lately.crowd = strands.crowd() as u8;
    message_features(strands, scene, &way, &mut weighed);
    weighed
}

/// What holds for all alternatives alike.
fn message_features(strands: &Strands, scene: &Scene<'_>, way: &Way, weighed: &mut Weighed) {
    let (reading, lately) = (scene.reading, weighed.lately);
    let mut put = |feature: usize, value: u32| weighed.columns[feature] = [value.min(VALUES as u32 - 1) as u8; LANES];
    put(ADDRESS, reading.address as u32);
    put(TO_AWAY, way.addressee_away.into());
    put(QUESTION, reading.question.into());
    put(WIDTH, reading.width.into());
    put(STARTS, reading.tells(Tells::Starts).into());
    put(ANSWERED, reading.tells(Tells::Answered).into());
    put(GOES_ON, reading.tells(Tells::GoesOn).into());
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
    put(WAITING, lately.waiting.into());
    put(PACE, lately.pace.into());
    put(CROWD, lately.crowd.into());
    put(CUSTOM, lately.custom.into());
}

fn address_code(reading: &Reading, hit: bool) -> u32 {
    match (reading.address, hit) {
        (Address::Nobody, _) => 0,
        (_, false) => 1,
        (Address::Named, true) => 2,
        (Address::Directed, true) => 3,
    }
}

/// Who spoke with whom lately.
struct Bonds {
    /// By slot: messages exchanged with this author, and with anybody.
    with_me: Each<u8>,
    all: Each<u8>,
    most: u8,
}

impl Bonds {
    fn of(strands: &Strands, me: Slot) -> Bonds {
        let mut bonds = Bonds { with_me: Each::new(), all: Each::new(), most: 0 };
        for line in strands.recent() {
            let to = line.reading.to[0].unwrap_or(line.parent_author);
            if to == NOBODY || to == line.author {
                continue;
            }
            *bonds.all.of(line.author) += 1;
            *bonds.all.of(to) += 1;
            let other = if line.author == me { to } else { line.author };
            if line.author == me || to == me {
                let count = bonds.with_me.of(other);
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
    fn of(strands: &Strands, scene: &Scene<'_>, lately: &mut Lately) -> Shared {
        let reading = scene.reading;
        let mut hits = [0u16; LINES_MAX];
        let mut seen = [0u8; WORDS_MAX];
        for (hit, line) in hits.iter_mut().zip(strands.recent()) {
            *hit = reading.shared_with(&line.reading);
            if *hit != 0 {
                ones(*hit).for_each(|word| seen[word] += 1);
                let most = if line.author == scene.author { &mut lately.repeat } else { &mut lately.echo };
                *most = (*most).max(hit.count_ones() as u8);
            }
        }
        let mut shared = Shared { per_line: [0; LINES_MAX], best_word: [0; LINES_MAX], per_strand: [0; LINES_MAX + 2] };
        for (place, line) in strands.recent().iter().enumerate().filter(|(place, _)| hits[*place] != 0) {
            for word in ones(hits[place]) {
                let rarity = reading.rarities[word].saturating_sub(2 * seen[word].ilog2() as u8);
                shared.per_line[place] += u16::from(rarity);
                shared.best_word[place] = shared.best_word[place].max(rarity);
            }
            shared.per_strand[usize::from(line.strand)] += shared.per_line[place];
        }
        shared
    }
}

/// The places of the bits that are set.
fn ones(mut bits: u16) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (place < u16::BITS).then_some(place as usize)
    })
}
