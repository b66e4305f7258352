//! 「今回は発言しません」: the same in Japanese.

/// How a Japanese sentence about itself begins.
const OPENINGS: &[&str] = &[
    "今回は",
    "ここでは",
    "この会話には",
    "この場では",
    "この場面では",
    "現時点では",
    "今は",
    "いまは",
    "私は",
    "私からは",
    "わたしは",
    "わたしからは",
    "こちらからは",
    "特に",
    "とくに",
    "ひとまず",
    "しばらく",
    "そっと",
    "静かに",
    "黙って",
    "これ以上",
];
const SURE_ENDS: &[&str] = &[
    "発言しません",
    "発言しない",
    "発言を控えます",
    "発言は控えます",
    "発言を控える",
    "発言を控えさせていただきます",
    "発言は控えさせていただきます",
    "発言を見送ります",
    "発言を控えておきます",
    "発言は控えておきます",
    "コメントを控えます",
    "コメントは控えます",
    "返信を控えます",
    "返答を控えます",
    "応答を控えます",
    "応答は控えます",
    "介入しません",
    "介入を控えます",
    "介入は控えます",
    "介入は不要です",
    "介入の必要はありません",
    "発言は不要です",
    "発言の必要はありません",
    "応答は不要です",
    "返信は不要です",
    "返答は不要です",
    "沈黙します",
    "沈黙を保ちます",
    "沈黙を選びます",
    "沈黙を守ります",
];
const LIKELY_ENDS: &[&str] = &[
    "返信しません",
    "返答しません",
    "何も言いません",
    "何も言わないでおきます",
    "何も言わないことにします",
    "口を挟みません",
    "口を挟まないでおきます",
    "黙ります",
    "黙っています",
    "黙っておきます",
    "静観します",
    "見守ります",
    "見守っています",
    "見守ることにします",
    "見送ります",
    "言うことはありません",
    "言うことはないです",
    "お伝えすることはありません",
    "申し上げることはありません",
    "付け加えることはありません",
    "付け足すことはありません",
    "補足することはありません",
    "コメントはありません",
    "コメントすることはありません",
    "話すことはありません",
    "発言することはありません",
    "返すことはありません",
];
/// "It does not respond" is said of servers too: only with a beginning that speaks of itself.
const OWN_ENDS: &[&str] = &["応答しません", "返事をしません", "返事はしません", "発言はしません", "返信はしません"];

/// 「二人の会話が続いているため、今回は発言しません。」: reasons, then one clause about itself, and nothing after all.
pub fn says_so(text: &str, likely_counts: bool) -> bool {
    let end = text.find(['。', '！', '!', '\n']).unwrap_or(text.len());
    let (sentence, rest) = text.split_at(end);
    if ["ただ", "しかし", "でも", "なお", "けれど", "とはいえ", "？", "?"].iter().any(|turn| rest.contains(turn))
    {
        return false;
    }
    let mut clauses: Vec<&str> = sentence.split('、').map(str::trim).collect();
    let own = clauses.pop().unwrap_or_default().trim_end_matches(['ね', 'よ', '…', '.']);
    let gives_reason = |clause: &&str| {
        ["ため", "ので", "から", "ですし", "には", "では", "ように"].iter().any(|end| clause.ends_with(end))
            || OPENINGS.contains(clause)
    };
    let opened = clauses.iter().any(|clause| OPENINGS.contains(clause));
    clauses.iter().all(gives_reason) && is_own_clause(own, likely_counts, opened)
}

fn is_own_clause(clause: &str, likely_counts: bool, opened: bool) -> bool {
    let is_own = SURE_ENDS.contains(&clause)
        || (likely_counts && LIKELY_ENDS.contains(&clause))
        || (opened && OWN_ENDS.contains(&clause));
    let rest = OPENINGS.iter().find_map(|opening| clause.strip_prefix(opening));
    is_own || rest.is_some_and(|rest| is_own_clause(rest, likely_counts, true))
}
