//! Fluent's syntax as far as the page evaluates it: text, variables, and a choice among variants.
//!
//! A pattern is a text, or a list of parts: a text, `{"of": name}` for an argument, or
//! `{"by": name, "variants": [[key, pattern], …], "usual": index}`, where a key is a text or a number.

use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement, VariantKey};
use serde_json::{Value as Json, json};

/// Every message and attribute, by its key.
pub(super) fn patterns<'a>(
    entries: impl Iterator<Item = &'a Entry<&'a str>>,
) -> impl Iterator<Item = (String, &'a Pattern<&'a str>)> {
    entries.flat_map(|entry| {
        let Entry::Message(message) = entry else { return Vec::new() };
        let id = message.id.name;
        let value = message.value.iter().map(|value| (id.to_owned(), value));
        let attributes = message.attributes.iter().map(|one| (format!("{id}.{}", one.id.name), &one.value));
        value.chain(attributes).collect()
    })
}

/// The pattern as data; an error names what the page cannot evaluate.
pub(super) fn to_json(pattern: &Pattern<&str>) -> Result<Json, String> {
    let parts: Vec<Json> = pattern.elements.iter().map(element_to_json).collect::<Result<_, _>>()?;
    Ok(match &parts[..] {
        [Json::String(text)] => text.as_str().into(),
        _ => parts.into(),
    })
}

fn element_to_json(element: &PatternElement<&str>) -> Result<Json, String> {
    match element {
        PatternElement::TextElement { value } => Ok((*value).into()),
        PatternElement::Placeable { expression: Expression::Inline(inline) } => match inline {
            InlineExpression::StringLiteral { value } => Ok((*value).into()),
            InlineExpression::VariableReference { id } => Ok(json!({"of": id.name})),
            other @ (InlineExpression::NumberLiteral { .. }
            | InlineExpression::FunctionReference { .. }
            | InlineExpression::MessageReference { .. }
            | InlineExpression::TermReference { .. }
            | InlineExpression::Placeable { .. }) => Err(format!("{other:?} is not evaluated by the page")),
        },
        PatternElement::Placeable { expression: Expression::Select { selector, variants } } => {
            let InlineExpression::VariableReference { id } = selector else {
                return Err(format!("{selector:?} does not choose on the page"));
            };
            let usual = variants.iter().position(|variant| variant.default);
            let variants: Vec<Json> = variants
                .iter()
                .map(|variant| Ok(json!([variant_key(&variant.key)?, to_json(&variant.value)?])))
                .collect::<Result<_, String>>()?;
            Ok(json!({"by": id.name, "variants": variants, "usual": usual}))
        }
    }
}

fn variant_key(key: &VariantKey<&str>) -> Result<Json, String> {
    match key {
        VariantKey::Identifier { name } => Ok((*name).into()),
        VariantKey::NumberLiteral { value } => {
            value.parse::<f64>().map(Json::from).map_err(|_| format!("{value} is no number"))
        }
    }
}
