//! Who speaks in a place, and what they go by.

use serde::{Deserialize, Serialize};

use super::lexicon::Hasher;
use crate::types::Time;

/// A person's number within the place.
pub type Slot = u8;

pub const NOBODY: Slot = 255;
/// More than lines are kept, so that nobody is let go while a line of theirs is still there.
const PEOPLE_MAX: usize = 96;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct People {
    list: Vec<Person>,
    /// One bit for the hash of each name: most words are nobody's name.
    names: [u64; 8],
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Person {
    /// Hash of the id; 0 when forgotten.
    pub key: u64,
    /// The name, and what of it is said aloud: hash and length in bytes.
    name: (u32, u8),
    short: (u32, u8),
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

fn hash(name: &str) -> (u32, u8) {
    let hash = name.bytes().map(|byte| byte.to_ascii_lowercase()).fold(Hasher::default(), Hasher::with).finish();
    (hash, u8::try_from(name.len()).unwrap_or(0))
}

/// What stands before decorations: `田中@大阪` is called 田中.
fn short(name: &str) -> &str {
    let end =
        name.char_indices().skip(1).find(|(_, c)| "@＠(（【[|/／ 　".contains(*c)).map_or(name.len(), |(at, _)| at);
    &name[..end]
}

impl People {
    pub fn get(&self, slot: Slot) -> Option<&Person> {
        self.list.get(usize::from(slot))
    }

    pub fn get_mut(&mut self, slot: Slot) -> Option<&mut Person> {
        self.list.get_mut(usize::from(slot))
    }

    pub fn by_key(&self, key: u64) -> Option<Slot> {
        self.list.iter().position(|person| person.key == key).map(|slot| slot as Slot)
    }

    /// The person's slot, and whether somebody else had to give it up.
    pub fn meet(&mut self, key: u64, name: &str, bot: bool, at: Time) -> (Slot, bool) {
        if let Some(slot) = self.by_key(key) {
            let person = &mut self.list[usize::from(slot)];
            if person.name != hash(name) {
                person.call(name);
                self.index();
            }
            return (slot, false);
        }
        let mut person = Person {
            key,
            name: (0, 0),
            short: (0, 0),
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
            let oldest = self.list.iter().enumerate().min_by_key(|(_, person)| (person.key != 0, person.last));
            oldest.map_or(0, |(slot, _)| slot)
        } else {
            self.list.push(person.clone());
            self.list.len() - 1
        };
        self.list[slot] = person;
        if full {
            self.index();
        } else {
            self.note(slot);
        }
        (slot as Slot, full)
    }

    fn note(&mut self, slot: usize) {
        let person = &self.list[slot];
        for (hash, _) in [person.name, person.short] {
            self.names[hash as usize % 8] |= 1 << (hash >> 3 & 63);
        }
    }

    fn index(&mut self) {
        self.names = [0; 8];
        (0..self.list.len()).for_each(|slot| self.note(slot));
    }

    /// Who goes by exactly this text.
    pub fn named(&self, text: &str) -> Option<Slot> {
        let looked_for = hash(text);
        let maybe = self.names[looked_for.0 as usize % 8] >> (looked_for.0 >> 3 & 63) & 1 == 1;
        let goes_by = |person: &Person| person.name == looked_for || person.short == looked_for;
        maybe
            .then(|| self.list.iter().position(|person| person.key != 0 && goes_by(person)))
            .flatten()
            .map(|at| at as Slot)
    }

    /// Who is named right before the end of this text, whatever stands before it.
    pub fn named_at_end(&self, text: &str) -> Option<Slot> {
        self.alike(|(looked_for, len)| {
            let start = text.len().checked_sub(usize::from(len))?;
            Some(hash(text.get(start..)?).0 == looked_for)
        })
    }

    /// Who is named by how this text begins, though the name has spaces or is followed by none.
    pub fn named_at_start(&self, text: &str) -> Option<(Slot, usize)> {
        let begins = |(looked_for, len): (u32, u8)| {
            let name = text.get(..usize::from(len))?;
            let apart = text[name.len()..].chars().next().is_none_or(|c| !c.is_alphanumeric());
            Some(apart && hash(name).0 == looked_for)
        };
        if !self.list.iter().any(|person| person.odd) {
            return None;
        }
        let slot = self.alike(begins)?;
        let person = &self.list[usize::from(slot)];
        let len = if begins(person.name) == Some(true) { person.name.1 } else { person.short.1 };
        Some((slot, usize::from(len)))
    }

    fn alike(&self, is: impl Fn((u32, u8)) -> Option<bool>) -> Option<Slot> {
        let named = |name: (u32, u8)| name.1 > 0 && is(name) == Some(true);
        let place = self.list.iter().position(|person| person.key != 0 && (named(person.name) || named(person.short)));
        place.map(|at| at as Slot)
    }

    /// Whoever spoke to this one last did not speak to its successor.
    pub fn no_partner(&mut self, slot: Slot) {
        self.list.iter_mut().filter(|person| person.partner == slot).for_each(|person| person.partner = NOBODY);
    }

    /// The slot stays taken as long as lines refer to it, but tells nothing any more.
    pub fn forget(&mut self, slot: Slot) {
        let Some(person) = self.get_mut(slot) else { return };
        (person.key, person.name, person.short, person.odd) = (0, (0, 0), (0, 0), false);
        self.index();
    }
}

impl Person {
    fn call(&mut self, name: &str) {
        self.name = hash(name);
        self.short = hash(short(name));
        self.odd = name.contains(|c: char| !c.is_ascii_graphic());
    }
}
