//! HTML as text: headings, lists and links stay readable; scripts, styles, menus and invisible content are removed.
//!
//! It reads tags in one pass and keeps a stack of the open ones, at most [`DEPTH_MAX`]: no page can make it recurse.

use std::collections::VecDeque;

use html5gum::{DefaultEmitter, HtmlString, StartTag, Token, Tokenizer};
use url::Url;

use super::line_writer::LineWriter;
use super::page::PageText;

const DEPTH_MAX: usize = 256;
/// How many links are shown with their URL, and how long such a URL may be.
const LINKS_MAX: usize = 100;
const LINK_CHARS_MAX: usize = 300;
const LIST_DEPTH_MAX: usize = 8;

/// Never content for readers.
const UNREADABLE: &[&str] = &[
    "script", "style", "noscript", "template", "svg", "math", "iframe", "object", "canvas", "audio", "video", "select",
    "textarea", "button", "datalist", "map", "noembed", "noframes",
];
/// Navigation around the content.
const SURROUNDING: &[&str] = &["nav", "footer", "menu"];
const VOID: &[&str] = &[
    "area", "base", "br", "col", "embed", "frame", "hr", "img", "input", "link", "meta", "param", "source", "track",
    "wbr",
];
/// Elements whose end tag is optional and that have no effect on others.
const UNENDED: &[&str] =
    &["p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "option", "html", "body", "head"];
const PARAGRAPHS: &[&str] =
    &["p", "blockquote", "table", "pre", "dl", "article", "section", "main", "header", "aside", "figure", "hr"];
const LINES: &[&str] = &[
    "br",
    "div",
    "tr",
    "dt",
    "dd",
    "address",
    "caption",
    "figcaption",
    "form",
    "fieldset",
    "legend",
    "details",
    "summary",
    "hgroup",
    "body",
    "html",
];

pub fn to_page(html: &str, base: &Url) -> PageText {
    let page = HtmlRenderer::new(base, SURROUNDING).render(html);
    // A page may be one long menu.
    if page.text.is_empty() { HtmlRenderer::new(base, &[]).render(html) } else { page }
}

/// What an open element does until it ends.
#[derive(Debug)]
enum ElementRole {
    Plain,
    Hidden,
    Title,
    Heading,
    List,
    Preformatted,
    /// With the position where its text begins.
    Link {
        url: Option<String>,
        start: usize,
    },
}

struct OpenElement {
    name: HtmlString,
    role: ElementRole,
}

/// An open list.
struct OpenList {
    is_numbered: bool,
    items: usize,
}

struct HtmlRenderer<'a> {
    base: &'a Url,
    surrounding: &'a [&'a str],
    out: LineWriter,
    title: String,
    open: VecDeque<OpenElement>,
    lists: Vec<OpenList>,
    hidden: usize,
    in_title: usize,
    preformatted: usize,
    links: usize,
}

impl<'a> HtmlRenderer<'a> {
    fn new(base: &'a Url, surrounding: &'a [&'a str]) -> HtmlRenderer<'a> {
        HtmlRenderer {
            base,
            surrounding,
            out: LineWriter::default(),
            title: String::new(),
            open: VecDeque::new(),
            lists: Vec::new(),
            hidden: 0,
            in_title: 0,
            preformatted: 0,
            links: 0,
        }
    }

    fn render(mut self, html: &str) -> PageText {
        let mut emitter = DefaultEmitter::default();
        emitter.naively_switch_states(true);
        for Ok(token) in Tokenizer::new_with_emitter(html, emitter) {
            match token {
                Token::StartTag(tag) => self.start(&tag),
                Token::EndTag(tag) => self.end(&tag.name),
                Token::String(text) => self.text(&String::from_utf8_lossy(&text)),
                Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
            }
        }
        let title = self.title.trim().to_owned();
        PageText { title: (!title.is_empty()).then_some(title), text: self.out.finish() }
    }

    fn text(&mut self, text: &str) {
        match () {
            () if self.hidden > 0 => {}
            () if self.in_title > 0 => self.title.push_str(text),
            () if self.preformatted > 0 => self.out.preformatted(text),
            () => self.out.words(text),
        }
    }

    fn start(&mut self, tag: &StartTag<()>) {
        let name = String::from_utf8_lossy(&tag.name);
        // The next one ends the previous one.
        if UNENDED.contains(&&*name) && self.open.back().is_some_and(|open| open.name == tag.name) {
            self.end(&tag.name);
        }
        let role = self.role(&name, tag);
        if self.hidden == 0 && !matches!(role, ElementRole::Hidden) {
            self.lay_out(&name);
        }
        let has_end = !VOID.contains(&&*name);
        if has_end && (matches!(role, ElementRole::Hidden) || !UNENDED.contains(&&*name)) {
            self.push(OpenElement { name: tag.name.clone(), role });
        }
    }

    fn role(&mut self, name: &str, tag: &StartTag<()>) -> ElementRole {
        if UNREADABLE.contains(&name) || self.surrounding.contains(&name) || is_invisible(tag) {
            return ElementRole::Hidden;
        }
        match name {
            // An SVG has titles too.
            "title" if self.hidden > 0 || !self.title.is_empty() => ElementRole::Hidden,
            "title" => ElementRole::Title,
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => ElementRole::Heading,
            "ul" | "ol" => ElementRole::List,
            "pre" => ElementRole::Preformatted,
            "a" => ElementRole::Link { url: self.link(tag), start: self.out.len() },
            _ => ElementRole::Plain,
        }
    }

    /// The white space and the marks before an element.
    fn lay_out(&mut self, name: &str) {
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.out.line_break(2);
                let depth = usize::from(name.as_bytes()[1] - b'0');
                self.out.mark(&format!("{} ", "#".repeat(depth)));
            }
            "ul" | "ol" => {
                self.out.line_break(if self.lists.is_empty() { 2 } else { 1 });
                self.lists.push(OpenList { is_numbered: name == "ol", items: 0 });
            }
            "li" => self.item(),
            "td" | "th" => self.out.cell(),
            "pre" => {
                self.out.line_break(2);
                self.preformatted += 1;
            }
            "title" => self.in_title += 1,
            name => self.space(name),
        }
    }

