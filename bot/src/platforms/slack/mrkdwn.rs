//! Converts a model's Markdown to Slack's markup. Whatever could notify people or channels stays plain text.
//!
//! `pulldown_cmark` parses the Markdown; its events are written as Slack's markup in order. Blank lines between two blocks
//! are taken from the source.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

pub fn mrkdwn(markdown: &str) -> String {
    let source = with_joiners(markdown);
    let mut writer = Writer::new(&source);
    let options = Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    for (event, range) in Parser::new_ext(&source, options).into_offset_iter() {
        writer.write(event, range);
    }
    writer.out.replace(JOINER, "")
}

/// Escapes text so that Slack shows it literally.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Has no width and is neither a space nor punctuation.
const JOINER: char = '\u{2060}';
/// Slack recognises a mark only at a word boundary. Japanese has no such boundaries: this one has no width.
const EDGE: char = '\u{200b}';
const BULLET: &str = "• ";
const RULE: &str = "──────────";

/// Markdown treats `**「大事」**です` as plain text, because a bracket is between the mark and the word. People who write
/// Japanese mean emphasis: a joiner between the two makes the mark count.
fn with_joiners(markdown: &str) -> String {
    let is_wide_punctuation = |c: char| !c.is_ascii() && !c.is_alphanumeric() && !c.is_whitespace();
    let is_mark = |c: char| matches!(c, '*' | '~');
    let mut out = String::with_capacity(markdown.len() + 16);
    let mut before = '\n';
    for c in markdown.chars().filter(|c| *c != JOINER) {
        if is_mark(c) && is_wide_punctuation(before) || is_mark(before) && is_wide_punctuation(c) {
            out.push(JOINER);
        }
        out.push(c);
        before = c;
    }
    out
}

/// Text styles.
#[derive(Clone, Copy)]
enum Style {
    Bold,
    Italic,
    Struck,
}

impl Style {
    fn mark(self) -> char {
        match self {
            Style::Bold => '*',
            Style::Italic => '_',
            Style::Struck => '~',
        }
    }
}

/// A link whose text is being written.
struct Link {
    /// Where its text begins in the output.
    text_at: usize,
    /// `None` if Slack must not turn it into a link.
    target: Option<String>,
}

impl Link {
    fn new(text_at: usize, kind: LinkType, target: &str) -> Link {
        let target = if kind == LinkType::Email { format!("mailto:{target}") } else { target.to_owned() };
        let is_address = ["https://", "http://", "mailto:"]
            .iter()
            .any(|scheme| target.starts_with(scheme) && target.len() > scheme.len());
        Link { text_at, target: is_address.then_some(target) }
    }
}

struct Writer<'s> {
    source: &'s str,
    out: String,
    /// The end of what was last written, as an offset in the source.
    written_to: usize,
    lists: usize,
    quotes: usize,
    /// How often each style is open. Slack would end one that is opened twice at the first mark.
    styles: [usize; 3],
    links: Vec<Link>,
    in_code: bool,
    /// Whether a list marker was just written, so that the text continues after it.
    is_beside_mark: bool,
    /// Whether a style has just ended.
    is_behind_style: bool,
}

impl<'s> Writer<'s> {
    fn new(source: &'s str) -> Writer<'s> {
        Writer {
            source,
            out: String::with_capacity(source.len() + 16),
            written_to: 0,
            lists: 0,
            quotes: 0,
            styles: [0; 3],
            links: Vec::new(),
            in_code: false,
            is_beside_mark: false,
            is_behind_style: false,
        }
    }

    fn write(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => return self.start(tag, &range),
            Event::End(tag) => self.end(tag, &range),
            Event::Text(text) if self.in_code => self.out.push_str(&escaped(&text)),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::Code(code) if self.links.is_empty() => {
                self.keep_apart();
                self.out.push_str(&format!("`{}`", escaped(code.trim_matches('`'))));
                self.is_behind_style = true;
            }
            Event::Code(code) => self.text(&code),
            Event::SoftBreak | Event::HardBreak => self.begin_line(),
            Event::Rule => {
                self.begin_block(range.start);
                self.out.push_str(RULE);
            }
            Event::TaskListMarker(done) => {
                self.out.truncate(self.out.len() - BULLET.len());
                self.out.push_str(if done { "☑ " } else { "☐ " });
            }
            // Not enabled.
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => self.text(&text),
        }
        self.written_to = range.end;
    }

