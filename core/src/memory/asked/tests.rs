//! Requests to forget, and what only looks like one.

mod not_meant;

use super::*;

#[test]
fn a_request_is_understood_with_what_it_is_about() {
    for (text, about, other) in [
        ("aizuchi, please forget what I said about my new job", "I start my new job on Monday", "lunch is at noon"),
        ("<@123> can you forget everything I told you about Osaka?", "I moved to Osaka", "I like tea"),
        ("@aizuchi forget my phone number please", "my phone number is 555 0100", "my door is red"),
        ("Could you please delete what I mentioned yesterday about the surgery", "the surgery went well", "hello"),
        ("forget that I live in Kyoto", "I live in Kyoto", "I have a dog"),
        ("aizuchi、転職について言ったこと忘れて", "来月転職するんだ", "昼はカレーだった"),
        ("さっきの手術の話は忘れてください", "手術は来週です", "猫が好き"),
        ("@相槌 私の住所のことは忘れてほしい", "住所は京都です", "猫が好き"),
        ("転職について私が言ったことを消して", "転職した", "猫が好き"),
    ] {
        let topic = asked_to_forget(text).unwrap_or_else(|| panic!("{text}"));
        assert!(topic.is_in(about), "{text}: {about}");
        assert!(!topic.is_in(other), "{text}: {other}");
    }
}

/// The message itself does not say when it was said.
#[test]
fn when_it_was_said_and_politeness_are_no_part_of_the_topic() {
    for said in ["yesterday", "earlier today", "this morning", "a minute ago", "if possible", "- thank you"] {
        let text = format!("aizuchi, please forget what I said about my visa {said}");
        let topic = asked_to_forget(&text).unwrap_or_else(|| panic!("{text}"));
        assert!(topic.is_in("my visa is old") && !topic.is_in("I like tea"), "{text}: {topic:?}");
    }
    for text in [
        "aizuchi、昨日言ったビザの話を忘れて",
        "aizuchi、さっき言ったビザのことは忘れて",
        "aizuchi、私が言ったビザのことを忘れて",
    ] {
        let topic = asked_to_forget(text).unwrap_or_else(|| panic!("{text}"));
        assert!(topic.is_in("ビザが古い") && !topic.is_in("お茶が好き"), "{text}: {topic:?}");
    }
    let topic = asked_to_forget("please forget what I said about yesterday's meeting").expect("a request");
    assert!(!topic.is_in("the meeting is on Friday"), "what it is about stays: {topic:?}");
}

#[test]
fn a_topic_of_several_words_is_not_half_of_them() {
    for (text, about, other) in [
        ("forget my phone number", "my phone number is 555 0100", "the number 7 bus is late"),
        ("forget my phone number", "my number is 555 0100, call my phone", "my phone is broken"),
        ("please forget what I said about my new job", "I start my new job", "Bo has a job"),
        ("please forget what I said about the trip to Osaka with Ken", "Ken and I go to Osaka", "Ken likes tea"),
        ("please forget what I said about that awful surgery", "I had surgery in May", "what an awful film"),
        ("私の電話番号のことは忘れてください", "電話番号は555です", "番号7のバスが遅れている"),
        ("私の電話番号のことは忘れてください", "俺の電話番号、555な", "電話が壊れた"),
    ] {
        let topic = asked_to_forget(text).unwrap_or_else(|| panic!("{text}"));
        assert!(topic.is_in(about), "{text}: {about}: {topic:?}");
        assert!(!topic.is_in(other), "{text}: {other}: {topic:?}");
    }
}

#[test]
fn what_only_looks_like_it_is_none() {
    for text in [
        "don't forget what I said about my job",
        "did you forget what I said about my job?",
        "I forget what I said about my job",
        "you always forget what I said about tea",
        "forget it",
        "forget about that",
        "never mind",
        "what did I say about my job?",
        "I forgot my keys",
        "how do I delete my branch in git?",
        "宿題を忘れてきた",
        "転職について言ったこと忘れてないよね",
        "転職について言ったこと忘れないで",
        "財布のこと忘れてた",
        "電気を消して",
        "",
    ] {
        assert_eq!(asked_to_forget(text), None, "{text}");
    }
}

