//! Whom a message addresses: this bot, somebody else, or the room.

use super::label::name_with_colon;
use crate::phrases::{NameUse, after_first_sentence};
use crate::policy::Policy;
use crate::room::Speakers;
use crate::settings::MatchStyle;
use crate::types::{Addressed, HeardAs, Message, PersonId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    Me(Addressed),
    SomebodyElse,
    TheRoom,
}

/// Whom a message addresses, and how the bot's name is used in it if that does not call the bot. Checked in the order
/// mention, name, reply; `named` says whether its name is in the text.
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
    let for_another = is_linked_elsewhere(message, replies_to_me);
    let heard_as = match named.then(|| name_use(policy, message, for_another, known)).flatten() {
        Some(NameUse::Called) => return (Address::Me(Addressed::Name), None),
        Some(NameUse::Unclear) => Some(HeardAs::NameUnclear),
        Some(NameUse::InPassing) => Some(HeardAs::NameInPassing),
        None => None,
    };
    let address = if by.reply && replies_to_me {
        Address::Me(Addressed::Reply)
    } else if for_another || names_somebody_else(policy, message, known) {
        Address::SomebodyElse
    } else {
        Address::TheRoom
    };
    (address, heard_as)
}

/// How the bot's name is used in a message. "Bob: aizuchi, what …" is for Bob, or was said by him; what follows may be for
/// the bot.
fn name_use(policy: &Policy, message: &Message, for_another: bool, known: &Speakers) -> Option<NameUse> {
    let used = policy.name_use(&message.text, for_another)?;
    if used != NameUse::Called || policy.settings.address.name_match == MatchStyle::Substring {
        return Some(used);
    }
    let Some(name) = others_name_with_colon(policy, message) else { return Some(used) };
    if policy.name_use(after_first_sentence(&message.text), for_another) == Some(NameUse::Called) {
        return Some(used);
    }
    let spoke = known.by_name(name).is_some_and(|key| key != known.key(&message.author.id));
    // Somebody who has not spoken yet may be nobody: "lunch: aizuchi, what …".
    Some(if spoke { NameUse::InPassing } else { NameUse::Unclear })
}

/// The name of somebody else, followed by a colon, with which it begins.
fn others_name_with_colon<'a>(policy: &Policy, message: &'a Message) -> Option<&'a str> {
    let is_other = |name: &&str| !policy.names.finder.is_in(name) && !name.eq_ignore_ascii_case(&message.author.name);
    name_with_colon(&message.text).filter(is_other)
}

/// Whether a mention or a reply shows that it is for somebody else.
fn is_linked_elsewhere(message: &Message, replies_to_me: bool) -> bool {
    let author = &message.author.id;
    let replied_to = || message.reply.as_ref().and_then(|reply| reply.to_person.as_ref());
    message.mentions.iter().any(|person| person != author)
        || (!replies_to_me && replied_to().is_some_and(|person| person != author))
}

/// Whether it begins with the name of somebody else; if a colon follows, that may be somebody who has not spoken yet.
fn names_somebody_else(policy: &Policy, message: &Message, known: &Speakers) -> bool {
    let author = &message.author;
    let is_other = |name: &&str| !policy.names.finder.is_in(name);
    let spoke = |name: &str| known.by_name(name).is_some_and(|key| key != known.key(&author.id));
    called_by_name(&message.text).filter(is_other).is_some_and(spoke)
        || others_name_with_colon(policy, message).is_some()
        || policy.settings.score.learned && called_though_unknown(&message.text).filter(is_other).is_some()
}

/// "@dave did you …", 「キャロルさん、…」: a name that is certain by its form, whether or not somebody of that name has spoken.
fn called_though_unknown(text: &str) -> Option<&str> {
    const GROUPS: &str = "here channel everyone everybody all room team admins admin mods staff";
    const NOBODY: &str = "皆 みな お客 奥 たくさん お隣 誰か どなたか 相手 娘 息子 お母 お父 母 父 兄 姉 お兄 お姉 業者 店員 医者 お医者 管理者 担当者";
    let text = text.trim_start();
    if let Some(rest) = text.strip_prefix(['@', '＠']) {
        let name = &rest[..rest.find(|c: char| !(c.is_alphanumeric() || "_-.".contains(c))).unwrap_or(rest.len())];
        let is_person = name.len() > 1 && name.starts_with(char::is_alphabetic);
        return (is_person && !GROUPS.split(' ').any(|group| group.eq_ignore_ascii_case(name))).then_some(name);
    }
    let titled = &text[..text.find(['、', '，', ':', '：'])?];
    let name =
        ["さん", "くん", "ちゃん", "さま", "君", "様", "先生"].iter().find_map(|title| titled.strip_suffix(title))?;
    let chars = name.chars().count();
    // 「今日は田中さん、…」: what mixes kana with other letters is more than a name.
    let kana = name.chars().filter(|c| matches!(c, 'ぁ'..='ゟ')).count();
    let is_name = (1..=8).contains(&chars) && (kana == 0 || kana == chars) && name.chars().all(char::is_alphanumeric);
    (is_name && !NOBODY.split(' ').any(|nobody| nobody == name)).then_some(name)
}

