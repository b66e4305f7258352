//! Models that think before they answer: how many tokens they need, and how they are asked to think less.

use aizuchi_core::settings::WireFormat;
use genai::chat::ReasoningEffort;

use crate::ports::Thinking;

/// How a call handles thinking.
#[derive(Clone, Debug, Default)]
pub struct ThinkingPlan {
    /// Tokens in addition to those of the answer.
    pub room: u32,
    /// The parameter sent to the provider.
    pub effort: Option<ReasoningEffort>,
}

/// A family of thinking models, and the parameters for them in their own provider's format.
struct ThinkingModel {
    /// The prefix of the model's name, after its last slash.
    begins: &'static str,
    /// The format in which the parameter can be sent.
    format: Option<WireFormat>,
    least: ThinkingParameter,
    some: ThinkingParameter,
}

#[derive(Clone, Copy)]
enum ThinkingParameter {
    /// No parameter: the model decides.
    Nothing,
    /// Turns thinking off; no extra tokens are needed.
    Not,
    /// A budget of tokens, at least this many.
    Budget(u32),
    Minimal,
    Low,
    /// The effort "none"; the model may still think a little.
    None,
}

const fn thinker(
    begins: &'static str,
    format: WireFormat,
    least: ThinkingParameter,
    some: ThinkingParameter,
) -> ThinkingModel {
    ThinkingModel { begins, format: Some(format), least, some }
}

const fn thinks(begins: &'static str) -> ThinkingModel {
    ThinkingModel { begins, format: None, least: ThinkingParameter::Nothing, some: ThinkingParameter::Nothing }
}

/// The first match counts.
const THINKERS: &[ThinkingModel] = &[
    thinker("gemini-2.5-flash", WireFormat::Google, ThinkingParameter::Not, ThinkingParameter::Budget(0)),
    thinker("gemini-2.5-pro", WireFormat::Google, ThinkingParameter::Budget(128), ThinkingParameter::Budget(128)),
    thinker("gemini-3", WireFormat::Google, ThinkingParameter::Low, ThinkingParameter::Low),
    thinks("gemini-flash-latest"),
    thinks("gemini-pro-latest"),
    thinker("gpt-5.", WireFormat::OpenAi, ThinkingParameter::None, ThinkingParameter::Low),
    thinker("gpt-5", WireFormat::OpenAi, ThinkingParameter::Minimal, ThinkingParameter::Low),
    thinker("gpt-oss", WireFormat::OpenAi, ThinkingParameter::Low, ThinkingParameter::Low),
    thinker("o1", WireFormat::OpenAi, ThinkingParameter::Low, ThinkingParameter::Low),
    thinker("o3", WireFormat::OpenAi, ThinkingParameter::Low, ThinkingParameter::Low),
    thinker("o4", WireFormat::OpenAi, ThinkingParameter::Low, ThinkingParameter::Low),
    // Earlier Claude models think only on request.
    thinker("claude-opus-5", WireFormat::Anthropic, ThinkingParameter::Not, ThinkingParameter::Nothing),
    thinker("claude-sonnet-5", WireFormat::Anthropic, ThinkingParameter::Not, ThinkingParameter::Nothing),
    thinker("claude-haiku-5", WireFormat::Anthropic, ThinkingParameter::Not, ThinkingParameter::Nothing),
    thinker("qwen3", WireFormat::Ollama, ThinkingParameter::Not, ThinkingParameter::Nothing),
    thinker("deepseek-r", WireFormat::Ollama, ThinkingParameter::Not, ThinkingParameter::Nothing),
    thinks("qwq"),
    thinks("magistral"),
    thinks("grok-4"),
    thinks("glm-4.5"),
    thinks("minimax-m"),
];

/// Related models that do not think.
const NOT_THINKERS: &[&str] = &["gpt-5-chat", "qwen3-coder", "qwen3-embedding"];

/// Words that identify a thinking model of any family.
const TELLING: &[&str] = &["thinking", "reasoning"];

