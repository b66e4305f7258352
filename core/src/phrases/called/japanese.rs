//! Names in Japanese: which particle follows, what is before, and whether a request follows.

use super::NameUse::{self, Called, InPassing, Unclear};
use super::occurrence::{Occurrence, begins_with_version, is_kana};

pub(super) fn judge(occurrence: &Occurrence<'_>) -> NameUse {
    let after = occurrence.after;
    let rest = after.trim_start();
    let parted = after.len() > rest.len() || rest.is_empty() || starts_with_sign(rest);
    let words = rest.trim_start_matches(is_sign);
    if !is_free(occurrence.before, parted) {
        return InPassing;
    }
    let asks = matches!(occurrence.end, Some('?' | '？')) || ends_in(words, QUESTION_ENDS);
    if is_drawn_out_title(rest) {
        return Called;
    }
    if rest.is_empty() && occurrence.may_answer && occurrence.end.is_none() && !occurrence.titled {
        return Unclear;
    }
    if rest.is_empty() {
        let alone = occurrence.before.is_empty() && !occurrence.has_more && !occurrence.titled;
        return if alone && matches!(occurrence.end, Some('。' | '.')) { Unclear } else { Called };
    }
    if begins_with_version(words) && !asks {
        return InPassing;
    }
    // 「寝てるのかな？」「返事しないね」 may be said about it.
    let muses = ends_in(words, MUSINGS) && !begins_with(words, PRAISE) && !ends_in(words, REQUEST_ENDS);
    if muses && (occurrence.titled || starts_with_sign(rest)) {
        return if starts_with_sign(rest) { Unclear } else { InPassing };
    }
    if starts_with_sign(rest) && is_enumeration(words) && !ends_in(words, REQUEST_ENDS) {
        return InPassing;
    }
    if starts_with_sign(rest) {
        if !asks && !ends_in(words, REQUEST_ENDS) && is_named_before(occurrence.before) {
            return InPassing;
        }
        let remark = !asks && !occurrence.titled && is_remark(words);
        return if is_list(words) {
            InPassing
        } else if remark {
            Unclear
        } else {
            Called
        };
    }
    if rest.starts_with("よ、") || rest.starts_with("よ！") || rest == "よ" || rest == "や" {
        return Called;
    }
    if let Some(said) = PARTICLES.split_whitespace().find_map(|particle| rest.strip_prefix(particle)) {
        return judge_particle(rest, said, asks, occurrence.titled);
    }
    let requests = ends_in(words, REQUEST_ENDS);
    if begins_with(rest, CALL_HEADS) || requests || asks && occurrence.titled {
        return Called;
    }
    match (parted, asks) {
        (true, true) => Called,
        (false, true) | (true, false) => Unclear,
        (false, false) => InPassing,
    }
}

/// A particle makes it a part of the sentence, unless the sentence asks the bot for something.
fn judge_particle(rest: &str, said: &str, asks: bool, titled: bool) -> NameUse {
    let about_its_making = "どうやって なぜ 何で動 いつから 無料 有料 誰が 作っ 作られ"
        .split(' ')
        .any(|words| said.starts_with(words) || said.contains("作ったの"));
    if rest.starts_with('は') && about_its_making {
        return InPassing;
    }
    // 「じゃあ相槌は？」「相槌も一緒に考えて」
    let with_it = rest.starts_with('も') && (ends_in(said, REQUEST_ENDS) || ends_in(said, TOGETHER));
    if (said.is_empty() && rest == "は" && asks) || with_it || rest.starts_with("的に") && asks {
        return Called;
    }
    let topic = "は も なら 的には 的に としては".split(' ').any(|particle| rest.starts_with(particle));
    let opinion = OPINIONS.split_whitespace().any(|words| said.contains(words));
    let ends = |ends: &str| ends_in(said, ends);
    if topic && asks && opinion && !said.starts_with("どこ") {
        return Called;
    }
    if topic && ends(REQUEST_ENDS) && titled {
        return Called;
    }
    if rest.len() == "に".len() + said.len()
        && rest.starts_with("に")
        && ASKED_OF.split_whitespace().any(|words| said.starts_with(words))
    {
        let by_others = ["みて", "みよう", "みたら", "しよう", "した", "すれば", "したら", "しといて", "してみ"];
        return if by_others.iter().any(|words| said.contains(words)) { InPassing } else { Called };
    }
    if rest.starts_with("の") && "意見 考え 感想 おすすめ オススメ".split(' ').any(|words| said.starts_with(words))
    {
        return if asks || ends(REQUEST_ENDS) { Called } else { InPassing };
    }
    let about_it = "知って 知らない すご 何 なに どう".split(' ').any(|words| said.starts_with(words));
    let of_others = "人 誰 だれ ボット bot 作".split(' ').any(|words| said.contains(words));
    if rest.starts_with("って") && asks && !about_it && !of_others {
        return Unclear;
    }
    if topic && asks && (titled || rest.starts_with("も")) {
        return Unclear;
    }
    InPassing
}

