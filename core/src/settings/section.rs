//! Sections that the engine does not use: their users declare keys, types and checks beside their own code, with
//! [`settings_section!`](crate::settings_section), and a [`Shell`] has them all.

use std::collections::BTreeMap;

use super::DEFAULT;
use super::flat::{Entry, Flat};
use super::layers::{DEFAULT_FILE, parse_own};

/// A section of the settings, read and validated by the code that declares it.
pub trait Section: Sized {
    const NAME: &'static str;
    const KEYS: &'static [SectionKey];
    /// Its part of the manual: its name in brackets, and each key with a sentence and its default.
    const DEFAULTS: &'static str;

    /// Reads every key, adding a problem to `flat` for each invalid one.
    fn read(flat: &mut Flat) -> Option<Self>;

    /// Checks beyond the types of single keys.
    fn check(&self, flat: &mut Flat);

    fn read_checked(flat: &mut Flat) -> Option<Self> {
        let section = Self::read(flat)?;
        section.check(flat);
        Some(section)
    }
}

/// A table of sections that people name themselves, such as `[mcp.NAME]`. None of its keys has a default.
pub trait SectionFamily: Sized {
    const NAME: &'static str;
    /// The keys of each.
    const FIELDS: &'static [&'static str];
    /// Its part of the manual, all of it comments.
    const DEFAULTS: &'static str;

    /// Reads one of them; `path` is its name with the family's, such as `mcp.time`. Adds a problem to `flat` for what is
    /// invalid.
    fn read(path: &str, flat: &mut Flat) -> Option<Self>;
}

/// What the settings need to know about a family of sections.
#[derive(Clone, Copy, Debug)]
pub struct FamilyRow {
    pub name: &'static str,
    pub fields: &'static [&'static str],
    pub defaults: &'static str,
    pub(super) check: fn(&mut Flat),
}

impl FamilyRow {
    pub const fn of<F: SectionFamily>() -> FamilyRow {
        FamilyRow {
            name: F::NAME,
            fields: F::FIELDS,
            defaults: F::DEFAULTS,
            check: |flat| drop(read_family::<F>(flat)),
        }
    }

    /// Whether this is a key of one of its sections.
    pub(super) fn has(&self, key: &str) -> bool {
        let rest = key.strip_prefix(self.name).and_then(|rest| rest.strip_prefix('.'));
        let named = rest.and_then(|rest| rest.rsplit_once('.'));
        named.is_some_and(|(name, field)| !name.is_empty() && self.fields.contains(&field))
    }
}

/// All sections of a family by their names.
pub(super) fn read_family<F: SectionFamily>(flat: &mut Flat) -> BTreeMap<String, F> {
    let beginning = format!("{}.", F::NAME);
    let paths = flat.keys_below(&beginning).into_iter().filter_map(|key| Some(key.rsplit_once('.')?.0.to_owned()));
    let paths: std::collections::BTreeSet<String> = paths.filter(|path| path.len() > beginning.len()).collect();
    let read = |path: String| Some((path[beginning.len()..].to_owned(), F::read(&path, flat)?));
    paths.into_iter().filter_map(read).collect()
}

/// A key with its section, such as `web.address`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionKey {
    pub name: &'static str,
    pub is_secret: bool,
}

/// What the settings need to know about a section that they do not use.
#[derive(Clone, Copy, Debug)]
pub struct SectionRow {
    pub name: &'static str,
    pub keys: &'static [SectionKey],
    pub defaults: &'static str,
    /// Adds the problems to the table.
    pub(super) check: fn(&mut Flat),
}

impl SectionRow {
    pub const fn of<S: Section>() -> SectionRow {
        SectionRow { name: S::NAME, keys: S::KEYS, defaults: S::DEFAULTS, check: |flat| drop(S::read_checked(flat)) }
    }
}

/// What the settings need to know about the shell.
#[derive(Debug)]
pub struct Shell {
    pub(super) sections: Vec<SectionRow>,
    pub(super) families: Vec<FamilyRow>,
    pub(super) checks: Vec<fn(&mut Flat)>,
    pub(super) defaults: BTreeMap<String, Entry>,
    manual: String,
}

impl Shell {
    /// `checks` validate settings of the engine that only the shell can judge.
    pub fn new(sections: Vec<SectionRow>, families: Vec<FamilyRow>, checks: Vec<fn(&mut Flat)>) -> Shell {
        let parts = sections.iter().map(|row| row.defaults).chain(families.iter().map(|row| row.defaults));
        let further = parts.map(|defaults| format!("\n{defaults}")).collect::<String>();
        let manual = format!("{DEFAULT}{further}");
        let defaults = parse_own(DEFAULT_FILE, &manual).into_iter().collect();
        Shell { sections, families, checks, defaults, manual }
    }

    /// Every setting with its default and a sentence, those of the engine first.
    pub fn manual(&self) -> &str {
        &self.manual
    }

    pub fn sections(&self) -> &[SectionRow] {
        &self.sections
    }
}

/// Declares a section: its name, its struct, each key with type and bounds, and its part of the manual. `check` gets the
/// section and the table.
#[macro_export]
macro_rules! settings_section {
    (
        $(#[$doc:meta])*
        $section:literal: $struct:ident { $($(#[$key_doc:meta])* $key:ident: $type:ty = $bounds:expr,)* }
        defaults: $defaults:expr,
        check: $check:expr
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $struct { $($(#[$key_doc])* pub $key: $type,)* }

        impl $crate::settings::Section for $struct {
            const NAME: &'static str = $section;
            const KEYS: &'static [$crate::settings::SectionKey] = &[$($crate::settings::SectionKey {
                name: concat!($section, ".", stringify!($key)),
                is_secret: <$type as $crate::settings::Setting>::IS_SECRET,
            },)*];

            const DEFAULTS: &'static str = $defaults;

            fn read(flat: &mut $crate::settings::Flat) -> Option<$struct> {
                $(let $key = flat.read::<$type>(concat!($section, ".", stringify!($key)), &$bounds);)*
                Some($struct { $($key: $key?,)* })
            }

            fn check(&self, flat: &mut $crate::settings::Flat) {
                ($check)(self, flat)
            }
        }
    };
}
