//! The environment variables of the original bots, which keep working.

use toml::Value;

/// A variable, the setting it stands for, and how its text is parsed.
#[derive(Debug)]
pub(super) struct Name {
    pub name: &'static str,
    pub key: &'static str,
    preset: &'static str,
    read: ValueFormat,
}

#[derive(Clone, Copy, Debug)]
enum ValueFormat {
    Text,
    Whole,
    /// Minutes there, seconds here.
    Minutes,
    Truth,
    Commas,
    Numbers,
}

impl Name {
    /// A variable counts in the preset of its bot, and in the default, which has everything.
    pub(super) fn belongs_to(&self, preset: &str) -> bool {
        self.preset == preset || self.preset.is_empty() || preset == "aizuchi"
    }

    pub(super) fn convert(&self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        let wrong = |right: &str| format!("`{}` must be {right}, got {text:?}", self.name);
        let whole = || text.parse::<i64>().map_err(|_| wrong("a whole number"));
        match self.read {
            ValueFormat::Text => Ok(text.into()),
            ValueFormat::Whole => Ok(whole()?.into()),
            ValueFormat::Minutes => Ok(whole()?.saturating_mul(60).into()),
            ValueFormat::Truth => match text.to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => Ok(true.into()),
                "false" | "0" | "no" | "off" | "" => Ok(false.into()),
                _ => Err(wrong("true or false")),
            },
            ValueFormat::Numbers => {
                let numbers = text.split(',').map(|item| item.trim().parse::<i64>().map(Value::from));
                let numbers: Result<_, _> = numbers.collect();
                numbers.map(Value::Array).map_err(|_| wrong("whole numbers separated by commas, such as 6,31,101"))
            }
            ValueFormat::Commas => {
                let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
                Ok(Value::Array(items.map(Value::from).collect()))
            }
        }
    }
}

/// Finds a variable of an original bot; `response.…` keys are ours as well and need no translation.
pub(super) fn find(name: &str) -> Option<&'static Name> {
    NAMES.iter().find(|known| known.name == name)
}

const fn name(name: &'static str, key: &'static str, preset: &'static str, read: ValueFormat) -> Name {
    Name { name, key, preset, read }
}

pub(super) const NAMES: &[Name] = &[
    name("BOT_NAME", "bot.name", "", ValueFormat::Text),
    name("EAVESDROP_ENABLED_CHANNELS", "listen.channels", "kotonoha", ValueFormat::Commas),
    name("EAVESDROP_JUDGE_MODEL", "models.judge", "kotonoha", ValueFormat::Text),
    name("EAVESDROP_BUFFER_SIZE", "listen.buffer_messages", "kotonoha", ValueFormat::Whole),
    name("EAVESDROP_MIN_MESSAGES", "gates.messages_min", "kotonoha", ValueFormat::Whole),
    name("EAVESDROP_MIN_INTERVENTION_INTERVAL_MINUTES", "gates.interval_seconds", "kotonoha", ValueFormat::Minutes),
    name("MEMORY_ENABLED", "memory.enabled", "sphene", ValueFormat::Truth),
    name("CHANNEL_BUFFER_SIZE", "listen.buffer_messages", "sphene", ValueFormat::Whole),
    name("CHANNEL_BUFFER_TTL_MINUTES", "listen.buffer_minutes", "sphene", ValueFormat::Whole),
    name("AUTONOMOUS_RESPONSE_ENABLED", "gates.unasked", "sphene", ValueFormat::Truth),
    name("JUDGE_SCORE_THRESHOLD", "score.threshold", "sphene", ValueFormat::Whole),
    name("COOLDOWN_SECONDS", "score.cooldown_seconds", "sphene", ValueFormat::Whole),
    name("ENGAGEMENT_DURATION_SECONDS", "score.engaged_seconds", "sphene", ValueFormat::Whole),
    name("ENGAGEMENT_BOOST", "points.engaged", "sphene", ValueFormat::Whole),
    name("JUDGE_KEYWORDS", "score.keywords", "sphene", ValueFormat::Commas),
    name("LLM_JUDGE_ENABLED", "score.ask_between", "sphene", ValueFormat::Truth),
    name("JUDGE_MODEL", "models.judge", "sphene", ValueFormat::Text),
    name("JUDGE_LLM_THRESHOLD_LOW", "score.low", "sphene", ValueFormat::Whole),
    name("JUDGE_LLM_THRESHOLD_HIGH", "score.high", "sphene", ValueFormat::Whole),
    name("CHANNEL_CONTEXT_ENABLED", "memory.channel_context", "sphene", ValueFormat::Truth),
    name("CHANNEL_CONTEXT_STORAGE_TYPE", "memory.channel_context_store", "sphene", ValueFormat::Text),
    name("SUMMARIZE_EVERY_N_MESSAGES", "memory.summarize_messages", "sphene", ValueFormat::Whole),
    name("SUMMARIZE_EVERY_N_MINUTES", "memory.summarize_minutes", "sphene", ValueFormat::Whole),
    name("SUMMARIZE_MODEL", "models.summarize", "sphene", ValueFormat::Text),
    name("RESPONSE_DIVERSITY_ENABLED", "kinds.varied", "sphene", ValueFormat::Truth),
    name("USER_PROFILE_ENABLED", "memory.profiles", "sphene", ValueFormat::Truth),
    name("USER_PROFILE_STORAGE_TYPE", "memory.profiles_store", "sphene", ValueFormat::Text),
    name("USER_PROFILE_TAGS_ENABLED", "memory.profile_tags", "sphene", ValueFormat::Truth),
    name("FAMILIARITY_THRESHOLDS", "memory.familiarity", "sphene", ValueFormat::Numbers),
    name("REFLECTION_ENABLED", "memory.reflection", "sphene", ValueFormat::Truth),
    name("REFLECTION_LULL_MINUTES", "memory.reflection_lull_minutes", "sphene", ValueFormat::Whole),
    name("REFLECTION_MIN_MESSAGES", "memory.reflection_messages_min", "sphene", ValueFormat::Whole),
    name("REFLECTION_MAX_BUFFER_MESSAGES", "memory.reflection_messages_max", "sphene", ValueFormat::Whole),
    name("REFLECTION_MODEL", "models.reflect", "sphene", ValueFormat::Text),
    name("FACT_STORE_STORAGE_TYPE", "memory.facts_store", "sphene", ValueFormat::Text),
    name("FACT_STORE_MAX_FACTS_PER_CHANNEL", "memory.facts_max", "sphene", ValueFormat::Whole),
    name("FACT_DECAY_HALF_LIFE_DAYS", "memory.facts_half_life_days", "sphene", ValueFormat::Whole),
    name("PROACTIVE_CONVERSATION_ENABLED", "memory.proactive", "sphene", ValueFormat::Truth),
    name("VECTOR_SEARCH_ENABLED", "memory.vectors", "sphene", ValueFormat::Truth),
    name("EMBEDDING_MODEL", "models.embed", "sphene", ValueFormat::Text),
    name("GEMINI_MODEL", "models.main", "sphene", ValueFormat::Text),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::keys;

    #[test]
    fn every_name_stands_for_a_setting() {
        for name in NAMES {
            assert!(keys().any(|key| key == name.key), "{} -> {}", name.name, name.key);
        }
    }

    #[test]
    fn odd_values_are_told() {
        let wrong = find("COOLDOWN_SECONDS").unwrap().convert("soon").unwrap_err();
        assert_eq!(wrong, "`COOLDOWN_SECONDS` must be a whole number, got \"soon\"");
        assert!(find("MEMORY_ENABLED").unwrap().convert("perhaps").is_err());
    }
}
