//! 「今回は発言しません」, 「私が口を挟む必要はなさそうです」: the same in Japanese.

use super::phrase::{Phrase, is_whole};

/// How a Japanese sentence about the bot itself begins; any number of them.
const OPENINGS: &[&str] = &[
    "今回は",
    "ここでは",
    "ここは",
    "ここで",
    "この会話には",
    "この会話に",
    "この会話では",
    "この話には",
    "この場では",
    "この場は",
    "今回のやり取りには",
    "このやり取りには",
    "今回の会話には",
    "この場面では",
    "この場合は",
    "このまま",
    "現時点では",
    "今のところは",
    "今のところ",
    "今は",
    "いまは",
    "当面は",
    "私が",
    "私は",
    "私から",
    "私からは",
    "私の",
    "わたしが",
    "わたしは",
    "わたしから",
    "わたしからは",
    "こちらから",
    "こちらからは",
    "自分から",
    "自分からは",
    "自分が",
    "自分は",
    "特に",
    "とくに",
    "特には",
    "ひとまず",
    "しばらく",
    "しばらくは",
    "そっと",
    "静かに",
    "黙って",
    "これ以上",
    "これ以上の",
    "何も言わずに",
    "口を挟まずに",
    "口を出さずに",
    "この話題には",
    "現時点で",
    "今の段階では",
    "わざわざ",
    "無理に",
    "あえて",
    "何も",
    "何か",
    "では",
    "なので",
    "会話に",
    "話に",
];
const WORDS: &[&str] = &["発言", "返信", "返答", "応答", "回答", "返事", "コメント", "介入", "反応", "口出し", "投稿"];
/// People write to each other and ask whether they have to reply.
const REPLY: &[&str] = &["返信", "返答", "応答", "回答", "返事"];
const SPEECH: &[&str] = &["発言", "コメント", "介入", "反応", "口出し", "投稿"];
/// Verbs of speaking, about the bot itself.
const SPEAK: &[&str] = &[
    "発言する",
    "返信する",
    "返答する",
    "応答する",
    "コメントする",
    "介入する",
    "反応する",
    "口を挟む",
    "口をはさむ",
    "口を出す",
    "口出しする",
    "割り込む",
    "割って入る",
    "話す",
    "言う",
    "話に入る",
    "会話に入る",
    "話に加わる",
    "会話に加わる",
    "加わる",
    "入る",
    "参加する",
    "付け加える",
    "付け足す",
    "補足する",
    "伝える",
    "お伝えする",
    "申し上げる",
    "返す",
];
const NOT_SPEAK: &[&str] = &[
    "発言しない",
    "返信しない",
    "返答しない",
    "応答しない",
    "コメントしない",
    "介入しない",
    "反応しない",
    "口を挟まない",
    "口を出さない",
    "口出ししない",
    "割り込まない",
    "何も言わない",
    "言わない",
    "話さない",
    "加わらない",
    "入らない",
    "出しゃばらない",
    "でしゃばらない",
];
const IS: &[&str] = &["は", "も", "が", "は特に", "はとくに", "は特には", ""];
const NOT: &[&str] = &["ない", "無い", "ありません", "ございません", "なさそう", "なさそうです", "なく", "なし"];
const HOLD_BACK: &[&str] = &[
    "控える",
    "控えます",
    "控えさせていただきます",
    "控えておきます",
    "控えておく",
    "差し控える",
    "差し控えます",
    "差し控えさせていただきます",
    "見送る",
    "見送ります",
    "遠慮する",
    "遠慮します",
    "遠慮しておきます",
];
const KEEP: &[&str] =
    &["ます", "ています", "ておきます", "ていよう", "ていたい", "ていた", "ている", "ておく", "ておこう", "てます"];

const FOR: &[&str] = &["する", "の", "をする", "を行う", "すべき", ""];
const NOT_NEEDED: &[&str] = &["不要", "必要ない", "必要ありません", "必要なさそう", "必要ないよう"];

