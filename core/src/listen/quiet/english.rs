//! English: patterns of words from `english.txt`, with what may be around them.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::english_joined::joined;
use super::english_order::{end_is_polite, is_occasion, is_plain, tells_of_somebody};
use super::english_time::{begins_time, time_at_end, time_at_start};
use super::misspelled::corrected;
use super::pattern::{WordPattern, read};
use super::somebody::is_name_in_english;
use super::{ClausePart, LAUGHS, QuietTime, SaidTo, TextClause, clauses, together};

struct Tables {
    /// The requests; `~` marks those that count only if they are said to the bot, `^` those of them that are phrased as
    /// questions, `%` those with which people may ask whether it can.
    requests: Vec<(char, WordPattern)>,
    /// Every request contains one of these.
    telling: HashSet<Box<str>>,
    around: Vec<(char, WordPattern)>,
    again: Vec<(char, WordPattern)>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let requests = read(include_str!("english.txt"), "~^%");
    Tables {
        telling: requests.iter().flat_map(|(_, pattern)| pattern.telling_words(COMMON)).collect(),
        requests,
        around: read(include_str!("around_english.txt"), "<>?!*"),
        again: read(include_str!("talk_again_english.txt"), "~"),
    }
});

/// Words that are common in any talk.
const COMMON: &str = "a i we you it the this that us me be being become get keep keeping stay staying go going no not one more less end \
    do don't dont didn't never say said says to of in on out off up from for with all your some just only let give put take have had has \
    people others here there is are was i've we've that's what's thats it's will need want wish been use avoid cut skip time another \
    single";

/// A clause with more words is not an order.
const WORDS_MAX: usize = 24;

const ENDS: &str = ".!?,;\n…—–()*~";

pub(super) fn asked_to_be_quiet(text: &str, said_to: SaidTo) -> Option<QuietTime> {
    let text = joined(text);
    let all = words(&text);
    // Somebody who says thanks first has had enough of an answer.
    let thanks = |word: Option<&String>| word.is_some_and(|word| is_in(word, "thanks thank thx ty cheers"));
    let last = all.len().saturating_sub(1);
    let content = (thanks(all.first())
        || !said_to.is_bot() && (thanks(all.last()) || thanks(all.get(last.wrapping_sub(1)))))
        && all.iter().any(|word| word == "enough")
        && !all.iter().any(|word| is_in(word, "you quiet shut stop"));
    if content || !all.iter().any(|word| TABLES.telling.contains(word.as_str())) {
        return None;
    }
    let parts: Vec<ClausePart> = clauses(&text, ENDS).into_iter().flat_map(|clause| parts(clause, said_to)).collect();
    together(&parts, said_to)
}

pub(super) fn allowed_to_talk(text: &str) -> bool {
    let all = clauses(text, ENDS);
    !text.contains('"')
        && all.len() <= 4
        && !all.iter().any(names_somebody)
        && all.iter().any(|clause| is_permission(clause, "<") || is_asked_to_talk(clause))
}

/// "Bob", "hey bob": the addressee of the rest.
fn names_somebody(clause: &TextClause<'_>) -> bool {
    let words = words(clause.text);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let is_beside = |words: &[&str]| {
        TABLES.around.iter().chain(&TABLES.again).any(|(sign, pattern)| *sign != '?' && pattern.is(words))
    };
    !strip_around(&words, "<", &is_beside)
        && starts(&words, "<", false)
            .iter()
            .any(|start| start.at + 1 == words.len() && is_name_in_english(words[start.at]))
}

/// "Could you start talking again please": a request, whatever punctuation ends it; "can you talk?" asks whether.
fn is_asked_to_talk(clause: &TextClause<'_>) -> bool {
    let words = words(clause.text);
    let has = |list: &str| words.iter().any(|word| is_in(word, list));
    let is_polite = !clause.asks || has("please could would");
    is_polite
        && has("again back resume start normally anymore")
        && is_permission(&TextClause { asks: false, ..*clause }, "<?")
}

