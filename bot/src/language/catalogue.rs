//! The sentences of every language, parsed once.

use std::fmt::Write as _;
use std::sync::LazyLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::types::FluentValue;
use fluent_bundle::{FluentArgs, FluentResource};
use serde_json::Value as Json;

use super::locales::LOCALES;
use super::{Language, syntax};

/// The files whose messages the page of the web room shows.
const PAGE_FILES: [&str; 3] = ["decisions", "language", "page"];

static BUNDLES: LazyLock<Vec<FluentBundle<FluentResource>>> = LazyLock::new(|| {
    let bundle = |index: usize| {
        let id = LOCALES[index].id;
        let language = id.parse().unwrap_or_else(|error| panic!("locales/{id} is named like no language: {error}"));
        let mut bundle = FluentBundle::new_concurrent(vec![language]);
        bundle.set_use_isolating(false);
        bundle.set_formatter(Some(|value, _| {
            let FluentValue::Number(number) = value else { return None };
            number.options.use_grouping.then(|| grouped(number.value))
        }));
        for (name, text) in LOCALES[index].files {
            let added = bundle.add_resource(resource(id, name, text));
            added.unwrap_or_else(|errors| panic!("locales/{id}/{name}.ftl: {errors:?}"));
        }
        bundle
    };
    (0..LOCALES.len()).map(bundle).collect()
});

/// The tests parse every file, so what is compiled in is well formed.
fn resource(id: &str, name: &str, text: &str) -> FluentResource {
    FluentResource::try_new(text.to_owned()).unwrap_or_else(|(_, errors)| panic!("locales/{id}/{name}.ftl: {errors:?}"))
}

impl Language {
    /// A sentence without arguments; the key of an attribute follows a full stop.
    pub fn text(self, key: &str) -> String {
        format(self, key, &FluentArgs::new())
    }

    /// Whether any language has this key.
    pub fn has(key: &str) -> bool {
        find(Language::ENGLISH, key, &FluentArgs::new(), &mut Vec::new()).is_some()
    }
}

/// Falls back to English if this language does not have the key, and to the key itself if none has.
pub(super) fn format(language: Language, key: &str, arguments: &FluentArgs<'_>) -> String {
    let mut errors = Vec::new();
    let text = find(language, key, arguments, &mut errors)
        .or_else(|| find(Language::ENGLISH, key, arguments, &mut errors))
        .unwrap_or_else(|| key.to_owned());
    debug_assert!(errors.is_empty(), "{key} in {language:?}: {errors:?}");
    text
}

fn find(
    language: Language,
    key: &str,
    arguments: &FluentArgs<'_>,
    errors: &mut Vec<fluent_bundle::FluentError>,
) -> Option<String> {
    let bundle = &BUNDLES[language.index()];
    let pattern = match key.split_once('.') {
        Some((id, attribute)) => bundle.get_message(id)?.get_attribute(attribute)?.value(),
        None => bundle.get_message(key)?.value()?,
    };
    Some(bundle.format_pattern(pattern, Some(arguments), errors).into_owned())
}

/// Formats 1234567 as "1,234,567".
fn grouped(value: f64) -> String {
    let digits = (value as u64).to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        write!(text, "{digit}").expect("a string takes every text");
    }
    text
}

/// The messages of the page, as data for its evaluator; see `syntax`.
pub fn page_messages(language: Language) -> Json {
    let mut all = serde_json::Map::new();
    let locale = &LOCALES[language.index()];
    for (name, text) in locale.files.iter().filter(|(name, _)| PAGE_FILES.contains(name)) {
        let resource = resource(locale.id, name, text);
        for (key, pattern) in syntax::patterns(resource.entries()) {
            let pattern = syntax::to_json(pattern);
            all.insert(key.clone(), pattern.unwrap_or_else(|what| panic!("locales/{}: {key}: {what}", locale.id)));
        }
    }
    Json::Object(all)
}
