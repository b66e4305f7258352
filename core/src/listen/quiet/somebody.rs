//! "Bob, be quiet", 「ボブさん、もう話していいよ」: a clause that consists only of somebody else's name.

/// Whether a clause of Japanese, which goes with no request, is a name.
pub(super) fn is_name_in_japanese(clause: &str) -> bool {
    const TITLES: [&str; 10] = ["さん", "くん", "君", "ちゃん", "様", "さま", "先生", "先輩", "氏", "殿"];
    const CHARS: std::ops::RangeInclusive<usize> = 2..=8;
    let titled = TITLES.iter().filter_map(|title| clause.strip_suffix(title)).any(|name| !name.is_empty());
    let count = clause.chars().count();
    let is_katakana = CHARS.contains(&count) && clause.chars().all(|c| matches!(c, 'ァ'..='ヺ' | 'ー'));
    let is_greeting = GREETINGS.iter().any(|word| clause.contains(word));
    titled && count <= 10 && !is_greeting || is_katakana && !CRIES.split_whitespace().any(|cry| cry == clause)
}

/// Parts of words that end like a name with a title, or address everybody.
const GREETINGS: [&str; 9] = ["疲れ", "つかれ", "苦労", "くろう", "世話", "馳走", "ちそう", "皆", "みな"];

/// Katakana words that are not names.
const CRIES: &str = "オイ コラ ヘイ ハイ ハロー ネエ ネェ マジ ホント ゴメン スマン ダメ ムリ ウザ ウザイ ウザッ ウルサイ ウルセー ウルサ シー シーッ シッ ストップ ロボット ロボ \
    エーアイ ポンコツ バカ アホ バーカ ボケ クソ ヤメテ ヤメロ ダマレ サンキュー アリガトウ アリガト オッケー オーケー オケ プリーズ ヤバイ モウ チョット ノイズ ミュート ナイス \
    ヨシ ハア ハァ エッ アノ";

/// Whether this word of English, which is a clause alone and goes with no request, is a name.
pub(super) fn is_name_in_english(word: &str) -> bool {
    word.len() > 1
        && word.chars().all(char::is_alphabetic)
        && !STATES.split_ascii_whitespace().any(|known| known == word)
}

/// Words that people say alone and that are not names.
const STATES: &str = "done finished over ready great good yay hooray hurray woohoo welcome back finally meeting time everything \
    everybody everyone amen deal agreed anyway lol haha hehe perfect excellent awesome surprise congrats resolved solved fixed \
    morning evening sorted apologies bye hi wait hmm sure absolutely indeed nevermind peace freedom love";
