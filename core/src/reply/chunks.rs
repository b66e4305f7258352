//! Splits a long answer into two or three short posts, as people send them: between paragraphs, or between sentences if
//! there is only one paragraph, into parts of about the same length. Code blocks and lists stay whole.

const FENCES: [&str; 2] = ["```", "~~~"];
/// A post of about this length is read at a glance. East Asian letters count twice.
const CHUNK_WIDTH: usize = 280;
/// Shorter answers stay one post.
const LONG_WIDTH: usize = 400;

/// At most `chunks_max` parts; one if the answer is not long, or has no good place for a split.
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
    let cuts = with_widths(text, cuts);
    let mut parts = Vec::new();
    let (mut start, mut width) = (0, 0);
    for part in 1..count {
        // Of the splits that leave one for each remaining part, the one nearest to an equal share of the rest.
        let after = cuts.partition_point(|(cut, _)| *cut <= start);
        let Some(open) = cuts.get(after..cuts.len() - (count - 1 - part)) else { break };
        let share = (total - width) / (count - part + 1);
        let Some(cut) = open.iter().min_by_key(|(_, before)| (before - width).abs_diff(share)) else { break };
        parts.push(text[start..cut.0].trim());
        (start, width) = *cut;
    }
    parts.push(text[start..].trim());
    parts
}

/// The possible splits, each with the width of everything before it.
fn with_widths(text: &str, cuts: Vec<usize>) -> Vec<(usize, usize)> {
    let (mut start, mut before) = (0, 0);
    let with_width = |cut| {
        before += width(&text[start..cut]);
        start = cut;
        (cut, before)
    };
    cuts.into_iter().map(with_width).collect()
}

fn width(text: &str) -> usize {
    text.chars().map(|c| if c < '\u{1100}' { 1 } else { 2 }).sum()
}

/// After the blank lines between paragraphs. What a colon or a heading announces stays with it, a list and indented text
/// with what is before; blocks (code, formulas, `<details>`) stay whole.
fn paragraph_ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut block = Block::default();
    // The last line that is not blank, and whether a blank one followed.
    let (mut before, mut parted) = ("", false);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let words = line.trim();
        let announced = before.ends_with([':', '：']) || before.starts_with('#');
        let goes_on = line.starts_with([' ', '\t']) || is_list_item(line);
        if parted && !words.is_empty() && !block.is_open() && !announced && !goes_on {
            ends.push(at);
        }
        block.take_line(words);
        if words.is_empty() {
            parted = true;
        } else {
            (before, parted) = (words, false);
        }
        at += line.len();
    }
    ends
}

/// What must not be split because it has a beginning and an end.
#[derive(Default)]
struct Block<'a> {
    /// The marks that opened a code block.
    fence: Option<&'a str>,
    formula: bool,
    details: usize,
}

impl<'a> Block<'a> {
    fn take_line(&mut self, line: &'a str) {
        let mark = line.chars().next().unwrap_or(' ');
        let (marks, rest) = line.split_at(line.len() - line.trim_start_matches(mark).len());
        if let Some(fence) = self.fence {
            // It is closed only by as many marks or more, with nothing after them.
            self.fence = (!(marks.starts_with(fence) && rest.is_empty())).then_some(fence);
            return;
        }
        let opens = FENCES.iter().any(|fence| marks.starts_with(fence)) && !rest.contains(mark);
        self.fence = opens.then_some(marks);
        self.formula ^= line.matches("$$").count() % 2 == 1;
        self.details =
            (self.details + line.matches("<details").count()).saturating_sub(line.matches("</details").count());
    }

    fn is_open(&self) -> bool {
        self.fence.is_some() || self.formula || self.details > 0
    }
}

/// The ends of the sentences of one plain paragraph.
fn sentence_ends(text: &str) -> Vec<usize> {
    let is_plain = |line: &str| !is_list_item(line) && !line.starts_with([' ', '\t', '#', '<']);
    if FENCES.iter().any(|fence| text.contains(fence)) || text.contains("$$") || !text.lines().all(is_plain) {
        return Vec::new();
    }
    let (mut start, mut marks) = (0, OpenMarks::default());
    let is_end = |end: &usize| {
        let (before, after) = text.split_at(*end);
        marks.take(&text[start..*end]);
        start = *end;
        let after = after.trim_start();
        !after.is_empty() && !is_abbreviated(before, after) && !marks.are_open()
    };
    super::split::sentence_ends(text).filter(is_end).collect()
}

