//! Where models come from, and which variable holds the key.

/// A provider that is known by name.
pub struct Known {
    pub name: &'static str,
    /// As people know it.
    pub title: &'static str,
    /// Variables of the environment that may hold the key, the usual one first; none where no key is needed.
    pub keys: &'static [&'static str],
    /// Who writes and who judges, where nobody says otherwise.
    pub usual: Option<(&'static str, &'static str)>,
}

pub const KNOWN: &[Known] = &[
    Known {
        name: "anthropic",
        title: "Anthropic (Claude)",
        keys: &["ANTHROPIC_API_KEY"],
        usual: Some(("anthropic/claude-sonnet-4-5", "anthropic/claude-haiku-4-5")),
    },
    Known {
        name: "google",
        title: "Google (Gemini)",
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        usual: Some(("google/gemini-2.5-flash", "google/gemini-2.5-flash-lite")),
    },
    Known {
        name: "openai",
        title: "OpenAI (GPT)",
        keys: &["OPENAI_API_KEY"],
        usual: Some(("openai/gpt-5-mini", "openai/gpt-5-nano")),
    },
    Known { name: "ollama", title: "Ollama", keys: &[], usual: None },
    Known { name: "llamacpp", title: "llama.cpp", keys: &[], usual: None },
    Known { name: "lmstudio", title: "LM Studio", keys: &[], usual: None },
    Known { name: "litellm", title: "LiteLLM", keys: &[], usual: None },
];

/// The built-in model, which needs neither key nor network.
pub const OFFLINE: &str = "offline";

pub fn find(name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.name == name)
}

/// The provider's part of `provider/model`.
pub fn provider_of(model: &str) -> Option<&str> {
    model.split_once('/').filter(|(name, rest)| !name.is_empty() && !rest.is_empty()).map(|(name, _)| name)
}