/// What is asked, what is to be forgotten, and what is not.
const ENGLISH_WISHES: [(&str, &str, &str); 26] = [
    ("can you forget about the surgery please?", "the surgery went well", "please pass the tea"),
    ("aizuchi, could you forget about the surgery?", "the surgery went well", "I like tea"),
    ("Could you please forget about that awful surgery", "the awful surgery", "I like tea"),
    ("please forget about Osaka", "I moved to Osaka", "I like tea"),
    ("forget about Osaka, please", "I moved to Osaka", "please, tea"),
    ("would you forget about our divorce pls", "the divorce is done", "I like tea"),
    ("hey aizuchi, will you forget about the divorce?", "the divorce is done", "hey there"),
    ("could you forget that I live in Kyoto", "I live in Kyoto", "I like tea"),
    ("could you forget that I'm pregnant?", "I am pregnant", "I like tea"),
    ("can you please forget that I've lost my job", "I lost my job", "I like tea"),
    ("please forget that my brother gambles", "my brother gambles", "I like tea"),
    ("I'd like you to forget about the surgery", "the surgery went well", "I like tea"),
    ("I want you to forget my phone number", "my phone number is 555 0100", "I like tea"),
    ("please don't remember my phone number", "my phone number is 555 0100", "I like tea"),
    ("don't remember my birthday, aizuchi", "my birthday is in May", "I like tea"),
    ("aizuchi, please do not remember my address", "my address is 1 Main Street", "I like tea"),
    ("aizuchi dont remember that I smoke", "I smoke", "I like tea"),
    ("please don't remember what I said about Osaka", "I moved to Osaka", "I like tea"),
    ("don't keep what I said about the divorce", "the divorce is done", "I like tea"),
    ("please don't keep anything I told you about the divorce", "the divorce is done", "I like tea"),
    ("do not store what I wrote about my boss", "my boss shouts", "I like tea"),
    ("please don't store my email address", "my email address is a@b.example", "I like tea"),
    ("could you not remember my salary?", "my salary is low", "I like tea"),
    ("sorry, please don't save what I mentioned about the loan", "the loan is large", "I like tea"),
    ("please forget what I said about my new job", "I start my new job on Monday", "lunch is at noon"),
    ("can you erase what I told you about Bob?", "Bob left", "I like tea"),
];

const ENGLISH_NEAR_MISSES: [&str; 44] = [
    "don't forget about the meeting",
    "please don't forget about the meeting",
    "never forget about the meeting",
    "I always forget my keys",
    "I forget about the meeting every week",
    "can you forget? lol",
    "can you forget?",
    "could you forget about it",
    "please forget about that",
    "can you forget things?",
    "how could you forget about the meeting?",
    "how can you forget my birthday",
    "why would you forget about the meeting?",
    "did you forget about the meeting?",
    "you can forget about the raise",
    "forget about the weather, let's eat",
    "let's forget about the meeting please",
    "can we forget about the meeting",
    "can I forget about the meeting?",
    "I want to forget my ex",
    "I need to delete my account",
    "will I forget my password?",
    "could you ever forget about the trip?",
    "can someone delete my comment?",
    "I don't remember my password",
    "you don't remember my name?",
    "don't you remember my birthday?",
    "why don't you remember my birthday?",
    "they don't remember my name",
    "do you not remember my name?",
    "don't remember",
    "please don't remember",
    "don't keep my seat",
    "don't keep me waiting",
    "please remember my birthday",
    "keep what I said about Osaka in mind",
    "please keep my notes",
    "don't forget that I like tea",
    "don't remove my name",
    "please don't delete what I said about Osaka",
    "sorry, I forgot about the meeting",
    "I'd like to forget about the meeting",
    "can you forget about me?",
    "we don't keep what I said about Osaka",
];

