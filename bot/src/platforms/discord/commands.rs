//! `/aizuchi` as Discord shows it: its subcommands in two languages, and the command each of them stands for.

use std::sync::Arc;

use aizuchi_core::settings::PRESETS;
use serde_json::{Value, json};
use tracing::{debug, warn};

use super::platform::Discord;
use super::read::{list, text};
use super::rest::persist;
use super::trouble::registration_advice;

pub const NAME: &str = "aizuchi";

const SUBCOMMAND: u8 = 1;
const STRING: u8 = 3;

struct Subcommand {
    name: &'static str,
    name_ja: &'static str,
    doc: &'static str,
    doc_ja: &'static str,
    option: Option<Opt>,
}

struct Opt {
    name: &'static str,
    doc: &'static str,
    doc_ja: &'static str,
    required: bool,
    choices: &'static [&'static str],
}

const fn plain(name: &'static str, name_ja: &'static str, doc: &'static str, doc_ja: &'static str) -> Subcommand {
    Subcommand { name, name_ja, doc, doc_ja, option: None }
}

const fn optional(name: &'static str, doc: &'static str, doc_ja: &'static str) -> Option<Opt> {
    Some(Opt { name, doc, doc_ja, required: false, choices: &[] })
}

const SUBCOMMANDS: &[Subcommand] = &[
    plain("status", "状態", "Shows how it stands in this channel", "このチャンネルでの状態を表示します"),
    Subcommand {
        option: optional("message", "id of a message; without one, the last", "メッセージのID。省略すると最新"),
        ..plain("why", "理由", "Explains why it spoke or stayed silent", "発言した、または黙っていた理由を説明します")
    },
    Subcommand {
        option: optional(
            "duration",
            "such as 2h, 30m; without one, until further notice",
            "2h、30m など。省略すると無期限",
        ),
        ..plain("mute", "ミュート", "Says nothing in this channel for a while", "このチャンネルでしばらく黙ります")
    },
    plain("unmute", "ミュート解除", "Takes part again", "また会話に参加します"),
    Subcommand {
        option: optional("share", "such as 3%; without one, as set", "3% など。省略すると設定どおり"),
        ..plain("talk", "頻度", "Speaks at about this share of the messages", "発言する割合を決めます")
    },
    Subcommand {
        option: Some(Opt {
            name: "state",
            doc: "on or off",
            doc_ja: "on か off",
            required: true,
            choices: &["on", "off"],
        }),
        ..plain("channel", "チャンネル", "Listens in this channel, or not", "このチャンネルを聞くかどうかを決めます")
    },
    Subcommand {
        option: Some(Opt {
            name: "name",
            doc: "name of a preset",
            doc_ja: "プリセット名",
            required: true,
            choices: &[],
        }),
        ..plain("preset", "プリセット", "Behaves by another preset here", "このチャンネルのふるまいを変えます")
    },
    plain(
        "what-do-you-know",
        "何を知ってる",
        "Shows what it knows about you",
        "あなたについて知っていることを表示します",
    ),
    plain(
        "export-me",
        "書き出し",
        "Shows all that is remembered about you, as JSON",
        "あなたについて覚えていることをJSONで表示します",
    ),
    Subcommand {
        option: optional(
            "names",
            "names of yours that it asked about, such as: Bo, Rina",
            "確認された自分の名前。例：Bo, Rina",
        ),
        ..plain(
            "forget-me",
            "忘れて",
            "Forgets what you said and what it knows about you",
            "あなたの発言と、あなたについて知っていることを忘れます",
        )
    },
    plain("opt-out", "覚えないで", "Keeps you out of its memory", "これからあなたのことを覚えません"),
    plain("opt-in", "覚えて", "Remembers you again", "またあなたのことを覚えます"),
    plain("reset", "リセット", "Forgets the talk of this channel", "このチャンネルの会話を忘れます"),
];

fn localised(english: &str, japanese: &str) -> Value {
    json!({"en-US": english, "ja": japanese})
}

