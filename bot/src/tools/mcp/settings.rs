//! The sections `[mcp.NAME]`: how each MCP server is reached.

use std::net::IpAddr;
use std::time::Duration;

use aizuchi_core::settings::{Any, Flat, SectionFamily, Setting, TomlValue, VARIABLE_RIGHT, is_url, is_variable_name};

/// One server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpSettings {
    pub reached: McpAddress,
    /// For starting it, for listing its tools and for a call.
    pub timeout: Duration,
    pub enabled: bool,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpAddress {
    /// A program that is started, and the environment variables that it gets.
    Program { command: Vec<String>, variables: Vec<String> },
    /// A remote server, and the variable that contains its token.
    Url { url: String, token_variable: Option<String> },
}

/// A program with its arguments.
struct ProgramLine(Vec<String>);

impl Setting for ProgramLine {
    fn read(value: &TomlValue) -> Result<ProgramLine, String> {
        let words = match value.as_str() {
            Some(text) => text.split_whitespace().map(str::to_owned).collect(),
            None => Vec::<String>::read(value).unwrap_or_default(),
        };
        let is_program = |words: &Vec<String>| words.first().is_some_and(|program| !program.trim().is_empty());
        let right = r#"a program with its arguments, such as ["uvx", "mcp-server-time"] or "uvx mcp-server-time""#;
        Some(words).filter(is_program).map(ProgramLine).ok_or_else(|| right.into())
    }
}

const TIMEOUT_SECONDS: u32 = 30;
const NAME_CHARS_MAX: usize = 32;

impl SectionFamily for McpSettings {
    const NAME: &'static str = "mcp";
    const FIELDS: &'static [&'static str] = &["command", "url", "env", "token_variable", "timeout_seconds", "enabled"];
    const DEFAULTS: &'static str = include_str!("default.toml");

    fn read(path: &str, flat: &mut Flat) -> Option<McpSettings> {
        let key = |field: &str| format!("{path}.{field}");
        let given: Vec<String> = Self::FIELDS.iter().map(|field| key(field)).filter(|key| flat.has(key)).collect();
        let any = given.first()?;
        if !is_name(path.strip_prefix("mcp.")?) {
            let right = format!(
                "in a section whose name is 1–{NAME_CHARS_MAX} ASCII letters, digits, - or _, such as [mcp.time]"
            );
            flat.refuse(any, &right);
            return None;
        }
        let timeout = match flat.has(&key("timeout_seconds")) {
            true => flat.read::<u32>(&key("timeout_seconds"), &(1..=3600))?,
            false => TIMEOUT_SECONDS,
        };
        let enabled = if flat.has(&key("enabled")) { flat.read::<bool>(&key("enabled"), &Any)? } else { true };
        let reached = match (flat.has(&key("command")), flat.has(&key("url"))) {
            (true, false) => read_program(path, flat)?,
            (false, true) => read_url(path, flat)?,
            (true, true) => {
                flat.refuse(&key("url"), &format!("left out if `{path}.command` is set: a server has one of them"));
                return None;
            }
            (false, false) => {
                flat.refuse(any, &format!("set together with `{path}.command` or `{path}.url`"));
                return None;
            }
        };
        Some(McpSettings { reached, timeout: Duration::from_secs(timeout.into()), enabled })
    }
}

fn read_program(path: &str, flat: &mut Flat) -> Option<McpAddress> {
    let (command, env, token) = (format!("{path}.command"), format!("{path}.env"), format!("{path}.token_variable"));
    if flat.has(&token) {
        flat.refuse(&token, &format!("left out without `{path}.url`; a program gets the variables of `{path}.env`"));
        return None;
    }
    let ProgramLine(command) = flat.read(&command, &Any)?;
    let variables = if flat.has(&env) { flat.read::<Vec<String>>(&env, &Any)? } else { Vec::new() };
    // Names such as http_proxy are in lower case.
    if !variables.iter().all(|name| is_variable_name(&name.to_ascii_uppercase())) {
        flat.refuse(&env, r#"names of environment variables, such as ["EXAMPLE_API_KEY"], without their values"#);
        return None;
    }
    Some(McpAddress::Program { command, variables })
}

fn read_url(path: &str, flat: &mut Flat) -> Option<McpAddress> {
    let (key, env, token) = (format!("{path}.url"), format!("{path}.env"), format!("{path}.token_variable"));
    if flat.has(&env) {
        flat.refuse(&env, &format!("left out without `{path}.command`"));
        return None;
    }
    let url = flat.read::<String>(&key, &Any)?;
    if url.contains(['?', '#', '@']) {
        let right = "a URL without a password, a query or a fragment; a token is read from the environment variable \
                     that `token_variable` names";
        flat.refuse(&key, right);
        return None;
    }
    if !is_url(&url, &["https://"]) && !is_local(&url) {
        flat.misfit(
            &key,
            r#"a URL that begins with https://, or with http:// on this machine, such as "http://127.0.0.1:3001/mcp""#,
        );
        return None;
    }
    let token_variable = if flat.has(&token) { Some(flat.read::<String>(&token, &Any)?) } else { None };
    if token_variable.as_deref().is_some_and(|name| !is_variable_name(name)) {
        flat.refuse(&token, VARIABLE_RIGHT);
        return None;
    }
    Some(McpAddress::Url { url, token_variable })
}

fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !name.is_empty() && name.len() <= NAME_CHARS_MAX && name.bytes().all(fits)
}

