//! Which modules of the crate a source names, however it does: in a `use`, in full in a function, or by way of `super`.

use std::collections::BTreeSet;

/// A word or a sign of Rust; what is in comments and literals is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    /// `::`
    Sep,
    Sign(char),
}

/// The paths from the root of the crate that a source names outside its tests. `module` is the path of its own module.
/// `Err` is a path that leads to the root itself, behind which anything could be hidden.
pub fn named(source: &str, module: &[String]) -> Result<BTreeSet<Vec<String>>, String> {
    let tokens = without_tests(&tokens(source));
    let mut found = BTreeSet::new();
    // The inline modules around a token, each with the depth of braces at which it ends.
    let mut inside: Vec<(String, usize)> = Vec::new();
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign('{') => {
                depth += 1;
                if let (Some(Token::Word(name)), Some(Token::Word(word))) =
                    (before(&tokens, at, 1), before(&tokens, at, 2))
                    && word == "mod"
                {
                    inside.push((name.clone(), depth));
                }
            }
            Token::Sign('}') => {
                inside.retain(|(_, ends)| *ends != depth);
                depth -= 1;
            }
            Token::Word(word) if matches!(word.as_str(), "crate" | "super" | "self") => {
                let begins = before(&tokens, at, 1) != Some(&Token::Sep);
                let here: Vec<String> =
                    module.iter().cloned().chain(inside.iter().map(|(name, _)| name.clone())).collect();
                if begins {
                    collect(&tokens, at, &here, &mut found)?;
                }
            }
            Token::Word(_) | Token::Sep | Token::Sign(_) => (),
        }
    }
    Ok(found)
}

fn before(tokens: &[Token], at: usize, back: usize) -> Option<&Token> {
    tokens.get(at.checked_sub(back)?)
}

/// The paths that begin at this token.
fn collect(tokens: &[Token], at: usize, here: &[String], found: &mut BTreeSet<Vec<String>>) -> Result<(), String> {
    let mut paths = Vec::new();
    let end = tree(tokens, at, Vec::new(), &mut paths);
    let is_path = tokens.get(at + 1) == Some(&Token::Sep);
    let renamed = matches!(tokens.get(end), Some(Token::Word(word)) if word == "as");
    for path in paths {
        let path = path.into_iter().filter(|part| part != "self" || here.is_empty());
        let mut resolved: Vec<String> = here.to_vec();
        for part in path {
            match part.as_str() {
                "crate" => resolved.clear(),
                "super" => drop(resolved.pop()),
                _ => resolved.push(part),
            }
        }
        match resolved.first().map(String::as_str) {
            Some("*") | None if is_path || renamed => return Err("a path that leads to the root of the crate".into()),
            Some(_) if is_path => drop(found.insert(resolved)),
            Some(_) | None => (),
        }
    }
    Ok(())
}

/// Reads a path with all its branches; the token behind it.
fn tree(tokens: &[Token], mut at: usize, mut path: Vec<String>, paths: &mut Vec<Vec<String>>) -> usize {
    loop {
        match tokens.get(at) {
            Some(Token::Word(word)) => path.push(word.clone()),
            Some(Token::Sign('*')) => path.push("*".into()),
            Some(Token::Sign('{')) => {
                at += 1;
                while !matches!(tokens.get(at), Some(Token::Sign('}')) | None) {
                    at = tree(tokens, at, path.clone(), paths);
                    // A branch that is renamed, and the comma.
                    while !matches!(tokens.get(at), Some(Token::Sign(',' | '}')) | None) {
                        at += 1;
                    }
                    if tokens.get(at) == Some(&Token::Sign(',')) {
                        at += 1;
                    }
                }
                return at + 1;
            }
            Some(Token::Sep | Token::Sign(_)) | None => break,
        }
        if tokens.get(at + 1) != Some(&Token::Sep) {
            at += 1;
            break;
        }
        at += 2;
    }
    paths.push(path);
    at
}

