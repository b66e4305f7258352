//! Neutralizes markup in what people write: tags, the turn marks of models, and anything that could begin somebody else's
//! line.
//!
//! What counts is the look ([`lookalike`]): a mark with something invisible in it, or written with letters of another
//! script, is the same mark. It keeps its words and loses its form: `</talk>` becomes `(/talk)`, `[9]` at the beginning of
//! a line `(9)`, `Human:` there `Human·`. Any tag is one, known or not; comparisons, type parameters, HTML and URLs stay as
//! they are.
//!
//! [`lookalike`]: crate::lookalike

use std::sync::LazyLock;

use super::words::BREAK;
use crate::lookalike::{fold, is_bracket, is_invisible, mark_of};

/// The replacements for a bracket or a colon. No look-alike table folds them into one.
const OPENING: char = '(';
const CLOSING: char = ')';
const DOT: char = '·';

/// How far the end of a tag is searched, in characters.
const TAG_CHARS_MAX: usize = 200;
const WORD_CHARS_MAX: usize = 64;

/// Our own frames, words that pose as a role, and the marks with which models separate turns: these are tags even where a
/// type parameter is possible.
static TAGS: LazyLock<Vec<String>> = LazyLock::new(|| {
    all_folded(
        "talk earlier_talk history memory notes known system assistant user developer human model tool tools function \
         functions instruction instructions prompt think thinking thought reasoning s sys bos eos unk pad mask cls sep \
         sop eop eod eot eoh eoa eom eoc turn invoke parameter parameters antml im image audio video fim",
    )
});
/// These are ordinary words too, and tags only as a whole: `<mid>`, and not `lo < mid`.
static WHOLE_TAGS: LazyLock<Vec<String>> =
    LazyLock::new(|| all_folded("result pre suf mid role ref box quad img reponame filename toolcall toolcalls"));
/// Reserved tags are numbered.
static NUMBERED_TAGS: LazyLock<Vec<String>> = LazyLock::new(|| all_folded("unused reserved extra special"));
static BRACKETED: LazyLock<Vec<String>> = LazyLock::new(|| {
    all_folded(
        "inst sys think args img mask gmask smask cls sep unk pad bos eos call_id audio prefix suffix middle \
         system_prompt available_tools model_settings",
    )
});
static BRACKETED_BEGINNINGS: LazyLock<Vec<String>> =
    LazyLock::new(|| all_folded("tool_ unused_ available_ system_ control_ img_"));
/// Words in capitals that people themselves put in brackets.
const HARMLESS_LOUD: &str = " TODO FIXME NOTE WIP BUG HACK DONE NEW RFC TBD FYI TRACE DEBUG INFO WARN WARNING ERROR FATAL \
     FAIL PASS SOLVED CLOSED OPEN URGENT IMPORTANT SPOILER DRAFT ";
/// What is between `>>` and `<<` in the vocabulary of some models.
static POINTED: LazyLock<Vec<String>> = LazyLock::new(|| {
    all_folded("title abstract introduction summary comment answer question domain prefix suffix middle")
});
/// Speakers that begin a line and are followed by a colon, and what may be between the two.
static SPEAKERS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut speakers = all_folded(&super::label::ROLES.join(" "));
    speakers.extend(all_folded("bot gpt claude gemini chatgpt response"));
    speakers
});
static SPEAKERS_WORDS: LazyLock<Vec<String>> =
    LazyLock::new(|| all_folded("prompt message instruction instructions response reply turn note override"));
/// The marks after a name, in both languages.
static LABEL_MARKS: LazyLock<Vec<String>> =
    LazyLock::new(|| ["you", "あなた", "bot", "ボット", "not you", "別人", "a person", "人"].map(fold).to_vec());

fn all_folded(words: &str) -> Vec<String> {
    words.split_whitespace().map(fold).collect()
}

/// HTML that means nothing to a model or its server, and URLs: they stay as they are written.
const HARMLESS: &str = " a abbr address article aside b blockquote body br button canvas caption center cite code col dd del \
     details div dl dt em fieldset figure font footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe input ins kbd \
     label legend li link main map meta nav noscript object ol option p path picture pre q rect ruby samp script section \
     select small span strike strong style sub summary sup svg table tbody td template textarea tfoot th thead title tr tt \
     u ul var wbr http https mailto stdin stdout stderr module lambda ";

