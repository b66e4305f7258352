//! What a request to forget does not reach, and what is no request though it has the words of one.

use super::*;

/// What is asked, and what is said about something else.
#[test]
fn what_is_only_similar_in_meaning_is_no_part_of_the_topic() {
    let cases = [
        ("please forget what I said about the open house", "Let us begin at home tomorrow"),
        ("please forget what I said about the open house", "I will get a place at the commencement"),
        ("please forget what I said about my new job", "this script does not work with recent kernels"),
        ("please forget what I said about my new job", "my latest config got this role wrong again"),
        ("please forget what I said about my pet", "my dog is called Rex"),
        ("please forget what I said about my bike", "my bicycle is red"),
        ("please forget what I said about the organs", "our organization grows"),
        ("花の話は忘れて", "鼻が痛い"),
        ("蛙の話は忘れて", "明日帰る"),
    ];
    let gone: Vec<_> = cases.iter().filter(|(asked, said)| asked_to_forget(asked).expect(asked).is_in(said)).collect();
    assert!(gone.is_empty(), "{gone:#?}");
    for (asked, said) in [
        ("please forget what I said about the open house", "We had the open house on Friday"),
        ("please forget what I said about swimming", "I swam and he swims"),
        ("please forget what I said about my children", "my child is ill"),
        ("please forget what I said about moving", "I moved to Leeds"),
        ("please forget what I said about my babies", "my baby sleeps"),
        ("苺の話は忘れて", "いちごを買った"),
        ("いちごの話は忘れて", "苺を買った"),
        ("花の話は忘れて", "はなが好き"),
    ] {
        assert!(asked_to_forget(asked).expect(asked).is_in(said), "{asked}: {said}");
    }
}

/// Said of others' words, not meant, or the opposite.
const NOT_MEANT: [&str; 42] = [
    "please forget nothing I said about my birthday",
    "forget nothing I told you about my brother please",
    "please forget neither what I said about staging",
    "please forget what I never said about staging",
    "please forget what I have not said about staging",
    "please forget everything but what I said about staging",
    "please forget what I said about everything except staging",
    "please forget what I said about anything other than staging",
    "please forget what Mia said about staging",
    "would you forget what Mia said about my birthday?",
    "could you forget what I said about staging? just kidding, keep it!",
    "could you forget what I said about staging? Just kidding!",
    "please forget what I said about staging, no wait, don't",
    "please forget what I said about staging... never mind",
    "please forget what I said about staging. jk",
    "can you forget what I said about my birthday? I hope not",
    "please forget what I said about staging or not",
    "please forget what I said about the staging host just kidding",
    "translate: please forget what I said about staging",
    "translate please forget what I said about staging",
    "translate this: please forget what I said about staging",
    "please translate, forget what I said about staging",
    "how do you say this in French, please forget what I said about staging",
    "Ken told me: please forget what I said about staging",
    "Ken said, please forget what I said about staging",
    "repeat after me: forget what I said about staging",
    "example: forget what I said about staging",
    "\"please forget what I said about staging\" is what Ken wrote",
    "'forget what I said about staging'",
    "please, no deleting: delete nothing about my birthday",
    "翻訳して：住所の話は忘れて",
    "翻訳して、住所の話は忘れて",
    "英語で言って。住所の話は忘れて",
    "例：引っ越しと住所の話は忘れて",
    "住所以外の話は忘れて",
    "住所と電話のほかの話は忘れて",
    "住所の話は忘れて。冗談だよ",
    "住所の話は忘れて、なんてね",
    "住所の話は忘れてください。やっぱり覚えておいて",
    "住所の話は忘れて。うそうそ",
    "「住所の話は忘れて」",
    "ケンが言った。「住所の話は忘れて」",
];

#[test]
fn what_is_taken_back_quoted_or_the_opposite_forgets_nothing() {
    let taken: Vec<String> =
        NOT_MEANT.iter().filter_map(|text| asked_to_forget(text).map(|topic| format!("{text}: {topic:?}"))).collect();
    assert!(taken.is_empty(), "{taken:#?}");
    for (text, about) in [
        ("please forget what I said about my job. I don't work there anymore", "my job is hard"),
        ("That was stupid, please forget what I said about Ken!", "Ken snores"),
        ("please forget everything I ever told you about my brother", "my brother gambles"),
        ("forget the things I said yesterday about my brother, not the rest", "my brother gambles"),
        ("aizuchi: please forget what I said about staging", "staging is down"),
        ("sorry for what I said earlier. Please forget what I said about staging.", "staging is down"),
        ("please forget what I said about the joke", "the joke was bad"),
        ("住所の話は忘れてください。お願いします", "住所は京都です"),
        ("相槌：住所の話は忘れて", "住所は京都です"),
        ("変なこと言って、ごめん。住所の話は忘れて", "住所は京都です"),
    ] {
        assert!(asked_to_forget(text).unwrap_or_else(|| panic!("{text}")).is_in(about), "{text}");
    }
}

#[test]
fn nobody_but_the_bot_is_asked() {
    let names = ["Aizuchi", "相槌", "Tea Bot"];
    for text in [
        "Mia will forget what I said about staging",
        "people forget what I said about staging",
        "nobody would forget what I said about staging",
        "Ken please don't remember my birthday",
    ] {
        assert_eq!(asked_to_forget_by(text, &names), None, "{text}");
    }
    for text in [
        "aizuchi please forget what I said about staging",
        "hey Tea Bot forget what I said about staging",
        "please forget what I said about staging",
        "Mia is away. Please forget what I said about staging",
    ] {
        assert!(asked_to_forget_by(text, &names).is_some(), "{text}");
    }
}
