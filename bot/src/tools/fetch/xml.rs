//! Feeds and other XML as text: a line for each element with content.

use std::borrow::Cow;

use html5gum::{HtmlString, Token, Tokenizer};
use url::Url;

use super::html;
use super::line_writer::readable;
use super::page::PageText;

const NAMES_MAX: usize = 256;

pub fn to_page(xml: &str, base: &Url) -> PageText {
    let mut reader = FeedReader { base, lines: Vec::new(), title: None, names: Vec::new(), words: String::new() };
    for Ok(token) in Tokenizer::new(&*without_cdata(xml)) {
        match token {
            Token::StartTag(tag) => {
                reader.end_words();
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                reader.start(&name, tag.attributes.get(b"href".as_slice()).map(|href| &**href));
                if !tag.self_closing && reader.names.len() < NAMES_MAX {
                    reader.names.push(name);
                }
            }
            Token::EndTag(tag) => {
                reader.end_words();
                let name = String::from_utf8_lossy(&tag.name);
                if reader.names.last().is_some_and(|open| *open == name) {
                    reader.names.pop();
                }
            }
            Token::String(text) => reader.words.push_str(&String::from_utf8_lossy(&text)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    reader.end_words();
    PageText { title: reader.title, text: readable(&reader.lines.join("\n")) }
}

struct FeedReader<'a> {
    base: &'a Url,
    lines: Vec<String>,
    title: Option<String>,
    /// The open elements.
    names: Vec<String>,
    words: String,
}

impl FeedReader<'_> {
    fn start(&mut self, name: &str, href: Option<&HtmlString>) {
        if matches!(name, "item" | "entry") {
            self.lines.push(String::new());
        }
        if let Some(href) = href.and_then(|href| std::str::from_utf8(href).ok())
            && let Ok(url) = self.base.join(href)
        {
            self.lines.push(format!("{name}: {url}"));
        }
    }

    fn end_words(&mut self) {
        let words = std::mem::take(&mut self.words);
        let words = words.trim();
        if words.is_empty() {
            return;
        }
        // Feeds contain HTML.
        let words = if words.contains('<') { html::to_page(words, self.base).text } else { readable(words) };
        let name = self.names.last().map_or("", String::as_str);
        if name == "title" && self.title.is_none() {
            self.title = Some(words.clone());
        }
        self.lines.push(if name.is_empty() { words } else { format!("{name}: {words}") });
    }
}

/// The content of `<![CDATA[…]]>` is text.
fn without_cdata(xml: &str) -> Cow<'_, str> {
    const START: &str = "<![CDATA[";
    if !xml.contains(START) {
        return xml.into();
    }
    let mut parts = xml.split(START);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (text, rest) = part.split_once("]]>").unwrap_or((part, ""));
        out.push_str(&text.replace('&', "&amp;").replace('<', "&lt;"));
        out.push_str(rest);
    }
    out.into()
}
