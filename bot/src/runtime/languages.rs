//! In which language people spoke last in a room: excuses are made in it.

use std::collections::HashMap;

use aizuchi_core::types::RoomId;

use crate::language::Language;

/// Rooms whose language is known; elsewhere excuses are made in English until somebody speaks there again.
const ROOMS_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub struct RoomLanguages(HashMap<RoomId, Language>);

impl RoomLanguages {
    pub fn note_language(&mut self, room: &RoomId, text: &str) {
        self.set(room, Language::of_text(text));
    }

    pub fn set(&mut self, room: &RoomId, language: Language) {
        if self.0.get(room) == Some(&language) {
            return;
        }
        if self.0.len() >= ROOMS_MAX
            && !self.0.contains_key(room)
            && let Some(any) = self.0.keys().next().cloned()
        {
            self.0.remove(&any);
        }
        self.0.insert(room.clone(), language);
    }

    pub fn of(&self, room: &RoomId) -> Option<Language> {
        self.0.get(room).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_rooms_leave_the_latest_and_no_more_than_there_may_be() {
        let mut languages = RoomLanguages::default();
        for number in 0..2 * ROOMS_MAX {
            let room = RoomId::new(format!("log:room{number}"));
            languages.note_language(&room, "good morning");
            languages.note_language(&room, "おはよう");
            assert_eq!(languages.of(&room), Language::from_id("ja"));
        }
        assert_eq!(languages.0.len(), ROOMS_MAX);
    }
}
