//! The files of the page, compiled in, so that the program is a single file.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

use crate::language::{Language, page_messages};

const JSON: &str = "application/json";

struct Asset {
    name: &'static str,
    kind: &'static str,
    body: &'static [u8],
}

macro_rules! assets {
    ($($name:literal $kind:literal,)*) => {
        &[$(Asset { name: $name, kind: $kind, body: include_bytes!(concat!("../../../web/", $name)) },)*]
    };
}

/// Every file of `bot/web/`.
const ASSETS: &[Asset] = assets! {
    "app.js" "text/javascript; charset=utf-8",
    "charts.js" "text/javascript; charset=utf-8",
    "composer.js" "text/javascript; charset=utf-8",
    "connection.js" "text/javascript; charset=utf-8",
    "dialogs.js" "text/javascript; charset=utf-8",
    "dom.js" "text/javascript; charset=utf-8",
    "icon.svg" "image/svg+xml",
    "index.html" "text/html; charset=utf-8",
    "memory.css" "text/css; charset=utf-8",
    "memory.html" "text/html; charset=utf-8",
    "memory.js" "text/javascript; charset=utf-8",
    "message.js" "text/javascript; charset=utf-8",
    "messages.js" "text/javascript; charset=utf-8",
    "reason.js" "text/javascript; charset=utf-8",
    "reasoning.css" "text/css; charset=utf-8",
    "reasoning.js" "text/javascript; charset=utf-8",
    "room.js" "text/javascript; charset=utf-8",
    "story.js" "text/javascript; charset=utf-8",
    "style.css" "text/css; charset=utf-8",
    "talk.js" "text/javascript; charset=utf-8",
    "theme.js" "text/javascript; charset=utf-8",
};

pub async fn index(headers: HeaderMap) -> Response {
    serve("index.html", &headers)
}

pub async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Response {
    serve(&name, &headers)
}

fn serve(name: &str, headers: &HeaderMap) -> Response {
    match ASSETS.iter().find(|asset| asset.name == name) {
        Some(asset) => send(asset.kind, asset.body, headers),
        None => (StatusCode::NOT_FOUND, "there is no such page\n").into_response(),
    }
}

/// The available languages.
pub async fn languages(headers: HeaderMap) -> Response {
    static BODY: LazyLock<String> = LazyLock::new(|| {
        let switch = |language: Language| language.text("language-switch");
        let row = |language: Language| {
            let (name, sample) = (language.text("language-name"), language.has_samples());
            json!({"id": language.id(), "name": name, "sample": sample, "switch": switch(language)})
        };
        Value::from(Language::ALL.map(row).to_vec()).to_string()
    });
    send(JSON, BODY.as_bytes(), &headers)
}

/// Every message of the page in one language: `locales/ja.json`.
pub async fn messages(Path(name): Path<String>, headers: HeaderMap) -> Response {
    static BODIES: LazyLock<Vec<String>> =
        LazyLock::new(|| Language::ALL.iter().map(|language| page_messages(*language).to_string()).collect());
    let id = name.strip_suffix(".json").unwrap_or_default();
    match Language::ALL.iter().position(|language| language.id() == id) {
        Some(index) => send(JSON, BODIES[index].as_bytes(), &headers),
        None => (StatusCode::NOT_FOUND, "there is no such language\n").into_response(),
    }
}

/// Revalidated every time, and only sent again after a change.
fn send(kind: &'static str, body: &'static [u8], headers: &HeaderMap) -> Response {
    let tag = format!("\"{:016x}\"", xxh3_64(body));
    let known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let head = [(header::ETAG, tag), (header::CACHE_CONTROL, "no-cache".into())];
    if known {
        return (StatusCode::NOT_MODIFIED, head).into_response();
    }
    (head, [(header::CONTENT_TYPE, kind)], body).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_a_row() {
        fn walk(folder: &std::path::Path, below: &str, found: &mut Vec<String>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                let name = format!("{below}{}", entry.file_name().to_string_lossy());
                if entry.path().is_dir() {
                    walk(&entry.path(), &format!("{name}/"), found);
                } else {
                    found.push(name);
                }
            }
        }
        let mut found = Vec::new();
        walk(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("web"), "", &mut found);
        found.sort();
        let mut rows: Vec<&str> = ASSETS.iter().map(|asset| asset.name).collect();
        rows.sort_unstable();
        assert_eq!(rows, found);
    }
}
