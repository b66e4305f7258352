//! Who speaks in a place, and what they go by.

use serde::{Deserialize, Serialize};

use super::lexicon::Hasher;
use super::tracker::grow_exactly;
use crate::types::{ClockShift, Time};

/// A person's number within the place.
pub(crate) type Slot = u8;

pub(crate) const NOBODY: Slot = 255;
/// More than lines are kept, so that nobody is let go while a line of theirs is still there.
const PEOPLE_MAX: usize = 96;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Participants {
    /// Hashes of their ids, 0 when forgotten: apart from the rest, as all of them are looked through for each message.
    keys: Vec<u64>,
    list: Vec<Participant>,
    /// Somebody's name is not one run of ASCII.
    odd: bool,
    /// One bit for the hash of each name: most words are nobody's name.
    names: [u64; 8],
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Participant {
    names: PersonNames,
    /// Not one run of ASCII: to be looked for in the text itself.
    odd: bool,
    pub bot: bool,
    pub said: u16,
    pub starts: u16,
    pub directed: u16,
    /// How often somebody joined at a message of theirs.
    pub drew: u16,
    /// When it spoke last, by number and by the clock.
    pub last: u32,
    pub last_at: Time,
    /// To whom it spoke last.
    pub partner: Slot,
}

/// The name, and what of it is said aloud: hash and length in bytes. Hashes and lengths apart take less space than pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[(u32, u8); 3]", into = "[(u32, u8); 3]")]
struct PersonNames {
    hashes: [u32; 3],
    lengths: [u8; 3],
}

impl From<[(u32, u8); 3]> for PersonNames {
    fn from(names: [(u32, u8); 3]) -> PersonNames {
        PersonNames { hashes: names.map(|(hash, _)| hash), lengths: names.map(|(_, length)| length) }
    }
}

impl From<PersonNames> for [(u32, u8); 3] {
    fn from(names: PersonNames) -> [(u32, u8); 3] {
        std::array::from_fn(|index| names.get(index))
    }
}

impl PersonNames {
    fn get(&self, index: usize) -> (u32, u8) {
        (self.hashes[index], self.lengths[index])
    }

    fn iter(&self) -> impl Iterator<Item = (u32, u8)> {
        self.hashes.into_iter().zip(self.lengths)
    }
}

fn hash(name: &str) -> (u32, u8) {
    let hash = name.bytes().map(|byte| byte.to_ascii_lowercase()).fold(Hasher::default(), Hasher::with).finish();
    (hash, u8::try_from(name.len()).unwrap_or(0))
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
            let person = &mut self.list[usize::from(slot)];
            if person.names.get(0) != hash(name) {
                person.call(name);
                self.index();
            }
            return (slot, false);
        }
        let mut person = Participant {
            names: PersonNames::default(),
            odd: false,
            bot,
            said: 0,
            starts: 0,
            directed: 0,
            drew: 0,
            last: 0,
            last_at: at,
            partner: NOBODY,
        };
        person.call(name);
        let full = self.list.len() >= PEOPLE_MAX;
        let slot = if full {
            let age = |(slot, person): &(usize, &Participant)| (self.keys[*slot] != 0, person.last);
            self.list.iter().enumerate().min_by_key(age).map_or(0, |(slot, _)| slot)
        } else {
            grow_exactly(&mut self.list, PEOPLE_MAX);
            grow_exactly(&mut self.keys, PEOPLE_MAX);
            self.list.push(person.clone());
            self.keys.push(key);
            self.list.len() - 1
        };
        (self.list[slot], self.keys[slot]) = (person, key);
        if full {
            self.index();
        } else {
            self.note(slot);
        }
        (slot as Slot, full)
    }

    fn note(&mut self, slot: usize) {
        for hash in self.list[slot].names.hashes {
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

    fn goes_by(&self, looked_for: (u32, u8)) -> Option<Slot> {
        let maybe = self.names[looked_for.0 as usize % 8] >> (looked_for.0 >> 3 & 63) & 1 == 1;
        let goes_by = |person: &Participant| person.names.iter().any(|name| name == looked_for);
        maybe.then(|| self.list.iter().position(goes_by)).flatten().map(|at| at as Slot)
    }

    /// Who is named right before the end of this text, whatever is before it.
    pub(crate) fn named_at_end(&self, text: &str) -> Option<Slot> {
        self.alike(|(looked_for, len)| {
            let start = text.len().checked_sub(usize::from(len))?;
            Some(hash(text.get(start..)?).0 == looked_for)
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
            if let Some(slot) = self.goes_by((hasher.finish(), len as u8)).filter(|_| ends()) {
                found = Some((slot, len));
            }
        }
        found
    }

    /// In bytes; those that are too long to be compared do not count.
    fn longest_name(&self) -> usize {
        let lengths = self.list.iter().flat_map(|person| person.names.lengths);
        lengths.max().unwrap_or(0).into()
    }

    fn alike(&self, is: impl Fn((u32, u8)) -> Option<bool>) -> Option<Slot> {
        let named = |name: (u32, u8)| name.1 > 0 && is(name) == Some(true);
        let index = self.list.iter().position(|person| person.names.iter().any(named));
        index.map(|at| at as Slot)
    }

    /// Whoever spoke to this one last did not speak to its successor.
    pub(crate) fn set_clock(&mut self, by: ClockShift) {
        self.list.iter_mut().for_each(|person| person.last_at = person.last_at.shifted(by));
    }

    pub(crate) fn no_partner(&mut self, slot: Slot) {
        self.list.iter_mut().filter(|person| person.partner == slot).for_each(|person| person.partner = NOBODY);
    }

    /// The slot stays taken as long as lines refer to it, but tells nothing any more.
    pub(crate) fn forget(&mut self, slot: Slot) {
        let Some(person) = self.get_mut(slot) else { return };
        (person.names, person.odd) = (PersonNames::default(), false);
        self.keys[usize::from(slot)] = 0;
        self.index();
    }
}

impl Participant {
    fn call(&mut self, name: &str) {
        self.names = [hash(name), hash(short(name)), hash(family(short(name)))].into();
        self.odd = name.contains(|c: char| !c.is_ascii_graphic());
    }
}