/// Whether the message addresses this person: by reply, by mention, or by calling the name first.
pub(crate) fn speaks_to(message: &Message, person: &PersonId, name: &str, reply_to: &str) -> bool {
    let reply = message.reply.as_ref();
    reply.is_some_and(|reply| {
        reply.to_person.as_ref() == Some(person) || reply.to.as_ref().is_some_and(|to| to.as_str() == reply_to)
    }) || message.mentions.contains(person)
        || called_by_name(&message.text).is_some_and(|called| called.eq_ignore_ascii_case(name))
}

/// The maximum length of a name at the beginning of a message.
const NAME_BYTES_MAX: usize = 64;

/// And the maximum number of words in it.
const NAME_WORDS_MAX: usize = 3;

/// "alice: …", "alice, …", "@alice …", 「アリス、…」: the name a message begins with, as far as its form can tell.
fn called_by_name(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let (at, rest) = text.strip_prefix(['@', '＠']).map_or((false, text), |rest| (true, rest));
    let mut words = 1;
    for (end, c) in rest.char_indices() {
        match c {
            ':' | ',' | '：' | '、' | '，' => return plain_name(&rest[..end]),
            _ if c.is_whitespace() && at => return plain_name(&rest[..end]),
            _ if c.is_whitespace() => words += 1,
            _ => (),
        }
        if words > NAME_WORDS_MAX || end > NAME_BYTES_MAX {
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
    use crate::types::{Author, MessageId, Place, Time, Visibility, Voice};

    fn said(author: &str, text: &str) -> Message {
        Message {
            id: MessageId::new("m1"),
            place: Place::room("log:room"),
            at: Time(0),
            author: Author { id: PersonId::new(author), name: author.into(), voice: Voice::Person },
            text: text.into(),
            reply: None,
            mentions: Vec::new(),
            mentions_me: false,
            visibility: Visibility::Public,
            backfilled: false,
            heard: None,
        }
    }

    #[test]
    fn what_begins_with_somebody_elses_name_does_not_call_it() {
        let policies = crate::Policies::preset("aizuchi").unwrap();
        let mut known = Speakers::default();
        known.hold("bob-id", "Bob");
        let heard = |text: &str| addressee(policies.general(), &said("ann", text), true, false, &known);
        for text in ["Bob: aizuchi, what is the time?", "bob: aizuchi, what is the time? lol"] {
            assert_eq!(heard(text), (Address::SomebodyElse, Some(HeardAs::NameInPassing)), "{text}");
        }
        let unknown = heard("Carol: aizuchi, what is the time?");
        assert_eq!(unknown, (Address::SomebodyElse, Some(HeardAs::NameUnclear)), "she may have asked that");
        for text in [
            "Question: aizuchi, what is the time?",
            "aizuchi: what is the time?",
            "Bob: I do not know. aizuchi, what is the time?",
            "ann: aizuchi, what is the time?",
            "@aizuchi: Bob: aizuchi, what?",
        ] {
            assert_eq!(heard(text), (Address::Me(Addressed::Name), None), "{text}");
        }
    }

    #[test]
    fn who_is_called_by_a_certain_name_need_not_have_spoken() {
        let policies = crate::Policies::preset("aizuchi").unwrap();
        let heard =
            |text: &str| addressee(policies.general(), &said("ann", text), false, false, &Speakers::default()).0;
        for text in
            ["@dave did you get it?", "@Dave: did you get it?", "キャロルさん、資料を見た？", "田中先生、お願いします"]
        {
            assert_eq!(heard(text), Address::SomebodyElse, "{text}");
        }
        for text in [
            "@here lunch?",
            "@everyone lunch?",
            "皆さん、お昼ですよ",
            "お客さん、多いね",
            "docker: how do I prune?",
            "lunch: pizza?",
            "今日は田中さん、休みだって",
        ] {
            assert_eq!(heard(text), Address::TheRoom, "{text}");
        }
    }

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