/// Whether a URL stays on this machine.
fn is_local(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://").filter(|_| is_url(url, &["http://"])) else { return false };
    let server = rest.split('/').next().unwrap_or(rest);
    let host = match server.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, _)) => host,
        None => server.split(':').next().unwrap_or(server),
    };
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;

    fn read(text: &str) -> Result<McpSettings, String> {
        let mut layers = config::new_layers();
        layers.add_file("aizuchi.toml", text);
        config::resolve(&layers).map_err(|error| error.to_string())?;
        let mut family = layers.family::<McpSettings>().expect("it resolves");
        Ok(family.remove("time").expect("it is named time"))
    }

    #[test]
    fn a_program_is_a_list_or_one_text() {
        let words = ["uvx".to_owned(), "mcp-server-time".to_owned()];
        for text in ["\"uvx  mcp-server-time\"", "[\"uvx\", \"mcp-server-time\"]"] {
            let settings = read(&format!("[mcp.time]\ncommand = {text}\nenv = [\"MY_KEY\", \"https_proxy\"]")).unwrap();
            let McpAddress::Program { command, variables } = settings.reached else { panic!("it is a program") };
            assert_eq!((command.as_slice(), variables.len()), (words.as_slice(), 2));
            assert_eq!((settings.timeout, settings.enabled), (Duration::from_secs(30), true));
        }
        let other = read("[mcp.time]\nurl = \"http://[::1]:3001/mcp\"\ntimeout_seconds = 5\nenabled = false").unwrap();
        assert_eq!((other.timeout, other.enabled), (Duration::from_secs(5), false));
    }

    #[test]
    fn what_does_not_fit_is_told_with_what_would() {
        for (lines, right) in [
            ("command = \"\"", "`mcp.time.command` must be a program with its arguments, such as"),
            ("command = [3]", "`mcp.time.command` must be a program with its arguments, such as"),
            ("enabled = true", "`mcp.time.enabled` must be set together with `mcp.time.command` or `mcp.time.url`"),
            ("command = \"a\"\nurl = \"https://a\"", "`mcp.time.url` must be left out if `mcp.time.command` is set"),
            (
                "url = \"http://example.org/mcp\"",
                "`mcp.time.url` must be a URL that begins with https://, or with http://",
            ),
            ("url = \"https://u:p@example.org\"", "`mcp.time.url` must be a URL without a password, a query"),
            ("url = \"https://a\"\nenv = [\"A\"]", "`mcp.time.env` must be left out without `mcp.time.command`"),
            (
                "command = \"a\"\ntoken_variable = \"A\"",
                "`mcp.time.token_variable` must be left out without `mcp.time.url`",
            ),
            ("command = \"a\"\ntimeout_seconds = 0", "`mcp.time.timeout_seconds` must be 1–3600, got 0"),
            (
                "command = \"a\"\nargs = []",
                "unknown setting `mcp.time.args`; a section [mcp.NAME] has `command`, `url`",
            ),
        ] {
            let told = read(&format!("[mcp.time]\n{lines}")).unwrap_err();
            assert!(told.contains(right), "{told}");
        }
        let empty = read("[mcp.time]").unwrap_err();
        assert!(
            empty.contains("aizuchi.toml:1: [mcp.time] must be a section with some of `command`, `url`"),
            "{empty}"
        );
        let unnamed = read("[mcp.\"\"]\ncommand = \"a\"").unwrap_err();
        assert!(unnamed.contains("a section [mcp.NAME] has `command`, `url`"), "{unnamed}");
        for name in ["\"a b\"", "\"é\"", "\"a.b\"", "\"123456789012345678901234567890123\""] {
            let told = read(&format!("[mcp.{name}]\ncommand = \"a\"")).unwrap_err();
            assert!(told.contains("must be in a section whose name is 1–32 ASCII letters"), "{told}");
        }
    }

    #[test]
    fn a_token_where_a_name_belongs_is_not_shown() {
        for line in ["env = [\"KEY=hush\"]", "env = [\"sk-hush\"]"] {
            let told = read(&format!("[mcp.time]\ncommand = \"a\"\n{line}")).unwrap_err();
            assert!(told.contains("`mcp.time.env` must be names of") && !told.contains("hush"), "{told}");
        }
        let told = read("[mcp.time]\nurl = \"https://a\"\ntoken_variable = \"sk-hush\"").unwrap_err();
        assert!(told.contains("the name of an environment variable") && !told.contains("hush"), "{told}");
    }
}
