//! Who speaks in a place, and what they go by.
//!
//! A person is a [`Slot`], a number of one byte, in lines and conversations. There are at most 96; the person who spoke longest ago gives the slot up to
//! somebody new, and the caller then clears what refers to it. Ids are kept as hashes and names as hashes with a length, so that no
//! name is in the state.
//!
//! Up to three names count for one person: the whole, the part before decorations, and the family name. To find out whether a word is
//! a name, one bit per hash is checked first (`names`), since most words are nobody's. A name with spaces, or in a script without
//! spaces, is no single word: such people set `odd`, and only then is the text itself compared, from its beginning.

use serde::{Deserialize, Serialize};

use super::lexicon::Hasher;
use super::tracker::grow_exactly;
use crate::types::{ClockShift, ShortTime, Time, prefetch};

/// A person's number within the place.
pub(crate) type Slot = u8;

pub(crate) const NOBODY: Slot = 255;
/// More than lines are kept, so that nobody is let go while a line of theirs is still there.
const PEOPLE_MAX: usize = 96;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "StoredParticipants", into = "StoredParticipants")]
pub(crate) struct Participants {
    /// Hashes of their ids, 0 when forgotten: apart from the rest, as all of them are looked through for each message.
    keys: Vec<u64>,
    list: Vec<Participant>,
    /// What else those go by who are called by a part of their name; for most people there is nothing.
    short_names: Vec<ShortNames>,
    /// Somebody's name is not one run of ASCII.
    odd: bool,
    /// One bit for the hash of each name: most words are nobody's name.
    names: [u64; 8],
}

/// In 26 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed(2))]
pub(crate) struct Participant {
    name_hash: u32,
    name_len: u8,
    said_at: ShortTime,
    /// When it spoke last, by number.
    pub last: u32,
    pub said: u16,
    pub starts: u16,
    pub directed: u16,
    /// How often somebody joined at a message of theirs.
    pub drew: u16,
    /// To whom it spoke last.
    pub partner: Slot,
    pub bot: bool,
    /// Not one run of ASCII: to be looked for in the text itself.
    odd: bool,
}

/// Hash of a name, and its length in bytes; 0 if it is too long to be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct NameHash {
    hash: u32,
    len: u8,
}

/// What of somebody's name is said aloud: the whole without decorations, and the family name.
#[derive(Clone, Debug)]
struct ShortNames {
    hashes: [u32; 2],
    lens: [u8; 2],
    slot: Slot,
}

impl ShortNames {
    fn names(&self) -> [NameHash; 2] {
        std::array::from_fn(|index| NameHash { hash: self.hashes[index], len: self.lens[index] })
    }
}

fn hash(name: &str) -> NameHash {
    let hash = name.bytes().map(|byte| byte.to_ascii_lowercase()).fold(Hasher::default(), Hasher::with).finish();
    NameHash { hash, len: u8::try_from(name.len()).unwrap_or(0) }
}

/// What is before decorations: `田中@大阪` is called 田中.
fn short(name: &str) -> &str {
    let emoji = |c: char| matches!(c, '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1faff}');
    let end = |(_, c): &(usize, char)| "@＠(（【[|/／・ 　".contains(*c) || emoji(*c);
    &name[..name.char_indices().skip(1).find(end).map_or(name.len(), |(at, _)| at)]
}

/// A family name: `高橋健` is called 高橋.
fn family(name: &str) -> &str {
    let is_han = |c: char| ('一'..='鿿').contains(&c);
    let (all, second) = (name.chars().take(5).count(), name.char_indices().nth(2));
    second.filter(|_| all <= 4 && name.chars().all(is_han)).map_or(name, |(at, _)| &name[..at])
}

impl Participants {
    pub(super) fn prefetch(&self) {
        prefetch(&self.keys, |key| *key as u8);
        prefetch(&self.list, |person| person.partner);
    }

    pub(crate) fn get(&self, slot: Slot) -> Option<&Participant> {
        self.list.get(usize::from(slot))
    }

    pub(crate) fn get_mut(&mut self, slot: Slot) -> Option<&mut Participant> {
        self.list.get_mut(usize::from(slot))
    }

    pub(crate) fn by_key(&self, key: u64) -> Option<Slot> {
        self.keys.iter().position(|known| *known == key).map(|slot| slot as Slot)
    }

