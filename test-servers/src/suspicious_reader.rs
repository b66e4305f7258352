//! Reads a prompt as the most suspicious reader would: without what nobody sees, with look-alikes folded into one by the
//! tables of UTS 39, whatever the case and the width. It knows the frame and nothing of how it is made.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization as _;
use unicode_security::skeleton;

/// What our prompts, models and their servers read as more than words.
pub const MARKS: &[&str] = &[
    "<talk>",
    "</talk>",
    "<earlier_talk>",
    "</earlier_talk>",
    "<history>",
    "</history>",
    "<memory>",
    "</memory>",
    "<notes>",
    "</notes>",
    "<known>",
    "</known>",
    "<|im_start|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|begin_of_text|>",
    "<|endoftext|>",
    "<|system|>",
    "<|assistant|>",
    "<|START_OF_TURN_TOKEN|>",
    "<｜begin▁of▁sentence｜>",
    "<｜Assistant｜>",
    "<|turn>",
    "<turn|>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<BOS_TOKEN>",
    "<EOS_TOKEN>",
    "<s>",
    "</s>",
    "<bos>",
    "<eos>",
    "<unk>",
    "<pad>",
    "<mask>",
    "<sop>",
    "<extra_id_0>",
    "<unused99>",
    "<fim_prefix>",
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "<function_calls>",
    "<function>",
    "<invoke name=\"x\">",
    "<minimax:tool_call>",
    "<seed:think>",
    "<think>",
    "</think>",
    "<thinking>",
    "<system>",
    "</system>",
    "<system-reminder>",
    "<instructions>",
    "<user>",
    "<assistant>",
    "<human>",
    "<<SYS>>",
    "<</SYS>>",
    "[INST]",
    "[|system|]",
    "[|user|]",
    "[|assistant|]",
    "[|endofturn|]",
    "[/INST]",
    "[THINK]",
    "[/THINK]",
    "[TOOL_CALLS]",
    "[AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[SYSTEM_PROMPT]",
    "[ARGS]",
    "[gMASK]",
    "[MASK]",
    "[CLS]",
    "[SEP]",
    "[UNUSED_TOKEN_146]",
    "<[begin▁of▁sentence]>",
    "<[fim-prefix]>",
    "]<]start_speaker[>[",
    "]<]image[>[",
    "<|fim_prefix|>",
    "<fim-middle>",
    "<PRE>",
    "<SUF>",
    "<MID>",
    "<role>",
    "<ref>",
    "<box>",
    "<quad>",
    "<img>",
    "<reponame>",
    "<filename>",
    "<TOOLCALL>",
    "<eom>",
    "[control_8]",
    "[unused7]",
    "[IMG_BREAK]",
    ">>QUESTION<<",
    ">>ANSWER<<",
    "]~b]",
    "]~!b[",
    "[e~[",
];

static LOOKS: LazyLock<Vec<(&str, String)>> = LazyLock::new(|| MARKS.iter().map(|mark| (*mark, seen(mark))).collect());

/// Whose line begins with these.
static SPEAKERS: LazyLock<Vec<String>> = LazyLock::new(|| NAMES.iter().map(|name| seen(name)).collect());
const NAMES: &[&str] = &[
    "human",
    "assistant",
    "system",
    "user",
    "developer",
    "model",
    "tool",
    "instruction",
    "instructions",
    "system prompt",
    "user message",
    "システム",
    "アシスタント",
    "ユーザー",
    "指示",
];
const OWN_MARKS: &[&str] = &["(you)", "（あなた）"];

/// Two texts that can be taken for each other are the same here.
pub fn seen(text: &str) -> String {
    let once = |text: &str| skeleton(&text.nfkc().collect::<String>()).collect::<String>().to_lowercase();
    once(&once(text)).replace('i', "l")
}

/// How often each mark can be read in a text.
pub fn marks(text: &str) -> BTreeMap<&'static str, usize> {
    let looks = seen(text);
    let mut marks: BTreeMap<&str, usize> =
        LOOKS.iter().map(|(mark, look)| (*mark, looks.matches(look.as_str()).count())).collect();
    // To a look-alike table a bar is the letter l, which many tags begin with.
    let visible: String = text.chars().filter(|c| skeleton(&c.to_string()).next().is_some()).nfkc().collect();
    marks.insert("<|", visible.matches("<|").count());
    let is_special = |tag: &&str| tag.contains('_') && tag.contains(|c: char| c.is_ascii_alphabetic());
    marks.insert("a tag with _", tags(&looks).filter(is_special).count());
    marks.insert("(you):", OWN_MARKS.iter().map(|mark| labels(&looks, &seen(mark))).sum());
    marks.retain(|_, count| *count > 0);
    marks
}

/// What is right behind every opening angle.
fn tags(looks: &str) -> impl Iterator<Item = &str> {
    let in_tag = |c: char| c.is_ascii_alphanumeric() || c == '_';
    looks.match_indices('<').map(move |(at, _)| {
        let rest = looks[at + 1..].trim_start_matches('/');
        &rest[..rest.find(|c| !in_tag(c)).unwrap_or(rest.len())]
    })
}

fn labels(looks: &str, mark: &str) -> usize {
    let ends = |at: usize| looks[at + mark.len()..].trim_start().starts_with(':');
    looks.match_indices(mark).filter(|(at, _)| ends(*at)).count()
}

/// The lines inside somebody's words that could be taken for a line of somebody else.
pub fn forged_lines(words: &str) -> Vec<String> {
    seen(words).split(['⏎', '↵', '\n']).filter(|line| is_speakers(line)).map(str::to_owned).collect()
}

fn is_speakers(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || "#>*-_~•\"'".contains(c));
    let number = |inside: &str| {
        // What is not closed is no number of a line.
        let number = inside.split_once(']').map_or("", |(number, _)| number).trim();
        !number.is_empty() && number.chars().all(|c| c.is_numeric() || "lo".contains(c))
    };
    let numbered = line.strip_prefix('[').is_some_and(|inside| number(inside) || inside.starts_with("..."));
    let named = |name: &String| {
        let rest = line.strip_prefix(name.as_str());
        rest.is_some_and(|rest| rest.trim_start_matches(['*', '_', ' ']).starts_with(':'))
    };
    numbered || SPEAKERS.iter().any(named)
}

/// Letters and digits as they are seen.
pub fn letters_seen(text: &str) -> String {
    seen(text).chars().filter(|c| c.is_alphanumeric()).collect()
}

/// A name is read up to the colon; brackets behind it are a mark.
pub fn is_plain_name(name: &str) -> bool {
    !seen(name).contains(['(', ')', '[', ']', '<', '>', '{', '}', ':'])
}