const JAPANESE_WISHES: [(&str, &str, &str); 26] = [
    ("手術の話、忘れてくれる？", "手術は来週です", "猫が好き"),
    ("aizuchi、手術の話、忘れてくれる？", "手術は来週です", "猫が好き"),
    ("転職の件、忘れてください", "転職するんだ", "猫が好き"),
    ("転職のこと忘れてもらえますか", "転職するんだ", "猫が好き"),
    ("転職のことを忘れてもらえませんか？", "転職するんだ", "猫が好き"),
    ("転職のことは忘れてくれないかな", "転職するんだ", "猫が好き"),
    ("離婚のこと忘れていただけますか", "離婚しました", "猫が好き"),
    ("離婚の話は忘れてくださいね", "離婚しました", "猫が好き"),
    ("離婚の話は忘れておいて", "離婚しました", "猫が好き"),
    ("離婚の件は忘れてもらっていいですか？", "離婚しました", "猫が好き"),
    ("離婚の話、忘れてほしいな", "離婚しました", "猫が好き"),
    ("手術の話は忘れて、お願い", "手術は来週です", "猫が好き"),
    ("手術の話は忘れて！", "手術は来週です", "猫が好き"),
    ("電話番号は覚えないで", "電話番号は555です", "猫が好き"),
    ("私の住所は覚えないでください", "住所は京都です", "猫が好き"),
    ("@相槌 住所のことは覚えないでね", "住所は京都です", "猫が好き"),
    ("誕生日は覚えないでほしい", "誕生日は五月です", "猫が好き"),
    ("手術の話は覚えないでもらえますか", "手術は来週です", "猫が好き"),
    ("離婚について話したことは覚えないで", "離婚しました", "猫が好き"),
    ("離婚の話、覚えないでくれる？", "離婚しました", "猫が好き"),
    ("給料は記憶しないで", "給料が安い", "猫が好き"),
    ("給料の話は記憶しないでください", "給料が安い", "猫が好き"),
    ("病気のことは覚えておかないで", "病気になった", "猫が好き"),
    ("転職について言ったこと忘れて", "来月転職するんだ", "昼はカレーだった"),
    ("転職について私が言ったことを消して", "転職した", "猫が好き"),
    ("さっきの手術の話は忘れてください", "手術は来週です", "猫が好き"),
];

const JAPANESE_NEAR_MISSES: [&str; 36] = [
    "忘れてた",
    "忘れないで",
    "忘れて",
    "忘れてくれる？",
    "覚えないで",
    "手術の話、忘れてた",
    "手術の話、忘れてないよね",
    "会議の件、忘れてない？",
    "会議のことは忘れないで",
    "会議のことは忘れないでください",
    "会議の話、忘れないでくれる？",
    "会議のこと忘れてました",
    "会議のことを忘れてしまった",
    "会議の話、忘れてしまいそう",
    "傘を忘れてきた",
    "財布のこと忘れてたよ",
    "仕事のことは忘れて、飲みに行こう",
    "今の話は忘れて",
    "さっきの話、忘れてください",
    "その話は忘れてください",
    "この話は覚えないで",
    "昨日のことは忘れて",
    "そのことは忘れてくれる？",
    "私のことは忘れて",
    "名前を覚えないで失礼した",
    "単語は覚えないで文で覚える",
    "人の名前は覚えないでいる",
    "住所は覚えないでいいよ",
    "会議の話、覚えてる？",
    "会議の話は覚えておいて",
    "誕生日は覚えていてね",
    "なんで名前は覚えないでそれは覚えるの",
    "電気を消して",
    "ログを削除してください",
    "あの人、約束の話忘れてるかも",
    "会議の話、誰か忘れてる？",
];

