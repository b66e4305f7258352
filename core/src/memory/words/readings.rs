//! Everyday Japanese words by their reading: いちご, イチゴ and 苺 are one word, and so are たべた and 食べる.
//!
//! A text gets the readings of its words as additional words. Hiragana has no spaces: known words are searched in it,
//! longest first, verbs and adjectives in their inflected forms; short ones only next to a particle or a boundary.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::japanese::{self, is_hiragana, is_katakana};

/// `reading=written/written`, separated by spaces.
const TABLE: &str = include_str!("readings.txt");

/// Words without a meaning of their own, in which others could be found.
const OTHERS: &[&str] = &[
    "ありがとう",
    "ありません",
    "あります",
    "おはよう",
    "こんにちは",
    "こんばんは",
    "ください",
    "くださる",
    "いました",
    "います",
    "しました",
    "します",
    "でした",
    "ました",
    "ません",
    "なりました",
    "なります",
    "ところ",
    "とても",
    "たくさん",
    "もちろん",
    "だいたい",
    "ちょっと",
    "ひとつ",
    "ふたつ",
    "という",
    "といった",
    "ような",
    "ように",
    "みたい",
    "みたいな",
    "かもしれない",
    "なければ",
    "なかった",
    "だった",
    "だから",
    "ですから",
    "かどうか",
    "なんとか",
    "たいへん",
    "やっぱり",
    "なるほど",
    "ほとんど",
    "はじめまして",
    "いつも",
    "いろいろ",
    "そろそろ",
    "もしかして",
];

