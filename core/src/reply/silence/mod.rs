//! Silence put into words: "SILENCE", "…", "(no response)", "There is no need for me to speak.", "（発言しません）".
//!
//! A model that may say nothing tends to say so. If nobody asked, that is silence. A person who addressed the bot may have
//! asked "anything to add?" or "must I reply?", so then only what is no answer for a person counts: words about the bot's
//! own silence, and the values that programs use for nothing ("None", "null").

mod english;
mod japanese;
mod phrase;
mod unwrap;

use self::unwrap::{is_empty_object, repeated, unwrap, without_emoji};
use crate::types::is_invisible;

/// A reason is short; longer text is an answer.
const CHARS_MAX: usize = 400;

/// Whether these words, already cleaned, say that nothing is to be said. `is_name` knows the people of the talk.
pub fn is_silence(text: &str, addressed: bool, is_name: &dyn Fn(&str) -> bool) -> bool {
    let text = text.trim();
    if text.is_empty() {
        return false;
    }
    // A person who asks what a function returns gets "`None`".
    let is_code = text.starts_with('`') && !text.starts_with("```");
    let words = unwrap(text, is_name);
    is_invisible(&words)
        || says_nothing(text, addressed)
        || (words != text && !is_code && says_nothing(&words, addressed))
        || stands_for_nothing(&words)
}

/// A value in another form than the word alone.
fn stands_for_nothing(text: &str) -> bool {
    const MARKS: [&str; 4] = [" — ", " – ", " - ", ". "];
    let words = plain(without_stage(text).0);
    let is_constant = text.contains('_') && text.chars().all(|c| c == '_' || c.is_ascii_uppercase());
    let explained = |mark: &str| {
        let (value, why) = words.split_once(mark)?;
        Some(["silence", "silent", "none", "null", "n/a"].contains(&value) && english::says_so(why, true))
    };
    repeated(&words).is_some_and(|word| one_of(word, SURE))
        || ["silence", "silent", "沈黙", "無言"].contains(&without_emoji(&words))
        || (is_constant && (one_of(&words, SURE) || one_of(&words, LIKELY)))
        || is_empty_object(text, |value| one_of(&plain(value), SURE))
        || MARKS.iter().any(|mark| explained(mark).unwrap_or(false))
}

fn says_nothing(text: &str, addressed: bool) -> bool {
    if is_empty_talk(text) || is_sentinel(text, addressed) {
        return true;
    }
    let (inner, staged) = without_stage(text);
    let words = plain(inner);
    // A stage direction is about the bot itself, even if somebody asked.
    if one_of(&words, SURE)
        || ((staged || !addressed) && one_of(&words, LIKELY))
        || (staged && english::is_staged_silence(&words))
    {
        return true;
    }
    let likely_counts = staged || !addressed;
    let is_short = inner.chars().count() <= CHARS_MAX && !inner.contains("```");
    is_short && (english::says_so(&words, likely_counts) || japanese::says_so(inner, likely_counts))
}

/// Only dots and dashes. A reaction such as 👀 or "！" is an answer.
fn is_empty_talk(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_whitespace() || ".…‥・。⋯-‐–—―─_".contains(c))
}

/// The word it was given for this, alone or followed by a reason. If nobody asked, it may also be above a reason or below
/// thoughts; otherwise that may be the title of a poem.
fn is_sentinel(text: &str, addressed: bool) -> bool {
    let bare = |line: &str| {
        let marks = |c: char| c.is_whitespace() || "*_`#\"'.。!！()（）[]［］【】<>「」".contains(c);
        line.trim_matches(marks).to_owned()
    };
    let reasoned = || {
        let word = text.trim_start_matches(['*', '_', '`', '[', '(', '（', '【', '"']);
        let (rest, is_ours) = match word.strip_prefix("SILENCE") {
            Some(rest) => (rest, true),
            None => (word.strip_prefix("SILENT")?, false),
        };
        let after = rest.trim_start_matches([' ', '*', '_', '`', ']', ')', '）', '】', '"']);
        // "SILENT, in capitals." answers a person who asks how it is written.
        let listed = is_ours && after.starts_with(['.', '。', ',', '、']);
        Some(listed || after.starts_with("- ") || after.starts_with([':', '：', ';', '–', '—', '(', '（']))
    };
    let lines = || text.lines().next().into_iter().chain(text.lines().next_back());
    ["silence", "沈黙"].contains(&bare(text).to_lowercase().as_str())
        || reasoned().unwrap_or(false)
        || (!addressed && lines().any(|line| ["SILENCE", "沈黙"].contains(&bare(line).as_str())))
}