/// Whether the text before the name allows it to be a call.
fn is_free(before: &str, parted: bool) -> bool {
    let Some(last) = before.chars().next_back() else { return true };
    if is_sign(last) || !last.is_alphanumeric() {
        return !before.trim_end_matches(is_sign).ends_with("名前は");
    }
    ends_in(before, CALL_BEFORE)
        || parted && ends_in(before, SENTENCE_ENDS)
        || !is_kana(last) && last.is_ascii() && before.len() < 8
}

/// 「うちのボット、」: the name refers to what was said just before.
fn is_named_before(before: &str) -> bool {
    let Some(part) = before.strip_suffix(['、', '，', ',']) else { return false };
    let part = part.rsplit(is_sign).next().unwrap_or_default().trim();
    let is_noun = part.chars().next_back().is_some_and(|last| !matches!(last, 'ぁ'..='ゟ'));
    is_noun && begins_with(part, OWNERS) || ends_in(part, PROGRAMS)
}

/// "、X、Yの…": names one after another.
fn is_list(words: &str) -> bool {
    let mut parts = words.split(['、', '，', ',']);
    let (Some(first), Some(second)) = (parts.next(), parts.next()) else {
        return words.chars().count() < 14
            && "の三つ の3つ の二つ の2つ など".split(' ').any(|end| words.contains(end));
    };
    let is_name = |part: &str| {
        let part = part.trim();
        part.chars().count() <= 8 && !part.chars().any(|c| matches!(c, 'ぁ'..='ゟ'))
    };
    is_name(first)
        && !second.is_empty()
        && "の と が を は".split(' ').any(|particle| second.contains(particle))
        && !first.is_empty()
}

/// 「、いい言葉だね」 may be about the word.
fn is_remark(words: &str) -> bool {
    ends_in(words, "だね だよね だな だなあ だなぁ ですね ですよね") && !begins_with(words, PRAISE)
}

fn starts_with_sign(text: &str) -> bool {
    text.starts_with(is_sign)
}

fn is_sign(c: char) -> bool {
    "、，,：:ー〜～~-—・".contains(c)
}

fn begins_with(text: &str, list: &str) -> bool {
    list.split_whitespace().any(|words| text.starts_with(words))
}

fn ends_in(text: &str, list: &str) -> bool {
    let text = text.trim_end_matches(|c: char| "ー〜～~wｗ笑!！?？。".contains(c) || c.is_whitespace());
    list.split_whitespace().any(|words| text.ends_with(words))
}

/// Possessives before something that has the name, and what it may be.
const OWNERS: &str = "うちの ウチの 私の わたしの 僕の ぼくの 俺の おれの 弊社の 我が家の";
const PROGRAMS: &str = "ボット bot Bot BOT ロボット アプリ AI プログラム ツール";

/// What is said to somebody, not about a word.
const PRAISE: &str = "すごい すげ さすが 流石 天才 最高 完璧 えらい 偉い 優秀 君 きみ お前 元気 暇 久しぶり ひさしぶり やるね 賢い 正解 その通り そう なるほど そうか 確か";

/// Before a name that is called.
const CALL_BEFORE: &str = "\
    では それなら なら おーい ねえ ねぇ ねー おい あの あのー あのさ えっと じゃあ じゃ ところで こんにちは こんばんは おはよう \
    おはようございます ありがとう ありがとうございます ありがと サンキュー さんきゅー もしもし お願い \
    教えて 助けて おやすみ おやすみなさい ごめん ごめんね お疲れ おつかれ お疲れ様 やあ よう なあ なぁ \
    頼む すごい すごいぞ さすが ナイス ただいま おかえり はい いや うん へい ヘイ ほら そうだよね だよね \
    ようこそ よろしく 頼んだ どう思う 聞いて 見て でさ それで で ちなみに そういえば さて おっす \
    やっほー やっほ はじめまして 大好き 大好きだよ がんばれ 頑張れ おめでとう 黙れ うるさい すまん 悪い";

