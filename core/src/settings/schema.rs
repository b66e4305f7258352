//! Every setting that the engine uses, with its type and its bounds. Defaults and sentences are in `default.toml` beside it;
//! sections that only the shell uses are declared beside their code, see [`Section`](super::Section).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::flat::Flat;
use super::lists::{PersonIds, ToolPatterns};
use super::points::{Points, RULE_IDS};
use super::same::SamePeople;
use super::value::{
    Any, Hours, JudgeStyle, LanguageSetting, MatchStyle, OtherBots, OwnPosts, Price, ProviderSettings, Ranking,
    StoreName, WireFormat,
};
use crate::types::Share;

// A setting that older records do not have is marked `#[serde(default)]`, so that they can still be read.
macro_rules! sections {
    ($($(#[$later:meta])* $section:ident: $struct:ident { $($(#[$new:meta])* $key:ident: $type:ty = $bounds:expr,)* })*) => {
        $(
            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
            pub struct $struct { $($(#[$new])* pub $key: $type,)* }
        )*

        /// All settings of one room.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub struct Settings {
            $($(#[$later])* pub $section: $struct,)*
            /// Points of each rule.
            pub points: Points,
            /// The share of what people say that it answers unasked; `None` where the gates alone decide.
            pub talk: Option<Share>,
            /// Price of each model.
            pub prices: BTreeMap<String, Price>,
            /// Where models are asked, beyond the providers that are known by name.
            pub providers: BTreeMap<String, ProviderSettings>,
        }

        impl Settings {
            /// Reads every key, leaving in `flat` a problem for each that does not fit.
            pub(super) fn read(flat: &mut Flat) -> Option<Settings> {
                $(let $section = {
                    $(let $key = flat.read::<$type>(concat!(stringify!($section), ".", stringify!($key)), &$bounds);)*
                    (|| Some($struct { $($key: $key?,)* }))()
                };)*
                let points = read_points(flat);
                let talk = flat.read::<Option<Share>>("talk", &Any);
                let prices = read_prices(flat);
                let providers = read_providers(flat);
                Some(Settings { $($section: $section?,)* points, talk: talk?, prices, providers })
            }
        }

        const KEYS: &[&str] = &[$($(concat!(stringify!($section), ".", stringify!($key)),)*)*];
    };
}

const SECONDS_MAX: u32 = 30 * 24 * 3600;
const COUNT_MAX: u32 = 1_000_000;

/// A percentage that is never reached: records from before a setting decide as they did then.
fn never() -> u32 {
    101
}

/// What was one post in older records is one.
fn one() -> u32 {
    1
}

sections! {
    bot: BotSettings {
        name: String = Any,
        aliases: Vec<String> = Any,
        seed: u64 = 0..=i64::MAX as u64,
        zone: String = Any,
        language: LanguageSetting = Any,
        persona: String = Any,
        group: String = Any,
    }
    listen: ListenSettings {
        channels: Vec<String> = Any,
        channels_off: Vec<String> = Any,
        direct_messages: bool = Any,
        other_bots: OtherBots = Any,
        own_posts: OwnPosts = Any,
        addressed_kept: bool = Any,
        buffer_messages: u32 = 1..=10_000,
        buffer_minutes: u32 = 0..=100_000,
        #[serde(default)]
        read_hours: u32 = 0..=10_000,
        late_after_seconds: u32 = 0..=SECONDS_MAX,
        threads_max: u32 = 1..=100_000,
        #[serde(alias = "strands")]
        conversations: bool = Any,
    }
    address: AddressSettings {
        mention: bool = Any,
        name: bool = Any,
        reply: bool = Any,
        name_match: MatchStyle = Any,
        be_quiet_minutes: u32 = 0..=100_000,
    }
    score: ScoreSettings {
        enabled: bool = Any,
        learned: bool = Any,
        #[serde(default)]
        model_file: String = Any,
        keywords: Vec<String> = Any,
        keyword_odds: f64 = 0.01..=1000.0,
        call_odds: f64 = 0.01..=1000.0,
        window_messages: u32 = 1..=1000,
        engaged_seconds: u32 = 0..=SECONDS_MAX,
        cooldown_seconds: u32 = 0..=SECONDS_MAX,
        frequency_messages: u32 = 2..=1000,
        frequency_seconds: u32 = 0..=SECONDS_MAX,
        silence_seconds: u32 = 1..=SECONDS_MAX,
        silence_beyond_buffer: bool = Any,
        topic_counts_message: bool = Any,
        fading_messages: u32 = 2..=1000,
        low: u32 = 0..=100,
        high: u32 = 0..=101,
        threshold: u32 = 0..=101,
        ask_between: bool = Any,
        #[serde(default = "never")]
        turn_low: u32 = 0..=101,
        #[serde(default = "never")]
        turn_high: u32 = 0..=101,
    }
    kinds: KindSettings {
        varied: bool = Any,
        full_from: u32 = 0..=101,
        acknowledge_from: u32 = 0..=101,
        emoji: Vec<String> = Any,
    }
    gates: GateSettings {
        unasked: bool = Any,
        messages_min: u32 = 0..=1000,
        interval_seconds: u32 = 0..=SECONDS_MAX,
        interval_whole_minutes: bool = Any,
        quiet_hours: Option<Hours> = Any,
        quiet_hours_addressed: bool = Any,
        spoke_last: bool = Any,
        loop_exchanges: u32 = 0..=1000,
        bot_answered: bool = Any,
        addressed_elsewhere: bool = Any,
        floor_share: bool = Any,
        floor_messages_min: u32 = 1..=1000,
        user_per_hour: u32 = 0..=COUNT_MAX,
        user_addressed_per_hour: u32 = 0..=COUNT_MAX,
    }
    effect: EffectSettings {
        feedback: bool = Any,
        follow_messages: u32 = 1..=1000,
        follow_minutes: u32 = 1..=1440,
    }
    budget: Budget {
        calls_per_day: u32 = 0..=COUNT_MAX,
        tokens_per_day: u64 = 0..=1_000_000_000_000,
        dollars_per_day: f64 = 0.0..=1_000_000.0,
        #[serde(default)]
        total_calls_per_day: u32 = 0..=COUNT_MAX,
        #[serde(default)]
        total_tokens_per_day: u64 = 0..=1_000_000_000_000,
        #[serde(default)]
        total_dollars_per_day: f64 = 0.0..=1_000_000.0,
    }
    judge: JudgeSettings {
        style: JudgeStyle = Any,
        window_messages: u32 = 1..=1000,
        context_messages: u32 = 0..=1000,
        #[serde(default)]
        asker_messages: u32 = 0..=1000,
        calls_per_contribution: f64 = 1.0..=1000.0,
        cache_seconds: u32 = 0..=SECONDS_MAX,
        cache_answers_max: u32 = 1..=10_000,
        history_seconds: u32 = 1..=SECONDS_MAX,
        history_messages: u32 = 1..=100,
        history_chars: u32 = 1..=100_000,
        history_max: u32 = 1..=1000,
        tokens_judge: u32 = 1..=100_000,
        tokens_short: u32 = 1..=100_000,
    }
    response: ResponseSettings {
        min_wait_seconds: u32 = 0..=SECONDS_MAX,
        jitter_ratio: f64 = -1_000_000.0..=1_000_000.0,
        max_wait_seconds: u32 = 0..=SECONDS_MAX,
        max_delay_seconds: u32 = 0..=SECONDS_MAX,
        adaptive: bool = Any,
        pace: f64 = 0.0..=100.0,
        adaptive_max_seconds: u32 = 0..=SECONDS_MAX,
        bursts: bool = Any,
        conversations_max: u32 = 1..=64,
        #[serde(default)]
        late_answer_minutes: u32 = 0..=10_080,
        stale_after_seconds: u32 = 0..=SECONDS_MAX,
    }
    reply: ReplySettings {
        window_messages: u32 = 1..=1000,
        #[serde(default)]
        asker_messages: u32 = 0..=1000,
        #[serde(default)]
        turns_per_person: u32 = 0..=1000,
        #[serde(default)]
        turns_minutes: u32 = 1..=10_080,
        tokens_acknowledge: u32 = 1..=100_000,
        tokens_full: u32 = 1..=100_000,
        part_chars: u32 = 40..=100_000,
        numbered: bool = Any,
        #[serde(default = "one")]
        chunks: u32 = 1..=5,
        repeat_similarity: f64 = 0.0..=1.0,
        #[serde(default)]
        withdraw_minutes: u32 = 0..=10_080,
    }
    models: ModelSettings {
        main: String = Any,
        judge: String = Any,
        summarize: String = Any,
        reflect: String = Any,
        embed: String = Any,
        #[serde(default)]
        local_server: bool = Any,
        #[serde(default)]
        local_server_ms: u32 = 1..=60_000,
        timeout_seconds: u32 = 1..=3600,
        retries_max: u32 = 0..=20,
        parallel_max: u32 = 1..=1000,
        waiting_max: u32 = 1..=COUNT_MAX,
        thinking_tokens: u32 = 0..=100_000,
    }
    memory: MemorySettings {
        enabled: bool = Any,
        channel_context: bool = Any,
        channel_context_store: StoreName = Any,
        summarize_messages: u32 = 1..=COUNT_MAX,
        summarize_messages_min: u32 = 1..=COUNT_MAX,
        summarize_minutes: u32 = 1..=100_000,
        summary_tokens: u32 = 1..=100_000,
        profiles: bool = Any,
        profiles_store: StoreName = Any,
        profile_tags: bool = Any,
        familiarity: Vec<u32> = Any,
        #[serde(default)]
        people: bool = Any,
        reflection: bool = Any,
        reflection_lull_minutes: u32 = 1..=100_000,
        reflection_messages_min: u32 = 1..=COUNT_MAX,
        reflection_messages_max: u32 = 1..=COUNT_MAX,
        reflection_tokens: u32 = 1..=100_000,
        facts_store: StoreName = Any,
        facts_max: u32 = 0..=COUNT_MAX,
        facts_half_life_days: u32 = 1..=100_000,
        left_days: u32 = 0..=100_000,
        proactive: bool = Any,
        proactive_silence_minutes: u32 = 1..=100_000,
        vectors: bool = Any,
        ranking: Ranking = Any,
        recall_facts: u32 = 0..=100,
        across_rooms: bool = Any,
    }
    prompts: PromptSettings {
        folder: String = Any,
        message_chars: u32 = 20..=100_000,
        talk_chars: u32 = 200..=1_000_000,
    }
    runtime: RuntimeSettings {
        shards: u32 = 1..=64,
        inbox_max: u32 = 1..=COUNT_MAX,
        shutdown_seconds: u32 = 0..=3600,
        post_retries_max: u32 = 0..=100,
    }
    people: PeopleSettings {
        same: SamePeople = Any,
    }
    #[serde(default)]
    tools: ToolSettings {
        enabled: bool = Any,
        allow: Vec<String> = ToolPatterns,
        ask: Vec<String> = ToolPatterns,
        deny: Vec<String> = ToolPatterns,
        rounds_max: u32 = 1..=50,
        calls_max: u32 = 1..=200,
        seconds_max: u32 = 1..=3600,
        result_chars: u32 = 100..=100_000,
        person_per_hour: u32 = 0..=COUNT_MAX,
        approval_minutes: u32 = 1..=1440,
        approvers: Vec<String> = PersonIds,
        reminders_max: u32 = 0..=1000,
    }
}

/// Records from before there were tools use none.
impl Default for ToolSettings {
    fn default() -> ToolSettings {
        ToolSettings {
            enabled: false,
            allow: Vec::new(),
            ask: Vec::new(),
            deny: Vec::new(),
            rounds_max: 1,
            calls_max: 1,
            seconds_max: 1,
            result_chars: 100,
            person_per_hour: 0,
            approval_minutes: 1,
            approvers: Vec::new(),
            reminders_max: 0,
        }
    }
}

/// Every key that the engine uses, prices of further models aside.
pub fn keys() -> impl Iterator<Item = String> {
    let points = RULE_IDS.iter().map(|rule| format!("points.{rule}"));
    ["preset", "talk"].map(str::to_owned).into_iter().chain(KEYS.iter().map(|key| (*key).to_owned())).chain(points)
}

fn read_points(flat: &mut Flat) -> Points {
    let mut points = Points::default();
    for (index, rule) in RULE_IDS.iter().enumerate() {
        if let Some(value) = flat.read::<i16>(&format!("points.{rule}"), &(-100..=100)) {
            points.0[index] = value;
        }
    }
    points
}

fn read_prices(flat: &mut Flat) -> BTreeMap<String, Price> {
    let mut prices = BTreeMap::new();
    for key in flat.keys_below("prices.") {
        if let Some(price) = flat.read::<Price>(&key, &Any) {
            prices.insert(key["prices.".len()..].to_owned(), price);
        }
    }
    prices
}

/// `providers.NAME.url`, `.format` and `.key`; whatever is left out is as the provider's name has it.
pub(super) const PROVIDER_KEYS: [&str; 3] = ["url", "format", "key"];

fn read_providers(flat: &mut Flat) -> BTreeMap<String, ProviderSettings> {
    let mut providers: BTreeMap<String, ProviderSettings> = BTreeMap::new();
    for key in flat.keys_below("providers.") {
        let Some((name, field)) = key["providers.".len()..].rsplit_once('.') else { continue };
        let provider = providers.entry(name.to_owned()).or_default();
        match field {
            "url" => provider.url = flat.read::<String>(&key, &Any),
            "key" => provider.key = flat.read::<String>(&key, &Any),
            _ => provider.format = flat.read::<WireFormat>(&key, &Any),
        }
    }
    providers
}
