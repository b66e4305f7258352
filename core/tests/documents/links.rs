//! Every relative link leads somewhere.

use super::super::{document, root};
use super::documents;
use super::markdown::{anchors, lines, targets};

/// The path that a link in `from` names, from the root of the project.
fn resolve(from: &str, link: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn every_relative_link_of_a_document_resolves() {
    for page in documents() {
        for line in lines(&page.text).into_iter().filter(|line| line.block.is_none()) {
            for target in targets(line.text).into_iter().filter(|target| !target.contains(':')) {
                let at = format!("{}:{}: the link {target:?}", page.name, line.number);
                let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
                let path = if path.is_empty() { page.name.clone() } else { resolve(&page.name, path) };
                assert!(root().join(&path).exists(), "{at} leads to {path}, which does not exist");
                if !anchor.is_empty() {
                    let anchors = anchors(&document(&path));
                    assert!(anchors.contains(anchor), "{at}: {path} has no heading #{anchor}, only {anchors:?}");
                }
            }
        }
    }
}
