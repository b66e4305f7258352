//! What a person is told who gave an order: a notice for their page alone.

use aizuchi_core::room::{Cost, Mute};
use aizuchi_core::settings::Price;
use aizuchi_core::types::{Share, Span};
use aizuchi_core::view::{Doing, PendingView, RoomView};
use aizuchi_core::{Time, Trace};

use super::Bot;
use super::order::{CommandForm, ROWS, Row};
use crate::language::Language;
use crate::runtime::{ClockJump, EstimatedPrice, TotalView};

pub fn help(form: CommandForm, language: Language) -> String {
    let line = |row: &Row| format!("{} – {}", form.write(row.usage), language.choose(row.en, row.ja));
    ROWS.iter().map(line).collect::<Vec<_>>().join("\n")
}

pub fn unknown(name: &str, form: CommandForm, language: Language) -> String {
    let named = form.write(name);
    let head =
        language.choose(format!("There is no command {named}."), format!("{named} というコマンドはありません。"));
    format!("{head}\n{}", help(form, language))
}

pub fn unclear(row: &Row, form: CommandForm, language: Language) -> String {
    let usage = form.write(row.usage);
    language.choose(format!("Not understood. Like this: {usage}"), format!("使い方：{usage}"))
}

pub fn muted(span: Option<Span>, form: CommandForm, language: Language) -> String {
    let unmute = form.write("unmute");
    match span {
        Some(span) => language.choose(
            format!("Muted for {span}. {unmute} ends it."),
            format!("{}黙ります。{unmute} で解除できます。", japanese(span)),
        ),
        None => language.choose(format!("Muted until {unmute}."), format!("{unmute} まで黙ります。")),
    }
}

pub fn unmuted(language: Language) -> &'static str {
    language.choose("Takes part again.", "また参加します。")
}

pub fn talks(share: Option<Share>, language: Language) -> String {
    match share {
        Some(share) => language.choose(
            format!("Will speak up at about {share} of messages."),
            format!("発言のおよそ {share} で口をはさみます。"),
        ),
        None => language.choose("Speaks up as the settings say.".to_owned(), "設定どおりに話します。".to_owned()),
    }
}

pub fn listens(on: bool, language: Language) -> &'static str {
    if on {
        language.choose("Listens here.", "ここで聞きます。")
    } else {
        language.choose("Does not listen here any more.", "ここではもう聞きません。")
    }
}

pub fn forgot(language: Language) -> &'static str {
    language.choose("Forgot the talk of this room.", "このルームの会話を忘れました。")
}

pub fn opted_out(out: bool, language: Language) -> &'static str {
    if out {
        language.choose(
            "You are not remembered from now on, and what was known of you is gone. It still hears the talk of the moment.",
            "これからはあなたのことを覚えません。知っていたことも消しました。その場の会話は聞こえています。",
        )
    } else {
        language.choose("You are remembered again.", "またあなたのことを覚えます。")
    }
}

pub fn no_memory(language: Language) -> &'static str {
    language.choose("Nothing is remembered for long here.", "ここでは長くは何も覚えていません。")
}

pub fn preset(preset: &str, language: Language) -> String {
    language.choose(format!("Has the manners of {preset} here."), format!("ここでは {preset} としてふるまいます。"))
}

pub fn for_managers(language: Language) -> &'static str {
    language.choose("Only those who manage this place can do that.", "この操作は管理権限のある人だけができます。")
}

pub fn stopping(language: Language) -> &'static str {
    language.choose("aizuchi is stopping.", "aizuchi を停止しています。")
}

pub fn trouble(language: Language) -> &'static str {
    language.choose("That did not work; please try again.", "うまくいきませんでした。もう一度お試しください。")
}

/// The sentence of a decision; it names the points. The questions asked and the cost follow, where there were any.
pub fn why(trace: &Trace, language: Language) -> String {
    let mut lines = vec![format!("{} ({}): {}", trace.message, trace.author, trace.sentence())];
    for asked in &trace.asked {
        let cached = if asked.cached { language.choose(" (from memory)", "（記憶から）") } else { "" };
        lines.push(format!("{}{cached}: {}", asked.question.id(), asked.answer));
    }
    if trace.micros > 0 {
        lines.push(format!("{}: {}", language.choose("cost", "費用"), dollars(trace.micros)));
    }
    lines.join("\n")
}

