//! Names of environment variables: a setting that should name one but contains a key instead must not be shown.

/// Longer than any reasonable name of a variable, and shorter than most keys.
const CHARS_MAX: usize = 64;

/// What is allowed where a variable is to be named.
pub const VARIABLE_RIGHT: &str =
    "the name of an environment variable in capitals, such as \"MY_API_KEY\", not the key itself";

/// Whether a text can be the name of a variable. No key of a known provider or platform has this form.
pub fn is_variable_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let starts = text.bytes().next().is_some_and(|first| !first.is_ascii_digit());
    starts && text.len() <= CHARS_MAX && text.bytes().all(fits)
}

/// Whether a setting names a variable: a person may have put the secret itself there.
pub(super) fn names_variable(key: &str) -> bool {
    key.ends_with("_variable") || key.starts_with("providers.") && key.ends_with(".key")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_tokens_are_not_names() {
        for name in ["MY_KEY", "_X", "OPENAI_API_KEY2"] {
            assert!(is_variable_name(name), "{name}");
        }
        for odd in
            ["", " ", "2KEYS", "sk-hush", "xoxb-1-2", "xapp-1", "my_key", "AIzaSyHush", "MY KEY", &"A".repeat(65)]
        {
            assert!(!is_variable_name(odd), "{odd}");
        }
    }
}
