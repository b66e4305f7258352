//! The tool itself: arguments in, a part of a page out.

use aizuchi_core::tools::{ToolAccess, ToolOutput};
use serde_json::json;
use url::Url;

use super::address::Network;
use super::download::Downloader;
use super::page::PageText;
use super::settings::FetchSettings;
use crate::ports::{BoxFuture, Tool, ToolRequest, ToolSpec};
use crate::tools::arguments::Arguments;

const URL_CHARS_MAX: usize = 2_000;
/// No page is longer than the settings allow.
const START_MAX: u64 = 50_000_000;
/// The minimum length of a part, whatever the settings say.
const PART_CHARS_MIN: usize = 100;
/// For the line that says how to read on.
const FOOTER_CHARS: usize = 80;

/// Reads web pages.
pub struct Fetch {
    spec: ToolSpec,
    downloader: Downloader,
    bytes_max: u32,
}

impl Fetch {
    /// `None` if the settings name no host.
    pub fn new(settings: FetchSettings) -> Option<Fetch> {
        Fetch::on(Network::public(), settings)
    }

    /// With another resolver and other addresses than the public ones.
    pub fn on(network: Network, settings: FetchSettings) -> Option<Fetch> {
        let bytes_max = settings.bytes_max;
        let downloader = Downloader::new(settings, network)?;
        Some(Fetch { spec: spec(&downloader.allowed().list()), downloader, bytes_max })
    }

    async fn read(&self, request: ToolRequest<'_>) -> Result<ToolOutput, String> {
        let arguments = Arguments::new(request.arguments, &["url", "start"])?;
        let url = arguments.text("url")?.unwrap_or_default();
        if url.is_empty() || url.chars().count() > URL_CHARS_MAX {
            return Err(format!(
                "`url` must be a URL such as https://example.org/, at most {URL_CHARS_MAX} characters long"
            ));
        }
        let url =
            Url::parse(url).map_err(|error| format!("`url` must be a URL such as https://example.org/: {error}"))?;
        let start = arguments.number("start", 0, 0..=START_MAX)?;
        let download = self.downloader.download(url).await?;
        let page = tokio::task::spawn_blocking(move || (PageText::read(&download), download));
        let (page, download) = page.await.map_err(|_| "the page could not be read as text")?;
        let heading = page.heading(&download.url);
        let result_chars = request.policy.settings.tools.result_chars as usize;
        let space = result_chars.saturating_sub(heading.chars().count() + FOOTER_CHARS).max(PART_CHARS_MIN);
        let part = page.part(start as usize, space)?;
        let cut = match download.body.is_cut {
            true => format!("\n(the page was cut after {} bytes)", self.bytes_max),
            false => String::new(),
        };
        Ok(ToolOutput::from_outside(format!("{heading}\n\n{part}{cut}")))
    }
}

impl Tool for Fetch {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, request: ToolRequest<'a>) -> BoxFuture<'a, Result<ToolOutput, String>> {
        Box::pin(self.read(request))
    }
}

fn spec(hosts: &str) -> ToolSpec {
    ToolSpec {
        name: "fetch".into(),
        description: format!(
            "Reads a web page as text. A long page comes in parts. Pages of these hosts can be read (* is any): {hosts}"
        ),
        schema: json!({
            "type": "object",
            "properties": {
                "url": { "type": "string", "description": "The whole URL, with https://" },
                "start": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "The character to start at, to read on in a long page"
                }
            },
            "required": ["url"],
            "additionalProperties": false
        }),
        access: ToolAccess::Reads,
    }
}