pub fn no_decision(language: Language) -> &'static str {
    language.choose("There is no decision about that yet.", "それについての判断はまだありません。")
}

pub fn status(
    view: Option<&RoomView>,
    total: &TotalView,
    bot: &Bot,
    now: Time,
    form: CommandForm,
    jump: Option<ClockJump>,
    language: Language,
) -> String {
    let mut lines = Vec::new();
    let mut line = |en: &str, ja: &str, value: String| lines.push(format!("{}: {value}", language.choose(en, ja)));
    let yes_or_no = |yes| if yes { language.choose("yes", "はい") } else { language.choose("no", "いいえ") };
    line("listening", "聞いている", yes_or_no(view.is_none_or(|view| view.listens)).into());
    line("muted", "ミュート", mute(view.and_then(|view| view.mute), now, form, language));
    let pending: Vec<String> = view
        .into_iter()
        .flat_map(|view| &view.places)
        .flat_map(|place| &place.pending)
        .map(|pending| doing(pending, now, language))
        .collect();
    let nothing = || language.choose("nothing", "なし").to_owned();
    line("pending", "保留中", if pending.is_empty() { nothing() } else { pending.join(", ") });
    let spent = view.map(|view| view.spent).unwrap_or_default();
    let spent = Cost { calls: spent.calls, tokens: spent.tokens, micros: spent.micros };
    line("spent today", "今日の費用", amount(spent, total.room_limit, language));
    line("spent today in all rooms", "今日の費用（全ルーム）", amount(total.spent, total.limit, language));
    for EstimatedPrice { model, price: of, .. } in &total.estimated {
        let counts_as = language.choose(
            format!("no price is listed for {model}; it counts as {}", price(*of)),
            format!(
                "{model} の価格は未登録です。100 万トークンあたり入力 ${}・出力 ${} として数えます",
                of.input, of.output
            ),
        );
        line("estimated price", "推定価格", counts_as);
    }
    let offline = if bot.offline { language.choose(" (offline)", "（オフライン）") } else { "" };
    line("model", "モデル", format!("{}{offline}", bot.model));
    line("judge", "判定", bot.judge.clone());
    line("preset", "プリセット", bot.preset.clone());
    if let Some(jump) = jump {
        line("clock", "時計", clock_set(jump, now, language));
    }
    lines.join("\n")
}

fn clock_set(jump: ClockJump, now: Time, language: Language) -> String {
    let (ago, by) = (now.since(jump.at), japanese(jump.by.size()));
    let direction = if jump.by.0 < 0 { "戻されました" } else { "進められました" };
    language
        .choose(format!("was set {} ({ago} ago)", jump.direction()), format!("{}前に{by}{direction}", japanese(ago)))
}

fn mute(mute: Option<Mute>, now: Time, form: CommandForm, language: Language) -> String {
    match mute {
        None => language.choose("no", "いいえ").to_owned(),
        Some(Mute::Open) => {
            let unmute = form.write("unmute");
            language.choose(format!("until {unmute}"), format!("{unmute} まで"))
        }
        Some(Mute::Until(until)) => {
            let left = until.since(now);
            language.choose(format!("for another {left}"), format!("あと{}", japanese(left)))
        }
    }
}

fn doing(pending: &PendingView, now: Time, language: Language) -> String {
    let doing = match pending.doing {
        Doing::Waiting => language.choose("waits for quiet", "静かになるのを待っています"),
        Doing::Judging => language.choose("asks the judge", "判定中"),
        Doing::Holding => language.choose("holds its answer back", "返事を控えています"),
        Doing::Writing => language.choose("writes", "書いています"),
        Doing::Posting => language.choose("posts", "投稿中"),
    };
    let left = pending.due.map(|due| due.since(now));
    let left = left.map(|left| language.choose(format!(", {left} left"), format!("、あと{}", japanese(left))));
    format!("{} ({doing}{})", pending.message, left.unwrap_or_default())
}

/// What was spent, and of how much where there is a limit.
pub fn cost(spent: Cost, limit: Cost) -> String {
    amount(spent, limit, Language::English)
}

fn amount(spent: Cost, limit: Cost, language: Language) -> String {
    let of = |have: String, most: String, limited: bool| match limited {
        true => language.choose(format!("{have} of {most}"), format!("{have}／{most}")),
        false => have,
    };
    let calls = of(spent.calls.to_string(), limit.calls.to_string(), limit.calls > 0);
    let tokens = of(spent.tokens.to_string(), limit.tokens.to_string(), limit.tokens > 0);
    let money = of(dollars(spent.micros), dollars(limit.micros), limit.micros > 0);
    language
        .choose(format!("{calls} calls, {tokens} tokens, {money}"), format!("{calls} 回、{tokens} トークン、{money}"))
}