/// Without the items that are marked `#[cfg(test)]`.
fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let mark: Vec<Token> = self::tokens("#[cfg(test)]");
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at..].starts_with(&mark) {
            at = item_end(tokens, at + mark.len());
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// Behind the item that begins here: its semicolon, or the brace that closes it.
fn item_end(tokens: &[Token], begin: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(begin) {
        match token {
            Token::Sign('{') => depth += 1,
            Token::Sign('}') if depth == 1 => return at + 1,
            Token::Sign('}') => depth -= 1,
            Token::Sign(';') if depth == 0 => return at + 1,
            Token::Sign(_) | Token::Word(_) | Token::Sep => (),
        }
    }
    tokens.len()
}

fn tokens(source: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        let len = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if let Some(len) = literal(rest) {
            len
        } else if rest.starts_with("::") {
            tokens.push(Token::Sep);
            2
        } else if c.is_alphanumeric() || c == '_' {
            let len = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            tokens.push(Token::Word(rest[..len].to_owned()));
            len
        } else {
            if !c.is_whitespace() {
                tokens.push(Token::Sign(c));
            }
            c.len_utf8()
        };
        rest = &rest[len..];
    }
    tokens
}

/// The length of a comment in `/*` and `*/`, which may hold others.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        if text[at..].starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if text[at..].starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                break;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// The length of a text or a character in quotes, if one begins here. A lifetime is none.
fn literal(text: &str) -> Option<usize> {
    let raw = text.strip_prefix('b').unwrap_or(text);
    let prefix = text.len() - raw.len();
    if let Some(hashed) = raw.strip_prefix('r') {
        let hashes = hashed.len() - hashed.trim_start_matches('#').len();
        if hashed[hashes..].starts_with('"') {
            let close = format!("\"{}", "#".repeat(hashes));
            let begin = prefix + 1 + hashes + 1;
            return Some(text[begin..].find(&close).map_or(text.len(), |at| begin + at + close.len()));
        }
    }
    if let Some(inner) = raw.strip_prefix('"') {
        return Some(prefix + 1 + closing(inner, '"'));
    }
    let inner = raw.strip_prefix('\'')?;
    let mut chars = inner.chars();
    let first = chars.next()?;
    (first == '\\' || chars.next() == Some('\'')).then(|| prefix + 1 + closing(inner, '\''))
}

/// Behind the quote that closes, whatever is escaped before it.
fn closing(inner: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in inner.char_indices() {
        if !escaped && c == quote {
            return at + 1;
        }
        escaped = !escaped && c == '\\';
    }
    inner.len()
}

#[test]
fn a_module_is_found_however_it_is_named() {
    let found = |source: &str| -> Vec<String> {
        let module = ["gates".to_owned(), "mute".to_owned()];
        named(source, &module).expect("no path leads to the root").into_iter().map(|path| path.join("::")).collect()
    };
    for source in [
        "use crate::engine::Engine;",
        "fn f() { let x = crate::engine::Engine::new(); }",
        "fn f() -> crate :: engine :: Engine { todo() }",
        "use super::super::engine::Engine;",
        "use self::super::super::engine::Engine;",
        "mod inner { use super::super::super::engine::Engine; }",
        "use crate::{room::Room, engine::{Engine, turn as now}};",
        "use crate::engine as other;",
        "pub use crate::engine::*;",
        "type T = Vec<crate::engine::Engine>;",
        "const C: char = '\\''; static S: &str = \"\\\" // \"; fn f<'a>(x: &'a crate::engine::Engine) {}",
        "fn f() { macro_rules! m { () => { $crate::engine::Engine } } }",
    ] {
        assert!(found(source).iter().any(|path| path.starts_with("engine")), "{source}: {:?}", found(source));
    }
    for source in [
        "// use crate::engine::Engine;",
        "/* /* crate::engine */ crate::engine */ fn f() {}",
        "const S: &str = \"crate::engine\"; const R: &str = r#\"crate::engine \" \"#;",
        "#[cfg(test)]\nmod tests { use crate::engine::Engine; fn f() { {} } }",
        "#[cfg(test)]\nuse crate::engine::Engine;",
        "pub(crate) fn f(self) { super::engine::f() }",
    ] {
        assert!(!found(source).iter().any(|path| path.starts_with("engine")), "{source}: {:?}", found(source));
    }
    assert_eq!(
        found("use super::engine::f; use super::{Gate, Case};"),
        ["gates::Case", "gates::Gate", "gates::engine::f"]
    );
    for hides in ["use crate as other;", "use crate::*;", "use super::super::{self};", "use crate::{self as all};"] {
        assert!(named(hides, &["gates".to_owned(), "mute".to_owned()]).is_err(), "{hides}");
    }
}
