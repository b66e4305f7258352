//! What the bot is doing in a room, and what it cost today.

use aizuchi_core::Time;
use aizuchi_core::room::{Cost, Mute};
use aizuchi_core::view::{PendingStage as Activity, PendingView, RoomView};

use super::answers::format_cost;
use super::parse::ArgumentValue;
use super::runner::{BotInfo, CommandCall, CommandError, CommandRunner};
use super::spec::{CommandEffect, CommandForm, CommandSpec, OfferedIn, Permission};
use crate::language::{Language, say};
use crate::ports::BoxFuture;
use crate::runtime::{ClockJump, EstimatedPrice, TotalView};

pub const COMMAND: CommandSpec = CommandSpec {
    name: "status",
    argument: None,
    permission: Permission::Anybody,
    offered: OfferedIn::Everywhere,
    effect: CommandEffect::Run(run),
};

fn run<'a>(
    runner: &'a CommandRunner,
    call: CommandCall<'a>,
    _: Option<ArgumentValue>,
) -> BoxFuture<'a, Result<String, CommandError>> {
    Box::pin(async move {
        let room = &call.place.room;
        let view = runner.view(room).await?;
        let now = runner.clock.now();
        let (total, jump) = (runner.engine.total(room, now), runner.clock.last_jump());
        let bot = runner.bot().in_room(room.as_str());
        let status = Status { view: view.as_ref(), total: &total, bot: &bot, now, jump };
        Ok(status.format(call.form, call.language()))
    })
}

/// The parts of a status.
#[derive(Clone, Copy)]
struct Status<'a> {
    view: Option<&'a RoomView>,
    total: &'a TotalView,
    bot: &'a BotInfo,
    now: Time,
    jump: Option<ClockJump>,
}

impl Status<'_> {
    fn format(&self, form: CommandForm, language: Language) -> String {
        let Status { view, total, bot, now, jump } = *self;
        let mut lines = Vec::new();
        let mut line = |key: &'static str, value: String| {
            lines.push(say!(language, "status-line", name = language.text(key), value = value));
        };
        let listens = view.is_none_or(|view| view.listens);
        line("status-listening", language.text(if listens { "status-yes" } else { "status-no" }));
        line("status-muted", format_mute(view.and_then(|view| view.mute), now, form, language));
        let pending: Vec<String> = view
            .into_iter()
            .flat_map(|view| &view.places)
            .flat_map(|place| &place.pending)
            .map(|pending| describe_pending(pending, now, language))
            .collect();
        line("status-pending", if pending.is_empty() { language.text("status-nothing") } else { pending.join(", ") });
        let spent = view.map(|view| view.spent).unwrap_or_default();
        let spent = Cost { calls: spent.calls, tokens: spent.tokens, micros: spent.micros };
        line("status-spent", format_cost(spent, total.room_limit, language));
        line("status-spent-all", format_cost(total.spent, total.limit, language));
        for EstimatedPrice { model, price, .. } in &total.estimated {
            let (input, output) = (price.input.to_string(), price.output.to_string());
            line("status-price", say!(language, "status-counts-as", model = &**model, input = input, output = output));
        }
        line("status-model", model(bot, language));
        line("status-judge", bot.judge.clone());
        line("status-preset", bot.preset.clone());
        if let Some(jump) = jump {
            line("status-clock", clock_set(jump, now, language));
        }
        lines.join("\n")
    }
}

fn model(bot: &BotInfo, language: Language) -> String {
    let model = bot.model.clone();
    match &bot.local {
        Some(local) => {
            let (server, address) = (local.server, local.address.clone());
            say!(language, "status-local-server", model = model, server = server, address = address)
        }
        None if bot.offline => say!(language, "status-offline", model = model),
        None => model,
    }
}

fn clock_set(jump: ClockJump, now: Time, language: Language) -> String {
    let key = if jump.by.0 < 0 { "status-clock-back" } else { "status-clock-forward" };
    say!(language, key, by = jump.rounded(), ago = now.since(jump.at))
}