    fn start(&mut self, tag: Tag<'_>, range: &Range<usize>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.begin_block(range.start),
            Tag::Heading { .. } => {
                self.begin_block(range.start);
                if self.is_title(range) {
                    self.open(Style::Bold);
                }
            }
            Tag::CodeBlock(_) => {
                self.begin_block(range.start);
                // Slack would show the language as a line of the code.
                self.out.push_str("```\n");
                self.in_code = true;
            }
            Tag::BlockQuote(_) => self.quotes += 1,
            Tag::List(_) => self.lists += 1,
            Tag::Item => self.begin_item(range),
            Tag::Emphasis => self.open(Style::Italic),
            Tag::Strong => self.open(Style::Bold),
            Tag::Strikethrough if self.is_struck(range) => self.open(Style::Struck),
            Tag::Strikethrough => self.text("~"),
            Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. } => {
                self.is_beside_mark = false;
                self.is_behind_style = false;
                self.links.push(Link::new(self.out.len(), link_type, &dest_url));
            }
            // Not enabled.
            Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Table(_)
            | Tag::TableHead
            | Tag::TableRow
            | Tag::TableCell
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => (),
        }
    }

    fn end(&mut self, tag: TagEnd, range: &Range<usize>) {
        match tag {
            TagEnd::Heading(_) if self.is_title(range) => self.close(Style::Bold),
            // A setext heading, underlined in the source.
            TagEnd::Heading(_) => {
                self.begin_line();
                self.out.push_str(RULE);
            }
            TagEnd::HtmlBlock => self.out.truncate(self.out.trim_end_matches('\n').len()),
            TagEnd::CodeBlock => {
                self.in_code = false;
                if !self.out.ends_with('\n') {
                    self.out.push('\n');
                }
                self.out.push_str("```");
            }
            TagEnd::BlockQuote(_) => self.quotes -= 1,
            TagEnd::List(_) => self.lists -= 1,
            TagEnd::Item => self.is_beside_mark = false,
            TagEnd::Emphasis => self.close(Style::Italic),
            TagEnd::Strong => self.close(Style::Bold),
            TagEnd::Strikethrough if self.is_struck(range) => self.close(Style::Struck),
            TagEnd::Strikethrough => self.text("~"),
            TagEnd::Link | TagEnd::Image => self.end_link(range),
            TagEnd::Paragraph
            | TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Table
            | TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::TableCell
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::MetadataBlock(_) => (),
        }
    }

    /// Whether a heading is marked with `#`.
    fn is_title(&self, range: &Range<usize>) -> bool {
        self.source[range.clone()].trim_start().starts_with('#')
    }

    /// Whether words between tildes are meant as strikethrough: 「10~20や30~40」 are ranges.
    fn is_struck(&self, range: &Range<usize>) -> bool {
        self.source[range.clone()].starts_with("~~")
    }

    fn begin_block(&mut self, start: usize) {
        if std::mem::take(&mut self.is_beside_mark) {
            return;
        }
        if self.out.is_empty() {
            self.push_margin();
            return;
        }
        let between = self.source.get(self.written_to..start).unwrap_or_default();
        let ended = usize::from(self.source[..self.written_to].ends_with('\n'));
        if between.matches('\n').count() + ended > 1 {
            self.out.push('\n');
        }
        self.begin_line();
    }

    fn begin_line(&mut self) {
        self.out.push('\n');
        self.is_behind_style = false;
        self.push_margin();
    }

    fn push_margin(&mut self) {
        if self.quotes > 0 {
            self.out.push_str("> ");
        }
        self.out.push_str(&"  ".repeat(self.lists.saturating_sub(1)));
    }

    fn begin_item(&mut self, range: &Range<usize>) {
        self.is_beside_mark = false;
        self.begin_block(range.start);
        let mark = self.source[range.clone()].split_whitespace().next().unwrap_or_default();
        if mark.starts_with(|c: char| c.is_ascii_digit()) {
            self.out.push_str(&format!("{} ", escaped(mark)));
        } else {
            self.out.push_str(BULLET);
        }
        self.is_beside_mark = true;
    }

    fn text(&mut self, text: &str) {
        self.is_beside_mark = false;
        if std::mem::take(&mut self.is_behind_style) && text.starts_with(char::is_alphanumeric) {
            self.out.push(EDGE);
        }
        self.out.push_str(&escaped(text));
    }

    /// Separates a mark from the text before it.
    fn keep_apart(&mut self) {
        self.is_beside_mark = false;
        self.is_behind_style = false;
        if self.out.ends_with(|c: char| c.is_alphanumeric()) {
            self.out.push(EDGE);
        }
    }

    fn open(&mut self, style: Style) {
        let is_first = self.styles[style as usize] == 0;
        self.styles[style as usize] += 1;
        if is_first && self.links.is_empty() {
            self.keep_apart();
            self.out.push(style.mark());
        }
    }

    fn close(&mut self, style: Style) {
        self.styles[style as usize] -= 1;
        if self.styles[style as usize] == 0 && self.links.is_empty() {
            self.out.push(style.mark());
            self.is_behind_style = true;
        }
    }

    fn end_link(&mut self, range: &Range<usize>) {
        let Some(Link { text_at, target }) = self.links.pop() else { return };
        let text = self.out.split_off(text_at);
        match target {
            None => self.out.push_str(&escaped(&self.source[range.clone()])),
            Some(target) => {
                let text = text.replace('|', "¦").replace('\n', " ");
                let address = target.replace('|', "%7C").replace('<', "%3C").replace('>', "%3E");
                let address = escaped(&address);
                if text.is_empty() || text == address {
                    self.out.push_str(&format!("<{address}>"));
                } else {
                    self.out.push_str(&format!("<{address}|{text}>"));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_slacks() {
        for (markdown, expected) in [
            ("**bold** and *it* and ~~no~~", "*bold* and _it_ and ~no~"),
            ("***both*** __bold__ _it_", "_*both*_ *bold* _it_"),
            ("**a *b* c**", "*a _b_ c*"),
            ("これは**太字**です", "これは\u{200b}*太字*\u{200b}です"),
            ("**「大事」**です", "*「大事」*\u{200b}です"),
            ("snake_case_name and 2*3*4 = 24", "snake_case_name and 2\u{200b}_3_\u{200b}4 = 24"),
            ("a * b * c ** d", "a * b * c ** d"),
            ("# Title\n## **Sub** ##", "*Title*\n*Sub*"),
            ("- one\n  * two\n1. three\n- [x] done", "• one\n  • two\n1. three\n☑ done"),
            ("> quoted **x**", "> quoted *x*"),
            ("---", "──────────"),
            (r"\*not\* \_it\_", "*not* _it_"),
            ("**open", "**open"),
            ("合計は**「大事」**、です", "合計は\u{200b}*「大事」*、です"),
            ("10~20とか30~40です", "10~20とか30~40です"),
            ("words\n---\nmore", "words\n──────────\nmore"),
            ("one\ntwo\n\n\nthree", "one\ntwo\n\nthree"),
            ("1) a\n2) b\n\n   more", "1) a\n2) b\n\nmore"),
            ("> a\n> b\n\nc", "> a\n> b\n\nc"),
            ("| a | b |\n|---|---|\n| 1 | 2 |", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ] {
            assert_eq!(mrkdwn(markdown), expected, "{markdown}");
        }
    }

    #[test]
    fn links() {
        for (markdown, expected) in [
            ("[the page](https://a.b/?x=1&y=2)", "<https://a.b/?x=1&amp;y=2|the page>"),
            ("[w](https://a.b/x_(y))!", "<https://a.b/x_(y)|w>!"),
            ("![cat](https://a.b/c.png \"t\")", "<https://a.b/c.png|cat>"),
            ("<https://a.b>", "<https://a.b>"),
            ("<mia@a.b>", "<mailto:mia@a.b|mia@a.b>"),
            ("[**a** `b`](https://a.b)", "<https://a.b|a b>"),
            ("[a|b>](https://a.b/|x)", "<https://a.b/%7Cx|a¦b&gt;>"),
            ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
            ("[x](<!channel>)", "[x](&lt;!channel&gt;)"),
        ] {
            assert_eq!(mrkdwn(markdown), expected, "{markdown}");
        }
    }

    #[test]
    fn nobody_is_called() {
        for hostile in [
            "<!channel>",
            "<!here|x>",
            "<@U123>",
            "<#C1>",
            "<!subteam^S1>",
            "`<!channel>`",
            "**<!everyone>**",
            "```\n<!channel>\n```",
            "# <!here>",
            "> <@U1>",
            "- <@U1>",
            "[<!channel>](https://a.b)",
            "\\<!channel>",
            "<<!channel>>",
            "[x](https://a.b|<!channel>)",
            "<https://a.b|<!channel>>",
        ] {
            let written = mrkdwn(hostile);
            for call in ["<!", "<@", "<#"] {
                assert!(!written.contains(call), "{hostile} became {written}");
            }
        }
        assert_eq!(mrkdwn("@everyone @channel & co"), "@everyone @channel &amp; co");
    }

    #[test]
    fn code_is_kept_as_it_is() {
        assert_eq!(mrkdwn("```rust\nlet a = \"**x**\" < 1;\n```\nend"), "```\nlet a = \"**x**\" &lt; 1;\n```\nend");
        assert_eq!(mrkdwn("use `a**b**<T>` here"), "use `a**b**&lt;T&gt;` here");
        assert_eq!(mrkdwn("```\nopen"), "```\nopen\n```");
        assert_eq!(mrkdwn("~~~\na\n~~~"), "```\na\n```");
    }

    proptest::proptest! {
        #[test]
        fn whatever_a_model_writes_calls_nobody(text in "[-<>!@#|*_~`\\[\\]()\\\\a太 \nhttps:/]{0,60}") {
            let written = mrkdwn(&text);
            for (at, _) in written.match_indices('<') {
                let inside = &written[at + 1..];
                proptest::prop_assert!(inside.starts_with("http") || inside.starts_with("mailto:"), "{} became {}", text, written);
            }
        }
    }
}
