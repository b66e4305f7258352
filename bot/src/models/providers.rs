//! The providers that are known by name, and what a person's settings add to them.

use std::collections::{BTreeMap, BTreeSet};

use aizuchi_core::Policies;
use aizuchi_core::settings::{ProviderSettings as Wished, WireFormat};
use secrecy::SecretString;

/// The built-in model, which has no provider.
pub const OFFLINE: &str = "offline";

/// A provider that is known by name.
pub struct KnownProvider {
    pub name: &'static str,
    /// The display name.
    pub title: &'static str,
    pub format: WireFormat,
    pub url: &'static str,
    /// Environment variables that may contain the key, the usual one first.
    pub keys: &'static [&'static str],
    /// Whether it requires a key. Servers on one's own machine do not.
    pub needs_key: bool,
    /// The variable in which its own tools look for another address, and its format.
    url_variable: Option<(&'static str, ToolAddress)>,
    /// The default models if nobody has chosen: the writer and the judge.
    usual: Option<(&'static str, &'static str)>,
    /// The prices of its models in dollars per million tokens, input and output.
    pub prices: &'static [(&'static str, &'static [f64])],
}

/// The format of an address that a provider's own tools expect in the environment.
#[derive(Clone, Copy)]
enum ToolAddress {
    /// With the complete path.
    Whole,
    /// With or without the version at the end of its path.
    Versioned,
    /// A host, with or without scheme and port.
    Host { port: u16 },
}

impl KnownProvider {
    /// The variable in which its own tools look for another address.
    pub fn url_variable(&self) -> Option<&'static str> {
        self.url_variable.map(|(variable, _)| variable)
    }

    /// The default models as `provider/model`: the writer and the judge.
    pub fn usual_models(&self) -> Option<(String, String)> {
        let (main, judge) = self.usual?;
        let named = |model: &str| format!("{}/{model}", self.name);
        Some((named(main), named(judge)))
    }
}

pub const PROVIDERS: &[KnownProvider] = &[
    KnownProvider {
        name: "anthropic",
        title: "Anthropic (Claude)",
        format: WireFormat::Anthropic,
        url: "https://api.anthropic.com/v1/",
        keys: &["ANTHROPIC_API_KEY"],
        needs_key: true,
        url_variable: Some(("ANTHROPIC_BASE_URL", ToolAddress::Versioned)),
        usual: Some(("claude-sonnet-4-5", "claude-haiku-4-5")),
        prices: &[("claude-haiku-4-5", &[1.0, 5.0, 0.1]), ("claude-sonnet-4-5", &[3.0, 15.0, 0.3])],
    },
    KnownProvider {
        name: "google",
        title: "Google (Gemini)",
        format: WireFormat::Google,
        url: "https://generativelanguage.googleapis.com/v1beta/",
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        needs_key: true,
        url_variable: Some(("GOOGLE_GEMINI_BASE_URL", ToolAddress::Versioned)),
        usual: Some(("gemini-2.5-flash", "gemini-2.5-flash-lite")),
        prices: &[("gemini-2.5-flash", &[0.3, 2.5]), ("gemini-2.5-flash-lite", &[0.1, 0.4])],
    },
    KnownProvider {
        name: "openai",
        title: "OpenAI (GPT)",
        format: WireFormat::OpenAi,
        url: "https://api.openai.com/v1/",
        keys: &["OPENAI_API_KEY"],
        needs_key: true,
        url_variable: Some(("OPENAI_BASE_URL", ToolAddress::Whole)),
        usual: Some(("gpt-5-mini", "gpt-5-nano")),
        prices: &[("gpt-5-mini", &[0.25, 2.0, 0.025]), ("gpt-5-nano", &[0.05, 0.4, 0.005])],
    },
    // In the OpenAI format, which unlike Ollama's own lets us request a schema.
    KnownProvider {
        name: "ollama",
        title: "Ollama",
        format: WireFormat::OpenAi,
        url: "http://127.0.0.1:11434/v1/",
        keys: &["OLLAMA_API_KEY"],
        needs_key: false,
        url_variable: Some(("OLLAMA_HOST", ToolAddress::Host { port: 11434 })),
        usual: None,
        prices: &[],
    },
    KnownProvider {
        name: "llamacpp",
        title: "llama.cpp",
        format: WireFormat::OpenAi,
        url: "http://127.0.0.1:8080/v1/",
        keys: &["LLAMA_API_KEY"],
        needs_key: false,
        url_variable: None,
        usual: None,
        prices: &[],
    },
    KnownProvider {
        name: "lmstudio",
        title: "LM Studio",
        format: WireFormat::OpenAi,
        url: "http://127.0.0.1:1234/v1/",
        keys: &["LM_API_TOKEN"],
        needs_key: false,
        url_variable: None,
        usual: None,
        prices: &[],
    },
    KnownProvider {
        name: "litellm",
        title: "LiteLLM",
        format: WireFormat::OpenAi,
        url: "http://127.0.0.1:4000/v1/",
        keys: &["LITELLM_API_KEY"],
        needs_key: false,
        url_variable: None,
        usual: None,
        prices: &[],
    },
];

