//! Whom a message is for: this bot, somebody else, or the room.

use super::label::name_with_colon;
use crate::phrases::NameUse;
use crate::policy::Policy;
use crate::room::Speakers;
use crate::types::{Addressed, HeardAs, Message, PersonId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    Me(Addressed),
    SomebodyElse,
    TheRoom,
}

/// Whom a message is for, and what its name does in it where that does not call it. Checked in the order mention, name,
/// reply; `named` is whether its name is in the text.
pub(crate) fn addressee(
    policy: &Policy,
    message: &Message,
    named: bool,
    replies_to_me: bool,
    known: &Speakers,
) -> (Address, Option<HeardAs>) {
    let by = &policy.settings.address;
    if by.mention && message.mentions_me {
        return (Address::Me(Addressed::Mention), None);
    }
    let heard_as =
        match named.then(|| policy.name_use(&message.text, is_linked_elsewhere(message, replies_to_me))).flatten() {
            Some(NameUse::Called) => return (Address::Me(Addressed::Name), None),
            Some(NameUse::Unclear) => Some(HeardAs::NameUnclear),
            Some(NameUse::InPassing) => Some(HeardAs::NameInPassing),
            None => None,
        };
    let address = if by.reply && replies_to_me {
        Address::Me(Addressed::Reply)
    } else if is_linked_elsewhere(message, replies_to_me) || names_somebody_else(policy, message, known) {
        Address::SomebodyElse
    } else {
        Address::TheRoom
    };
    (address, heard_as)
}

/// Whether a mention or a reply says that it is for somebody else.
fn is_linked_elsewhere(message: &Message, replies_to_me: bool) -> bool {
    let author = &message.author.id;
    let replied_to = || message.reply.as_ref().and_then(|reply| reply.to_person.as_ref());
    message.mentions.iter().any(|person| person != author)
        || (!replies_to_me && replied_to().is_some_and(|person| person != author))
}

/// Whether it begins with the name of somebody else; with a colon behind it, that may be somebody who has not spoken yet.
fn names_somebody_else(policy: &Policy, message: &Message, known: &Speakers) -> bool {
    let author = &message.author;
    let is_other = |name: &&str| !policy.names.found(name);
    let spoke = |name: &str| known.by_name(name).is_some_and(|key| key != known.key(&author.id));
    called_by_name(&message.text).filter(is_other).is_some_and(spoke)
        || name_with_colon(&message.text).filter(is_other).is_some_and(|name| !name.eq_ignore_ascii_case(&author.name))
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
