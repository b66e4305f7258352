//! Japanese and Chinese sentences that exclude each other.

use super::super::words::{normal, tokens};
use super::Difference;

pub(super) fn is_written_in(text: &str) -> bool {
    text.chars().any(|c| matches!(c, 'ぁ'..='ゟ' | '゠'..='ヿ' | '㐀'..='鿿'))
}

/// Whether the earlier one no longer holds, or the later one denies it.
pub(super) fn contradicts(later: &str, earlier: &str) -> bool {
    let (later, earlier) = (Predicate::read(later), Predicate::read(earlier));
    denies(&later.text, &earlier.text) || has_other_value(&later, &earlier)
}

/// A sentence without what says that it is new.
struct Predicate {
    text: String,
    is_changed: bool,
}

/// 「今は」「に変わった」: something else holds now.
const NOW: [&str; 4] = ["今は", "いまは", "今では", "現在は"];
const BECAME: [&str; 8] = [
    "に変わりました",
    "に変わった",
    "に変更になった",
    "に変更された",
    "に変更",
    "になりました",
    "になった",
    "になっている",
];

impl Predicate {
    fn read(text: &str) -> Predicate {
        let mut text: String =
            normal(text).chars().filter(|c| !c.is_whitespace() && !"、。,.!「」".contains(*c)).collect();
        text.truncate(text.trim_end_matches(['よ', 'ね']).len());
        let mut plain = text.replace("もう", "");
        for word in NOW {
            plain = plain.replace(word, "");
        }
        let mut is_changed = plain.len() < text.len();
        if let Some(rest) = BECAME.iter().find_map(|end| plain.strip_suffix(end)) {
            (plain, is_changed) = (rest.to_owned(), true);
        }
        Predicate { text: plain, is_changed }
    }
}

/// The ends of a sentence and of its denial, as far as they differ.
const DENIALS: [(&str, &str); 33] = [
    ("る", "ない"),
    ("る", "らない"),
    ("る", "ません"),
    ("る", "りません"),
    ("ある", "ない"),
    ("う", "わない"),
    ("く", "かない"),
    ("ぐ", "がない"),
    ("す", "さない"),
    ("つ", "たない"),
    ("ぬ", "なない"),
    ("ぶ", "ばない"),
    ("む", "まない"),
    ("す", "せん"),
    ("ます", "ない"),
    ("した", "せんでした"),
    ("た", "なかった"),
    ("い", "くない"),
    ("いです", "くないです"),
    ("いです", "くありません"),
    ("だ", "ではない"),
    ("だ", "じゃない"),
    ("だ", "でない"),
    ("だ", "ではありません"),
    ("だ", "じゃありません"),
    ("す", "はない"),
    ("す", "はありません"),
    ("です", "じゃない"),
    ("です", "じゃないです"),
    ("です", "じゃありません"),
    ("", "ではない"),
    ("", "じゃない"),
    ("", "ではありません"),
];
/// Subject and particle, at least.
const SHARED_MIN: usize = 3;

fn denies(one: &str, other: &str) -> bool {
    let [is_not, has_not] = [("不是", "是"), ("没有", "有")]
        .map(|(not, plain)| one != other && (one.replace(not, plain) == other || other.replace(not, plain) == one));
    let shared = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let ends = [one, other].map(|text| text.chars().skip(shared).collect::<String>());
    let is_denial = |(said, denied): &(&str, &str)| {
        ends[0] == *said && ends[1] == *denied || ends[1] == *said && ends[0] == *denied
    };
    is_not || has_not || shared >= SHARED_MIN && DENIALS.iter().any(is_denial)
}

/// What one lives in, as the end of a sentence.
const LIVES: [&str; 6] = ["に住んでいる", "に住んでいます", "に住んでる", "に住む", "に住みます", "在住"];
/// Where one works or learns: only one if the later sentence says that it changed.
const IF_CHANGED: [&str; 8] = [
    "で働いている",
    "で働いています",
    "で働く",
    "に勤めている",
    "に勤めています",
    "勤務",
    "に通っている",
    "に通っています",
];
/// What has one value.
const VALUES: [&str; 18] = [
    "番号",
    "誕生日",
    "住所",
    "名前",
    "名字",
    "値段",
    "価格",
    "料金",
    "家賃",
    "パスワード",
    "パスコード",
    "コード",
    "メール",
    "アドレス",
    "年齢",
    "体重",
    "身長",
    "合言葉",
];
/// What takes place once: a time and a place.
const EVENTS: [&str; 22] = [
    "会議",
    "打ち合わせ",
    "打合せ",
    "ミーティング",
    "パーティー",
    "パーティ",
    "飲み会",
    "集合",
    "待ち合わせ",
    "祭り",
    "祭",
    "面接",
    "試験",
    "式",
    "コンサート",
    "ライブ",
    "イベント",
    "締め切り",
    "締切",
    "期限",
    "手術",
    "予約",
];
/// Says that it takes place.
const TAKES_PLACE: [&str; 8] = ["開催", "行われ", "行わ", "開か", "始ま", "集合", "ある", "あります"];
/// Units are short.
const UNIT_CHARS_MAX: usize = 3;

fn has_other_value(later: &Predicate, earlier: &Predicate) -> bool {
    let plain = |text: &str| tokens(text.strip_suffix("です").or(text.strip_suffix('だ')).unwrap_or(text));
    let (new, old) = (plain(&later.text), plain(&earlier.text));
    let Some(found) = Difference::of(&new, &old) else { return false };
    let join = |tokens: &[super::TextToken]| tokens.iter().map(|token| token.normal.as_str()).collect::<String>();
    let (before, after) = (join(found.before), join(found.after));
    let Some(topic) = before.strip_suffix(['は', 'が']).filter(|topic| !topic.is_empty()) else { return false };
    if LIVES.contains(&&*after) || later.is_changed && IF_CHANGED.contains(&&*after) {
        return true;
    }
    let has = |list: &[&str]| list.iter().any(|word| topic.ends_with(word));
    let is_unit = after.chars().count() <= UNIT_CHARS_MAX && !after.contains(['ぁ', 'は', 'が', 'の', 'を']);
    let takes_place =
        after.find(['に', 'で']).is_some_and(|at| TAKES_PLACE.iter().any(|verb| after[at + 3..].starts_with(verb)));
    (has(&VALUES) || has(&EVENTS)) && is_unit || has(&EVENTS) && takes_place
}
