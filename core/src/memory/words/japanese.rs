//! Japanese and Chinese words: kanji and katakana carry the meaning, hiragana is mostly inflection.

pub(super) fn is_kanji(c: char) -> bool {
    matches!(c, '一'..='鿿' | '㐀'..='䶿' | '々' | '\u{20000}'..='\u{323af}' | '\u{f900}'..='\u{faff}')
}

pub(super) fn is_kana(c: char) -> bool {
    is_hiragana(c) || is_katakana(c)
}

pub(super) fn is_hiragana(c: char) -> bool {
    matches!(c, 'ぁ'..='ゖ' | 'ゝ'..='ゟ')
}

pub(super) fn is_katakana(c: char) -> bool {
    matches!(c, 'ァ'..='ヺ' | 'ー'..='ヿ')
}

/// Kanji without the ending that follows them, katakana of two and more, hiragana of three and more.
pub(super) fn bare(segment: &str) -> Option<&str> {
    let stem = match segment.char_indices().find(|(_, c)| is_hiragana(*c)) {
        Some((0, _)) => {
            return (segment.chars().count() >= 3 && !STOP.contains(&segment)).then_some(segment);
        }
        Some((end, _)) if segment[end..].chars().all(is_hiragana) => &segment[..end],
        _ => segment,
    };
    if STOP.contains(&stem) {
        return None;
    }
    let mut chars = stem.chars();
    let first = chars.next()?;
    (is_kanji(first) || chars.next().is_some()).then_some(stem)
}

/// Runs of three and more kanji.
pub(super) fn kanji_runs(text: &str) -> Vec<Vec<char>> {
    let mut runs = Vec::new();
    let mut run = Vec::new();
    for c in text.chars().chain([' ']) {
        if is_kanji(c) {
            run.push(c);
        } else if !run.is_empty() {
            let run = std::mem::take(&mut run);
            if run.len() >= 3 {
                runs.push(run);
            }
        }
    }
    runs
}

/// Stop words.
const STOP: &[&str] = &[
    "ある",
    "あれ",
    "いる",
    "いつ",
    "いう",
    "うん",
    "うち",
    "えっと",
    "おい",
    "かも",
    "から",
    "ください",
    "くれる",
    "けど",
    "けれど",
    "けれども",
    "ここ",
    "こと",
    "この",
    "これ",
    "こんな",
    "こんにちは",
    "ございます",
    "さっき",
    "した",
    "しかし",
    "して",
    "しよう",
    "すごい",
    "する",
    "せる",
    "そう",
    "そこ",
    "その",
    "それ",
    "それで",
    "それは",
    "そんな",
    "ただ",
    "たち",
    "だけど",
    "だから",
    "だった",
    "だろう",
    "ちょっと",
    "ついて",
    "について",
    "という",
    "って",
    "です",
    "でした",
    "でしょう",
    "ですか",
    "でも",
    "とか",
    "とても",
    "ところ",
    "どう",
    "どうして",
    "どうも",
    "どこ",
    "どの",
    "どれ",
    "どんな",
    "なぜ",
    "なに",
    "なら",
    "なる",
    "なんか",
    "なんで",
    "の",
    "ので",
    "のに",
    "はい",
    "ばかり",
    "ほど",
    "ほう",
    "まし",
    "ました",
    "ます",
    "ません",
    "また",
    "まだ",
    "まで",
    "みたい",
    "もう",
    "もの",
    "やつ",
    "よう",
    "ような",
    "ように",
    "よね",
    "より",
    "らしい",
    "られる",
    "れる",
    "わけ",
    "ありがとう",
    "おはよう",
    "いいね",
    "たぶん",
    "やっぱり",
    "めっちゃ",
    "一番",
    "事",
    "人",
    "今",
    "何",
    "何か",
    "思",
    "思う",
    "言",
    "言う",
    "的",
    "私",
    "僕",
    "俺",
    "君",
    "彼",
    "彼女",
    "誰",
    "時",
    "為",
    "物",
    "者",
    "等",
    "様",
    "達",
    "方",
    "気",
    "教",
    "知",
    "的に",
    "我",
    "你",
    "他",
    "她",
    "们",
    "的",
    "了",
    "是",
    "在",
    "和",
    "就",
    "不",
    "也",
    "都",
    "要",
    "去",
    "有",
];