/// Brackets and asterisks around the whole are stage directions: `(stays silent)`, `*says nothing*`.
fn without_stage(text: &str) -> (&str, bool) {
    const STAGES: [(char, char); 7] =
        [('(', ')'), ('（', '）'), ('[', ']'), ('［', '］'), ('【', '】'), ('*', '*'), ('<', '>')];
    let text = text.trim_end_matches(['.', '。']);
    let inner = STAGES.iter().find_map(|(open, close)| text.strip_prefix(*open)?.strip_suffix(*close));
    inner.map_or((text, false), |inner| (without_stage(inner.trim()).0, true))
}

/// Lower case, single spaces (`NO_REPLY` has two words), straight apostrophes, no punctuation at the end.
fn plain(text: &str) -> String {
    let words: Vec<String> =
        text.replace('’', "'").replace('_', " ").to_lowercase().split_whitespace().map(str::to_owned).collect();
    words.join(" ").trim_end_matches(['.', '。', '!', '！', '…', ' ']).to_owned()
}

fn one_of(words: &str, list: &[&str]) -> bool {
    list.contains(&words)
}

/// No answer for a person.
const SURE: &[&str] = &[
    "silence",
    "stays silent",
    "remains silent",
    "staying silent",
    "remaining silent",
    "stay silent",
    "remain silent",
    "no intervention",
    "no response needed",
    "no reply needed",
    "no response is needed",
    "no response necessary",
    "no intervention needed",
    "沈黙",
    "発言しない",
    "発言しません",
    "応答不要",
    "返信不要",
    "返答不要",
    "発言不要",
    "介入なし",
    "介入不要",
    "介入しない",
    "介入しません",
    "silent",
    "quiet",
    "無言",
    "発言なし",
    "pass",
    "skip",
    "none",
    "null",
    "n/a",
    "nothing to say",
    "no output",
    "says nothing",
    "empty response",
    "無視",
    "パス",
    "スルー",
    "スキップ",
    "静観",
    "空文字",
    "発言無し",
    "空文字列",
    "返信なし",
    "返信無し",
    "特にありません",
];

/// Silence if nobody asked; an answer if somebody did.
const LIKELY: &[&str] = &[
    "no response",
    "no reply",
    "応答なし",
    "nothing",
    "nothing to add",
    "nothing more to add",
    "nothing to contribute",
    "no comment",
    "no answer",
    "no message",
    "no need to respond",
    "no need to reply",
    "listens",
    "listening",
    "listens quietly",
    "empty",
    "なし",
    "無し",
    "無",
    "特になし",
    "特に無し",
    "特にないです",
    "何もなし",
    "反応なし",
    "メッセージなし",
    "返答なし",
    "回答なし",
    "コメントなし",
    "見守る",
    "黙る",
    "黙っている",
    "黙って見守る",
    "静かに見守る",
    "何も言わない",
    "空",
];

#[cfg(test)]
mod tests {
    fn is_silence(text: &str, addressed: bool) -> bool {
        super::is_silence(text, addressed, &|name| name.eq_ignore_ascii_case("mia"))
    }

