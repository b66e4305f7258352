//! The tool itself: takes a name or an id, and returns what the game says about it.

use std::time::Duration;

use aizuchi_core::settings::LanguageSetting;
use aizuchi_core::tools::{ToolAccess, ToolOutput};
use reqwest::{Client, StatusCode, redirect};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use url::Url;

use super::answer::{SearchAnswer, SheetRow};
use super::kind::LookupKind;
use super::settings::XivapiSettings;
use crate::ports::{BoxFuture, Tool, ToolRequest, ToolSpec};
use crate::tls;
use crate::tools::arguments::Arguments;
use crate::tools::fetch::read_body;

const NAME_CHARS_MAX: usize = 100;
const RESULTS_MAX: usize = 8;
const BYTES_MAX: usize = 2_000_000;
const LANGUAGES: [&str; 4] = ["ja", "en", "de", "fr"];
/// XIVAPI refuses clients without a user agent.
const USER_AGENT: &str = concat!("aizuchi/", env!("CARGO_PKG_VERSION"));

/// Looks up FINAL FANTASY XIV data.
pub struct Xivapi {
    spec: ToolSpec,
    client: Client,
    url: Url,
    seconds_max: u32,
}

enum Wanted {
    Name(String),
    Id(u64),
}

impl Xivapi {
    /// `None` unless the settings enable it.
    pub fn new(settings: XivapiSettings) -> Option<Xivapi> {
        let url = Url::parse(&settings.url).ok().filter(|_| settings.enabled)?;
        let client =
            tls::client_builder().redirect(redirect::Policy::none()).referer(false).user_agent(USER_AGENT).build();
        let client = client
            .inspect_err(|error| tracing::error!(%error, "XIVAPI is unavailable: cannot build an HTTP client"))
            .ok()?;
        Some(Xivapi { spec: spec(), client, url, seconds_max: settings.seconds_max })
    }

    async fn look_up(&self, request: ToolRequest<'_>) -> Result<ToolOutput, String> {
        let arguments = Arguments::new(request.arguments, &["kind", "name", "id", "language"])?;
        let (kind, wanted) = (kind(&arguments)?, wanted(&arguments, request.arguments.get("id"))?);
        let language = language(&arguments, &wanted, &request.policy.settings.bot.language)?;
        let text = match wanted {
            Wanted::Id(id) => self.row(kind, id, language).await?,
            Wanted::Name(name) => self.search(kind, &name, language).await?,
        };
        Ok(ToolOutput::from_outside(text))
    }

    async fn row(&self, kind: LookupKind, id: u64, language: &str) -> Result<String, String> {
        let url = self.endpoint(&["sheet", kind.sheet(), &id.to_string()], kind, language, &[]);
        let row: Option<SheetRow> = self.ask(url).await?;
        match row.filter(|row| !row.is_empty()) {
            Some(row) => Ok(row.words(kind)),
            None => Err(format!("there is no {} with the id {id}", kind.name())),
        }
    }