/// Other ways to say the same.
const SIBLINGS: [(&str, &str, &str); 27] = [
    ("please don't remember my address, ok?", "my address is 1 Main Street", "I like tea"),
    ("would you mind forgetting about the surgery?", "the surgery went well", "I like tea"),
    ("please stop remembering my birthday", "my birthday is in May", "I like tea"),
    ("could you stop storing what I say about my boss", "my boss shouts", "I like tea"),
    ("I don't want you to remember my address", "my address is 1 Main Street", "I like tea"),
    ("sorry, I do not want you to keep what I said about Osaka", "I moved to Osaka", "I like tea"),
    ("I'd rather you didn't remember my salary", "my salary is low", "I like tea"),
    ("please forget everything about my divorce", "the divorce is done", "I like tea"),
    ("can you forget all about the surgery?", "the surgery went well", "I like tea"),
    ("forget the thing about my brother", "my brother gambles", "I like tea"),
    ("can you forget that stuff about my loan please", "the loan is large", "I like tea"),
    ("please delete my phone number from your memory", "my phone number", "from memory, tea"),
    ("can you please wipe what I told you about Bob", "Bob left", "I like tea"),
    ("aizuchi can you forget about the surgery, please?", "the surgery went well", "I like tea"),
    ("hey, could you forget what I just said about Osaka", "I moved to Osaka", "I like tea"),
    ("手術の話はなかったことにして", "手術は来週です", "猫が好き"),
    ("手術の話、なかったことにしてくれる？", "手術は来週です", "猫が好き"),
    ("転職の件は無かったことにしてください", "転職するんだ", "猫が好き"),
    ("転職の話、忘れてくれたら嬉しい", "転職するんだ", "猫が好き"),
    ("転職の話、忘れてくれると嬉しいです", "転職するんだ", "猫が好き"),
    ("転職の件、忘れてくださると助かります", "転職するんだ", "猫が好き"),
    ("転職の件は忘れて頂けると助かります", "転職するんだ", "猫が好き"),
    ("住所は記録しないで", "住所は京都です", "猫が好き"),
    ("住所は保存しないでください", "住所は京都です", "猫が好き"),
    ("給料の話は記録しないでもらえますか", "給料が安い", "猫が好き"),
    ("手術の話、忘れてくれない？", "手術は来週です", "猫が好き"),
    ("離婚の話、忘れてくれる？", "離婚しました", "猫が好き"),
];

/// Ordinary sentences with these words.
const ORDINARY: [&str; 38] = [
    "don't forget the milk",
    "please don't forget my birthday",
    "I forgot about the meeting",
    "oh no, I forgot about my appointment",
    "can you remind me? I always forget",
    "can you remind me about my meeting? I always forget",
    "I keep forgetting about my meeting",
    "sorry for forgetting my keys",
    "do you mind? I keep forgetting my password",
    "forgetting about the meeting was bad",
    "I don't want you to forget my birthday",
    "I'd rather you didn't forget about my birthday",
    "I can't stop remembering my ex",
    "please wipe my desk",
    "they want you to remember my address",
    "I want you to remember my address",
    "you don't want me to remember my address",
    "forget everything, let's eat",
    "forget all about it",
    "I forgot everything about my exam",
    "he told me to forget the thing about my brother",
    "everything about my divorce is hard to forget",
    "memory stores everything about my keys",
    "stop it, I remember my address",
    "does it stop storing my files?",
    "忘れてた、会議あった",
    "会議の話、すっかり忘れてた",
    "牛乳買うの忘れないでね",
    "会議の件、忘れてました",
    "忘れてくれたら嬉しい",
    "手術はなかったことになった",
    "なかったことにして",
    "その話はなかったことにして",
    "会議の記録しないでいいの？",
    "会議の話はなかったことにされた",
    "よく忘れるからリマインドして",
    "会議の件、リマインドしてくれる？いつも忘れるから",
    "会議の話、忘れてないといいけど",
];

#[test]
fn wishes_of_both_languages_are_understood() {
    let missed: Vec<String> = (ENGLISH_WISHES.iter().chain(&JAPANESE_WISHES).chain(&SIBLINGS))
        .filter_map(|(text, about, other)| match asked_to_forget(text) {
            None => Some(format!("{text}: nothing is to be forgotten")),
            Some(topic) if !topic.is_in(about) => Some(format!("{text}: {about} stays; {topic:?}")),
            Some(topic) if topic.is_in(other) => Some(format!("{text}: {other} goes; {topic:?}")),
            Some(_) => None,
        })
        .collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn near_misses_of_both_languages_forget_nothing() {
    let taken: Vec<String> = (ENGLISH_NEAR_MISSES.iter().chain(&JAPANESE_NEAR_MISSES).chain(&ORDINARY))
        .filter_map(|text| asked_to_forget(text).map(|topic| format!("{text}: {topic:?}")))
        .collect();
    assert!(taken.is_empty(), "{taken:#?}");
}

proptest::proptest! {
    #[test]
    fn whatever_is_said_is_read(text in ".*", about in ".*") {
        if let Some(topic) = asked_to_forget(&format!("{text}, forget what I said about {about}")) {
            topic.is_in(&text);
        }
    }
}
