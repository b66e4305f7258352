//! A model's Markdown as Slack writes it. Whatever could call people or channels stays plain text.

/// For Slack's eyes: text and nothing but text.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

pub fn mrkdwn(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len() + 16);
    let mut fence: Option<String> = None;
    for (number, line) in markdown.lines().enumerate() {
        if number > 0 {
            out.push('\n');
        }
        let start = line.trim_start();
        match &fence {
            Some(end) if start.trim_end() == end => {
                fence = None;
                out.push_str("```");
            }
            Some(_) => out.push_str(&escaped(line)),
            None => match opening(start) {
                // Slack would show the language as a line of the code.
                Some(mark) => {
                    fence = Some(mark);
                    out.push_str("```");
                }
                None => push_line(line, &mut out),
            },
        }
    }
    if fence.is_some() {
        out.push_str("\n```");
    }
    out
}

/// The mark that ends the code this line opens.
fn opening(line: &str) -> Option<String> {
    let mark = line.chars().next().filter(|mark| ['`', '~'].contains(mark))?;
    let length = line.chars().take_while(|c| *c == mark).count();
    let rest = &line[length..];
    (length >= 3 && !rest.contains('`')).then(|| mark.to_string().repeat(length))
}

fn push_line(line: &str, out: &mut String) {
    let start = line.trim_start();
    let indent = &line[..line.len() - start.len()];
    out.push_str(indent);
    if let Some(title) = heading(start) {
        let inner = inline(title);
        // What is bold already stays so, and only once.
        let inner = inner.replace('*', "");
        if !inner.trim().is_empty() {
            out.push_str(&format!("*{}*", inner.trim()));
        }
    } else if is_rule(start) {
        out.push_str("──────────");
    } else if let Some(item) = ["- ", "* ", "+ "].iter().find_map(|mark| start.strip_prefix(mark)) {
        let (mark, item) = match (item.strip_prefix("[ ] "), item.strip_prefix("[x] ")) {
            (Some(open), _) => ("☐ ", open),
            (_, Some(done)) => ("☑ ", done),
            (None, None) => ("• ", item),
        };
        out.push_str(mark);
        out.push_str(&inline(item));
    } else if let Some(quoted) = start.strip_prefix('>') {
        out.push_str("> ");
        out.push_str(&inline(quoted.trim_start_matches(['>', ' '])));
    } else {
        out.push_str(&inline(start));
    }
}

fn heading(line: &str) -> Option<&str> {
    let level = line.chars().take_while(|c| *c == '#').count();
    let title = line.get(level..)?.strip_prefix(' ')?;
    (1..=6).contains(&level).then(|| title.trim().trim_end_matches('#').trim_end())
}

fn is_rule(line: &str) -> bool {
    let line = line.trim_end();
    ['-', '*', '_'].iter().any(|mark| line.len() >= 3 && line.chars().all(|c| c == *mark))
}

/// Marks within a line. The longest first, as Markdown has it.
const MARKS: &[(&str, &str, &str)] =
    &[("***", "*_", "_*"), ("**", "*", "*"), ("__", "*", "*"), ("~~", "~", "~"), ("*", "_", "_"), ("_", "_", "_")];

fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = match span(rest, &out) {
            Some((written, after)) => {
                push_apart(&written, after, &mut out);
                after
            }
            None => {
                let after = &rest[c.len_utf8()..];
                match (c, after.chars().next()) {
                    ('\\', Some(next)) if next.is_ascii_punctuation() => {
                        push_escaped(next, &mut out);
                        &after[next.len_utf8()..]
                    }
                    _ => {
                        push_escaped(c, &mut out);
                        after
                    }
                }
            }
        };
    }
    out
}

/// What is marked at the start of `rest`, as Slack writes it, and what follows it.
fn span<'t>(rest: &'t str, before: &str) -> Option<(String, &'t str)> {
    match rest.as_bytes()[0] {
        b'`' => code(rest),
        b'!' if rest[1..].starts_with('[') => link(&rest[1..]),
        b'[' => link(rest),
        b'<' => address(rest),
        b'*' | b'_' | b'~' => MARKS.iter().find_map(|mark| marked(rest, before, *mark)),
        _ => None,
    }
}