/// "e.g.", "in the U.S.", "Dr. Who": no sentence ends there.
fn is_abbreviated(before: &str, after: &str) -> bool {
    let Some(before) = before.strip_suffix('.') else { return false };
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    let known = ["vs", "mr", "mrs", "ms", "dr", "prof", "st", "no", "nr", "fig", "approx", "etc", "cf"];
    after.starts_with(|c: char| c.is_lowercase())
        || word.contains('.')
        || word.chars().count() == 1
        || known.contains(&word.to_lowercase().as_str())
}

const BRACKETS: [(char, char); 6] = [('(', ')'), ('[', ']'), ('（', '）'), ('「', '」'), ('『', '』'), ('“', '”')];
const MARKS: [&str; 6] = ["`", "\"", "*", "__", "~~", "||"];

/// Brackets, quotations, code and emphasis that are open after what was read. Processed sentence by sentence: none of the
/// marks contains the end of a sentence.
#[derive(Default)]
struct OpenMarks {
    brackets: [isize; BRACKETS.len()],
    marks: [usize; MARKS.len()],
}

impl OpenMarks {
    fn take(&mut self, text: &str) {
        for (depth, (open, close)) in self.brackets.iter_mut().zip(BRACKETS) {
            *depth += text.matches(open).count() as isize - text.matches(close).count() as isize;
        }
        for (count, mark) in self.marks.iter_mut().zip(MARKS) {
            *count += text.matches(mark).count();
        }
    }

    fn are_open(&self) -> bool {
        self.brackets.iter().any(|depth| *depth > 0) || self.marks.iter().any(|count| count % 2 == 1)
    }
}

fn is_list_item(line: &str) -> bool {
    let line = line.trim_start();
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    ["- ", "* ", "+ ", "• ", "・", "> ", "|"].iter().any(|mark| line.starts_with(mark))
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
    fn a_code_block_ends_where_as_many_marks_are_alone() {
        for (open, inside, close) in [("````md", "```js\nlet a = 1;\n\n```", "````"), ("```", "``` is no end", "```")] {
            let block = format!("{open}\n{inside}\n\n{}\n\n{}\n{close}", long(0..3), long(3..6));
            let text = format!("{block}\n\n{}", long(6..12));
            assert_eq!(chunks(&text, 3)[0], block, "{open}");
        }
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
        for fence in ["```", "~~~"] {
            let code = format!("Look\n\n{fence}sh\n{}\n\nls\n{fence}\n\nDone.", "true\n".repeat(100));
            let parts = chunks_of(&code, 3);
            assert!(parts.len() == 2 && parts.iter().all(|part| part.matches(fence).count() % 2 == 0), "{parts:?}");
        }
        let headed = format!("## One\n\n{}\n\n## Two\n\n{}", long(0..3), long(3..6));
        assert_eq!(chunks_of(&headed, 2), [format!("## One\n\n{}", long(0..3)), format!("## Two\n\n{}", long(3..6))]);
        let indented = format!("{}\r\n\r\n    let x = 1;\r\n\r\n{}", long(0..3), long(3..6));
        assert_eq!(chunks_of(&indented, 2), [format!("{}\r\n\r\n    let x = 1;", long(0..3)), long(3..6)]);
        for (open, close) in [("$$\n", "\n$$"), ("<details>\n", "\n</details>")] {
            let block = format!("{open}{}\n\n{}{close}", long(0..3), long(3..6));
            assert_eq!(chunks_of(&block, 3), [block.as_str()]);
        }
        let quoted = format!("He said \"{}\" and left", long(0..9));
        assert_eq!(chunks_of(&quoted, 3), [quoted]);
        for open in ["**", "[see. ", "in the U.S. "] {
            let text = format!("{open}{}", long(0..9).replace(". T", " vs. T"));
            assert_eq!(chunks_of(&text, 3), [text]);
        }
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
