//! Whether a message seems to be for others because it begins like a call.

/// Words before a comma at the beginning of a sentence that are nobody's name.
const OPENINGS: &str = "yes yeah yep no nope ok okay well so and but or oh ah aha hm hmm huh thanks thx sorry actually wait also \
    great cool nice right sure true then now anyway btw still maybe perhaps though however hey hi hello lol haha please again \
    first second finally alright interesting wow good fine wrong exactly indeed firstly";
const OPENINGS_UNSPACED: &[&str] = &[
    "はい",
    "いや",
    "いえ",
    "いいえ",
    "うん",
    "ええ",
    "でも",
    "じゃあ",
    "では",
    "なるほど",
    "ちなみに",
    "あと",
    "それで",
    "えっと",
    "あの",
    "ああ",
    "あ",
    "え",
    "へえ",
    "そう",
    "そっか",
    "つまり",
    "たとえば",
    "例えば",
    "ただ",
    "だから",
    "それなら",
    "なら",
    "まあ",
    "ところで",
    "もし",
    "じゃ",
    "ふむ",
    "すみません",
    "ごめん",
    "ありがとう",
    "了解",
    "確かに",
    "たしかに",
    "やっぱり",
    "もう一つ",
];
/// One-word questions.
const QUESTIONS: &[&str] =
    &["what", "why", "when", "where", "who", "which", "how", "really", "seriously", "since", "and", "so"];

/// Whether it begins like a call to somebody: "bob, …", "hey Dave, …", 「田中さん、…」, "Bob?".
pub(crate) fn seems_to_call(text: &str) -> bool {
    let text = text.trim();
    let small = text.to_lowercase();
    let greeted = ["hey ", "hi ", "hello ", "yo ", "ねえ", "ねぇ"].iter().find_map(|word| small.strip_prefix(word));
    let rest = greeted.unwrap_or(&small).trim_start();
    if let Some((head, _)) = rest.split_once([',', '、', '，', ':', '：']) {
        let head = head.trim();
        let words = head.split_whitespace().count();
        let opens = OPENINGS.split_whitespace().any(|word| word == head) || OPENINGS_UNSPACED.contains(&head);
        if (1..=2).contains(&words) && head.chars().count() <= 16 && !opens {
            return true;
        }
    }
    let one = text.strip_suffix(['?', '？']).filter(|one| one.chars().all(|c| c.is_ascii_alphabetic()));
    one.is_some_and(|one| {
        one.starts_with(|c: char| c.is_ascii_uppercase()) && !QUESTIONS.contains(&one.to_lowercase().as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_called_is_somebody_else() {
        for text in
            ["bob, are you coming?", "hey Dave, did you get it?", "田中さん、メール見た？", "Bob?", "mom, can you?"]
        {
            assert!(seems_to_call(text), "{text}");
        }
        for text in [
            "well, what then?",
            "and on windows?",
            "Why?",
            "なるほど、では次は？",
            "yes, the second one",
            "no",
            "Windowsだとどうなりますか？",
        ] {
            assert!(!seems_to_call(text), "{text}");
        }
    }
}