/// The same, said to nobody in particular: nothing else is said, and it is clear that somebody was quiet and is meant.
pub(super) fn plainly_allowed_to_talk(text: &str) -> bool {
    const BEFORE: &[&str] = &["again", "anymore", "longer", "more", "unmuted", "yourself", "mute"];
    const MEANT: &[&str] = &["you", "you're", "youre", "yourself", "mute", "need"];
    let all = clauses(text, ENDS);
    let is_plain = |clause: &TextClause<'_>| {
        let words = words(clause.text);
        let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        // A person who wants to hear from somebody again may mean anybody.
        is_permission(clause, "<") && has(BEFORE) && has(MEANT) && !has(&["hear"])
    };
    let is_beside = |clause: &TextClause<'_>| {
        let words = words(clause.text);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let fits =
            |words: &[&str]| TABLES.around.iter().any(|(sign, pattern)| "<>!".contains(*sign) && pattern.is(words));
        let is_reason = |words: &[&str]| TABLES.again.iter().any(|(sign, pattern)| *sign == '~' && pattern.is(words));
        !clause.asks && (strip_around(&words, "<", &fits) || strip_around(&words, "<", &is_reason))
    };
    !text.contains('"') && all.iter().any(is_plain) && all.iter().all(|clause| is_plain(clause) || is_beside(clause))
}

/// `signs` are those of the patterns that may be before it.
fn is_permission(clause: &TextClause<'_>, signs: &str) -> bool {
    let words = words(clause.text);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let fits = |words: &[&str]| TABLES.again.iter().any(|(sign, pattern)| *sign == ' ' && pattern.is(words));
    !clause.asks && strip_around(&words, signs, &fits)
}

/// Whether the words fit once what may be around them is removed.
fn strip_around(words: &[&str], signs: &str, fits: &dyn Fn(&[&str]) -> bool) -> bool {
    let ends = ends(words, false);
    let fits_from = |start: &WordCut| ends.iter().any(|end| start.at < end.at && fits(&words[start.at..end.at]));
    starts(words, signs, false).iter().any(fits_from)
}

/// Where the core words may begin or end, and what was removed up to there.
#[derive(Clone, Copy)]
struct WordCut {
    at: usize,
    politely: bool,
    time: QuietTime,
}

/// Each position is added once, however many ways lead there.
fn add_cut(cut: WordCut, cuts: &mut Vec<WordCut>) {
    match cuts.iter_mut().find(|known| known.at == cut.at) {
        Some(known) => known.politely |= cut.politely,
        None => cuts.push(cut),
    }
}

/// Where the core words may begin. `signs` are those of the patterns that may be before them.
fn starts(words: &[&str], signs: &str, times: bool) -> Vec<WordCut> {
    let mut cuts = vec![WordCut { at: 0, politely: false, time: QuietTime::Usual }];
    let mut next = 0;
    while let Some(cut) = cuts.get(next).copied() {
        let rest = &words[cut.at..];
        for (sign, pattern) in TABLES.around.iter().filter(|(sign, _)| signs.contains(*sign)) {
            for end in pattern.ends(rest) {
                let polite = *sign == '?' || ["please", "pls", "plz"].contains(&rest[0]);
                add_cut(WordCut { at: cut.at + end, politely: cut.politely || polite, ..cut }, &mut cuts);
            }
        }
        if let Some((end, time)) = time_at_start(rest).filter(|_| times) {
            add_cut(WordCut { at: cut.at + end, time, ..cut }, &mut cuts);
        }
        next += 1;
    }
    cuts
}

