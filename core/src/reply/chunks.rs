//! A long answer as two or three short posts, as people send them: cut between paragraphs, or between sentences where there is
//! one paragraph only, into parts of about the same length. Code blocks and lists stay whole.

const FENCE: &str = "```";
/// A post of about this length is read at one glance. Letters of East Asia count twice.
const CHUNK_WIDTH: usize = 280;
/// Shorter answers stay one post.
const LONG_WIDTH: usize = 400;

/// At most `chunks_max` parts; one where the answer is not long, or has no good place for a cut.
pub fn chunks(text: &str, chunks_max: usize) -> Vec<&str> {
    let text = text.trim();
    let total = width(text);
    if chunks_max < 2 || total < LONG_WIDTH {
        return vec![text];
    }
    let mut cuts = paragraph_ends(text);
    if cuts.is_empty() {
        cuts = sentence_ends(text);
    }
    let count = total.div_ceil(CHUNK_WIDTH).clamp(2, chunks_max).min(cuts.len() + 1);
    let mut parts = Vec::new();
    let mut start = 0;
    for part in 1..count {
        // Of the cuts that leave one for each part to come, the one nearest to an equal share of what is left.
        let after = cuts.partition_point(|cut| *cut <= start);
        let Some(open) = cuts.get(after..cuts.len() - (count - 1 - part)) else { break };
        let share = width(&text[start..]) / (count - part + 1);
        let Some(cut) = open.iter().min_by_key(|cut| width(&text[start..**cut]).abs_diff(share)) else { break };
        parts.push(text[start..*cut].trim());
        start = *cut;
    }
    parts.push(text[start..].trim());
    parts
}

fn width(text: &str) -> usize {
    text.chars().map(|c| if c < '\u{1100}' { 1 } else { 2 }).sum()
}

/// Behind the blank lines that are not in a code block. What follows a line with a colon stays with it, as do the items of a list.
fn paragraph_ends(text: &str) -> Vec<usize> {
    let is_cut = |at: &usize| {
        let (before, after) = (text[..*at].trim_end(), text[*at..].trim_start());
        !in_code(before) && !before.ends_with([':', '：']) && !is_list_item(after) && !after.is_empty()
    };
    let mut ends: Vec<usize> = text.match_indices("\n\n").map(|(at, blank)| at + blank.len()).filter(is_cut).collect();
    ends.dedup_by_key(|end| text[*end..].trim_start().len());
    ends
}

/// Behind the sentences of one plain paragraph.
fn sentence_ends(text: &str) -> Vec<usize> {
    if text.contains(FENCE) || text.lines().any(is_list_item) {
        return Vec::new();
    }
    super::split::sentence_ends(text).filter(|end| !in_brackets(&text[..*end]) && *end < text.len()).collect()
}

fn in_code(before: &str) -> bool {
    before.matches(FENCE).count() % 2 == 1
}

/// Whether a bracket or a quotation is open here.
fn in_brackets(before: &str) -> bool {
    let is_open = |(open, close): (char, char)| before.matches(open).count() > before.matches(close).count();
    [('(', ')'), ('（', '）'), ('「', '」'), ('『', '』'), ('“', '”')].into_iter().any(is_open)
        || before.matches('`').count() % 2 == 1
        || before.matches('"').count() % 2 == 1
}

fn is_list_item(line: &str) -> bool {
    let line = line.trim_start();
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    ["- ", "* ", "• ", "・", "> ", "|"].iter().any(|mark| line.starts_with(mark))
        || (numbered.len() < line.len() && numbered.starts_with([')', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(number: usize) -> String {
        format!("This is sentence number {number} of an answer that goes on and on for quite some time, as some do. ")
    }

    fn long(sentences: std::ops::Range<usize>) -> String {
        sentences.map(sentence).collect::<String>().trim().to_owned()
    }

    #[test]
    fn short_answers_stay_one_post() {
        let text = format!("{}\n\n{}", sentence(1), sentence(2));
        assert_eq!(chunks(&text, 3), [text.trim()]);
        assert_eq!(chunks(&long(0..20), 1).len(), 1);
        assert_eq!(chunks("", 3), [""]);
    }

    #[test]
    fn paragraphs_are_put_together_into_parts_of_about_the_same_length() {
        let paragraphs: Vec<String> = (0..6).map(|number| long(2 * number..2 * number + 2)).collect();
        let parts = chunks_of(&paragraphs.join("\n\n"), 3);
        let wanted: Vec<String> = paragraphs.chunks(2).map(|two| two.join("\n\n")).collect();
        assert_eq!(parts, wanted);
    }

    #[test]
    fn one_paragraph_is_cut_between_sentences() {
        assert_eq!(chunks_of(&long(0..9), 3), [long(0..3), long(3..6), long(6..9)]);
        assert_eq!(chunks_of(&long(0..6), 3), [long(0..3), long(3..6)]);
        let japanese = "これは長い返事の一つの文で、終わりまで読むにはしばらくかかるものです。".repeat(12);
        let parts = chunks_of(&japanese, 3);
        assert_eq!(parts.len(), 3);
        assert!(parts.iter().all(|part| part.ends_with('。')), "{parts:?}");
        assert_eq!(parts.concat(), japanese);
    }

    #[test]
    fn code_lists_and_what_is_announced_stay_together() {
        let code =
            format!("Look at this:\n\n```rust\nfn main() {{\n\n{}\n\n}}\n```\n\nThat is all.", "    x();\n".repeat(60));
        assert_eq!(chunks_of(&code, 3), [code.strip_suffix("\n\nThat is all.").unwrap(), "That is all."]);
        let list = format!("Three ways:\n\n- {}\n\n- {}\n\n1. {}", sentence(1), sentence(2), long(3..8));
        assert_eq!(chunks_of(&list, 3), [list.trim()]);
        let quoted = format!("He said \"{}\" and left", long(0..9));
        assert_eq!(chunks_of(&quoted, 3), [quoted]);
    }

    fn chunks_of(text: &str, count: usize) -> Vec<String> {
        chunks(text, count).into_iter().map(str::to_owned).collect()
    }

    proptest::proptest! {
        #[test]
        fn nothing_is_lost(text in "[a-c。.!\n`\\-1 \"(]{0,1200}", count in 1_usize..5) {
            let parts = chunks(&text, count);
            proptest::prop_assert!(parts.len() <= count.max(1));
            let without_space = |text: &str| text.split_whitespace().collect::<String>();
            proptest::prop_assert_eq!(without_space(&parts.concat()), without_space(&text));
            proptest::prop_assert!(parts.len() == 1 || parts.iter().all(|part| !part.is_empty()));
        }
    }
}
