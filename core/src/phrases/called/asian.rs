//! Names in Chinese and Korean, by what is directly before and after them.

use super::NameUse::{self, Called, InPassing, Unclear};
use super::occurrence::Occurrence;

fn begins(text: &str, list: &str) -> bool {
    list.split_whitespace().any(|words| text.starts_with(words))
}

fn ends(text: &str, list: &str) -> bool {
    list.split_whitespace().any(|words| text.ends_with(words))
}

fn is_sign(c: char) -> bool {
    !c.is_alphanumeric()
}

pub(super) fn judge_chinese(occurrence: &Occurrence<'_>) -> NameUse {
    let (before, after) = (occurrence.before.trim(), occurrence.after.trim());
    let opened = before.is_empty() || before.ends_with(is_sign) || ends(before, CHINESE_BEFORE);
    let closed = after.is_empty() || after.starts_with(is_sign);
    let asks = matches!(occurrence.end, Some('?' | '？')) || ends(after, "吗 呢 吧");
    let to_it = begins(after, CHINESE_REQUESTS);
    match (opened, closed) {
        (false, true) if ends(before, "你 了 啊 吧 吗 呢") => Called,
        (false, _) => InPassing,
        (true, true) => Called,
        (true, false) if to_it || asks && occurrence.after.starts_with([' ', '　']) => Called,
        (true, false) if begins(after, CHINESE_PARTS) => InPassing,
        (true, false) if asks => Unclear,
        (true, false) => InPassing,
    }
}

const CHINESE_BEFORE: &str = "嗨 嘿 喂 你好 您好 谢谢 謝謝 多谢 请问 早 早上好 晚安 再见 哈喽 哈囉 抱歉 对不起 拜托";

const CHINESE_REQUESTS: &str = "你 您 帮 幫 请 請 告诉 告訴 谢谢 謝謝 早 晚安 能不能 可以帮 怎么看 给我 别 闭嘴 安静";

const CHINESE_PARTS: &str = "的 是 在 把 被 说 說 了 和 跟 很 挺 也 都 已 不 没 有 会 能";

pub(super) fn judge_korean(occurrence: &Occurrence<'_>) -> NameUse {
    let (before, after) = (occurrence.before.trim(), occurrence.after);
    let bare = after.strip_prefix("님").or_else(|| after.strip_prefix("씨")).unwrap_or(after);
    let opened = before.is_empty() || before.ends_with(is_sign) || ends(before, KOREAN_BEFORE);
    let asks = matches!(occurrence.end, Some('?' | '？'));
    let opinion = "어때 생각 좋아해 알아 어떻게".split(' ').any(|words| bare.contains(words));
    let closed = bare.trim().is_empty() || bare.starts_with([',', '，', ':', '!', '~']);
    let vocative = "야 아 이여 여"
        .split(' ')
        .any(|end| bare.strip_prefix(end).is_some_and(|rest| rest.is_empty() || rest.starts_with(is_sign)));
    if vocative || closed && opened {
        return Called;
    }
    if begins(bare, "은 는 도") && asks && opinion {
        return Called;
    }
    if bare.starts_with(' ') && opened && before.is_empty() {
        return if asks || ends(bare, "줘 주세요 해줘 고마워") { Called } else { Unclear };
    }
    InPassing
}

const KOREAN_BEFORE: &str = "고마워 고마워요 감사합니다 안녕 안녕하세요 저기 야 헤이 미안 미안해 잘자 수고했어 도와줘";
