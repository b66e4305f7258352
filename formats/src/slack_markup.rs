//! Converts Slack's markup to what is shown on the screen: `<@U1>` is "@花子", `<https://x|the page>` is "the page". Exports
//! and live messages use the same markup.

/// Resolves the ids in a text to names, as far as known.
pub struct NameLookup<'k> {
    pub person: &'k dyn Fn(&str) -> Option<String>,
    pub channel: &'k dyn Fn(&str) -> Option<String>,
}

/// The text, and the ids of the people it mentions.
pub fn plain(text: &str, known: &NameLookup<'_>) -> (String, Vec<String>) {
    let mut out = String::with_capacity(text.len());
    let mut mentioned = Vec::new();
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once('<') {
        push_unescaped(before, &mut out);
        let Some((inside, after)) = tail.split_once('>') else {
            out.push('<');
            push_unescaped(tail, &mut out);
            return (out, mentioned);
        };
        push_link(inside, known, &mut out, &mut mentioned);
        rest = after;
    }
    push_unescaped(rest, &mut out);
    (out, mentioned)
}

fn push_link(inside: &str, known: &NameLookup<'_>, out: &mut String, mentioned: &mut Vec<String>) {
    let (target, label) = inside.split_once('|').map_or((inside, None), |(target, label)| (target, Some(label)));
    if let Some(id) = target.strip_prefix('@') {
        let name = (known.person)(id);
        out.push('@');
        out.push_str(name.as_deref().or(label).unwrap_or(id));
        if !mentioned.iter().any(|known| known == id) {
            mentioned.push(id.to_owned());
        }
    } else if let Some(channel) = target.strip_prefix('#') {
        out.push('#');
        match (label.filter(|label| !label.is_empty()), (known.channel)(channel)) {
            (Some(label), _) => push_unescaped(label, out),
            (None, Some(name)) => out.push_str(&name),
            (None, None) => out.push_str(channel),
        }
    } else if let Some(group) = target.strip_prefix('!') {
        let name = group.split('^').next().unwrap_or(group);
        push_unescaped(&label.map_or_else(|| format!("@{name}"), str::to_owned), out);
    } else {
        push_unescaped(label.unwrap_or(target), out);
    }
}

/// Slack escapes these three and no others.
fn push_unescaped(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once('&') {
        out.push_str(before);
        let escapes = [("amp;", '&'), ("lt;", '<'), ("gt;", '>')];
        let known = escapes.iter().find_map(|(name, c)| tail.strip_prefix(name).map(|after| (*c, after)));
        let (c, after) = known.unwrap_or(('&', tail));
        out.push(c);
        rest = after;
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, Vec<String>) {
        let person = |id: &str| (id == "U1").then(|| "花子".to_owned());
        let channel = |id: &str| (id == "C2").then(|| "雑談".to_owned());
        plain(text, &NameLookup { person: &person, channel: &channel })
    }

    #[test]
    fn mentions_become_names() {
        let (text, mentioned) = read("<@U1> と <@U2|bob>、<@U1> <@U3>");
        assert_eq!(text, "@花子 と @bob、@花子 @U3");
        assert_eq!(mentioned, ["U1", "U2", "U3"]);
    }

    #[test]
    fn links_and_escapes_are_read_as_on_the_screen() {
        let shown = |text| read(text).0;
        assert_eq!(shown("see <https://a.b/?x=1&amp;y=2|the page> or <https://c.d>"), "see the page or https://c.d");
        assert_eq!(
            shown("<#C1|general> <!here> <!subteam^S1|@devs> <!date^1^{date}|today>"),
            "#general @here @devs today"
        );
        assert_eq!(shown("<#C2> <#C2|> <#C3> <#C2|old>"), "#雑談 #雑談 #C3 #old");
        assert_eq!(shown("a &lt;b&gt; &amp;lt; &nbsp; &"), "a <b> &lt; &nbsp; &");
        assert_eq!(shown("1 < 2 <未完"), "1 < 2 <未完");
    }
}