/// Bars, which look-alike tables fold into the letter l.
const BARS: &str = "|｜¦│┃∣❘ǀ‖▏▕╎╏⎮︱";
/// Characters that look like an angle bracket and that no table folds; many are quotation marks in Japanese.
const ANGLES: &str = "⟨〈〈❬❰⟪《≺⧼«";
/// Brackets in which a line could be numbered.
const SQUARES: &str = "【〔〖〘〚⟦⁅❲";
const BREAKS: &str = "⏎↵⮐↩␤␍␊¶";

/// One line of text without marks.
pub fn without_marks(line: &str) -> String {
    let said: Vec<char> = line.chars().collect();
    let mut out = said.clone();
    let mut starts = true;
    for at in 0..said.len() {
        let c = said[at];
        if c.is_ascii_alphanumeric() && !starts {
            continue;
        }
        let (before, after) = (&said[..at], &said[at + 1..]);
        if is_angle(c) && is_tag(before, after, mark_of(c) == Some('<')) {
            out[at] = OPENING;
            close(&said, &mut out, at, '<', '>');
        } else if is_square(c, starts)
            && (upcoming(after).starts_with('|') || is_bracketed(before, after, starts, mark_of(c) == Some('[')))
        {
            out[at] = OPENING;
            close(&said, &mut out, at, '[', ']');
        } else if is_closing_mark(c, after) {
            out[at] = CLOSING;
        } else if let Some(end) = label_mark_end(c, after) {
            (out[at], out[at + 1 + end]) = (DOT, DOT);
        } else if starts
            && c.is_alphanumeric()
            && let Some(colon) = speakers_colon(&said[at..])
        {
            out[at + colon] = DOT;
        }
        starts = BREAKS.contains(c) || is_written_break(&said[..=at]) || (starts && !c.is_alphanumeric());
    }
    out.into_iter().collect()
}

/// `\n` as two characters.
fn is_written_break(said: &[char]) -> bool {
    matches!(said, [.., '\\', 'n' | 'r'])
}

fn is_angle(c: char) -> bool {
    mark_of(c) == Some('<') || ANGLES.contains(c)
}

fn is_square(c: char, starts: bool) -> bool {
    mark_of(c) == Some('[') || (starts && SQUARES.contains(c))
}

/// Replaces the bracket that closes what begins here, if it is near.
fn close(said: &[char], out: &mut [char], at: usize, open: char, end: char) {
    let ahead = said.iter().enumerate().skip(at + 1).take(TAG_CHARS_MAX);
    let mut ahead = ahead
        .skip_while(|(_, c)| mark_of(**c) == Some(open))
        .take_while(|(_, c)| mark_of(**c) != Some(open) && **c != BREAK);
    if let Some((found, _)) = ahead.find(|(_, c)| mark_of(**c) == Some(end)) {
        out[found] = CLOSING;
    }
}

