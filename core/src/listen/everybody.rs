//! Whether a message speaks to everybody: "does anyone know?", "morning everyone", 「誰か知ってる？」; not "does that work for
//! everyone?" and 「それってみんな使えるの？」, which are about people.

const ANY: &[&str] = &["anyone", "anybody"];
const SOME: &[&str] = &["someone", "somebody"];
const ALL: &[&str] = &["everyone", "everybody", "all", "guys", "folks", "people", "peeps", "y'all", "yall"];

/// Words that begin a question whose subject follows.
const AUXILIARIES: &str = "does do did has have had is was can could will would should are may might anyone's";

/// Words before one of [`ALL`] at the end of a greeting.
const GREETINGS: &str = "hey hi hello morning afternoon evening night thanks welcome yo guten sup thank you ok so well and good \
    alright listen please sorry dear bye goodnight gm cheers congrats attention";

/// After "someone", what tells which one: "someone without an account".
const WHICH: &str = "without with who whose from in on at that outside inside under over with not else's";

/// Whether it speaks to everybody.
pub(crate) fn speaks_to_everybody(text: &str) -> bool {
    let small = text.to_lowercase().replace('’', "'");
    let clauses = small.split(['.', ',', '!', '?', ';', ':', '\n', '。', '、', '！', '？', '…']);
    clauses.map(str::trim).filter(|clause| !clause.is_empty()).any(|clause| {
        speaks_in_japanese(clause) || {
            let words: Vec<&str> =
                clause.split(|c: char| !(c.is_alphanumeric() || c == '\'')).filter(|word| !word.is_empty()).collect();
            words.len() < 64 && speaks_in_english(&words)
        }
    })
}

fn is_in(word: &str, list: &str) -> bool {
    list.split_whitespace().any(|listed| listed == word)
}

/// One clause.
fn speaks_in_english(words: &[&str]) -> bool {
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let is_greeted = |at: usize| words[..at].iter().all(|word| is_in(word, GREETINGS));
    (0..words.len()).any(|at| {
        let before = at.checked_sub(1).map_or("", word);
        let asked = is_in(before, AUXILIARIES);
        if ANY.contains(&words[at]) {
            let which = is_in(word(at + 1), WHICH);
            let begins = (at == 0 || is_greeted(at)) && !which || words.len() == at + 1 && at <= 1;
            return begins || asked || before == "if" && at <= 2 || before == "or";
        }
        if SOME.contains(&words[at]) {
            let which = is_in(word(at + 1), WHICH);
            let wanted = is_in(word(at + 1), "please pls explain help tell should needs can could review look check");
            return asked && !which || (at == 0 || is_greeted(at)) && wanted;
        }
        let greets = at + 1 == words.len() && is_greeted(at) && !words[..at].is_empty();
        // "Guys" is hardly anything but a call.
        let alone =
            at == 0 && (words.len() == 1 || is_in(words[0], "guys folks") || is_in(word(1), "please should remember"));
        ALL.contains(&words[at]) && (greets || alone || before == "you" && is_in(words[at], "guys folks all people"))
    })
}

const WHO_UNSPACED: [&str; 2] = ["誰か", "だれか"];
const ALL_UNSPACED: [&str; 5] = ["みんな", "皆さん", "みなさん", "皆様", "みなさま"];

/// After 「誰か」, what makes it a part of the sentence.
const PARTICLES: &str = "に を の と が から も へ で は って さん";

/// After 「みんな」, what is asked of everybody.
const ASKED: &str = "どう どっち どこ 何 なに いつ 知って 知らない 来る 来て 行く 行かない 聞いて 見て おは こん お疲れ おつかれ 今 いる 元気 よろしく もう ありがとう";

fn speaks_in_japanese(clause: &str) -> bool {
    let begins = |text: &str, list: &str| list.split_whitespace().any(|words| text.starts_with(words));
    let mut who = WHO_UNSPACED.iter().flat_map(|word| clause.match_indices(word));
    if who.any(|(at, word)| !begins(&clause[at + word.len()..], PARTICLES)) {
        return true;
    }
    let mut all = ALL_UNSPACED.iter().flat_map(|word| clause.match_indices(word));
    all.any(|(at, word)| {
        let (before, after) = (clause[..at].trim(), clause[at + word.len()..].trim());
        let of_topic = after.strip_prefix('は').unwrap_or(after);
        let greeted = before.is_empty() || GREETED.split_whitespace().any(|words| before.ends_with(words));
        begins(of_topic, ASKED) || greeted && !begins(after, PARTICLES)
    })
}

/// Before 「みんな」.
const GREETED: &str = "ねえ ねぇ ねー おはよう おはようございます こんにちは こんばんは お疲れ様です お疲れさまです お疲れ様 ありがとう ありがとうございます で さて では じゃあ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_spoken_to() {
        for text in [
            "does anybody know?",
            "hey guys",
            "good morning everyone",
            "can someone help me?",
            "みんな今夜どうする？",
            "誰か知ってる？",
        ] {
            assert!(speaks_to_everybody(text), "{text}");
        }
    }

    #[test]
    fn who_speaks_about_everybody_speaks_to_nobody() {
        for text in [
            "and by bus?",
            "バスだと？",
            "does that work for everyone?",
            "can someone without root do that?",
            "それってみんな使えるの？",
            "did you tell everybody?",
            "誰かに聞いた？",
        ] {
            assert!(!speaks_to_everybody(text), "{text}");
        }
    }
}
