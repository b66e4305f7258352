//! Thanks and complaints, in Japanese and English: what people say to a contribution they liked, or did not.

use std::sync::LazyLock;

use super::quiet::{SaidTo, WordPattern, asked_to_be_quiet, clauses, prepare, read_patterns, words};
use super::thanks::only_acknowledges;

const THANKS: &[&str] = &[
    "thank",
    "thx",
    "cheers",
    "much appreciated",
    "that helps",
    "that helped",
    "that worked",
    "good bot",
    "nice one",
    "ありがと",
    "有難",
    "有り難",
    "感謝",
    "助かっ",
    "助かる",
    "サンキュ",
    "さんきゅ",
    "なるほど、",
    "できました",
    "解決し",
];

/// Whole clauses with which somebody complains about the bot, beside those that tell it to be quiet; "~" that something it said is
/// wrong.
static COMPLAINTS: LazyLock<Vec<(char, WordPattern)>> = LazyLock::new(|| {
    read_patterns(
        "
[ugh|oh|god|wow|what_a|such_a|you|seriously|hey] (bad|stupid|dumb|annoying|useless|silly|noisy) (bot|robot|machine) [you]
[ugh|oh|god|wow] [how|so|really|very|just] [so|really|very] (annoying|unhelpful|not_helpful|useless|not_helping)
(this|that|it|you|this_bot|the_bot|the_thing|you're|that's|it's|youre|thats) [is|are|was|were] [so|really|very|just|being|too|pretty|quite|not_at_all] [so|really] (annoying|unhelpful|not_helpful|useless|not_helping|a_nuisance)
(stay|keep|butt) out of (this|it|our_conversation|this_conversation|our_talk)
~ [no|sorry|but] (that's|that_is|thats|it's|this_is|you're|you_are|youre) [all|just|plain|completely|totally|simply|so] (wrong|incorrect|false|not_true|not_right) [though|actually|i_think]
~ (wrong|incorrect|nope_wrong)
",
        "~",
    )
});

/// The same in Japanese, as whole clauses.
const DISAGREES: &str = "違います ちがいます 違う ちがう 違うよ 違うって 間違ってる 間違っている 間違ってます 間違っています 間違いです 間違ってるよ 間違いだよ それは違う それは違います";

/// How somebody responds to a contribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Thanks,
    TellsOff,
    /// Says that it is wrong, and no more: with what is right instead, it goes on.
    Disagrees,
    Neither,
}

/// A complaint together with thanks is a complaint.
pub(crate) fn tone(text: &str) -> Tone {
    let plain = text.to_lowercase().replace('’', "'");
    match complaint(text) {
        Some(tone) => tone,
        None if THANKS.iter().any(|word| plain.contains(word)) => Tone::Thanks,
        None => Tone::Neither,
    }
}

fn complaint(text: &str) -> Option<Tone> {
    if asked_to_be_quiet(text, SaidTo::BotPlainly).is_some() {
        return Some(Tone::TellsOff);
    }
    let text = prepare(text).filter(|text| !text.contains(['?', '"']))?;
    let clauses = clauses(&text, ".!?,;\n…—–()*~。、･・〜～");
    let japanese = |words: &str| DISAGREES.split_whitespace().any(|known| known == words);
    let tone_of = |clause: &str| {
        let words = words(clause);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let found = COMPLAINTS.iter().find(|(_, pattern)| pattern.is(&words));
        let english = found.map(|(sign, _)| if *sign == '~' { Tone::Disagrees } else { Tone::TellsOff });
        english.or_else(|| japanese(clause).then_some(Tone::Disagrees))
    };
    let tones: Vec<Option<Tone>> = clauses.iter().map(|clause| tone_of(clause.text)).collect();
    if tones.contains(&Some(Tone::TellsOff)) {
        return Some(Tone::TellsOff);
    }
    let is_all = || clauses.iter().zip(&tones).all(|(clause, tone)| tone.is_some() || says_nothing_else(clause.text));
    (tones.contains(&Some(Tone::Disagrees)) && is_all()).then_some(Tone::Disagrees)
}

fn says_nothing_else(clause: &str) -> bool {
    ["no", "nope", "sorry", "but", "いや", "いえ", "いいえ"].contains(&clause) || only_acknowledges(clause)
}

/// Emoji that are no praise.
const FROWNS: &[&str] = &["👎", "🤫", "😠", "😡", "🙄", "🤐", "thumbsdown", "-1", "shushing_face", "angry", "rage"];

/// Whether an emoji says that it should not have spoken.
pub(crate) fn is_disapproving(emoji: &str) -> bool {
    FROWNS.iter().any(|frown| emoji.trim_matches(':') == *frown || emoji.starts_with(frown) && !frown.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thanks_and_telling_off_are_heard_in_both_languages() {
        for thanks in ["Thanks, that did it", "おお、ありがとう！", "助かった"] {
            assert_eq!(tone(thanks), Tone::Thanks, "{thanks}");
        }
        for off in
            ["Nobody asked you", "bad bot", "how annoying", "うるさいなあ", "余計なお世話です", "stop it, please"]
        {
            assert_eq!(tone(off), Tone::TellsOff, "{off}");
        }
        for wrong in ["that’s wrong, thanks", "no, that is wrong.", "違います", "いや、違う"] {
            assert_eq!(tone(wrong), Tone::Disagrees, "{wrong}");
        }
        assert_eq!(tone("which one do you mean?"), Tone::Neither);
    }

    #[test]
    fn who_corrects_it_or_speaks_about_something_else_does_not_tell_it_off() {
        for text in [
            "that's wrong, I meant port 80",
            "違います、Windowsの方です",
            "パスワード認証をやめて鍵にしたい",
            "the error doesn't go away",
            "the beeping is annoying, can I turn it off",
            "please stop the container first",
            "ファンがうるさい件です",
            "no messages",
        ] {
            assert_eq!(tone(text), Tone::Neither, "{text}");
        }
    }

    #[test]
    fn a_frown_is_no_praise() {
        assert!(
            is_disapproving("👎") && is_disapproving("👎🏽") && is_disapproving(":thumbsdown:") && is_disapproving("-1")
        );
        assert!(!is_disapproving("👍") && !is_disapproving("+1") && !is_disapproving("❤️"));
    }
}