    fn item(&mut self) {
        self.out.end_mark();
        let indent = "  ".repeat(self.lists.len().saturating_sub(1).min(LIST_DEPTH_MAX));
        let Some(list) = self.lists.last_mut() else { return self.out.mark("- ") };
        if list.items > 0 {
            self.out.no_empty_line();
        }
        list.items += 1;
        match list.is_numbered {
            true => self.out.mark(&format!("{indent}{}. ", list.items)),
            false => self.out.mark(&format!("{indent}- ")),
        }
    }

    /// The white space around an element.
    fn space(&mut self, name: &str) {
        if PARAGRAPHS.contains(&name) {
            self.out.line_break(2);
        } else if LINES.contains(&name) {
            self.out.line_break(1);
        }
    }

    fn push(&mut self, open: OpenElement) {
        if self.hidden > 0 && !matches!(open.role, ElementRole::Hidden) {
            // Its layout was left out, so its end has nothing to undo.
            return self.push_bounded(OpenElement { role: ElementRole::Plain, ..open });
        }
        self.hidden += usize::from(matches!(open.role, ElementRole::Hidden));
        self.push_bounded(open);
    }

    fn push_bounded(&mut self, open: OpenElement) {
        self.open.push_back(open);
        if self.open.len() > DEPTH_MAX
            && let Some(outermost) = self.open.pop_front()
        {
            self.close(outermost);
        }
    }

    /// Ends an element, and those in it that were left open.
    fn end(&mut self, name: &HtmlString) {
        if let Some(at) = self.open.iter().rposition(|open| open.name == *name) {
            while self.open.len() > at {
                let Some(open) = self.open.pop_back() else { break };
                self.close(open);
            }
        }
        if self.hidden == 0 {
            self.space(&String::from_utf8_lossy(name));
        }
    }

    fn close(&mut self, open: OpenElement) {
        match open.role {
            ElementRole::Plain => {}
            ElementRole::Hidden => self.hidden -= 1,
            ElementRole::Title => self.in_title -= 1,
            ElementRole::Heading => {
                self.out.end_mark();
                self.out.line_break(2);
            }
            ElementRole::List => {
                self.lists.pop();
                self.out.end_mark();
                self.out.line_break(if self.lists.is_empty() { 2 } else { 1 });
            }
            ElementRole::Preformatted => {
                self.preformatted -= 1;
                self.out.line_break(2);
            }
            ElementRole::Link { url, start } => self.end_link(url, start),
        }
    }

    fn end_link(&mut self, url: Option<String>, start: usize) {
        let Some(url) = url.filter(|_| self.links < LINKS_MAX) else { return };
        let words = self.out.since(start).trim();
        if !words.is_empty() && words != url {
            self.links += 1;
            self.out.words(&format!(" ({url})"));
        }
    }

    /// The target of a link, if it is another web page.
    fn link(&self, tag: &StartTag<()>) -> Option<String> {
        let href = attribute(tag, b"href")?;
        let href = href.trim();
        if href.is_empty() || href.starts_with('#') {
            return None;
        }
        let url = self.base.join(href).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        (url.as_str().len() <= LINK_CHARS_MAX).then(|| url.into())
    }
}

fn attribute(tag: &StartTag<()>, name: &[u8]) -> Option<String> {
    tag.attributes.get(name).map(|value| String::from_utf8_lossy(value).into_owned())
}

/// What a page hides from people, a model does not read either.
fn is_invisible(tag: &StartTag<()>) -> bool {
    let style = attribute(tag, b"style").unwrap_or_default().to_ascii_lowercase();
    let style: String = style.chars().filter(|c| !c.is_whitespace()).collect();
    let is_styled_away =
        ["display:none", "visibility:hidden", "font-size:0", "opacity:0;"].iter().any(|hides| style.contains(hides));
    tag.attributes.contains_key(b"hidden".as_slice()) || is_styled_away
}