/// The variables whose key alone selects a provider.
pub fn usual_keys() -> Vec<&'static str> {
    PROVIDERS.iter().filter(|row| row.usual.is_some()).filter_map(|row| row.keys.first().copied()).collect()
}

pub fn row(name: &str) -> Option<&'static KnownProvider> {
    PROVIDERS.iter().find(|row| row.name == name)
}

/// The provider's part of `provider/model`; the model's own name may contain further slashes.
pub fn provider_of(model: &str) -> Option<&str> {
    parts_of(model).map(|(name, _)| name)
}

fn parts_of(model: &str) -> Option<(&str, &str)> {
    model.split_once('/').filter(|(_, rest)| !rest.trim().is_empty())
}

/// The environment variables that concern providers, read when the program starts.
#[derive(Clone, Debug, Default)]
pub struct Variables(BTreeMap<String, SecretString>);

impl Variables {
    pub fn read(policies: &Policies, environment: &dyn Fn(&str) -> Option<String>) -> Variables {
        let known = PROVIDERS.iter().flat_map(|row| row.keys.iter().copied().chain(row.url_variable()));
        let wished = policies.all().flat_map(|policy| policy.settings.providers.values());
        let own = wished.filter_map(|provider| provider.key.as_deref());
        let names: BTreeSet<&str> = known.chain(own).collect();
        let read = |name: &str| {
            let value = environment(name).map(|value| value.trim().to_owned())?;
            (!value.is_empty()).then(|| (name.to_owned(), value.into()))
        };
        Variables(names.into_iter().filter_map(read).collect())
    }

    fn get(&self, name: &str) -> Option<&SecretString> {
        self.0.get(name)
    }

    fn text(&self, name: &str) -> Option<String> {
        use secrecy::ExposeSecret as _;
        self.get(name).map(|value| value.expose_secret().to_owned())
    }
}

/// The address of a model and how to call it.
#[derive(Clone, Debug)]
pub struct ModelAddress {
    pub provider: String,
    /// Without the provider.
    pub model: String,
    pub format: WireFormat,
    /// With the path up to the version, and a trailing slash.
    pub url: String,
    pub key: ApiKey,
}

impl ModelAddress {
    /// The address without what may be secret in it: people in a room see it in the reason of a failed answer.
    pub fn shown_url(&self) -> String {
        let url = self.url.split(['?', '#']).next().unwrap_or_default();
        match url.split_once("://") {
            Some((scheme, rest)) => {
                let (server, path) = rest.split_once('/').map_or((rest, None), |(server, path)| (server, Some(path)));
                let server = server.rsplit('@').next().unwrap_or(server);
                format!("{scheme}://{server}{}", path.map(|path| format!("/{path}")).unwrap_or_default())
            }
            None => url.to_owned(),
        }
    }
}

#[derive(Clone, Debug)]
pub struct ApiKey {
    /// The variable that contains it, or would.
    pub variable: String,
    pub secret: Option<SecretString>,
    pub needed: bool,
}

impl ApiKey {
    pub fn is_missing(&self) -> bool {
        self.needed && self.secret.is_none()
    }
}

/// Resolves the address of a model. `Err` says what is wrong with its name or its provider.
pub fn find(model: &str, wishes: &BTreeMap<String, Wished>, variables: &Variables) -> Result<ModelAddress, String> {
    let (name, rest) = split(model, wishes)?;
    let (row, wished) = (row(name), wishes.get(name).cloned().unwrap_or_default());
    let format = wished.format.or(row.map(|row| row.format)).unwrap_or(WireFormat::OpenAi);
    let asked_elsewhere = row.and_then(|row| row.url_variable).and_then(|(variable, style)| {
        let url = variables.text(variable)?;
        Some((variable, of_a_tool(&url, style, format)))
    });
    let url = match (&wished.url, &asked_elsewhere, row) {
        (Some(url), _, _) => complete(url, format),
        (None, Some((_, url)), _) => url.clone(),
        (None, None, Some(row)) => row.url.to_owned(),
        (None, None, None) => {
            return Err(format!("the provider {name:?} has no URL: set providers.{name}.url"));
        }
    };
    if !(url.starts_with("http://") || url.starts_with("https://")) {
        let source = match (&wished.url, asked_elsewhere) {
            (None, Some((variable, _))) => variable.to_owned(),
            _ => format!("providers.{name}.url"),
        };
        return Err(format!("`{source}` must be a URL such as http://127.0.0.1:8080/v1/, got {url:?}"));
    }
    let key = key(&wished, row, &url, variables);
    Ok(ModelAddress { provider: name.to_owned(), model: rest.to_owned(), format, url, key })
}

