//! The environment names of the original documents, which keep working.

use toml::Value;

/// A name, the setting it stands for, and how its text is read.
#[derive(Debug)]
pub(super) struct Name {
    pub name: &'static str,
    pub key: &'static str,
    preset: &'static str,
    read: Read,
}

#[derive(Clone, Copy, Debug)]
enum Read {
    Text,
    Whole,
    /// Minutes there, seconds here.
    Minutes,
    Truth,
    Commas,
    Numbers,
}

impl Name {
    /// A document's name counts in the preset it comes from, and in the default, which has everything.
    pub(super) fn belongs_to(&self, preset: &str) -> bool {
        self.preset == preset || self.preset.is_empty() || preset == "aizuchi"
    }

    pub(super) fn convert(&self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        let wrong = |right: &str| format!("`{}` is {text:?}; allowed is {right}", self.name);
        let whole = || text.parse::<i64>().map_err(|_| wrong("a whole number"));
        match self.read {
            Read::Text => Ok(text.into()),
            Read::Whole => Ok(whole()?.into()),
            Read::Minutes => Ok(whole()?.saturating_mul(60).into()),
            Read::Truth => match text.to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => Ok(true.into()),
                "false" | "0" | "no" | "off" | "" => Ok(false.into()),
                _ => Err(wrong("true or false")),
            },
            Read::Numbers => {
                let numbers = text.split(',').map(|item| item.trim().parse::<i64>().map(Value::from));
                let numbers: Result<_, _> = numbers.collect();
                numbers.map(Value::Array).map_err(|_| wrong("whole numbers with commas, such as 6,31,101"))
            }
            Read::Commas => {
                let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
                Ok(Value::Array(items.map(Value::from).collect()))
            }
        }
    }
}

/// A document's name, as it is written there; `response.…` keys are ours as well and need no translation.
pub(super) fn find(name: &str) -> Option<&'static Name> {
    NAMES.iter().find(|known| known.name == name)
}

const fn name(name: &'static str, key: &'static str, preset: &'static str, read: Read) -> Name {
    Name { name, key, preset, read }
}

pub(super) const NAMES: &[Name] = &[
    name("BOT_NAME", "bot.name", "", Read::Text),
    name("EAVESDROP_ENABLED_CHANNELS", "listen.channels", "kotonoha", Read::Commas),
    name("EAVESDROP_JUDGE_MODEL", "models.judge", "kotonoha", Read::Text),
    name("EAVESDROP_BUFFER_SIZE", "listen.buffer_messages", "kotonoha", Read::Whole),
    name("EAVESDROP_MIN_MESSAGES", "gates.messages_min", "kotonoha", Read::Whole),
    name("EAVESDROP_MIN_INTERVENTION_INTERVAL_MINUTES", "gates.interval_seconds", "kotonoha", Read::Minutes),
    name("MEMORY_ENABLED", "memory.enabled", "sphene", Read::Truth),
    name("CHANNEL_BUFFER_SIZE", "listen.buffer_messages", "sphene", Read::Whole),
    name("CHANNEL_BUFFER_TTL_MINUTES", "listen.buffer_minutes", "sphene", Read::Whole),
    name("AUTONOMOUS_RESPONSE_ENABLED", "gates.unasked", "sphene", Read::Truth),
    name("JUDGE_SCORE_THRESHOLD", "score.threshold", "sphene", Read::Whole),
    name("COOLDOWN_SECONDS", "score.cooldown_seconds", "sphene", Read::Whole),
    name("ENGAGEMENT_DURATION_SECONDS", "score.engaged_seconds", "sphene", Read::Whole),
    name("ENGAGEMENT_BOOST", "points.engaged", "sphene", Read::Whole),
    name("JUDGE_KEYWORDS", "score.keywords", "sphene", Read::Commas),
    name("LLM_JUDGE_ENABLED", "score.ask_between", "sphene", Read::Truth),
    name("JUDGE_MODEL", "models.judge", "sphene", Read::Text),
    name("JUDGE_LLM_THRESHOLD_LOW", "score.low", "sphene", Read::Whole),
    name("JUDGE_LLM_THRESHOLD_HIGH", "score.high", "sphene", Read::Whole),
    name("CHANNEL_CONTEXT_ENABLED", "memory.channel_context", "sphene", Read::Truth),
    name("CHANNEL_CONTEXT_STORAGE_TYPE", "memory.channel_context_store", "sphene", Read::Text),
    name("SUMMARIZE_EVERY_N_MESSAGES", "memory.summarize_messages", "sphene", Read::Whole),
    name("SUMMARIZE_EVERY_N_MINUTES", "memory.summarize_minutes", "sphene", Read::Whole),
    name("SUMMARIZE_MODEL", "models.summarize", "sphene", Read::Text),
    name("RESPONSE_DIVERSITY_ENABLED", "kinds.varied", "sphene", Read::Truth),
    name("USER_PROFILE_ENABLED", "memory.profiles", "sphene", Read::Truth),
    name("USER_PROFILE_STORAGE_TYPE", "memory.profiles_store", "sphene", Read::Text),
    name("USER_PROFILE_TAGS_ENABLED", "memory.profile_tags", "sphene", Read::Truth),
    name("FAMILIARITY_THRESHOLDS", "memory.familiarity", "sphene", Read::Numbers),
    name("REFLECTION_ENABLED", "memory.reflection", "sphene", Read::Truth),
    name("REFLECTION_LULL_MINUTES", "memory.reflection_lull_minutes", "sphene", Read::Whole),
    name("REFLECTION_MIN_MESSAGES", "memory.reflection_messages_min", "sphene", Read::Whole),
    name("REFLECTION_MAX_BUFFER_MESSAGES", "memory.reflection_messages_max", "sphene", Read::Whole),
    name("REFLECTION_MODEL", "models.reflect", "sphene", Read::Text),
    name("FACT_STORE_STORAGE_TYPE", "memory.facts_store", "sphene", Read::Text),
    name("FACT_STORE_MAX_FACTS_PER_CHANNEL", "memory.facts_max", "sphene", Read::Whole),
    name("FACT_DECAY_HALF_LIFE_DAYS", "memory.facts_half_life_days", "sphene", Read::Whole),
    name("PROACTIVE_CONVERSATION_ENABLED", "memory.proactive", "sphene", Read::Truth),
    name("VECTOR_SEARCH_ENABLED", "memory.vectors", "sphene", Read::Truth),
    name("EMBEDDING_MODEL", "models.embed", "sphene", Read::Text),
    name("GEMINI_MODEL", "models.main", "sphene", Read::Text),
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
        assert_eq!(wrong, "`COOLDOWN_SECONDS` is \"soon\"; allowed is a whole number");
        assert!(find("MEMORY_ENABLED").unwrap().convert("perhaps").is_err());
    }
}
