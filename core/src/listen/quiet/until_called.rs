//! "Until I call you", 「呼ばれるまで」: a person who says so wants to be answered when they call, so it is no order for a mute.

use std::sync::LazyLock;

use super::english::words;
use super::pattern::{WordPattern, read};

/// What follows "until" or "unless". "=" at the beginning: only at the end of the text.
const CALLS: &str = "
$WHO = i|we|someone|somebody|anyone|anybody|one_of_us|people|they
$HOW = explicitly|directly|specifically|actually|really|expressly
$CALLED = called|mentioned|asked|addressed|spoken_to|talked_to|pinged|tagged|summoned|needed|prompted|invoked|questioned
$CALL = call|calls|call_on|calls_on|call_for|calls_for|mention|mentions|ask|asks|address|addresses|speak_to|speaks_to|talk_to|talks_to|ping|pings|tag|tags|summon|summons|need|needs|want|wants
[you're|you_are|you_get|you_were|you've_been|you_have_been] [$HOW|being|been] $CALLED
[$WHO] [have|has|want_to|need_to] [$HOW] ($CALL|called|mentioned|asked|addressed|pinged|tagged) [for] (you|your_name|your_help|your_opinion)
[$WHO] (say|says|use|uses|write|writes) your name
= $WHO [$HOW] (call|calls|ask|asks)
";

static PATTERNS: LazyLock<Vec<(char, WordPattern)>> = LazyLock::new(|| read(CALLS, "="));

/// Ways to call the bot, before まで.
const UNTIL: &str = "呼ぶ 呼ばれる 呼びかける 呼びかけられる 呼び出す 呼び出される 話しかける 話しかけられる 話し掛ける 話を振る 話を振られる \
    声をかける 声をかけられる 声を掛ける 声がかかる 聞かれる 訊かれる 私が聞く 質問する 質問される 尋ねる 尋ねられる メンションする \
    メンションされる メンションがある 指名する 指名される 名指しされる 用がある 必要になる 出番が来る 頼まれる";

/// Ways to call the bot, before "unless".
const UNLESS: &str = "呼ば 呼ばれ 呼びかけられ 話しかけ 話しかけられ 声をかけられ 聞かれ 質問し 質問され メンションし メンションされ 指名され 用が 用事が";

/// Whether the text has such a condition.
pub(super) fn is_condition(text: &str) -> bool {
    if text.is_ascii() { is_english(text) } else { is_japanese(text) || is_english(text) }
}

fn is_english(text: &str) -> bool {
    let words = words(text);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let limits = words.contains(&"only") || words.contains(&"except");
    let begins = |word: &str| {
        ["until", "till", "til", "untill", "unless"].contains(&word)
            || limits && ["when", "if", "where", "once"].contains(&word)
    };
    (0..words.len()).filter(|at| begins(words[*at])).any(|at| {
        let rest = &words[at + 1..];
        // "Until you're asked to talk again" means until somebody lifts it.
        let calls = |sign: char, end: usize| match rest.get(end) {
            None => true,
            Some(next) => sign == ' ' && !["to", "otherwise"].contains(next),
        };
        PATTERNS.iter().any(|(sign, pattern)| pattern.ends(rest).into_iter().any(|end| calls(*sign, end)))
    })
}

fn is_japanese(text: &str) -> bool {
    let follows = |calls: &str, ends: &[&str]| {
        calls.split_whitespace().any(|call| {
            text.match_indices(call).any(|(at, _)| ends.iter().any(|end| text[at + call.len()..].starts_with(end)))
        })
    };
    follows(UNTIL, &["まで"])
        || follows(UNLESS, &["ない限り", "ないかぎり", "なければ", "なきゃ", "ないうち", "た時以外", "たとき以外"])
        || follows(UNLESS, &["た時だけ", "たときだけ", "る時以外", "るとき以外", "ない間", "ないあいだ"])
}
