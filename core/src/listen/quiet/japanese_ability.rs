//! 「静かにできますか？」: people ask the bot whether it can, and mean that it should.

use super::japanese::consume;

/// What people ask the bot whether it can.
pub(super) const CAN_BE_QUIET: [&str; 11] = [
    "静かにすること",
    "しずかにすること",
    "静かにしてもらうこと",
    "静かにしていただくこと",
    "静かに",
    "しずかに",
    "黙ること",
    "黙っていること",
    "黙って",
    "発言を控えること",
    "大人しく",
];

/// 「静かにできますか？」: a request in the form of a question.
pub(super) fn asks_whether_it_can(text: &str, asks: bool) -> bool {
    const AFTER: &str = "は が も って できる できます できません できない 出来る 出来ます いられる いられます いられない られる \
        か かな ですか でしょうか だろうか の んですか よね ？";
    let rests = CAN_BE_QUIET.iter().filter_map(|base| text.strip_prefix(base));
    rests.filter(|rest| asks || rest.ends_with('か') || rest.ends_with("かな")).any(|rest| {
        let can = ["でき", "出来", "いられ"].iter().any(|words| rest.contains(words));
        can && consume(rest, AFTER).is_some()
    })
}
