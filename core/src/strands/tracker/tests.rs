//! Small talks, told to the tracker line by line.

use super::*;
use crate::types::stable_hash;

/// `seconds name: text`, one message a line; ids are m0, m1, …
fn told(strands: &mut Strands, talk: &str) -> Vec<Guess> {
    let tell = |(number, line): (usize, &str)| {
        let (seconds, rest) = line.trim().split_once(' ').expect("a time comes first");
        let (name, text) = rest.split_once(": ").expect("a name comes second");
        let id = MessageId::new(format!("m{number}"));
        let at = Time(1_700_000_000_000 + 1000 * seconds.parse::<u64>().expect("seconds"));
        strands.hear(&heard(&id, at, name, text), Models::built_in())
    };
    talk.trim().lines().enumerate().map(tell).collect()
}

fn heard<'a>(id: &'a MessageId, at: Time, name: &'a str, text: &'a str) -> Heard<'a> {
    let author = stable_hash(0, name);
    Heard { id, at, author, name, bot: false, text, reply: None, reply_author: None, mentions: &[] }
}

fn replies(talk: &str) -> Vec<String> {
    told(&mut Strands::default(), talk).iter().map(|guess| guess.reply_to.to_string()).collect()
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
    let strands: Vec<u32> = told(&mut Strands::default(), TWO_TALKS).iter().map(|guess| guess.strand).collect();
    assert_eq!(strands, [0, 1, 0, 1, 0, 1]);
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
    let mut strands = Strands::default();
    told(&mut strands, TWO_TALKS);
    let (id, link, lost) = (MessageId::new("r"), MessageId::new("m1"), MessageId::new("long ago"));
    let plain = heard(&id, Time(1_700_000_100_000), "erin", "alice: same here");
    let guess = strands.clone().hear(&Heard { reply: Some(&link), ..plain }, Models::built_in());
    assert_eq!((guess.reply_to, guess.sure, guess.strand), (link, 1.0, 1));
    let guess = strands.hear(&Heard { reply: Some(&lost), ..plain }, Models::built_in());
    assert_eq!((guess.reply_to, guess.strand), (lost, 2));
}

#[test]
fn an_open_question_draws_more_than_a_word_of_assent() {
    for talk in [
        "0 a: hello\n60 bob: does anyone know how to mount an iso image?\n70 carol: bob: ok",
        "0 a: こんにちは\n60 bob: 誰かisoファイルのマウントの方法を知りませんか？\n70 carol: bobさん、なるほど",
    ] {
        let guesses = told(&mut Strands::default(), talk);
        assert!(guesses[1].p_join > 2.0 * guesses[2].p_join, "{} {}", guesses[1].p_join, guesses[2].p_join);
        let why = join::contributions(&guesses[1].features, Models::built_in());
        assert!(why[0].log_odds.abs() > 0.05 && why.is_sorted_by(|a, b| a.log_odds.abs() >= b.log_odds.abs()));
    }
}

#[test]
fn a_snapshot_goes_on_as_before() {
    let mut strands = Strands::default();
    told(&mut strands, TWO_TALKS);
    let text = serde_json::to_string(&strands).expect("it can be written");
    let mut again: Strands = serde_json::from_str(&text).expect("and read");
    let more = "200 erin: is anyone else here?\n210 alice: erin: yes\n220 carol: still no sound";
    assert_eq!(told(&mut strands, more), told(&mut again, more));
}

#[test]
fn memory_is_bounded() {
    let mut strands = Strands::default();
    for turn in 0..5000u64 {
        let (id, name) = (MessageId::new(format!("m{turn}")), format!("person{}", turn * 7 % 1000));
        let text = format!("person{}: how about topic{turn}?", turn * 7 % 1000 + 7);
        strands.hear(&heard(&id, Time(turn * 9000), &name, &text), Models::built_in());
    }
    assert!(strands.recent().len() == LINES_MAX && strands.list.len() <= LINES_MAX + 1);
    assert!(serde_json::to_string(&strands).expect("it can be written").len() < 60_000);
}

#[test]
fn what_is_deleted_is_not_answered() {
    let mut strands = Strands::default();
    told(&mut strands, "0 alice: does anyone know how to mount an iso image?\n5 carol: lunch time");
    strands.delete(&MessageId::new("m0"));
    strands.delete(&MessageId::new("unknown"));
    strands.edit(&MessageId::new("m1"), "where do we go for lunch?", Models::built_in());
    strands.edit(&MessageId::new("m0"), "gone", Models::built_in());
    let id = MessageId::new("x");
    let guess =
        strands.hear(&heard(&id, Time(1_700_000_020_000), "bob", "alice: with mount -o loop"), Models::built_in());
    assert_ne!(guess.reply_to, MessageId::new("m0"));
}

#[test]
fn who_is_forgotten_leaves_nothing() {
    let mut strands = Strands::default();
    told(&mut strands, TWO_TALKS);
    let key = stable_hash(0, "alice");
    assert!(serde_json::to_string(&strands).expect("it can be written").contains(&key.to_string()));
    strands.forget(key);
    strands.forget(stable_hash(0, "nobody"));
    assert!(!serde_json::to_string(&strands).expect("it can be written").contains(&key.to_string()));
    assert!(strands.lines.iter().all(|line| line.author != NOBODY || line.reading.words_len == 0));
    let guesses = told(&mut strands, "300 bob: alice: are you still there?\n310 alice: yes");
    assert_eq!(guesses.len(), 2);
}

#[test]
fn time_may_run_backwards() {
    told(&mut Strands::default(), "100 alice: hello?\n50 bob: alice: hi\n0 alice: bob: hi there\n0 carol: what?");
}