fn format_mute(mute: Option<Mute>, now: Time, form: CommandForm, language: Language) -> String {
    match mute {
        None => language.text("status-no"),
        Some(Mute::Open) => say!(language, "status-muted-open", unmute = form.write("unmute")),
        Some(Mute::Until(until)) => say!(language, "status-muted-until", left = until.since(now)),
    }
}

fn describe_pending(pending: &PendingView, now: Time, language: Language) -> String {
    let doing = language.text(match pending.doing {
        Activity::Waiting => "doing-waiting",
        Activity::Judging => "doing-judging",
        Activity::Holding => "doing-holding",
        Activity::Writing => "doing-writing",
        Activity::Posting => "doing-posting",
    });
    let message = pending.message.to_string();
    match pending.due.map(|due| due.since(now)) {
        Some(left) => say!(language, "status-doing-until", message = message, doing = doing, left = left),
        None => say!(language, "status-doing", message = message, doing = doing),
    }
}

#[cfg(test)]
mod tests {
    use aizuchi_core::settings::Price;
    use aizuchi_core::types::{ClockShift, Share};

    use super::*;

    #[test]
    fn a_status_says_how_things_are() {
        let bot = BotInfo {
            name: "aizuchi".into(),
            model: "offline".into(),
            judge: "offline".into(),
            offline: true,
            local: None,
            preset: "aizuchi".into(),
            presets: "aizuchi".into(),
        };
        let view = RoomView {
            listens: true,
            mute: Some(Mute::Until(Time(90_000))),
            talk: Share::parse("3%"),
            places: Vec::new(),
            spent: aizuchi_core::room::Cost { calls: 2, tokens: 700, micros: 1_200 },
            zone: "UTC".into(),
            reminders: Vec::new(),
        };
        let total = TotalView {
            spent: Cost { calls: 9, tokens: 900, micros: 500_000 },
            limit: Cost { calls: 0, tokens: 1000, micros: 1_000_000 },
            room_limit: Cost { calls: 0, tokens: 0, micros: 50_000 },
            estimated: vec![EstimatedPrice {
                model: "google/new".into(),
                price: Price { input: 0.3, output: 2.5, cached: None },
                basis: aizuchi_core::settings::PriceBasis::DearestOfProvider,
            }],
        };
        let jump = ClockJump { at: Time(0), by: ClockShift(-3_600_000) };
        let status = Status { view: Some(&view), total: &total, bot: &bot, now: Time(0), jump: Some(jump) };
        let said = status.format(CommandForm::Bare, Language::ENGLISH);
        assert!(said.contains("preset: aizuchi"), "{said}");
        let bot = BotInfo { presets: "sphene".into(), ..bot.clone() }.in_room("web:lobby");
        let said_there = Status { bot: &bot, ..status }.format(CommandForm::Bare, Language::ENGLISH);
        assert!(said_there.contains("preset: sphene"), "{said_there}");
        assert!(said.contains("clock: was set back by 1 h (0 s ago)"), "{said}");
        assert!(
            said.contains("spent today in all rooms: 9 calls, 900 of 1000 tokens, $0.500000 of $1.000000"),
            "{said}"
        );
        let estimate = "no price is listed for google/new; it counts as $0.3 in and $2.5 out per million tokens";
        assert!(said.contains(estimate), "{said}");
        assert!(said.contains("muted: for another 1 min 30 s\npending: nothing"), "{said}");
        assert!(said.contains("spent today: 2 calls, 700 tokens, $0.001200 of $0.050000\n"), "{said}");
        let nothing = Status { view: None, total: &TotalView::default(), jump: None, ..status };
        let said = nothing.format(CommandForm::Bare, Language::from_id("ja").unwrap());
        assert!(said.contains("ミュート: いいえ") && said.contains("オフライン"), "{said}");
    }

    /// Elsewhere a bare `/unmute` belongs to somebody else.
    #[test]
    fn it_names_commands_as_they_are_written_there() {
        let told = |language| format_mute(Some(Mute::Open), Time(0), CommandForm::Prefixed, language);
        assert_eq!(told(Language::ENGLISH), "until /aizuchi unmute");
        assert_eq!(told(Language::from_id("ja").unwrap()), "/aizuchi unmute まで");
    }
}
