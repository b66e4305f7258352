//! Japanese: pieces of thanks and praise, and what may be around them, until nothing is left.

use crate::listen::quiet::clauses;

const ENDS: &str = ".!,;\n…—–()*~。、･・ 〜～♪☆";

/// The maximum length of what somebody gives thanks for.
const DONE_CHARS_MAX: usize = 30;

pub(super) fn only_thanks(text: &str) -> bool {
    says_only(text, false)
}

/// Whether it only thanks or assents.
pub(super) fn only_acknowledges(text: &str) -> bool {
    says_only(text, true)
}

fn says_only(text: &str, assents: bool) -> bool {
    let parts: Vec<Option<bool>> = clauses(text, ENDS).iter().map(|clause| said_in(clause.text, assents)).collect();
    parts.iter().all(Option::is_some) && parts.contains(&Some(true))
}

/// Whether a clause thanks, or assents; `None` if it says something else.
fn said_in(clause: &str, assents: bool) -> Option<bool> {
    // 「教えてくれてありがとう」
    let thanks_for = |(at, _): (usize, &str)| {
        let done = &clause[..at];
        done.chars().count() <= DONE_CHARS_MAX && DONE.split_whitespace().any(|end| done.ends_with(end))
    };
    let start = clause.match_indices("ありがと").find(|found| thanks_for(*found)).map_or(0, |(at, _)| at);
    let text = &clause[start..];
    let mut reached = vec![None; text.len() + 1];
    reached[0] = Some(false);
    for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
        let Some(thanked) = reached[at] else { continue };
        for (list, thanks) in [(THANKS, true), (ASSENTS, assents), (BESIDE, false)] {
            for piece in list.split_whitespace().filter(|piece| text[at..].starts_with(piece)) {
                let known = reached[at + piece.len()].unwrap_or(false);
                reached[at + piece.len()] = Some(known || thanked || thanks);
            }
        }
    }
    reached[text.len()]
}

const DONE: &str = "くれて いただき いただいて 頂き 頂いて くださって 下さって くださり 回答 返信 説明 情報 アドバイス 対応 協力 を は で";

const THANKS: &str = "ありがとう ありがと ありがたい ありがたや あざす あざっす あざます あざーす あざーっす アザス サンキュー さんきゅー サンキュ サンクス thx thanks ty 感謝 多謝 \
    助かった 助かりました 助かる 助かります 助かってる 助かってます たすかる たすかった さすが 流石 すごい 凄い すごっ すげえ すげー すげぇ 天才 最高 神 完璧 パーフェクト いいね いいですね ナイス \
    えらい 偉い 賢い かしこい 優秀 素晴らしい すばらしい 素敵 お見事 見事 有能 かわいい 可愛い 大好き 好き グッジョブ gj いい仕事 いい回答 いい答え いい返事 いい説明 良い答え 良い回答 良い説明 よい答え よい回答 わかりやすい 分かりやすい わかりやすかった 分かりやすかった よくやった お疲れ様 お疲れさま お疲れ おつかれさま おつかれ やるね やるじゃん 頼りになる";

/// Words of assent, which may also be beside thanks.
const ASSENTS: &str = "了解 りょうかい 承知 承知いたしました かしこまりました かしこまり わかった わかりました 分かった 分かりました なるほど 把握 オッケー おっけー ok okay 納得 理解";

const BESIDE: &str = "うございます うございました ございます ございました う ね ねー よ な なあ なぁ ー っ です でした いたしました 致しました だ だね だよ だよね だな だわ すぎる すぎ すぎます ます しました ました した します しかない してます しています \
    んです んだけど w 笑 わ ぞ も は で た ほんと 本当に 本当 ほんとに マジで まじで マジ まじ めっちゃ めちゃくちゃ めちゃ とても すごく いつも どうも 大変 たいへん 誠に お おお おー わー わあ はい うん \
    よく よーく できた できました 出来ました 動いた 動きました 直った 直りました 解決した 解決しました いけた いけました うまくいった うまくいきました うまくいったよ \
    おかげで おかげさまで お陰で おかげ それ これ よかった 良かった 君 きみ あなた さん くん ちゃん 様 色々 いろいろ また 今日 今日も 今回 今回も 早速 さっそく 丁寧に 回答 返信 説明 み さっきは 先ほどは";