    #[test]
    fn silence_in_words_is_silence_for_everybody() {
        for words in [
            "SILENCE",
            "silence.",
            "**SILENCE**",
            "`SILENCE`",
            "[SILENCE]",
            "SILENCE: they are fine",
            "SILENCE (nothing to add)",
            "沈黙",
            "【沈黙】",
            "（沈黙）",
            "…",
            "...",
            "……。",
            "—",
            "(no response)",
            "[No reply]",
            "*stays silent*",
            "*(says nothing)*",
            "（発言しません）",
            "（何も言わない）",
            "(listens)",
            "I will stay silent because the two of them are talking to each other.",
            "I'll stay silent.",
            "I’ll remain silent here, as the question was for Bob.",
            "I will not respond to this message.",
            "I choose to stay silent since the conversation is ending.",
            "I think I'll just keep quiet for now.",
            "Staying silent — nobody asked me.",
            "No response needed.",
            "It's best to stay out of this.",
            "I'd rather sit this one out.",
            "I don't need to respond here.",
            "[NO_REPLY]",
            "今回は発言しません。",
            "二人の会話が続いているため、発言を控えます。",
            "話が終わりかけているので、今回は介入しません。",
            "私は応答しません。",
            "応答は不要です。",
            "今回はコメントを控えます。",
        ] {
            assert!(is_silence(words, false), "{words}");
            assert!(is_silence(words, true), "addressed: {words}");
        }
    }

    #[test]
    fn what_is_an_answer_to_a_question_is_silence_only_unasked() {
        for words in [
            "SILENCE\n\nThe two of them are fine.",
            "They are fine without me.\nSILENCE",
            "No response.",
            "Nothing to add.",
            "なし",
            "応答なし",
            "これ以上付け加えることはありません。",
            "静かに見守ります。",
            "盛り上がっているので、黙っておきますね。",
        ] {
            assert!(is_silence(words, false), "{words}");
            assert!(!is_silence(words, true), "addressed: {words}");
        }
    }

    #[test]
    fn real_answers_are_said() {
        for words in [
            "",
            "👀",
            "！",
            "(…)",
            "Silence is golden.",
            "**Silence**\n\nNo sound, no word,\nno bird.",
            "Silence the alarm with the left button.",
            "SILENCE IS GOLDEN",
            "I'll stay silent about who told me, since I promised.",
            "I will not respond to that with a guess, but the manual says 5 V.",
            "I'd say nothing beats a good map.",
            "I will stay silent? Never.",
            "Nothing to add to the soup but salt.",
            "No response from the server means the port is closed.",
            "No reply from them yet? Try the other address.",
            "I have nothing to add, but here's the link: https://example.org",
            "Pass the salt.",
            "None of them freeze above zero.",
            "沈黙は金ですね。",
            "サーバーが応答しません。再起動してみてください。",
            "電源が切れているため、応答しません。",
            "あの人はもう発言しませんと言っていました。",
            "明日の様子を、見守ります。",
            "特に言うことはありませんが、一つだけ。資料の三ページ目を見てください。",
            "今回は発言しません。ただ、資料は三ページ目が正しいです。",
            "特に問題はありません。",
            "なしの皮はむかなくても食べられます。",
            "見守りカメラなら二階にもあります。",
            "パスワードは変えましたか？",
            "了解です。",
        ] {
            assert!(!is_silence(words, false), "{words}");
            assert!(!is_silence(words, true), "addressed: {words}");
        }
    }

    fn lines(text: &str) -> impl Iterator<Item = &str> {
        text.lines().filter(|line| !line.trim().is_empty())
    }

    #[test]
    fn an_answer_that_says_that_there_is_nothing_to_say_is_silence() {
        // The second half was kept apart while the phrases were written.
        let wordings = lines(include_str!("wordings/tuned.txt")).chain(lines(include_str!("wordings/held_out.txt")));
        let posted: Vec<&str> = wordings.filter(|words| !is_silence(words, false)).collect();
        assert!(posted.is_empty(), "{} would be posted: {posted:#?}", posted.len());
    }