    /// The person's slot, and whether somebody else had to give it up.
    pub(crate) fn meet(&mut self, key: u64, name: &str, bot: bool, at: Time) -> (Slot, bool) {
        if let Some(slot) = self.by_key(key) {
            if self.list[usize::from(slot)].name() != hash(name) {
                self.call(slot, name);
                self.index();
            }
            return (slot, false);
        }
        let person = Participant {
            name_hash: 0,
            name_len: 0,
            odd: false,
            bot,
            said: 0,
            starts: 0,
            directed: 0,
            drew: 0,
            last: 0,
            said_at: at.into(),
            partner: NOBODY,
        };
        let full = self.list.len() >= PEOPLE_MAX;
        let slot = if full {
            let age = |(slot, person): &(usize, &Participant)| (self.keys[*slot] != 0, person.last);
            self.list.iter().enumerate().min_by_key(age).map_or(0, |(slot, _)| slot)
        } else {
            grow_exactly(&mut self.list, PEOPLE_MAX);
            grow_exactly(&mut self.keys, PEOPLE_MAX);
            self.list.push(person);
            self.keys.push(key);
            self.list.len() - 1
        };
        (self.list[slot], self.keys[slot]) = (person, key);
        self.call(slot as Slot, name);
        if full {
            self.index();
        } else {
            self.note(slot);
        }
        (slot as Slot, full)
    }

    /// The person goes by this name from now on.
    fn call(&mut self, slot: Slot, name: &str) {
        self.list[usize::from(slot)].odd = name.contains(|c: char| !c.is_ascii_graphic());
        self.set_names(slot, [name, short(name), family(short(name))].map(hash));
    }

    fn set_names(&mut self, slot: Slot, [whole, short, family]: [NameHash; 3]) {
        let person = &mut self.list[usize::from(slot)];
        (person.name_hash, person.name_len) = (whole.hash, whole.len);
        self.short_names.retain(|names| names.slot != slot);
        if [short, family] != [whole; 2] {
            self.short_names.reserve_exact(1);
            let (hashes, lens) = ([short.hash, family.hash], [short.len, family.len]);
            self.short_names.push(ShortNames { hashes, lens, slot });
        }
    }

    fn names_of(&self, slot: Slot) -> [NameHash; 3] {
        let whole = self.list[usize::from(slot)].name();
        let shorter = self.short_names.iter().find(|names| names.slot == slot).map(ShortNames::names);
        let [short, family] = shorter.unwrap_or([whole; 2]);
        [whole, short, family]
    }

    fn note(&mut self, slot: usize) {
        for NameHash { hash, .. } in self.names_of(slot as Slot) {
            self.names[hash as usize % 8] |= 1 << (hash >> 3 & 63);
        }
        self.odd |= self.list[slot].odd;
    }

    fn index(&mut self) {
        (self.names, self.odd) = ([0; 8], false);
        (0..self.list.len()).for_each(|slot| self.note(slot));
    }

    /// Who goes by exactly this text.
    pub(crate) fn named(&self, text: &str) -> Option<Slot> {
        self.goes_by(hash(text))
    }

    fn goes_by(&self, looked_for: NameHash) -> Option<Slot> {
        let maybe = self.names[looked_for.hash as usize % 8] >> (looked_for.hash >> 3 & 63) & 1 == 1;
        maybe.then(|| self.first_named(|name| name == looked_for)).flatten()
    }

    /// The first person one of whose names is like this.
    fn first_named(&self, is: impl Fn(NameHash) -> bool) -> Option<Slot> {
        let whole = self.list.iter().position(|person| is(person.name())).map(|slot| slot as Slot);
        let short = self.short_names.iter().filter(|shorter| shorter.names().into_iter().any(&is));
        whole.into_iter().chain(short.map(|shorter| shorter.slot)).min()
    }

    /// Who is named right before the end of this text, whatever is before it.
    pub(crate) fn named_at_end(&self, text: &str) -> Option<Slot> {
        self.first_named(|name| {
            let start = text.len().checked_sub(name.len.into()).filter(|_| name.len > 0);
            start.and_then(|start| text.get(start..)).is_some_and(|end| hash(end).hash == name.hash)
        })
    }