fn key(wished: &Wished, row: Option<&KnownProvider>, url: &str, variables: &Variables) -> ApiKey {
    if let Some(variable) = &wished.key {
        return ApiKey { variable: variable.clone(), secret: variables.get(variable).cloned(), needed: true };
    }
    let names = row.map_or(&[][..], |row| row.keys);
    let held = names.iter().find_map(|name| Some((*name, variables.get(name)?.clone())));
    // A server at another URL that replaces a provider may need no key.
    let needed = row.is_some_and(|row| row.needs_key && row.url == url);
    match held {
        Some((name, secret)) => ApiKey { variable: name.to_owned(), secret: Some(secret), needed },
        None => ApiKey { variable: names.first().unwrap_or(&"").to_string(), secret: None, needed },
    }
}

fn split<'a>(model: &'a str, wishes: &BTreeMap<String, Wished>) -> Result<(&'a str, &'a str), String> {
    let known = || -> BTreeSet<&str> {
        PROVIDERS.iter().map(|row| row.name).chain(wishes.keys().map(String::as_str)).collect()
    };
    let listed = || known().into_iter().collect::<Vec<_>>().join(", ");
    let nearest = |to: &str| {
        let likeness = |name: &&str| strsim::jaro_winkler(name, to);
        known().into_iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b))).expect("there are providers")
    };
    match parts_of(model) {
        Some((name, rest)) if known().contains(name) => Ok((name, rest)),
        Some((name, _)) => Err(format!(
            "the model {model:?} has an unknown provider; did you mean {:?}? Known providers: {}; {OFFLINE:?} needs none",
            nearest(name),
            listed()
        )),
        None => Err(format!(
            "{model:?} is not a model; expected provider/model, such as {}/NAME, where the provider is one of {}, or {OFFLINE:?}",
            nearest(model),
            listed()
        )),
    }
}

/// Completes an address from the settings, which may have a path or none.
fn complete(url: &str, format: WireFormat) -> String {
    let url = url.trim().trim_end_matches('/');
    let has_path = url.split_once("://").is_some_and(|(_, rest)| rest.contains('/'));
    if has_path { format!("{url}/") } else { format!("{url}/{}", version_path(format)) }
}

fn of_a_tool(url: &str, style: ToolAddress, format: WireFormat) -> String {
    let url = url.trim().trim_end_matches('/');
    match style {
        ToolAddress::Host { port } => {
            let (scheme, host) = url.split_once("://").unwrap_or(("http", url));
            // A wildcard listening address is not an address to connect to.
            let host = host.replacen("0.0.0.0", "127.0.0.1", 1);
            let host = if host.contains(':') || scheme == "https" { host } else { format!("{host}:{port}") };
            complete(&format!("{scheme}://{host}"), format)
        }
        ToolAddress::Whole => format!("{url}/"),
        ToolAddress::Versioned => {
            let version = version_path(format).trim_end_matches('/');
            if url.ends_with(&format!("/{version}")) { format!("{url}/") } else { format!("{url}/{version}/") }
        }
    }
}