/// Alone they are about the bot itself; with a reason they answer a person who asked whether to reply.
const ADVICE: &[&Phrase] = &[
    &[REPLY, FOR, &["必要", "必要性"], IS, NOT],
    &[REPLY, &["の", "する"], &["必要性", "必要"], IS, &["低い"]],
    &[REPLY, &["は", "も"], NOT_NEEDED],
];
/// Nobody says these to a person.
const SURE: &[&Phrase] = &[
    &[SPEECH, FOR, &["必要", "必要性"], IS, NOT],
    &[SPEECH, &["の", "する"], &["必要性", "必要"], IS, &["低い"]],
    &[SPEECH, &["は", "も"], NOT_NEEDED],
    &[
        &[
            "口を挟む",
            "口をはさむ",
            "口を出す",
            "割り込む",
            "割って入る",
            "話に入る",
            "会話に入る",
            "介入する",
            "発言する",
        ],
        &["必要"],
        IS,
        NOT,
    ],
    &[&["発言", "介入", "コメント", "返信", "返答", "応答", "口出し"], &["は", "を", ""], HOLD_BACK],
    &[&["発言", "介入"], &["しません", "しない", "しないでおきます", "しないでおく", "しないことにします"]],
    &[
        &["発言する", "話す", "口を挟む", "介入する", "出る"],
        &["場面", "場", "ところ", "タイミング", "とき"],
        &["では"],
        NOT,
    ],
    &[&["発言", "介入", "口出し", "返信", "コメント"], &["すべき", "するべき", "する必要がある"], &["では"], NOT],
    &[
        WORDS,
        &["する", "の"],
        &["必要", "必要性", "理由"],
        &["を", "は", "が"],
        &["感じません", "感じない", "見当たりません"],
    ],
    &[&["口を挟む", "割り込む", "発言する", "介入する", "コメントする"], &["の", "こと"], &["は", "を"], HOLD_BACK],
    &[&["発言"], &["は", ""], &["なし", "無し"]],
    // 「言うことなし」 is praise.
    &[
        &["言う", "話す", "発言する", "コメントする", "申し上げる"],
        &["こと", "べきこと", "べき内容", "ほどのこと"],
        IS,
        &["ない", "無い", "ありません", "ございません", "なさそう"],
    ],
    &[&["沈黙"], &["します", "を保ちます", "を選びます", "を守ります", "を守る", "を保つ", "する"]],
];
/// Silence if nobody asked; an answer if somebody did.
const LIKELY: &[&Phrase] = &[
    &[SPEAK, &["必要", "べきこと", "べき内容", "ほどのこと", "こと"], IS, NOT],
    &[WORDS, &["すべきこと", "するほどのこと", "することは", "すること"], IS, NOT],
    &[&["コメント", "発言", "言うこと", "補足", "付け足し", "返信"], IS, NOT],
    &[&["ありません", "ない", "なし"]],
    &[NOT_SPEAK, &["", "でおきます", "でおく", "でおこう", "ことにします", "ようにします", "つもり"]],
    &[&["返信", "返答"], &["しません"]],
    &[&[
        "言いません",
        "口を挟みません",
        "黙ります",
        "控えます",
        "控えておきます",
        "遠慮しておきます",
        "遠慮します",
        "見送ります",
    ]],
    &[&["黙っ", "見守っ", "聞い", "静かにし", "様子を見", "静観し", "聞き役に徹し", "控え"], KEEP],
    &[&[
        "見守ります",
        "見守る",
        "見守りたい",
        "見守ることにします",
        "静観します",
        "静観する",
        "静かにします",
        "様子を見ます",
        "様子を見る",
        "様子を見守ります",
        "聞き役に徹します",
        "聞き役に回ります",
    ]],
    &[&["出番"], &["では", "は"], NOT],
    &[
        &["お二人に", "二人に", "皆さんに", "みなさんに"],
        &["お", ""],
        &["任せます", "任せしておきます", "任せておきます", "任せします"],
    ],
    &[&["加わる", "入る", "参加する"], &["必要"], &["は", "の"], NOT, &["会話", "話", "話題"]],
];
/// "It does not respond" is said of servers too: only with a beginning that refers to the bot itself.
const OWN: &[&str] = &[
    "答える必要はない",
    "答える必要はありません",
    "答える必要はなさそう",
    "応答しません",
    "返事をしません",
    "返事はしません",
    "発言はしません",
    "返信はしません",
];
/// Endings that express politeness or certainty.
const ENDINGS: &[&str] = &[
    "です",
    "だ",
    "でしょう",
    "だろう",
    "ようです",
    "よう",
    "みたいです",
    "と思います",
    "と思う",
    "かと思います",
    "と考えます",
    "と判断しました",
    "と判断します",
    "と判断し",
    "と判断",
    "のがよさそう",
    "のが良さそう",
    "のがよい",
    "のが良い",
    "のがいい",
    "のが適切",
    "のが最適",
    "のが一番",
    "方がよさそう",
    "ほうがよさそう",
    "方が良さそう",
    "ほうが良さそう",
    "方がいい",
    "ほうがいい",
    "方が良い",
    "ほうが良い",
    "ほうがよい",
    "ね",
    "よ",
    "…",
    ".",
];
/// 「発言しなくても」 + 「よさそうです」.
const NEED_NOT: &[&str] = &["よさそう", "良さそう", "いい", "よい", "大丈夫", "構わない", "問題ない"];
const TURNS: &[&str] = &[
    "ただ、",
    "ただし",
    "ただ一",
    "しかし",
    "でも、",
    "なお",
    "けれど",
    "けど",
    "とはいえ",
    "ところで",
    "？",
    "?",
    "://",
];
/// Subjects of a sentence about the talk itself.
const TALK: &[&str] =
    &["会話", "やり取り", "やりとり", "二人", "皆さん", "みなさん", "話が進", "盛り上が", "順調", "解決", "話しかけ"];