/// The next characters as they look; bars stay bars.
fn upcoming(said: &[char]) -> String {
    let mut look = String::new();
    for c in said.iter().take(WORD_CHARS_MAX) {
        match c {
            _ if BARS.contains(*c) => look.push('|'),
            _ => look.push_str(&fold(c.encode_utf8(&mut [0; 4]))),
        }
    }
    look
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn word(look: &str, is_word: impl Fn(char) -> bool) -> &str {
    &look[..look.find(|c| !is_word(c)).unwrap_or(look.len())]
}

/// Whether a tag begins after an angle bracket. A character that only resembles one requires a known tag.
fn is_tag(before: &[char], after: &[char], sure: bool) -> bool {
    if is_header_file(after) {
        return false;
    }
    let look = upcoming(after);
    let head = look.trim_start();
    let is_spaced = head.len() < look.len();
    let body = head.trim_start_matches(|c: char| c.is_whitespace() || "/\\!?<".contains(c));
    if body.starts_with(['[', ']']) {
        return is_bracketed_tag(body);
    }
    let is_closing = head[..head.len() - body.len()].contains(['/', '\\']);
    let first = word(body, is_word);
    let is_whole = || WHOLE_TAGS.iter().any(|tag| tag == first) && body[first.len()..].trim_start().starts_with('>');
    if body.starts_with('|') || is_known_tag(first) || is_whole() {
        return true;
    }
    let whole = word(body, |c| is_word(c) || "-:.▁|".contains(c));
    // A bar can be read as the letter l.
    let has_letters = whole.contains(|c: char| c.is_ascii_alphabetic() || c == '|');
    if !sure || is_spaced || first.is_empty() || !has_letters || is_harmless(after) {
        return false;
    }
    let is_special = whole.contains(['_', '▁']) || (whole.contains(':') && !whole.contains("::"));
    if is_special || (whole.ends_with('|') && body[whole.len()..].starts_with('>')) {
        return true;
    }
    // `cat <<EOF > out`
    let is_doubled =
        head.starts_with('<') || before.iter().rev().find(|c| !is_invisible(**c)).is_some_and(|c| is_angle(*c));
    if is_doubled && !body[whole.len()..].starts_with('>') {
        return false;
    }
    // `Vec<String>`
    let is_parameter =
        before.iter().rev().find(|c| !is_invisible(**c)).is_some_and(|c| is_word(*c) || ":.>".contains(*c));
    (is_closing || !is_parameter) && !begins_with_number(after) && is_closed(after)
}

/// `<[fim-suffix]>`, `]<]image[>[`; and not `Vec<[u8; 4]>`.
fn is_bracketed_tag(body: &str) -> bool {
    let inside = body[1..].trim_start();
    let whole = word(inside, |c| is_word(c) || "-▁".contains(c));
    is_known_tag(word(inside, is_word))
        || whole.contains(['-', '_', '▁'])
        || (body.starts_with(']') && inside[whole.len()..].starts_with('['))
}

/// `#include <sys/types.h>`
fn is_header_file(after: &[char]) -> bool {
    let in_path = |c: &&char| c.is_ascii_alphanumeric() || "_./+-".contains(**c);
    let path: String = after.iter().take(WORD_CHARS_MAX).take_while(in_path).collect();
    let first = word(&path, is_word);
    let is_plain = !first.is_empty() && !first.contains('_') && !is_known_tag(&fold(first));
    after.get(path.len()) == Some(&'>')
        && [".h", ".hh", ".hpp", ".hxx"].iter().any(|end| path.ends_with(end))
        && (is_plain || path.starts_with("sys/"))
}

/// A mark that begins with a bracket that usually closes something: `]~b]`, `>>QUESTION<<`.
fn is_closing_mark(c: char, after: &[char]) -> bool {
    match mark_of(c) {
        Some(']') => ["~b]", "~!b["].iter().any(|rest| upcoming(after).starts_with(rest)),
        Some('>') => is_pointed(after),
        _ => false,
    }
}

/// `>>QUESTION<<`, from its second character.
fn is_pointed(after: &[char]) -> bool {
    let look = upcoming(after);
    let Some(inside) = look.trim_start().strip_prefix('>').map(str::trim_start) else { return false };
    let first = word(inside, is_word);
    POINTED.iter().any(|known| known == first) && inside[first.len()..].trim_start().starts_with('<')
}

fn is_known_tag(word: &str) -> bool {
    TAGS.iter().any(|tag| tag == word) || is_numbered_tag(word)
}

fn is_numbered_tag(word: &str) -> bool {
    let is_number = |rest: &str| !rest.is_empty() && rest.chars().all(|c| c.is_numeric() || "lo_".contains(c));
    NUMBERED_TAGS.iter().any(|tag| word.strip_prefix(tag.as_str()).is_some_and(is_number))
}

/// `<3`, `a<10`
fn begins_with_number(after: &[char]) -> bool {
    after.iter().find(|c| !is_invisible(**c)).is_some_and(|c| c.is_numeric())
}

fn is_harmless(after: &[char]) -> bool {
    let after = if after.first() == Some(&'/') { &after[1..] } else { after };
    let name: String = after.iter().take_while(|c| c.is_ascii_alphanumeric()).take(20).collect();
    let follows = after.get(name.len()).copied().unwrap_or(' ');
    let ends = follows.is_ascii() && !is_word(follows) && follows != '|' && follows != '-';
    !name.is_empty() && ends && HARMLESS.contains(&format!(" {} ", name.to_ascii_lowercase()))
}

fn is_closed(after: &[char]) -> bool {
    let mut ahead = after.iter().take(TAG_CHARS_MAX).take_while(|c| mark_of(**c) != Some('<') && **c != BREAK);
    ahead.any(|c| mark_of(*c) == Some('>'))
}

/// `[INST]` and similar marks anywhere, and `[7]` where a line of the frame could begin.
fn is_bracketed(before: &[char], after: &[char], starts: bool, sure: bool) -> bool {
    let look = upcoming(after);
    let head = look.trim_start();
    let inside = word(head, |c| c != ']' && c != '】' && c != '〕').trim();
    let is_number = |c: char| c.is_numeric() || "lo".contains(c);
    let numbered = begins_with_number(after)
        || head.starts_with("...")
        || (!inside.is_empty() && inside.chars().all(is_number) && inside.len() < head.len());
    if starts && (numbered || after.iter().find(|c| !c.is_whitespace()).is_some_and(|c| c.is_numeric())) {
        return true;
    }
    let first = word(head.trim_start_matches(['/', '\\', ' ']), is_word);
    let is_known = BRACKETED.iter().any(|known| known == first)
        || BRACKETED_BEGINNINGS.iter().any(|begins| first.starts_with(begins.as_str()))
        || is_numbered_tag(first)
        || head.starts_with("e~[");
    sure && (is_known || is_loud(before, after))
}

/// `[TOOL_CALLS]`: a word in capitals that is neither an index nor a link.
fn is_loud(before: &[char], after: &[char]) -> bool {
    let end = after.iter().take(WORD_CHARS_MAX).position(|c| mark_of(*c) == Some(']'));
    let Some((inside, rest)) = end.map(|end| (&after[..end], &after[end + 1..])) else { return false };
    let inside = inside.strip_prefix(&['/']).unwrap_or(inside);
    if HARMLESS_LOUD.contains(&format!(" {} ", inside.iter().collect::<String>())) {
        return false;
    }
    let is_index = before.last().is_some_and(|c| is_word(*c));
    let loud = |c: &char| c.is_uppercase() || c.is_numeric() || *c == '_' || is_invisible(*c);
    !is_index
        && rest.first() != Some(&'(')
        && inside.iter().all(loud)
        && inside.iter().filter(|c| c.is_uppercase()).count() >= 3
}

/// `(you):` after a name that somebody wrote: the position of the closing bracket.
fn label_mark_end(c: char, after: &[char]) -> Option<usize> {
    if !is_bracket(c) && mark_of(c) != Some('(') {
        return None;
    }
    let end = after.iter().take(12).position(|c| is_bracket(*c) || mark_of(*c) == Some(')'))?;
    let inside: String = after[..end].iter().collect();
    let colon = after[end + 1..].iter().find(|c| !c.is_whitespace() && !is_invisible(**c));
    let is_mark = LABEL_MARKS.contains(&fold(inside.trim())) && colon.is_some_and(|c| mark_of(*c) == Some(':'));
    is_mark.then_some(end)
}

/// `Human:`, `### System prompt:` at the beginning of a line: the position of the colon.
fn speakers_colon(said: &[char]) -> Option<usize> {
    // Some letters look like a colon.
    let in_word = |c: &&char| (c.is_alphanumeric() && mark_of(**c).is_none()) || is_invisible(**c);
    let run = |from: usize| said[from..].iter().take(24).take_while(in_word).count();
    let text = |from: usize, length: usize| fold(&said[from..from + length].iter().collect::<String>());
    let mut end = run(0);
    if !SPEAKERS.contains(&text(0, end)) {
        return None;
    }
    if said.get(end).is_some_and(|c| c.is_whitespace()) {
        let second = run(end + 1);
        if SPEAKERS_WORDS.contains(&text(end + 1, second)) {
            end += 1 + second;
        }
    }
    let gap =
        said[end..].iter().take(4).take_while(|c| c.is_whitespace() || is_invisible(**c) || "*_".contains(**c)).count();
    said.get(end + gap).filter(|c| mark_of(**c) == Some(':')).map(|_| end + gap)
}
