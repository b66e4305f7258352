//! Tools on the wire: how results are sent to a model, and how the calls it requests are parsed.
//!
//! A reply comes from outside, so the number of calls and the length of their parts are limited here.
#![expect(clippy::wildcard_enum_match_arm, reason = "the client library adds parts with every version")]

use aizuchi_core::settings::WireFormat;
use aizuchi_core::tools::ToolStep;
use genai::ModelIden;
use genai::chat::{
    CacheControl, ChatMessage, ChatResponse, ContentPart, MessageContent, Tool, ToolCall, ToolResponse, Usage,
};
use serde_json::{Value, json};

use crate::ports::{PromptTools, RequestedCall, ToolSpec};
use crate::tools;

/// The maximum number of calls in one reply; further ones are dropped.
const CALLS_MAX: usize = 32;
const NAME_CHARS_MAX: usize = 64;
const ARGUMENTS_BYTES_MAX: usize = 16 * 1024;
/// Generous, because some gateways put a signature into the id.
const ID_BYTES_MAX: usize = 4 * 1024;
/// For a whole reply.
const SIGNATURES_BYTES_MAX: usize = 64 * 1024;
const CUT: &str = "_cut";

pub(super) fn shown_tool(spec: &ToolSpec) -> Tool {
    Tool::new(spec.name.as_str()).with_description(spec.description.as_str()).with_schema(spec.schema.clone())
}

/// The requested calls and their results, round by round.
///
/// Anthropic caches everything before a cache mark. The results of the last round are marked while the model may request
/// more, and so are those that were marked in the previous request, where the cache is found again.
pub(super) fn steps(tools: &PromptTools, format: WireFormat) -> Vec<ChatMessage> {
    let rounds: Vec<&[ToolStep]> = tools.steps.chunk_by(|one, next| one.round == next.round).collect();
    let marked = |index: usize| {
        let behind = rounds.len() - index;
        format == WireFormat::Anthropic && (behind == 2 || (behind == 1 && tools.may_call))
    };
    let mut messages = Vec::new();
    for (index, round) in rounds.iter().enumerate() {
        let asked: Vec<ToolCall> = round.iter().map(|step| asked_call(&step.call, format)).collect();
        let results = round.iter().zip(&asked).map(|(step, call)| result(step, call, format));
        match format {
            // An Ollama message contains one result.
            WireFormat::Ollama => {
                let results: Vec<ChatMessage> = results.map(ChatMessage::from).collect();
                messages.push(ChatMessage::from(asked));
                messages.extend(results);
            }
            WireFormat::OpenAi | WireFormat::Anthropic | WireFormat::Google => {
                let mut results = ChatMessage::tool(MessageContent::from_tool_responses(results.collect()));
                if marked(index) {
                    results = results.with_options(CacheControl::Ephemeral);
                }
                let thoughts = round.iter().flat_map(|step| thoughts_of(&step.call.signatures, format));
                let calls = asked.into_iter().map(ContentPart::ToolCall);
                messages.push(ChatMessage::assistant(MessageContent::from_parts(
                    thoughts.chain(calls).collect::<Vec<_>>(),
                )));
                messages.push(results);
            }
        }
    }
    messages
}

/// The same for a model without tool support, as text.
pub(super) fn steps_in_words(steps: &[ToolStep]) -> Option<String> {
    let word = |step: &ToolStep| format!("{} {}:\n{}", step.call.name, step.call.arguments, step.words());
    let words: Vec<String> = steps.iter().map(word).collect();
    (!words.is_empty()).then(|| words.join("\n\n"))
}

fn result(step: &ToolStep, call: &ToolCall, format: WireFormat) -> ToolResponse {
    match format {
        // Ollama's format has neither an id nor, in this client library, the name of the tool.
        WireFormat::Ollama => ToolResponse::from_tool_call(call, format!("{}:\n{}", call.fn_name, step.words())),
        WireFormat::OpenAi | WireFormat::Anthropic | WireFormat::Google => {
            ToolResponse::from_tool_call(call, step.words())
        }
    }
}

fn asked_call(call: &aizuchi_core::tools::ToolCall, format: WireFormat) -> ToolCall {
    let signatures: Vec<String> = call.signatures.iter().map(|signature| signature.to_string()).collect();
    ToolCall {
        call_id: call.id.to_string(),
        fn_name: call.name.to_string(),
        // Arguments that were not valid JSON are shown as an empty object; the result says what was wrong.
        fn_arguments: tools::arguments(&call.arguments).unwrap_or_default().into(),
        thought_signatures: Some(signatures).filter(|all| format == WireFormat::Google && !all.is_empty()),
    }
}

/// Anthropic requires its thinking blocks back unchanged, before the calls.
fn thoughts_of(signatures: &[Box<str>], format: WireFormat) -> Vec<ContentPart> {
    let block = |text: &str| serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
    let blocks = signatures.iter().filter(|_| format == WireFormat::Anthropic).filter_map(|text| block(text));
    blocks.map(|block| ContentPart::from_custom(block, None)).collect()
}