/// 「二人の会話が続いているため、今回は発言しません。」: every sentence gives reasons and then says that nothing is to be said, or is about the talk;
/// at least one is of the first kind.
pub(super) fn says_so(text: &str, likely_counts: bool) -> bool {
    if TURNS.iter().any(|turn| text.contains(turn)) {
        return false;
    }
    if is_advice(text.trim_end_matches(['。', '！', '!'])) {
        return true;
    }
    let mut says_so = false;
    for sentence in text.split(['。', '！', '!', '\n']).map(str::trim).filter(|sentence| !sentence.is_empty()) {
        let is_empty = is_empty(sentence, likely_counts);
        if !is_empty && !is_about_the_talk(sentence) {
            return false;
        }
        says_so |= is_empty;
    }
    says_so
}

fn is_empty(sentence: &str, likely_counts: bool) -> bool {
    let mut clauses: Vec<&str> = sentence.split(['、', '，']).map(str::trim).collect();
    let own = clauses.pop().unwrap_or_default();
    let gives_reason = |clause: &&str| {
        ["ため", "ので", "から", "ですし", "ように"].iter().any(|end| clause.ends_with(end))
            || OPENINGS.contains(clause)
            || is_own_clause(clause, likely_counts, false)
    };
    let opened = clauses.iter().any(|clause| OPENINGS.contains(clause));
    // 「邪魔になるので発言しません」 needs no comma.
    let ends = |word: &'static str| own.match_indices(word).map(move |(at, _)| &own[at + word.len()..]);
    let unreasoned = || ["ため", "ので", "ように"].into_iter().flat_map(ends);
    clauses.iter().all(gives_reason)
        && std::iter::once(own).chain(unreasoned()).any(|own| is_own_clause(own, likely_counts, opened))
}

fn is_own_clause(clause: &str, likely_counts: bool, opened: bool) -> bool {
    is_own(clause, likely_counts, opened)
        || OPENINGS
            .iter()
            .filter_map(|opening| clause.strip_prefix(opening))
            .any(|rest| is_own_clause(rest, likely_counts, true))
}

/// As it is, or after removing one ending after the other.
fn is_own(clause: &str, likely_counts: bool, opened: bool) -> bool {
    // A bare 「ありません」 denies anything; with 「特に」 before it, it denies having something to say.
    let bare = ["ありません", "ない", "なし"].contains(&clause);
    let fits = |phrases: &[&Phrase]| phrases.iter().any(|phrase| is_whole(phrase, clause));
    fits(SURE)
        || ((likely_counts || opened) && fits(ADVICE))
        || (likely_counts && (!bare || opened) && fits(LIKELY))
        || (opened && OWN.contains(&clause))
        || (likely_counts && is_not_needed(clause))
        || ENDINGS
            .iter()
            .filter_map(|ending| clause.strip_suffix(ending))
            .any(|rest| is_own(rest, likely_counts, opened))
}

/// Without a reason.
fn is_advice(text: &str) -> bool {
    ADVICE.iter().any(|phrase| is_whole(phrase, text))
        || ENDINGS.iter().filter_map(|ending| text.strip_suffix(ending)).any(is_advice)
}

/// 「発言しなくてもよさそう」
fn is_not_needed(clause: &str) -> bool {
    NEED_NOT
        .iter()
        .filter_map(|fine| clause.strip_suffix(fine)?.strip_suffix("なくても"))
        .any(|speech| NOT_SPEAK.iter().any(|not| not.strip_suffix("ない") == Some(speech)))
}

/// A sentence with figures contains news.
fn is_about_the_talk(sentence: &str) -> bool {
    !sentence.contains(char::is_numeric) && TALK.iter().any(|word| sentence.contains(word))
}