fn code(rest: &str) -> Option<(String, &str)> {
    let ticks = rest.bytes().take_while(|byte| *byte == b'`').count();
    let mark = &rest[..ticks];
    let (inside, after) = rest[ticks..].split_once(mark)?;
    (!inside.is_empty()).then(|| (format!("`{}`", escaped(inside.trim_matches('`'))), after))
}

/// `[text](address)`.
fn link(rest: &str) -> Option<(String, &str)> {
    let (label, after) = rest.strip_prefix('[')?.split_once("](")?;
    let end = closing(after)?;
    let (target, after) = (&after[..end], &after[end + 1..]);
    let target = target.split([' ', '"']).next().unwrap_or(target);
    if label.contains('[') || label.contains('\n') || !is_address(target) {
        return None;
    }
    let label: String = escaped(&label.replace(['*', '`'], "")).replace('|', "¦");
    let target = address_written(target);
    Some((if label.is_empty() { format!("<{target}>") } else { format!("<{target}|{label}>") }, after))
}

/// Where the parenthesis closes; an address may hold some of its own.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => (),
        }
    }
    None
}

/// `<https://…>`.
fn address(rest: &str) -> Option<(String, &str)> {
    let (target, after) = rest.strip_prefix('<')?.split_once('>')?;
    (is_address(target) && !target.contains(char::is_whitespace))
        .then(|| (format!("<{}>", address_written(target)), after))
}

fn is_address(target: &str) -> bool {
    ["https://", "http://", "mailto:"].iter().any(|scheme| target.starts_with(scheme) && target.len() > scheme.len())
}

fn address_written(target: &str) -> String {
    escaped(&target.replace('|', "%7C").replace('<', "%3C").replace('>', "%3E"))
}

fn marked<'t>(rest: &'t str, before: &str, (mark, open, close): (&str, &str, &str)) -> Option<(String, &'t str)> {
    let inside = rest.strip_prefix(mark)?;
    let mark_char = mark.chars().next()?;
    if inside.starts_with(char::is_whitespace) || inside.starts_with(mark_char) {
        return None;
    }
    // snake_case is no emphasis.
    if mark_char == '_' && before.chars().next_back().is_some_and(char::is_alphanumeric) {
        return None;
    }
    let end = inside.match_indices(mark).map(|(at, _)| at).find(|at| {
        let (within, after) = (&inside[..*at], &inside[at + mark.len()..]);
        let closes = !within.is_empty() && !within.ends_with(char::is_whitespace) && !within.ends_with('\\');
        let longer = mark.len() < 3 && (after.starts_with(mark_char) || within.ends_with(mark_char));
        closes && !longer && (mark_char != '_' || !after.starts_with(char::is_alphanumeric))
    })?;
    let (within, after) = (&inside[..end], &inside[end + mark.len()..]);
    if within.contains('`') && within.matches('`').count() % 2 == 1 {
        return None;
    }
    let within = inline(within);
    // The same mark twice would end it early.
    let within = if open.contains('*') { within.replace('*', "") } else { within };
    Some((format!("{open}{within}{close}"), after))
}

/// Slack sees a mark only at the edge of a word. Japanese has no such edges: one without width is put there.
fn push_apart(written: &str, after: &str, out: &mut String) {
    const EDGE: char = '\u{200b}';
    let is_marked = written.starts_with(['*', '_', '~', '`']);
    if is_marked && out.chars().next_back().is_some_and(char::is_alphanumeric) {
        out.push(EDGE);
    }
    out.push_str(written);
    if is_marked && after.starts_with(char::is_alphanumeric) {
        out.push(EDGE);
    }
}

fn push_escaped(c: char, out: &mut String) {
    match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        c => out.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_slacks() {
        for (markdown, expected) in [
            ("**bold** and *it* and ~~no~~", "*bold* and _it_ and ~no~"),
            ("***both*** __bold__ _it_", "*_both_* *bold* _it_"),
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