/// The calls that a reply requests.
pub(super) fn requested_calls(response: &ChatResponse, tools: &PromptTools, format: WireFormat) -> Vec<RequestedCall> {
    let asked = response.content.tool_calls();
    if asked.len() > CALLS_MAX {
        tracing::warn!(calls = asked.len(), kept = CALLS_MAX, "the model asked for too many tools at once");
    }
    let mut thoughts = if format == WireFormat::Anthropic { thought_blocks(response) } else { Vec::new() };
    let mut signature_bytes = 0;
    let mut calls: Vec<RequestedCall> = Vec::new();
    for call in asked.into_iter().take(CALLS_MAX) {
        let name = fitting_name(&call.fn_name, tools);
        let is_taken = |id: &str| {
            let earlier = tools.steps.iter().map(|step| &*step.call.id);
            earlier.chain(calls.iter().map(|call| &*call.id)).any(|known| known == id)
        };
        let signatures = match format {
            WireFormat::Google => call.thought_signatures.clone().unwrap_or_default(),
            WireFormat::OpenAi | WireFormat::Anthropic | WireFormat::Ollama => std::mem::take(&mut thoughts),
        };
        signature_bytes += signatures.iter().map(String::len).sum::<usize>();
        calls.push(RequestedCall {
            id: fitting_id(&call.call_id, &name, tools.steps.len() + calls.len(), format, is_taken),
            arguments: fitting_arguments(&call.fn_arguments),
            name,
            signatures: if signature_bytes > SIGNATURES_BYTES_MAX { Vec::new() } else { signatures },
        });
    }
    calls
}

/// The thinking blocks of Anthropic's models before a call.
fn thought_blocks(response: &ChatResponse) -> Vec<String> {
    let parts = response.content.parts();
    let signatures = parts.iter().filter_map(|part| match part {
        ContentPart::ThoughtSignature(signature) => Some(signature),
        _ => None,
    });
    let thoughts = parts.iter().filter_map(|part| match part {
        ContentPart::ReasoningContent(text) => Some(text),
        _ => None,
    });
    let signed = thoughts.zip(signatures);
    let signed = signed.map(|(text, signature)| json!({"type": "thinking", "thinking": text, "signature": signature}));
    let hidden = parts.iter().filter_map(|part| match part {
        ContentPart::Custom(custom) if custom.typ() == Some("redacted_thinking") => Some(custom.data.clone()),
        _ => None,
    });
    signed.chain(hidden).map(|block| block.to_string()).collect()
}

/// A name that every provider accepts. One that is too long matches no tool.
fn fitting_name(name: &str, tools: &PromptTools) -> String {
    if tools.shown.iter().any(|tool| tool.name == name) {
        return name.to_owned();
    }
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    let cleaned = |count: usize| -> String {
        name.chars().take(count).map(|letter| if fits(letter) { letter } else { '_' }).collect()
    };
    match name.chars().nth(NAME_CHARS_MAX) {
        Some(_) => cleaned(NAME_CHARS_MAX - CUT.len()) + CUT,
        None if name.is_empty() => "unnamed".to_owned(),
        None => cleaned(NAME_CHARS_MAX),
    }
}

/// A unique id for each call of a reply.
fn fitting_id(id: &str, name: &str, number: usize, format: WireFormat, is_taken: impl Fn(&str) -> bool) -> String {
    let fits = !id.is_empty() && id.len() <= ID_BYTES_MAX;
    match format {
        // A call without an id gets one of this form, which is not sent back.
        WireFormat::Google if fits => id.to_owned(),
        WireFormat::Google => format!("call#{name}#{number}"),
        WireFormat::OpenAi | WireFormat::Anthropic if fits && !is_taken(id) => id.to_owned(),
        // Ollama has no ids: those of the client library are random.
        WireFormat::Ollama | WireFormat::OpenAi | WireFormat::Anthropic => {
            let free = (number..).map(|number| format!("call_{number}")).find(|id| !is_taken(id));
            free.expect("there are more numbers than calls")
        }
    }
}

/// The arguments as JSON. Arguments that are too long become a sentence, which no tool accepts.
fn fitting_arguments(arguments: &Value) -> String {
    let text = match arguments {
        // Some servers put the JSON into a string.
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => other.to_string(),
    };
    match text.len() {
        ..=ARGUMENTS_BYTES_MAX => text,
        bytes => format!("refused: the arguments have {bytes} bytes, at most {ARGUMENTS_BYTES_MAX} are taken"),
    }
}

/// Parses a reply in OpenAI's or Ollama's format that the client library rejects: calls without an id, a type or arguments,
/// or with arguments that are not JSON. `None` if there is no call in it.
pub(super) fn read_leniently(body: &Value, model: &ModelIden) -> Option<ChatResponse> {
    let message = body.pointer("/choices/0/message").or_else(|| body.get("message"))?;
    let asked = message.get("tool_calls")?.as_array().filter(|asked| !asked.is_empty())?;
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let call = |call: &Value| ToolCall {
        call_id: text(call.get("id")),
        fn_name: text(call.pointer("/function/name")),
        fn_arguments: call.pointer("/function/arguments").cloned().unwrap_or_default(),
        thought_signatures: None,
    };
    let said = Some(text(message.get("content"))).filter(|said| !said.is_empty()).map(ContentPart::Text);
    let calls = asked.iter().map(call).map(ContentPart::ToolCall);
    let count = |key: &str| body.get(key).and_then(Value::as_i64).and_then(|count| i32::try_from(count).ok());
    let usage = match body.get("usage") {
        Some(usage) => serde_json::from_value(usage.clone()).unwrap_or_default(),
        None => {
            let (prompt_tokens, completion_tokens) = (count("prompt_eval_count"), count("eval_count"));
            Usage { prompt_tokens, completion_tokens, ..Usage::default() }
        }
    };
    Some(ChatResponse {
        content: MessageContent::from_parts(said.into_iter().chain(calls).collect::<Vec<_>>()),
        reasoning_content: None,
        model_iden: model.clone(),
        provider_model_iden: model.clone(),
        stop_reason: None,
        usage,
        captured_raw_body: None,
        response_id: None,
    })
}