    async fn search(&self, kind: LookupKind, name: &str, language: &str) -> Result<String, String> {
        let query = format!("Name~\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
        let limit = RESULTS_MAX.to_string();
        let further = [("sheets", kind.sheet()), ("query", &query), ("limit", &limit)];
        let found: Option<SearchAnswer> = self.ask(self.endpoint(&["search"], kind, language, &further)).await?;
        let Some(mut found) = found else { return Err(format!("XIVAPI has no sheet {}", kind.sheet())) };
        found.results.retain(|row| !row.is_empty());
        // Many names contain this one; a person who wrote a whole name means that one.
        found.results.sort_by_key(|row| row.name().to_lowercase() != name.to_lowercase());
        found.results.truncate(RESULTS_MAX);
        if found.results.is_empty() {
            return Ok(format!("no {} has {name:?} in its name (language {language})", kind.name()));
        }
        let rows: Vec<String> = found.results.iter().map(|row| row.words(kind)).collect();
        let more = if found.next.is_some() { "\n\nThere are more; a longer name finds fewer." } else { "" };
        Ok(format!("{}{more}", rows.join("\n\n")))
    }

    fn endpoint(&self, path: &[&str], kind: LookupKind, language: &str, further: &[(&str, &str)]) -> Url {
        let mut url = self.url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url.query_pairs_mut()
            .clear()
            .extend_pairs(further)
            .extend_pairs([("fields", kind.fields().as_str()), ("language", language)]);
        if let Some(transient) = kind.transient() {
            url.query_pairs_mut().append_pair("transient", transient);
        }
        url
    }

    /// `None` if it does not exist. An error contains nothing of what the server says.
    async fn ask<T: DeserializeOwned>(&self, url: Url) -> Result<Option<T>, String> {
        let asking = async {
            let response = self.client.get(url).send().await.map_err(|_| "XIVAPI cannot be reached".to_owned())?;
            match response.status() {
                StatusCode::OK => {}
                StatusCode::NOT_FOUND => return Ok(None),
                StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                    return Err("XIVAPI is busy; try again later".into());
                }
                status => return Err(format!("XIVAPI answered {status}")),
            }
            let body = read_body(response, BYTES_MAX).await;
            let body = body.map_err(|_| "the connection to XIVAPI ended before its answer did")?;
            let answer = serde_json::from_slice(&body.bytes);
            answer.map(Some).map_err(|_| "XIVAPI sent an answer that is not in its documented form".to_owned())
        };
        match tokio::time::timeout(Duration::from_secs(self.seconds_max.into()), asking).await {
            Ok(result) => result,
            Err(_) => Err(format!("XIVAPI did not answer within {} s", self.seconds_max)),
        }
    }
}

impl Tool for Xivapi {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, request: ToolRequest<'a>) -> BoxFuture<'a, Result<ToolOutput, String>> {
        Box::pin(self.look_up(request))
    }
}

fn kind(arguments: &Arguments<'_>) -> Result<LookupKind, String> {
    let named = arguments.text("kind")?;
    let kind = LookupKind::ALL.into_iter().find(|kind| Some(kind.name()) == named);
    kind.ok_or_else(|| "`kind` must be item, action or quest".into())
}

fn wanted(arguments: &Arguments<'_>, id: Option<&Value>) -> Result<Wanted, String> {
    let id = id.filter(|id| !id.is_null());
    match (arguments.text("name")?, id) {
        (None, Some(_)) => Ok(Wanted::Id(arguments.number("id", 0, 0..=u64::from(u32::MAX))?)),
        (Some(name), None) if name.chars().count() > NAME_CHARS_MAX => {
            Err(format!("`name` must be at most {NAME_CHARS_MAX} characters long"))
        }
        (Some(name), None) => Ok(Wanted::Name(name.to_owned())),
        (None, None) | (Some(_), Some(_)) => {
            Err("give either `name`, a part of the name, or `id`, a whole number".into())
        }
    }
}

/// The requested language, or that in which the name is written; an id has no letters, so the room's language counts.
fn language(arguments: &Arguments<'_>, wanted: &Wanted, of_room: &LanguageSetting) -> Result<&'static str, String> {
    if let Some(named) = arguments.text("language")? {
        let known = LANGUAGES.into_iter().find(|language| *language == named);
        return known.ok_or_else(|| "`language` must be ja, en, de or fr".into());
    }
    let is_japanese = match wanted {
        Wanted::Name(name) => name.chars().any(is_japanese),
        Wanted::Id(_) => matches!(of_room, LanguageSetting::Named(id) if &**id == "ja"),
    };
    Ok(if is_japanese { "ja" } else { "en" })
}

/// Kana, kanji, and the full-width letters and symbols that are written among them.
fn is_japanese(c: char) -> bool {
    matches!(c, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff01}'..='\u{ff9f}')
}

fn spec() -> ToolSpec {
    let kinds = LookupKind::ALL.map(LookupKind::name);
    ToolSpec {
        name: "xivapi".into(),
        description: "Looks up items, actions and quests of the game FINAL FANTASY XIV by name or id.".into(),
        schema: json!({
            "type": "object",
            "properties": {
                "kind": { "type": "string", "enum": kinds },
                "name": { "type": "string", "description": "A part of the name" },
                "id": { "type": "integer", "minimum": 0, "description": "The id, instead of a name" },
                "language": {
                    "type": "string",
                    "enum": LANGUAGES,
                    "description": "Of name and answer; ja if the name is written in Japanese, otherwise en"
                }
            },
            "required": ["kind"],
            "additionalProperties": false
        }),
        access: ToolAccess::Reads,
    }
}