    #[test]
    fn an_answer_that_holds_such_words_and_more_is_said() {
        let answers =
            lines(include_str!("wordings/answers.txt")).chain(lines(include_str!("wordings/answers_held_out.txt")));
        for words in answers {
            assert!(!is_silence(words, false), "{words}");
            assert!(!is_silence(words, true), "addressed: {words}");
        }
    }

    #[test]
    fn what_speaks_of_itself_is_no_answer_to_somebody_who_asked_either() {
        for words in [
            "There is no need for me to speak.",
            "I don't think I need to say anything here.",
            "(remaining quiet)",
            "今は発言する必要はないと思います",
            "私が口を挟む必要はなさそうです。",
        ] {
            assert!(is_silence(words, true), "{words}");
        }
        for words in ["It is necessary for me to answer.", "There is a need for me to step in.", "I need to respond."] {
            assert!(!is_silence(words, false), "{words}");
        }
    }

    #[test]
    fn who_asked_is_not_sent_a_value_that_stands_for_nothing() {
        for words in [
            "None",
            "none.",
            "null",
            "NULL",
            "N/A",
            "SILENT",
            "Silent.",
            "**pass**",
            "pass",
            "PASS.",
            "skip",
            "empty response",
            "no output",
            "発言なし",
            "発言無し。",
            "発言なしです。",
            "無言",
            "パス",
            "スキップ",
            "空文字",
        ] {
            assert!(is_silence(words, true), "{words}");
            assert!(is_silence(words, false), "unasked: {words}");
        }
    }

    #[test]
    fn silence_is_recognised_in_whatever_it_is_wrapped() {
        for words in [
            "``SILENT``",
            "`SILENT`",
            "```\nSILENT\n```",
            "```text\nNone\n```",
            "ＳＩＬＥＮＴ",
            "Ｎｏｎｅ",
            "SI\u{200b}LENT",
            "\u{feff}SILENCE",
            "> SILENT",
            "@mia SILENT",
            "<@U123> None",
            "mia: None",
            "Mia： SILENT",
            "**mia:** none",
            "@mia None",
            "mia: SILENT",
            "Output: null",
            "返信無し",
            "Response: None",
            "Answer: SILENT",
            "Reply: (none)",
            "返信：沈黙",
            "SILENT SILENT",
            "None None.",
            "silent 🤐",
            "🤫 SILENCE",
            "NO_REPLY",
            "NO_RESPONSE",
            "{\"reply\": null}",
            "{\"action\":\"silent\"}",
            "{\"action\": \"none\", \"reason\": \"they are fine\"}",
            "{\"respond\": false}",
            "```json\n{\"message\": \"\"}\n```",
            "SILENT: the question is for somebody else",
            "SILENT - not for me",
            "None — nothing to add here.",
            "None. I have nothing to add.",
            "I have nothing to add.",
            "I don't have anything to add.",
            "@mia I have nothing to add.",
            "Nothing from me.",
            "返信なし",
            "特にありません。",
        ] {
            assert!(is_silence(words, true), "{words}");
            assert!(is_silence(words, false), "unasked: {words}");
        }
    }

    #[test]
    fn what_nobody_can_see_is_never_said() {
        for words in
            ["\u{200b}", "\u{feff}\n\u{2060}", "\u{3164}", "\u{2800}\u{fe0f}", "`\u{200b}`", "\u{fffc}", "\u{301}"]
        {
            assert!(is_silence(words, true), "{words:?}");
            assert!(is_silence(words, false), "unasked: {words:?}");
        }
        for words in ["か\u{3099}", "❤\u{fe0f}", "e\u{301}"] {
            assert!(!is_silence(words, true) && !is_silence(words, false), "{words:?}");
        }
    }

