//! What it is doing in a room, and what it cost today.

use aizuchi_core::Time;
use aizuchi_core::room::{Cost, Mute};
use aizuchi_core::view::{Doing as Activity, PendingView, RoomView};

use super::answers::{amount, japanese, price};
use super::parse::Value;
use super::runner::{Bot, Call, CommandError, CommandRunner};
use super::spec::{CommandForm, CommandSpec, Effect, Offered, Permission, Text};
use crate::language::Language;
use crate::ports::Doing;
use crate::runtime::{ClockJump, EstimatedPrice, TotalView};

pub const COMMAND: CommandSpec = CommandSpec {
    name: "status",
    name_ja: "状態",
    argument: None,
    help: Text::new("what it is doing here, and what it cost today", "いまの状態と今日の費用"),
    example: Text::same("status"),
    manual: Text::new("what it is doing here, what it spent today here and in all rooms, and which prices are estimated", "いまの状態、今日の費用（このルームと全ルーム）、推定の価格"),
    permission: Permission::Anybody,
    offered: Offered::Everywhere,
    effect: Effect::Run(run),
};

fn run<'a>(runner: &'a CommandRunner, call: Call<'a>, _: Option<Value>) -> Doing<'a, Result<String, CommandError>> {
    Box::pin(async move {
        let room = &call.place.room;
        let view = runner.ears.look(room).await?;
        let now = runner.clock.now();
        let (total, jump) = (runner.ears.total(room, now), runner.clock.last_jump());
        Ok(format_status(view.as_ref(), &total, &runner.bot(), now, call.form, jump, call.language()))
    })
}

fn format_status(
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
        Activity::Waiting => language.choose("waits for quiet", "静かになるのを待っています"),
        Activity::Judging => language.choose("asks the judge", "判定中"),
        Activity::Holding => language.choose("holds its answer back", "返事を控えています"),
        Activity::Writing => language.choose("writes", "書いています"),
        Activity::Posting => language.choose("posts", "投稿中"),
    };
    let left = pending.due.map(|due| due.since(now));
    let left = left.map(|left| language.choose(format!(", {left} left"), format!("、あと{}", japanese(left))));
    format!("{} ({doing}{})", pending.message, left.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use aizuchi_core::settings::Price;
    use aizuchi_core::types::{ClockShift, Share};

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
        let said = format_status(Some(&view), &total, &bot, Time(0), CommandForm::Bare, Some(jump), Language::English);
        assert!(said.contains("clock: was set back by 1 h (0 s ago)"), "{said}");
        assert!(
            said.contains("spent today in all rooms: 9 calls, 900 of 1000 tokens, $0.500000 of $1.000000"),
            "{said}"
        );
        let estimate = "no price is listed for google/new; it counts as $0.3 in and $2.5 out per million tokens";
        assert!(said.contains(estimate), "{said}");
        assert!(said.contains("muted: for another 1 min 30 s\npending: nothing"), "{said}");
        assert!(said.contains("spent today: 2 calls, 700 tokens, $0.001200 of $0.050000\n"), "{said}");
        let said = format_status(None, &TotalView::default(), &bot, Time(0), CommandForm::Bare, None, Language::Japanese);
        assert!(said.contains("ミュート: いいえ") && said.contains("オフライン"), "{said}");
    }

    /// Elsewhere a bare `/unmute` belongs to somebody else.
    #[test]
    fn it_names_commands_as_they_are_written_there() {
        let told = |language| mute(Some(Mute::Open), Time(0), CommandForm::Prefixed, language);
        assert_eq!(told(Language::English), "until /aizuchi unmute");
        assert_eq!(told(Language::Japanese), "/aizuchi unmute まで");
    }
}