/// Sentence endings without punctuation.
const SENTENCE_ENDS: &str =
    "ね よ よな かな ます です ますか ですか ください 下さい ちょうだい くれ でしょ だろ してて っけ して";

/// What makes a name a part of the sentence. Longer ones first if one begins with another.
const PARTICLES: &str = "\
    的には 的に としては について に関して によると のこと みたい という といった っていう っぽい らしい とか \
    など から まで より だけ しか さえ ほど くらい ぐらい なら なんか って じゃ だ です では でも にも \
    には は が を に の と も で へ や 側 用 版 製 経由 向け 本体 自体 関連 対 以外 たち 達 使 すら \
    ばかり ごと 付き 入り 系";

/// What people ask somebody about themselves.
const OPINIONS: &str = "\
    どう思 どうおも どう どっち どちら どれ 好き 嫌い 知ってる 知ってます 知っています わかる 分かる \
    わかります 分かります できる できます 覚えて 聞いて 見てる 見てた 元気 何派 派 行く 行きたい 食べ \
    見た いる 来る 何が 何を なにが なにを 何か なんか 起きて 眠い 思う 思います ほしい 欲しい 何した \
    何して 暇";

const ASKED_OF: &str = "質問 お願い 聞きたい 相談 頼みたい ききたい 一つ ひとつ ちょっと";

/// Beginnings of a request that directly follow the name.
const CALL_HEADS: &str = "\
    これ それ あれ この その ここ どう 何 なに なん 今 おはよ おやすみ こんにち こんばん ありがと ごめん \
    お願い おねがい 助け たすけ 教え おしえ ちょっと もう 聞いて きいて 見て 元気 大丈夫 すごい すげ \
    いい かわいい 黙 だま 静か しずか うるさ おすすめ オススメ どこ いつ なぜ 誰 だれ どれ どっち \
    おつかれ お疲れ やめて 頼 明日 今日 昨日 さっき 早く はやく えらい 偉い 好き 大好き おめでと \
    よろしく ナイス さすが 私 僕 俺 君 お前 ねえ ほんと まじ マジ おいで 出てき 起き いる？ いますか \
    翻訳 まとめて 調べて 計算";

const QUESTION_ENDS: &str = "ますか ですか のか かな でしょうか っけ どう思う どうする ませんか";

/// How a request ends.
const REQUEST_ENDS: &str = "\
    教えて おしえて ください 下さい ちょうだい 頂戴 くれ くれる くれない もらえる もらえない \
    もらえますか もらえませんか いただけますか いただけませんか お願い お願いします おねがい 頼む \
    頼みます なさい して てね 見て 聞いて まとめて 調べて 聞かせて やめて 黙って 手伝って 考えて 助けて \
    答えて 訳して 書いて 読んで 直して おくれ くれますか くれませんか いい いいですか";

/// 「さーん」.
fn is_drawn_out_title(rest: &str) -> bool {
    let drawn = rest.trim_end_matches(['！', '!', '〜', '～', 'ー']);
    let plain: String = drawn.chars().filter(|c| !"ー〜～".contains(*c)).collect();
    plain.len() < drawn.len() && ["さん", "くん", "ちゃん", "さま"].contains(&plain.as_str())
}

/// 「、頷き、質問の三つが大事」: things of which it is one.
fn is_enumeration(words: &str) -> bool {
    const SUMS: [&str; 10] =
        ["の三つ", "の3つ", "の二つ", "の2つ", "の四つ", "が大事", "が大切", "が基本", "は基本", "は大事"];
    words.contains(['、', '，', ',']) && SUMS.iter().any(|sum| words.contains(sum))
}

/// How people end who wonder aloud, or remark on somebody.
const MUSINGS: &str =
    "のかな かしら んだろう だろうか だろうね のかなあ しないね しないな しないよね ないね ないなあ 静かだな 静かだね";

const TOGETHER: &str = "遊ぼう 行こう やろう しよう 来て 来なよ 考えて みて 食べよう 話そう 参加して おいで";
