//! Everything that is noticed in a text, in one pass over it: its name, keywords, calls for help, closing words.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::finder::{stands_alone, variants};
use super::lists::{CALLS_FOR_HELP, CLOSINGS};
use crate::settings::{MatchStyle, Settings};
use crate::types::Flags;

#[derive(Clone, Debug)]
pub(crate) struct Notice {
    automaton: AhoCorasick,
    /// What each pattern means, and when it counts.
    patterns: Vec<Pattern>,
}

#[derive(Clone, Debug)]
struct Pattern {
    word: Box<str>,
    flag: Flags,
    counts: MatchRule,
}

#[derive(Clone, Copy, Debug)]
enum MatchRule {
    /// Letter by letter, anywhere.
    Exactly,
    /// As a word of its own.
    AsName,
    /// Latin between other characters than letters, other scripts anywhere.
    AsPhrase,
}

/// Whether a call for help is worth anything: in points, or in odds where what was learnt decides.
fn calls_count(settings: &Settings) -> bool {
    let score = &settings.score;
    settings.points.of("calls_for_help") != 0 || (score.enabled && score.learned && score.call_odds != 1.0)
}

impl Notice {
    pub(crate) fn new(settings: &Settings) -> Notice {
        let mut patterns = Vec::new();
        let mut add = |words: Vec<String>, flag: Flags, counts: MatchRule| {
            let pattern = |word: String| Pattern { word: word.into(), flag, counts };
            patterns.extend(words.into_iter().filter(|word| !word.is_empty()).map(pattern));
        };
        let names: Vec<String> = std::iter::once(&settings.bot.name).chain(&settings.bot.aliases).cloned().collect();
        let keywords = settings.score.keywords.clone();
        match settings.address.name_match {
            MatchStyle::Substring => {
                add(names, Flags::NAMED, MatchRule::Exactly);
                add(keywords, Flags::KEYWORD, MatchRule::Exactly);
            }
            MatchStyle::Word => {
                add(variants(&names), Flags::NAMED, MatchRule::AsName);
                add(variants(&keywords), Flags::KEYWORD, MatchRule::AsName);
            }
        }
        let phrases = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        if calls_count(settings) {
            add(phrases(CALLS_FOR_HELP), Flags::CALL, MatchRule::AsPhrase);
        }
        if settings.points.of("closing") != 0 {
            add(phrases(CLOSINGS), Flags::CLOSING, MatchRule::AsPhrase);
        }
        let words = patterns.iter().map(|pattern: &Pattern| pattern.word.as_bytes());
        let mut builder = AhoCorasick::builder();
        builder.kind(Some(AhoCorasickKind::DFA)).match_kind(MatchKind::Standard).ascii_case_insensitive(true);
        Notice { automaton: builder.build(words).expect("a list of words fits into an automaton"), patterns }
    }

    pub(crate) fn of(&self, text: &str) -> Flags {
        let mut noticed = Flags::default();
        for found in self.automaton.find_overlapping_iter(text) {
            let pattern = &self.patterns[found.pattern()];
            if noticed.has(pattern.flag) {
                continue;
            }
            let counts = match pattern.counts {
                MatchRule::Exactly => text[found.range()] == *pattern.word,
                MatchRule::AsName => stands_alone(text, &found.range()),
                MatchRule::AsPhrase => {
                    !pattern.word.is_ascii() || between_other_letters(text, found.start(), found.end())
                }
            };
            noticed = noticed | pattern.flag.when(counts);
        }
        noticed
    }
}

fn between_other_letters(text: &str, start: usize, end: usize) -> bool {
    let joins = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    !joins(text.as_bytes()[..start].last()) && !joins(text.as_bytes().get(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policies;
    use crate::settings::Layers;

    fn notice(assignments: &[&str]) -> Notice {
        let mut layers = Layers::default();
        for assignment in assignments {
            layers.add_assignment(assignment);
        }
        let policies: Policies = layers.resolve(&|_| None).unwrap();
        Notice::new(&policies.general().settings)
    }

    #[test]
    fn a_name_inside_a_keyword_counts_as_both() {
        let noticed =
            notice(&["preset=sphene", "bot.name=ubuntu", "score.keywords=ubuntu server"]).of("my ubuntu server");
        assert_eq!(noticed, Flags::NAMED | Flags::KEYWORD);
        assert_eq!(notice(&["preset=sphene", "bot.name=Ubuntu"]).of("ubuntu, Ubuntuいいね"), Flags::NAMED);
        assert_eq!(notice(&["preset=sphene", "bot.name=Ubuntu"]).of("ubuntu"), Flags::default());
    }

    #[test]
    fn phrases_are_whole_where_there_are_spaces() {
        let notice = notice(&[]);
        for text in ["Thanks a lot", "どうもありがとうございます", "ok ty"] {
            assert_eq!(notice.of(text), Flags::CLOSING, "{text}");
        }
        assert_eq!(notice.of("方法教えて"), Flags::CALL);
        assert_eq!(notice.of("THANKS, can anyone help?"), Flags::CLOSING | Flags::CALL);
        assert_eq!(notice.of("city helper"), Flags::default());
    }
}
