//! The folders of `locales/`, compiled in; the build script writes the list.

pub(super) struct Locale {
    /// The id in settings and folders; a BCP 47 language subtag.
    pub id: &'static str,
    /// Names and texts of its Fluent files.
    pub files: &'static [(&'static str, &'static str)],
    /// Names and texts of its prompts.
    pub prompts: &'static [(&'static str, &'static str)],
    /// Names and texts of its sample conversations.
    pub samples: &'static [(&'static str, &'static str)],
}

include!(concat!(env!("OUT_DIR"), "/locales.rs"));
