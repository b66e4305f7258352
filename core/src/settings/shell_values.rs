//! What the shell reads from the layers: its sections, families of sections, and single keys.

use std::collections::BTreeMap;

use super::layers::Layers;
use super::problem::Problem;
use super::section::{Section, SectionFamily, read_family};
use super::value::Setting;

impl Layers {
    /// A section of the shell, checked.
    pub fn section<S: Section>(&self) -> Result<S, Vec<Problem>> {
        let mut problems = self.problems.clone();
        let mut flat = self.general_table(&mut problems);
        let read = flat.as_mut().and_then(S::read_checked);
        problems.extend(flat.into_iter().flat_map(|flat| flat.problems));
        match read {
            Some(section) if problems.is_empty() => Ok(section),
            _ => Err(problems),
        }
    }

    /// All sections of a family of the shell by name, checked.
    pub fn family<F: SectionFamily>(&self) -> Result<BTreeMap<String, F>, Vec<Problem>> {
        let mut problems = self.problems.clone();
        let mut flat = self.general_table(&mut problems);
        let read = flat.as_mut().map(read_family::<F>);
        problems.extend(flat.into_iter().flat_map(|flat| flat.problems));
        match read {
            Some(sections) if problems.is_empty() => Ok(sections),
            _ => Err(problems),
        }
    }

    /// The value of a single key; `None` if the key does not exist or the value is invalid.
    pub fn value<T: Setting>(&self, key: &str) -> Option<T> {
        self.general_table(&mut Vec::new())?.peek(key)
    }

    /// Whether a section of the shell, or one key of it, is the same in both.
    pub fn sets_alike(&self, other: &Layers, name: &str) -> bool {
        let of = |layers: &Layers| layers.general_table(&mut Vec::new());
        let (Some(own), Some(others)) = (of(self), of(other)) else { return false };
        own.is_alike(&others, name)
    }
}
