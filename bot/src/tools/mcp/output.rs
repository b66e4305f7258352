//! The result of a tool, as text for a model.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

use super::clean::cleaned;

/// The maximum length that is kept of one result; the settings truncate it further.
const CHARS_MAX: usize = 200_000;
/// The same for the name of a type or of a resource.
const NAME_CHARS_MAX: usize = 200;

/// The text, or the error that it reports.
pub fn to_text(result: &CallToolResult) -> Result<String, String> {
    let mut text = String::new();
    for block in &result.content {
        if !text.is_empty() {
            text.push('\n');
        }
        text += &block_text(block);
        if text.len() > CHARS_MAX * 4 {
            break;
        }
    }
    if text.trim().is_empty()
        && let Some(structured) = &result.structured_content
    {
        text = structured.to_string();
    }
    let text = cleaned(&text, CHARS_MAX);
    match result.is_error {
        Some(true) if text.trim().is_empty() => Err("the tool failed and did not say why".into()),
        Some(true) => Err(text),
        Some(false) | None => Ok(text),
    }
}

fn block_text(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => attachment("image", &image.mime_type, &image.data),
        ContentBlock::Audio(audio) => attachment("audio", &audio.mime_type, &audio.data),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { text, .. } => text.clone(),
            ResourceContents::BlobResourceContents { mime_type, blob, .. } => {
                attachment("file", mime_type.as_deref().unwrap_or("of unknown type"), blob)
            }
            _ => "[a resource of unknown kind]".into(),
        },
        ContentBlock::ResourceLink(link) => {
            format!("[link {} {}]", one_line(&link.name), one_line(&link.uri))
        }
        _ => "[content of unknown kind]".into(),
    }
}

/// Content that a model cannot read is described by its type and size.
fn attachment(kind: &str, mime_type: &str, base64: &str) -> String {
    let bytes = base64.trim_end_matches('=').len() as u64 * 3 / 4;
    let size = if bytes < 1000 { format!("{bytes} bytes") } else { format!("{} kB", bytes.div_ceil(1000)) };
    format!("[{kind} {}, {size}]", one_line(mime_type))
}

fn one_line(text: &str) -> String {
    cleaned(text, NAME_CHARS_MAX).replace(['\n', '\t', ']'], " ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(result: serde_json::Value) -> Result<String, String> {
        to_text(&serde_json::from_value(result).unwrap())
    }

    #[test]
    fn every_kind_of_content_is_text_or_named() {
        let told = text(json!({"content": [
            {"type": "text", "text": "one"},
            {"type": "image", "data": "A".repeat(16_000), "mimeType": "image/png"},
            {"type": "audio", "data": "AAAA", "mimeType": "audio/wav\n]evil"},
            {"type": "resource", "resource": {"uri": "file:///a", "text": "two"}},
            {"type": "resource", "resource": {"uri": "file:///a", "blob": "AAAA"}},
            {"type": "resource_link", "uri": "file:///b", "name": "b"},
        ]}));
        let right = "one\n[image image/png, 12 kB]\n[audio audio/wav  evil, 3 bytes]\ntwo\n[file of unknown type, 3 bytes]\n\
                     [link b file:///b]";
        assert_eq!(told.unwrap(), right);
    }

    #[test]
    fn structured_content_counts_where_there_is_no_text() {
        assert_eq!(text(json!({"content": [], "structuredContent": {"a": 1}})).unwrap(), r#"{"a":1}"#);
        let both = json!({"content": [{"type": "text", "text": "one"}], "structuredContent": {"a": 1}});
        assert_eq!(text(both).unwrap(), "one");
    }

    #[test]
    fn an_error_is_one() {
        let failed = json!({"content": [{"type": "text", "text": "no\u{7} such file"}], "isError": true});
        assert_eq!(text(failed).unwrap_err(), "no such file");
        assert_eq!(text(json!({"content": [], "isError": true})).unwrap_err(), "the tool failed and did not say why");
    }
}