/// Where they may end, the last first.
fn ends(words: &[&str], times: bool) -> Vec<WordCut> {
    let mut cuts = vec![WordCut { at: words.len(), politely: false, time: QuietTime::Usual }];
    let mut next = 0;
    while let Some(cut) = cuts.get(next).copied() {
        let rest = &words[..cut.at];
        if let Some((count, time)) = time_at_end(rest).filter(|_| times) {
            add_cut(WordCut { at: cut.at - count, time, ..cut }, &mut cuts);
        }
        for (sign, pattern) in TABLES.around.iter().filter(|(sign, _)| ">!".contains(*sign)) {
            for start in pattern.starts(rest) {
                add_cut(WordCut { at: start, politely: cut.politely || *sign == '!', ..cut }, &mut cuts);
            }
        }
        next += 1;
    }
    cuts
}

/// The words of a text, with typing errors corrected.
pub(in crate::listen) fn words(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || "'-:.\"".contains(c) || LAUGHS.contains(c);
    let word = |word: &str| {
        let trimmed = word.trim_matches(['\'', '-', ':', '.']);
        let negative = word.starts_with('-') && trimmed.starts_with(|c: char| c.is_ascii_digit());
        if negative { format!("-{trimmed}") } else { corrected(trimmed) }
    };
    text.split(|c: char| !is_part(c)).map(word).filter(|word| !word.is_empty()).collect()
}

/// A clause, or its parts separated by "and" and "because".
fn parts(clause: TextClause<'_>, said_to: SaidTo) -> Vec<ClausePart> {
    let words = words(clause.text);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if words.len() > WORDS_MAX {
        return request_with_any_reason(&words, clause.asks, said_to).unwrap_or_else(|| vec![ClausePart::Veto]);
    }
    let whole = part(&words, clause.asks, said_to);
    if matches!(whole, ClausePart::Request { .. } | ClausePart::Time(_) | ClausePart::Beside | ClausePart::Complaint) {
        return vec![whole];
    }
    for (at, word) in words.iter().enumerate().skip(1) {
        let (left, right) = (&words[..at], &words[at + 1..]);
        let reason = ["because", "since", "cause", "cuz", "while", "as", "so", "or", "otherwise"].contains(word);
        if right.is_empty() || !(reason || *word == "and") {
            continue;
        }
        let parts = vec![part(left, clause.asks, said_to), part(right, clause.asks, said_to)];
        let asks = parts.iter().any(|part| matches!(part, ClausePart::Request { .. }));
        let told = [left, right].iter().zip(&parts).all(|(words, part)| *part != ClausePart::Reason || words.len() > 2);
        if asks && told && !parts.contains(&ClausePart::Veto) && (reason || !parts.contains(&ClausePart::Reason)) {
            return parts;
        }
    }
    if whole == ClausePart::Veto && said_to.is_bot() {
        return request_with_any_reason(&words, clause.asks, said_to).unwrap_or_else(|| vec![whole]);
    }
    vec![whole]
}

/// "Please be quiet for two hours because …": what follows "because" may be long, and about anything.
fn request_with_any_reason(words: &[&str], asks: bool, said_to: SaidTo) -> Option<Vec<ClausePart>> {
    let at = words.iter().position(|word| *word == "because").filter(|at| (1..=WORDS_MAX).contains(at))?;
    let request = part(&words[..at], asks, said_to);
    let quotes = words.iter().any(|word| word.contains('"'));
    (matches!(request, ClausePart::Request { .. }) && !quotes).then(|| vec![request, ClausePart::Reason])
}

