//! Replaces the markup of people, roles, channels, emoji and times in a text by what is shown on the screen.

use crate::lookalike::folded_letters;

/// Resolves the ids in a text to names. An id that is unknown, or must not be named, stays as it is.
pub trait NameResolver {
    fn person(&self, id: u64) -> Option<String>;
    fn role(&self, id: u64) -> Option<String>;
    fn channel(&self, id: u64) -> Option<String>;
}

pub fn readable(text: &str, named: &impl NameResolver) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once('<') {
        out.push_str(before);
        let mark = tail.split_once('>').filter(|(inside, _)| inside.len() <= MARK_BYTES_MAX);
        match mark.and_then(|(inside, after)| Some((resolve_mention(inside, named)?, after))) {
            Some((shown, after)) => {
                out.push_str(&shown);
                rest = after;
            }
            None => {
                out.push('<');
                rest = tail;
            }
        }
    }
    out.push_str(rest);
    out
}

/// The longest is a command with two names below it.
const MARK_BYTES_MAX: usize = 150;

fn resolve_mention(inside: &str, named: &impl NameResolver) -> Option<String> {
    if let Some(id) = inside.strip_prefix("@&") {
        return named.role(number(id)?).map(|name| format_mention('@', &name));
    }
    if let Some(id) = inside.strip_prefix("@!").or(inside.strip_prefix('@')) {
        return named.person(number(id)?).map(|name| format_mention('@', &name));
    }
    if let Some(id) = inside.strip_prefix('#') {
        return named.channel(number(id)?).map(|name| format_mention('#', &name));
    }
    if let Some(time) = inside.strip_prefix("t:") {
        let seconds = time.split(':').next()?.parse().ok()?;
        let at = jiff::Timestamp::from_second(seconds).ok()?;
        return Some(at.strftime("%Y-%m-%d %H:%M UTC").to_string());
    }
    let (command, emoji) = (inside.strip_prefix('/'), inside.strip_prefix("a:").or(inside.strip_prefix(':')));
    let (name, id) = command.or(emoji)?.rsplit_once(':')?;
    number(id)?;
    match command {
        Some(_) => Some(format!("/{name}")),
        None if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => Some(format!(":{name}:")),
        None => None,
    }
}

/// Escapes the name, so that a person named `<@100>` is not taken for a mention.
fn format_mention(sign: char, name: &str) -> String {
    format!("{sign}{}", name.replace('<', "‹").replace('>', "›"))
}

fn number(id: &str) -> Option<u64> {
    id.bytes().all(|byte| byte.is_ascii_digit()).then(|| id.parse().ok())?
}

/// The bot's own names, the main one first: if one of them occurs in the name of a channel or of somebody else, the bot was
/// not called.
#[derive(Clone, Debug)]
pub struct OwnNames {
    first: String,
    folded: Vec<String>,
}

impl OwnNames {
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> OwnNames {
        let names: Vec<&str> = names.into_iter().map(str::trim).filter(|name| !name.is_empty()).collect();
        let first = names.first().copied().unwrap_or("aizuchi").to_owned();
        OwnNames { first, folded: names.into_iter().map(fold).collect() }
    }

    /// The main name.
    pub fn first(&self) -> &str {
        &self.first
    }

    pub fn stand_in(&self, text: &str) -> bool {
        let (same, look) = (fold(text), folded_letters(text));
        // The look-alike table folds i and l into one, so a short name would match a part of many words.
        let resembles = |name: &String| {
            let name = folded_letters(name);
            name.chars().count() >= LOOK_CHARS_MIN && look.contains(&name)
        };
        self.folded.iter().any(|name| same.contains(name.as_str()) || resembles(name))
    }
}

const LOOK_CHARS_MIN: usize = 4;

/// Ignores case and width.
fn fold(text: &str) -> String {
    let narrow = |c: char| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        c => c,
    };
    text.trim().chars().map(narrow).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct GuildNames;

    impl NameResolver for GuildNames {
        fn person(&self, id: u64) -> Option<String> {
            (id == 12).then(|| "花子".to_owned())
        }
        fn role(&self, id: u64) -> Option<String> {
            [(7, "gardeners"), (8, "<@100>ers")]
                .into_iter()
                .find(|(known, _)| *known == id)
                .map(|(_, name)| name.into())
        }
        fn channel(&self, id: u64) -> Option<String> {
            (id == 2).then(|| "general".to_owned())
        }
    }

    #[test]
    fn ids_become_names() {
        let read = |text| readable(text, &GuildNames);
        assert_eq!(read("<@12> and <@!12>, see <#2> <@&7>"), "@花子 and @花子, see #general @gardeners");
        assert_eq!(read("<:tomato:5> <a:wave_2:6> </mute for:9>"), ":tomato: :wave_2: /mute for");
        assert_eq!(read("at <t:1700000000:R>, <t:1700000000>"), "at 2023-11-14 22:13 UTC, 2023-11-14 22:13 UTC");
    }

    #[test]
    fn what_is_not_known_stays() {
        for text in ["<@99> <@&99> <#99>", "a < b > c <", "<@+12> <@> <#2", "<https://a.b>", "<:a b:5> <t:x> <::>"] {
            assert_eq!(readable(text, &GuildNames), text);
        }
        assert_eq!(readable("<<@12>>", &GuildNames), "<@花子>");
        assert_eq!(readable("<@&8>", &GuildNames), "@‹@100›ers", "nobody is mentioned by a name");
    }

    #[test]
    fn its_own_name_is_found_whatever_it_is_written_with() {
        let own = OwnNames::new(["aizuchi", " 相槌 ", ""]);
        assert!(own.stand_in("Aizuchi-test") && own.stand_in("ＡＩＺＵＣＨＩ") && own.stand_in("今日の相槌"));
        assert!(own.stand_in("аizuchi") && own.stand_in("ai\u{200d}zuchi\u{3164}"), "look-alikes too");
        assert!(!own.stand_in("general"));
    }
}