pub fn price(price: Price) -> String {
    format!("${} in and ${} out per million tokens", price.input, price.output)
}

fn dollars(micros: u64) -> String {
    format!("${}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

fn japanese(span: Span) -> String {
    let seconds = span.whole_seconds();
    let parts = [(seconds / 3600, "時間"), (seconds / 60 % 60, "分"), (seconds % 60, "秒")];
    let text: String = parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n}{unit}")).collect();
    if text.is_empty() { "0秒".into() } else { text }
}

#[cfg(test)]
mod tests {
    use aizuchi_core::types::ClockShift;

    use super::*;

    #[test]
    fn a_status_says_how_things_are() {
        let bot = Bot {
            name: "aizuchi".into(),
            model: "offline".into(),
            judge: "offline".into(),
            offline: true,
            preset: "aizuchi".into(),
        };
        let view = RoomView {
            listens: true,
            mute: Some(Mute::Until(Time(90_000))),
            talk: Share::parse("3%"),
            places: Vec::new(),
            spent: aizuchi_core::room::Cost { calls: 2, tokens: 700, micros: 1_200 },
        };
        let total = TotalView {
            spent: Cost { calls: 9, tokens: 900, micros: 500_000 },
            limit: Cost { calls: 0, tokens: 1000, micros: 1_000_000 },
            room_limit: Cost { calls: 0, tokens: 0, micros: 50_000 },
            estimated: vec![EstimatedPrice {
                model: "google/new".into(),
                price: Price { input: 0.3, output: 2.5 },
                basis: aizuchi_core::settings::PriceBasis::DearestOfProvider,
            }],
        };
        let jump = ClockJump { at: Time(0), by: ClockShift(-3_600_000) };
        let said = status(Some(&view), &total, &bot, Time(0), CommandForm::Bare, Some(jump), Language::English);
        assert!(said.contains("clock: was set back by 1 h (0 s ago)"), "{said}");
        assert!(
            said.contains("spent today in all rooms: 9 calls, 900 of 1000 tokens, $0.500000 of $1.000000"),
            "{said}"
        );
        let estimate = "no price is listed for google/new; it counts as $0.3 in and $2.5 out per million tokens";
        assert!(said.contains(estimate), "{said}");
        assert!(said.contains("muted: for another 1 min 30 s\npending: nothing"), "{said}");
        assert!(said.contains("spent today: 2 calls, 700 tokens, $0.001200 of $0.050000\n"), "{said}");
        let said = status(None, &TotalView::default(), &bot, Time(0), CommandForm::Bare, None, Language::Japanese);
        assert!(said.contains("ミュート: いいえ") && said.contains("オフライン"), "{said}");
        let ninety = Some(Span::minutes(90));
        let said = muted(ninety, CommandForm::Bare, Language::Japanese);
        assert_eq!(said, "1時間30分黙ります。/unmute で解除できます。");
    }

    /// Elsewhere a bare `/mute` belongs to somebody else: no answer names one.
    #[test]
    fn answers_name_orders_as_they_are_written_there() {
        let view = RoomView {
            listens: true,
            mute: Some(Mute::Open),
            talk: None,
            places: Vec::new(),
            spent: aizuchi_core::room::Cost { calls: 0, tokens: 0, micros: 0 },
        };
        let bot = Bot {
            name: "aizuchi".into(),
            model: "offline".into(),
            judge: "offline".into(),
            offline: true,
            preset: "aizuchi".into(),
        };
        for language in Language::ALL {
            let form = CommandForm::Prefixed;
            let answers = [
                help(form, language),
                unknown("dance", form, language),
                unclear(&ROWS[0], form, language),
                muted(None, form, language),
                muted(Some(Span::minutes(1)), form, language),
                status(Some(&view), &TotalView::default(), &bot, Time(0), form, None, language),
            ];
            for answer in answers {
                let bare = answer.replace("/aizuchi ", "");
                assert!(answer.contains("/aizuchi ") && !bare.contains(" /") && !bare.starts_with('/'), "{answer}");
            }
        }
    }
}