fn part(words: &[&str], asks: bool, said_to: SaidTo) -> ClausePart {
    let around = |signs: &'static str| {
        move |words: &[&str]| TABLES.around.iter().any(|(sign, pattern)| signs.contains(*sign) && pattern.is(words))
    };
    let of_nobody = words[0] == "nobody" || words[0] == "noone" || words.starts_with(&["no", "one"]);
    let complains = !asks && (of_nobody || strip_around(words, "<", &around("*")));
    match request(words, asks).or_else(|| request_of_unknown_length(words, asks)) {
        // If it is said to nobody in particular, the order itself has to be unambiguous.
        Some(ClausePart::Request { only_to_it: true, .. }) if complains && !said_to.is_bot() => (),
        Some(request) => return request,
        None => (),
    }
    let is_time = |start: WordCut| {
        let rest = &words[start.at..];
        time_at_end(rest).filter(|(count, _)| *count == rest.len()).map(|(_, time)| time)
    };
    if let Some(time) = starts(words, "<", false).into_iter().find_map(is_time) {
        return ClausePart::Time(time);
    }
    let laughs = words.iter().any(|word| {
        ["lol", "lmao", "rofl", "xd"].contains(word) || word.contains("haha") || word.contains(|c| LAUGHS.contains(c))
    });
    if DISBELIEF.split('|').any(|phrase| starts_with_phrase(words, phrase)) {
        return ClausePart::Veto;
    }
    if laughs {
        return if said_to.is_bot() { ClausePart::Beside } else { ClausePart::Veto };
    }
    if complains {
        return ClausePart::Complaint;
    }
    if around("!")(words) || !asks && strip_around(words, "<", &around("<>!")) {
        return ClausePart::Beside;
    }
    let begins =
        words.first().is_some_and(|first| is_in(first, REASONS)) || said_to.is_bot() && tells_of_somebody(words);
    let may_be_reason = begins && !words.iter().any(|word| is_in(word, VETOES));
    match may_be_reason && !asks {
        true if words.iter().any(|word| is_in(word, OUR_TALK)) && words.iter().any(|word| is_in(word, US)) => {
            ClausePart::Complaint
        }
        true => ClausePart::Reason,
        false => ClausePart::Veto,
    }
}

fn starts_with_phrase(words: &[&str], phrase: &str) -> bool {
    let mut said = words.iter();
    phrase.split_ascii_whitespace().all(|word| said.next() == Some(&word))
}

/// Amazement is not an order.
const DISBELIEF: &str = "no way|you're kidding|you are kidding|you're joking|you are joking|you did not|you didn't|you're killing me|get out of here|\
    for real|i can't believe|i'm dying|i'm dead|i'm crying|that's amazing|that's hilarious|that's so funny|that's too funny";

/// What people do when they are disturbed.
const OUR_TALK: &str = "talk talking discuss discussing conversation meeting work working think thinking focus focusing concentrate \
    concentrating read reading busy chat chatting speak speaking call discussion kick ban unplug";

const US: &str = "i'll we'll i i'm im i've we we're we've our my us people humans";