/// What is registered.
pub fn definition() -> Value {
    let option = |option: &Opt| {
        let mut choices: Vec<&str> = option.choices.to_vec();
        if option.name == "name" {
            choices = PRESETS.iter().map(|(name, _)| *name).collect();
        }
        let choices: Vec<Value> = choices.iter().map(|choice| json!({"name": choice, "value": choice})).collect();
        json!({
            "type": STRING, "name": option.name, "description": option.doc, "required": option.required,
            "description_localizations": localised(option.doc, option.doc_ja), "choices": choices,
        })
    };
    let subcommand = |subcommand: &Subcommand| {
        json!({
            "type": SUBCOMMAND, "name": subcommand.name, "description": subcommand.doc,
            "name_localizations": localised(subcommand.name, subcommand.name_ja),
            "description_localizations": localised(subcommand.doc, subcommand.doc_ja),
            "options": subcommand.option.iter().map(option).collect::<Vec<_>>(),
        })
    };
    let (doc, doc_ja) =
        ("Commands for aizuchi; only you see the answer", "aizuchiへの指示。答えはあなたにだけ見えます");
    json!([{
        "type": 1, "name": NAME, "description": doc, "description_localizations": localised(doc, doc_ja),
        "contexts": [0, 1], "options": SUBCOMMANDS.iter().map(subcommand).collect::<Vec<_>>(),
    }])
}

/// The command that an interaction's data stands for: `mute 2h`. `None` for a command that is not ours.
pub fn command_text(data: &Value) -> Option<String> {
    if text(data, "name") != Some(NAME) {
        return None;
    }
    let chosen = list(data, "options").first()?;
    let subcommand = SUBCOMMANDS.iter().find(|known| text(chosen, "name") == Some(known.name))?;
    let value = list(chosen, "options").first().and_then(|option| text(option, "value")).map(str::trim);
    // One line: what somebody types is an argument, never a second command.
    let value = value.map(|value| value.split_whitespace().collect::<Vec<_>>().join(" "));
    Some(match value.filter(|value| !value.is_empty()) {
        Some(value) => format!("{} {value}", subcommand.name),
        None => subcommand.name.to_owned(),
    })
}

const ATTEMPTS_MAX: u32 = 6;

/// Everywhere; where the API is elsewhere, guild by guild: that holds at once.
pub async fn register(discord: Arc<Discord>, application: u64, guilds: Vec<u64>) {
    let commands = definition();
    let paths = if discord.settings.api_url.is_empty() {
        vec![format!("applications/{application}/commands")]
    } else {
        guilds.iter().map(|guild| format!("applications/{application}/guilds/{guild}/commands")).collect()
    };
    for path in paths {
        match persist(ATTEMPTS_MAX, || discord.rest.put(path.clone(), Some(&commands))).await {
            Ok(_) => debug!("registered /aizuchi"),
            Err(trouble) => warn!(%trouble, advice = registration_advice(&trouble), "cannot register /aizuchi"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_chosen_becomes_a_command() {
        let chosen = |subcommand: &str, value: Option<&str>| {
            let options: Vec<Value> = value.iter().map(|value| json!({"name": "x", "value": value})).collect();
            command_text(&json!({"name": "aizuchi", "options": [{"name": subcommand, "options": options}]}))
        };
        assert_eq!(chosen("mute", Some(" 2h ")).as_deref(), Some("mute 2h"));
        assert_eq!(chosen("mute", None).as_deref(), Some("mute"));
        assert_eq!(chosen("channel", Some("off\nreset")).as_deref(), Some("channel off reset"));
        assert_eq!(chosen("dance", None), None);
        assert_eq!(command_text(&json!({"name": "other", "options": []})), None);
    }

    /// Discord's own limits.
    #[test]
    fn names_and_descriptions_are_such_as_discord_takes() {
        for subcommand in SUBCOMMANDS {
            for name in [subcommand.name, subcommand.name_ja] {
                let fine = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | 'ー');
                assert!(name.chars().all(fine) && (1..=32).contains(&name.chars().count()), "{name}");
                assert_eq!(name, name.to_lowercase());
            }
            let docs = [subcommand.doc, subcommand.doc_ja].into_iter();
            let of_option = subcommand.option.iter().flat_map(|option| [option.doc, option.doc_ja]);
            assert!(docs.chain(of_option).all(|doc| (1..=100).contains(&doc.chars().count())));
        }
        assert_eq!(definition()[0]["options"].as_array().unwrap().len(), 13);
    }
}
