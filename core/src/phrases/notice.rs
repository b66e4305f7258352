//! Everything that is detected in a text, in one pass over it: the bot's name, keywords, calls for help, closing words.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::finder::{stands_alone, variants};
use super::lists::{CALLS_ALONE, CALLS_FOR_HELP, CALLS_THAT_BEGIN, CALLS_WITH_HELP, CLOSINGS};
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
    /// As a substring, anywhere.
    Exactly,
    /// As a word of its own.
    AsName,
    /// Latin words between non-letters, other scripts anywhere.
    AsPhrase,
    /// Whole words with which a clause begins.
    BeginsClause,
    /// A clause of its own: with punctuation, or the ends of the text, on both sides.
    AsClause,
}

/// Whether a call for help counts: in points, or in odds if the learnt models decide.
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
            add(phrases(CALLS_WITH_HELP), Flags::CALL, MatchRule::AsPhrase);
            add(phrases(CALLS_THAT_BEGIN), Flags::CALL, MatchRule::BeginsClause);
            add(phrases(CALLS_ALONE), Flags::CALL, MatchRule::AsClause);
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
                MatchRule::BeginsClause => {
                    begins_clause(&text[..found.start()]) && between_other_letters(text, found.start(), found.end())
                }
                MatchRule::AsClause => begins_clause(&text[..found.start()]) && ends_clause(&text[found.end()..]),
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

/// Whether a clause begins after this.
fn begins_clause(before: &str) -> bool {
    before.trim_end().chars().next_back().is_none_or(|c| CLAUSE_ENDS.contains(c))
}

/// Whether a clause ends before this, which may continue with a smiley.
fn ends_clause(after: &str) -> bool {
    let spaced = after.starts_with(char::is_whitespace);
    after.trim_start().chars().next().is_none_or(|c| CLAUSE_ENDS.contains(c) || (spaced && !c.is_alphanumeric()))
}

/// What a clause ends with.
const CLAUSE_ENDS: &str = ".,!?:;…。、！？：";

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

    #[test]
    fn help_counts_where_somebody_calls_for_it() {
        let notice = notice(&[]);
        let calls = [
            "help!",
            "Help",
            "HELP, my disk is full",
            "ugh... help?",
            "alice: help :(",
            "please help me with grub",
            "can someone help with grub?",
            "could you help us out",
            "I need some help here",
            "any help is welcome",
            "help me!",
            "need help with grub",
            "pls help",
            "助けて",
        ];
        for text in calls {
            assert_eq!(notice.of(text), Flags::CALL, "{text}");
        }
        let mentions = [
            "that will help people",
            "does restarting it help?",
            "it did help, a little",
            "see man help for the flags",
            "the help page is empty",
            "glad I could help!",
            "happy to help :)",
            "no need, but it can help",
            "run it with --help",
            "type /help",
            "helped a lot",
            "that would help me a lot",
            "tell me if you need help",
        ];
        for text in mentions {
            assert_eq!(notice.of(text), Flags::default(), "{text}");
        }
    }
}
