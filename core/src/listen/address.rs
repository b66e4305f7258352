//! Whom a message is for: this bot, somebody else, or the room.

use crate::policy::Policy;
use crate::room::Speakers;
use crate::types::{Addressed, Message, PersonId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    Me(Addressed),
    SomebodyElse,
    TheRoom,
}

/// Checked in the order mention, name, reply; `named` is whether its name is in the text.
pub(crate) fn addressee(
    policy: &Policy,
    message: &Message,
    named: bool,
    replies_to_me: bool,
    known: &Speakers,
) -> Address {
    let by = &policy.settings.address;
    if by.mention && message.mentions_me {
        Address::Me(Addressed::Mention)
    } else if by.name && named {
        Address::Me(Addressed::Name)
    } else if by.reply && replies_to_me {
        Address::Me(Addressed::Reply)
    } else if is_for_somebody_else(message, replies_to_me, known) {
        Address::SomebodyElse
    } else {
        Address::TheRoom
    }
}

fn is_for_somebody_else(message: &Message, replies_to_me: bool, known: &Speakers) -> bool {
    let author = &message.author.id;
    let replied_to = || message.reply.as_ref().and_then(|reply| reply.to_person.as_ref());
    message.mentions.iter().any(|person| person != author)
        || (!replies_to_me && replied_to().is_some_and(|person| person != author))
        || called_by_name(&message.text)
            .is_some_and(|name| known.by_name(name).is_some_and(|key| key != known.key(author)))
}

/// Whether the message turns to this person: by reply, by mention, or by calling the name first.
pub(crate) fn speaks_to(message: &Message, person: &PersonId, name: &str, reply_to: &str) -> bool {
    let reply = message.reply.as_ref();
    reply.is_some_and(|reply| {
        reply.to_person.as_ref() == Some(person) || reply.to.as_ref().is_some_and(|to| to.as_str() == reply_to)
    }) || message.mentions.contains(person)
        || called_by_name(&message.text).is_some_and(|called| called.eq_ignore_ascii_case(name))
}

/// Longest name looked for at the head of a message.
const NAME_BYTES_MAX: usize = 64;

/// And most words in one.
const NAME_WORDS_MAX: usize = 3;

/// "alice: …", "alice, …", "@alice …", 「アリス、…」: the name a message begins with, as far as its form can tell.
fn called_by_name(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let (at, rest) = text.strip_prefix(['@', '＠']).map_or((false, text), |rest| (true, rest));
    let mut words = 1;
    for (place, c) in rest.char_indices() {
        match c {
            ':' | ',' | '：' | '、' | '，' => return plain_name(&rest[..place]),
            _ if c.is_whitespace() && at => return plain_name(&rest[..place]),
            _ if c.is_whitespace() => words += 1,
            _ => (),
        }
        if words > NAME_WORDS_MAX || place > NAME_BYTES_MAX {
            break;
        }
    }
    None
}

/// Without the title that follows it.
fn plain_name(name: &str) -> Option<&str> {
    const TITLES: [&str; 8] = ["さん", "くん", "ちゃん", "さま", "君", "様", "氏", "先生"];
    let plain = TITLES.iter().find_map(|title| name.strip_suffix(title)).unwrap_or(name);
    (!plain.is_empty()).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_at_the_head_of_a_message() {
        assert_eq!(called_by_name("alice: hello"), Some("alice"));
        assert_eq!(called_by_name(" bob, hi"), Some("bob"));
        assert_eq!(called_by_name("@carol how are you"), Some("carol"));
        assert_eq!(called_by_name("アリス、元気？"), Some("アリス"));
        assert_eq!(called_by_name("アリスさん、元気？"), Some("アリス"));
        assert_eq!(called_by_name("hello there"), None);
        assert_eq!(called_by_name(": hm"), None);
        assert_eq!(called_by_name(&"x".repeat(500)), None);
    }
}