pub(super) fn is_in(word: &str, list: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

/// How a reason begins.
const REASONS: &str = "i'll we'll i i'm im i've i'd we we're we've it it's its this that that's the my our there there's people because since as \
    cause cuz you you're your nobody they they're some somebody someone everybody everyone so in and";

/// Words of people who talk about such words.
const VETOES: &str = "said says saying say told tell tells asked ask asks word words mean means meaning translate spell write lyrics \
    song quote if when whenever unless how what why who which called whispered shouted yelled heard like poem story joke would";

/// The request that these words are, if they are one.
fn request(words: &[&str], asks: bool) -> Option<ClausePart> {
    let ends = ends(words, true);
    for start in starts(words, "<?", true) {
        for end in ends.iter().filter(|end| start.at < end.at) {
            let proper = &words[start.at..end.at];
            let Some((sign, for_good)) = request_proper(proper) else { continue };
            // "Quiet here" and "quiet this morning" are descriptions.
            if !end.politely && !start.politely && states_of_time(proper, &words[end.at..]) {
                continue;
            }
            let states = proper[0] == "quiet" && words.len() > start.at + 1 && !end.politely && !start.politely;
            if states
                && end.time == QuietTime::Usual
                && start.time == QuietTime::Usual
                && !["down", "you", "bot", "now"].contains(&words[start.at + 1])
            {
                continue;
            }
            if is_about_work(proper, &words[end.at..], asks)
                || sign == '%'
                    && asks
                    && end.time == QuietTime::Usual
                    && !words.iter().any(|word| is_in(word, "please pls plz"))
            {
                continue;
            }
            let said = if end.time == QuietTime::Usual { start.time } else { end.time };
            let time = if for_good { QuietTime::Open } else { said };
            // "Quiet?" is a question; "quiet, please?" and "could you be quiet?" are not.
            if !asks || start.politely || end.politely || time != QuietTime::Usual || sign == '^' {
                return Some(ClausePart::Request { only_to_it: sign != ' ', plain: is_plain(proper), time });
            }
        }
    }
    None
}

/// "Quiet this morning", "no posts over the weekend".
fn states_of_time(proper: &[&str], after: &[&str]) -> bool {
    let is_noun = is_in(proper[0], "quiet silent silence no not nothing") && !proper.starts_with(&["no", "more"]);
    is_noun && after.iter().any(|word| is_in(word, "weekend afternoon morning"))
}

/// "Can you zip it for me?" is about a file.
fn is_about_work(proper: &[&str], after: &[&str], asks: bool) -> bool {
    proper[0] == "zip" && (asks || after.windows(2).any(|pair| pair == ["for", "me"] || pair == ["for", "us"]))
}

/// "Be quiet until the release is out": a request with a time that cannot be parsed lasts the default time.
fn request_of_unknown_length(words: &[&str], asks: bool) -> Option<ClausePart> {
    const TAIL_MAX: usize = 10;
    for start in starts(words, "<?", false) {
        for at in (start.at + 1..words.len()).filter(|at| begins_time(words[*at]) || is_occasion(&words[*at..])) {
            let (proper, tail) = (&words[start.at..at], &words[at..]);
            let Some((sign, false)) = request_proper(proper).filter(|_| !is_about_work(proper, tail, asks)) else {
                continue;
            };
            let vague =
                tail[0] == "for" && (sign != ' ' || proper.len() == 1 && !is_in(proper[0], "shh hush shush shut stfu"));
            // "Silent until now", "no replies for weeks" are descriptions.
            let states = is_in(proper[0], "quiet silent silence quietly mute no not nothing without")
                || proper.ends_with(&["enough"]);
            let is_time = tail.len() > 1
                && tail.len() <= TAIL_MAX
                && !tail.iter().skip(1).any(|word| is_in(word, VETOES) || word.contains('"'));
            let is_polite = start.politely || end_is_polite(tail);
            if is_time && !vague && !states && (!asks || is_polite) {
                // "Don't talk to me until I've had coffee" is said between people.
                let only_to_it = sign != ' ' || is_in(proper[0], "don't do never") || is_occasion(tail);
                return Some(ClausePart::Request { only_to_it, plain: is_plain(proper), time: QuietTime::Usual });
            }
        }
    }
    None
}

/// The sign of the request that these words are, and whether it is open-ended.
fn request_proper(words: &[&str]) -> Option<(char, bool)> {
    // "Stop replying to every message in our chat": the rest only says where.
    let is_place = |rest: &[&str]| rest.iter().all(|word| is_in(word, ABOUT_TALK));
    let fits = |pattern: &WordPattern| pattern.ends(words).iter().any(|end| is_place(&words[*end..]));
    let found = TABLES.requests.iter().find(|(sign, pattern)| pattern.is(words) || *sign == ' ' && fits(pattern));
    found.map(|(sign, _)| (*sign, words[0] == "never" || words.contains(&"ever")))
}

/// Words that may follow a request and only say where and to what.
const ABOUT_TALK: &str = "to in on into at with of the this that these our my your every each any single us me we i you it \
    message messages conversation conversations chat chats thread threads channel channels room discussion discussions everything \
    anything everyone people here there now again while when are am we're i'm you're talking chatting speaking discussing working \
    thinking constantly often always whole one thing things post posts comment comments line text question questions topic we've \
    other others talk speak ours please pls immediately from-now-on today's server other's";
