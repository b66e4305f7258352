//! Small talks, told to the tracker line by line.

use super::*;
use crate::conversations::line::LINES_OVER;
use crate::types::stable_hash;

/// `seconds name: text`, one message a line; ids are m0, m1, …
fn told(conversations: &mut Conversations, talk: &str) -> Vec<(MessageId, ConversationId)> {
    let tell = |(number, line): (usize, &str)| {
        let (seconds, rest) = line.trim().split_once(' ').expect("a time comes first");
        let (name, text) = rest.split_once(": ").expect("a name comes second");
        let id = MessageId::new(format!("m{number}"));
        let at = Time(1_700_000_000_000 + 1000 * seconds.parse::<u64>().expect("seconds"));
        hear(conversations, &heard(&id, at, name, text))
    };
    talk.trim().lines().enumerate().map(tell).collect()
}

fn heard<'a>(id: &'a MessageId, at: Time, name: &'a str, text: &'a str) -> Utterance<'a> {
    let author = stable_hash(0, name);
    Utterance { id, at, author, name, bot: false, text, reply: None, reply_author: None, mentions: &[] }
}

/// What a message answers, and its conversation.
fn hear(conversations: &mut Conversations, heard: &Utterance<'_>) -> (MessageId, ConversationId) {
    let placed = conversations.place(heard, LinkModel::built_in());
    let found = (placed.reply_to.clone(), placed.conversation);
    conversations.keep(heard, placed);
    found
}

fn replies(talk: &str) -> Vec<String> {
    told(&mut Conversations::default(), talk).iter().map(|(reply_to, _)| reply_to.to_string()).collect()
}

const TWO_TALKS: &str = "
0 alice: does anyone know how to mount an iso image?
20 carol: my sound card stopped working after the upgrade, any ideas?
40 bob: alice: mount -o loop image.iso /mnt
55 dave: carol: which sound card is it?
70 alice: bob: thanks, that worked
80 carol: dave: an old creative one";

#[test]
fn names_tell_two_talks_apart() {
    assert_eq!(replies(TWO_TALKS), ["m0", "m1", "m0", "m1", "m2", "m3"]);
    let conversations: Vec<ConversationId> =
        told(&mut Conversations::default(), TWO_TALKS).iter().map(|(_, conversation)| *conversation).collect();
    assert_eq!(conversations, [0, 1, 0, 1, 0, 1].map(ConversationId::nth));
}

#[test]
fn japanese_names_and_titles_do_too() {
    let talk = "
0 花子: 誰かisoファイルのマウントの方法を教えてください
20 健太: アップデートしてから音が出ないんだけど、原因わかる人いますか？
40 bob: 花子さん、mount -o loop でできますよ
55 田中@大阪: 健太さん、サウンドカードは何ですか？
70 花子: bobさん、ありがとうございます
80 健太: @田中 古いやつです";
    assert_eq!(replies(talk), ["m0", "m1", "m0", "m1", "m2", "m3"]);
}

#[test]
fn the_platform_knows_best() {
    let mut conversations = Conversations::default();
    told(&mut conversations, TWO_TALKS);
    let (id, link, lost) = (MessageId::new("r"), MessageId::new("m1"), MessageId::new("long ago"));
    let plain = heard(&id, Time(1_700_000_100_000), "erin", "alice: same here");
    let placed = conversations.clone().place(&Utterance { reply: Some(&link), ..plain }, LinkModel::built_in());
    assert_eq!((placed.reply_to, placed.choice.sure, placed.conversation), (link, 1.0, ConversationId::nth(1)));
    let found = hear(&mut conversations, &Utterance { reply: Some(&lost), ..plain });
    assert_eq!(found, (lost, ConversationId::nth(2)));
}

#[test]
fn a_snapshot_goes_on_as_before() {
    let mut conversations = Conversations::default();
    told(&mut conversations, TWO_TALKS);
    let text = serde_json::to_string(&conversations).expect("it can be written");
    let mut again: Conversations = serde_json::from_str(&text).expect("and read");
    let more = "200 erin: is anyone else here?\n210 alice: erin: yes\n220 carol: still no sound";
    assert_eq!(told(&mut conversations, more), told(&mut again, more));
}

#[test]
fn memory_is_bounded() {
    let mut conversations = Conversations::default();
    for turn in 0..5000u64 {
        let (id, name) = (MessageId::new(format!("m{turn}")), format!("person{}", turn * 7 % 1000));
        let text = format!("person{}: how about topic{turn}?", turn * 7 % 1000 + 7);
        conversations.hear(&heard(&id, Time(turn * 9000), &name, &text), LinkModel::built_in());
    }
    assert!(conversations.recent().len() == LINES_MAX && conversations.list.len() <= LINES_MAX + 1);
    assert!(serde_json::to_string(&conversations).expect("it can be written").len() < 60_000);
}

#[test]
fn what_is_deleted_is_not_answered() {
    let mut conversations = Conversations::default();
    told(&mut conversations, "0 alice: does anyone know how to mount an iso image?\n5 carol: lunch time");
    conversations.delete(&MessageId::new("m0"));
    conversations.delete(&MessageId::new("unknown"));
    conversations.edit(&MessageId::new("m1"), "where do we go for lunch?", LinkModel::built_in());
    conversations.edit(&MessageId::new("m0"), "gone", LinkModel::built_in());
    let id = MessageId::new("x");
    let (reply_to, _) =
        hear(&mut conversations, &heard(&id, Time(1_700_000_020_000), "bob", "alice: with mount -o loop"));
    assert_ne!(reply_to, MessageId::new("m0"));
}

#[test]
fn who_is_forgotten_leaves_nothing() {
    let mut conversations = Conversations::default();
    told(&mut conversations, TWO_TALKS);
    let key = stable_hash(0, "alice");
    assert!(serde_json::to_string(&conversations).expect("it can be written").contains(&key.to_string()));
    conversations.forget(key);
    conversations.forget(stable_hash(0, "nobody"));
    assert!(!serde_json::to_string(&conversations).expect("it can be written").contains(&key.to_string()));
    assert!(conversations.lines.all().iter().all(|line| line.author != NOBODY || line.words_len == 0));
    let guesses = told(&mut conversations, "300 bob: alice: are you still there?\n310 alice: yes");
    assert_eq!(guesses.len(), 2);
}

#[test]
fn time_may_run_backwards() {
    told(&mut Conversations::default(), "100 alice: hello?\n50 bob: alice: hi\n0 alice: bob: hi there\n0 carol: what?");
}

#[test]
fn a_room_is_small() {
    let line = size_of::<TalkLine>() * (LINES_MAX + LINES_OVER);
    let others = size_of::<Conversation>() * 24 + size_of::<crate::conversations::Participant>() * 16;
    assert!(line + others <= 2_950, "{line} {others}");
}
