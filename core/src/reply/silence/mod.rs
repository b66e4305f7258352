//! Silence put into words: "SILENCE", "…", "(no response)", "There is no need for me to speak.", "（発言しません）".
//!
//! A model that was told it may say nothing tends to say so. Unasked, that is silence. A person who addressed it
//! may have asked "anything to add?" or "must I reply?", so there only what is no answer for a person counts: words about
//! its own silence, and the values that programs use for nothing ("None", "null").

mod english;
mod japanese;
mod phrase;

use unicode_normalization::UnicodeNormalization as _;

/// A reason is short; what is longer is an answer.
const CHARS_MAX: usize = 400;
/// A value is shorter still.
const VALUE_CHARS_MAX: usize = 60;

/// Whether these words, already clean, say that nothing is to be said.
pub fn is_silence(text: &str, addressed: bool) -> bool {
    let text = text.trim();
    if is_empty_talk(text) || is_sentinel(text, addressed) || is_value_for_silence(text) {
        return true;
    }
    let (inner, staged) = without_stage(text);
    let words = plain(inner);
    // A stage direction is about itself, whoever asked.
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

/// Dots and dashes only, or nothing that can be seen. A reaction such as 👀 or "！" is an answer.
fn is_empty_talk(text: &str) -> bool {
    let says_nothing =
        |c: char| c.is_whitespace() || ".…‥・。⋯-‐–—―─_\u{200b}\u{200c}\u{200d}\u{2060}\u{feff}".contains(c);
    !text.is_empty() && text.chars().all(says_nothing)
}

/// What a program would write where it says nothing, however it is dressed up: `ＳＩＬＥＮＴ`, `Answer: None`, `@mia SILENT`,
/// `SILENT SILENT`, `NO_REPLY`, `{"reply": null}`.
fn is_value_for_silence(text: &str) -> bool {
    let wide: String = text.nfkc().collect();
    let wide = wide.trim();
    if wide.chars().count() > VALUE_CHARS_MAX {
        return false;
    }
    if let Some(object) = wide.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        let value = object.rsplit(':').next().unwrap_or(object).trim().trim_matches('"');
        return object.matches(':').count() == 1 && (value.is_empty() || one_of(&plain(value), SURE));
    }
    let bare = wide.trim_matches(|c: char| c.is_whitespace() || "`>*\"'".contains(c) || is_pictograph(c));
    // Somebody who asks what a function returns gets "`None`".
    if wide.starts_with('`') {
        return one_of(&plain(bare), NEVER_SAID);
    }
    let is_constant = bare.contains('_') && bare.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    let (before, value) = match bare.split_once(':') {
        Some((label, value)) => (label, value),
        None if bare.starts_with('@') => bare.split_once(char::is_whitespace).unwrap_or(("", bare)),
        None => ("", bare),
    };
    let words = plain(value.trim());
    let first = words.split(' ').next().unwrap_or_default();
    let value = if words.split(' ').all(|word| word == first) { first } else { &words };
    let is_label = before.is_empty() || before.starts_with('@') || one_of(&plain(before), LABELS);
    (is_label && one_of(value, SURE))
        || (!before.contains(' ') && one_of(value, NEVER_SAID))
        || (is_constant && one_of(&words, LIKELY))
        || (before == before.to_uppercase() && one_of(&plain(before), NEVER_SAID))
}

/// No answer to anything, whatever it is written behind.
const NEVER_SAID: &[&str] = &["silent", "silence", "沈黙"];
/// What models write before an answer.
const LABELS: &[&str] = &["response", "answer", "output", "reply", "message"];

fn is_pictograph(c: char) -> bool {
    ('\u{1f300}'..='\u{1faff}').contains(&c) || c == '\u{fe0f}'
}

/// The word it was given for this, alone or with a reason behind it. Unasked, it may also stand above a reason or below
/// thoughts; asked, that may be the title of a poem.
fn is_sentinel(text: &str, addressed: bool) -> bool {
    let bare = |line: &str| {
        let marks = |c: char| c.is_whitespace() || "*_`#\"'.。!！()（）[]［］【】<>「」".contains(c);
        line.trim_matches(marks).to_owned()
    };
    let reasoned = || {
        let rest = text.trim_start_matches(['*', '_', '`', '[', '(', '（', '【', '"']).strip_prefix("SILENCE")?;
        let after = rest.trim_start_matches([' ', '*', '_', '`', ']', ')', '）', '】', '"']);
        Some(after.starts_with([':', '：', '.', '。', ',', '、', ';', '-', '–', '—', '(', '（']))
    };
    let lines = || text.lines().next().into_iter().chain(text.lines().next_back());
    ["silence", "沈黙"].contains(&bare(text).to_lowercase().as_str())
        || reasoned().unwrap_or(false)
        || (!addressed && lines().any(|line| ["SILENCE", "沈黙"].contains(&bare(line).as_str())))
}

/// Brackets and stars around the whole are stage directions: `(stays silent)`, `*says nothing*`.
fn without_stage(text: &str) -> (&str, bool) {
    const STAGES: [(char, char); 7] =
        [('(', ')'), ('（', '）'), ('[', ']'), ('［', '］'), ('【', '】'), ('*', '*'), ('<', '>')];
    let text = text.trim_end_matches(['.', '。']);
    let inner = STAGES.iter().find_map(|(open, close)| text.strip_prefix(*open)?.strip_suffix(*close));
    inner.map_or((text, false), |inner| (without_stage(inner.trim()).0, true))
}

/// Small letters, one space (`NO_REPLY` has two words), straight apostrophes, no punctuation at the end.
fn plain(text: &str) -> String {
    let words: Vec<String> =
        text.replace('’', "'").replace('_', " ").to_lowercase().split_whitespace().map(str::to_owned).collect();
    words.join(" ").trim_end_matches(['.', '。', '!', '！', '…', ' ']).to_owned()
}

fn one_of(words: &str, list: &[&str]) -> bool {
    list.contains(&words)
}

/// No answer for a person. Somebody who asks what a function returns gets "`None`", in code marks.
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
    "返信なし",
    "返信無し",
    "空文字列",
];

/// Silence when nobody asked; an answer when somebody did.
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
    "特にありません",
    "特にないです",
    "何もなし",
    "返信なし",
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
    use super::*;

    #[test]
    fn silence_in_words_is_silence_whoever_asked() {
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
            "I have nothing to add.",
            "I don't have anything to add here.",
            "なし",
            "特にありません。",
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
            "ＳＩＬＥＮＴ",
            "Ｎｏｎｅ",
            "```\nSILENT\n```",
            "`SILENT`",
            "> SILENT",
            "@mia SILENT",
            "@mia None",
            "mia: SILENT",
            "Response: None",
            "Answer: SILENT",
            "Output: null",
            "SILENT SILENT",
            "None None",
            "silent 🤐",
            "NO_REPLY",
            "NO_RESPONSE",
            "{\"reply\": null}",
            "{\"action\":\"silent\"}",
            "SILENT: the question is for somebody else",
            "返信なし",
            "\u{200b}",
        ] {
            assert!(is_silence(words, true), "{words}");
            assert!(is_silence(words, false), "unasked: {words}");
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
            "Pass: 12 of 12.",
            "Skip it.",
            "Errors: none",
            "Result: null",
            "Silent Night",
            "Silence: a poem",
            "@mia None of them",
            "{\"a\": 1}",
            "{}",
            "no no no",
            "HTTP_OK",
            "🤐",
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
        // Whoever asked whether to reply is told why not.
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
