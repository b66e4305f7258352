//! Sections that the engine does not use: their users declare keys, types and checks beside their own code, with
//! [`settings_section!`](crate::settings_section), and a [`Shell`] has them all.

use std::collections::BTreeMap;

use super::DEFAULT;
use super::flat::{Entry, Flat};
use super::layers::{DEFAULT_FILE, parse_own};

/// A section of the settings, read and checked by who declares it.
pub trait Section: Sized {
    const NAME: &'static str;
    const KEYS: &'static [SectionKey];
    /// The part of the manual that is about it: its name in brackets, and each key with a sentence and its default.
    const DEFAULTS: &'static str;

    /// Reads every key, leaving in `flat` a problem for each that does not fit.
    fn read(flat: &mut Flat) -> Option<Self>;

    /// Checks that the type of a single key does not make.
    fn check(&self, flat: &mut Flat);

    fn read_checked(flat: &mut Flat) -> Option<Self> {
        let section = Self::read(flat)?;
        section.check(flat);
        Some(section)
    }
}

/// A key with its section, such as `web.address`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionKey {
    pub name: &'static str,
    pub is_secret: bool,
}

/// What the settings have to know about a section that they do not use.
#[derive(Clone, Copy, Debug)]
pub struct SectionRow {
    pub name: &'static str,
    pub keys: &'static [SectionKey],
    pub defaults: &'static str,
    /// Leaves what is wrong in the table.
    pub(super) check: fn(&mut Flat),
}

impl SectionRow {
    pub const fn of<S: Section>() -> SectionRow {
        SectionRow { name: S::NAME, keys: S::KEYS, defaults: S::DEFAULTS, check: |flat| drop(S::read_checked(flat)) }
    }
}

/// What the settings have to know about the shell.
#[derive(Debug)]
pub struct Shell {
    pub(super) sections: Vec<SectionRow>,
    pub(super) checks: Vec<fn(&mut Flat)>,
    pub(super) defaults: BTreeMap<String, Entry>,
    manual: String,
}

impl Shell {
    /// `checks` look at settings of the engine that only the shell can judge.
    pub fn new(sections: Vec<SectionRow>, checks: Vec<fn(&mut Flat)>) -> Shell {
        let further = sections.iter().map(|row| format!("\n{}", row.defaults)).collect::<String>();
        let manual = format!("{DEFAULT}{further}");
        let defaults = parse_own(DEFAULT_FILE, &manual).into_iter().collect();
        Shell { sections, checks, defaults, manual }
    }

    /// Every setting with its default and a sentence, those of the engine first.
    pub fn manual(&self) -> &str {
        &self.manual
    }

    pub fn sections(&self) -> &[SectionRow] {
        &self.sections
    }
}

/// Declares a section: its name, its struct, each key with type and bounds, and its part of the manual. `check` is given the
/// section and the table.
#[macro_export]
macro_rules! settings_section {
    (
        $(#[$doc:meta])*
        $section:ident: $struct:ident { $($(#[$key_doc:meta])* $key:ident: $type:ty = $bounds:expr,)* }
        defaults: $defaults:expr,
        check: $check:expr
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $struct { $($(#[$key_doc])* pub $key: $type,)* }

        impl $crate::settings::Section for $struct {
            const NAME: &'static str = stringify!($section);
            const KEYS: &'static [$crate::settings::SectionKey] = &[$($crate::settings::SectionKey {
                name: concat!(stringify!($section), ".", stringify!($key)),
                is_secret: <$type as $crate::settings::Setting>::IS_SECRET,
            },)*];

            const DEFAULTS: &'static str = $defaults;

            fn read(flat: &mut $crate::settings::Flat) -> Option<$struct> {
                $(let $key = flat.read::<$type>(concat!(stringify!($section), ".", stringify!($key)), &$bounds);)*
                Some($struct { $($key: $key?,)* })
            }

            fn check(&self, flat: &mut $crate::settings::Flat) {
                ($check)(self, flat)
            }
        }
    };
}
