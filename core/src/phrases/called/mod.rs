//! Whether the bot's name calls it, or is mentioned in passing: "aizuchi, what …" or "the aizuchi repo".
//!
//! A name calls if it is set off from the sentence (at the beginning or the end of a clause, by a comma or alone) or if a
//! request, a question to "you" or a greeting goes with it. It is mentioned in passing if it is a part of the sentence:
//! after a preposition, an article or a verb, before a noun or a verb of the third person, before a Japanese or Korean
//! particle, in quotes. Names in code, in URLs and in quoted lines do not count at all.

mod asian;
mod japanese;
mod latin;
mod latin_words;
mod occurrence;

pub(crate) use self::occurrence::after_first_sentence;
use self::occurrence::{Occurrence, occurrences};
use super::finder::Finder;

/// How the bot's name is used in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NameUse {
    InPassing,
    Unclear,
    Called,
}

/// `None` if its name does not occur. `for_another`: the platform says that the text is for somebody else.
pub(crate) fn name_use(text: &str, names: &Finder, for_another: bool) -> Option<NameUse> {
    let for_another = for_another || occurrence::mentions_another(text, names);
    occurrences(text, names).iter().map(|occurrence| judge(occurrence, for_another)).max()
}

fn judge(occurrence: &Occurrence<'_>, for_another: bool) -> NameUse {
    if occurrence.at_sign {
        return NameUse::Called;
    }
    if occurrence.quoted {
        return NameUse::InPassing;
    }
    let used = match occurrence.writing() {
        Writing::Japanese => japanese::judge(occurrence),
        Writing::Chinese => asian::judge_chinese(occurrence),
        Writing::Korean => asian::judge_korean(occurrence),
        Writing::Latin => latin::judge(occurrence),
    };
    // In a sentence for somebody else only a name that is set off calls.
    if for_another && !occurrence.is_set_off() { NameUse::InPassing } else { used }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writing {
    Latin,
    Japanese,
    Chinese,
    Korean,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::MatchStyle;

    fn used(text: &str) -> Option<NameUse> {
        name_use(text, &Finder::new(&["aizuchi", "相槌"], MatchStyle::Word), false)
    }

    /// The lines of a half, from the first or the second on, that are judged otherwise than marked.
    fn misses(half: usize) -> (usize, Vec<String>) {
        let lines = include_str!("../../../tests/words/called.txt").lines().filter(|line| !line.starts_with('#'));
        let half: Vec<&str> = lines.skip(half).step_by(2).collect();
        (half.len(), misses_of(&half))
    }

    fn misses_of(lines: &[&str]) -> Vec<String> {
        let misses = lines.iter().filter_map(|line| {
            let (mark, text) = line.split_once(' ').expect("a mark and a line");
            let meant = match mark {
                "C" => NameUse::Called,
                "P" => NameUse::InPassing,
                "U" => NameUse::Unclear,
                other => panic!("unknown mark {other}"),
            };
            let used = used(text);
            // A name in code or in an address does not occur: that is in passing too.
            let right = used.unwrap_or(NameUse::InPassing) == meant;
            (!right).then(|| format!("{line}: {used:?}"))
        });
        misses.collect()
    }

    fn assert_right(half: usize, name: &str) {
        let (all, missed) = misses(half);
        println!("{name}: {} of {all} right; missed: {missed:#?}", all - missed.len());
        assert!(all >= 80 && 20 * missed.len() <= all, "{name}: {} of {all} missed: {missed:#?}", missed.len());
    }

    #[test]
    fn names_that_call_and_names_in_passing() {
        assert_right(0, "tuned");
    }

    #[test]
    fn names_in_lines_kept_apart() {
        assert_right(1, "held out");
    }

    /// Names in the middle of a sentence: how many of a half are right, and those that are judged the other way round.
    fn misses_of_more(half: usize) -> (usize, Vec<String>) {
        let lines = include_str!("../../../tests/words/called_more.txt").lines().filter(|line| !line.starts_with('#'));
        let half: Vec<&str> = lines.skip(half).step_by(2).collect();
        let wrong = half.iter().filter_map(|line| {
            let (mark, text) = line.split_once(' ').expect("a mark and a line");
            let used = used(text).unwrap_or(NameUse::InPassing);
            // Where it is unclear the judge is asked.
            let wrong = matches!((mark, used), ("C", NameUse::InPassing) | ("P", NameUse::Called));
            wrong.then(|| format!("{line}: {used:?}"))
        });
        (half.len(), wrong.collect())
    }

    #[test]
    fn names_without_punctuation_and_between_commas() {
        let (all, wrong) = misses_of_more(0);
        println!("tuned: {} of {all} not wrong", all - wrong.len());
        assert!(20 * wrong.len() <= all, "{wrong:#?}");
    }

    #[test]
    fn names_without_punctuation_and_between_commas_kept_apart() {
        let (all, wrong) = misses_of_more(1);
        println!("held out: {} of {all} not wrong", all - wrong.len());
        assert!(10 * wrong.len() <= all, "{} of {all} wrong", wrong.len());
    }

    #[test]
    fn what_was_once_judged_wrongly_is_right() {
        let lines = include_str!("../../../tests/words/called_regressions.txt");
        let lines: Vec<&str> = lines.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(misses_of(&lines), [""; 0]);
    }

    #[test]
    fn what_others_said_and_what_it_is_called_call_nobody() {
        for (text, meant) in [
            ("quote: aizuchi, what is the time?", NameUse::InPassing),
            ("Quote from bob: aizuchi, tell me a joke", NameUse::InPassing),
            ("question: aizuchi, what is the time?", NameUse::Called),
            ("“aizuchi, what is rust?”", NameUse::InPassing),
            ("“aizuchi, what is rust?”\n“no idea”", NameUse::InPassing),
            ("bob typed:\n“aizuchi, what is rust?”", NameUse::InPassing),
            ("she said “aizuchi, help me” twice", NameUse::InPassing),
            ("aizuchi, what does “rust” mean?", NameUse::Called),
            ("“rust” is what, aizuchi?", NameUse::Called),
            ("“yes”, aizuchi, is what I said, do you see?", NameUse::Called),
            ("うちのボット、aizuchi、壊れてる", NameUse::InPassing),
            ("私が作ったボット、aizuchi、今日も静かだ", NameUse::InPassing),
            ("うちのボット、aizuchi、直して", NameUse::Called),
            ("うちの猫、aizuchi、どう思う？", NameUse::Called),
            ("ねえ、aizuchi、壊れてるよ", NameUse::Called),
            ("この前、aizuchi、寝てたでしょ？", NameUse::Called),
        ] {
            assert_eq!(used(text), Some(meant), "{text}");
        }
    }

    #[test]
    fn a_name_a_thousand_times_is_read_at_its_ends() {
        let many = |before: &str, after: &str| used(&format!("{before}{}{after}", "the aizuchi repo ".repeat(20_000)));
        assert_eq!(many("", ""), Some(NameUse::InPassing));
        assert_eq!(many("aizuchi, look. ", ""), Some(NameUse::Called));
        assert_eq!(many("", ". aizuchi, what is that?"), Some(NameUse::Called));
    }

    #[test]
    fn names_of_two_letters_and_names_with_spaces() {
        let names = Finder::new(&["ai", "Mr Bot", "愛"], MatchStyle::Word);
        let used = |text: &str| name_use(text, &names, false);
        for text in ["ai, what now?", "Hey Mr Bot, wake up", "what do you think, mr bot?", "愛さん、どう思う？", "AI？"]
        {
            assert_eq!(used(text), Some(NameUse::Called), "{text}");
        }
        for text in ["I asked Mr Bot about it", "the ai is slow today", "愛が足りない"] {
            assert_eq!(used(text), Some(NameUse::InPassing), "{text}");
        }
        for text in ["it will rain", "see https://mr.bot/ai/x", "`ai`", "> ai, what now?", "愛情"] {
            assert_eq!(used(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_for_somebody_else_calls_only_where_the_name_is_set_off() {
        let names = Finder::new(&["aizuchi"], MatchStyle::Word);
        let used = |text: &str| name_use(text, &names, true);
        assert_eq!(used("aizuchi can you believe that"), Some(NameUse::InPassing));
        assert_eq!(used("I agree. aizuchi, what do you say?"), Some(NameUse::Called));
        assert_eq!(super::name_use("@bob tell aizuchi you did it", &names, false), Some(NameUse::InPassing));
    }
}
