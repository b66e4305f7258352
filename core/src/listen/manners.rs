//! Thanks and complaints, in Japanese and English: what people say to a contribution they liked, or did not.

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

const TELLING_OFF: &[&str] = &[
    "shut up",
    "be quiet",
    "stop it",
    "stop that",
    "bad bot",
    "nobody asked",
    "no one asked",
    "go away",
    "stay out of",
    "not helpful",
    "unhelpful",
    "that is wrong",
    "that's wrong",
    "mind your own",
    "annoying",
    "please stop",
    "うるさい",
    "うるせ",
    "黙れ",
    "黙って",
    "だまれ",
    "だまって",
    "静かに",
    "邪魔",
    "じゃま",
    "余計なお世話",
    "口を挟",
    "口をはさ",
    "聞いてない",
    "呼んでない",
    "やめて",
    "間違って",
    "違います",
    "ちがいます",
    "空気読",
];

/// How somebody responds to a contribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Thanks,
    TellsOff,
    Neither,
}

/// A complaint together with thanks is a complaint.
pub(crate) fn tone(text: &str) -> Tone {
    let plain = text.to_lowercase().replace('’', "'");
    let has = |words: &[&str]| words.iter().any(|word| plain.contains(word));
    if has(TELLING_OFF) {
        Tone::TellsOff
    } else if has(THANKS) {
        Tone::Thanks
    } else {
        Tone::Neither
    }
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
        for off in ["Nobody asked you", "that’s wrong, thanks", "うるさいなあ", "余計なお世話です"] {
            assert_eq!(tone(off), Tone::TellsOff, "{off}");
        }
        assert_eq!(tone("which one do you mean?"), Tone::Neither);
    }

    #[test]
    fn a_frown_is_no_praise() {
        assert!(
            is_disapproving("👎") && is_disapproving("👎🏽") && is_disapproving(":thumbsdown:") && is_disapproving("-1")
        );
        assert!(!is_disapproving("👍") && !is_disapproving("+1") && !is_disapproving("❤️"));
    }
}