/// The end of the path, by API format.
pub fn version_path(format: WireFormat) -> &'static str {
    match format {
        WireFormat::OpenAi | WireFormat::Anthropic => "v1/",
        WireFormat::Google => "v1beta/",
        WireFormat::Ollama => "",
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// What the settings say, with an environment of these variables.
    pub fn variables(pairs: &[(&str, &str)]) -> Variables {
        let policies = Policies::preset("aizuchi").unwrap();
        Variables::read(&policies, &environment(pairs))
    }

    pub fn environment(pairs: &[(&str, &str)]) -> impl Fn(&str) -> Option<String> + use<> {
        let pairs: BTreeMap<String, String> = pairs.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        move |name| pairs.get(name).cloned()
    }

    fn url(model: &str, pairs: &[(&str, &str)]) -> String {
        find(model, &BTreeMap::new(), &variables(pairs)).unwrap().url
    }

    #[test]
    fn what_may_be_secret_in_an_address_is_not_shown() {
        let key = || ApiKey { variable: String::new(), secret: None, needed: false };
        let shown = |url: &str| {
            let (provider, model, format) = ("mine".into(), "m".into(), WireFormat::OpenAi);
            ModelAddress { provider, model, format, url: url.into(), key: key() }.shown_url()
        };
        assert_eq!(shown("http://u:hush@127.0.0.1:9/v1/?key=hush#hush"), "http://127.0.0.1:9/v1/");
        assert_eq!(shown("http://127.0.0.1:9"), "http://127.0.0.1:9");
    }

    #[test]
    fn a_model_is_named_by_its_provider_and_may_have_slashes_itself() {
        let address = find("litellm/anthropic/claude-haiku-4-5", &BTreeMap::new(), &Variables::default()).unwrap();
        assert_eq!((address.provider.as_str(), address.model.as_str()), ("litellm", "anthropic/claude-haiku-4-5"));
        assert_eq!(address.url, "http://127.0.0.1:4000/v1/");
    }

    #[test]
    fn an_unknown_provider_is_told_with_the_nearest_and_all() {
        let told = find("antropic/claude", &BTreeMap::new(), &Variables::default()).unwrap_err();
        assert!(told.contains("did you mean \"anthropic\"?") && told.contains("google, litellm, llamacpp"), "{told}");
        for odd in ["claude-haiku", "", "openai/", "/x"] {
            assert!(find(odd, &BTreeMap::new(), &Variables::default()).is_err(), "{odd}");
        }
    }

    #[test]
    fn the_environment_of_a_providers_own_tools_is_understood() {
        assert_eq!(url("anthropic/c", &[("ANTHROPIC_BASE_URL", "http://h/gate")]), "http://h/gate/v1/");
        assert_eq!(url("anthropic/c", &[("ANTHROPIC_BASE_URL", "http://h/v1")]), "http://h/v1/");
        assert_eq!(url("google/g", &[("GOOGLE_GEMINI_BASE_URL", "http://h/")]), "http://h/v1beta/");
        assert_eq!(url("openai/g", &[("OPENAI_BASE_URL", "http://h:1/api/v3")]), "http://h:1/api/v3/");
        assert_eq!(url("ollama/l", &[("OLLAMA_HOST", "0.0.0.0")]), "http://127.0.0.1:11434/v1/");
        assert_eq!(url("ollama/l", &[("OLLAMA_HOST", "https://o.example")]), "https://o.example/v1/");
        assert_eq!(url("ollama/l", &[("OLLAMA_HOST", "box:99")]), "http://box:99/v1/");
    }

    #[test]
    fn settings_add_providers_and_change_known_ones() {
        let wish = |url: &str, format, key: Option<&str>| Wished {
            url: (!url.is_empty()).then(|| url.into()),
            format,
            key: key.map(Into::into),
        };
        let wishes = BTreeMap::from([
            ("mine".to_owned(), wish("http://h:8080", Some(WireFormat::Google), Some("MINE_API_KEY"))),
            ("bare".to_owned(), wish("", None, None)),
            ("anthropic".to_owned(), wish("http://127.0.0.1:9/x/v1", None, None)),
            ("odd".to_owned(), wish("localhost:80", None, None)),
        ]);
        let mine = find("mine/m", &wishes, &Variables::default()).unwrap();
        assert_eq!((mine.url.as_str(), mine.format), ("http://h:8080/v1beta/", WireFormat::Google));
        assert!(mine.key.is_missing() && mine.key.variable == "MINE_API_KEY");
        let gate = find("anthropic/c", &wishes, &Variables::default()).unwrap();
        assert!(gate.url == "http://127.0.0.1:9/x/v1/" && !gate.key.is_missing());
        assert!(find("bare/m", &wishes, &Variables::default()).unwrap_err().contains("set providers.bare.url"));
        assert!(
            find("odd/m", &wishes, &Variables::default()).unwrap_err().contains("`providers.odd.url` must be a URL")
        );
    }

    #[test]
    fn a_key_is_found_under_any_of_its_names_and_never_shown() {
        let variables = variables(&[("GOOGLE_API_KEY", " very-secret "), ("GEMINI_API_KEY", "")]);
        let address = find("google/g", &BTreeMap::new(), &variables).unwrap();
        assert_eq!(address.key.variable, "GOOGLE_API_KEY");
        assert!(!address.key.is_missing());
        assert!(!format!("{address:?} {variables:?}").contains("secret "));
    }
}