struct Readings {
    /// Forms in hiragana, each with the reading it is a form of; `None` for words without a meaning.
    forms: Vec<(String, Option<&'static str>)>,
    finder: AhoCorasick,
    /// The readings of a word as it is compared.
    written: BTreeMap<&'static str, Vec<&'static str>>,
}

static READINGS: LazyLock<Readings> = LazyLock::new(|| {
    let mut forms: BTreeMap<String, Option<&'static str>> = BTreeMap::new();
    let mut written: BTreeMap<&'static str, Vec<&'static str>> = BTreeMap::new();
    for entry in TABLE.split_whitespace() {
        let (reading, words) = entry.split_once('=').expect("a reading has words");
        for word in words.split('/') {
            for form in forms_of(reading, word) {
                forms.entry(form).or_insert(Some(reading));
            }
            if word.starts_with('お') {
                forms.entry(word.to_owned()).or_insert(Some(reading));
            }
            for key in [Some(word), word.strip_prefix(['お', 'ご', '御'])].into_iter().flatten() {
                let readings = written.entry(japanese::bare(key).unwrap_or(key)).or_default();
                if !readings.contains(&reading) {
                    readings.push(reading);
                }
            }
        }
    }
    for word in OTHERS {
        forms.insert((*word).to_owned(), None);
    }
    let forms: Vec<(String, Option<&'static str>)> = forms.into_iter().collect();
    let finder = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .build(forms.iter().map(|(form, _)| form))
        .expect("a few thousand short words");
    Readings { forms, finder, written }
});

/// The forms of a known word in hiragana: itself, and for a verb or an adjective, its stem with endings.
fn forms_of(reading: &str, word: &str) -> Vec<String> {
    let mut forms = vec![reading.to_owned()];
    let Some(last) = reading.chars().last() else { return forms };
    let stem = &reading[..reading.len() - last.len_utf8()];
    let mut add = |row: &str, following: &[&str]| {
        forms.extend(following.iter().map(|next| format!("{stem}{row}{next}")));
    };
    if last == 'い' && word.ends_with('い') {
        add("", &["く", "かった", "ければ", "さ"]);
    }
    let row = ROWS.iter().find(|row| row.chars().nth(2) == Some(last)).filter(|_| word.ends_with(last));
    let Some(row) = row else { return forms };
    let vowels: Vec<String> = row.chars().map(String::from).collect();
    // In 食べる the る is an ending, in 帰る it is part of the stem.
    let before = word.chars().rev().nth(1);
    if last == 'る' && (before.is_some_and(is_hiragana) || SHORT_VERBS.contains(&word)) {
        add("", &["た", "て", "ます", "まし", "ませ", "ない", "なか", "よう", "られ", "れば", "に", "たい", "ながら"]);
        return forms;
    }
    add(&vowels[0], &["ない", "なか", "せ", "れ", "ず"]);
    add(&vowels[1], &["ます", "まし", "ませ", "たい", "た", "に", "ながら", "そう"]);
    add(&vowels[3], &["ば", "る", "た", "て", "ない", "ます"]);
    add(&vowels[4], &["う"]);
    let sound = match last {
        'く' if word == "行く" => ["った", "って"],
        'く' => ["いた", "いて"],
        'ぐ' => ["いだ", "いで"],
        'す' => ["した", "して"],
        'む' | 'ぶ' | 'ぬ' => ["んだ", "んで"],
        _ => ["った", "って"],
    };
    add("", &sound);
    forms
}

const ROWS: [&str; 9] = [
    "かきくけこ",
    "がぎぐげご",
    "さしすせそ",
    "たちつてと",
    "なにぬねの",
    "ばびぶべぼ",
    "まみむめも",
    "らりるれろ",
    "わいうえお",
];
const SHORT_VERBS: [&str; 5] = ["見る", "寝る", "着る", "出る", "来る"];
/// What may be next to a short word.
const PARTICLES: &str = "がをはにのともでへやかねよなだっ";
const SHORT_CHARS: usize = 2;

/// The readings of the words of a text, without duplicates. `words` are its segments.
pub(super) fn readings(text: &str, words: &[String]) -> Vec<String> {
    let table = &*READINGS;
    let mut found: Vec<String> = Vec::new();
    let mut add = |reading: &str| {
        if !found.iter().any(|known| known == reading) {
            found.push(reading.to_owned());
        }
    };
    for word in words {
        table.written.get(word.as_str()).into_iter().flatten().for_each(|reading| add(reading));
    }
    if text.contains(|c| is_hiragana(c) || is_katakana(c)) {
        let text: String = text.chars().map(to_hiragana).collect();
        let mut end = 0;
        for found in table.finder.find_iter(&text) {
            let (form, reading) = &table.forms[found.pattern().as_usize()];
            let alone = || {
                let after = text[found.end()..].chars().next();
                let before = text[..found.start()].chars().next_back();
                let beside = |c: Option<char>| c.is_none_or(|c| !is_hiragana(c) || PARTICLES.contains(c));
                (found.start() == end || beside(before)) && beside(after)
            };
            if form.chars().count() > SHORT_CHARS || alone() {
                reading.iter().for_each(|reading| add(reading));
                end = found.end();
            }
        }
    }
    found
}

fn to_hiragana(c: char) -> char {
    match c {
        'ァ'..='ヶ' => char::from_u32(u32::from(c) - 0x60).unwrap_or(c),
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::super::search_words;

    /// Whether two texts have a word in common.
    fn share(a: &str, b: &str) -> bool {
        let b = search_words(b);
        search_words(a).iter().any(|word| b.contains(word))
    }

    #[test]
    fn kana_and_kanji_of_one_word_are_the_same() {
        let pairs = [
            ("いちご", "苺が好き"),
            ("イチゴのケーキ", "苺"),
            ("ねこをかっている", "田中さんは猫がいる"),
            ("うどんをたべにいこう", "毎朝パンを食べる"),
            ("おさけをのみました", "ビールを飲む"),
            ("じてんしゃ", "自転車で通う"),
            ("みそしる", "味噌汁"),
            ("たまごやき", "卵焼き"),
            ("ひっこしはいつ", "引っ越しは三月"),
            ("ともだちとあそんだ", "公園で遊ぶ"),
            ("どこにすんでいますか", "京都に住んでいる"),
            ("おちゃ", "お茶を淹れた"),
            ("たのしかった", "楽しい旅"),
        ];
        for (kana, kanji) in pairs {
            assert!(share(kana, kanji), "{kana} {:?}, {kanji} {:?}", search_words(kana), search_words(kanji));
        }
    }

    #[test]
    fn a_word_is_not_found_within_another() {
        for (text, word) in [
            ("お願いしました", "島"),
            ("ありがとう", "蟻"),
            ("そうですか", "葱"),
            ("私のものです", "飲む"),
            ("はい、いいえ", "胃"),
            ("カレー", "枯れる"),
        ] {
            assert!(!share(text, word), "{text} {:?}", search_words(text));
        }
    }

    #[test]
    fn other_forms_of_a_verb_are_the_same() {
        for other in ["食べた", "食べます", "食べなかった", "食べたい", "たべた", "たべない"] {
            assert!(share("食べる", other), "{other} {:?}", search_words(other));
        }
    }
}