pub fn plan(format: WireFormat, model: &str, thinking: Thinking, tokens: u32) -> ThinkingPlan {
    let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
    if NOT_THINKERS.iter().any(|begins| name.starts_with(begins)) || name.contains("-instruct") {
        return ThinkingPlan::default();
    }
    let Some(thinker) = THINKERS.iter().find(|thinker| name.starts_with(thinker.begins)) else {
        let tells = TELLING.iter().any(|word| name.contains(word));
        return ThinkingPlan { room: if tells { tokens } else { 0 }, effort: None };
    };
    if thinker.format != Some(format) {
        return ThinkingPlan { room: tokens, effort: None };
    }
    let thinking = if tokens == 0 { Thinking::Least } else { thinking };
    let told = match thinking {
        Thinking::Least => thinker.least,
        Thinking::Some => thinker.some,
    };
    match told {
        ThinkingParameter::Nothing => ThinkingPlan { room: tokens, effort: None },
        // For Google zero is a budget; the word "none" is not passed on.
        ThinkingParameter::Not if format == WireFormat::Google => {
            ThinkingPlan { room: 0, effort: Some(ReasoningEffort::Budget(0)) }
        }
        ThinkingParameter::Not => ThinkingPlan { room: 0, effort: Some(ReasoningEffort::Zero) },
        ThinkingParameter::Budget(least) if thinking == Thinking::Least => {
            ThinkingPlan { room: tokens.max(least), effort: Some(ReasoningEffort::Budget(least)) }
        }
        ThinkingParameter::Budget(least) => {
            ThinkingPlan { room: tokens.max(least), effort: Some(ReasoningEffort::Budget(tokens.max(least))) }
        }
        ThinkingParameter::Minimal => ThinkingPlan { room: tokens, effort: Some(ReasoningEffort::Minimal) },
        ThinkingParameter::Low => ThinkingPlan { room: tokens, effort: Some(ReasoningEffort::Low) },
        ThinkingParameter::None => ThinkingPlan { room: tokens, effort: Some(ReasoningEffort::Zero) },
    }
}

/// The answer without thoughts in its text. A truncated thought leaves nothing; one that the template has already opened
/// has an end tag without a start tag.
pub fn without_thoughts(text: &str) -> String {
    const OPEN: &str = "<think>";
    const CLOSE: &str = "</think>";
    let mut kept = String::new();
    let mut rest = text;
    if rest.find(CLOSE).is_some_and(|close| rest.find(OPEN).is_none_or(|open| close < open)) {
        rest = rest.split_once(CLOSE).map_or("", |(_, after)| after);
    }
    while let Some((before, after)) = rest.split_once(OPEN) {
        kept.push_str(before);
        rest = after.split_once(CLOSE).map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    kept.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(format: WireFormat, model: &str, thinking: Thinking) -> (u32, String) {
        let ThinkingPlan { room, effort } = plan(format, model, thinking, 1000);
        (room, effort.map_or("-".into(), |effort| effort.to_string()))
    }

    #[test]
    fn a_question_is_answered_with_as_little_thought_as_can_be() {
        use WireFormat::{Anthropic, Google, Ollama, OpenAi};
        for (format, model, room, effort) in [
            (Google, "gemini-2.5-flash", 0, "0"),
            (Google, "gemini-2.5-flash-lite", 0, "0"),
            (Google, "gemini-2.5-pro", 1000, "128"),
            (Google, "gemini-3-flash-preview", 1000, "low"),
            (Google, "gemini-2.0-flash", 0, "-"),
            (OpenAi, "gpt-5-nano", 1000, "minimal"),
            (OpenAi, "gpt-5.1", 1000, "zero"),
            (OpenAi, "gpt-5-chat-latest", 0, "-"),
            (OpenAi, "gpt-4o-mini", 0, "-"),
            (OpenAi, "o4-mini", 1000, "low"),
            (OpenAi, "gemini/gemini-2.5-flash", 1000, "-"),
            (OpenAi, "qwen3:8b", 1000, "-"),
            (OpenAi, "Qwen/Qwen3-4B-Instruct-2507", 0, "-"),
            (OpenAi, "kimi-k2-thinking", 1000, "-"),
            (Ollama, "qwen3:8b", 0, "zero"),
            (Ollama, "llama3.2", 0, "-"),
            (Anthropic, "claude-haiku-4-5", 0, "-"),
            (Anthropic, "claude-sonnet-5", 0, "zero"),
        ] {
            assert_eq!(planned(format, model, Thinking::Least), (room, effort.to_owned()), "{model}");
        }
    }

    #[test]
    fn who_writes_may_think_within_its_tokens() {
        assert_eq!(planned(WireFormat::Google, "gemini-2.5-flash", Thinking::Some), (1000, "1000".into()));
        assert_eq!(planned(WireFormat::OpenAi, "gpt-5-mini", Thinking::Some), (1000, "low".into()));
        assert_eq!(planned(WireFormat::Anthropic, "claude-sonnet-4-5", Thinking::Some), (0, "-".into()));
        assert_eq!(plan(WireFormat::Google, "gemini-2.5-flash", Thinking::Some, 0).room, 0);
    }

    #[test]
    fn thoughts_are_not_part_of_an_answer() {
        for (text, answer) in [
            ("<think>hm {\"respond\": true}</think>\n{\"respond\": false}", "{\"respond\": false}"),
            ("hm hm</think>YES", "YES"),
            ("YES", "YES"),
            ("<think>endless", ""),
            ("a<think>b</think>c<think>d</think>e", "ace"),
        ] {
            assert_eq!(without_thoughts(text), answer, "{text}");
        }
    }
}
