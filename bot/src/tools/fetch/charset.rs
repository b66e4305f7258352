//! The encoding of a page: by its byte order mark, the server's header, the page's own declaration, or else UTF-8.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// How far a page is searched for its declaration, as browsers do.
const SEARCHED_BYTES: usize = 1024;

pub fn decode(bytes: &[u8], charset: Option<&str>) -> String {
    let named = charset.and_then(|label| Encoding::for_label(label.as_bytes()));
    let encoding = named.or_else(|| declared(bytes)).unwrap_or(UTF_8);
    // A byte order mark takes precedence.
    encoding.decode(bytes).0.into_owned()
}

/// `<meta charset="…">`, `<meta http-equiv content="…; charset=…">` and `<?xml encoding="…"?>`.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(SEARCHED_BYTES)]).to_ascii_lowercase();
    let words = ["charset", "encoding"];
    let found = words.into_iter().find_map(|word| {
        head.match_indices(word).find_map(|(at, _)| {
            let label = head[at + word.len()..].trim_start().strip_prefix('=')?;
            let label = label.trim_start_matches(['"', '\'', ' ']);
            let end = label.find(|c: char| !c.is_ascii_alphanumeric() && !"-_:.".contains(c)).unwrap_or(label.len());
            Encoding::for_label(&label.as_bytes()[..end])
        })
    })?;
    // A declaration that was readable as ASCII cannot be UTF-16.
    Some(if [UTF_16BE, UTF_16LE].contains(&found) { UTF_8 } else { found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_read_as_they_were_written() {
        let (sjis, euc) = (encoding_rs::SHIFT_JIS.encode("言の葉").0, encoding_rs::EUC_JP.encode("言の葉").0);
        let with = |start: &str, words: &[u8]| [start.as_bytes(), words].concat();
        let cases: [(Vec<u8>, Option<&str>); 9] = [
            ("言の葉".into(), None),
            ("言の葉".into(), Some("no-such-charset")),
            (with("\u{feff}", "言の葉".as_bytes()), Some("shift_jis")),
            (sjis.to_vec(), Some("Shift_JIS")),
            (euc.to_vec(), Some("euc-jp")),
            (with("<meta charset='sjis'>", &sjis), None),
            (with("<meta content=\"text/html; charset=EUC-JP\">", &euc), None),
            (with("<?xml version=\"1.0\" encoding = \"Shift_JIS\"?>", &sjis), None),
            (with("<meta charset=utf-16le>", "言の葉".as_bytes()), None),
        ];
        for (bytes, charset) in cases {
            let text = decode(&bytes, charset);
            assert!(text.ends_with("言の葉"), "{charset:?}: {text}");
        }
        assert_eq!(decode(b"a\xff\xfeb", None), "a\u{fffd}\u{fffd}b");
    }
}