    /// Who is named by how this text begins, though the name has spaces or is followed by none. The longest name counts.
    pub(crate) fn named_at_start(&self, text: &str) -> Option<(Slot, usize)> {
        if text.is_ascii() && !self.odd {
            return None;
        }
        let longest = self.longest_name();
        let mut found = None;
        let mut hasher = Hasher::default();
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            hasher =
                c.encode_utf8(&mut [0; 4]).bytes().map(|byte| byte.to_ascii_lowercase()).fold(hasher, Hasher::with);
            let len = text.len() - rest.as_str().len();
            if len > longest {
                break;
            }
            let ends = || rest.as_str().chars().next().is_none_or(|c| !c.is_alphanumeric());
            if let Some(slot) = self.goes_by(NameHash { hash: hasher.finish(), len: len as u8 }).filter(|_| ends()) {
                found = Some((slot, len));
            }
        }
        found
    }

    /// In bytes; those that are too long to be compared do not count.
    fn longest_name(&self) -> usize {
        let whole = self.list.iter().map(|person| person.name_len);
        whole.chain(self.short_names.iter().flat_map(|shorter| shorter.lens)).max().unwrap_or(0).into()
    }

    pub(crate) fn set_clock(&mut self, by: ClockShift) {
        self.list.iter_mut().for_each(|person| person.said_at = person.last_at().shifted(by).into());
    }

    /// The person who spoke to this one last did not speak to its successor.
    pub(crate) fn no_partner(&mut self, slot: Slot) {
        self.list.iter_mut().filter(|person| person.partner == slot).for_each(|person| person.partner = NOBODY);
    }

    /// The slot stays taken as long as lines refer to it, but tells nothing any more.
    pub(crate) fn forget(&mut self, slot: Slot) {
        let Some(person) = self.get_mut(slot) else { return };
        person.odd = false;
        self.set_names(slot, [NameHash::default(); 3]);
        self.keys[usize::from(slot)] = 0;
        self.index();
    }
}

impl Participant {
    fn name(&self) -> NameHash {
        NameHash { hash: self.name_hash, len: self.name_len }
    }

    /// When it spoke last, by the clock.
    pub(crate) fn last_at(&self) -> Time {
        self.said_at.into()
    }

    pub(super) fn note_spoke(&mut self, number: u32, at: Time) {
        (self.last, self.said_at) = (number, at.into());
    }
}

/// As they are written into a snapshot.
#[derive(Serialize, Deserialize)]
struct StoredParticipants {
    keys: Vec<u64>,
    list: Vec<StoredParticipant>,
    odd: bool,
    names: [u64; 8],
}

#[derive(Serialize, Deserialize)]
struct StoredParticipant {
    /// The name, and what of it is said aloud: hash and length in bytes.
    names: [(u32, u8); 3],
    odd: bool,
    bot: bool,
    said: u16,
    starts: u16,
    directed: u16,
    drew: u16,
    last: u32,
    last_at: Time,
    partner: Slot,
}

impl From<Participants> for StoredParticipants {
    fn from(people: Participants) -> StoredParticipants {
        let stored = |(slot, person): (usize, &Participant)| {
            let &Participant { odd, bot, said, starts, directed, drew, last, partner, .. } = person;
            let names = people.names_of(slot as Slot).map(|NameHash { hash, len }| (hash, len));
            let last_at = person.last_at();
            StoredParticipant { names, odd, bot, said, starts, directed, drew, last, last_at, partner }
        };
        let list = people.list.iter().enumerate().map(stored).collect();
        StoredParticipants { keys: people.keys, list, odd: people.odd, names: people.names }
    }
}

impl From<StoredParticipants> for Participants {
    fn from(stored: StoredParticipants) -> Participants {
        let StoredParticipants { keys, list, odd, names } = stored;
        let mut people = Participants { keys, odd, names, ..Participants::default() };
        people.list.reserve_exact(list.len());
        for (stored, slot) in list.into_iter().zip(0..) {
            let StoredParticipant { odd, bot, said, starts, directed, drew, last, last_at, partner, .. } = stored;
            let (name_hash, name_len, said_at) = (0, 0, last_at.into());
            people.list.push(Participant {
                name_hash,
                name_len,
                said_at,
                last,
                said,
                starts,
                directed,
                drew,
                partner,
                bot,
                odd,
            });
            people.set_names(slot, stored.names.map(|(hash, len)| NameHash { hash, len }));
        }
        people
    }
}
