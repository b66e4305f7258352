//! The content of a download, as text.

use url::Url;

use super::download::Download;
use super::line_writer::readable;
use super::{charset, html, xml};

const TITLE_CHARS_MAX: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContentKind {
    Html,
    Xml,
    /// Shown as it is written.
    Text,
}

impl ContentKind {
    /// From a `Content-Type`, with its charset. `None` if it contains no readable text.
    pub fn parse(content_type: &str) -> Option<(ContentKind, Option<String>)> {
        let mut parts = content_type.split(';').map(|part| part.trim().to_ascii_lowercase());
        let kind = match parts.next()?.as_str() {
            "text/html" | "application/xhtml+xml" => ContentKind::Html,
            "text/plain" | "text/markdown" | "application/json" | "text/json" => ContentKind::Text,
            "text/xml" | "application/xml" => ContentKind::Xml,
            kind if kind.starts_with("application/") && kind.ends_with("+json") => ContentKind::Text,
            kind if kind.starts_with("application/") && kind.ends_with("+xml") => ContentKind::Xml,
            _ => return None,
        };
        let charset =
            parts.find_map(|part| Some(part.strip_prefix("charset=")?.trim_matches(['"', '\'', ' ']).to_owned()));
        Some((kind, charset))
    }
}

#[derive(Debug, Default, PartialEq)]
pub struct PageText {
    pub title: Option<String>,
    pub text: String,
}

impl PageText {
    pub fn read(download: &Download) -> PageText {
        let text = charset::decode(&download.body.bytes, download.charset.as_deref());
        match download.kind {
            ContentKind::Html => html::to_page(&text, &download.url),
            ContentKind::Xml => xml::to_page(&text, &download.url),
            ContentKind::Text => PageText { title: None, text: readable(&text) },
        }
    }

    /// Title and URL on one line.
    pub fn heading(&self, url: &Url) -> String {
        let title = self.title.as_deref().unwrap_or_default();
        let title: Vec<&str> = title.split_whitespace().collect();
        let title: String = title.join(" ").chars().filter(|c| !c.is_control()).take(TITLE_CHARS_MAX).collect();
        if title.is_empty() { url.to_string() } else { format!("{title} ({url})") }
    }

    /// Its text from a character on, as much as fits, and how to read on.
    pub fn part(&self, start: usize, chars_max: usize) -> Result<String, String> {
        let chars = self.text.chars().count();
        if chars == 0 {
            return Ok("(no text)".into());
        }
        if start >= chars {
            return Err(format!("the page has {chars} characters; `start` must be less than that"));
        }
        let end = (start + chars_max).min(chars);
        let part: String = self.text.chars().skip(start).take(end - start).collect();
        match chars - end {
            0 => Ok(part),
            left => Ok(format!("{part}\n… {left} more characters; read on with start = {end}")),
        }
    }
}