    #[test]
    fn who_asked_is_not_told_that_there_is_nothing_to_say() {
        for words in [
            "特に言うことはありません。",
            "特に言うことはないです。",
            "今は特に言うことがありません。",
            "私から言うことは特にありません。",
            "特に発言することはありません。",
            "特に申し上げることはございません。",
            "I have nothing to say.",
            "I have nothing to say here.",
            "There is nothing to say.",
            "Nothing to say.",
            "I don't have anything to say.",
        ] {
            assert!(is_silence(words, true), "{words}");
            assert!(is_silence(words, false), "unasked: {words}");
        }
    }

    #[test]
    fn short_answers_to_who_asked_are_said() {
        for words in [
            "None of them",
            "None of them.",
            "pass the salt",
            "null is a value in SQL",
            "`None`",
            "`None` is falsy.",
            "Errors: none",
            "Result: null",
            "Silence: a poem",
            "@mia None of them",
            "{\"a\": 1}",
            "{}",
            "no no no",
            "HTTP_OK",
            "🤐",
            "> None of us\n\nThat is the refrain.",
            "mia: None of them",
            "Allergies: none",
            "Answer: 42",
            "Pass pass pass, said the referee.",
            "Pass 🎉",
            "No reply.",
            "Silent Night",
            "SILENT-MODE is the flag.",
            "SILENT, in capitals.",
            "SILENT=1 ./configure && make",
            "```\nls -la\n```",
            "```json\n{\"reply\": \"hello\"}\n```",
            "{\"name\": null}",
            "{\"action\": \"open\"}",
            "{\"action\": \"none\", \"message\": \"hello\"}",
            "None. The museum is free on Sundays.",
            "None, because a function without a return gives None.",
            "None — the museum is free.",
            "Nothing to declare at customs",
            "I have nothing to add to the list, but the tent is missing.",
            "Nothing from me or from Jonas has arrived there yet.",
            "特にありませんが、資料は三ページ目が正しいです。",
            "返信なしの場合は電話してください。",
            "Pass: 12 of 12.",
            "Skip it.",
            "No.",
            "Nothing.",
            "Silent mode.",
            "ない",
            "ないです。",
            "なし",
            "特にない",
            "言うことなし！",
            "パスです、次の人どうぞ。",
            "発言なしでも参加できます。",
        ] {
            assert!(!is_silence(words, true), "{words}");
        }
    }

    #[test]
    fn advice_about_others_is_said() {
        for words in [
            "There is no need to reply to them.",
            "There's no need to respond to him.",
            "No need to reply to her.",
            "It's not necessary to respond to them.",
            "It is best not to reply to them.",
            "It's better not to respond to them again.",
            "I think there is no need to reply to them.",
            "彼らに返信する必要はありません。",
            "彼らには返信する必要はありません。",
            "彼らには、返信する必要はありません。",
            "あの人たちには、返信しなくていいと思います。",
            "その人たちに返事をする必要はないです。",
            "田中さんには、返信の必要はないと思います。",
            "そのメールには、返信する必要はありません。",
        ] {
            assert!(!is_silence(words, true), "{words}");
            assert!(!is_silence(words, false), "unasked: {words}");
        }
        // A person who asked whether to reply learns why not.
        for words in [
            "There is no need to reply, they already have the file.",
            "There is no need to reply because they already know.",
            "自動送信のメールなので、返信する必要はありません。",
            "自動送信なので返信の必要はありません。",
        ] {
            assert!(!is_silence(words, true), "{words}");
        }
        for words in ["I don't need to respond to them.", "There is no need for me to reply to them."] {
            assert!(is_silence(words, true), "{words}");
        }
    }

    #[test]
    fn odd_texts_do_no_harm() {
        for words in ["(", ")", "**", "「」", "（）", "SILENC", "I will", "、、、、", "。", "\u{200b}"] {
            is_silence(words, true);
            is_silence(words, false);
        }
        assert!(!is_silence(&"I will stay silent because ".repeat(1000), false));
    }
}
